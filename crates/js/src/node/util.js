// util
"use strict";

const types = require("internal/types");
const { inspect } = require("internal/inspect");
const { stripColors } = require("internal/inspect_text");
const { format, formatWithOptions } = require("internal/format");
const { isDeepStrictEqual } = require("internal/equal");
const { coded, invalidArgType, invalidArgValue, checkFunction, checkString, systemErrors, stubs } = require("internal/errors");

const { TextEncoder, TextDecoder, AbortController, AbortSignal } = internal.global;
const customPromisify = Symbol.for("nodejs.util.promisify.custom");

function inherits(child, parent) {
  if (child === undefined || child === null) throw invalidArgType("ctor", "Function", child);
  if (parent === undefined || parent === null) throw invalidArgType("superCtor", "Function", parent);
  if (parent.prototype === undefined) throw invalidArgType("superCtor.prototype", "Object", parent.prototype);
  Object.defineProperty(child, "super_", { value: parent, writable: true, configurable: true });
  Object.setPrototypeOf(child.prototype, parent.prototype);
}

function promisify(original) {
  checkFunction(original, "original");
  const own = original[customPromisify];
  if (own !== undefined) {
    if (typeof own !== "function") throw invalidArgType("util.promisify.custom", "Function", own);
    return Object.defineProperty(own, customPromisify, { value: own, configurable: true });
  }
  const names = original[Symbol.for("pinza.promisify.names")];
  function promised(...args) {
    return new Promise((resolve, reject) => {
      const answered = original.call(this, ...args, (error, ...values) => {
        if (error) reject(error);
        else if (names !== undefined && values.length > 1) resolve(Object.fromEntries(names.map((name, at) => [name, values[at]])));
        else resolve(values[0]);
      });
      // A promise that the function itself makes must not fail unseen.
      if (types.isPromise(answered)) answered.catch(() => {});
    });
  }
  Object.setPrototypeOf(promised, Object.getPrototypeOf(original));
  Object.defineProperty(promised, customPromisify, { value: promised, configurable: true });
  return Object.defineProperties(promised, Object.getOwnPropertyDescriptors(original));
}
promisify.custom = customPromisify;

function callbackify(original) {
  checkFunction(original, "original");
  function callbackified(...args) {
    const callback = args.pop();
    checkFunction(callback, "last argument");
    original.apply(this, args).then(
      (value) => queueMicrotask(() => callback.call(this, null, value)),
      (error) => queueMicrotask(() => callback.call(this, error || falsy(error))),
    );
  }
  const slots = Object.getOwnPropertyDescriptors(original);
  if (typeof slots.length.value === "number") slots.length.value += 1;
  if (typeof slots.name.value === "string") slots.name.value += "Callbackified";
  return Object.defineProperties(callbackified, slots);
}

function falsy(reason) {
  const error = coded(Error, "ERR_FALSY_VALUE_REJECTION", "Promise was rejected with falsy value");
  error.reason = reason;
  return error;
}

const warned = new Set();

function deprecate(original, message, code) {
  checkFunction(original, "fn");
  let told = false;
  function deprecated(...args) {
    if (!told) {
      told = true;
      if (code === undefined || !warned.has(code)) require("process").emitWarning(message, "DeprecationWarning", code);
      if (code !== undefined) warned.add(code);
    }
    return new.target ? Reflect.construct(original, args, new.target) : Reflect.apply(original, this, args);
  }
  Object.setPrototypeOf(deprecated, original);
  if (original.prototype) deprecated.prototype = original.prototype;
  Object.defineProperty(deprecated, "length", { ...Object.getOwnPropertyDescriptor(original, "length") });
  return deprecated;
}

// NODE_DEBUG is empty in here, so a section is never on.
function debuglog(section) {
  checkString(section, "set");
  const log = () => {};
  return Object.defineProperty(log, "enabled", { get: () => false, configurable: true, enumerable: true });
}

function styleText(style, text) {
  if (typeof text !== "string") throw invalidArgType("text", "string", text);
  let open = "";
  let close = "";
  for (const name of [].concat(style)) {
    const pair = inspect.colors[name];
    if (pair === undefined) throw invalidArgValue("format", name, `must be one of: ${Object.keys(inspect.colors).map((key) => `'${key}'`).join(", ")}`);
    open += `\u001b[${pair[0]}m`;
    close = `\u001b[${pair[1]}m${close}`;
  }
  return `${open}${text}${close}`;
}

function stripVTControlCharacters(text) {
  checkString(text, "str");
  return stripColors(text);
}

function toUSVString(text) {
  return `${text}`.toWellFormed();
}

function getSystemErrorName(errno) {
  return Object.keys(systemErrors).find((code) => systemErrors[code][0] === errno);
}

function getSystemErrorMap() {
  return new Map(Object.entries(systemErrors).map(([code, [errno, text]]) => [errno, [code, text]]));
}

function extend(target, source) {
  return source !== null && typeof source === "object" ? Object.assign(target, source) : target;
}

async function aborted(signal, resource) {
  if (!(signal instanceof AbortSignal)) throw invalidArgType("signal", "AbortSignal", signal);
  if (resource === null || typeof resource !== "object") throw invalidArgType("resource", "object", resource);
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

function transferableAbortController() {
  return new AbortController();
}

const old = {
  isArray: Array.isArray,
  isBoolean: (value) => typeof value === "boolean",
  isBuffer: (value) => require("buffer").Buffer.isBuffer(value),
  isDate: types.isDate,
  isError: (value) => types.isNativeError(value) || value instanceof Error,
  isFunction: (value) => typeof value === "function",
  isNull: (value) => value === null,
  isNullOrUndefined: (value) => value === null || value === undefined,
  isNumber: (value) => typeof value === "number",
  isObject: (value) => value !== null && typeof value === "object",
  isPrimitive: (value) => value === null || (typeof value !== "object" && typeof value !== "function"),
  isRegExp: types.isRegExp,
  isString: (value) => typeof value === "string",
  isSymbol: (value) => typeof value === "symbol",
  isUndefined: (value) => value === undefined,
};

Object.assign(exports, {
  inspect, format, formatWithOptions, inherits, promisify, callbackify, deprecate, debuglog, debug: debuglog, types, isDeepStrictEqual, styleText,
  stripVTControlCharacters, toUSVString, getSystemErrorName, getSystemErrorMap, aborted, TextEncoder, TextDecoder, transferableAbortController,
  transferableAbortSignal: (signal) => signal,
  log: (...args) => console.log(format(...args)),
  getCallSites: (count) => require("internal/call_sites").getCallSites(count),
  _extend: extend,
  ...old,
});
Object.defineProperty(exports, "parseArgs", { enumerable: true, configurable: true, get: () => require("internal/parse_args").parseArgs });
Object.defineProperty(exports, "parseEnv", { enumerable: true, configurable: true, get: () => require("internal/parse_env").parseEnv });
stubs("util", ["MIMEType", "MIMEParams"], exports);
