// stream
"use strict";

const { Stream, addAbortSignal, getDefaultHighWaterMark, setDefaultHighWaterMark } = require("internal/stream_base");
const { Readable } = require("internal/readable");
const { Writable } = require("internal/writable");
const { Duplex, Transform, PassThrough } = require("internal/duplex");
const { finished, pipeline, run } = require("internal/stream_end");
const { stub } = require("internal/errors");
const { promisify } = require("util");

require("internal/stream_operators").install(Readable);

const promises = {
  finished: (stream, options) => new Promise((resolve, reject) => finished(stream, options ?? {}, (error) => (error ? reject(error) : resolve()))),
  pipeline: (...parts) => {
    const last = parts[parts.length - 1];
    const isOptions = last !== null && typeof last === "object" && typeof last.on !== "function" && typeof last[Symbol.asyncIterator] !== "function" && typeof last[Symbol.iterator] !== "function";
    const options = isOptions ? parts.pop() : {};
    if (parts.length === 1 && Array.isArray(parts[0])) [parts] = parts;
    return new Promise((resolve, reject) => run(parts, options, (error, value) => (error ? reject(error) : resolve(value))));
  },
};
finished[promisify.custom] = promises.finished;
pipeline[promisify.custom] = promises.pipeline;

function isReadable(stream) {
  return stream?._readableState ? stream.readable && !stream.readableEnded : stream?.readable ?? null;
}

function isWritable(stream) {
  return stream?._writableState ? stream.writable : stream?.writable ?? null;
}

// Two ends of one line: what is written to one is read from the other.
function duplexPair(options) {
  const ends = [0, 1].map((at) => new Duplex({
    ...options,
    read() {},
    write(chunk, encoding, callback) {
      ends[1 - at].push(chunk);
      callback();
    },
    final(callback) {
      ends[1 - at].push(null);
      callback();
    },
  }));
  return ends;
}

module.exports = Object.assign(Stream, {
  Stream, Readable, Writable, Duplex, Transform, PassThrough, pipeline, finished, promises, addAbortSignal, getDefaultHighWaterMark, setDefaultHighWaterMark,
  isReadable, isWritable,
  isErrored: (stream) => Boolean(stream?._readableState?.errored ?? stream?._writableState?.errored),
  isDisturbed: (stream) => Boolean(stream?._readableState?.dataEmitted || (stream?._readableState && stream.destroyed)),
  isDestroyed: (stream) => Boolean(stream?.destroyed),
  destroy: (stream, error) => stream?.destroy?.(error),
  compose: stub("stream.compose"),
  duplexPair,
  _isUint8Array: (value) => value instanceof Uint8Array,
  _uint8ArrayToBuffer: (view) => require("buffer").Buffer.from(view.buffer, view.byteOffset, view.byteLength),
});
Object.assign(Readable, { toWeb: (stream) => require("internal/web_bridge").readableToWeb(stream) });
Object.assign(Writable, { toWeb: (stream) => require("internal/web_bridge").writableToWeb(stream), fromWeb: (stream, options) => require("internal/web_bridge").writableFromWeb(stream, options) });
Object.assign(Duplex, {
  toWeb: (stream) => ({ readable: Readable.toWeb(stream), writable: Writable.toWeb(stream) }),
  fromWeb: ({ readable, writable }, options) => Duplex.from({ readable: Readable.fromWeb(readable, options), writable: Writable.fromWeb(writable, options) }),
});
Readable.prototype.compose = stub("stream.Readable.compose");
