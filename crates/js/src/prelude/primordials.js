// What the prelude needs of the language, captured before any tool's code runs.
//
// A script may patch every built-in later. So nothing below this file reaches for a prototype's method: it
// calls these captures, keeps its own data in Maps, null-prototype objects and null-prototype lists, and uses
// no spread, no array destructuring and no `for…of` but on what the caller handed in as an iterable.

const { Object, Reflect, Function, Array, String, Number, Boolean, BigInt, Symbol, Math, JSON, Date, RegExp, Proxy } = global;
const { Promise, Map, Set, WeakMap, WeakSet, WeakRef, ArrayBuffer, DataView, Uint8Array, parseInt, parseFloat } = global;
const { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, DOMException } = global;
const { apply, construct, ownKeys, getPrototypeOf, getOwnPropertyDescriptor } = Reflect;
const tryDefine = Reflect.defineProperty;
const { defineProperty, setPrototypeOf } = Object;
const { parse, stringify } = JSON;
const { isArray } = Array;
const { isView } = ArrayBuffer;
const { fromCharCode } = String;
const { floor, min, max } = Math;
const { iterator: symbolIterator, asyncIterator: symbolAsyncIterator, toStringTag } = Symbol;

// Nobody removes a native function: an engine whose state is copied back still leads to it.
Object.freeze(native);

const arrayPrototype = Array.prototype;
const iteratorPrototype = getPrototypeOf(getPrototypeOf([][symbolIterator]()));
const typedPrototype = getPrototypeOf(Uint8Array.prototype);

// uncurry(method)(self, a, b) is self.method(a, b) without looking anything up.
const uncurry = Function.prototype.bind.bind(Function.prototype.call);
const uncurryGetter = (prototype, key) => uncurry(getOwnPropertyDescriptor(prototype, key).get);

const arraySort = uncurry(arrayPrototype.sort);
const functionToString = uncurry(Function.prototype.toString);

const mapGet = uncurry(Map.prototype.get);
const mapSet = uncurry(Map.prototype.set);
const mapHas = uncurry(Map.prototype.has);
const mapDelete = uncurry(Map.prototype.delete);
const mapForEach = uncurry(Map.prototype.forEach);
const mapSize = uncurryGetter(Map.prototype, "size");
const originGet = uncurry(WeakMap.prototype.get);
const originSet = uncurry(WeakMap.prototype.set);
const setSize = uncurryGetter(Set.prototype, "size");
const setAdd = uncurry(Set.prototype.add);
const setDelete = uncurry(Set.prototype.delete);
const setForEach = uncurry(Set.prototype.forEach);

const charCodeAt = uncurry("".charCodeAt);
const indexOf = uncurry("".indexOf);
const slice = uncurry("".slice);
const repeat = uncurry("".repeat);
const toLowerCase = uncurry("".toLowerCase);
const toUpperCase = uncurry("".toUpperCase);
const toWellFormed = uncurry("".toWellFormed);
const regexExec = uncurry(RegExp.prototype.exec);
const numberToString = uncurry(Number.prototype.toString);
const symbolToString = uncurry(Symbol.prototype.toString);

const typedBuffer = uncurryGetter(typedPrototype, "buffer");
const typedOffset = uncurryGetter(typedPrototype, "byteOffset");
const typedBytes = uncurryGetter(typedPrototype, "byteLength");
const typedLength = uncurryGetter(typedPrototype, "length");
const typedTag = uncurryGetter(typedPrototype, toStringTag);
const typedSet = uncurry(typedPrototype.set);
const viewBuffer = uncurryGetter(DataView.prototype, "buffer");
const viewOffset = uncurryGetter(DataView.prototype, "byteOffset");
const viewBytes = uncurryGetter(DataView.prototype, "byteLength");
const bufferBytes = uncurryGetter(ArrayBuffer.prototype, "byteLength");

const dateValue = uncurry(Date.prototype.getTime);
const dateText = uncurry(Date.prototype.toISOString);
const regexSource = uncurryGetter(RegExp.prototype, "source");
const regexFlags = uncurryGetter(RegExp.prototype, "flags");
const booleanValue = uncurry(Boolean.prototype.valueOf);
const numberValue = uncurry(Number.prototype.valueOf);
const stringValue = uncurry(String.prototype.valueOf);
const bigintValue = uncurry(BigInt.prototype.valueOf);
const bufferTransfer = ArrayBuffer.prototype.transfer && uncurry(ArrayBuffer.prototype.transfer);
const exceptionName = uncurryGetter(DOMException.prototype, "name");
const exceptionMessage = uncurryGetter(DOMException.prototype, "message");

const { Int8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array } = global;
const { Float16Array, Float32Array, Float64Array } = global;

// A stack frame of this engine hands out its function, the prelude's and the native ones too, to whoever sets
// Error.prepareStackTrace: that one method goes.
function hideFunctionsOfFrames() {
  const before = Error.prepareStackTrace;
  Error.prepareStackTrace = (error, frames) => frames;
  const frames = new Error().stack;
  Error.prepareStackTrace = before;
  if (isArray(frames) && frames.length > 0) Reflect.deleteProperty(getPrototypeOf(frames[0]), "getFunction");
}
hideFunctionsOfFrames();
