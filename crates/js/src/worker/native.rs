//! The few native functions that the prelude stands on. User code never sees them: they are
//! reachable only from the prelude's own closure. All that they hand out is copied into the engine's
//! memory: nothing that a call leaves behind needs to be freed.

use std::rc::Rc;

use rquickjs::{ArrayBuffer, Ctx, Exception, Function, IntoJs, Object, Result, Value, function::Opt};
use serde_json::json;
use sha2::{Digest, Sha256, Sha384, Sha512};
use url::Url;

use super::{
    link::{Link, Reply},
    memory::copy_bytes,
};

/// Random bytes at once; `getRandomValues` allows no more.
const RANDOM: usize = 65536;

/// The object that the prelude is called with.
pub(super) fn native<'js>(ctx: &Ctx<'js>, link: &Rc<Link>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    requests(ctx, &native, link)?;
    texts(ctx, &native)?;
    urls(ctx, &native)?;
    ambience(ctx, &native, link)?;
    super::modules::natives(ctx, &native, link)?;
    Ok(native)
}

/// The arguments of the prelude's `settle`, from an answer.
pub(super) fn settled<'js>(ctx: &Ctx<'js>, reply: Reply) -> Result<(u32, bool, Value<'js>, Value<'js>)> {
    let json = reply.json.into_js(ctx)?;
    let bytes = match reply.bytes {
        Some(bytes) => ArrayBuffer::new_copy(ctx.clone(), bytes)?.into_value(),
        None => Value::new_undefined(ctx.clone()),
    };
    Ok((reply.id, reply.ok, json, bytes))
}

/// `(op, json, bytes?) => [ok, json, bytes]`, which waits for the answer.
pub(super) fn request_sync<'js>(ctx: &Ctx<'js>, link: &Rc<Link>) -> Result<Function<'js>> {
    let shared = Rc::clone(link);
    let request_sync = move |ctx: Ctx<'js>, op: String, json: String, bytes: Opt<Value<'js>>| {
        let bytes = payload(&ctx, bytes)?;
        let reply = shared.request_sync(&op, &json, bytes.as_deref());
        let reply = reply.map_err(|reason| Exception::throw_message(&ctx, &reason))?;
        let (_, ok, json, bytes) = settled(&ctx, reply)?;
        let answer = rquickjs::Array::new(ctx.clone())?;
        answer.set(0, ok)?;
        answer.set(1, json)?;
        answer.set(2, bytes)?;
        Ok::<_, rquickjs::Error>(answer)
    };
    Function::new(ctx.clone(), request_sync)
}

fn requests<'js>(ctx: &Ctx<'js>, native: &Object<'js>, link: &Rc<Link>) -> Result<()> {
    let shared = Rc::clone(link);
    let request = move |ctx: Ctx<'js>, op: String, json: String, bytes: Opt<Value<'js>>| {
        let bytes = payload(&ctx, bytes)?;
        shared.request(&op, &json, bytes.as_deref()).map_err(|reason| Exception::throw_message(&ctx, &reason))
    };
    native.set("request", Function::new(ctx.clone(), request)?)?;

    native.set("requestSync", request_sync(ctx, link)?)?;

    let shared = Rc::clone(link);
    native.set("cancel", Function::new(ctx.clone(), move |id: u32| shared.cancel(id))?)?;
    let shared = Rc::clone(link);
    let log = move |level: String, text: String| shared.log(&level, &text);
    native.set("log", Function::new(ctx.clone(), log)?)?;
    let shared = Rc::clone(link);
    let compile = move |ctx: Ctx<'js>, source: String, file: String| {
        shared.loads_library(&file);
        compile(ctx, source, file)
    };
    native.set("compile", Function::new(ctx.clone(), compile)?)
}

fn payload<'js>(ctx: &Ctx<'js>, bytes: Opt<Value<'js>>) -> Result<Option<Vec<u8>>> {
    match bytes.0 {
        None => Ok(None),
        Some(value) if value.is_undefined() || value.is_null() => Ok(None),
        Some(value) => buffer(ctx, &value).map(Some),
    }
}

