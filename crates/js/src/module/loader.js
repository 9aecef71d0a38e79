// Node's module system inside the engine: `require`, and what ES modules see of CommonJS ones. Files and their
// places come from the host, which knows the package; here they are compiled, run once and remembered.
(function (native, global) {
  "use strict";
  const { parse } = JSON;
  const cache = Object.create(null);
  const builtins = new Map();
  const formats = new Map();

  function request(op, payload) {
    const [ok, json, bytes] = native.requestSync(op, JSON.stringify(payload));
    if (ok) return { value: json ? parse(json) : undefined, bytes };
    throw refusal(json);
  }

  function refusal(json) {
    const { message, code } = parse(json);
    return Object.assign(new Error(message), { code: code === "not_found" ? "MODULE_NOT_FOUND" : code });
  }

  function sourceOf(file) {
    return new TextDecoder().decode(request("module.source", { file }).bytes);
  }

  // A built-in of Node, by its name without `node:`; undefined for what is none.
  function builtin(name) {
    const known = builtins.get(name);
    if (known !== undefined) return known.exports;
    const source = native.builtinSource(name);
    if (source === undefined || source === null) return undefined;
    const module = { exports: {} };
    builtins.set(name, module);
    native.compileWith(source, `node:${name}`, "module, exports, require, internal")(module, module.exports, builtinRequire, native.node);
    return module.exports;
  }

  function builtinRequire(name) {
    const found = builtin(withoutScheme(name));
    if (found === undefined) throw new Error(`There is no built-in '${name}'`);
    return found;
  }

  function withoutScheme(specifier) {
    return specifier.startsWith("node:") ? specifier.slice(5) : specifier;
  }

  function resolve(specifier, from, kind) {
    if (typeof specifier !== "string") throw Object.assign(new TypeError('The "id" argument must be of type string'), { code: "ERR_INVALID_ARG_TYPE" });
    const name = withoutScheme(specifier);
    if (native.isBuiltin(specifier)) return `node:${name}`;
    if (name !== specifier) throw unavailable(specifier);
    const { file, format } = request("module.resolve", { specifier, from, kind }).value;
    if (file === null) return "pinza:empty";
    formats.set(file, format);
    return file;
  }

  function unavailable(name) {
    const message = `Node's built-in '${name}' is not there in the embedded engine; say "runtime": "node" in module.json`;
    return Object.assign(new Error(message), { code: "ERR_UNKNOWN_BUILTIN_MODULE" });
  }

  function load(file, parent) {
    if (file.startsWith("node:")) {
      const exports = builtin(file.slice(5));
      if (exports === undefined) throw unavailable(file);
      return exports;
    }
    if (file === "pinza:empty") return {};
    const known = cache[file];
    if (known !== undefined) return known.exports;
    const format = formats.get(file);
    if (format === "esm") return requireModule(file);
    const module = new Module(file, parent);
    cache[file] = module;
    try {
      if (format === "json") module.exports = parse(sourceOf(file));
      else run(module, file);
      module.loaded = true;
    } catch (error) {
      delete cache[file];
      throw error;
    }
    return module.exports;
  }

  // Node's require() of an ES module: its namespace, or what it exports as "module.exports".
  function requireModule(file) {
    const namespace = native.importSync(file);
    return "module.exports" in namespace ? namespace["module.exports"] : namespace;
  }

  function run(module, file) {
    const body = native.compileFile(file, "exports, require, module, __filename, __dirname");
    if (typeof body === "string") throw refusal(body);
    if (body.statics) builtin("internal/regexp_statics").install();
    Reflect.apply(body, module.exports, [module.exports, requireFrom(file, module), module, file, directory(file)]);
  }

  function directory(file) {
    return file.slice(0, file.lastIndexOf("/")) || "/";
  }

  function Module(id = "", parent) {
    this.id = id;
    this.filename = id;
    this.path = directory(id);
    this.exports = {};
    this.loaded = false;
    this.children = [];
    this.paths = [];
    this.parent = parent;
  }
  Module.prototype.require = function (specifier) {
    return requireFrom(this.id, this)(specifier);
  };

  function requireFrom(from, parent) {
    function require(specifier) {
      return load(resolve(specifier, from, "require"), parent);
    }
    require.resolve = (specifier) => resolve(specifier, from, "require");
    require.cache = cache;
    require.extensions = { ".js"() {}, ".json"() {} };
    require.main = undefined;
    return require;
  }

  // What an ES module that imports something else than an ES module gets: the value, and the names in it.
  function foreign(name) {
    if (name.startsWith("cjs:") && !formats.has(name.slice(4))) formats.set(name.slice(4), name.endsWith(".json") ? "json" : "cjs");
    const exports = load(name.startsWith("cjs:") ? name.slice(4) : name, undefined);
    const isObject = exports !== null && (typeof exports === "object" || typeof exports === "function");
    const names = isObject ? Object.keys(exports).filter((key) => /^[A-Za-z_$][\w$]*$/.test(key) && key !== "default") : [];
    return { exports, names };
  }

  // A package may be there for `import` alone.
  function entryOf(specifier) {
    try {
      return resolve(specifier, undefined, "require");
    } catch (error) {
      try {
        return resolve(specifier, undefined, "import");
      } catch {
        throw error;
      }
    }
  }

  // What `fs` and `module` of the built-ins borrow: the library's own files, and `require` from one of them.
  native.node.packageFile = (path) => {
    const [ok, json, bytes] = native.requestSync("module.file", JSON.stringify({ file: path }));
    return ok && json ? { ...parse(json), bytes } : undefined;
  };
  native.node.createRequire = (from) => {
    const file = from.startsWith("file:") ? decodeURIComponent(new URL(from).pathname) : from;
    return requireFrom(file, undefined);
  };

  function open(specifier) {
    builtin("globals").install(global);
    // It installs itself where there is none.
    builtin("intl");
    return load(entryOf(specifier), undefined);
  }

  return { open, foreign };
})
