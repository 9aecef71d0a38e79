// vm: code in the one context that there is. A second one would not be a sandbox inside the sandbox.
"use strict";

const { checkString, stubs, unavailable } = require("internal/errors");

// Indirect, so that the code sees globals only.
const evaluate = internal.global.eval;

function runInThisContext(code) {
  return evaluate(`${code}`);
}

class Script {
  #code;

  constructor(code) {
    code = `${code}`;
    // A syntax error shows here, not at the first run.
    new Function(code);
    this.#code = code;
  }

  runInThisContext() { return evaluate(this.#code); }
  runInContext() { throw unavailable("vm.Script.runInContext"); }
  runInNewContext() { throw unavailable("vm.Script.runInNewContext"); }
  createCachedData() { return require("buffer").Buffer.alloc(0); }
}

function compileFunction(code, parameters = []) {
  checkString(code, "code");
  return new Function(...parameters, code);
}

module.exports = {
  Script, runInThisContext, compileFunction,
  createScript: (code) => new Script(code),
  isContext: () => false,
  constants: { __proto__: null, USE_MAIN_CONTEXT_DEFAULT_LOADER: Symbol("vm_dynamic_import_main_context_default"), DONT_CONTEXTIFY: Symbol("vm_context_no_contextify") },
};
stubs("vm", ["createContext", "runInContext", "runInNewContext", "measureMemory", "Module", "SourceTextModule", "SyntheticModule"], module.exports);
