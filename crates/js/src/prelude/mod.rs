//! The globals of the sandbox, as one JavaScript function.
//!
//! The parts are plain scripts, each about one idea, that share the scope of one function:
//! `(native, global) => { settle, run, warm, origin }`. It is evaluated once for every fresh context, before any tool's
//! code, and `native` is reachable from nowhere else. At the top level the parts only capture built-ins and
//! define lazy accessors; a class comes to be at its first use, since most calls touch few of them.

/// The source of the function. `run` calls a tool's entry, `settle` answers a request, `origin` tells a
/// bridge's error from a script's own, and `warm` brings every
/// lazy global to life, for an image of a context that is copied for each call.
pub(crate) fn source() -> &'static str {
    concat!(
        // Without brackets around it: the parser would read through all of it, looking for the arrow behind them.
        "function (native, global) { \"use strict\";\n",
        include_str!("primordials.js"),
        include_str!("define.js"),
        include_str!("ambient.js"),
        include_str!("bytes.js"),
        include_str!("bridge.js"),
        include_str!("run.js"),
        include_str!("iterate.js"),
        include_str!("kinds.js"),
        include_str!("format.js"),
        include_str!("console.js"),
        include_str!("host.js"),
        include_str!("timers.js"),
        include_str!("events.js"),
        include_str!("abort.js"),
        include_str!("encoding.js"),
        include_str!("search_params.js"),
        include_str!("url.js"),
        include_str!("crypto.js"),
        include_str!("clone.js"),
        include_str!("blob.js"),
        include_str!("stream.js"),
        include_str!("form_data.js"),
        include_str!("headers.js"),
        include_str!("body.js"),
        include_str!("request.js"),
        include_str!("response.js"),
        include_str!("fetch.js"),
        "return { __proto__: null, settle, run, warm, origin, foreign, setForeign }; }"
    )
}
