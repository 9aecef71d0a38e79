// stream/web: what the sandbox has of the web's streams.
"use strict";

const { stubs } = require("internal/errors");

const names = [
  "ReadableStream", "ReadableStreamDefaultReader", "ReadableStreamBYOBReader", "ReadableStreamBYOBRequest", "ReadableByteStreamController", "ReadableStreamDefaultController",
  "TransformStream", "TransformStreamDefaultController", "WritableStream", "WritableStreamDefaultController", "WritableStreamDefaultWriter",
  "ByteLengthQueuingStrategy", "CountQueuingStrategy", "TextEncoderStream", "TextDecoderStream", "CompressionStream", "DecompressionStream",
];
for (const name of names) if (typeof internal.global[name] === "function") exports[name] = internal.global[name];
stubs("stream/web", names, exports);
