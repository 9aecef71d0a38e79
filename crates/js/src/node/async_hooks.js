// async_hooks. The engine tells nobody which promise belongs to which; so a store is there from `run` until what it ran
// is done, also across awaits, and two that run at the same time see the one that began last.
"use strict";

const { checkFunction, checkString } = require("internal/errors");

class AsyncLocalStorage {
  #stores = [];
  #disabled = false;

  static bind(run) {
    return AsyncResource.bind(run);
  }

  static snapshot() {
    return (run, ...args) => run(...args);
  }

  getStore() {
    return this.#disabled ? undefined : this.#stores.at(-1)?.store;
  }

  run(store, callback, ...args) {
    this.#disabled = false;
    const entry = { store };
    this.#stores.push(entry);
    const leave = () => {
      const at = this.#stores.indexOf(entry);
      if (at >= 0) this.#stores.splice(at, 1);
    };
    let result;
    try {
      result = callback(...args);
    } catch (error) {
      leave();
      throw error;
    }
    if (typeof result?.then === "function") result.then(leave, leave);
    else leave();
    return result;
  }

  exit(callback, ...args) {
    return this.run(undefined, callback, ...args);
  }

  enterWith(store) {
    this.#disabled = false;
    this.#stores.push({ store });
  }

  disable() {
    this.#disabled = true;
    this.#stores = [];
  }
}

class AsyncResource {
  constructor(type) {
    checkString(type, "type");
    this.type = type;
  }

  runInAsyncScope(callback, self, ...args) {
    return Reflect.apply(callback, self, args);
  }

  bind(callback) {
    checkFunction(callback, "fn");
    return (...args) => callback(...args);
  }

  static bind(callback, type, self) {
    checkFunction(callback, "fn");
    return function (...args) {
      return Reflect.apply(callback, self ?? this, args);
    };
  }

  emitDestroy() { return this; }
  asyncId() { return 1; }
  triggerAsyncId() { return 0; }
}

function createHook() {
  const hook = { enable: () => hook, disable: () => hook };
  return hook;
}

module.exports = {
  AsyncLocalStorage, AsyncResource, createHook,
  executionAsyncId: () => 1,
  triggerAsyncId: () => 0,
  executionAsyncResource: () => ({}),
  asyncWrapProviders: Object.freeze({ __proto__: null, NONE: 0 }),
};
