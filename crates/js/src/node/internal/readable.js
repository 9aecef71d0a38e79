// stream.Readable.
"use strict";

const { Stream, markOf, destroy, errorOrDestroy, construct, addAbortSignal, define } = require("internal/stream_base");
const { coded, invalidArgType } = require("internal/errors");
const { nextTick } = require("internal/next_tick");
const { Buffer } = require("buffer");
const EventEmitter = require("events");

class ReadableState {
  constructor(options, isDuplex) {
    this.objectMode = Boolean(options?.objectMode || (isDuplex && options?.readableObjectMode));
    this.highWaterMark = markOf(options, "readableHighWaterMark", this.objectMode, isDuplex);
    this.buffer = [];
    this.length = 0;
    this.pipes = [];
    // null: nobody has asked for data yet; false: paused on purpose.
    this.flowing = null;
    this.paused = null;
    this.ended = false;
    this.endEmitted = false;
    this.reading = false;
    this.constructed = true;
    // Whether `_read` is on the stack: events then wait for the next tick.
    this.sync = true;
    this.needReadable = false;
    this.emittedReadable = false;
    this.readableListening = false;
    this.resumeScheduled = false;
    this.readingMore = false;
    this.errorEmitted = false;
    this.emitClose = options?.emitClose !== false;
    this.autoDestroy = options?.autoDestroy !== false;
    this.destroyed = false;
    this.errored = null;
    this.closed = false;
    this.closeEmitted = false;
    this.dataEmitted = false;
    this.defaultEncoding = options?.defaultEncoding || "utf8";
    this.awaiting = new Set();
    this.decoder = null;
    this.encoding = null;
    if (options?.encoding) {
      this.decoder = new (require("string_decoder").StringDecoder)(options.encoding);
      this.encoding = options.encoding;
    }
  }
}

function Readable(options) {
  if (!(this instanceof Readable)) return new Readable(options);
  initialize(this, options, false);
  Stream.call(this, options);
  construct(this, () => {
    if (this._readableState.needReadable) readMore(this);
  });
}
Object.setPrototypeOf(Readable.prototype, Stream.prototype);
Object.setPrototypeOf(Readable, Stream);

function initialize(stream, options, isDuplex) {
  stream._readableState = new ReadableState(options, isDuplex);
  if (options === undefined || options === null) return;
  if (typeof options.read === "function") stream._read = options.read;
  if (typeof options.destroy === "function") stream._destroy = options.destroy;
  if (typeof options.construct === "function") stream._construct = options.construct;
  if (options.signal && !isDuplex) nextTick(() => addAbortSignal(options.signal, stream));
}

Readable.prototype.destroy = destroy;
Readable.prototype._destroy = function (error, callback) {
  callback(error);
};
Readable.prototype[EventEmitter.captureRejectionSymbol] = function (error) {
  this.destroy(error);
};
Readable.prototype._read = function () {
  throw coded(Error, "ERR_METHOD_NOT_IMPLEMENTED", "The _read() method is not implemented");
};

Readable.prototype.push = function (chunk, encoding) {
  return add(this, chunk, encoding, false);
};
Readable.prototype.unshift = function (chunk, encoding) {
  return add(this, chunk, encoding, true);
};

// Takes a chunk from `_read`, or back from a reader; answers whether more is welcome.
function add(stream, chunk, encoding, front) {
  const state = stream._readableState;
  if (!state.objectMode) {
    const bytes = asBytes(stream, chunk, encoding, front);
    if (bytes === refused) return false;
    chunk = bytes;
  }
  if (chunk === null) {
    state.reading = false;
    endOfInput(stream, state);
  } else if (state.objectMode || chunk?.length > 0) {
    if (front) {
      if (state.endEmitted) errorOrDestroy(stream, coded(Error, "ERR_STREAM_UNSHIFT_AFTER_END_EVENT", "stream.unshift() after end event"));
      else if (state.destroyed || state.errored) return false;
      else keep(stream, state, chunk, true);
    } else if (state.ended) errorOrDestroy(stream, coded(Error, "ERR_STREAM_PUSH_AFTER_EOF", "stream.push() after EOF"));
    else if (state.destroyed || state.errored) return false;
    else {
      state.reading = false;
      if (state.decoder !== null && !encoding) chunk = state.decoder.write(chunk);
      if (state.objectMode || chunk.length > 0) keep(stream, state, chunk, false);
      else readMore(stream);
    }
  } else if (!front) {
    state.reading = false;
    readMore(stream);
  }
  return !state.ended && (state.length < state.highWaterMark || state.length === 0);
}

const refused = Symbol("refused");

function asBytes(stream, chunk, encoding, front) {
  const state = stream._readableState;
  if (typeof chunk === "string") {
    encoding ||= state.defaultEncoding;
    if (state.encoding === encoding) return chunk;
    const bytes = Buffer.from(chunk, encoding);
    return front && state.encoding ? bytes.toString(state.encoding) : state.decoder !== null && !front ? state.decoder.write(bytes) : bytes;
  }
  if (chunk === undefined || chunk === null) return chunk ?? null;
  if (ArrayBuffer.isView(chunk)) return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  errorOrDestroy(stream, invalidArgType("chunk", ["string", "Buffer", "TypedArray", "DataView"], chunk));
  return refused;
}

