// zlib: whole texts at a time. A stream collects what is written and answers at its end.
"use strict";

const { Buffer } = require("buffer");
const { Transform } = require("internal/duplex");
const { coded, invalidArgType, checkFunction, outOfRange, stubs } = require("internal/errors");
const { isAnyArrayBuffer } = require("internal/types");
const { exact } = require("internal/encodings");
const { nextTick } = require("internal/next_tick");
const { promisify } = require("util");

// What the sandbox lends to one text.
const outputLimit = 64 << 20;

const codes = { Z_OK: 0, Z_STREAM_END: 1, Z_NEED_DICT: 2, Z_ERRNO: -1, Z_STREAM_ERROR: -2, Z_DATA_ERROR: -3, Z_MEM_ERROR: -4, Z_BUF_ERROR: -5, Z_VERSION_ERROR: -6 };
const constants = Object.freeze({
  __proto__: null,
  Z_NO_FLUSH: 0, Z_PARTIAL_FLUSH: 1, Z_SYNC_FLUSH: 2, Z_FULL_FLUSH: 3, Z_FINISH: 4, Z_BLOCK: 5, ...codes,
  Z_NO_COMPRESSION: 0, Z_BEST_SPEED: 1, Z_BEST_COMPRESSION: 9, Z_DEFAULT_COMPRESSION: -1, Z_FILTERED: 1, Z_HUFFMAN_ONLY: 2, Z_RLE: 3, Z_FIXED: 4, Z_DEFAULT_STRATEGY: 0,
  ZLIB_VERNUM: 4880, DEFLATE: 1, INFLATE: 2, GZIP: 3, GUNZIP: 4, DEFLATERAW: 5, INFLATERAW: 6, UNZIP: 7, BROTLI_DECODE: 8, BROTLI_ENCODE: 9,
  Z_MIN_WINDOWBITS: 8, Z_MAX_WINDOWBITS: 15, Z_DEFAULT_WINDOWBITS: 15, Z_MIN_CHUNK: 64, Z_MAX_CHUNK: Infinity, Z_DEFAULT_CHUNK: 16384, Z_MIN_MEMLEVEL: 1, Z_MAX_MEMLEVEL: 9,
  Z_DEFAULT_MEMLEVEL: 8, Z_MIN_LEVEL: -1, Z_MAX_LEVEL: 9, Z_DEFAULT_LEVEL: -1, BROTLI_OPERATION_PROCESS: 0, BROTLI_OPERATION_FLUSH: 1, BROTLI_OPERATION_FINISH: 2,
  BROTLI_OPERATION_EMIT_METADATA: 3, BROTLI_PARAM_MODE: 0, BROTLI_MODE_GENERIC: 0, BROTLI_MODE_TEXT: 1, BROTLI_MODE_FONT: 2, BROTLI_DEFAULT_MODE: 0, BROTLI_PARAM_QUALITY: 1,
  BROTLI_MIN_QUALITY: 0, BROTLI_MAX_QUALITY: 11, BROTLI_DEFAULT_QUALITY: 11, BROTLI_PARAM_LGWIN: 2, BROTLI_MIN_WINDOW_BITS: 10, BROTLI_MAX_WINDOW_BITS: 24, BROTLI_DEFAULT_WINDOW: 22,
  BROTLI_PARAM_LGBLOCK: 3, BROTLI_PARAM_SIZE_HINT: 5, BROTLI_PARAM_LARGE_WINDOW: 6, BROTLI_DECODER_PARAM_LARGE_WINDOW: 1,
});

function bytesOf(data) {
  if (typeof data === "string") return Buffer.from(data);
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (isAnyArrayBuffer(data)) return Buffer.from(data);
  throw invalidArgType("buffer", ["string", "Buffer", "TypedArray", "DataView", "ArrayBuffer"], data);
}

function compress(format, bytes, options) {
  const level = options?.level ?? -1;
  if (typeof level !== "number") throw invalidArgType("options.level", "number", level);
  if (!(level >= -1 && level <= 9)) throw outOfRange("options.level", ">= -1 and <= 9", level);
  return Buffer.from(internal.compress(format, level, exact(bytes, 0, bytes.length)));
}

function decompress(format, bytes, options) {
  const limit = Math.min(options?.maxOutputLength ?? outputLimit, outputLimit);
  try {
    return Buffer.from(internal.decompress(format, exact(bytes, 0, bytes.length), limit));
  } catch (error) {
    throw fault(format, error.message, limit);
  }
}

