//! Skills from directories: each a directory with a `SKILL.md`, named as the skill.
//!
//! As with scripts, nothing stops at a fault: a broken skill is a [`Problem`] and the others load; read
//! again, one that was good stays as it was. Links are not followed and nothing waits for a pipe: what
//! is read here is read to every model.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read as _},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
    sync::Arc,
};

use pinza_core::{Registry, SKILL_FILE, SKILL_LIMIT, Skill, SkillFault, SkillSource};
use pinza_js::{OnClash, Place, Problem, Standing};
use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, openat, statat},
    io::Errno,
};

/// More of them are no skills.
const MOST: usize = 1000;

/// What places hold.
#[derive(Clone, Debug, Default)]
pub struct LoadedSkills {
    pub skills: Vec<Arc<Skill>>,
    pub problems: Vec<Problem>,
}

/// Loads every skill of a directory, or the one whose directory it is. Blocking: it reads files.
pub fn load_skills(directory: &Path) -> LoadedSkills {
    if directory.join(SKILL_FILE).symlink_metadata().is_ok() {
        let mut memory = Memory::new();
        let attempt = match directory.canonicalize().and_then(|real| Ok((fs::File::open(&real)?, real))) {
            Ok((opened, real)) => {
                let name = real.file_name().map(|name| name.to_string_lossy().into_owned());
                attempt(&opened.into(), directory, &name.unwrap_or_default())
            }
            Err(error) => Attempt::broken("", problem(directory, format!("Cannot be read: {error}"))),
        };
        let problems = settle(&mut memory, vec![attempt]);
        return LoadedSkills { skills: memory.into_values().collect(), problems };
    }
    SkillLoader::new(vec![Place::Directory(directory.to_owned())]).load()
}

/// The skills that were good, by the names of their directories.
type Memory = BTreeMap<String, Arc<Skill>>;

/// Loads the same places again and again.
#[derive(Debug)]
pub(crate) struct SkillLoader {
    places: Vec<Place>,
    memories: Vec<Memory>,
}

impl SkillLoader {
    pub(crate) fn new(places: Vec<Place>) -> Self {
        let memories = places.iter().map(|_| Memory::new()).collect();
        Self { places, memories }
    }

    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    /// Adds the skills; what does not load or is not wanted comes back as problems.
    pub(crate) fn register(&mut self, registry: &mut Registry, on_clash: OnClash) -> Vec<Problem> {
        let LoadedSkills { skills, mut problems } = self.load();
        for skill in skills {
            match on_clash {
                OnClash::Replace => registry.replace_skill(skill),
                OnClash::KeepFirst => {
                    let source = skill.source.clone();
                    if let (Err(clash), SkillSource::File(file)) = (registry.register_skill(skill), source) {
                        let message = format!("Name conflict with existing skill '{}' (skipped)", clash.name);
                        problems.push(problem(Path::new(&file), message));
                    }
                }
            }
        }
        problems
    }

    fn load(&mut self) -> LoadedSkills {
        let mut loaded = LoadedSkills::default();
        for (place, memory) in self.places.iter().zip(&mut self.memories) {
            loaded.problems.extend(read_place(place, memory));
            loaded.skills.extend(memory.values().cloned());
        }
        loaded
    }
}

/// Reads a place into its memory.
fn read_place(place: &Place, memory: &mut Memory) -> Vec<Problem> {
    if let Err(problems) = vouched(place, memory) {
        return problems;
    }
    let attempts = match place {
        Place::Builtin(texts) => {
            let attempts = texts.iter().map(|(name, text)| Attempt {
                source: SkillSource::Builtin,
                ..Attempt::of(name, &format!("builtin:{name}"), text)
            });
            Ok(attempts.collect())
        }
        Place::Directory(directory) => read_directory(directory),
        Place::Optional(directory) => read_directory(directory).or_else(none_if_absent),
        Place::Guarded(guard) => read_directory(guard.directory()).or_else(none_if_absent),
    };
    match attempts {
        // Files may have changed while they were read.
        Ok(attempts) => match vouched(place, memory) {
            Ok(()) => settle(memory, attempts),
            Err(problems) => problems,
        },
        // Nobody knows what is there now: what was known stays.
        Err((problem, _)) => vec![problem],
    }
}

/// Asks the guard of a place, if there is one.
fn vouched(place: &Place, memory: &mut Memory) -> Result<(), Vec<Problem>> {
    let Place::Guarded(guard) = place else { return Ok(()) };
    let reason = match guard.standing() {
        Standing::Good => return Ok(()),
        Standing::Changed(reason) if memory.is_empty() => reason,
        Standing::Changed(reason) => format!("{reason}; the skills of before stay in use"),
        Standing::Refused(reason) => {
            memory.clear();
            reason
        }
    };
    // A project without skills has nothing here to say.
    let is_about_nothing = memory.is_empty() && !guard.directory().exists();
    Err(if is_about_nothing { Vec::new() } else { vec![problem(guard.directory(), reason)] })
}

/// One directory of a skill.
struct Attempt {
    name: String,
    source: SkillSource,
    skill: Option<Skill>,
    problems: Vec<Problem>,
}