function keep(stream, state, chunk, front) {
  if (state.flowing && state.length === 0 && !state.sync && stream.listenerCount("data") > 0) {
    state.awaiting.clear();
    state.dataEmitted = true;
    stream.emit("data", chunk);
  } else {
    state.length += state.objectMode ? 1 : chunk.length;
    if (front) state.buffer.unshift(chunk);
    else state.buffer.push(chunk);
    if (state.needReadable) tellReadable(stream);
  }
  readMore(stream);
}

function endOfInput(stream, state) {
  if (state.ended) return;
  if (state.decoder !== null) {
    const rest = state.decoder.end();
    if (rest.length > 0) {
      state.buffer.push(rest);
      state.length += state.objectMode ? 1 : rest.length;
    }
  }
  state.ended = true;
  if (state.sync) return tellReadable(stream);
  state.needReadable = false;
  state.emittedReadable = true;
  emitReadable(stream);
}

Readable.prototype.read = function (count) {
  const state = this._readableState;
  const asked = count === undefined ? NaN : parseInt(count, 10);
  if (asked > state.highWaterMark) state.highWaterMark = powerAbove(asked);
  if (asked !== 0) state.emittedReadable = false;
  if (asked === 0 && state.needReadable && ((state.highWaterMark !== 0 ? state.length >= state.highWaterMark : state.length > 0) || state.ended)) {
    if (state.length === 0 && state.ended) endReadable(this);
    else tellReadable(this);
    return null;
  }
  let size = available(state, asked);
  if (size === 0 && state.ended) {
    if (state.length === 0) endReadable(this);
    return null;
  }
  const wanted = state.needReadable || state.length === 0 || state.length - size < state.highWaterMark;
  if (wanted && !state.ended && !state.reading && !state.destroyed && !state.errored && state.constructed) {
    state.reading = true;
    state.sync = true;
    if (state.length === 0) state.needReadable = true;
    try {
      this._read(state.highWaterMark);
    } catch (error) {
      errorOrDestroy(this, error);
    }
    state.sync = false;
    if (!state.reading) size = available(state, asked);
  }
  const taken = size > 0 ? take(state, size) : null;
  if (taken === null) {
    state.needReadable = state.length <= state.highWaterMark;
    size = 0;
  } else {
    state.length -= size;
    state.awaiting.clear();
  }
  if (state.length === 0) {
    if (!state.ended) state.needReadable = true;
    if (asked !== size && state.ended) endReadable(this);
  }
  if (taken !== null && !state.errorEmitted && !state.closeEmitted) {
    state.dataEmitted = true;
    this.emit("data", taken);
  }
  return taken;
};

function powerAbove(count) {
  return Math.min(2 ** 30, 2 ** Math.ceil(Math.log2(count)));
}

// How much of the buffer a read of `count` gets.
function available(state, count) {
  if (count <= 0 || (state.length === 0 && state.ended)) return 0;
  if (state.objectMode) return 1;
  if (Number.isNaN(count)) return state.flowing && state.length > 0 ? state.buffer[0].length : state.length;
  if (count <= state.length) return count;
  return state.ended ? state.length : 0;
}

function take(state, size) {
  if (state.length === 0) return null;
  if (state.objectMode) return state.buffer.shift();
  if (size >= state.length) {
    const all = state.buffer.length === 1 ? state.buffer[0] : joined(state, state.buffer);
    state.buffer = [];
    return all;
  }
  const parts = [];
  for (let left = size; left > 0; ) {
    const first = state.buffer[0];
    if (first.length <= left) {
      parts.push(state.buffer.shift());
      left -= first.length;
    } else {
      parts.push(first.slice(0, left));
      state.buffer[0] = first.slice(left);
      left = 0;
    }
  }
  return parts.length === 1 ? parts[0] : joined(state, parts);
}

function joined(state, parts) {
  return state.decoder !== null || typeof parts[0] === "string" ? parts.join("") : Buffer.concat(parts);
}

function tellReadable(stream) {
  const state = stream._readableState;
  state.needReadable = false;
  if (state.emittedReadable) return;
  state.emittedReadable = true;
  nextTick(emitReadable, stream);
}

function emitReadable(stream) {
  const state = stream._readableState;
  if (!state.destroyed && !state.errored && (state.length > 0 || state.ended)) {
    stream.emit("readable");
    state.emittedReadable = false;
  }
  state.needReadable = !state.flowing && !state.ended && state.length <= state.highWaterMark;
  flow(stream);
}

// Reads ahead until the buffer is full.
function readMore(stream) {
  const state = stream._readableState;
  if (state.readingMore || !state.constructed) return;
  state.readingMore = true;
  nextTick(() => {
    while (!state.reading && !state.ended && (state.length < state.highWaterMark || (state.flowing && state.length === 0))) {
      const { length } = state;
      stream.read(0);
      if (length === state.length) break;
    }
    state.readingMore = false;
  });
}

