//! Images that a message names: `@picture.png` of the workspace goes along with the text.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use pinza::{
    core::{Content, FsError, visible},
    host::files::Workspace,
    image_type,
};

/// What providers take at least.
const LARGEST: u64 = 5 << 20;
const MOST: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Attached {
    pub(super) images: Vec<Content>,
    /// What is told of them.
    pub(super) notes: Vec<String>,
}

/// Names without a file, and files that are no images, stay text: the model reads files with its tools.
pub(super) async fn attached(text: &str, workspace: &Workspace) -> Attached {
    let named = named(text);
    if named.is_empty() {
        return Attached::default();
    }
    let workspace = workspace.clone();
    let look = move || read_all(&named, &workspace);
    // A thread that was stopped attaches nothing.
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

fn read_all(named: &[String], workspace: &Workspace) -> Attached {
    let mut attached = Attached::default();
    for path in named {
        let shown = visible(path);
        if attached.images.len() == MOST {
            attached.notes.push(format!("{shown} does not go along: {MOST} images are the most"));
            continue;
        }
        match workspace.jail().read(path, LARGEST) {
            Ok(bytes) => match image_type(&bytes) {
                Some(mime_type) => {
                    attached.notes.push(format!("{shown} goes along ({} KB)", bytes.len().div_ceil(1024)));
                    let data = STANDARD.encode(&bytes);
                    attached.images.push(Content::Image { data, mime_type: mime_type.to_owned() });
                }
                None => {
                    attached.notes.push(format!("{shown} does not go along: it is no image that models know"))
                }
            },
            Err(FsError::NotFound | FsError::NotADirectory) => {}
            Err(error) => attached.notes.push(format!("{shown} does not go along: {error}")),
        }
    }
    attached
}

/// What is named after an `@` like an image, each once.
fn named(text: &str) -> Vec<String> {
    let mut named: Vec<String> = Vec::new();
    for (place, _) in text.match_indices('@') {
        if text[..place].chars().next_back().is_some_and(|c| !c.is_whitespace()) {
            continue;
        }
        let rest = &text[place + 1..];
        let path = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next().unwrap_or_default(),
            // What ends a sentence is no part of a name.
            None => rest
                .split(char::is_whitespace)
                .next()
                .unwrap_or_default()
                .trim_end_matches(|c| ",.;:!?)".contains(c)),
        };
        let ending = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        let is_image = ["png", "jpg", "jpeg", "gif", "webp"].contains(&ending.as_str());
        if is_image && !named.iter().any(|known| known == path) {
            named.push(path.to_owned());
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pinza::host::files::WorkspaceOptions;

    use super::*;

    #[test]
    fn names_of_images_in_a_text() {
        let text = "see @a.png, @\"b c.JPG\" and @in/d.webp? mail me@x.png, @notes.txt @a.png (@z.gif)";
        assert_eq!(named(text), ["a.png", "b c.JPG", "in/d.webp"]);
    }

    #[test]
    fn only_images_of_the_workspace_go_along() {
        let outside = tempfile::tempdir().unwrap();
        let root = tempfile::tempdir().unwrap();
        let png = b"\x89PNG\r\n\x1a\nrest";
        fs::write(outside.path().join("secret.png"), png).unwrap();
        fs::write(root.path().join("a.png"), png).unwrap();
        fs::write(root.path().join("fake.png"), "#!/bin/sh").unwrap();
        fs::write(root.path().join("big.png"), vec![0; (LARGEST + 1) as usize]).unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret.png"), root.path().join("link.png")).unwrap();
        let workspace = Workspace::open(root.path(), WorkspaceOptions::default()).unwrap();
        let outer = outside.path().join("secret.png").display().to_string();
        let named = ["a.png", "fake.png", "big.png", "link.png", "none.png", "../secret.png", &outer];
        let attached = read_all(&named.map(str::to_owned), &workspace);
        assert_eq!(attached.images.len(), 1, "{attached:?}");
        assert_eq!(attached.notes[0], "a.png goes along (1 KB)");
        assert_eq!(attached.notes.len(), 6, "all but the one that is not there: {:?}", attached.notes);
    }
}
