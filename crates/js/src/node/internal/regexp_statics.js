// RegExp.$1 and its kin, which old libraries read after a match. Every match has to remember itself for them, so they
// are there only for packages that name them.
"use strict";

let installed = false;

exports.install = function install() {
  if (installed) return;
  installed = true;
  const { exec } = RegExp.prototype;
  let last = Object.assign([""], { index: 0, input: "" });
  // `test`, `replace`, `match` and the others go through it too, once it is not the engine's own.
  const remembering = { exec(text) {
    const match = Reflect.apply(exec, this, [text]);
    if (match !== null) last = match;
    return match;
  } }.exec;
  Object.defineProperty(RegExp.prototype, "exec", { value: remembering, writable: true, enumerable: false, configurable: true });
  const define = (names, get) => {
    for (const name of names) Object.defineProperty(RegExp, name, { configurable: true, enumerable: false, get, set() {} });
  };
  for (let group = 1; group <= 9; group++) define([`$${group}`], () => last[group] ?? "");
  define(["input", "$_"], () => last.input);
  define(["lastMatch", "$&"], () => last[0]);
  define(["lastParen", "$+"], () => (last.length > 1 ? (last.at(-1) ?? "") : ""));
  define(["leftContext", "$`"], () => last.input.slice(0, last.index));
  define(["rightContext", "$'"], () => last.input.slice(last.index + last[0].length));
};
