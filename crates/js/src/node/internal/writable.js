// stream.Writable.
"use strict";

const { Stream, markOf, destroy, errorOrDestroy, construct, addAbortSignal, define } = require("internal/stream_base");
const { coded, invalidArgType } = require("internal/errors");
const { normalize } = require("internal/encodings");
const { nextTick } = require("internal/next_tick");
const { Buffer } = require("buffer");
const EventEmitter = require("events");

const nothing = () => {};

class WritableState {
  constructor(stream, options, isDuplex) {
    this.objectMode = Boolean(options?.objectMode || (isDuplex && options?.writableObjectMode));
    this.highWaterMark = markOf(options, "writableHighWaterMark", this.objectMode, isDuplex);
    this.finalCalled = false;
    this.needDrain = false;
    this.ending = false;
    this.ended = false;
    this.finished = false;
    this.destroyed = false;
    this.decodeStrings = options?.decodeStrings !== false;
    this.defaultEncoding = options?.defaultEncoding || "utf8";
    this.length = 0;
    this.writing = false;
    this.corked = 0;
    // Whether `_write` is on the stack: its callback then waits for the next tick.
    this.sync = true;
    this.bufferProcessing = false;
    this.onwrite = (error) => written(stream, error);
    this.writecb = null;
    this.writelen = 0;
    this.pendingcb = 0;
    this.constructed = true;
    this.prefinished = false;
    this.errorEmitted = false;
    this.emitClose = options?.emitClose !== false;
    this.autoDestroy = options?.autoDestroy !== false;
    this.errored = null;
    this.closed = false;
    this.closeEmitted = false;
    this.buffered = [];
    this.whenFinished = [];
  }

  getBuffer() {
    return this.buffered.slice();
  }

  get bufferedRequestCount() {
    return this.buffered.length;
  }
}

function Writable(options) {
  const isDuplex = this instanceof require("internal/duplex").Duplex;
  if (!isDuplex && !Function.prototype[Symbol.hasInstance].call(Writable, this)) return new Writable(options);
  initialize(this, options, isDuplex);
  Stream.call(this, options);
  construct(this, () => afterConstruct(this));
}
Object.setPrototypeOf(Writable.prototype, Stream.prototype);
Object.setPrototypeOf(Writable, Stream);

function afterConstruct(stream) {
  const state = stream._writableState;
  if (!state.writing) clearBuffer(stream, state);
  finishMaybe(stream, state);
}

// A Duplex is a Writable too, though it inherits from Readable.
Object.defineProperty(Writable, Symbol.hasInstance, {
  value(object) {
    if (Function.prototype[Symbol.hasInstance].call(this, object)) return true;
    return this === Writable && Boolean(object) && object._writableState instanceof WritableState;
  },
});

function initialize(stream, options, isDuplex) {
  stream._writableState = new WritableState(stream, options, isDuplex);
  if (options === undefined || options === null) return;
  if (typeof options.write === "function") stream._write = options.write;
  if (typeof options.writev === "function") stream._writev = options.writev;
  if (typeof options.destroy === "function") stream._destroy = options.destroy;
  if (typeof options.final === "function") stream._final = options.final;
  if (typeof options.construct === "function") stream._construct = options.construct;
  if (options.signal) nextTick(() => addAbortSignal(options.signal, stream));
}

Writable.prototype.pipe = function () {
  errorOrDestroy(this, coded(Error, "ERR_STREAM_CANNOT_PIPE", "Cannot pipe, not readable"));
};

Writable.prototype._write = function (chunk, encoding, callback) {
  if (!this._writev) throw coded(Error, "ERR_METHOD_NOT_IMPLEMENTED", "The _write() method is not implemented");
  this._writev([{ chunk, encoding }], callback);
};
Writable.prototype._writev = null;

Writable.prototype.write = function (chunk, encoding, callback) {
  return write(this, chunk, encoding, callback) === true;
};

// Answers whether there is room for more, or the error that refused it.
function write(stream, chunk, encoding, callback) {
  const state = stream._writableState;
  if (typeof encoding === "function") [callback, encoding] = [encoding, state.defaultEncoding];
  else {
    encoding ||= state.defaultEncoding;
    if (encoding !== "buffer" && normalize(encoding) === undefined) throw coded(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
  }
  if (typeof callback !== "function") callback = nothing;
  if (chunk === null) throw coded(TypeError, "ERR_STREAM_NULL_VALUES", "May not write null values to stream");
  if (!state.objectMode) [chunk, encoding] = asBytes(state, chunk, encoding);
  let error;
  if (state.ending) error = coded(Error, "ERR_STREAM_WRITE_AFTER_END", "write after end");
  else if (state.destroyed) error = coded(Error, "ERR_STREAM_DESTROYED", "Cannot call write after a stream was destroyed");
  if (error !== undefined) {
    nextTick(callback, error);
    errorOrDestroy(stream, error, true);
    return error;
  }
  state.pendingcb += 1;
  return writeOrKeep(stream, state, chunk, encoding, callback);
}

function asBytes(state, chunk, encoding) {
  if (typeof chunk === "string") return state.decodeStrings ? [Buffer.from(chunk, encoding), "buffer"] : [chunk, encoding];
  if (Buffer.isBuffer(chunk)) return [chunk, "buffer"];
  if (ArrayBuffer.isView(chunk)) return [Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength), "buffer"];
  throw invalidArgType("chunk", ["string", "Buffer", "TypedArray", "DataView"], chunk);
}

