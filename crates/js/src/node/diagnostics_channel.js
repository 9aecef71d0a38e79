// diagnostics_channel: named places where libraries tell what they do.
"use strict";

const { checkFunction, invalidArgType } = require("internal/errors");

const channels = new Map();

class Channel {
  #subscribers = [];
  #stores = new Map();

  constructor(name) {
    this.name = name;
  }

  get hasSubscribers() { return this.#subscribers.length > 0 || this.#stores.size > 0; }

  subscribe(subscriber) {
    checkFunction(subscriber, "subscription");
    this.#subscribers = [...this.#subscribers, subscriber];
  }

  unsubscribe(subscriber) {
    const at = this.#subscribers.indexOf(subscriber);
    if (at < 0) return false;
    this.#subscribers = this.#subscribers.toSpliced(at, 1);
    return true;
  }

  bindStore(store, transform) { this.#stores.set(store, transform); }
  unbindStore(store) { return this.#stores.delete(store); }

  publish(message) {
    for (const subscriber of this.#subscribers) {
      try {
        subscriber(message, this.name);
      } catch (error) {
        require("internal/next_tick").uncaught(error);
      }
    }
  }

  runStores(message, callback, self, ...args) {
    let run = () => {
      this.publish(message);
      return Reflect.apply(callback, self, args);
    };
    for (const [store, transform] of this.#stores) {
      const inner = run;
      run = () => store.run(transform ? transform(message) : message, inner);
    }
    return run();
  }
}

function channel(name) {
  if (typeof name !== "string" && typeof name !== "symbol") throw invalidArgType("channel", ["string", "symbol"], name);
  if (!channels.has(name)) channels.set(name, new Channel(name));
  return channels.get(name);
}

const steps = ["start", "end", "asyncStart", "asyncEnd", "error"];

class TracingChannel {
  constructor(name) {
    for (const step of steps) this[step] = typeof name === "string" ? channel(`tracing:${name}:${step}`) : name[step];
  }

  get hasSubscribers() { return steps.some((step) => this[step].hasSubscribers); }
  subscribe(handlers) { for (const step of steps) if (handlers[step]) this[step].subscribe(handlers[step]); }
  unsubscribe(handlers) { return steps.filter((step) => handlers[step]).every((step) => this[step].unsubscribe(handlers[step])); }

  traceSync(run, context = {}, self, ...args) {
    return this.start.runStores(context, () => {
      try {
        context.result = Reflect.apply(run, self, args);
        return context.result;
      } catch (error) {
        context.error = error;
        this.error.publish(context);
        throw error;
      } finally {
        this.end.publish(context);
      }
    });
  }

  tracePromise(run, context = {}, self, ...args) {
    const settled = (key) => (value) => {
      context[key] = value;
      if (key === "error") this.error.publish(context);
      this.asyncStart.publish(context);
      this.asyncEnd.publish(context);
      if (key === "error") throw value;
      return value;
    };
    return this.start.runStores(context, () => {
      try {
        return Promise.resolve(Reflect.apply(run, self, args)).then(settled("result"), settled("error"));
      } finally {
        this.end.publish(context);
      }
    });
  }

  traceCallback(run, position = -1, context = {}, self, ...args) {
    const at = position < 0 ? args.length + position : position;
    const callback = args[at];
    checkFunction(callback, "callback");
    args[at] = (error, result) => {
      if (error) {
        context.error = error;
        this.error.publish(context);
      } else context.result = result;
      this.asyncStart.publish(context);
      try {
        return callback(error, result);
      } finally {
        this.asyncEnd.publish(context);
      }
    };
    return this.start.runStores(context, () => {
      try {
        return Reflect.apply(run, self, args);
      } finally {
        this.end.publish(context);
      }
    });
  }
}

module.exports = {
  channel, Channel,
  hasSubscribers: (name) => channels.get(name)?.hasSubscribers ?? false,
  subscribe: (name, subscriber) => channel(name).subscribe(subscriber),
  unsubscribe: (name, subscriber) => channel(name).unsubscribe(subscriber),
  tracingChannel: (name) => new TracingChannel(name),
};
