// The globals that Node has and the sandbox has not, for libraries: `process`, `Buffer`, `global`, the web's streams, timers
// that are objects, and whole stack frames.
"use strict";

const streams = [
  "ReadableStream", "ReadableStreamDefaultReader", "ReadableStreamDefaultController", "ReadableByteStreamController", "ReadableStreamBYOBReader", "ReadableStreamBYOBRequest", "WritableStream",
  "WritableStreamDefaultWriter", "WritableStreamDefaultController", "TransformStream", "TransformStreamDefaultController", "ByteLengthQueuingStrategy", "CountQueuingStrategy", "TextEncoderStream",
  "TextDecoderStream", "CompressionStream", "DecompressionStream",
];

const messages = ["MessageChannel", "MessagePort", "BroadcastChannel", "MessageEvent", "CustomEvent"];

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
  for (const name of streams) if (target[name] === undefined) lazy(name, () => require("stream/web")[name]);
  for (const name of messages) if (target[name] === undefined) lazy(name, () => require("internal/message_channel")[name]);
  require("internal/call_sites").complete();
  require("internal/engine_gaps").install();
  // The timers' own part takes the sandbox's before they are replaced.
  const timers = require("timers");
  for (const name of ["setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate"]) keep(name, timers[name]);
};
