// How globals come to be: each group is one function that runs at its first touch, because a fresh context is
// made for every call and most calls use few of them.

const loaders = list();

// An array without a prototype: writing to an index, or JSON.stringify, meets nothing that a script patched.
function list() {
  return setPrototypeOf([], null);
}

function pair(name, value) {
  return setPrototypeOf([name, value], null);
}

function push(target, item) {
  target[target.length] = item;
}

// Turns a list into the ordinary array that callers expect.
function asArray(items) {
  return setPrototypeOf(items, arrayPrototype);
}

function once(make) {
  let made;
  return () => (made ??= make());
}

function hidden(target, key, value) {
  tryDefine(target, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  return value;
}

// Names are global properties as the Web IDL defines them (writable, configurable, not enumerable); until the
// first read they are accessors that replace themselves.
function lazyGlobals(load, ...names) {
  push(loaders, { __proto__: null, load, names });
  // One descriptor serves all names: this is the work that every fresh context does.
  const accessor = { __proto__: null, get: undefined, set: undefined, enumerable: false, configurable: true };
  for (let i = 0; i < names.length; i++) {
    const name = names[i];
    accessor.get = () => hidden(global, name, load()[name]);
    accessor.set = (value) => void hidden(global, name, value);
    defineProperty(global, name, accessor);
  }
}

// Makes every global now: for an image of a context that is made once and copied for each call.
function warm() {
  for (let i = 0; i < loaders.length; i++) {
    const { load, names } = loaders[i];
    const made = load();
    for (let j = 0; j < names.length; j++) hidden(global, names[j], made[names[j]]);
  }
}

// Prototypes of the prelude's own classes, with what the console shows of an instance.
const platform = new Map();

// Gives a class the shape of a Web IDL interface: enumerable members and a string tag.
function expose(Class, tag, describe) {
  enumerate(Class);
  enumerate(Class.prototype);
  defineProperty(Class.prototype, toStringTag, { __proto__: null, value: tag, configurable: true });
  mapSet(platform, Class.prototype, { __proto__: null, tag, describe });
  return Class;
}

function enumerate(target) {
  const keys = ownKeys(target);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (typeof key === "symbol" || key === "constructor" || key === "prototype" || key === "name" || key === "length") continue;
    defineProperty(target, key, { __proto__: null, enumerable: true });
  }
}

function constants(Class, values) {
  const names = ownKeys(values);
  for (let i = 0; i < names.length; i++) {
    const descriptor = { __proto__: null, value: values[names[i]], enumerable: true };
    defineProperty(Class, names[i], descriptor);
    defineProperty(Class.prototype, names[i], descriptor);
  }
}

// Web IDL §3.6: too few arguments are a TypeError.
function needs(count, given, what) {
  if (given < count) throw new TypeError(`${what}: ${count} argument${count > 1 ? "s" : ""} required, but only ${given} present`);
}

function isObject(value) {
  return value !== null && (typeof value === "object" || typeof value === "function");
}

// A Web IDL dictionary: undefined and null are the empty one.
function dictionary(value, what) {
  if (value === undefined || value === null) return { __proto__: null };
  if (!isObject(value)) throw new TypeError(`${what} must be an object`);
  return value;
}

// Web IDL's USVString: lone surrogates become U+FFFD.
function usv(value) {
  return toWellFormed(`${value}`);
}
