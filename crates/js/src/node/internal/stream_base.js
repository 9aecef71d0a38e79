// What readable and writable streams share: the old Stream class, options, and how a stream is destroyed.
"use strict";

const EventEmitter = require("events");
const { coded, invalidArgValue, AbortError } = require("internal/errors");
const { nextTick } = require("internal/next_tick");

let byteMark = 65536;
let objectMark = 16;

function Stream(options) {
  EventEmitter.call(this, options);
}
Object.setPrototypeOf(Stream.prototype, EventEmitter.prototype);
Object.setPrototypeOf(Stream, EventEmitter);

// The pipe of streams from before there were Readables.
Stream.prototype.pipe = function (target, options) {
  const onData = (chunk) => {
    if (target.writable && target.write(chunk) === false) this.pause?.();
  };
  const onDrain = () => {
    if (this.readable) this.resume?.();
  };
  let ended = false;
  const onEnd = () => {
    if (!ended) target.end();
    ended = true;
  };
  const onClose = () => {
    if (!ended) target.destroy?.();
    ended = true;
  };
  function onError(error) {
    cleanup();
    if (this.listenerCount("error") === 0) this.emit("error", error);
  }
  const cleanup = () => {
    this.removeListener("data", onData);
    target.removeListener("drain", onDrain);
    this.removeListener("end", onEnd);
    this.removeListener("close", onClose);
    for (const side of [this, target]) {
      side.removeListener("error", onError);
      side.removeListener("close", cleanup);
    }
    this.removeListener("end", cleanup);
  };
  this.on("data", onData);
  target.on("drain", onDrain);
  if (!target._isStdio && options?.end !== false) {
    this.on("end", onEnd);
    this.on("close", onClose);
  }
  for (const side of [this, target]) {
    side.prependListener("error", onError);
    side.on("close", cleanup);
  }
  this.on("end", cleanup);
  target.emit("pipe", this);
  return target;
};

function markOf(options, key, objectMode, isDuplex) {
  const own = options?.highWaterMark ?? (isDuplex ? options?.[key] : undefined);
  if (own === undefined || own === null) return objectMode ? objectMark : byteMark;
  if (!Number.isInteger(own) || own < 0) throw invalidArgValue(isDuplex && options?.highWaterMark === undefined ? key : "options.highWaterMark", own);
  return own;
}

const getDefaultHighWaterMark = (objectMode) => (objectMode ? objectMark : byteMark);

function setDefaultHighWaterMark(objectMode, value) {
  if (objectMode) objectMark = value;
  else byteMark = value;
}

const statesOf = (stream) => [stream._readableState, stream._writableState].filter((state) => state !== undefined && state !== null);

function markErrored(stream, error) {
  if (!error) return;
  // Reading the stack now keeps the place where it happened.
  void error.stack;
  for (const state of statesOf(stream)) state.errored ??= error;
}

const whenConstructed = Symbol("constructed");

function destroy(error, callback) {
  const states = statesOf(this);
  if (states.some((state) => state.destroyed)) {
    if (typeof callback === "function") callback();
    return this;
  }
  markErrored(this, error);
  for (const state of states) state.destroyed = true;
  const constructed = states.every((state) => state.constructed);
  if (constructed) tearDown(this, error, callback);
  else this.once(whenConstructed, (failure) => tearDown(this, failure ?? error, callback));
  return this;
}

function tearDown(stream, error, callback) {
  let called = false;
  const done = (failure) => {
    if (called) return;
    called = true;
    markErrored(stream, failure);
    for (const state of statesOf(stream)) state.closed = true;
    if (typeof callback === "function") callback(failure);
    nextTick(() => {
      if (failure) emitError(stream, failure);
      emitClose(stream);
    });
  };
  try {
    stream._destroy(error || null, done);
  } catch (failure) {
    done(failure);
  }
}

function emitError(stream, error) {
  const states = statesOf(stream);
  if (states.some((state) => state.errorEmitted)) return;
  for (const state of states) state.errorEmitted = true;
  stream.emit("error", error);
}

function emitClose(stream) {
  const states = statesOf(stream);
  for (const state of states) state.closeEmitted = true;
  if (states.some((state) => state.emitClose)) stream.emit("close");
}

// A fault inside a stream: destroys it, or only tells, where autoDestroy is off.
function errorOrDestroy(stream, error, sync) {
  const states = statesOf(stream);
  if (states.some((state) => state.destroyed)) return;
  if (states.some((state) => state.autoDestroy)) stream.destroy(error);
  else if (error) {
    markErrored(stream, error);
    if (sync) nextTick(emitError, stream, error);
    else emitError(stream, error);
  }
}

// Runs `_construct`, before anything else that a stream does.
function construct(stream, ready) {
  if (typeof stream._construct !== "function") return;
  const states = statesOf(stream);
  for (const state of states) state.constructed = false;
  stream.once(whenReady, ready);
  if (stream.listenerCount(whenReady) > 1) return;
  nextTick(() => {
    let called = false;
    const done = (error) => {
      if (called) return errorOrDestroy(stream, error ?? coded(Error, "ERR_MULTIPLE_CALLBACK", "Callback called multiple times"));
      called = true;
      for (const state of states) state.constructed = true;
      if (states.some((state) => state.destroyed)) stream.emit(whenConstructed, error);
      else if (error) errorOrDestroy(stream, error, true);
      else nextTick(() => stream.emit(whenReady));
    };
    try {
      stream._construct((error) => nextTick(done, error));
    } catch (error) {
      nextTick(done, error);
    }
  });
}
const whenReady = Symbol("ready");

function addAbortSignal(signal, stream) {
  const abort = () => stream.destroy(new AbortError(undefined, { cause: signal.reason }));
  if (signal.aborted) abort();
  else {
    signal.addEventListener("abort", abort, { once: true });
    require("internal/stream_end").finished(stream, () => signal.removeEventListener("abort", abort));
  }
  return stream;
}

// Accessors on a prototype, each a getter or a whole descriptor.
function define(prototype, accessors) {
  for (const [name, slot] of Object.entries(accessors)) {
    const descriptor = typeof slot === "function" ? { get: slot } : slot;
    Object.defineProperty(prototype, name, { configurable: true, enumerable: false, ...descriptor });
  }
}

module.exports = {
  Stream, markOf, getDefaultHighWaterMark, setDefaultHighWaterMark, destroy, errorOrDestroy, construct, addAbortSignal, define, statesOf,
};
