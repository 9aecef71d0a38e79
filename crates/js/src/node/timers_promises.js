// timers/promises
"use strict";

const timers = require("timers");
const { AbortError, checkSignal, checkObject } = require("internal/errors");

function wait(begin, end, value, options = {}) {
  return new Promise((resolve, reject) => {
    checkObject(options, "options");
    const { signal } = options;
    checkSignal(signal, "options.signal");
    const failed = () => new AbortError(undefined, { cause: signal.reason });
    if (signal?.aborted) return reject(failed());
    const abort = () => {
      end(timer);
      reject(failed());
    };
    const timer = begin(() => {
      signal?.removeEventListener("abort", abort);
      resolve(value);
    });
    signal?.addEventListener("abort", abort, { once: true });
    return undefined;
  });
}

const setTimeout = (delay, value, options) => wait((done) => timers.setTimeout(done, delay), timers.clearTimeout, value, options);
const setImmediate = (value, options) => wait((done) => timers.setImmediate(done), timers.clearImmediate, value, options);

async function* setInterval(delay, value, options) {
  while (true) yield await setTimeout(delay, value, options);
}

const scheduler = {
  wait: (delay, options) => setTimeout(delay, undefined, options),
  yield: () => setImmediate(),
};

module.exports = { setTimeout, setImmediate, setInterval, scheduler };
