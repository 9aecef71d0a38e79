// tty: there is no terminal.
"use strict";

const { stubs } = require("internal/errors");

module.exports = { isatty: () => false };
stubs("tty", [
  "ReadStream", "WriteStream",
], module.exports);
