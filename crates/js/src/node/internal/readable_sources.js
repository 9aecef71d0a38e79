// What becomes a Readable (old streams, iterables, web streams), and a Readable as an iterable.
"use strict";

const { errorOrDestroy } = require("internal/stream_base");
const { coded, invalidArgType } = require("internal/errors");
const { nextTick } = require("internal/next_tick");
const { Buffer } = require("buffer");

function install(Readable) {
  // An old stream as a Readable.
  Readable.prototype.wrap = function (old) {
    let paused = false;
    old.on("data", (chunk) => {
      if (!this.push(chunk) && old.pause) {
        paused = true;
        old.pause();
      }
    });
    old.on("end", () => this.push(null));
    old.on("error", (error) => errorOrDestroy(this, error));
    old.on("close", () => this.destroy());
    this._read = () => {
      if (!paused || !old.resume) return;
      paused = false;
      old.resume();
    };
    return this;
  };

  Readable.prototype[Symbol.asyncIterator] = function () {
    return iterate(this, true);
  };

  Readable.prototype.iterator = function (options) {
    return iterate(this, options?.destroyOnReturn !== false);
  };

  async function* iterate(stream, destroyOnReturn) {
    if (typeof stream.read !== "function") stream = new Readable({ objectMode: true }).wrap(stream);
    let wake = () => {};
    let outcome;
    const ready = () => wake();
    stream.on("readable", ready);
    const cleanup = require("internal/stream_end").finished(stream, { writable: false }, (error) => {
      outcome = { error };
      wake();
    });
    let failure;
    try {
      while (true) {
        const chunk = stream.destroyed ? null : stream.read();
        if (chunk !== null) yield chunk;
        else if (outcome?.error) throw outcome.error;
        else if (outcome !== undefined) return;
        else await new Promise((resolve) => (wake = resolve));
      }
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      if ((failure !== undefined || destroyOnReturn) && (outcome === undefined || stream._readableState?.autoDestroy)) stream.destroy(failure);
      else {
        stream.removeListener("readable", ready);
        cleanup();
      }
    }
  }

  // A stream of what an iterable, or a promise of items, gives.
  Readable.from = function (iterable, options) {
    if (typeof iterable === "string" || Buffer.isBuffer(iterable)) {
      return new Readable({ objectMode: true, ...options, read() { this.push(iterable); this.push(null); } });
    }
    const make = iterable?.[Symbol.asyncIterator] ?? iterable?.[Symbol.iterator];
    if (typeof make !== "function") throw invalidArgType("iterable", "Iterable", iterable);
    const iterator = make.call(iterable);
    const stream = new Readable({ objectMode: true, highWaterMark: 1, ...options });
    let busy = false;
    stream._read = function () {
      if (busy) return;
      busy = true;
      pump();
    };
    stream._destroy = function (error, callback) {
      close(error).then(() => nextTick(callback, error), (failure) => nextTick(callback, failure ?? error));
    };
    async function close(error) {
      if (error !== null && error !== undefined && typeof iterator.throw === "function") {
        const { value, done } = await iterator.throw(error);
        await value;
        if (done) return;
      }
      if (typeof iterator.return === "function") await (await iterator.return()).value;
    }
    async function pump() {
      try {
        while (true) {
          const { value, done } = await iterator.next();
          if (done) return void stream.push(null);
          const item = typeof value?.then === "function" ? await value : value;
          if (item === null) {
            busy = false;
            throw coded(TypeError, "ERR_STREAM_NULL_VALUES", "May not write null values to stream");
          }
          if (stream.push(item)) continue;
          busy = false;
          return undefined;
        }
      } catch (error) {
        return void stream.destroy(error);
      }
    }
    return stream;
  };

  // A web stream's chunks.
  Readable.fromWeb = function (web, options) {
    const reader = web.getReader();
    return new Readable({
      ...options,
      read() {
        reader.read().then(({ value, done }) => this.push(done ? null : value), (error) => this.destroy(error));
      },
      destroy(error, callback) {
        reader.cancel(error).then(() => callback(error), callback);
      },
    });
  };
  Readable.wrap = (old, options) => new Readable({ objectMode: old.readableObjectMode ?? old.objectMode ?? true, ...options }).wrap(old);
}

module.exports = { install };
