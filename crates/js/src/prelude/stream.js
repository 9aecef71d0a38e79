// The part of ReadableStream (Streams §4.2, §4.3) that readers of a body need. Bodies arrive whole and
// bounded, so a stream has one chunk.

const loadStream = once(function () {
  const ours = { __proto__: null };
  let isStream, stateOf;

  class ReadableStream {
    #state;

    constructor(key, state) {
      if (key !== ours) throw new TypeError("ReadableStream cannot be constructed here: pass text, bytes, a Blob or FormData as the body");
      this.#state = state;
    }

    get locked() { return this.#state.locked; }

    getReader() { return new ReadableStreamDefaultReader(this); }

    async cancel() {
      if (this.#state.locked) throw new TypeError("The stream is locked to a reader");
      take(this.#state);
    }

    async *values() {
      const state = this.#state;
      lock(state);
      try {
        const bytes = take(state);
        if (typedLength(bytes) > 0) yield bytes;
      } finally {
        state.locked = false;
      }
    }

    static {
      isStream = (value) => isObject(value) && #state in value;
      stateOf = (stream) => stream.#state;
    }
  }
  hidden(ReadableStream.prototype, symbolAsyncIterator, ReadableStream.prototype.values);
  expose(ReadableStream, "ReadableStream", (stream) => ({ __proto__: null, locked: stream.locked }));

  class ReadableStreamDefaultReader {
    #state;
    #closed;

    constructor(stream) {
      this.#state = stateOf(stream);
      lock(this.#state);
    }

    get closed() { return (this.#closed ??= whenClosed(held(this.#state))); }

    async read() {
      const bytes = take(held(this.#state));
      return typedLength(bytes) > 0 ? { value: bytes, done: false } : { value: undefined, done: true };
    }

    async cancel() { take(held(this.#state)); }

    releaseLock() {
      if (this.#state !== undefined) this.#state.locked = false;
      this.#state = undefined;
    }
  }
  expose(ReadableStreamDefaultReader, "ReadableStreamDefaultReader");

  function held(state) {
    if (state === undefined) throw new TypeError("The reader was released");
    return state;
  }

  function whenClosed(state) {
    return new Promise((resolve) => (typedLength(state.bytes) === 0 ? resolve() : push(state.waiting, resolve)));
  }

  function lock(state) {
    if (state.locked) throw new TypeError("The stream is locked to a reader");
    state.locked = true;
  }

  // All bytes that are left; from now on the stream is disturbed and empty.
  function take(state) {
    const bytes = state.bytes;
    state.bytes = new Uint8Array(0);
    state.disturbed = true;
    for (let i = 0; i < state.waiting.length; i++) state.waiting[i]();
    return bytes;
  }

  function streamOf(bytes) {
    return new ReadableStream(ours, { __proto__: null, bytes, locked: false, disturbed: false, waiting: list() });
  }

  return { __proto__: null, streamOf, isStream, stateOf, take };
});
