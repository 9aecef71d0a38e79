// What a value really is, by its brand: tags and constructors can pretend.
"use strict";

const getter = (prototype, key) => Object.getOwnPropertyDescriptor(prototype, key).get;
const typedTag = getter(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag);

// Whether reading an internal slot works.
const branded = (read, ...args) => (value) => {
  if (value === null || typeof value !== "object") return false;
  try {
    read.apply(value, args);
    return true;
  } catch {
    return false;
  }
};

const isMap = branded(getter(Map.prototype, "size"));
const isSet = branded(getter(Set.prototype, "size"));
const isWeakMap = branded(WeakMap.prototype.has, {});
const isWeakSet = branded(WeakSet.prototype.has, {});
const isDate = branded(Date.prototype.getTime);
const isArrayBuffer = branded(getter(ArrayBuffer.prototype, "byteLength"));
const isDataView = (value) => ArrayBuffer.isView(value) && typedTag.call(value) === undefined;
const isNumberObject = branded(Number.prototype.valueOf);
const isStringObject = branded(String.prototype.valueOf);
const isBooleanObject = branded(Boolean.prototype.valueOf);
const isSymbolObject = branded(Symbol.prototype.valueOf);
const isBigIntObject = branded(BigInt.prototype.valueOf);
const regexSource = getter(RegExp.prototype, "source");
const isRegExp = (value) => value !== RegExp.prototype && branded(regexSource)(value);
const isBoxedPrimitive = (value) => isNumberObject(value) || isStringObject(value) || isBooleanObject(value) || isBigIntObject(value) || isSymbolObject(value);

// No slot of these can be read: their own tag, or their chain, has to do.
const tagOf = (value) => Object.prototype.toString.call(value);
const isObject = (value) => value !== null && typeof value === "object";
const isNativeError = (value) => (typeof Error.isError === "function" ? Error.isError(value) : isObject(value) && (value instanceof Error || tagOf(value) === "[object Error]"));
const isPromise = (value) => isObject(value) && value instanceof Promise;
const isArgumentsObject = (value) => isObject(value) && !(Symbol.toStringTag in value) && tagOf(value) === "[object Arguments]";
const isGeneratorObject = (value) => isObject(value) && (tagOf(value) === "[object Generator]" || tagOf(value) === "[object AsyncGenerator]");
const isMapIterator = (value) => isObject(value) && tagOf(value) === "[object Map Iterator]";
const isSetIterator = (value) => isObject(value) && tagOf(value) === "[object Set Iterator]";
const isModuleNamespaceObject = (value) => isObject(value) && Object.getPrototypeOf(value) === null && tagOf(value) === "[object Module]";

const AsyncFunction = (async () => {}).constructor;
const GeneratorFunction = function* () {}.constructor;
const AsyncGeneratorFunction = async function* () {}.constructor;
const isAsyncFunction = (value) => typeof value === "function" && (value instanceof AsyncFunction || value instanceof AsyncGeneratorFunction);
const isGeneratorFunction = (value) => typeof value === "function" && (value instanceof GeneratorFunction || value instanceof AsyncGeneratorFunction);

const types = {
  isExternal: () => false,
  isDate, isArgumentsObject, isBigIntObject, isBooleanObject, isNumberObject, isStringObject, isSymbolObject, isBoxedPrimitive, isNativeError, isRegExp,
  isAsyncFunction, isGeneratorFunction, isGeneratorObject, isPromise, isMap, isSet, isMapIterator, isSetIterator, isWeakMap, isWeakSet, isArrayBuffer, isDataView,
  isSharedArrayBuffer: () => false,
  // The engine does not tell a proxy from its target.
  isProxy: () => false,
  isModuleNamespaceObject,
  isAnyArrayBuffer: isArrayBuffer,
  isArrayBufferView: ArrayBuffer.isView,
  isTypedArray: (value) => ArrayBuffer.isView(value) && typedTag.call(value) !== undefined,
  isCryptoKey: () => false,
  isKeyObject: () => false,
};
for (const name of ["Uint8Array", "Uint8ClampedArray", "Uint16Array", "Uint32Array", "Int8Array", "Int16Array", "Int32Array", "Float16Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array"]) {
  types[`is${name}`] = (value) => ArrayBuffer.isView(value) && typedTag.call(value) === name;
}

module.exports = types;
