// module: what a library may ask of the loader. Files are Pinza's to find, not a script's.
"use strict";

const { stub, stubs, unavailable } = require("internal/errors");

const builtinModules = [...(internal.names ?? [])];

function Module(id = "", parent = undefined) {
  Object.assign(this, { id, path: "/", exports: {}, filename: null, loaded: false, children: [], paths: [], parent });
}
Module.prototype.require = (name) => Module.createRequire("/")(name);
Module.prototype._compile = stub("module.Module.prototype._compile");

// Built-ins are reached; for packages the loader may lend its own.
Module.createRequire = function createRequire(file) {
  if (typeof internal.createRequire === "function") return internal.createRequire(`${file}`);
  const made = (name) => {
    const bare = `${name}`.replace(/^node:/, "");
    if (builtinModules.includes(bare)) return require(bare);
    throw unavailable(`module.createRequire('${file}')('${name}')`);
  };
  made.resolve = (name) => {
    if (Module.isBuiltin(name)) return name;
    throw unavailable("module.createRequire().resolve");
  };
  return Object.assign(made, { cache: {}, main: undefined, extensions: {} });
};

Module.isBuiltin = (name) => builtinModules.includes(`${name}`.replace(/^node:/, ""));
Object.assign(Module, {
  Module, builtinModules, _cache: Object.create(null), _pathCache: Object.create(null), _extensions: { ".js": stub("module._extensions"), ".json": stub("module._extensions"), ".node": stub("module._extensions") },
  globalPaths: [], wrapper: ["(function (exports, require, module, __filename, __dirname) { ", "\n});"],
  wrap: (script) => `${Module.wrapper[0]}${script}${Module.wrapper[1]}`,
  _nodeModulePaths: () => [],
  _debug: () => {},
  syncBuiltinESMExports: () => {},
  findSourceMap: () => undefined,
  enableCompileCache: () => ({ status: 3 }),
  getCompileCacheDir: () => undefined,
  register: stub("module.register"),
  _load: (name) => Module.createRequire("/")(name),
});
stubs("module", ["_findPath", "_resolveFilename", "_resolveLookupPaths", "_initPaths", "_preloadModules", "runMain", "SourceMap", "registerHooks", "stripTypeScriptTypes", "findPackageJSON", "flushCompileCache"], Module);

module.exports = Module;
