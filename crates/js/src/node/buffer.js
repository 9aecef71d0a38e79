// buffer: Buffer as a subclass of Uint8Array, with the encodings and numbers in their own parts.
"use strict";

const { coded, invalidArgType, invalidArgValue, outOfRange, checkNumber, stub } = require("internal/errors");
const { normalize, decode, encode, byteLength: textLength, fitting } = require("internal/encodings");
const { isAnyArrayBuffer, isUint8Array } = require("internal/types");
const { inspect } = require("internal/inspect");

const { Blob, File, atob, btoa } = internal.global;
const kMaxLength = 2 ** 32;
const kStringMaxLength = 2 ** 29 - 24;

class FastBuffer extends Uint8Array {}

// Old packages call it without `new`, so it cannot be a class.
function Buffer(value, encodingOrOffset, length) {
  if (typeof value !== "number") return Buffer.from(value, encodingOrOffset, length);
  if (typeof encodingOrOffset === "string") throw invalidArgType("string", "string", value);
  return Buffer.alloc(value);
}
Object.setPrototypeOf(Buffer, Uint8Array);
Buffer.prototype = FastBuffer.prototype;
Object.defineProperty(Buffer.prototype, "constructor", { value: Buffer, writable: true, configurable: true });
Object.defineProperty(Buffer, Symbol.species, { get: () => FastBuffer, configurable: true });

