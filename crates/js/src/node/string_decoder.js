// string_decoder: text out of chunks of bytes that may end inside a character.
"use strict";

const { coded, invalidArgType } = require("internal/errors");
const { normalize, decode } = require("internal/encodings");
const { Buffer } = require("buffer");

function StringDecoder(encoding) {
  if (!(this instanceof StringDecoder)) return new StringDecoder(encoding);
  this.encoding = normalize(encoding);
  if (this.encoding === undefined) throw coded(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
  this._held = Buffer.alloc(0);
}

StringDecoder.prototype.write = function write(chunk) {
  if (typeof chunk === "string") return chunk;
  if (!ArrayBuffer.isView(chunk)) throw invalidArgType("buf", ["Buffer", "TypedArray", "DataView"], chunk);
  let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  if (this._held.length > 0) bytes = Buffer.concat([this._held, bytes]);
  const ready = bytes.length - unfinished(bytes, this.encoding);
  this._held = Buffer.from(bytes.subarray(ready));
  return decode(bytes, this.encoding, 0, ready);
};

StringDecoder.prototype.end = function end(chunk) {
  const text = chunk === undefined ? "" : this.write(chunk);
  const rest = decode(this._held, this.encoding);
  this._held = Buffer.alloc(0);
  return text + rest;
};

StringDecoder.prototype.text = function text(chunk, offset) {
  this._held = Buffer.alloc(0);
  return this.write(chunk.subarray(offset));
};

for (const [name, get] of Object.entries({
  lastChar: (held) => held,
  lastNeed: (held, encoding) => (held.length === 0 ? 0 : encoding === "utf8" ? sizeOf(held[0]) - held.length : encoding === "utf16le" ? 2 - (held.length % 2) : 3 - held.length),
  lastTotal: (held, encoding) => (held.length === 0 ? 0 : encoding === "utf8" ? sizeOf(held[0]) : encoding === "utf16le" ? 2 : 3),
})) {
  Object.defineProperty(StringDecoder.prototype, name, { configurable: true, get() { return get(this._held, this.encoding); } });
}

function sizeOf(byte) {
  if (byte >= 0xc2 && byte < 0xe0) return 2;
  if (byte >= 0xe0 && byte < 0xf0) return 3;
  return byte >= 0xf0 && byte < 0xf5 ? 4 : 1;
}

// How many bytes at the end are the beginning of something that the next chunk completes.
function unfinished(bytes, encoding) {
  if (encoding === "base64" || encoding === "base64url") return bytes.length % 3;
  if (encoding === "utf16le") {
    const odd = bytes.length % 2;
    const last = bytes.length - odd - 2;
    return last >= 0 && (bytes[last + 1] & 0xfc) === 0xd8 ? odd + 2 : odd;
  }
  if (encoding !== "utf8") return 0;
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back];
    if ((byte & 0xc0) === 0x80) continue;
    return sizeOf(byte) > back ? back : 0;
  }
  return 0;
}

module.exports = { StringDecoder };