function writeOrKeep(stream, state, chunk, encoding, callback) {
  const length = state.objectMode ? 1 : chunk.length;
  state.length += length;
  const room = state.length < state.highWaterMark;
  if (!room) state.needDrain = true;
  // What was kept before goes first, also in the moment between a stream's construction and its first turn.
  if (state.writing || state.corked > 0 || state.errored || !state.constructed || state.buffered.length > 0) state.buffered.push({ chunk, encoding, callback });
  else start(stream, state, length, callback, () => stream._write(chunk, encoding, state.onwrite));
  return room && !state.errored && !state.destroyed;
}

function start(stream, state, length, callback, run) {
  state.writelen = length;
  state.writecb = callback;
  state.writing = true;
  state.sync = true;
  if (state.destroyed) state.onwrite(coded(Error, "ERR_STREAM_DESTROYED", "Cannot call write after a stream was destroyed"));
  else run();
  state.sync = false;
}

// `_write` is done with its chunk.
function written(stream, error) {
  const state = stream._writableState;
  const { sync, writecb: callback } = state;
  if (typeof callback !== "function") return errorOrDestroy(stream, coded(Error, "ERR_MULTIPLE_CALLBACK", "Callback called multiple times"));
  state.writing = false;
  state.writecb = null;
  state.length -= state.writelen;
  state.writelen = 0;
  if (error) {
    state.errored ??= error;
    if (stream._readableState) stream._readableState.errored ??= error;
    if (sync) nextTick(writeFailed, stream, state, error, callback);
    else writeFailed(stream, state, error, callback);
    return undefined;
  }
  if (state.buffered.length > 0) clearBuffer(stream, state);
  if (sync) nextTick(afterWrite, stream, state, callback);
  else afterWrite(stream, state, callback);
  return undefined;
}

function writeFailed(stream, state, error, callback) {
  state.pendingcb -= 1;
  callback(error);
  failBuffer(state);
  errorOrDestroy(stream, error);
}

function afterWrite(stream, state, callback) {
  if (!state.ending && !stream.destroyed && state.length === 0 && state.needDrain) {
    state.needDrain = false;
    stream.emit("drain");
  }
  state.pendingcb -= 1;
  callback(null);
  if (state.destroyed) failBuffer(state);
  finishMaybe(stream, state);
}

function failBuffer(state) {
  if (state.writing) return;
  for (const { chunk, callback } of state.buffered.splice(0)) {
    state.length -= state.objectMode ? 1 : chunk.length;
    callback(state.errored ?? coded(Error, "ERR_STREAM_DESTROYED", "Cannot call write after a stream was destroyed"));
  }
  for (const callback of state.whenFinished.splice(0)) callback(state.errored ?? coded(Error, "ERR_STREAM_DESTROYED", "Cannot call end after a stream was destroyed"));
}

function clearBuffer(stream, state) {
  if (state.corked > 0 || state.bufferProcessing || state.destroyed || !state.constructed || state.buffered.length === 0) return;
  state.bufferProcessing = true;
  if (stream._writev && state.buffered.length > 1) {
    const entries = state.buffered.splice(0);
    entries.allBuffers = entries.every(({ encoding }) => encoding === "buffer");
    state.pendingcb -= entries.length - 1;
    start(stream, state, state.length, (error) => entries.forEach(({ callback }) => callback(error)), () => stream._writev(entries, state.onwrite));
  } else {
    while (state.buffered.length > 0 && !state.writing) {
      const { chunk, encoding, callback } = state.buffered.shift();
      start(stream, state, state.objectMode ? 1 : chunk.length, callback, () => stream._write(chunk, encoding, state.onwrite));
    }
  }
  state.bufferProcessing = false;
}

Writable.prototype.cork = function () {
  this._writableState.corked += 1;
};

Writable.prototype.uncork = function () {
  const state = this._writableState;
  if (state.corked === 0) return;
  state.corked -= 1;
  if (!state.writing) clearBuffer(this, state);
};

