// stream.finished and stream.pipeline.
"use strict";

const { coded, invalidArgType, checkFunction, AbortError } = require("internal/errors");
const { nextTick } = require("internal/next_tick");

const isReadable = (stream) => typeof stream?.pipe === "function" && typeof stream.on === "function" && stream._readableState?.readable !== false && (!stream._writableState || Boolean(stream._readableState));
const isWritable = (stream) => typeof stream?.write === "function" && typeof stream.on === "function" && stream._writableState?.writable !== false;
const isStream = (value) => Boolean(value) && typeof value.on === "function" && (value._readableState !== undefined || value._writableState !== undefined || typeof value.pipe === "function" || typeof value.write === "function");
const isIterable = (value) => typeof value?.[Symbol.asyncIterator] === "function" || typeof value?.[Symbol.iterator] === "function";
const premature = () => coded(Error, "ERR_STREAM_PREMATURE_CLOSE", "Premature close");

// Calls back once a stream is no longer readable or writable, or failed; answers a function that stops listening.
function finished(stream, options, callback) {
  if (typeof options === "function") [callback, options] = [options, {}];
  options ??= {};
  checkFunction(callback, "callback");
  if (!isStream(stream)) throw invalidArgType("stream", ["ReadableStream", "WritableStream", "Stream"], stream);
  const wantsRead = options.readable ?? isReadable(stream);
  const wantsWrite = options.writable ?? isWritable(stream);
  const [reading, writing] = [stream._readableState, stream._writableState];
  let readDone = !wantsRead || Boolean(reading?.endEmitted);
  let writeDone = !wantsWrite || Boolean(writing?.finished);
  let called = false;
  const done = (error) => {
    if (called) return;
    called = true;
    callback.call(stream, error);
  };
  // Whoever waits for one side of two does not wait for both to close.
  const waitsForClose = () => isReadable(stream) === Boolean(wantsRead) && isWritable(stream) === Boolean(wantsWrite) && closesLater(stream);
  const settle = () => {
    if (readDone && writeDone && !waitsForClose()) done();
  };
  const onFinish = () => {
    writeDone = true;
    settle();
  };
  const onEnd = () => {
    readDone = true;
    settle();
  };
  const onError = (error) => done(error);
  const onClose = () => {
    const error = writing?.errored ?? reading?.errored;
    if (error && typeof error !== "boolean") return done(error);
    if (wantsRead && !readDone && reading && !reading.endEmitted) return done(premature());
    if (wantsWrite && !writeDone && !(writing?.finished ?? stream.writableFinished)) return done(premature());
    return done();
  };
  stream.on("end", onEnd);
  stream.on("finish", onFinish);
  if (options.error !== false) stream.on("error", onError);
  stream.on("close", onClose);
  if (reading?.closed || writing?.closed) nextTick(onClose);
  else if ((reading?.errorEmitted || writing?.errorEmitted) && !waitsForClose()) nextTick(onClose);
  else if (readDone && writeDone && (wantsRead || wantsWrite) && !waitsForClose()) nextTick(onClose);
  const cleanup = () => {
    called = true;
    stream.removeListener("end", onEnd);
    stream.removeListener("finish", onFinish);
    stream.removeListener("error", onError);
    stream.removeListener("close", onClose);
  };
  const { signal } = options;
  if (signal) {
    const abort = () => {
      const before = called;
      cleanup();
      if (!before) callback.call(stream, new AbortError(undefined, { cause: signal.reason }));
    };
    if (signal.aborted) nextTick(abort);
    else signal.addEventListener("abort", abort, { once: true });
  }
  return cleanup;
}

// Whether a stream, once done, still tells of its end with "close".
function closesLater(stream) {
  const states = [stream._readableState, stream._writableState].filter(Boolean);
  return states.length > 0 && states.every((state) => state.autoDestroy && state.emitClose && !state.closed);
}

function pipeline(...parts) {
  const callback = parts.pop();
  checkFunction(callback, "streams[stream.length - 1]");
  if (parts.length === 1 && Array.isArray(parts[0])) [parts] = parts;
  return run(parts, {}, callback);
}

