//! What is called, each with the arguments of its calls: scripts, and a module.

use serde_json::{Value, json};

use crate::lodash;

/// A tool and what it is called with.
pub(crate) struct Case {
    pub(crate) tool: &'static str,
    pub(crate) source: &'static str,
    pub(crate) arguments: Value,
}

impl Case {
    /// All that can run on this machine.
    pub(crate) fn all() -> Vec<Self> {
        let mut cases = vec![Self::trivial(), Self::five_kb()];
        if lodash::file().is_some() {
            cases.push(Self::with_lodash());
            cases.push(Self::array_chunk());
        }
        cases
    }

    pub(crate) fn trivial() -> Self {
        Self {
            tool: "trivial",
            source: include_str!("tools/trivial.js"),
            arguments: json!({ "a": 1, "b": 2 }),
        }
    }

    /// Some 70 µs of work of its own: a few lines are parsed, counted and made into a report.
    pub(crate) fn five_kb() -> Self {
        let log = "\
192.0.2.7 - - [15/Nov/2026:10:02:11 +0000] \"GET /orders/17?full=1 HTTP/1.1\" 200 5120 \"-\" \"Mozilla/5.0 Firefox/140.0\" 0.031
198.51.100.3 - - [15/Nov/2026:11:02:14 +0100] \"GET /orders/23 HTTP/1.1\" 503 - \"-\" \"Googlebot/2.1\" 2.004
not a line of a log
";
        Self {
            tool: "five_kb",
            source: include_str!("tools/five_kb.js"),
            arguments: json!({ "log": log, "top": 3 }),
        }
    }

    /// The library is loaded at the top of the script, as its author would.
    pub(crate) fn with_lodash() -> Self {
        let orders = json!([
            { "customer": "Ada", "item": "pen", "price": 2.5 },
            { "customer": "Bob", "item": "ink", "price": 7 },
            { "customer": "Ada", "item": "paper", "price": 4.25 },
            { "customer": "Eve & Co", "item": "pen", "price": 2.5 },
        ]);
        Self {
            tool: "with_lodash",
            source: include_str!("tools/with_lodash.js"),
            arguments: json!({ "orders": orders }),
        }
    }

    /// A tool of `examples/modules/lodash`, whose package is locked. What Node runs is written by hand.
    pub(crate) fn array_chunk() -> Self {
        Self {
            tool: "array_chunk",
            source: "const _ = lib('lodash');\nfunction execute(params) { return _.chunk(params.array, params.size); }\n",
            arguments: json!({ "array": [1, 2, 3, 4, 5, 6, 7], "size": 3 }),
        }
    }
}
