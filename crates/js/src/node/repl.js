// repl: there is nobody to talk to.
"use strict";

const { stubs } = require("internal/errors");

module.exports = {
  REPL_MODE_SLOPPY: Symbol("repl-sloppy"), REPL_MODE_STRICT: Symbol("repl-strict"),
  writer: require("internal/inspect").inspect,
  builtinModules: [...(internal.names ?? [])],
};
stubs("repl", [
  "start", "REPLServer", "Recoverable", "isValidSyntax",
], module.exports);
