// events: EventEmitter and its helpers.
"use strict";

const { coded, invalidArgType, checkFunction, checkNumber, checkSignal, AbortError } = require("internal/errors");
const { inspect } = require("internal/inspect");

const errorMonitor = Symbol("events.errorMonitor");
const captureRejection = Symbol.for("nodejs.rejection");
const capturing = Symbol("captures rejections");
let defaultMaxListeners = 10;
let captureByDefault = false;

// A function, because old packages call `EventEmitter.call(this)`. The listeners stand in `_events` as one function
// or a list of them: packages look there.
function EventEmitter(options) {
  EventEmitter.init.call(this, options);
}

EventEmitter.init = function (options) {
  if (this._events === undefined || this._events === Object.getPrototypeOf(this)._events) {
    this._events = Object.create(null);
    this._eventsCount = 0;
  }
  this._maxListeners ??= undefined;
  if (options?.captureRejections !== undefined) {
    if (typeof options.captureRejections !== "boolean") throw invalidArgType("options.captureRejections", "boolean", options.captureRejections);
    this[capturing] = options.captureRejections;
  } else if (captureByDefault) this[capturing] = true;
};

EventEmitter.prototype._events = undefined;
EventEmitter.prototype._eventsCount = 0;
EventEmitter.prototype._maxListeners = undefined;

function listenersOf(emitter, type) {
  const found = emitter._events?.[type];
  if (found === undefined) return [];
  return typeof found === "function" ? [found] : found;
}

function add(emitter, type, listener, first) {
  checkFunction(listener, "listener");
  if (emitter._events === undefined) {
    emitter._events = Object.create(null);
    emitter._eventsCount = 0;
  } else if (emitter._events.newListener !== undefined) emitter.emit("newListener", type, listener.listener ?? listener);
  const events = emitter._events;
  const before = events[type];
  if (before === undefined) {
    events[type] = listener;
    emitter._eventsCount += 1;
    return emitter;
  }
  // A new list each time: emit() goes on with the one that it began with.
  const list = typeof before === "function" ? [before] : before.slice();
  if (first) list.unshift(listener);
  else list.push(listener);
  list.warned = before.warned;
  events[type] = list;
  warnOfLeak(emitter, type, list);
  return emitter;
}

function warnOfLeak(emitter, type, list) {
  const limit = emitter.getMaxListeners();
  if (limit <= 0 || list.length <= limit || list.warned) return;
  list.warned = true;
  const warning = new Error(
    `Possible EventEmitter memory leak detected. ${list.length} ${String(type)} listeners added to ${inspect(emitter, { depth: -1 })}. MaxListeners is ${limit}. Use emitter.setMaxListeners() to increase limit`,
  );
  Object.assign(warning, { name: "MaxListenersExceededWarning", emitter, type, count: list.length });
  require("process").emitWarning(warning);
}

function onceWrapper(emitter, type, listener) {
  let fired = false;
  const wrapper = function (...args) {
    if (fired) return undefined;
    fired = true;
    emitter.removeListener(type, wrapper);
    return Reflect.apply(listener, emitter, args);
  };
  wrapper.listener = listener;
  return wrapper;
}

