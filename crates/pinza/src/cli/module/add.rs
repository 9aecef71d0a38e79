//! `pinza module add`: install, look, ask, draft, and only then enable.

use std::path::Path;

use anyhow::Context;
use pinza::{
    ToolError,
    core::{ErrorKind, visible},
    js::package::{Draft, DraftFault, DraftWish, Installed, Lock, PackageFault, PackageVerdict},
};
use serde_json::{Value, json};

use super::{
    super::{Done, Global, Result, args::AddModule, author::counted},
    npm::{self, Wanted},
    place::{Place, Workshop},
};
use crate::{
    home::Home,
    terminal::{Out, Printer, Progress, ask, is_interactive},
};

/// Names that are listed before the rest is counted.
const LISTED: usize = 24;

pub(super) fn run(global: &Global, printer: &Printer, home: &Home, wanted: &AddModule) -> Result {
    let package = Wanted::parse(&wanted.package)?;
    let place = choose_place(home, wanted, &package)?;
    home.create()?;
    let workshop = Workshop::new(home, &place)?;
    let (verdict, draft) = {
        let progress = Progress::new(printer, 4);
        progress.step(&format!("installing {}", visible(&wanted.package)));
        let installed = install(&workshop.directory, &place.name, &package, &progress)?;
        progress.step("reading it");
        let verdict = installed.verdict().map_err(package_error)?;
        progress.step("drafting tools");
        let wish = DraftWish { module: place.name.clone(), pick: picked(wanted), range: package.range() };
        let draft = installed.draft(&wish, &verdict);
        drop(progress);
        // Before anything is enabled, and also where it will not be.
        printer.text(|out| out.text(&verdict.to_string()));
        refuse(&verdict)?;
        let draft = draft.map_err(draft_error)?;
        let draft = if global.yes || global.json || !is_interactive() {
            draft
        } else {
            confirmed(printer, &installed, wish, &verdict, draft)?
        };
        (verdict, draft)
    };
    let manifest = place.directory.join("module.json");
    let written = workshop.directory.join("module.json");
    std::fs::write(&written, format!("{:#}\n", draft.manifest))
        .with_context(|| format!("cannot write {}", written.display()))?;
    let lock = Lock::of(&workshop.directory).and_then(|lock| lock.write(&workshop.directory).map(|()| lock));
    let lock = lock.map_err(|fault| ToolError::execution(fault.to_string()))?;
    workshop.move_to(&place)?;
    printer.json_or(
        || {
            json!({
                "status": "success",
                "module": place.name,
                "file": manifest.display().to_string(),
                "verdict": verdict,
                "tools": draft.tools,
                "leftOut": draft.left_out,
                "more": draft.more,
                "classes": draft.classes,
                "locked": lock.packages.len(),
            })
        },
        |out| {
            out.line("");
            print_draft(out, &draft, Show::of(&picked(wanted)));
            out.line("");
            out.line(&format!("Written: {}", manifest.display()));
            draft.manifest["tools"].get(0).into_iter().for_each(|tool| out.line(&first_call(tool)));
        },
    );
    Ok(Done::Well)
}

/// The module's name and directory, if nobody has it yet.
fn choose_place(home: &Home, wanted: &AddModule, package: &Wanted) -> Result<Place> {
    let name = match &wanted.name {
        Some(name) => name.clone(),
        None => {
            let name = package.package_name().ok_or_else(|| {
                ToolError::validation("The package does not say what it is called")
                    .hint("Choose a name with --name.")
            })?;
            module_name(&name)
        }
    };
    let place = Place::new(home, &name)?;
    if place.directory.symlink_metadata().is_ok() {
        let message = format!("There is a module '{name}' already: {}", place.directory.display());
        let hint =
            format!("Remove it with `pinza module remove {name}`, or choose another name with --name.");
        return Err(ToolError::validation(message).hint(hint).into());
    }
    Ok(place)
}

/// `@scope/Some.Name` becomes `some-name`.
fn module_name(package: &str) -> String {
    let name = package.rsplit('/').next().unwrap_or(package).to_lowercase();
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    plain.trim_matches('-').to_owned()
}

