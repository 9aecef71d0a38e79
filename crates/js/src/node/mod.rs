//! Node's built-ins for libraries that run in the embedded engine, one file each.
//!
//! A file is the body of `function (module, exports, require, internal)`, run in the engine's global
//! scope. `require` reaches only what is here, the parts under `internal/` too; `internal` has the native
//! functions of `worker/node`, and the global object as `internal.global`. What cannot work in a sandbox
//! is there under its documented name, and says so when it is used.
//!
//! Two files are for the loader: `globals`, whose `install()` defines `process`, `Buffer` and what else Node has
//! and the sandbox has not, and `intl`, which gives an engine without `Intl` one. The loader may lend two more
//! functions: `internal.createRequire(file)` behind `module.createRequire`, and `internal.packageFile(path)`, the
//! text of a file of the library itself, or nothing, which `fs` asks first.

/// What a library may require, without `node:`. The parts under `internal/` are not for libraries.
pub(crate) const NAMES: &[&str] = &[
    "assert",
    "assert/strict",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "dns/promises",
    "domain",
    "events",
    "fs",
    "fs/promises",
    "http",
    "http2",
    "https",
    "inspector",
    "inspector/promises",
    "module",
    "net",
    "os",
    "path",
    "path/posix",
    "path/win32",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "readline/promises",
    "repl",
    "stream",
    "stream/consumers",
    "stream/promises",
    "stream/web",
    "string_decoder",
    "sys",
    "test",
    "timers",
    "timers/promises",
    "tls",
    "trace_events",
    "tty",
    "url",
    "util",
    "util/types",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
    "zlib",
];

/// Whether a specifier means one of them. A package may be called `test`, so that one needs its `node:`, as in Node;
/// and what lies in a package beside a built-in of the same name (`process/browser`, `punycode/`) is the package's.
pub(crate) fn is_builtin(specifier: &str) -> bool {
    match specifier.strip_prefix("node:") {
        Some(name) => NAMES.contains(&name),
        None => specifier != "test" && NAMES.contains(&specifier),
    }
}

