// Buffer's methods that read and write numbers, made from tables: the same few for each size, sign and order.
"use strict";

const { coded, invalidArgType, outOfRange, checkInteger } = require("internal/errors");

const scratch = new DataView(new ArrayBuffer(8));

function checkOffset(buffer, offset, size) {
  if (typeof offset !== "number") throw invalidArgType("offset", "number", offset);
  if (Number.isInteger(offset) && offset >= 0 && offset + size <= buffer.length) return;
  if (!Number.isInteger(offset)) throw outOfRange("offset", "an integer", offset);
  if (buffer.length < size) throw coded(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", "Attempt to access memory outside buffer bounds");
  throw outOfRange("offset", `>= 0 and <= ${buffer.length - size}`, offset);
}

function readUnsigned(buffer, offset, size, little) {
  let value = 0;
  for (let at = 0; at < size; at++) value = value * 256 + buffer[little ? offset + size - 1 - at : offset + at];
  return value;
}

function readSigned(buffer, offset, size, little) {
  const value = readUnsigned(buffer, offset, size, little);
  return value >= 2 ** (8 * size - 1) ? value - 2 ** (8 * size) : value;
}

function writeInteger(buffer, value, offset, size, little, signed) {
  value = +value;
  const low = signed ? -(2 ** (8 * size - 1)) : 0;
  const high = 2 ** (8 * size - (signed ? 1 : 0)) - 1;
  if (value > high || value < low) throw outOfRange("value", range(size, signed, low, high), value);
  checkOffset(buffer, offset, size);
  value = Math.trunc(value) || 0;
  if (value < 0) value += 2 ** (8 * size);
  for (let at = 0; at < size; at++) {
    buffer[little ? offset + at : offset + size - 1 - at] = value % 256;
    value = Math.floor(value / 256);
  }
  return offset + size;
}

function range(size, signed, low, high, n = "") {
  if (size <= 4) return `>= ${low} and <= ${high}`;
  if (!signed) return `>= 0${n} and < 2${n} ** ${8 * size}${n}`;
  return `>= -(2${n} ** ${8 * size - 1}${n}) and < 2${n} ** ${8 * size - 1}${n}`;
}

function writeBig(buffer, value, offset, little, signed) {
  if (typeof value !== "bigint") {
    // As Node: the comparison is what fails first.
    if (typeof value !== "number") value = BigInt(value);
    throw new TypeError("Cannot mix BigInt and other types, use explicit conversions");
  }
  const low = signed ? -(2n ** 63n) : 0n;
  const high = signed ? 2n ** 63n - 1n : 2n ** 64n - 1n;
  if (value > high || value < low) throw outOfRange("value", range(8, signed, low, high, "n"), value);
  checkOffset(buffer, offset, 8);
  scratch.setBigUint64(0, BigInt.asUintN(64, value), little);
  for (let at = 0; at < 8; at++) buffer[offset + at] = scratch.getUint8(at);
  return offset + 8;
}

function load(buffer, offset, size) {
  checkOffset(buffer, offset, size);
  for (let at = 0; at < size; at++) scratch.setUint8(at, buffer[offset + at]);
}

function store(buffer, offset, size) {
  checkOffset(buffer, offset, size);
  for (let at = 0; at < size; at++) buffer[offset + at] = scratch.getUint8(at);
  return offset + size;
}

function checkSize(size) {
  if (size === undefined) throw invalidArgType("byteLength", "number", size);
  if (typeof size !== "number") throw invalidArgType("byteLength", "number", size);
  checkInteger(size, "byteLength");
  if (size < 1 || size > 6) throw outOfRange("byteLength", ">= 1 and <= 6", size);
}

function install(prototype) {
  const define = (name, method) => {
    Object.defineProperty(method, "name", { value: name, configurable: true });
    prototype[name] = method;
    // Each unsigned method has two spellings.
    if (name.includes("UInt")) prototype[name.replace("UInt", "Uint")] = method;
  };
  for (const [bits, size] of [[8, 1], [16, 2], [32, 4]]) {
    for (const order of size === 1 ? [""] : ["LE", "BE"]) {
      const little = order === "LE";
      define(`readUInt${bits}${order}`, function (offset = 0) { checkOffset(this, offset, size); return readUnsigned(this, offset, size, little); });
      define(`readInt${bits}${order}`, function (offset = 0) { checkOffset(this, offset, size); return readSigned(this, offset, size, little); });
      define(`writeUInt${bits}${order}`, function (value, offset = 0) { return writeInteger(this, value, offset, size, little, false); });
      define(`writeInt${bits}${order}`, function (value, offset = 0) { return writeInteger(this, value, offset, size, little, true); });
    }
  }
  for (const order of ["LE", "BE"]) {
    const little = order === "LE";
    define(`readUInt${order}`, function (offset, size) { checkSized(offset, size); checkOffset(this, offset, size); return readUnsigned(this, offset, size, little); });
    define(`readInt${order}`, function (offset, size) { checkSized(offset, size); checkOffset(this, offset, size); return readSigned(this, offset, size, little); });
    define(`writeUInt${order}`, function (value, offset, size) { checkSize(size); return writeInteger(this, value, offset, size, little, false); });
    define(`writeInt${order}`, function (value, offset, size) { checkSize(size); return writeInteger(this, value, offset, size, little, true); });
    define(`readBigUInt64${order}`, function (offset = 0) { load(this, offset, 8); return scratch.getBigUint64(0, little); });
    define(`readBigInt64${order}`, function (offset = 0) { load(this, offset, 8); return scratch.getBigInt64(0, little); });
    define(`writeBigUInt64${order}`, function (value, offset = 0) { return writeBig(this, value, offset, little, false); });
    define(`writeBigInt64${order}`, function (value, offset = 0) { return writeBig(this, value, offset, little, true); });
    define(`readFloat${order}`, function (offset = 0) { load(this, offset, 4); return scratch.getFloat32(0, little); });
    define(`readDouble${order}`, function (offset = 0) { load(this, offset, 8); return scratch.getFloat64(0, little); });
    define(`writeFloat${order}`, function (value, offset = 0) { scratch.setFloat32(0, value, little); return store(this, offset, 4); });
    define(`writeDouble${order}`, function (value, offset = 0) { scratch.setFloat64(0, value, little); return store(this, offset, 8); });
  }
}

function checkSized(offset, size) {
  if (offset === undefined) throw invalidArgType("offset", "number", offset);
  checkSize(size);
}

module.exports = { install };