fn picked(wanted: &AddModule) -> Vec<String> {
    wanted.pick.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

fn install(directory: &Path, module: &str, package: &Wanted, progress: &Progress) -> Result<Installed> {
    let name = npm::install(directory, module, package)?;
    let open = || Installed::open(directory, &name).map_err(package_error);
    let installed = open()?;
    if installed.has_types() || matches!(package, Wanted::Local(_)) {
        return Ok(installed);
    }
    progress.step("looking for declarations of its types");
    npm::install_types(directory, &name);
    Ok(open()?)
}

fn package_error(fault: PackageFault) -> ToolError {
    ToolError::validation(format!("The package cannot be used: {fault}"))
}

fn draft_error(fault: DraftFault) -> ToolError {
    let hint = match &fault {
        DraftFault::Package(fault) => return package_error(fault.clone()),
        DraftFault::NothingFound { .. } => {
            Some("A module.json can be written by hand; see docs/guides/wrap-a-library.md.")
        }
        DraftFault::TwoClasses { .. } => Some("Add the package twice, under two names (--name)."),
        DraftFault::NothingUsable { .. } | DraftFault::Unknown { .. } | DraftFault::Unusable { .. } => None,
    };
    let error = ToolError::validation(format!("No tools could be drafted: {fault}"));
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

fn refuse(verdict: &PackageVerdict) -> Result<()> {
    let refused = verdict.concerns.iter().filter(|concern| concern.refused);
    let reasons: Vec<&str> = refused.map(|concern| concern.message.as_str()).collect();
    if reasons.is_empty() {
        return Ok(());
    }
    let message = format!("'{}' was not added: {}", visible(&verdict.package), reasons.join("; "));
    Err(ToolError::new(ErrorKind::ValidationError, message).into())
}

/// How much of a draft is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Show {
    /// Whoever picked knows what else there is.
    Tools,
    All,
}

impl Show {
    fn of(pick: &[String]) -> Self {
        if pick.is_empty() { Self::All } else { Self::Tools }
    }
}

/// Shows the draft and lets a person agree, choose other functions, or leave.
fn confirmed(
    printer: &Printer,
    installed: &Installed,
    mut wish: DraftWish,
    verdict: &PackageVerdict,
    mut draft: Draft,
) -> Result<Draft> {
    loop {
        printer.text(|out| {
            out.line("");
            print_draft(out, &draft, Show::of(&wish.pick));
        });
        let answer = ask("\nAdd it? [y] yes   [n] no   or names of functions, with commas: ");
        match answer.to_lowercase().as_str() {
            "y" | "yes" => return Ok(draft),
            "n" | "no" | "" => return Err(ToolError::cancelled().into()),
            _ => {}
        }
        wish.pick =
            answer.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
        match installed.draft(&wish, verdict) {
            Ok(other) => draft = other,
            Err(fault) => printer.error(&fault.to_string(), None),
        }
    }
}

fn print_draft(out: &mut Out, draft: &Draft, show: Show) {
    out.heading(&counted(draft.tools.len(), "tool"));
    out.columns(
        draft
            .tools
            .iter()
            .map(|tool| [visible(&tool.name), visible(&tool.signature), visible(&tool.description)]),
    );
    if show == Show::Tools {
        return;
    }
    if !draft.left_out.is_empty() {
        out.heading("Left out");
        let shown = draft.left_out.iter().take(LISTED);
        out.columns(shown.map(|one| [visible(&one.function), visible(&one.reason)]));
        more(out, draft.left_out.len());
    }
    if !draft.more.is_empty() {
        let shown: Vec<&str> = draft.more.iter().take(LISTED).map(String::as_str).collect();
        out.line(&format!("{} more to --pick: {}", draft.more.len(), shown.join(", ")));
        more(out, draft.more.len());
    }
    if !draft.classes.is_empty() {
        let shown: Vec<&str> = draft.classes.iter().take(LISTED).map(String::as_str).collect();
        out.line(&format!("Objects with methods, to --pick as NAME or NAME.method: {}", shown.join(", ")));
        more(out, draft.classes.len());
    }
}

fn more(out: &mut Out, count: usize) {
    if count > LISTED {
        out.line(&format!("  and {} others (all of them with --json)", count - LISTED));
    }
}

/// A command to begin with.
fn first_call(tool: &Value) -> String {
    let name = tool["name"].as_str().unwrap_or_default();
    let required = tool["parameters"]["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let arguments: String = required.map(|name| format!(" {}=…", visible(name))).collect();
    format!("Call it: pinza call {name}{arguments}")
}