// The parts may be streams, iterables, and functions from one iterable to the next.
function run(parts, options, callback) {
  if (parts.length < 2) throw coded(TypeError, "ERR_MISSING_ARGS", 'The "streams" argument must be specified');
  const { PassThrough } = require("internal/duplex");
  const { Readable } = require("internal/readable");
  const streams = [];
  let ended = false;
  let value;
  let open = 0;
  let failure;

  const finish = (error) => {
    if (error && (failure === undefined || failure.code === "ERR_STREAM_PREMATURE_CLOSE")) failure = error;
    open -= 1;
    if (!error && open > 0) return;
    if (failure) for (const stream of streams) if (!stream.destroyed) stream.destroy(failure);
    if (ended || open > 0) return;
    ended = true;
    nextTick(callback, failure, value);
  };
  const watch = (stream, reads, writes) => {
    open += 1;
    streams.push(stream);
    // A source that closes early shows at its reader too; whoever fails first ends all.
    finished(stream, { readable: reads, writable: writes }, (error) => {
      if (error?.code === "ERR_STREAM_PREMATURE_CLOSE" && reads && !writes && stream._readableState?.ended) error = undefined;
      finish(error);
    });
    stream.on("error", () => {});
    return stream;
  };

  const { signal } = options;
  if (signal) {
    const abort = () => {
      failure ??= new AbortError(undefined, { cause: signal.reason });
      for (const stream of streams) stream.destroy(failure);
    };
    if (signal.aborted) nextTick(abort);
    else signal.addEventListener("abort", abort, { once: true });
  }

  let current;
  let last;
  for (const [at, part] of parts.entries()) {
    const isLast = at === parts.length - 1;
    const passesOn = !isLast;
    if (isStream(part)) {
      last = watch(part, passesOn, at > 0);
      if (at === 0) current = part;
      else if (isStream(current)) current.pipe(part, { end: !isLast || options.end !== false });
      else {
        open += 1;
        pump(current, part, options.end !== false || !isLast).then(() => finish(), finish);
      }
      current = part;
    } else if (typeof part === "function") {
      const made = part(at === 0 ? { signal } : current, { signal });
      if (typeof made?.then === "function" && isLast) {
        open += 1;
        last = new PassThrough({ objectMode: true });
        const output = last;
        made.then((result) => {
          value = result;
          if (result !== null && result !== undefined) output.write(result);
          output.end();
          finish();
        }, (error) => {
          output.destroy(error);
          finish(error);
        });
      } else if (isIterable(made)) {
        current = made;
        if (isLast) throw coded(TypeError, "ERR_INVALID_RETURN_VALUE", `Expected AsyncFunction to be returned from the "transform[${at - 1}]" function`);
      } else throw coded(TypeError, "ERR_INVALID_RETURN_VALUE", `Expected Iterable, AsyncIterable or Stream to be returned from the "${at === 0 ? "source" : `transform[${at - 1}]`}" function but got ${made === undefined ? "undefined" : `type ${typeof made}`}.`);
    } else if (isIterable(part)) {
      if (at > 0) throw invalidArgType("streams[" + at + "]", ["Stream", "Function"], part);
      current = watch(Readable.from(part), true, false);
    } else throw invalidArgType(`streams[${at}]`, ["Stream", "Iterable", "AsyncIterable", "Function"], part);
  }
  return last;
}

async function pump(iterable, writable, ends) {
  let failed;
  const cleanup = finished(writable, { readable: false }, (error) => (failed = error));
  const drained = () => new Promise((resolve, reject) => {
    writable.once("drain", resolve);
    writable.once("close", () => (failed ? reject(failed) : reject(premature())));
  });
  try {
    if (writable.writableNeedDrain) await drained();
    for await (const chunk of iterable) {
      if (failed) throw failed;
      if (!writable.write(chunk)) await drained();
    }
    if (ends) {
      writable.end();
      await new Promise((resolve, reject) => finished(writable, { readable: false }, (error) => (error ? reject(error) : resolve())));
    }
  } finally {
    cleanup();
  }
}

module.exports = { finished, pipeline, run, isStream, isReadable, isWritable };
