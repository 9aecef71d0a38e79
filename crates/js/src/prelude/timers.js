// Timers (HTML §8.6) and the call's clock (High Resolution Time §8). Time passes in the host.

const loadTimers = once(function () {
  const running = new Map();
  let last = 0;

  function begin(handler, delay, args, repeats) {
    if (typeof handler !== "function") throw new TypeError("The timer's handler must be a function");
    const handle = ++last;
    arm(handle, handler, clamp(delay), args, repeats);
    return handle;
  }

  function arm(handle, handler, ms, args, repeats) {
    const id = start("timer", { __proto__: null, ms }, undefined, () => {
      mapDelete(running, handle);
      if (repeats) arm(handle, handler, ms, args, repeats);
      try {
        apply(handler, global, args);
      } catch (error) {
        report(error);
      }
    });
    mapSet(running, handle, id);
  }

  // A delay is a Web IDL long: what is no number or lies beyond 32 bits counts as the platform counts it.
  function clamp(delay) {
    return max(0, delay | 0);
  }

  function stop(handle) {
    const id = mapGet(running, handle);
    if (id === undefined) return;
    mapDelete(running, handle);
    cancel(id);
  }

  const setTimeout = (handler, delay = 0, ...args) => begin(handler, delay, args, false);
  const setInterval = (handler, delay = 0, ...args) => begin(handler, delay, args, true);
  const setImmediate = (handler, ...args) => begin(handler, 0, args, false);
  const clearTimeout = (handle = 0) => stop(handle | 0);
  const clearInterval = (handle = 0) => stop(handle | 0);
  const clearImmediate = (handle = 0) => stop(handle | 0);
  return { __proto__: null, setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate };
});
lazyGlobals(loadTimers, "setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate");

const loadPerformance = once(function () {
  class Performance {
    #own;
    now() {
      this.#own;
      return native.now();
    }
    get timeOrigin() {
      this.#own;
      return native.timeOrigin();
    }
    toJSON() {
      return { timeOrigin: this.timeOrigin };
    }
  }
  expose(Performance, "Performance");
  return { __proto__: null, performance: new Performance() };
});
lazyGlobals(loadPerformance, "performance");
