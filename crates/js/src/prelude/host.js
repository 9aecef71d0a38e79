// What only Pinza has: files of the workspace, the clock of a time zone, shared scripts, other tools, accounts.

const loadFiles = once(function () {
  const fs = {
    readFile: (path) => askNow("fs.read", { __proto__: null, path: pathText(path) }),
    writeFile: (path, content) => askNow("fs.write", { __proto__: null, path: pathText(path), content: contentText(content) }),
    appendFile: (path, content) => askNow("fs.append", { __proto__: null, path: pathText(path), content: contentText(content) }),
    exists: (path) => askNow("fs.exists", { __proto__: null, path: pathText(path) }),
  };

  function contentText(content) {
    if (content === undefined || isObject(content)) throw new TypeError("The content must be a string; turn objects into text first, for example with JSON.stringify.");
    return `${content}`;
  }

  function _time(timezone, format) {
    return askNow("time", { __proto__: null, timezone: optionalText(timezone), format: optionalText(format) });
  }

  function optionalText(value) {
    return value === undefined || value === null ? undefined : `${value}`;
  }

  return { __proto__: null, fs, _time };
});
lazyGlobals(loadFiles, "fs", "_time");

function pathText(path) {
  if (typeof path !== "string") throw new TypeError("The path must be a string");
  return path;
}

const loadLib = once(function () {
  const byName = new Map();
  const byFile = new Map();

  // CommonJS's rules: a script runs once a call, and one that is still running answers what it has so far.
  function lib(name) {
    if (typeof name !== "string") throw new TypeError("lib(name): the name must be a string");
    const known = mapGet(byName, name);
    if (known !== undefined) return known.exports;
    const { source, file } = askNow("lib", { __proto__: null, name });
    const module = mapGet(byFile, file) ?? evaluate(source, file, name);
    mapSet(byName, name, module);
    return module.exports;
  }

  function evaluate(source, file, name) {
    const module = { exports: {} };
    const body = native.compile(source, file);
    mapSet(byFile, file, module);
    mapSet(byName, name, module);
    try {
      apply(body, module.exports, [module, module.exports, lib]);
    } catch (error) {
      mapDelete(byFile, file);
      mapDelete(byName, name);
      throw error;
    }
    return module;
  }

  return { __proto__: null, lib };
});
lazyGlobals(loadLib, "lib");

const loadTools = once(function () {
  const bound = new Map();

  function call(name, args = {}) {
    return ask("tools.call", { __proto__: null, name: `${name}`, arguments: args }, undefined, asText);
  }

  // A tool's result is text, as a model would read it.
  function asText(answer) {
    return answer;
  }

  // `tools.name(args)` is `tools.call("name", args)`. What the language itself asks of any object (`then` by
  // await, `toJSON` by JSON.stringify, symbols) is no tool.
  function get(target, key) {
    if (typeof key === "symbol" || key === "then" || key === "toJSON" || key in target) return target[key];
    let tool = mapGet(bound, key);
    if (tool === undefined) mapSet(bound, key, (tool = (args) => call(key, args)));
    return tool;
  }

  return { __proto__: null, tools: new Proxy({ call }, { __proto__: null, get }) };
});
lazyGlobals(loadTools, "tools");

const loadGoogle = once(function () {
  const google = {
    getAccessToken: () => ask("google.token", { __proto__: null }, undefined, (token) => token),
    getAccountEmail: () => ask("google.email", { __proto__: null }, undefined, (email) => email),
  };
  return { __proto__: null, google };
});
lazyGlobals(loadGoogle, "google");
