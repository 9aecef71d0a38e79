// Between Node's streams and the web's.
"use strict";

const { ReadableStream, WritableStream } = require("stream/web");
const { Writable } = require("internal/writable");
const { finished } = require("internal/stream_end");

function readableToWeb(stream) {
  stream.pause();
  return new ReadableStream({
    start(controller) {
      stream.on("data", (chunk) => {
        controller.enqueue(stream.readableObjectMode || typeof chunk === "string" ? chunk : new Uint8Array(chunk));
        if (controller.desiredSize <= 0) stream.pause();
      });
      stream.pause();
      finished(stream, { writable: false }, (error) => (error ? controller.error(error) : controller.close()));
    },
    pull: () => void stream.resume(),
    cancel: (reason) => void stream.destroy(reason),
  });
}

function writableToWeb(stream) {
  return new WritableStream({
    write: (chunk) => new Promise((resolve, reject) => stream.write(chunk, (error) => (error ? reject(error) : resolve()))),
    close: () => new Promise((resolve, reject) => stream.end((error) => (error ? reject(error) : resolve()))),
    abort: (reason) => void stream.destroy(reason),
  });
}

function writableFromWeb(web, options) {
  const writer = web.getWriter();
  return new Writable({
    ...options,
    write: (chunk, encoding, callback) => void writer.write(chunk).then(() => callback(), callback),
    final: (callback) => void writer.close().then(() => callback(), callback),
    destroy: (error, callback) => void (error ? writer.abort(error) : Promise.resolve()).then(() => callback(error), callback),
  });
}

module.exports = { readableToWeb, writableToWeb, writableFromWeb };