fn buffer<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Vec<u8>> {
    let buffer = ArrayBuffer::from_value(value.clone());
    let bytes = buffer.as_ref().and_then(copy_bytes);
    bytes.ok_or_else(|| Exception::throw_type(ctx, "not an ArrayBuffer, or a detached one"))
}

fn part<'js>(ctx: &Ctx<'js>, value: &Value<'js>, offset: usize, length: usize) -> Result<Vec<u8>> {
    let bytes = buffer(ctx, value)?;
    let part = offset.checked_add(length).and_then(|end| bytes.get(offset..end));
    part.map(<[u8]>::to_vec).ok_or_else(|| Exception::throw_range(ctx, "out of bounds"))
}

/// A library's source as `function (module, exports, lib)`. The source is a function body of
/// its own: what would close the wrapper is a syntax error, because it is parsed alone.
fn compile<'js>(ctx: Ctx<'js>, source: String, file: String) -> Result<Function<'js>> {
    let function: Function<'js> = ctx.globals().get("Function")?;
    let options = |code: String| {
        let mut options = rquickjs::context::EvalOptions::default();
        options.strict = false;
        options.filename = Some(file);
        ctx.eval_with_options::<Function<'js>, _>(code, options)
    };
    // The engine's own Function constructor checks body and parameters apart; only a body that
    // passed it is compiled again under its file's name.
    let _checked: Function<'js> = function.call(("module", "exports", "lib", source.as_str()))?;
    options(format!("(function (module, exports, lib) {{{source}\n}})"))
}

fn texts<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    let encode = |ctx: Ctx<'js>, text: rquickjs::String<'js>| {
        ArrayBuffer::new_copy(ctx, well_formed(&text).into_bytes())
    };
    native.set("utf8Encode", Function::new(ctx.clone(), encode)?)?;
    native.set("decode", Function::new(ctx.clone(), decode)?)?;
    let name = |label: String| {
        encoding_rs::Encoding::for_label(label.as_bytes()).map(|encoding| encoding.name().to_lowercase())
    };
    native.set("encodingName", Function::new(ctx.clone(), name)?)?;
    let digest = |ctx: Ctx<'js>, algorithm: String, bytes: Value<'js>, offset: usize, length: usize| {
        let bytes = part(&ctx, &bytes, offset, length)?;
        let digest = match algorithm.as_str() {
            "SHA-1" => sha1::Sha1::digest(&bytes).to_vec(),
            "SHA-256" => Sha256::digest(&bytes).to_vec(),
            "SHA-384" => Sha384::digest(&bytes).to_vec(),
            "SHA-512" => Sha512::digest(&bytes).to_vec(),
            _ => return Err(Exception::throw_type(&ctx, "unknown digest algorithm")),
        };
        ArrayBuffer::new_copy(ctx, digest)
    };
    native.set("digest", Function::new(ctx.clone(), digest)?)?;
    Ok(())
}

/// A string's text, with lone surrogates replaced: they have no place in UTF-8.
///
/// JSON names them, as escapes, and asks no function that a script could have replaced.
pub(super) fn well_formed(text: &rquickjs::String<'_>) -> String {
    text.to_string().unwrap_or_else(|_| {
        let json = text.ctx().json_stringify(text.clone()).ok().flatten();
        let json = json.and_then(|json| json.to_string().ok()).unwrap_or_default();
        serde_json::from_str(&without_surrogates(&json))
            .unwrap_or_else(|_| char::REPLACEMENT_CHARACTER.into())
    })
}

fn without_surrogates(json: &str) -> String {
    let mut replaced = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        replaced.push_str(before);
        let length = if escape.starts_with("\\u") { 6 } else { 2 };
        let (escape, after) = escape.split_at_checked(length).unwrap_or((escape, ""));
        // Only lone ones are escaped: a pair stands as the character that it is.
        replaced.push_str(if escape.starts_with("\\ud") { "\\ufffd" } else { escape });
        rest = after;
    }
    replaced + rest
}

