// AbortController and AbortSignal (DOM §3).

const loadAbort = once(function () {
  const { EventTarget, fire, listen } = loadEvents();
  const ours = { __proto__: null };
  let create, abort, isAborted, whenAborted, isSignal, follow, reasonOf;

  class AbortSignal extends EventTarget {
    #reason = undefined;
    #aborted = false;
    #algorithms = new Set();
    #dependents = list();
    #handler = null;
    #listening = false;

    constructor(key = undefined) {
      if (key !== ours) throw new TypeError("Illegal constructor: use AbortController or AbortSignal.timeout");
      super();
    }

    get aborted() { return this.#aborted; }
    get reason() { return this.#reason; }
    get onabort() { return this.#handler; }
    set onabort(handler) {
      this.#handler = isObject(handler) ? handler : null;
      if (this.#listening) return;
      this.#listening = true;
      listen(this, "abort", (event) => {
        if (typeof this.#handler === "function") apply(this.#handler, this, [event]);
      });
    }

    throwIfAborted() {
      if (this.#aborted) throw this.#reason;
    }

    static abort(reason = undefined) {
      const signal = create();
      signal.#aborted = true;
      signal.#reason = orAbortError(reason);
      return signal;
    }

    static timeout(milliseconds) {
      needs(1, arguments.length, "AbortSignal.timeout");
      const ms = Number(milliseconds);
      if (!(ms >= 0 && ms <= 9007199254740991)) throw new TypeError("AbortSignal.timeout: the time must be a number of milliseconds");
      const signal = create();
      start("timer", { __proto__: null, ms: floor(ms) }, undefined, () => abort(signal, new DOMException("The operation timed out", "TimeoutError")));
      return signal;
    }

    static any(signals) {
      needs(1, arguments.length, "AbortSignal.any");
      if (!isObject(signals)) throw new TypeError("AbortSignal.any: the argument must be iterable");
      const sources = list();
      for (const signal of signals) {
        if (!isSignal(signal)) throw new TypeError("AbortSignal.any: every item must be an AbortSignal");
        push(sources, signal);
      }
      return follow(create(), sources);
    }

    static {
      create = () => new AbortSignal(ours);
      reasonOf = (signal) => signal.#reason;
      isSignal = (value) => isObject(value) && #aborted in value;
      isAborted = (signal) => {
        if (!isSignal(signal)) throw new TypeError("The signal must be an AbortSignal");
        return signal.#aborted;
      };
      // Runs `algorithm` when the signal aborts; answers the function that takes it back.
      whenAborted = (signal, algorithm) => {
        setAdd(signal.#algorithms, algorithm);
        return () => setDelete(signal.#algorithms, algorithm);
      };
      // DOM §3.2 "create a dependent abort signal".
      follow = (signal, sources) => {
        for (let i = 0; i < sources.length; i++) {
          if (!sources[i].#aborted) continue;
          signal.#aborted = true;
          signal.#reason = sources[i].#reason;
          return signal;
        }
        for (let i = 0; i < sources.length; i++) push(sources[i].#dependents, signal);
        return signal;
      };
      // DOM §3.2 "signal abort": all reasons are set before the first algorithm or listener runs.
      abort = (signal, reason) => {
        if (signal.#aborted) return;
        const order = list();
        mark(signal, orAbortError(reason), order);
        for (let i = 0; i < order.length; i++) {
          const algorithms = order[i].#algorithms;
          order[i].#algorithms = new Set();
          setForEach(algorithms, (algorithm) => algorithm());
          fire(order[i], "abort");
        }
      };
      function mark(signal, reason, order) {
        if (signal.#aborted) return;
        signal.#aborted = true;
        signal.#reason = reason;
        push(order, signal);
        for (let i = 0; i < signal.#dependents.length; i++) mark(signal.#dependents[i], reason, order);
      }
    }
  }
  expose(AbortSignal, "AbortSignal", (signal) => ({ __proto__: null, aborted: signal.aborted }));

  function orAbortError(reason) {
    return reason === undefined ? new DOMException("This operation was aborted", "AbortError") : reason;
  }

  class AbortController {
    #signal = create();
    get signal() { return this.#signal; }
    abort(reason = undefined) { abort(this.#signal, reason); }
  }
  expose(AbortController, "AbortController", (controller) => ({ __proto__: null, signal: controller.signal }));

  return { __proto__: null, AbortController, AbortSignal, create, follow, isSignal, isAborted, whenAborted, reasonOf };
});
lazyGlobals(loadAbort, "AbortController", "AbortSignal");
