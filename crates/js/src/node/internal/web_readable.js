// ReadableStream (Streams §4) with its default controller and reader. Byte streams hand out what they are given; a reader
// cannot bring its own buffer.
"use strict";

const { coded, invalidArgValue, unavailable } = require("internal/errors");

const nothing = () => {};
const ours = Symbol("made by the stream");

// A promise with its ends. Nobody has to listen to its failure.
function deferred() {
  const made = Promise.withResolvers?.() ?? {};
  made.promise ??= new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  made.promise.catch(nothing);
  return made;
}

function strategyOf(strategy, fallback) {
  const mark = strategy?.highWaterMark === undefined ? fallback : Number(strategy.highWaterMark);
  if (Number.isNaN(mark) || mark < 0) throw coded(RangeError, "ERR_INVALID_ARG_VALUE", `The property 'strategy.highWaterMark' is invalid. Received ${strategy.highWaterMark}`);
  const size = strategy?.size;
  return { mark, sizeOf: size === undefined ? () => 1 : (chunk) => Number(size(chunk)) };
}

// What a stream is, apart from its methods.
class ReadableState {
  constructor(source, strategy) {
    this.isBytes = source?.type === "bytes";
    Object.assign(this, strategyOf(strategy, this.isBytes ? 0 : 1));
    Object.assign(this, { source, state: "readable", error: undefined, queue: [], total: 0, reads: [], reader: undefined, closing: false, started: false, pulling: false, again: false, disturbed: false, closed: deferred() });
  }

  get desired() {
    return this.state === "errored" ? null : this.state === "closed" ? 0 : this.mark - this.total;
  }

  start(controller) {
    this.controller = controller;
    const begun = this.source?.start?.(controller);
    Promise.resolve(begun).then(() => {
      this.started = true;
      this.pull();
    }, (error) => this.fail(error));
  }

  // Asks the source for more where somebody waits, or where there is room.
  pull() {
    if (!this.started || this.state !== "readable" || this.closing || !(this.reads.length > 0 || this.desired > 0)) return;
    if (this.pulling) {
      this.again = true;
      return;
    }
    if (typeof this.source?.pull !== "function") return;
    this.pulling = true;
    let pulled;
    try {
      pulled = Promise.resolve(this.source.pull(this.controller));
    } catch (error) {
      pulled = Promise.reject(error);
    }
    pulled.then(() => {
      this.pulling = false;
      if (this.again) {
        this.again = false;
        this.pull();
      }
    }, (error) => this.fail(error));
  }

  enqueue(chunk) {
    if (this.state !== "readable" || this.closing) throw new TypeError("Invalid state: the stream is closed");
    if (this.isBytes && !ArrayBuffer.isView(chunk)) throw new TypeError("A byte stream takes views of buffers");
    if (this.reads.length > 0) this.reads.shift().resolve({ value: chunk, done: false });
    else {
      let size;
      try {
        size = this.isBytes ? chunk.byteLength : this.sizeOf(chunk);
        if (!(size >= 0) || size === Infinity) throw new RangeError("The size of a chunk must be a finite number that is not negative");
      } catch (error) {
        this.fail(error);
        throw error;
      }
      this.queue.push({ chunk, size });
      this.total += size;
    }
    this.pull();
  }

  close() {
    if (this.state !== "readable" || this.closing) throw new TypeError("Invalid state: the stream is closed");
    this.closing = true;
    if (this.queue.length === 0) this.end();
  }

  end() {
    if (this.state !== "readable") return;
    this.state = "closed";
    for (const read of this.reads.splice(0)) read.resolve({ value: undefined, done: true });
    this.closed.resolve();
  }

  fail(error) {
    if (this.state !== "readable") return;
    Object.assign(this, { state: "errored", error, queue: [], total: 0 });
    for (const read of this.reads.splice(0)) read.reject(error);
    this.closed.reject(error);
  }