const methods = {
  setMaxListeners(count) {
    checkNumber(count, "setMaxListeners", 0);
    this._maxListeners = count;
    return this;
  },

  getMaxListeners() {
    return this._maxListeners === undefined ? defaultMaxListeners : this._maxListeners;
  },

  emit(type, ...args) {
    if (type === "error") {
      for (const listener of listenersOf(this, errorMonitor)) Reflect.apply(listener, this, args);
      if (this._events?.error === undefined) throw unhandled(args);
    }
    const found = this._events?.[type];
    if (found === undefined) return false;
    if (typeof found === "function") call(this, found, type, args);
    else for (const listener of found.slice()) call(this, listener, type, args);
    return true;
  },

  addListener(type, listener) {
    return add(this, type, listener, false);
  },

  prependListener(type, listener) {
    return add(this, type, listener, true);
  },

  once(type, listener) {
    checkFunction(listener, "listener");
    return this.on(type, onceWrapper(this, type, listener));
  },

  prependOnceListener(type, listener) {
    checkFunction(listener, "listener");
    return this.prependListener(type, onceWrapper(this, type, listener));
  },

  removeListener(type, listener) {
    checkFunction(listener, "listener");
    const list = listenersOf(this, type);
    const at = list.findLastIndex((item) => item === listener || item.listener === listener);
    if (at < 0) return this;
    const removed = list[at].listener ?? listener;
    if (list.length === 1) {
      delete this._events[type];
      this._eventsCount -= 1;
    } else {
      const rest = list.toSpliced(at, 1);
      this._events[type] = rest.length === 1 ? rest[0] : rest;
    }
    if (this._events.removeListener !== undefined) this.emit("removeListener", type, removed);
    return this;
  },

  removeAllListeners(type) {
    if (this._events === undefined) return this;
    const types = arguments.length === 0 ? Reflect.ownKeys(this._events) : [type];
    if (this._events.removeListener === undefined) {
      for (const name of types) {
        if (this._events[name] !== undefined) this._eventsCount -= 1;
        delete this._events[name];
      }
      return this;
    }
    // Those who want to hear of it are told of each, the last first, and go last themselves.
    for (const name of types) {
      if (name === "removeListener" && types.length > 1) continue;
      for (const listener of listenersOf(this, name).toReversed()) this.removeListener(name, listener);
    }
    if (arguments.length === 0) {
      this._events = Object.create(null);
      this._eventsCount = 0;
    }
    return this;
  },

  listeners(type) {
    return listenersOf(this, type).map((listener) => listener.listener ?? listener);
  },

  rawListeners(type) {
    return listenersOf(this, type).slice();
  },

  listenerCount(type, listener) {
    const list = listenersOf(this, type);
    return listener === undefined || listener === null ? list.length : list.filter((item) => item === listener || item.listener === listener).length;
  },

  eventNames() {
    return this._events === undefined ? [] : Reflect.ownKeys(this._events);
  },
};

function call(emitter, listener, type, args) {
  const result = Reflect.apply(listener, emitter, args);
  if (!emitter[capturing] || typeof result?.then !== "function") return;
  result.then(undefined, (error) => {
    queueMicrotask(() => {
      if (typeof emitter[captureRejection] === "function") emitter[captureRejection](error, type, ...args);
      else emitter.emit("error", error);
    });
  });
}

function unhandled(args) {
  const [error] = args;
  if (error instanceof Error) return error;
  let shown;
  try {
    shown = inspect(error);
  } catch {
    shown = error;
  }
  const made = coded(Error, "ERR_UNHANDLED_ERROR", `Unhandled error. (${args.length === 0 ? "undefined" : shown})`);
  made.context = error;
  return made;
}

for (const name of Object.keys(methods)) EventEmitter.prototype[name] = methods[name];
EventEmitter.prototype.on = EventEmitter.prototype.addListener;
EventEmitter.prototype.off = EventEmitter.prototype.removeListener;

const isTarget = (emitter) => typeof emitter?.addEventListener === "function" && typeof emitter.on !== "function";

function listen(emitter, type, listener, options) {
  if (typeof emitter?.on === "function") return options?.once ? emitter.once(type, listener) : emitter.on(type, listener);
  if (!isTarget(emitter)) throw invalidArgType("emitter", "EventEmitter", emitter);
  return emitter.addEventListener(type, listener, options);
}

function unlisten(emitter, type, listener) {
  if (typeof emitter?.removeListener === "function") emitter.removeListener(type, listener);
  else emitter.removeEventListener(type, listener);
}

// The arguments of the next event, as a promise.
function once(emitter, type, options = {}) {
  return new Promise((resolve, reject) => {
    const { signal } = options;
    checkSignal(signal, "options.signal");
    if (signal?.aborted) throw new AbortError(undefined, { cause: signal.reason });
    const done = (settle, value) => {
      unlisten(emitter, type, heard);
      if (type !== "error" && !isTarget(emitter)) unlisten(emitter, "error", failed);
      signal?.removeEventListener("abort", aborted);
      settle(value);
    };
    const heard = (...args) => done(resolve, args);
    const failed = (error) => done(reject, error);
    const aborted = () => done(reject, new AbortError(undefined, { cause: signal.reason }));
    listen(emitter, type, heard, { once: true });
    if (type !== "error" && !isTarget(emitter)) emitter.once("error", failed);
    signal?.addEventListener("abort", aborted, { once: true });
  });
}