/// The source of a built-in, or of a part that built-ins share.
pub(crate) fn source(name: &str) -> Option<&'static str> {
    Some(match name {
        "assert" => include_str!("assert.js"),
        "assert/strict" => include_str!("assert_strict.js"),
        "async_hooks" => include_str!("async_hooks.js"),
        "buffer" => include_str!("buffer.js"),
        "child_process" => include_str!("child_process.js"),
        "cluster" => include_str!("cluster.js"),
        "console" => include_str!("console.js"),
        "constants" => include_str!("constants.js"),
        "crypto" => include_str!("crypto.js"),
        "dgram" => include_str!("dgram.js"),
        "diagnostics_channel" => include_str!("diagnostics_channel.js"),
        "dns" => include_str!("dns.js"),
        "dns/promises" => include_str!("dns_promises.js"),
        "domain" => include_str!("domain.js"),
        "events" => include_str!("events.js"),
        "fs" => include_str!("fs.js"),
        "fs/promises" => include_str!("fs_promises.js"),
        "globals" => include_str!("globals.js"),
        "http" => include_str!("http.js"),
        "http2" => include_str!("http2.js"),
        "https" => include_str!("https.js"),
        "inspector" | "inspector/promises" => include_str!("inspector.js"),
        "intl" => include_str!("intl.js"),
        "internal/buffer_numbers" => include_str!("internal/buffer_numbers.js"),
        "internal/call_sites" => include_str!("internal/call_sites.js"),
        "internal/crypto_bytes" => include_str!("internal/crypto_bytes.js"),
        "internal/crypto_cipher" => include_str!("internal/crypto_cipher.js"),
        "internal/crypto_hash" => include_str!("internal/crypto_hash.js"),
        "internal/crypto_keys" => include_str!("internal/crypto_keys.js"),
        "internal/descriptors" => include_str!("internal/descriptors.js"),
        "internal/dns_names" => include_str!("internal/dns_names.js"),
        "internal/duplex" => include_str!("internal/duplex.js"),
        "internal/encodings" => include_str!("internal/encodings.js"),
        "internal/engine_gaps" => include_str!("internal/engine_gaps.js"),
        "internal/equal" => include_str!("internal/equal.js"),
        "internal/errors" => include_str!("internal/errors.js"),
        "internal/files" => include_str!("internal/files.js"),
        "internal/format" => include_str!("internal/format.js"),
        "internal/http_client" => include_str!("internal/http_client.js"),
        "internal/http_names" => include_str!("internal/http_names.js"),
        "internal/inspect" => include_str!("internal/inspect.js"),
        "internal/inspect_layout" => include_str!("internal/inspect_layout.js"),
        "internal/inspect_text" => include_str!("internal/inspect_text.js"),
        "internal/intl_dates" => include_str!("internal/intl_dates.js"),
        "internal/intl_locale" => include_str!("internal/intl_locale.js"),
        "internal/intl_numbers" => include_str!("internal/intl_numbers.js"),
        "internal/intl_text" => include_str!("internal/intl_text.js"),
        "internal/message_channel" => include_str!("internal/message_channel.js"),
        "internal/next_tick" => include_str!("internal/next_tick.js"),
        "internal/parse_args" => include_str!("internal/parse_args.js"),
        "internal/parse_env" => include_str!("internal/parse_env.js"),
        "internal/readable" => include_str!("internal/readable.js"),
        "internal/readable_pipe" => include_str!("internal/readable_pipe.js"),
        "internal/readable_sources" => include_str!("internal/readable_sources.js"),
        "internal/regexp_statics" => include_str!("internal/regexp_statics.js"),
        "internal/stream_base" => include_str!("internal/stream_base.js"),
        "internal/stream_end" => include_str!("internal/stream_end.js"),
        "internal/stream_operators" => include_str!("internal/stream_operators.js"),
        "internal/types" => include_str!("internal/types.js"),
        "internal/url_legacy" => include_str!("internal/url_legacy.js"),
        "internal/web_bridge" => include_str!("internal/web_bridge.js"),
        "internal/web_crypto" => include_str!("internal/web_crypto.js"),
        "internal/web_readable" => include_str!("internal/web_readable.js"),
        "internal/web_writable" => include_str!("internal/web_writable.js"),
        "internal/writable" => include_str!("internal/writable.js"),
        "module" => include_str!("module.js"),
        "net" => include_str!("net.js"),
        "os" => include_str!("os.js"),
        "path" => include_str!("path.js"),
        "path/posix" => include_str!("path_posix.js"),
        "path/win32" => include_str!("path_win32.js"),
        "perf_hooks" => include_str!("perf_hooks.js"),
        "process" => include_str!("process.js"),
        "punycode" => include_str!("punycode.js"),
        "querystring" => include_str!("querystring.js"),
        "readline" => include_str!("readline.js"),
        "readline/promises" => include_str!("readline_promises.js"),
        "repl" => include_str!("repl.js"),
        "stream" => include_str!("stream.js"),
        "stream/consumers" => include_str!("stream_consumers.js"),
        "stream/promises" => include_str!("stream_promises.js"),
        "stream/web" => include_str!("stream_web.js"),
        "string_decoder" => include_str!("string_decoder.js"),
        "sys" => include_str!("sys.js"),
        "test" => include_str!("test.js"),
        "timers" => include_str!("timers.js"),
        "timers/promises" => include_str!("timers_promises.js"),
        "tls" => include_str!("tls.js"),
        "trace_events" => include_str!("trace_events.js"),
        "tty" => include_str!("tty.js"),
        "url" => include_str!("url.js"),
        "util" => include_str!("util.js"),
        "util/types" => include_str!("util_types.js"),
        "v8" => include_str!("v8.js"),
        "vm" => include_str!("vm.js"),
        "wasi" => include_str!("wasi.js"),
        "worker_threads" => include_str!("worker_threads.js"),
        "zlib" => include_str!("zlib.js"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_source() {
        assert!(NAMES.is_sorted());
        assert_eq!(NAMES.iter().find(|name| source(name).is_none()), None);
    }

    #[test]
    fn what_means_a_built_in() {
        for specifier in ["fs", "node:fs", "fs/promises", "inspector/promises", "node:test"] {
            assert!(is_builtin(specifier), "{specifier}");
        }
        for specifier in
            ["fsevents", "test", "node:fsevents", "process/browser", "punycode/", "internal/errors"]
        {
            assert!(!is_builtin(specifier), "{specifier}");
        }
    }
}
