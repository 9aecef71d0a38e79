// What crypto takes as bytes, and how it hands them out.
"use strict";

const { Buffer } = require("buffer");
const { invalidArgType } = require("internal/errors");
const { isAnyArrayBuffer } = require("internal/types");
const { exact } = require("internal/encodings");

// The bytes of a text, buffer, view or secret key; shared, not copied.
function bytesOf(value, name, encoding, kinds = ["string", "ArrayBuffer", "Buffer", "TypedArray", "DataView"]) {
  if (typeof value === "string") return Buffer.from(value, encoding === "buffer" ? "utf8" : encoding);
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (isAnyArrayBuffer(value)) return Buffer.from(value);
  if (isKey(value)) return value.export();
  throw invalidArgType(name, kinds, value);
}

function isKey(value) {
  return value !== null && typeof value === "object" && value instanceof require("internal/crypto_keys").KeyObject;
}

// An ArrayBuffer of exactly these bytes, as natives take them.
function whole(bytes) {
  return exact(bytes, 0, bytes.length);
}

function answer(buffer, encoding) {
  const bytes = Buffer.from(buffer);
  return encoding === undefined || encoding === null || encoding === "buffer" ? bytes : bytes.toString(encoding);
}

module.exports = { bytesOf, whole, answer };
