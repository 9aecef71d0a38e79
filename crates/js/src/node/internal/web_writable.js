// WritableStream and TransformStream (Streams §5, §6), and the transforms that the platform has ready.
"use strict";

const { ReadableStream, deferred, strategyOf, tag, ours } = require("internal/web_readable");

const nothing = () => {};

class WritableState {
  constructor(sink, strategy) {
    Object.assign(this, strategyOf(strategy, 1));
    Object.assign(this, { sink, state: "writable", error: undefined, total: 0, queue: [], busy: true, writer: undefined, closing: undefined, closed: deferred(), ready: deferred(), aborting: new AbortController() });
    if (this.mark > 0) this.ready.resolve();
  }

  get desired() {
    return this.state === "errored" || this.state === "erroring" ? null : this.state === "closed" ? 0 : this.mark - this.total;
  }

  start(controller) {
    this.controller = controller;
    const begun = this.sink?.start?.(controller);
    Promise.resolve(begun).then(() => this.next(), (error) => {
      this.busy = false;
      this.fail(error);
    });
  }

  // One thing at a time, in order.
  next() {
    this.busy = false;
    if (this.state === "erroring") return this.failed();
    const job = this.queue.shift();
    if (job === undefined) return undefined;
    this.busy = true;
    const run = async () => (job.isClose ? this.sink?.close?.() : this.sink?.write?.(job.chunk, this.controller));
    return run().then(() => {
      this.total -= job.size;
      if (job.isClose) {
        this.busy = false;
        this.state = "closed";
        this.ready.resolve();
        this.closed.resolve();
      }
      job.done.resolve();
      if (job.isClose) return;
      if (this.state === "writable" && this.closing === undefined && this.desired > 0) this.ready.resolve();
      this.next();
    }, (error) => {
      job.done.reject(error);
      this.busy = false;
      this.fail(error);
    });
  }

  push(job) {
    this.queue.push(job);
    if (!this.busy) this.next();
    return job.done.promise;
  }

  write(chunk) {
    if (this.state === "errored" || this.state === "erroring") return Promise.reject(this.error);
    if (this.state === "closed" || this.closing !== undefined) return Promise.reject(new TypeError("Invalid state: the stream is closing or closed"));
    let size;
    try {
      size = this.sizeOf(chunk);
    } catch (error) {
      this.fail(error);
      return Promise.reject(error);
    }
    this.total += size;
    if (this.desired <= 0) this.wait();
    return this.push({ chunk, size, done: deferred() });
  }

  // From now on writers are asked to wait.
  wait() {
    const { promise, resolve, reject } = deferred();
    this.ready.resolve();
    this.ready = { promise, resolve, reject };
  }

  close() {
    if (this.state === "errored" || this.state === "erroring") return Promise.reject(this.error);
    if (this.closing !== undefined || this.state === "closed") return Promise.reject(new TypeError("Invalid state: the stream is closing or closed"));
    this.closing = { isClose: true, size: 0, done: deferred() };
    this.ready.resolve();
    return this.push(this.closing);
  }

  fail(error) {
    if (this.state !== "writable") return;
    Object.assign(this, { state: "erroring", error });
    const { promise, resolve, reject } = deferred();
    this.ready.resolve();
    this.ready = { promise, resolve, reject };
    this.ready.reject(error);
    if (!this.busy) this.failed();
  }

  failed() {
    this.state = "errored";
    for (const { done } of this.queue.splice(0)) done.reject(this.error);
    this.closed.reject(this.error);
    this.pendingAbort?.();
  }

  async abort(reason) {
    if (this.state === "closed" || this.state === "errored") return;
    this.aborting.abort(reason);
    const gone = new Promise((resolve) => (this.pendingAbort = resolve));
    this.fail(reason);
    if (this.state !== "errored") await gone;
    await this.sink?.abort?.(reason);
  }
}

