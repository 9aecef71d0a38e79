//! What scripts ask for, decided and done by Pinza.
//!
//! Each request is checked on its own: the manifest's capabilities are a ceiling, policy and
//! approver decide below it, and files and network are the same guarded ones that every
//! other tool uses.

mod files;

use std::time::Duration;

use pinza_core::{
    BoxFuture, CallContext, Capability, ErrorKind, FsVerb, Permission, Permits, ToolError, WriteMode,
    capability,
};
use pinza_host::http::{HttpRequest, HttpResponse, Redirects};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    job::Job,
    module::{Kind, OwnFile, Package},
    stand_in::{self, StandIn},
};

/// A file that a script reads at once.
const FILE_LIMIT: u64 = 8 << 20;

/// A response body; the script's own heap is smaller still.
const BODY_LIMIT: usize = 8 << 20;

/// No timer outlives any call.
const LONGEST_TIMER: f64 = 3_600_000.0;

/// A running call, as its bridges see it.
pub(crate) struct Asking<'a> {
    pub(crate) job: &'a Job<'a>,
    pub(crate) context: &'a CallContext<'a>,
}

/// The answer to a request: JSON text, raw bytes, both or neither.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) json: Option<String>,
    pub(crate) bytes: Option<Vec<u8>>,
}

impl Answer {
    fn json(value: &Value) -> Self {
        Self { json: Some(value.to_string()), bytes: None }
    }
}

pub(crate) async fn answer(
    asking: &Asking<'_>,
    op: String,
    json: String,
    bytes: Option<Vec<u8>>,
) -> Result<Answer, ToolError> {
    match op.as_str() {
        "timer" => timer(read(&json)?).await,
        op if op.starts_with("fs.") => files::answer(asking, op, read(&json)?, bytes).await,
        "fetch" => fetch(asking, read(&json)?, bytes).await,
        "upload" => upload(asking, read(&json)?).await,
        "download" => download(asking, read(&json)?).await,
        "time" => time(asking, read(&json)?),
        "tools.call" => call_tool(asking, read(&json)?).await,
        "lib" => library(asking, read(&json)?).await,
        "module.resolve" => resolve(asking, &read(&json)?),
        "module.source" => source(asking, &read(&json)?),
        "module.file" => package_file(asking, &read(&json)?),
        "google.token" | "google.email" => {
            Err(ToolError::new(ErrorKind::NotFound, "No Google account is connected"))
        }
        op => Err(ToolError::validation(format!("There is no bridge '{}'", pinza_core::visible(op)))),
    }
}

impl Asking<'_> {
    async fn needs(&self, name: &'static str, argument: &str, text: &str) -> Result<(), ToolError> {
        self.context.permit(Permission::new(Capability::known(name)).about(argument, text)).await
    }
}

/// The prelude wrote this JSON, but a script may have got at it: nothing is taken on trust.
fn read<T: DeserializeOwned>(json: &str) -> Result<T, ToolError> {
    serde_json::from_str(json)
        .map_err(|error| ToolError::validation(format!("A bridge was misused: {error}")))
}

#[derive(Deserialize)]
struct Timer {
    ms: f64,
}

async fn timer(timer: Timer) -> Result<Answer, ToolError> {
    let milliseconds = if timer.ms.is_nan() { 0.0 } else { timer.ms.clamp(0.0, LONGEST_TIMER) };
    tokio::time::sleep(Duration::from_secs_f64(milliseconds / 1000.0)).await;
    Ok(Answer::default())
}

#[derive(Deserialize)]
struct Time {
    #[serde(default)]
    timezone: Option<String>,
    #[serde(default)]
    format: Option<String>,
}

fn time(asking: &Asking<'_>, time: Time) -> Result<Answer, ToolError> {
    let text = (asking.job.host.clock)(time.timezone.as_deref(), time.format.as_deref())?;
    Ok(Answer::json(&Value::String(text)))
}

#[derive(Deserialize)]
struct Resolve {
    specifier: String,
    from: Option<String>,
    kind: Kind,
}

#[derive(Deserialize)]
struct SourceOf {
    file: String,
}

