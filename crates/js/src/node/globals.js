// The globals that Node has and the web has not, for libraries: `process`, `Buffer`, `global`, and timers that are objects.
"use strict";

// `exports.install(target)` defines them; each built-in is loaded at its first touch.
exports.install = function install(target = internal.global) {
  const lazy = (name, load) => Object.defineProperty(target, name, {
    configurable: true,
    enumerable: false,
    get: () => keep(name, load()),
    set: (value) => void keep(name, value),
  });
  const keep = (name, value) => {
    Object.defineProperty(target, name, { value, writable: true, enumerable: false, configurable: true });
    return value;
  };
  keep("global", target);
  lazy("process", () => require("process"));
  lazy("Buffer", () => require("buffer").Buffer);
  // The timers' own part takes the sandbox's before they are replaced.
  const timers = require("timers");
  for (const name of ["setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate"]) keep(name, timers[name]);
};