Writable.prototype.setDefaultEncoding = function (encoding) {
  if (normalize(encoding) === undefined) throw coded(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
  this._writableState.defaultEncoding = `${encoding}`.toLowerCase();
  return this;
};

Writable.prototype.end = function (chunk, encoding, callback) {
  const state = this._writableState;
  if (typeof chunk === "function") [callback, chunk, encoding] = [chunk, null, null];
  else if (typeof encoding === "function") [callback, encoding] = [encoding, null];
  let error;
  if (chunk !== null && chunk !== undefined) {
    const result = write(this, chunk, encoding);
    if (result instanceof Error) error = result;
  }
  if (state.corked > 0) {
    state.corked = 1;
    this.uncork();
  }
  if (error === undefined && !state.errored && !state.ending) {
    state.ending = true;
    finishMaybe(this, state, true);
    state.ended = true;
  } else if (error === undefined && state.finished) error = coded(Error, "ERR_STREAM_ALREADY_FINISHED", "Cannot call end after a stream was finished");
  else if (error === undefined && state.destroyed) error = coded(Error, "ERR_STREAM_DESTROYED", "Cannot call end after a stream was destroyed");
  if (typeof callback === "function") {
    if (error !== undefined || state.errored) nextTick(callback, error ?? state.errored);
    else if (state.finished) nextTick(callback);
    else state.whenFinished.push(callback);
  }
  return this;
};

function needFinish(state) {
  return state.ending && !state.destroyed && state.constructed && state.length === 0 && !state.errored && state.buffered.length === 0
    && !state.finished && !state.writing && !state.errorEmitted && !state.closeEmitted;
}

function finishMaybe(stream, state, sync) {
  if (!needFinish(state)) return;
  prefinish(stream, state);
  if (state.pendingcb > 0) return;
  if (sync) {
    state.pendingcb += 1;
    nextTick(() => {
      if (needFinish(state)) finish(stream, state);
      else state.pendingcb -= 1;
    });
  } else if (needFinish(state)) {
    state.pendingcb += 1;
    finish(stream, state);
  }
}

function prefinish(stream, state) {
  if (state.prefinished || state.finalCalled) return;
  if (typeof stream._final === "function" && !state.destroyed) {
    state.finalCalled = true;
    callFinal(stream, state);
  } else {
    state.prefinished = true;
    stream.emit("prefinish");
  }
}

function callFinal(stream, state) {
  let called = false;
  const done = (error) => {
    if (called) return errorOrDestroy(stream, error ?? coded(Error, "ERR_MULTIPLE_CALLBACK", "Callback called multiple times"));
    called = true;
    state.pendingcb -= 1;
    if (error) {
      for (const callback of state.whenFinished.splice(0)) callback(error);
      errorOrDestroy(stream, error, state.sync);
    } else if (needFinish(state)) {
      state.prefinished = true;
      stream.emit("prefinish");
      state.pendingcb += 1;
      nextTick(finish, stream, state);
    }
    return undefined;
  };
  state.sync = true;
  state.pendingcb += 1;
  try {
    stream._final(done);
  } catch (error) {
    done(error);
  }
  state.sync = false;
}

function finish(stream, state) {
  state.pendingcb -= 1;
  state.finished = true;
  for (const callback of state.whenFinished.splice(0)) callback();
  stream.emit("finish");
  const readable = stream._readableState;
  if (state.autoDestroy && (!readable || (readable.autoDestroy && (readable.endEmitted || readable.readable === false)))) stream.destroy();
}

Writable.prototype.destroy = function (error, callback) {
  const state = this._writableState;
  if (!state.destroyed && (state.buffered.length > 0 || state.whenFinished.length > 0)) nextTick(failBuffer, state);
  return destroy.call(this, error, callback);
};
Writable.prototype._destroy = function (error, callback) {
  callback(error);
};
Writable.prototype[EventEmitter.captureRejectionSymbol] = function (error) {
  this.destroy(error);
};

define(Writable.prototype, {
  closed() { return this._writableState ? this._writableState.closed : false; },
  destroyed: {
    get() { return this._writableState ? this._writableState.destroyed : false; },
    set(value) { if (this._writableState) this._writableState.destroyed = value; },
  },
  writable: {
    get() {
      const state = this._writableState;
      return Boolean(state) && state.writable !== false && !state.destroyed && !state.errored && !state.ending && !state.ended;
    },
    set(value) { if (this._writableState) this._writableState.writable = Boolean(value); },
  },
  writableFinished() { return this._writableState ? this._writableState.finished : false; },
  writableObjectMode() { return this._writableState ? this._writableState.objectMode : false; },
  writableBuffer() { return this._writableState?.getBuffer(); },
  writableEnded() { return this._writableState ? this._writableState.ending : false; },
  writableNeedDrain() { return this._writableState ? !this._writableState.destroyed && !this._writableState.ending && this._writableState.needDrain : false; },
  writableHighWaterMark() { return this._writableState?.highWaterMark; },
  writableCorked() { return this._writableState ? this._writableState.corked : 0; },
  writableLength() { return this._writableState?.length; },
  errored() { return this._writableState ? this._writableState.errored : null; },
  writableAborted() { return this._writableState.writable !== false && (this._writableState.destroyed || Boolean(this._writableState.errored)) && !this._writableState.finished; },
});

module.exports = { Writable, WritableState, initialize, afterConstruct };
