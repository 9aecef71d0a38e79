// test: tests run in Node.
"use strict";

const { stubs } = require("internal/errors");

module.exports = Object.assign(() => {
  throw require("internal/errors").unavailable("node:test");
}, {});
stubs("test", [
  "test", "describe", "it", "suite", "before", "after", "beforeEach", "afterEach", "run", "skip", "todo", "only", "mock", "snapshot", "assert",
], module.exports);