impl Asking<'_> {
    fn package(&self) -> Result<&Package, ToolError> {
        self.job.code.package.as_ref().ok_or_else(|| {
            ToolError::new(ErrorKind::NotFound, "A tool's script imports nothing")
                .hint("Put shared code beside it and use lib(name), or wrap a package with a module.json.")
        })
    }
}

fn resolve(asking: &Asking<'_>, request: &Resolve) -> Result<Answer, ToolError> {
    let resolved = asking.package()?.resolve(&request.specifier, request.from.as_deref(), request.kind)?;
    Ok(Answer::json(&json!(resolved)))
}

fn source(asking: &Asking<'_>, request: &SourceOf) -> Result<Answer, ToolError> {
    let text = asking.package()?.source(&request.file)?;
    // Only old libraries read what a match left behind, and only for them is it kept.
    let code = String::from_utf8_lossy(&text);
    let statics = code.contains("RegExp.$") || code.contains("RegExp.lastMatch");
    let json = statics.then(|| json!({ "statics": true }).to_string());
    Ok(Answer { json, bytes: Some(text) })
}

/// A file of the library itself, which it may read as `fs` reads files; nothing for any other path.
fn package_file(asking: &Asking<'_>, request: &SourceOf) -> Result<Answer, ToolError> {
    Ok(match asking.package()?.own(&request.file)? {
        None => Answer::default(),
        Some(OwnFile::Text(bytes)) => Answer { json: Some("{}".into()), bytes: Some(bytes) },
        Some(OwnFile::Directory(names)) => Answer::json(&json!({ "names": names })),
    })
}

#[derive(Deserialize)]
struct Fetch {
    url: String,
    #[serde(default = "get")]
    method: String,
    #[serde(default)]
    headers: Vec<(String, String)>,
    #[serde(default)]
    redirect: Option<String>,
    #[serde(default)]
    path: String,
}

fn get() -> String {
    "GET".into()
}

async fn fetch(asking: &Asking<'_>, fetch: Fetch, body: Option<Vec<u8>>) -> Result<Answer, ToolError> {
    let asked = fetch.url.clone();
    let response = send(asking, fetch, body).await?;
    let head = json!({
        "status": response.status,
        "statusText": response.reason,
        "headers": response.headers,
        "url": response.url,
        "redirected": response.url != asked,
        "truncated": response.truncated,
    });
    Ok(Answer { json: Some(head.to_string()), bytes: Some(response.body) })
}

async fn send(asking: &Asking<'_>, fetch: Fetch, body: Option<Vec<u8>>) -> Result<HttpResponse, ToolError> {
    let mut request = HttpRequest::new(&fetch.method, &fetch.url).map_err(|error| error.answer())?;
    for (name, value) in &fetch.headers {
        request = request.header(name, value).map_err(|error| error.answer())?;
    }
    if let Some(body) = body {
        request = request.body(body);
    }
    if matches!(fetch.redirect.as_deref(), Some("manual" | "error")) {
        request = request.redirects(Redirects::None);
    }
    let url = request.url();
    asking.needs(capability::NET, "url", &url).await?;
    if let Some(stand_ins) = &asking.job.host.stand_ins {
        return stand_in::find(stand_ins, &fetch.method, &url).map(|found| stand_in_response(found, url));
    }
    let response = asking.job.host.http.send(request.max_body(BODY_LIMIT), asking.context).await;
    let response = response.map_err(|error| error.answer())?;
    if fetch.redirect.as_deref() == Some("error") && (300..400).contains(&response.status) {
        return Err(ToolError::network(format!("The server redirects: {}", fetch.url)));
    }
    Ok(response)
}

fn stand_in_response(stand_in: &StandIn, url: String) -> HttpResponse {
    let (body, content_type) = stand_in.body();
    let mut headers = stand_in.headers.clone();
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        headers.push(("content-type".into(), content_type.into()));
    }
    let total = Some(body.len() as u64);
    HttpResponse {
        status: stand_in.status,
        reason: String::new(),
        headers,
        url,
        body,
        truncated: false,
        total,
    }
}

#[derive(Deserialize)]
struct Upload {
    #[serde(flatten)]
    request: Fetch,
    parts: Vec<Part>,
}