  read() {
    this.disturbed = true;
    if (this.queue.length > 0) {
      const { chunk, size } = this.queue.shift();
      this.total -= size;
      if (this.closing && this.queue.length === 0) this.end();
      else this.pull();
      return Promise.resolve({ value: chunk, done: false });
    }
    if (this.state === "errored") return Promise.reject(this.error);
    if (this.state === "closed") return Promise.resolve({ value: undefined, done: true });
    const read = deferred();
    this.reads.push(read);
    this.pull();
    return read.promise;
  }

  async cancel(reason) {
    this.disturbed = true;
    if (this.state === "errored") throw this.error;
    if (this.state === "closed") return;
    Object.assign(this, { queue: [], total: 0 });
    this.end();
    await this.source?.cancel?.(reason);
  }
}

class ReadableStreamDefaultController {
  #state;
  constructor(key, state) {
    if (key !== ours) throw new TypeError("Illegal constructor");
    this.#state = state;
  }
  get desiredSize() { return this.#state.desired; }
  get byobRequest() { return null; }
  enqueue(chunk = undefined) { this.#state.enqueue(chunk); }
  close() { this.#state.close(); }
  error(error = undefined) { this.#state.fail(error); }
}
class ReadableByteStreamController extends ReadableStreamDefaultController {}

let stateOf;

class ReadableStream {
  #state;

  constructor(source = {}, strategy = {}) {
    if (source === null) throw new TypeError("The source must be an object");
    if (source.type !== undefined && source.type !== "bytes") throw invalidArgValue("source.type", source.type);
    this.#state = new ReadableState(source, strategy);
    const Controller = source.type === "bytes" ? ReadableByteStreamController : ReadableStreamDefaultController;
    this.#state.start(new Controller(ours, this.#state));
  }

  static from(iterable) {
    const make = iterable?.[Symbol.asyncIterator] ?? iterable?.[Symbol.iterator];
    if (typeof make !== "function") throw new TypeError("The argument is not iterable");
    const iterator = make.call(iterable);
    return new ReadableStream({
      async pull(controller) {
        const { value, done } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(await value);
      },
      async cancel(reason) {
        await iterator.return?.(reason);
      },
    }, { highWaterMark: 0 });
  }

  get locked() { return this.#state.reader !== undefined; }

  cancel(reason) {
    return this.locked ? Promise.reject(new TypeError("Invalid state: ReadableStream is locked")) : this.#state.cancel(reason);
  }

  getReader(options) {
    if (options?.mode !== undefined) throw unavailable("a ReadableStream's BYOB reader");
    return new ReadableStreamDefaultReader(this);
  }

  // What Node's own functions ask: whether somebody has read from it.
  get [Symbol.for("nodejs.stream.disturbed")]() { return this.#state.disturbed; }

  static {
    stateOf = (stream) => {
      if (stream === null || typeof stream !== "object" || !(#state in stream)) throw new TypeError("The argument must be a ReadableStream");
      return stream.#state;
    };
  }
}

class ReadableStreamDefaultReader {
  #state;
  #closed;

  constructor(stream) {
    this.#state = stateOf(stream);
    if (this.#state.reader !== undefined) throw new TypeError("Invalid state: ReadableStream is locked");
    this.#state.reader = this;
    this.#closed = this.#state.closed.promise;
  }

  get closed() { return this.#closed; }

  read() {
    return this.#state === undefined ? Promise.reject(new TypeError("The reader was released")) : this.#state.read();
  }

  cancel(reason) {
    return this.#state === undefined ? Promise.reject(new TypeError("The reader was released")) : this.#state.cancel(reason);
  }

  releaseLock() {
    if (this.#state === undefined) return;
    const released = new TypeError("The reader was released");
    for (const read of this.#state.reads.splice(0)) read.reject(released);
    this.#state.reader = undefined;
    this.#state = undefined;
    this.#closed = Promise.reject(released);
    this.#closed.catch(nothing);
  }
}

// These stand on getReader() alone, so that the bodies of responses, which are streams of their own kind, get them too.
const methods = {
  async *values(options) {
    const reader = this.getReader();
    let finished = false;
    try {
      while (true) {
        const { value, done } = await reader.read();
        if (done) {
          finished = true;
          return;
        }
        yield value;
      }
    } catch (error) {
      finished = true;
      throw error;
    } finally {
      if (!finished && !options?.preventCancel) await reader.cancel();
      reader.releaseLock();
    }
  },

  tee() {
    const reader = this.getReader();
    const canceled = [false, false];
    const reasons = [];
    const all = deferred();
    const controllers = [];
    let reading = false;
    const pull = async () => {
      if (reading) return;
      reading = true;
      try {
        const { value, done } = await reader.read();
        controllers.forEach((controller, at) => {
          if (canceled[at]) return;
          if (done) controller.close();
          else controller.enqueue(value);
        });
        if (done) all.resolve();
      } catch (error) {
        for (const controller of controllers) controller.error(error);
        all.resolve();
      }
      reading = false;
    };
    return [0, 1].map((at) => new ReadableStream({
      start: (controller) => void (controllers[at] = controller),
      pull,
      cancel(reason) {
        canceled[at] = true;
        reasons[at] = reason;
        if (canceled[0] && canceled[1]) reader.cancel(reasons).then(all.resolve, all.reject);
        return all.promise;
      },
    }));
  },

  async pipeTo(target, options = {}) {
    const { preventClose = false, preventAbort = false, preventCancel = false, signal } = options;
    const reader = this.getReader();
    const writer = target.getWriter();
    const aborted = deferred();
    const abort = () => aborted.reject(signal.reason);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
    let fromSource = true;
    try {
      while (true) {
        fromSource = false;
        await Promise.race([aborted.promise, writer.ready]);
        fromSource = true;
        const { value, done } = await Promise.race([aborted.promise, reader.read(), writer.closed.then(() => ({ closed: true }), (error) => {
          fromSource = false;
          throw error;
        })]).then((answer) => {
          if (!answer.closed) return answer;
          fromSource = false;
          throw new TypeError("The destination is closed");
        });
        if (done) break;
        writer.write(value).catch(nothing);
      }
      fromSource = false;
      if (!preventClose) await Promise.race([writer.close(), aborted.promise]);
    } catch (error) {
      const gone = signal?.aborted;
      if ((gone || fromSource) && !preventAbort) await writer.abort(error).catch(nothing);
      if ((gone || !fromSource) && !preventCancel) await reader.cancel(error).catch(nothing);
      throw error;
    } finally {
      signal?.removeEventListener("abort", abort);
      reader.releaseLock();
      writer.releaseLock();
    }
  },

  pipeThrough(pair, options) {
    if (pair?.readable === undefined || pair.writable === undefined) throw new TypeError("pipeThrough takes a pair of a readable and a writable stream");
    this.pipeTo(pair.writable, options).catch(nothing);
    return pair.readable;
  },
};

function mix(prototype) {
  for (const [name, method] of Object.entries(methods)) if (!Object.hasOwn(prototype, name)) Object.defineProperty(prototype, name, { value: method, writable: true, enumerable: true, configurable: true });
  if (!Object.hasOwn(prototype, Symbol.asyncIterator)) Object.defineProperty(prototype, Symbol.asyncIterator, { value: prototype.values, writable: true, configurable: true });
}
mix(ReadableStream.prototype);

// The body of a response is one as well, to whoever asks.
Object.defineProperty(ReadableStream, Symbol.hasInstance, {
  value(value) {
    if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
    return this === ReadableStream && value?.[Symbol.toStringTag] === "ReadableStream" && typeof value.getReader === "function";
  },
});

function tag(Class, name = Class.name) {
  Object.defineProperty(Class.prototype, Symbol.toStringTag, { value: name, configurable: true });
  return Class;
}
for (const Class of [ReadableStream, ReadableStreamDefaultReader, ReadableStreamDefaultController, ReadableByteStreamController]) tag(Class);

module.exports = { ReadableStream, ReadableStreamDefaultReader, ReadableStreamDefaultController, ReadableByteStreamController, deferred, strategyOf, tag, mix, ours };