// Every event from now on, as an async iterator of argument lists.
function on(emitter, type, options = {}) {
  const { signal, close } = options;
  checkSignal(signal, "options.signal");
  if (signal?.aborted) throw new AbortError(undefined, { cause: signal.reason });
  const heard = [];
  const waiting = [];
  let failure;
  let finished = false;
  const receive = (...args) => (waiting.length > 0 ? waiting.shift().resolve({ value: args, done: false }) : heard.push(args));
  const fail = (error) => {
    if (waiting.length > 0) waiting.shift().reject(error);
    else failure = { error };
    finish();
  };
  const abort = () => fail(new AbortError(undefined, { cause: signal.reason }));
  const finish = () => {
    unlisten(emitter, type, receive);
    if (!isTarget(emitter)) unlisten(emitter, "error", fail);
    for (const name of close ?? []) unlisten(emitter, name, finish);
    signal?.removeEventListener("abort", abort);
    finished = true;
    for (const { resolve } of waiting.splice(0)) resolve({ value: undefined, done: true });
    return Promise.resolve({ value: undefined, done: true });
  };
  listen(emitter, type, receive);
  if (type !== "error" && !isTarget(emitter)) emitter.on("error", fail);
  for (const name of close ?? []) listen(emitter, name, finish);
  signal?.addEventListener("abort", abort, { once: true });
  return {
    next() {
      if (heard.length > 0) return Promise.resolve({ value: heard.shift(), done: false });
      if (failure !== undefined) {
        const { error } = failure;
        failure = undefined;
        return Promise.reject(error);
      }
      if (finished) return Promise.resolve({ value: undefined, done: true });
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    return: finish,
    throw(error) {
      if (!(error instanceof Error)) throw invalidArgType("EventEmitter.AsyncIterator", "Error", error);
      fail(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

function getEventListeners(emitter, type) {
  if (typeof emitter?.listeners === "function") return emitter.listeners(type);
  if (isTarget(emitter)) return [];
  throw invalidArgType("emitter", ["EventEmitter", "EventTarget"], emitter);
}

function getMaxListeners(emitter) {
  if (typeof emitter?.getMaxListeners === "function") return emitter.getMaxListeners();
  if (isTarget(emitter)) return defaultMaxListeners;
  throw invalidArgType("emitter", ["EventEmitter", "EventTarget"], emitter);
}

function setMaxListeners(count = defaultMaxListeners, ...emitters) {
  checkNumber(count, "setMaxListeners", 0);
  if (emitters.length === 0) defaultMaxListeners = count;
  for (const emitter of emitters) emitter.setMaxListeners?.(count);
}

function addAbortListener(signal, listener) {
  if (signal === undefined) throw invalidArgType("signal", "AbortSignal", signal);
  checkSignal(signal, "signal");
  checkFunction(listener, "listener");
  if (signal.aborted) queueMicrotask(() => listener());
  else signal.addEventListener("abort", listener, { once: true });
  return { [Symbol.dispose ?? Symbol.for("Symbol.dispose")]: () => signal.removeEventListener("abort", listener) };
}

class EventEmitterAsyncResource extends EventEmitter {
  constructor(options) {
    super(typeof options === "object" ? options : undefined);
    this.asyncResource = new (require("async_hooks").AsyncResource)(typeof options === "string" ? options : (options?.name ?? new.target.name));
  }
  emit(...args) {
    return this.asyncResource.runInAsyncScope(super.emit, this, ...args);
  }
  emitDestroy() {}
  get asyncId() { return 0; }
  get triggerAsyncId() { return 0; }
}

module.exports = Object.assign(EventEmitter, {
  EventEmitter, EventEmitterAsyncResource, once, on, getEventListeners, getMaxListeners, setMaxListeners, addAbortListener, errorMonitor,
  captureRejectionSymbol: captureRejection,
  usingDomains: false,
  listenerCount: (emitter, type) => emitter.listenerCount(type),
});
Object.defineProperty(EventEmitter, "defaultMaxListeners", {
  enumerable: true,
  get: () => defaultMaxListeners,
  set(count) {
    checkNumber(count, "defaultMaxListeners", 0);
    defaultMaxListeners = count;
  },
});
Object.defineProperty(EventEmitter, "captureRejections", { enumerable: true, get: () => captureByDefault, set: (value) => void (captureByDefault = value) });
