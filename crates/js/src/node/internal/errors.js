// Errors in Node's own words and with its codes: libraries compare both.
"use strict";

function coded(Base, code, message) {
  const error = new Base(message);
  error.code = code;
  return error;
}

// What a message says of a value that was not expected.
function received(value) {
  if (value === undefined || value === null) return ` Received ${value}`;
  if (typeof value === "function") return value.name ? ` Received function ${value.name}` : " Received function ";
  if (typeof value === "object") {
    if (value.constructor?.name) return ` Received an instance of ${value.constructor.name}`;
    return ` Received ${require("internal/inspect").inspect(value, { depth: -1 })}`;
  }
  const shown = require("internal/inspect").inspect(value, { colors: false });
  return ` Received type ${typeof value} (${shown.length > 28 ? `${shown.slice(0, 25)}...` : shown})`;
}

const primitives = ["string", "function", "number", "object", "Function", "Object", "boolean", "bigint", "symbol"];

// "of type string or an instance of Buffer or URL", from a list of names.
function kinds(expected) {
  const types = [];
  const classes = [];
  const others = [];
  for (const name of expected) {
    if (primitives.includes(name)) types.push(name.toLowerCase());
    else if (/^([A-Z][a-z0-9]*)+$/.test(name)) classes.push(name);
    else others.push(name);
  }
  // An object is an instance of something as soon as classes are named too.
  if (classes.length > 0 && types.includes("object")) {
    types.splice(types.indexOf("object"), 1);
    classes.push("Object");
  }
  const parts = [];
  if (types.length > 0) parts.push(`${types.length > 1 ? "one of type" : "of type"} ${orList(types)}`);
  if (classes.length > 0) parts.push(`an instance of ${orList(classes)}`);
  if (others.length > 0) parts.push(others.length > 1 ? `one of ${orList(others)}` : `${/[A-Z]/.test(others[0]) ? "an " : ""}${others[0]}`);
  return parts.join(" or ");
}

function orList(names) {
  if (names.length < 3) return names.join(" or ");
  return `${names.slice(0, -1).join(", ")}, or ${names[names.length - 1]}`;
}

function invalidArgType(name, expected, value) {
  const subject = name.endsWith(" argument") ? `The ${name}` : `The "${name}" ${name.includes(".") ? "property" : "argument"}`;
  return coded(TypeError, "ERR_INVALID_ARG_TYPE", `${subject} must be ${kinds([].concat(expected))}.${received(value)}`);
}

function invalidArgValue(name, value, reason = "is invalid") {
  let shown = require("internal/inspect").inspect(value);
  if (shown.length > 128) shown = `${shown.slice(0, 128)}...`;
  return coded(TypeError, "ERR_INVALID_ARG_VALUE", `The ${name.includes(".") ? "property" : "argument"} '${name}' ${reason}. Received ${shown}`);
}

function outOfRange(name, range, value) {
  let shown;
  if (Number.isInteger(value) && Math.abs(value) > 2 ** 32) shown = grouped(String(value));
  else if (typeof value === "bigint") shown = `${value > 2n ** 32n || value < -(2n ** 32n) ? grouped(String(value)) : value}n`;
  else shown = require("internal/inspect").inspect(value);
  return coded(RangeError, "ERR_OUT_OF_RANGE", `The value of "${name}" is out of range. It must be ${range}. Received ${shown}`);
}

// 4_294_967_296, as Node prints numbers that are too large.
function grouped(digits) {
  return digits.replace(/\B(?=(\d{3})+$)/g, "_");
}

function checkString(value, name) {
  if (typeof value !== "string") throw invalidArgType(name, "string", value);
}

function checkFunction(value, name) {
  if (typeof value !== "function") throw invalidArgType(name, "function", value);
}

function checkObject(value, name) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw invalidArgType(name, "Object", value);
}

function checkNumber(value, name, min, max) {
  if (typeof value !== "number") throw invalidArgType(name, "number", value);
  if ((min !== undefined && value < min) || (max !== undefined && value > max) || ((min !== undefined || max !== undefined) && Number.isNaN(value))) {
    const range = [min === undefined ? "" : `>= ${min}`, max === undefined ? "" : `<= ${max}`].filter(Boolean).join(" && ");
    throw outOfRange(name, range, value);
  }
}

function checkInteger(value, name, min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER) {
  if (typeof value !== "number") throw invalidArgType(name, "number", value);
  if (!Number.isInteger(value)) throw outOfRange(name, "an integer", value);
  if (value < min || value > max) throw outOfRange(name, `>= ${min} && <= ${max}`, value);
}

function checkSignal(value, name) {
  if (value !== undefined && (value === null || typeof value !== "object" || !("aborted" in value))) throw invalidArgType(name, "AbortSignal", value);
}

class AbortError extends Error {
  constructor(message = "The operation was aborted", options = undefined) {
    super(message, options);
    this.code = "ABORT_ERR";
    this.name = "AbortError";
  }
}

// The whole story for what cannot work in here: what was asked for, why not, and what to do.
function unavailable(what) {
  return coded(
    Error,
    "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
    `${what} is not available in the sandbox (Pinza's embedded engine). Set "runtime": "node" in module.json to run this library in Node.`,
  );
}

// Functions under their documented names that say so when they are used. They can be constructed and extended,
// because libraries write `class Mine extends net.Socket` while they load and never use it.
function stubs(builtin, names, target = {}) {
  for (const name of names) target[name] ??= stub(`${builtin}.${name}`, name);
  return target;
}

function stub(what, name = what) {
  const made = function () {
    throw unavailable(what);
  };
  Object.defineProperty(made, "name", { value: name, configurable: true });
  return made;
}

// An error of the operating system, as libuv describes them.
const systemErrors = {
  ENOENT: [-2, "no such file or directory"],
  EACCES: [-13, "permission denied"],
  EEXIST: [-17, "file already exists"],
  ENOTDIR: [-20, "not a directory"],
  EISDIR: [-21, "illegal operation on a directory"],
  EINVAL: [-22, "invalid argument"],
  EFBIG: [-27, "file too large"],
  EPERM: [-1, "operation not permitted"],
  EIO: [-5, "i/o error"],
  ENOTEMPTY: [-39, "directory not empty"],
  EBADF: [-9, "bad file descriptor"],
  ETIMEDOUT: [-110, "connection timed out"],
  ECONNREFUSED: [-111, "connection refused"],
};

function systemError(code, syscall, path, cause) {
  const [errno, text] = systemErrors[code];
  const error = new Error(`${code}: ${text}, ${syscall}${path === undefined ? "" : ` '${path}'`}`, cause === undefined ? undefined : { cause });
  Object.assign(error, { errno, code, syscall });
  if (path !== undefined) error.path = path;
  return error;
}

module.exports = {
  coded, invalidArgType, invalidArgValue, outOfRange, checkString, checkFunction, checkObject, checkNumber, checkInteger, checkSignal,
  AbortError, unavailable, stubs, stub, systemError, systemErrors,
};