/// A field's text, or a file of the workspace.
#[derive(Deserialize)]
struct Part {
    name: String,
    #[serde(default)]
    value: Option<String>,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    filename: Option<String>,
    #[serde(default, rename = "type")]
    content_type: Option<String>,
}

/// `multipart/form-data`, put together here because a script never holds the files' bytes.
async fn upload(asking: &Asking<'_>, upload: Upload) -> Result<Answer, ToolError> {
    let random = getrandom::u64().map_err(|error| ToolError::execution(error.to_string()))?;
    let boundary = format!("pinza-{random:016x}");
    let mut body = Vec::new();
    for part in &upload.parts {
        let (data, file) = match &part.path {
            None => (part.value.clone().unwrap_or_default().into_bytes(), part.filename.clone()),
            Some(path) => {
                asking.needs(capability::FS_READ, "path", path).await?;
                let data = asking.job.host.files.read(path, FILE_LIMIT).await;
                let data = data.map_err(|error| error.answer(FsVerb::Read, path))?;
                let name = path.rsplit('/').next().unwrap_or(path).to_owned();
                (data, Some(part.filename.clone().unwrap_or(name)))
            }
        };
        body.extend(
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", quoted(&part.name))
                .bytes(),
        );
        if let Some(file) = &file {
            body.extend(format!("; filename=\"{}\"", quoted(file)).bytes());
            let content_type = part.content_type.as_deref().unwrap_or("application/octet-stream");
            body.extend(format!("\r\nContent-Type: {}", quoted(content_type)).bytes());
        }
        body.extend(b"\r\n\r\n");
        body.extend(data);
        body.extend(b"\r\n");
    }
    body.extend(format!("--{boundary}--\r\n").bytes());
    let mut request = upload.request;
    request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    request.headers.push(("Content-Type".into(), format!("multipart/form-data; boundary={boundary}")));
    fetch(asking, request, Some(body)).await
}

/// As browsers write names in a part's head: nothing in them can end the line or the quotes.
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

async fn download(asking: &Asking<'_>, fetch: Fetch) -> Result<Answer, ToolError> {
    let path = fetch.path.clone();
    let response = send(asking, fetch, None).await?;
    if response.truncated {
        return Err(ToolError::new(ErrorKind::OutputLimit, "The download is larger than 8 MiB"));
    }
    files::write(asking, &path, &response.body, WriteMode::Replace).await?;
    Ok(Answer::json(&json!({ "bytes": response.body.len(), "status": response.status })))
}

#[derive(Deserialize)]
struct Called {
    name: String,
    #[serde(default)]
    arguments: Value,
}

/// Boxed, because the tool that is called may be a script that calls tools.
async fn call_tool(asking: &Asking<'_>, called: Called) -> Result<Answer, ToolError> {
    let calling: BoxFuture<'_, _> = Box::pin(asking.context.call_tool(&called.name, called.arguments));
    let output = calling.await?;
    Ok(Answer::json(&Value::String(output.as_text())))
}

#[derive(Deserialize)]
struct LibraryName {
    name: String,
}

async fn library(asking: &Asking<'_>, asked: LibraryName) -> Result<Answer, ToolError> {
    let libraries = asking.job.libraries;
    let name = pinza_core::visible(&asked.name);
    let Some(library) = libraries.get(&asked.name).cloned() else {
        let known: Vec<&str> = libraries.keys().map(String::as_str).collect();
        let error = ToolError::new(ErrorKind::NotFound, format!("There is no library '{name}'"));
        let hint = match known.as_slice() {
            [] => "A library is a script without a manifest beside the tool, and there is none.".to_owned(),
            known => format!("There are: {}.", known.join(", ")),
        };
        return Err(error.hint(hint));
    };
    let read = tokio::task::spawn_blocking(move || library.read()).await;
    let script = read.map_err(|error| ToolError::execution(error.to_string()))?.map_err(|problems| {
        let reasons: Vec<String> = problems.iter().map(ToString::to_string).collect();
        ToolError::execution(format!("The library '{name}' cannot be used: {}", reasons.join("; ")))
    })?;
    Ok(Answer::json(&json!({ "source": script.code, "file": script.file })))
}
