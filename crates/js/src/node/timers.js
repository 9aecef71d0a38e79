// timers: the sandbox's own, as the objects that Node hands out.
"use strict";

const { checkFunction } = require("internal/errors");
const { promisify } = require("util");

const host = Object.fromEntries(["setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate"].map((name) => [name, internal.global[name]]));
const start = Symbol("start");
const stop = Symbol("stop");
const byNumber = new Map();

class Timer {
  #id;
  #begin;
  #end;
  #referenced = true;
  #key;

  constructor(begin, end) {
    this.#begin = begin;
    this.#end = end;
    this[start]();
  }

  [start]() {
    this.#id = this.#begin();
  }

  [stop]() {
    this.#end(this.#id);
    if (this.#key !== undefined) byNumber.delete(this.#key);
  }

  // A call ends with its result, whatever timers are left: whether one holds the program open means nothing here.
  ref() {
    this.#referenced = true;
    return this;
  }

  unref() {
    this.#referenced = false;
    return this;
  }

  hasRef() {
    return this.#referenced;
  }

  refresh() {
    this.#end(this.#id);
    this[start]();
    return this;
  }

  close() {
    this[stop]();
    return this;
  }

  // Who keeps a timer as a number can still clear it.
  [Symbol.toPrimitive]() {
    this.#key ??= Number(this.#id);
    byNumber.set(this.#key, this);
    return this.#key;
  }

  [Symbol.dispose ?? Symbol.for("nodejs.dispose")]() {
    this[stop]();
  }
}
class Timeout extends Timer {}
class Immediate extends Timer {}

function delayOf(delay) {
  delay = Number(delay);
  return delay >= 1 && delay <= 2 ** 31 - 1 ? Math.trunc(delay) : 1;
}

function setTimeout(callback, delay, ...args) {
  checkFunction(callback, "callback");
  const made = new Timeout(() => host.setTimeout(() => callback.apply(made, args), delayOf(delay)), host.clearTimeout);
  return made;
}

function setInterval(callback, delay, ...args) {
  checkFunction(callback, "callback");
  const made = new Timeout(() => host.setInterval(() => callback.apply(made, args), delayOf(delay)), host.clearInterval);
  return made;
}

function setImmediate(callback, ...args) {
  checkFunction(callback, "callback");
  return new Immediate(() => host.setImmediate(callback, ...args), host.clearImmediate);
}

function clear(timer) {
  if (timer instanceof Timer) timer[stop]();
  else if (typeof timer === "number" || typeof timer === "string") {
    const known = byNumber.get(Number(timer));
    if (known !== undefined) known[stop]();
    else host.clearTimeout(Number(timer));
  }
}

const clearTimeout = (timer) => clear(timer);
const clearInterval = (timer) => clear(timer);
const clearImmediate = (timer) => clear(timer);

Object.assign(exports, { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate });
Object.defineProperty(exports, "promises", { enumerable: true, configurable: true, get: () => require("timers/promises") });
Object.defineProperty(setTimeout, promisify.custom, { enumerable: true, get: () => require("timers/promises").setTimeout });
Object.defineProperty(setImmediate, promisify.custom, { enumerable: true, get: () => require("timers/promises").setImmediate });
Object.assign(exports, {
  // The old interface: an object is a timer, with its callback in `_onTimeout`.
  enroll: (item, delay) => void (item._idleTimeout = delay),
  unenroll: (item) => clear(item._timer),
  active: (item) => void (item._timer = setTimeout(() => item._onTimeout?.(), item._idleTimeout)),
  _unrefActive: (item) => exports.active(item),
});
