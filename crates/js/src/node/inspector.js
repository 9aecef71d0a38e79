// inspector: there is nothing to attach to.
"use strict";

const { stubs } = require("internal/errors");

module.exports = { url: () => undefined, console: internal.global.console };
stubs("inspector", [
  "open", "close", "waitForDebugger", "Session", "Network",
], module.exports);