impl Attempt {
    fn of(name: &str, file: &str, text: &str) -> Self {
        let (skill, faults) = Skill::parse(text);
        let mut problems: Vec<Problem> = faults.into_iter().map(|fault| located(file, fault)).collect();
        let skill = skill.filter(|skill| {
            let is_named = skill.name.as_str() == name;
            if !is_named {
                let message = format!(
                    "Its name is '{}', but its directory is '{}': they must be the same",
                    skill.name,
                    pinza_core::visible(name)
                );
                problems.push(problem(Path::new(file), message));
            }
            is_named
        });
        let source = SkillSource::File(file.to_owned());
        Self { name: name.to_owned(), source, skill, problems }
    }

    fn broken(name: &str, problem: Problem) -> Self {
        let source = SkillSource::File(problem.file.clone());
        Self { name: name.to_owned(), source, skill: None, problems: vec![problem] }
    }
}

/// Takes what was read: what is good replaces what was there, what is broken does not.
fn settle(memory: &mut Memory, attempts: Vec<Attempt>) -> Vec<Problem> {
    let mut last = std::mem::take(memory);
    let mut problems = Vec::new();
    for attempt in attempts {
        let Attempt { name, source, skill, problems: mut found } = attempt;
        let known = last.remove(&name);
        match (skill.map(|skill| Skill { source, ..skill }), known) {
            (Some(skill), Some(known)) if *known == skill => drop(memory.insert(name, known)),
            (Some(skill), _) => drop(memory.insert(name, Arc::new(skill))),
            (None, Some(known)) => {
                if let Some(fault) = found.iter_mut().find(|problem| !problem.warning) {
                    fault.message.push_str("; the version of before stays in use");
                }
                memory.insert(name, known);
            }
            (None, None) => {}
        }
        problems.extend(found);
    }
    problems
}

type Unread = (Problem, io::ErrorKind);

fn none_if_absent((problem, kind): Unread) -> Result<Vec<Attempt>, Unread> {
    if kind == io::ErrorKind::NotFound { Ok(Vec::new()) } else { Err((problem, kind)) }
}

fn read_directory(directory: &Path) -> Result<Vec<Attempt>, Unread> {
    let unread = |error: io::Error| {
        let kind = error.kind();
        (problem(directory, format!("Cannot read the directory: {}", reason(&error))), kind)
    };
    let opened = File::open(directory).map_err(unread)?;
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(unread)? {
        names.push(entry.map_err(unread)?.file_name());
    }
    names.sort();
    let mut attempts = Vec::new();
    for name in names {
        let path = directory.join(&name);
        let Some(name) = name.to_str() else {
            attempts.push(Attempt::broken("", problem(&path, "Its name is not valid UTF-8")));
            continue;
        };
        if name.starts_with('.') {
            continue;
        }
        if attempts.len() == MOST {
            attempts.push(Attempt::broken(
                "",
                problem(directory, format!("More than {MOST} skills; the rest was not read")),
            ));
            break;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&opened, name, flags, Mode::empty()) {
            Ok(skill) => attempts.push(attempt(&skill, &path, name)),
            Err(Errno::NOTDIR | Errno::LOOP) => attempts.extend(no_directory(opened.as_fd(), &path, name)),
            Err(error) => {
                let message = format!("Cannot be opened: {}", reason(&error.into()));
                attempts.push(Attempt::broken(name, problem(&path, message)));
            }
        }
    }
    Ok(attempts)
}

/// What is said of something that is no skill's directory.
fn no_directory(above: BorrowedFd<'_>, path: &Path, name: &str) -> Option<Attempt> {
    let stat = statat(above, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
        return Some(Attempt::broken(
            name,
            problem(path, "A link, and links are not followed: copy the directory"),
        ));
    }
    // Other files are nobody's business.
    let stem = name.strip_suffix(".md")?;
    let message = format!("A skill is a directory with a {SKILL_FILE}: {stem}/{SKILL_FILE}");
    let warning = Problem { warning: true, ..problem(path, message) };
    Some(Attempt::broken(name, warning))
}

/// Reads the skill of a directory.
fn attempt(directory: &OwnedFd, path: &Path, name: &str) -> Attempt {
    let file = path.join(SKILL_FILE);
    match read(directory) {
        Ok(text) => Attempt::of(name, &file.display().to_string(), &text),
        Err(message) => Attempt::broken(name, problem(&file, message)),
    }
}

/// The text of a `SKILL.md`, or why it cannot be had.
fn read(directory: &OwnedFd) -> Result<String, String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(directory, SKILL_FILE, flags, Mode::empty()).map_err(|error| match error {
        Errno::NOENT => format!("There is no {SKILL_FILE}"),
        Errno::LOOP => "A link, and links are not followed: copy the file".to_owned(),
        error => format!("Cannot be opened: {}", reason(&error.into())),
    })?;
    let file = File::from(file);
    // A pipe would keep us waiting and a device would never end.
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err("Not a regular file".into());
    }
    let mut bytes = Vec::new();
    // One more than is allowed, so that a longer one is told from one that just fits.
    let read = file.take(SKILL_LIMIT as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("Cannot be read: {}", reason(&error)))?;
    if bytes.len() > SKILL_LIMIT {
        return Err(format!("Longer than {} KB", SKILL_LIMIT >> 10));
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].split(|byte| *byte == b'\n').count();
        format!("Not valid UTF-8 (line {line})")
    })
}

fn located(file: &str, fault: SkillFault) -> Problem {
    Problem { line: fault.line, warning: fault.warning, ..problem(Path::new(file), fault.message) }
}

fn problem(file: &Path, message: impl Into<String>) -> Problem {
    let (file, message) = (file.display().to_string(), message.into());
    Problem { file, entry: None, message, line: None, column: None, warning: false }
}

/// The words of the operating system without its number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}