class WritableStreamDefaultController {
  #state;
  constructor(key, state) {
    if (key !== ours) throw new TypeError("Illegal constructor");
    this.#state = state;
  }
  get signal() { return this.#state.aborting.signal; }
  error(error = undefined) { this.#state.fail(error); }
}

let stateOf;

class WritableStream {
  #state;

  constructor(sink = {}, strategy = {}) {
    if (sink === null || sink.type !== undefined) throw new RangeError("The sink must be an object without a type");
    this.#state = new WritableState(sink, strategy);
    this.#state.start(new WritableStreamDefaultController(ours, this.#state));
  }

  get locked() { return this.#state.writer !== undefined; }
  getWriter() { return new WritableStreamDefaultWriter(this); }
  abort(reason) { return this.locked ? Promise.reject(new TypeError("Invalid state: WritableStream is locked")) : this.#state.abort(reason); }
  close() { return this.locked ? Promise.reject(new TypeError("Invalid state: WritableStream is locked")) : this.#state.close(); }

  static {
    stateOf = (stream) => {
      if (stream === null || typeof stream !== "object" || !(#state in stream)) throw new TypeError("The argument must be a WritableStream");
      return stream.#state;
    };
  }
}

class WritableStreamDefaultWriter {
  #state;

  constructor(stream) {
    this.#state = stateOf(stream);
    if (this.#state.writer !== undefined) throw new TypeError("Invalid state: WritableStream is locked");
    this.#state.writer = this;
  }

  #held() {
    if (this.#state === undefined) throw new TypeError("The writer was released");
    return this.#state;
  }

  get closed() { return this.#promise((state) => state.closed.promise); }
  get ready() { return this.#promise((state) => state.ready.promise); }
  get desiredSize() { return this.#held().desired; }
  write(chunk = undefined) { return this.#promise((state) => state.write(chunk)); }
  close() { return this.#promise((state) => state.close()); }
  abort(reason) { return this.#promise((state) => state.abort(reason)); }

  #promise(run) {
    try {
      return run(this.#held());
    } catch (error) {
      const refused = Promise.reject(error);
      refused.catch(nothing);
      return refused;
    }
  }

  releaseLock() {
    if (this.#state === undefined) return;
    this.#state.writer = undefined;
    this.#state = undefined;
  }
}

class TransformStreamDefaultController {
  #ends;
  constructor(key, ends) {
    if (key !== ours) throw new TypeError("Illegal constructor");
    this.#ends = ends;
  }
  get desiredSize() { return this.#ends.readable.desiredSize; }
  enqueue(chunk = undefined) {
    this.#ends.sent = true;
    this.#ends.readable.enqueue(chunk);
  }
  error(error = undefined) {
    this.#ends.readable.error(error);
    this.#ends.writable.error(error);
  }
  terminate() {
    this.#ends.readable.close();
    this.#ends.writable.error(new TypeError("Invalid state: TransformStream has been terminated"));
  }
}

class TransformStream {
  #readable;
  #writable;

  constructor(transformer = {}, writableStrategy = {}, readableStrategy = {}) {
    const ends = {};
    const controller = new TransformStreamDefaultController(ours, ends);
    const begun = deferred();
    // A chunk goes through when the readable side wants one.
    let demand = deferred();
    this.#readable = new ReadableStream({
      start: (readable) => {
        ends.readable = readable;
        return begun.promise;
      },
      pull: () => demand.resolve(),
      cancel: async (reason) => {
        ends.writable.error(reason);
        await transformer.cancel?.(reason);
      },
    }, { highWaterMark: 0, ...readableStrategy });
    this.#writable = new WritableStream({
      start: (writable) => {
        ends.writable = writable;
        return begun.promise;
      },
      write: async (chunk) => {
        if (!(ends.readable.desiredSize > 0)) {
          await Promise.race([demand.promise, new Promise((resolve) => ends.writable.signal.addEventListener("abort", resolve, { once: true }))]);
        }
        demand = deferred();
        ends.sent = false;
        try {
          if (typeof transformer.transform === "function") await transformer.transform(chunk, controller);
          else controller.enqueue(chunk);
        } catch (error) {
          controller.error(error);
          throw error;
        }
        // Nothing came of it: whoever asked still waits.
        if (!ends.sent) demand.resolve();
      },
      close: async () => {
        try {
          await transformer.flush?.(controller);
          ends.readable.close();
        } catch (error) {
          ends.readable.error(error);
          throw error;
        }
      },
      abort: (reason) => ends.readable.error(reason),
    }, writableStrategy);
    Promise.resolve(transformer.start?.(controller)).then(begun.resolve, begun.reject);
  }

  get readable() { return this.#readable; }
  get writable() { return this.#writable; }
}

class ByteLengthQueuingStrategy {
  constructor({ highWaterMark }) { this.highWaterMark = highWaterMark; }
  get size() { return (chunk) => chunk.byteLength; }
}
class CountQueuingStrategy {
  constructor({ highWaterMark }) { this.highWaterMark = highWaterMark; }
  get size() { return () => 1; }
}

// A transform with the two ends as its own properties.
class Pair {
  #transform;
  constructor(transformer) { this.#transform = new TransformStream(transformer); }
  get readable() { return this.#transform.readable; }
  get writable() { return this.#transform.writable; }
}

class TextEncoderStream extends Pair {
  constructor() {
    const encoder = new TextEncoder();
    let high = "";
    super({
      transform(chunk, controller) {
        const text = high + `${chunk}`;
        high = /[\ud800-\udbff]$/.exec(text)?.[0] ?? "";
        const ready = text.slice(0, text.length - high.length);
        if (ready !== "") controller.enqueue(encoder.encode(ready));
      },
      flush(controller) {
        if (high !== "") controller.enqueue(encoder.encode(high));
      },
    });
  }
  get encoding() { return "utf-8"; }
}

class TextDecoderStream extends Pair {
  #decoder;
  constructor(label = "utf-8", options = {}) {
    const decoder = new TextDecoder(label, options);
    const send = (text, controller) => text !== "" && controller.enqueue(text);
    super({ transform: (chunk, controller) => void send(decoder.decode(chunk, { stream: true }), controller), flush: (controller) => void send(decoder.decode(), controller) });
    this.#decoder = decoder;
  }
  get encoding() { return this.#decoder.encoding; }
  get fatal() { return this.#decoder.fatal; }
  get ignoreBOM() { return this.#decoder.ignoreBOM; }
}

function compression(methods) {
  return class extends Pair {
    constructor(format) {
      if (methods[format] === undefined) throw new TypeError(`Unsupported compression format: '${format}'`);
      const { Buffer } = require("buffer");
      const chunks = [];
      super({
        transform: (chunk) => void chunks.push(Buffer.from(ArrayBuffer.isView(chunk) ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) : chunk)),
        flush: (controller) => controller.enqueue(new Uint8Array(require("zlib")[methods[format]](Buffer.concat(chunks)))),
      });
    }
  };
}
class CompressionStream extends compression({ gzip: "gzipSync", deflate: "deflateSync", "deflate-raw": "deflateRawSync" }) {}
class DecompressionStream extends compression({ gzip: "gunzipSync", deflate: "inflateSync", "deflate-raw": "inflateRawSync" }) {}

module.exports = {
  WritableStream, WritableStreamDefaultWriter, WritableStreamDefaultController, TransformStream, TransformStreamDefaultController, ByteLengthQueuingStrategy, CountQueuingStrategy,
  TextEncoderStream, TextDecoderStream, CompressionStream, DecompressionStream,
};
for (const Class of Object.values(module.exports)) tag(Class);