function flow(stream) {
  const state = stream._readableState;
  while (state.flowing && stream.read() !== null);
}

function endReadable(stream) {
  const state = stream._readableState;
  if (state.endEmitted) return;
  state.ended = true;
  nextTick(() => {
    if (state.errored || state.closeEmitted || state.endEmitted || state.length > 0) return;
    state.endEmitted = true;
    stream.emit("end");
    const writable = stream._writableState;
    if (stream.writable && stream.allowHalfOpen === false) nextTick(() => stream.writable && !stream.writableEnded && !stream.destroyed && stream.end());
    else if (state.autoDestroy && (!writable || (writable.autoDestroy && (writable.finished || writable.writable === false)))) stream.destroy();
  });
}

Readable.prototype.on = function (event, listener) {
  const result = Stream.prototype.on.call(this, event, listener);
  const state = this._readableState;
  if (event === "data") {
    state.readableListening = this.listenerCount("readable") > 0;
    if (state.flowing !== false) this.resume();
  } else if (event === "readable" && !state.endEmitted && !state.readableListening) {
    state.readableListening = state.needReadable = true;
    state.flowing = false;
    state.emittedReadable = false;
    if (state.length > 0) tellReadable(this);
    else if (!state.reading) nextTick(() => this.read(0));
  }
  return result;
};
Readable.prototype.addListener = Readable.prototype.on;

Readable.prototype.removeListener = function (event, listener) {
  const result = Stream.prototype.removeListener.call(this, event, listener);
  if (event === "readable") nextTick(updateListening, this);
  return result;
};
Readable.prototype.off = Readable.prototype.removeListener;
Readable.prototype.removeAllListeners = function (...args) {
  const result = Stream.prototype.removeAllListeners.apply(this, args);
  if (args.length === 0 || args[0] === "readable") nextTick(updateListening, this);
  return result;
};

function updateListening(stream) {
  const state = stream._readableState;
  state.readableListening = stream.listenerCount("readable") > 0;
  if (state.resumeScheduled && state.paused === false) state.flowing = true;
  else if (stream.listenerCount("data") > 0) stream.resume();
  else if (!state.readableListening) state.flowing = null;
}

Readable.prototype.resume = function () {
  const state = this._readableState;
  if (!state.flowing) {
    // Who listens for "readable" reads for themselves.
    state.flowing = !state.readableListening;
    if (!state.resumeScheduled) {
      state.resumeScheduled = true;
      nextTick(() => {
        if (!state.reading) this.read(0);
        state.resumeScheduled = false;
        this.emit("resume");
        flow(this);
        if (state.flowing && !state.reading) this.read(0);
      });
    }
  }
  state.paused = false;
  return this;
};

Readable.prototype.pause = function () {
  const state = this._readableState;
  if (state.flowing !== false) {
    state.flowing = false;
    this.emit("pause");
  }
  state.paused = true;
  return this;
};

Readable.prototype.isPaused = function () {
  return this._readableState.paused === true || this._readableState.flowing === false;
};

Readable.prototype.setEncoding = function (encoding) {
  const state = this._readableState;
  const decoder = new (require("string_decoder").StringDecoder)(encoding);
  state.decoder = decoder;
  state.encoding = decoder.encoding;
  const text = state.buffer.map((chunk) => decoder.write(chunk)).join("");
  state.buffer = text === "" ? [] : [text];
  state.length = text.length;
  return this;
};

define(Readable.prototype, {
  readable: {
    get() {
      const state = this._readableState;
      return Boolean(state) && state.readable !== false && !state.destroyed && !state.errorEmitted && !state.endEmitted;
    },
    set(value) {
      if (this._readableState) this._readableState.readable = Boolean(value);
    },
  },
  readableDidRead() { return this._readableState.dataEmitted; },
  readableAborted() { return this._readableState.readable !== false && (this._readableState.destroyed || Boolean(this._readableState.errored)) && !this._readableState.endEmitted; },
  readableHighWaterMark() { return this._readableState.highWaterMark; },
  readableBuffer() { return this._readableState?.buffer; },
  readableFlowing: {
    get() { return this._readableState.flowing; },
    set(value) { if (this._readableState) this._readableState.flowing = value; },
  },
  readableLength() { return this._readableState.length; },
  readableObjectMode() { return this._readableState ? this._readableState.objectMode : false; },
  readableEncoding() { return this._readableState ? this._readableState.encoding : null; },
  errored() { return this._readableState ? this._readableState.errored : null; },
  closed() { return this._readableState ? this._readableState.closed : false; },
  destroyed: {
    get() { return this._readableState ? this._readableState.destroyed : false; },
    set(value) { if (this._readableState) this._readableState.destroyed = value; },
  },
  readableEnded() { return this._readableState ? this._readableState.endEmitted : false; },
});

require("internal/readable_pipe").install(Readable);
require("internal/readable_sources").install(Readable);

module.exports = { Readable, ReadableState, initialize };
