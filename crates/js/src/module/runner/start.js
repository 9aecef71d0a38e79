// What the runner needs of the language, captured when it is evaluated: best before the library is, which may patch it.

const { Object, Reflect, Array, String, Number, Boolean, BigInt, Symbol, JSON, Math, Promise, Map, Set, Error } = globalThis;
const { Function, ArrayBuffer, SharedArrayBuffer, DataView, Uint8Array, Date, RegExp } = globalThis;
const { apply, construct, getPrototypeOf, getOwnPropertyDescriptor, ownKeys } = Reflect;
const { create, keys: keysOf, hasOwn, isFrozen } = Object;
const { stringify } = JSON;
const { isArray } = Array;
const { isView } = ArrayBuffer;
const { isFinite, isInteger } = Number;
const { iterator: symbolIterator, asyncIterator: symbolAsyncIterator, toStringTag } = Symbol;

// uncurry(method)(self, a, b) is self.method(a, b) without looking anything up.
const uncurry = Function.prototype.bind.bind(Function.prototype.call);
const getter = (prototype, key) => uncurry(getOwnPropertyDescriptor(prototype, key).get);
const tagOf = uncurry(Object.prototype.toString);
const sourceOf = uncurry(Function.prototype.toString);
const mapForEach = uncurry(Map.prototype.forEach);
const setForEach = uncurry(Set.prototype.forEach);
const dateValue = uncurry(Date.prototype.getTime);
const dateText = uncurry(Date.prototype.toISOString);
const regexText = uncurry(RegExp.prototype.toString);

// What is wrong with a plan or a result, in our own words. `kind` says what it is about: a `path`, the `init`, a
// `handle`, a `result` that has no JSON form, or its `size`.
class Fault extends Error {
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
}

const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";
const isAbsent = (value) => value === undefined || value === null;

// A property, or undefined where reading it fails.
function read(object, key) {
  try {
    return isAbsent(object) ? undefined : object[key];
  } catch {
    return undefined;
  }
}

// What the function returns, in a box; undefined where it throws.
function attempt(run) {
  try {
    return { value: run() };
  } catch (error) {
    if (isOurs(error)) throw error;
    return undefined;
  }
}

// Looked up with care: what a library throws may be a proxy that throws in turn.
function isA(value, Class) {
  try {
    return value instanceof Class;
  } catch {
    return false;
  }
}

// JSON, as text. A lone half of a surrogate pair is no Unicode, and the reader would refuse it; it is easy to see here,
// because it is all that is escaped in this way.
function jsonText(value) {
  const made = stringify(value);
  return made.includes("\\ud") ? made.replace(/\\(ud[0-9a-f]{3}|.)/g, (whole, escaped) => (escaped.length > 1 ? "\ufffd" : whole)) : made;
}

const isOurs = (error) => isA(error, Fault);
