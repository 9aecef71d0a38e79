// MessageChannel, MessagePort and BroadcastChannel (HTML §9.4, §9.5) inside one engine, and the events that carry their messages.
"use strict";

const { Event, EventTarget, structuredClone } = internal.global;
const ours = Symbol("made by the channel");

class MessageEvent extends Event {
  #init;
  constructor(type, init = {}) {
    super(type, init);
    this.#init = init;
  }
  get data() { return this.#init.data ?? null; }
  get origin() { return this.#init.origin ?? ""; }
  get lastEventId() { return this.#init.lastEventId ?? ""; }
  get source() { return this.#init.source ?? null; }
  get ports() { return this.#init.ports ?? []; }
}

class CustomEvent extends Event {
  #detail;
  constructor(type, init = {}) {
    super(type, init);
    this.#detail = init?.detail ?? null;
  }
  get detail() { return this.#detail; }
}

// An event target with `onmessage`, and with the emitter's names that Node gives to ports.
class Port extends EventTarget {
  #handler = null;
  #wrapped = new Map();

  get onmessage() { return this.#handler; }
  set onmessage(handler) {
    if (this.#handler === null) this.addEventListener("message", (event) => this.#handler?.call(this, event));
    this.#handler = typeof handler === "function" ? handler : null;
    this.start?.();
  }

  on(type, listener) {
    const wrapped = (event) => listener(type === "message" ? event.data : event);
    this.#wrapped.set(listener, wrapped);
    this.addEventListener(type, wrapped);
    if (type === "message") this.start?.();
    return this;
  }
  once(type, listener) {
    const once = (data) => {
      this.off(type, once);
      listener(data);
    };
    return this.on(type, once);
  }
  off(type, listener) {
    this.removeEventListener(type, this.#wrapped.get(listener) ?? listener);
    return this;
  }
  addListener(type, listener) { return this.on(type, listener); }
  removeListener(type, listener) { return this.off(type, listener); }
  ref() { return this; }
  unref() { return this; }
  hasRef() { return false; }
}

class MessagePort extends Port {
  #other;
  #waiting = [];
  #started = false;
  #closed = false;

  constructor(key) {
    if (key !== ours) throw require("internal/errors").coded(TypeError, "ERR_CONSTRUCT_CALL_INVALID", "Constructor cannot be called");
    super();
  }

  postMessage(message, options) {
    const data = structuredClone(message, Array.isArray(options) ? { transfer: options } : options);
    const other = this.#other;
    if (this.#closed || other.#closed) return;
    other.#waiting.push(data);
    if (other.#started) other.#deliver();
  }

  start() {
    if (this.#started) return;
    this.#started = true;
    if (this.#waiting.length > 0) this.#deliver();
  }

  // Each message in a turn of its own.
  #deliver() {
    internal.global.setTimeout(() => {
      if (this.#closed || this.#waiting.length === 0) return;
      this.dispatchEvent(new MessageEvent("message", { data: this.#waiting.shift() }));
    }, 0);
  }

  close() {
    for (const port of [this, this.#other]) {
      if (port.#closed) continue;
      port.#closed = true;
      queueMicrotask(() => port.dispatchEvent(new Event("close")));
    }
  }

  static join(a, b) {
    a.#other = b;
    b.#other = a;
  }
}
const { join } = MessagePort;
delete MessagePort.join;

class MessageChannel {
  constructor() {
    this.port1 = new MessagePort(ours);
    this.port2 = new MessagePort(ours);
    join(this.port1, this.port2);
  }
}

const rooms = new Map();

class BroadcastChannel extends Port {
  constructor(name) {
    super();
    this.name = `${name}`;
    if (!rooms.has(this.name)) rooms.set(this.name, new Set());
    rooms.get(this.name).add(this);
  }
  postMessage(message) {
    for (const member of rooms.get(this.name) ?? []) {
      const data = structuredClone(message);
      if (member !== this) internal.global.setTimeout(() => member.dispatchEvent(new MessageEvent("message", { data })), 0);
    }
  }
  close() {
    rooms.get(this.name)?.delete(this);
  }
}

module.exports = { MessageChannel, MessagePort, BroadcastChannel, MessageEvent, CustomEvent };
