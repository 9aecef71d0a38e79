// process.nextTick: soon, before anything from outside. What is thrown there has no caller: it goes to the log.
"use strict";

const { queueMicrotask } = internal.global;

function nextTick(callback, ...args) {
  if (typeof callback !== "function") throw require("internal/errors").invalidArgType("callback", "function", callback);
  queueMicrotask(() => {
    try {
      callback(...args);
    } catch (error) {
      uncaught(error);
    }
  });
}

// In Node this would end the process, unless somebody listens.
function uncaught(error) {
  if (require("process").emit("uncaughtException", error, "uncaughtException")) return;
  console.error(`Uncaught ${require("internal/inspect").inspect(error)}`);
}

module.exports = { nextTick, uncaught };
