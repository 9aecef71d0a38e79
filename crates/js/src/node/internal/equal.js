// Whether two values are alike, strictly (same types and prototypes) or as `==` would have it.
"use strict";

const types = require("internal/types");

function isDeepStrictEqual(a, b) {
  return alike(a, b, true, new Map());
}

function isDeepEqual(a, b) {
  return alike(a, b, false, new Map());
}

function alike(a, b, strict, pairs) {
  if (a === b) return a !== 0 || !strict || Object.is(a, b);
  if (!isObject(a) || !isObject(b)) return primitivesAlike(a, b, strict);
  if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  const contents = contentsOf(a, b, strict);
  if (contents === undefined) return false;
  // A pair that is being compared further up is taken as equal.
  if (pairs.get(a) === b) return true;
  const before = pairs.get(a);
  pairs.set(a, b);
  const same = contents(pairs) && propertiesAlike(a, b, strict, pairs);
  if (before === undefined) pairs.delete(a);
  else pairs.set(a, before);
  return same;
}

function isObject(value) {
  return value !== null && typeof value === "object";
}

function primitivesAlike(a, b, strict) {
  if (strict) return (isObject(a) || isObject(b)) ? false : Object.is(a, b);
  if (isObject(a) || isObject(b) || typeof a === "function" || typeof b === "function") return false;
  return a == b || (Number.isNaN(a) && Number.isNaN(b));
}

const always = () => true;

// A function that compares what two objects of the same kind hold; undefined if the kinds or plain contents differ.
function contentsOf(a, b, strict) {
  const tagA = Object.prototype.toString.call(a);
  if (tagA !== Object.prototype.toString.call(b)) return undefined;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length ? always : undefined;
  if (types.isDate(a)) return types.isDate(b) && Object.is(a.getTime(), b.getTime()) ? always : undefined;
  if (types.isRegExp(a)) return types.isRegExp(b) && a.source === b.source && a.flags === b.flags && a.lastIndex === b.lastIndex ? always : undefined;
  if (types.isNativeError(a) || a instanceof Error) {
    if (!(types.isNativeError(b) || b instanceof Error) || a.message !== b.message || a.name !== b.name) return undefined;
    return (pairs) => Object.hasOwn(a, "cause") === Object.hasOwn(b, "cause") && (!Object.hasOwn(a, "cause") || alike(a.cause, b.cause, strict, pairs)) && alike(a.errors, b.errors, strict, pairs);
  }
  if (types.isArrayBuffer(a)) return types.isArrayBuffer(b) && bytesAlike(new Uint8Array(a), new Uint8Array(b)) ? always : undefined;
  if (ArrayBuffer.isView(a)) return ArrayBuffer.isView(b) && viewsAlike(a, b, strict) ? always : undefined;
  if (types.isSet(a)) return types.isSet(b) && a.size === b.size ? (pairs) => setsAlike(a, b, strict, pairs) : undefined;
  if (types.isMap(a)) return types.isMap(b) && a.size === b.size ? (pairs) => mapsAlike(a, b, strict, pairs) : undefined;
  if (types.isBoxedPrimitive(a)) return types.isBoxedPrimitive(b) && Object.is(a.valueOf(), b.valueOf()) ? always : undefined;
  if (types.isDate(b) || types.isRegExp(b) || Array.isArray(b) || types.isSet(b) || types.isMap(b) || types.isBoxedPrimitive(b)) return undefined;
  if (types.isWeakMap(a) || types.isWeakSet(a) || types.isPromise(a)) return undefined;
  if (a instanceof URL || b instanceof URL) return a instanceof URL && b instanceof URL && a.href === b.href ? always : undefined;
  return always;
}

function bytesAlike(a, b) {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

function viewsAlike(a, b, strict) {
  if (a.byteLength !== b.byteLength) return false;
  const floats = types.isFloat32Array(a) || types.isFloat64Array(a);
  if (floats && !strict) return a.every((value, at) => value === b[at]);
  return bytesAlike(new Uint8Array(a.buffer, a.byteOffset, a.byteLength), new Uint8Array(b.buffer, b.byteOffset, b.byteLength));
}

function setsAlike(a, b, strict, pairs) {
  const left = [];
  for (const item of a) if (!b.has(item)) left.push(item);
  if (left.length === 0) return true;
  if (strict && left.some((item) => !isObject(item))) return false;
  const free = [...b].filter((item) => !a.has(item));
  return left.every((item) => {
    const at = free.findIndex((other) => alike(item, other, strict, pairs));
    if (at < 0) return false;
    free.splice(at, 1);
    return true;
  });
}

function mapsAlike(a, b, strict, pairs) {
  const left = [];
  for (const [key, value] of a) {
    if (b.has(key)) {
      if (!alike(value, b.get(key), strict, pairs)) return false;
    } else left.push([key, value]);
  }
  if (left.length === 0) return true;
  const free = [...b].filter(([key]) => !a.has(key));
  return left.every(([key, value]) => {
    const at = free.findIndex(([otherKey, other]) => alike(key, otherKey, strict, pairs) && alike(value, other, strict, pairs));
    if (at < 0) return false;
    free.splice(at, 1);
    return true;
  });
}

function propertiesAlike(a, b, strict, pairs) {
  const keys = keysOf(a, strict);
  if (keys.length !== keysOf(b, strict).length) return false;
  return keys.every((key) => Object.prototype.propertyIsEnumerable.call(b, key) && (ArrayBuffer.isView(a) && /^\d+$/.test(String(key)) ? true : alike(a[key], b[key], strict, pairs)));
}

function keysOf(value, strict) {
  if (ArrayBuffer.isView(value) && !types.isDataView(value)) return Object.keys(value).filter((key) => !/^\d+$/.test(key));
  const keys = Object.keys(value);
  if (!strict) return keys;
  return [...keys, ...Object.getOwnPropertySymbols(value).filter((symbol) => Object.prototype.propertyIsEnumerable.call(value, symbol))];
}

module.exports = { isDeepStrictEqual, isDeepEqual };
