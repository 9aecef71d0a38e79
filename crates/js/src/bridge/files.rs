//! Files of the workspace, for scripts (whole texts) and for libraries (Node's `fs` on top of a few plain operations).

use std::time::UNIX_EPOCH;

use pinza_core::{
    FileType, FsEntry, FsError, FsStat, FsVerb, Removal, ToolError, WriteMode, capability, write_with_parents,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Asking, FILE_LIMIT};

#[derive(Deserialize)]
pub(super) struct FileRequest {
    path: String,
    #[serde(default)]
    content: String,
    /// Where a file is renamed to.
    #[serde(default)]
    to: String,
}

pub(super) async fn answer(
    asking: &Asking<'_>,
    op: &str,
    request: FileRequest,
    bytes: Option<Vec<u8>>,
) -> Result<Answer, ToolError> {
    let FileRequest { path, content, to } = request;
    let reading = matches!(op, "fs.read" | "fs.bytes" | "fs.exists" | "fs.stat" | "fs.list");
    let (name, verb) = match reading {
        true => (capability::FS_READ, FsVerb::Read),
        false => (capability::FS_WRITE, FsVerb::Write),
    };
    asking.needs(name, "path", &path).await?;
    let files = asking.job.host.files.as_ref();
    let failed = |error: FsError| error.answer(verb, &path);
    let bytes = bytes.unwrap_or_default();
    Ok(match op {
        "fs.read" => text(&path, files.read(&path, FILE_LIMIT).await.map_err(failed)?)?,
        "fs.write" | "fs.append" => {
            let mode = if op == "fs.write" { WriteMode::Replace } else { WriteMode::Append };
            write_with_parents(files, &path, content.as_bytes(), mode).await.map_err(failed)?;
            Answer::json(&json!(content.len()))
        }
        "fs.exists" => Answer::json(&json!(files.stat(&path).await.map_err(failed)?.is_some())),
        // What follows is for libraries, which know files as Node has them.
        "fs.bytes" => {
            let found = files.read(&path, FILE_LIMIT).await;
            as_node(found, |bytes| Answer { json: None, bytes: Some(bytes) }).map_err(failed)?
        }
        "fs.stat" => {
            let found = files.stat(&path).await;
            as_node(found, |found| Answer::json(&json!(found.as_ref().map(described)))).map_err(failed)?
        }
        "fs.list" => {
            let listed = |FsEntry { name, file_type }| json!({ "name": name, "type": kind(file_type) });
            let found = files.list(&path).await;
            as_node(found, |all| Answer::json(&all.into_iter().map(listed).collect())).map_err(failed)?
        }
        "fs.put" | "fs.add" => {
            let mode = if op == "fs.put" { WriteMode::Replace } else { WriteMode::Append };
            as_node(files.write(&path, &bytes, mode).await, nothing).map_err(failed)?
        }
        "fs.mkdir" => as_node(files.mkdirp(&path).await, nothing).map_err(failed)?,
        "fs.unlink" => as_node(files.remove(&path, Removal::File).await, nothing).map_err(failed)?,
        "fs.rmdir" => as_node(files.remove(&path, Removal::Directory).await, nothing).map_err(failed)?,
        "fs.rename" => {
            asking.needs(name, "path", &to).await?;
            as_node(files.rename(&path, &to).await, nothing).map_err(failed)?
        }
        op => return Err(ToolError::validation(format!("There is no bridge '{}'", pinza_core::visible(op)))),
    })
}

/// Writes a file and makes the directories above it.
pub(super) async fn write(
    asking: &Asking<'_>,
    path: &str,
    data: &[u8],
    mode: WriteMode,
) -> Result<(), ToolError> {
    asking.needs(capability::FS_WRITE, "path", path).await?;
    let written = write_with_parents(asking.job.host.files.as_ref(), path, data, mode).await;
    written.map_err(|error| error.answer(FsVerb::Write, path))
}

fn text(path: &str, bytes: Vec<u8>) -> Result<Answer, ToolError> {
    let text = String::from_utf8(bytes).map_err(|_| {
        ToolError::validation(format!("File is not UTF-8 text: {}", pinza_core::visible(path)))
    })?;
    let text = text.strip_prefix('\u{feff}').map(String::from).unwrap_or(text);
    Ok(Answer::json(&Value::String(text)))
}

fn nothing((): ()) -> Answer {
    Answer::default()
}

/// What Node's libraries ask about (is it there? a directory?) is an answer with Node's own code; what was not
/// allowed stays an error of Pinza's.
fn as_node<T>(result: Result<T, FsError>, shape: impl FnOnce(T) -> Answer) -> Result<Answer, FsError> {
    let errno = match result {
        Ok(found) => return Ok(shape(found)),
        Err(FsError::NotFound) => "ENOENT",
        Err(FsError::IsDirectory) => "EISDIR",
        Err(FsError::NotADirectory) => "ENOTDIR",
        Err(FsError::NotEmpty) => "ENOTEMPTY",
        Err(FsError::TooLarge { .. }) => "EFBIG",
        Err(FsError::BadPath(_)) => "EINVAL",
        Err(error) => return Err(error),
    };
    Ok(Answer::json(&json!({ "errno": errno })))
}

fn described(stat: &FsStat) -> Value {
    let modified = stat.modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    json!({
        "type": kind(stat.file_type),
        "size": stat.size,
        "modified": modified.map_or(0.0, |since| since.as_secs_f64() * 1000.0),
    })
}

fn kind(file_type: FileType) -> &'static str {
    match file_type {
        FileType::File => "file",
        FileType::Directory => "directory",
        FileType::Other => "other",
    }
}