function known(encoding) {
  const name = normalize(encoding);
  if (name === undefined) throw coded(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
  return name;
}

// The same memory as another view or buffer.
function over(view) {
  return new FastBuffer(view.buffer, view.byteOffset, view.byteLength);
}

Buffer.poolSize = 8192;

Buffer.from = function from(value, encodingOrOffset, length) {
  if (typeof value === "string") return fromText(value, encodingOrOffset);
  if (typeof value === "object" && value !== null) {
    if (isAnyArrayBuffer(value)) return fromArrayBuffer(value, encodingOrOffset, length);
    const inner = value.valueOf?.();
    if (inner !== undefined && inner !== null && inner !== value && (typeof inner === "string" || typeof inner === "object")) return from(inner, encodingOrOffset, length);
    const made = fromObject(value);
    if (made !== undefined) return made;
    if (typeof value[Symbol.toPrimitive] === "function") {
      const text = value[Symbol.toPrimitive]("string");
      if (typeof text === "string") return fromText(text, encodingOrOffset);
    }
  }
  throw invalidArgType("first argument", ["string", "Buffer", "ArrayBuffer", "Array", "Array-like Object"], value);
};

function fromText(text, encoding) {
  const name = typeof encoding === "string" ? known(encoding) : "utf8";
  return text === "" ? new FastBuffer() : over(encode(text, name));
}

function fromArrayBuffer(buffer, offset, length) {
  offset = offset === undefined ? 0 : +offset || 0;
  const room = buffer.byteLength - offset;
  if (room < 0) throw coded(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", '"offset" is outside of buffer bounds');
  length = length === undefined ? room : Math.max(0, +length || 0);
  if (length > room) throw coded(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", '"length" is outside of buffer bounds');
  return new FastBuffer(buffer, offset, length);
}

function fromObject(value) {
  if (value.length !== undefined || isAnyArrayBuffer(value.buffer)) return typeof value.length === "number" ? fromList(value) : new FastBuffer();
  if (value.type === "Buffer" && Array.isArray(value.data)) return fromList(value.data);
  return undefined;
}

function fromList(list) {
  if (list.length <= 0) return new FastBuffer();
  const made = new FastBuffer(list.length);
  if (ArrayBuffer.isView(list)) made.set(list);
  else for (let at = 0; at < made.length; at++) made[at] = list[at];
  return made;
}

Buffer.copyBytesFrom = function copyBytesFrom(view, offset = 0, length = undefined) {
  if (!ArrayBuffer.isView(view) || view instanceof DataView) throw invalidArgType("view", "TypedArray", view);
  const part = view.subarray(offset, length === undefined ? undefined : offset + length);
  return Buffer.from(part.buffer.slice(part.byteOffset, part.byteOffset + part.byteLength));
};

Buffer.of = function of(...items) {
  return fromList(items);
};

Buffer.alloc = function alloc(size, fill, encoding) {
  checkNumber(size, "size", 0, kMaxLength);
  const made = new FastBuffer(size);
  if (fill === undefined || fill === 0) return made;
  return made.fill(fill, typeof encoding === "string" ? encoding : undefined);
};
Buffer.allocUnsafe = function allocUnsafe(size) {
  return Buffer.alloc(size);
};
Buffer.allocUnsafeSlow = function allocUnsafeSlow(size) {
  return Buffer.alloc(size);
};

Buffer.isBuffer = function isBuffer(value) {
  return value instanceof Buffer;
};

Buffer.isEncoding = function isEncoding(encoding) {
  return typeof encoding === "string" && encoding !== "" && normalize(encoding) !== undefined;
};

Buffer.byteLength = function byteLength(value, encoding) {
  if (typeof value === "string") return textLength(value, normalize(encoding) ?? "utf8");
  if (ArrayBuffer.isView(value) || isAnyArrayBuffer(value)) return value.byteLength;
  throw invalidArgType("string", ["string", "Buffer", "ArrayBuffer"], value);
};

Buffer.compare = function compare(a, b) {
  if (!isUint8Array(a)) throw invalidArgType("buf1", ["Buffer", "Uint8Array"], a);
  if (!isUint8Array(b)) throw invalidArgType("buf2", ["Buffer", "Uint8Array"], b);
  return order(a, b);
};

function order(a, b) {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) if (a[at] !== b[at]) return a[at] < b[at] ? -1 : 1;
  return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
}

Buffer.concat = function concat(list, length) {
  if (!Array.isArray(list)) throw invalidArgType("list", "Array", list);
  list.forEach((item, at) => {
    if (!isUint8Array(item)) throw invalidArgType(`list[${at}]`, ["Buffer", "Uint8Array"], item);
  });
  const total = length === undefined ? list.reduce((sum, item) => sum + item.length, 0) : length;
  checkNumber(total, "length", 0, kMaxLength);
  const made = new FastBuffer(total);
  let at = 0;
  for (const item of list) {
    if (at >= total) break;
    made.set(at + item.length > total ? item.subarray(0, total - at) : item, at);
    at += item.length;
  }
  return made;
};

// A position as slice() takes it: relative to the end if negative, never outside.
function position(value, length) {
  value = Math.trunc(+value) || 0;
  return value < 0 ? Math.max(0, value + length) : Math.min(value, length);
}

function clamp(value, fallback, length) {
  if (value === undefined) return fallback;
  value = Math.trunc(+value) || 0;
  return Math.min(Math.max(0, value), length);
}

const methods = {
  toString(encoding, start, end) {
    if (arguments.length === 0) return decode(this, "utf8");
    return decode(this, known(encoding), clamp(start, 0, this.length), clamp(end, this.length, this.length));
  },

  toJSON() {
    return { type: "Buffer", data: Array.from(this) };
  },

  equals(other) {
    if (!isUint8Array(other)) throw invalidArgType("otherBuffer", ["Buffer", "Uint8Array"], other);
    return this === other || (this.length === other.length && order(this, other) === 0);
  },

  compare(target, targetStart = 0, targetEnd = undefined, start = 0, end = undefined) {
    if (!isUint8Array(target)) throw invalidArgType("target", ["Buffer", "Uint8Array"], target);
    const bounds = { targetStart: [targetStart, 2 ** 53 - 1], sourceStart: [start, 2 ** 53 - 1], targetEnd: [targetEnd ?? target.length, target.length], sourceEnd: [end ?? this.length, this.length] };
    for (const [name, [value, high]] of Object.entries(bounds)) if (value < 0 || value > high) throw outOfRange(name, `>= 0 && <= ${high}`, value);
    return order(this.subarray(start, Math.max(start, end ?? this.length)), target.subarray(targetStart, Math.max(targetStart, targetEnd ?? target.length)));
  },

  copy(target, targetStart = 0, start = 0, end = this.length) {
    if (!isUint8Array(target)) throw invalidArgType("target", ["Buffer", "Uint8Array"], target);
    const to = whole(targetStart, "targetStart");
    const from = whole(start, "sourceStart");
    if (from > this.length) throw outOfRange("sourceStart", `>= 0 && <= ${this.length}`, from);
    const until = Math.min(whole(end, "sourceEnd"), this.length);
    if (to >= target.length || from >= until) return 0;
    const part = this.subarray(from, Math.min(until, from + target.length - to));
    Uint8Array.prototype.set.call(target, part, to);
    return part.length;
  },

  // Unlike Uint8Array's, this shares the memory.
  slice(start = 0, end = this.length) {
    const from = position(start, this.length);
    const until = end === undefined ? this.length : position(end, this.length);
    return new FastBuffer(this.buffer, this.byteOffset + from, Math.max(0, until - from));
  },

  write(text, offset, length, encoding) {
    if (typeof text !== "string") throw coded(TypeError, "ERR_INVALID_ARG_TYPE", "argument must be a string");
    if (typeof offset === "string") [encoding, offset, length] = [offset, undefined, undefined];
    else if (typeof length === "string") [encoding, length] = [length, undefined];
    offset = within(offset ?? 0, "offset", this.length);
    const room = this.length - offset;
    length = length === undefined ? room : Math.min(within(length, "length", this.length), room);
    return writeText(this, text, offset, length, known(encoding));
  },

  fill(value, start, end, encoding) {
    if (typeof start === "string") [encoding, start, end] = [start, undefined, undefined];
    else if (typeof end === "string") [encoding, end] = [end, undefined];
    start = within(start ?? 0, "offset", kMaxLength);
    end = end === undefined ? this.length : within(end, "end", this.length);
    if (start >= end) return this;
    if (typeof value === "string") {
      const bytes = encode(value, known(encoding));
      if (value.length > 0 && bytes.length === 0) throw invalidArgValue("value", value);
      if (bytes.length > 1) return repeat(this, bytes, start, end);
      value = bytes.length === 0 ? 0 : bytes[0];
    } else if (isUint8Array(value)) {
      if (value.length === 0) throw invalidArgValue("value", value);
      return repeat(this, value, start, end);
    }
    Uint8Array.prototype.fill.call(this, typeof value === "boolean" ? +value : value & 255, start, end);
    return this;
  },

  indexOf(value, offset, encoding) {
    return search(this, value, offset, encoding, true);
  },
  lastIndexOf(value, offset, encoding) {
    return search(this, value, offset, encoding, false);
  },
  includes(value, offset, encoding) {
    return this.indexOf(value, offset, encoding) !== -1;
  },

  swap16() {
    return swapped(this, 2, "16-bits");
  },
  swap32() {
    return swapped(this, 4, "32-bits");
  },
  swap64() {
    return swapped(this, 8, "64-bits");
  },

  [inspect.custom](depth, options) {
    const shown = Math.min(exports.INSPECT_MAX_BYTES, this.length);
    let text = Array.from(this.subarray(0, shown), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const more = this.length - shown;
    if (more > 0) text += ` ... ${more} more byte${more > 1 ? "s" : ""}`;
    const own = Object.keys(this).filter((key) => !/^\d+$/.test(key));
    const rest = own.map((key) => `${key}: ${inspect(this[key], { ...options, depth: 0 })}`);
    return `<${this.constructor.name} ${[text, ...rest].filter(Boolean).join(rest.length > 0 ? ", " : "")}>`;
  },
};
methods.toLocaleString = methods.toString;

function whole(value, name) {
  value = Math.trunc(+value) || 0;
  if (value < 0) throw outOfRange(name, ">= 0", value);
  return value;
}

function within(value, name, high) {
  if (typeof value !== "number") throw invalidArgType(name, "number", value);
  if (!Number.isInteger(value)) throw outOfRange(name, "an integer", value);
  if (value < 0 || value > high) throw outOfRange(name, `>= 0 && <= ${high}`, value);
  return value;
}

function writeText(buffer, text, offset, length, encoding) {
  const bytes = encode(text, encoding);
  const count = fitting(bytes, encoding, length);
  buffer.set(count === bytes.length ? bytes : bytes.subarray(0, count), offset);
  return count;
}

function repeat(buffer, bytes, start, end) {
  // A copy, since the pattern may lie in the buffer itself.
  bytes = Uint8Array.prototype.slice.call(bytes);
  for (let at = start; at < end; at += bytes.length) buffer.set(at + bytes.length > end ? bytes.subarray(0, end - at) : bytes, at);
  return buffer;
}

function search(buffer, value, offset, encoding, forward) {
  if (typeof offset === "string") [encoding, offset] = [offset, undefined];
  if (typeof value === "number") value = value & 255;
  else if (typeof value === "string") value = encode(value, known(encoding));
  else if (!isUint8Array(value)) throw invalidArgType("value", ["number", "string", "Buffer", "Uint8Array"], value);
  offset = +offset;
  if (Number.isNaN(offset)) offset = forward ? 0 : buffer.length;
  offset = Math.trunc(offset);
  if (offset < 0) offset += buffer.length;
  if (offset < 0 && !forward) return -1;
  offset = Math.max(0, offset);
  if (typeof value === "number") return Uint8Array.prototype[forward ? "indexOf" : "lastIndexOf"].call(buffer, value, offset);
  const step = normalize(encoding) === "utf16le" && value.length % 2 === 0 ? 2 : 1;
  return forward ? searchForward(buffer, value, offset, step) : searchBack(buffer, value, offset, step);
}

function searchForward(buffer, bytes, from, step) {
  if (bytes.length === 0) return Math.min(from, buffer.length);
  const last = buffer.length - bytes.length;
  for (let at = from; at <= last; at++) {
    at = Uint8Array.prototype.indexOf.call(buffer, bytes[0], at);
    if (at < 0 || at > last) return -1;
    if (at % step === 0 && matches(buffer, bytes, at)) return at;
  }
  return -1;
}

function searchBack(buffer, bytes, from, step) {
  if (bytes.length === 0) return Math.min(from, buffer.length);
  for (let at = Math.min(from, buffer.length - bytes.length); at >= 0; at--) if (at % step === 0 && matches(buffer, bytes, at)) return at;
  return -1;
}

function matches(buffer, bytes, at) {
  for (let i = 0; i < bytes.length; i++) if (buffer[at + i] !== bytes[i]) return false;
  return true;
}

function swapped(buffer, size, name) {
  if (buffer.length % size !== 0) throw coded(RangeError, "ERR_INVALID_BUFFER_SIZE", `Buffer size must be a multiple of ${name}`);
  for (let at = 0; at < buffer.length; at += size) Uint8Array.prototype.reverse.call(buffer.subarray(at, at + size));
  return buffer;
}

for (const key of Reflect.ownKeys(methods)) Object.defineProperty(Buffer.prototype, key, { value: methods[key], writable: true, enumerable: typeof key === "string", configurable: true });
require("internal/buffer_numbers").install(Buffer.prototype);

// Packages that want to be fast call the encodings by name.
for (const [name, encoding] of [["ascii", "ascii"], ["base64", "base64"], ["base64url", "base64url"], ["latin1", "latin1"], ["hex", "hex"], ["ucs2", "utf16le"], ["utf8", "utf8"]]) {
  Buffer.prototype[`${name}Slice`] = function (start, end) {
    return decode(this, encoding, clamp(start, 0, this.length), clamp(end, this.length, this.length));
  };
  Buffer.prototype[`${name}Write`] = function (text, offset = 0, length = this.length - offset) {
    return writeText(this, text, offset, Math.min(length, this.length - offset), encoding);
  };
}

Object.defineProperty(Buffer.prototype, "parent", { get() { return this instanceof Buffer ? this.buffer : undefined; }, enumerable: true, configurable: true });
Object.defineProperty(Buffer.prototype, "offset", { get() { return this instanceof Buffer ? this.byteOffset : undefined; }, enumerable: true, configurable: true });

function SlowBuffer(size) {
  return Buffer.allocUnsafeSlow(size);
}
Object.setPrototypeOf(SlowBuffer.prototype, Uint8Array.prototype);
Object.setPrototypeOf(SlowBuffer, Uint8Array);

function transcode(source, from, to) {
  const [a, b] = [normalize(from), normalize(to)];
  if (a === undefined || b === undefined) throw coded(Error, "U_ILLEGAL_ARGUMENT_ERROR", "Unable to transcode Buffer [U_ILLEGAL_ARGUMENT_ERROR]");
  const text = decode(source, a);
  // What the target cannot hold is a question mark.
  if (b === "ascii" || b === "latin1") return Buffer.from(text.replace(b === "ascii" ? /[^\x00-\x7f]/gu : /[^\x00-\xff]/gu, "?"), b);
  return Buffer.from(text, b);
}

function bytesOf(value) {
  if (ArrayBuffer.isView(value)) return over(value);
  if (isAnyArrayBuffer(value)) return new FastBuffer(value);
  throw invalidArgType("input", ["ArrayBuffer", "Buffer", "TypedArray"], value);
}

function isUtf8(value) {
  const bytes = bytesOf(value);
  return Buffer.from(decode(bytes, "utf8"), "utf8").equals(bytes);
}

function isAscii(value) {
  return bytesOf(value).every((byte) => byte < 128);
}

Object.assign(exports, {
  Buffer, SlowBuffer, transcode, isUtf8, isAscii, kMaxLength, kStringMaxLength, btoa, atob, Blob, File,
  constants: { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: kStringMaxLength },
  INSPECT_MAX_BYTES: 50,
  resolveObjectURL: stub("buffer.resolveObjectURL"),
});
