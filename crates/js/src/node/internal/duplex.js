// stream.Duplex, Transform and PassThrough.
"use strict";

const readable = require("internal/readable");
const writable = require("internal/writable");
const { Stream, construct, define } = require("internal/stream_base");
const { coded, invalidArgType } = require("internal/errors");

const { Readable } = readable;
const { Writable } = writable;

function Duplex(options) {
  if (!(this instanceof Duplex)) return new Duplex(options);
  readable.initialize(this, options, true);
  writable.initialize(this, options, true);
  this.allowHalfOpen = options?.allowHalfOpen !== false;
  if (options?.readable === false) Object.assign(this._readableState, { readable: false, ended: true, endEmitted: true });
  if (options?.writable === false) Object.assign(this._writableState, { writable: false, ending: true, ended: true, finished: true });
  Stream.call(this, options);
  construct(this, () => {
    if (this._readableState.needReadable) this.read(0);
    writable.afterConstruct(this);
  });
}

Object.setPrototypeOf(Duplex.prototype, Readable.prototype);
Object.setPrototypeOf(Duplex, Readable);
for (const name of Object.getOwnPropertyNames(Writable.prototype)) {
  // What both have is the readable's, but for destroy, which has callbacks of writes to answer.
  if (name === "constructor" || (name in Readable.prototype && name !== "destroy")) continue;
  Object.defineProperty(Duplex.prototype, name, Object.getOwnPropertyDescriptor(Writable.prototype, name));
}
define(Duplex.prototype, {
  destroyed: {
    get() { return Boolean(this._readableState && this._writableState && this._readableState.destroyed && this._writableState.destroyed); },
    set(value) {
      if (this._readableState && this._writableState) this._readableState.destroyed = this._writableState.destroyed = value;
    },
  },
});

// A duplex of what can be read, what can be written, or both.
Duplex.from = function (body) {
  if (body instanceof Duplex) return body;
  if (typeof body?.then === "function") {
    return new Duplex({
      objectMode: true, writable: false,
      read() {
        body.then((value) => {
          if (value !== null && value !== undefined) this.push(value);
          this.push(null);
        }, (error) => this.destroy(error));
      },
    });
  }
  if (typeof body === "function") return fromFunction(body);
  if (body instanceof Readable || typeof body?.[Symbol.asyncIterator] === "function" || typeof body?.[Symbol.iterator] === "function") return joinedPair(body instanceof Readable ? body : Readable.from(body), undefined);
  if (body instanceof Writable) return joinedPair(undefined, body);
  if (body?.readable !== undefined || body?.writable !== undefined) return joinedPair(body.readable && Duplex.from(body.readable), body.writable);
  throw invalidArgType("body", ["Stream", "Iterable", "AsyncIterable", "Promise", "{ readable, writable } pair"], body);
};

// `async function* (source)` between what is written and what is read.
function fromFunction(body) {
  const input = new PassThrough({ objectMode: true });
  const output = body(input);
  if (typeof output?.[Symbol.asyncIterator] !== "function") {
    if (typeof output?.then === "function") return joinedPair(Duplex.from(output), input);
    throw coded(TypeError, "ERR_INVALID_RETURN_VALUE", 'Expected Iterable, AsyncIterable or AsyncFunction to be returned from the "body" function');
  }
  return joinedPair(Readable.from(output), input);
}

function joinedPair(source, sink) {
  const made = new Duplex({ objectMode: true, readable: source !== undefined, writable: sink !== undefined });
  if (sink !== undefined) {
    made._write = (chunk, encoding, callback) => (sink.write(chunk, encoding) ? callback() : sink.once("drain", callback));
    made._final = (callback) => sink.end(callback);
    sink.on("error", (error) => made.destroy(error));
  }
  if (source !== undefined) {
    source.on("data", (chunk) => made.push(chunk) || source.pause());
    source.on("end", () => made.push(null));
    source.on("error", (error) => made.destroy(error));
    source.pause();
    made._read = () => source.resume();
  }
  made._destroy = (error, callback) => {
    source?.destroy(error ?? undefined);
    sink?.destroy(error ?? undefined);
    callback(error);
  };
  return made;
}

const waiting = Symbol("callback");

function Transform(options) {
  if (!(this instanceof Transform)) return new Transform(options);
  Duplex.call(this, options);
  // Nothing is read from outside: `_read` only lets the next chunk through.
  this._readableState.sync = false;
  this[waiting] = null;
  if (typeof options?.transform === "function") this._transform = options.transform;
  if (typeof options?.flush === "function") this._flush = options.flush;
  this.on("prefinish", () => {
    if (this._final !== final) flush.call(this);
  });
}
Object.setPrototypeOf(Transform.prototype, Duplex.prototype);
Object.setPrototypeOf(Transform, Duplex);

function flush(callback) {
  if (typeof this._flush !== "function" || this.destroyed) {
    this.push(null);
    callback?.();
    return;
  }
  this._flush((error, data) => {
    if (error) {
      if (callback) callback(error);
      else this.destroy(error);
      return;
    }
    if (data !== null && data !== undefined) this.push(data);
    this.push(null);
    callback?.();
  });
}

function final(callback) {
  flush.call(this, callback);
}
Transform.prototype._final = final;

Transform.prototype._transform = function () {
  throw coded(Error, "ERR_METHOD_NOT_IMPLEMENTED", "The _transform() method is not implemented");
};

Transform.prototype._write = function (chunk, encoding, callback) {
  const state = this._readableState;
  const { length } = state;
  this._transform(chunk, encoding, (error, value) => {
    if (error) return callback(error);
    if (value !== null && value !== undefined) this.push(value);
    if (this._writableState.ended || length === state.length || state.length < state.highWaterMark) callback();
    else this[waiting] = callback;
    return undefined;
  });
};

Transform.prototype._read = function () {
  const callback = this[waiting];
  if (callback === null) return;
  this[waiting] = null;
  callback();
};

function PassThrough(options) {
  if (!(this instanceof PassThrough)) return new PassThrough(options);
  Transform.call(this, options);
}
Object.setPrototypeOf(PassThrough.prototype, Transform.prototype);
Object.setPrototypeOf(PassThrough, Transform);
PassThrough.prototype._transform = function (chunk, encoding, callback) {
  callback(null, chunk);
};

module.exports = { Duplex, Transform, PassThrough };