fn decode<'js>(
    ctx: Ctx<'js>,
    label: String,
    bytes: Value<'js>,
    offset: usize,
    length: usize,
    fatal: bool,
    ignore_bom: bool,
) -> Result<String> {
    let Some(encoding) = encoding_rs::Encoding::for_label(label.as_bytes()) else {
        return Err(Exception::throw_range(&ctx, "unknown encoding"));
    };
    let bytes = part(&ctx, &bytes, offset, length)?;
    let (text, malformed) = match ignore_bom {
        true => encoding.decode_without_bom_handling(&bytes),
        false => encoding.decode_with_bom_removal(&bytes),
    };
    if fatal && malformed {
        return Err(Exception::throw_type(&ctx, "the data is not valid for this encoding"));
    }
    Ok(text.into_owned())
}

fn urls<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    let parse = |text: String, base: Opt<Option<String>>| -> Option<String> {
        let base = base.0.flatten().map(|base| Url::parse(&base)).transpose().ok()?;
        Url::options().base_url(base.as_ref()).parse(&text).ok().map(|url| describe(&url))
    };
    native.set("parseUrl", Function::new(ctx.clone(), parse)?)?;
    let set = |href: String, part: String, value: String| -> Option<String> {
        let mut url = Url::parse(&href).ok()?;
        change(&mut url, &part, &value)?;
        Some(describe(&url))
    };
    native.set("setUrl", Function::new(ctx.clone(), set)?)
}

fn change(url: &mut Url, part: &str, value: &str) -> Option<()> {
    use url::quirks;
    match part {
        "href" => *url = Url::parse(value).ok()?,
        "protocol" => quirks::set_protocol(url, value).ok()?,
        "username" => quirks::set_username(url, value).ok()?,
        "password" => quirks::set_password(url, value).ok()?,
        "host" => quirks::set_host(url, value).ok()?,
        "hostname" => quirks::set_hostname(url, value).ok()?,
        "port" => quirks::set_port(url, value).ok()?,
        "pathname" => quirks::set_pathname(url, value),
        "search" => quirks::set_search(url, value),
        "hash" => quirks::set_hash(url, value),
        _ => return None,
    }
    Some(())
}

fn describe(url: &Url) -> String {
    use url::quirks;
    json!({
        "href": quirks::href(url),
        "protocol": quirks::protocol(url),
        "username": quirks::username(url),
        "password": quirks::password(url),
        "host": quirks::host(url),
        "hostname": quirks::hostname(url),
        "port": quirks::port(url),
        "pathname": quirks::pathname(url),
        "search": quirks::search(url),
        "hash": quirks::hash(url),
        "origin": quirks::origin(url),
    })
    .to_string()
}

/// What is not the same each time: the clock and chance.
fn ambience<'js>(ctx: &Ctx<'js>, native: &Object<'js>, link: &Rc<Link>) -> Result<()> {
    let shared = Rc::clone(link);
    let clock = move |stack: Opt<Option<String>>| shared.clock(stack.0.flatten().as_deref());
    native.set("clock", Function::new(ctx.clone(), clock)?)?;
    let shared = Rc::clone(link);
    native.set("now", Function::new(ctx.clone(), move || shared.now())?)?;
    let shared = Rc::clone(link);
    native.set("timeOrigin", Function::new(ctx.clone(), move || shared.origin())?)?;
    let shared = Rc::clone(link);
    let chance =
        move |ctx: Ctx<'js>| shared.chance().map_err(|_| Exception::throw_message(&ctx, "no randomness"));
    native.set("chance", Function::new(ctx.clone(), chance)?)?;
    let shared = Rc::clone(link);
    let random = move |ctx: Ctx<'js>, count: usize| {
        let mut bytes = vec![0; count.min(RANDOM)];
        shared.random(&mut bytes).map_err(|_| Exception::throw_message(&ctx, "no randomness"))?;
        ArrayBuffer::new_copy(ctx, bytes)
    };
    native.set("random", Function::new(ctx.clone(), random)?)
}