function fault(format, message, limit) {
  if (message === "too large") return coded(RangeError, "ERR_BUFFER_TOO_LARGE", `Cannot create a Buffer larger than ${limit} bytes`);
  if (format === "brotli") return Object.assign(new Error(message === "unexpected end of file" ? message : "Decompression failed"), message === "unexpected end of file" ? { errno: -5, code: "Z_BUF_ERROR" } : { errno: -2, code: "ERR_BROTLI_DECODER_ERROR" });
  const code = message === "unexpected end of file" ? "Z_BUF_ERROR" : "Z_DATA_ERROR";
  return Object.assign(new Error(message), { errno: codes[code], code });
}

// Gzip or zlib, whichever the first bytes say.
function unzip(bytes, options) {
  return decompress(bytes[0] === 0x1f && (bytes.length < 2 || bytes[1] === 0x8b) ? "gzip" : "deflate", bytes, options);
}

const methods = {
  Gzip: (bytes, options) => compress("gzip", bytes, options),
  Gunzip: (bytes, options) => decompress("gzip", bytes, options),
  Deflate: (bytes, options) => compress("deflate", bytes, options),
  Inflate: (bytes, options) => decompress("deflate", bytes, options),
  DeflateRaw: (bytes, options) => compress("raw", bytes, options),
  InflateRaw: (bytes, options) => decompress("raw", bytes, options),
  Unzip: unzip,
  BrotliDecompress: (bytes, options) => decompress("brotli", bytes, options),
};

for (const [Name, work] of Object.entries(methods)) {
  const name = Name[0].toLowerCase() + Name.slice(1);
  const isDecoder = /^(Gunzip|Inflate|InflateRaw|Unzip|Brotli)/.test(Name);

  const Class = function (options) {
    if (!(this instanceof Class)) return new Class(options);
    Transform.call(this, options);
    Object.assign(this, { workOptions: options, chunks: [], bytesWritten: 0 });
    return this;
  };
  Object.defineProperty(Class, "name", { value: Name });
  Object.setPrototypeOf(Class.prototype, Transform.prototype);
  Object.setPrototypeOf(Class, Transform);
  Object.assign(Class.prototype, {
    _transform(chunk, encoding, callback) {
      this.chunks.push(Buffer.from(chunk));
      this.bytesWritten += chunk.length;
      callback();
    },
    _flush(callback) {
      const bytes = Buffer.concat(this.chunks);
      // A decoder that was given nothing has nothing to say.
      if (isDecoder && bytes.length === 0) return callback();
      try {
        this.push(work(bytes, this.workOptions));
      } catch (error) {
        return callback(error);
      }
      return callback();
    },
    // All of it comes at the end in any case.
    flush(kind, callback = typeof kind === "function" ? kind : undefined) {
      if (callback !== undefined) nextTick(callback);
    },
    params(level, strategy, callback) {
      this.workOptions = { ...this.workOptions, level };
      if (callback !== undefined) nextTick(callback);
    },
    close(callback) {
      if (callback !== undefined) this.once("close", callback);
      this.destroy();
    },
    reset() {
      this.chunks = [];
    },
  });

  exports[Name] = Class;
  exports[`create${Name}`] = (options) => new Class(options);
  exports[`${name}Sync`] = (data, options) => work(bytesOf(data), options);
  exports[name] = (data, options, callback) => {
    if (typeof options === "function") [callback, options] = [options, undefined];
    checkFunction(callback, "callback");
    const bytes = bytesOf(data);
    let outcome;
    try {
      outcome = [null, work(bytes, options)];
    } catch (error) {
      if (error.code === "ERR_INVALID_ARG_TYPE" || error.code === "ERR_OUT_OF_RANGE") throw error;
      outcome = [error];
    }
    nextTick(callback, ...outcome);
  };
  Object.defineProperty(exports[name], "name", { value: name });
}

let table;

// CRC-32 as gzip and zip have it (RFC 1952 §8).
function crc32(data, value = 0) {
  table ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? (byte >>> 1) ^ 0xedb88320 : byte >>> 1;
    return byte;
  });
  let sum = ~value;
  for (const byte of bytesOf(data)) sum = table[(sum ^ byte) & 255] ^ (sum >>> 8);
  return ~sum >>> 0;
}

Object.assign(exports, { constants, codes: Object.freeze({ ...codes, ...Object.fromEntries(Object.entries(codes).map(([name, code]) => [code, name])) }), crc32 }, constants);
stubs("zlib", ["BrotliCompress", "brotliCompress", "brotliCompressSync", "createBrotliCompress", "ZstdCompress", "ZstdDecompress", "zstdCompress", "zstdCompressSync", "zstdDecompress", "zstdDecompressSync", "createZstdCompress", "createZstdDecompress"], exports);
exports.promises = Object.fromEntries(["gzip", "gunzip", "deflate", "inflate", "deflateRaw", "inflateRaw", "unzip", "brotliDecompress"].map((name) => [name, promisify(exports[name])]));
