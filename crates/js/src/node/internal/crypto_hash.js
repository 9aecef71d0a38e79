// Hash and Hmac. What is fed in is kept until the digest is asked for: natives keep no state between calls.
"use strict";

const { Transform } = require("internal/duplex");
const { Buffer } = require("buffer");
const { coded, invalidArgType, checkString } = require("internal/errors");
const { bytesOf, whole, answer } = require("internal/crypto_bytes");

const aliases = {
  md5: "md5", sha1: "sha1", "sha-1": "sha1", sha224: "sha224", "sha-224": "sha224", sha256: "sha256", "sha-256": "sha256", sha384: "sha384", "sha-384": "sha384",
  sha512: "sha512", "sha-512": "sha512", "sha512-256": "sha512-256", "sha-512/256": "sha512-256", ripemd160: "ripemd160", rmd160: "ripemd160", ripemd: "ripemd160", "ssl3-sha1": "sha1", "ssl3-md5": "md5",
};

// The native's name of a digest; undefined for one that it has not.
function digestName(name) {
  const lower = `${name}`.toLowerCase().replace(/^rsa-/, "");
  return Object.hasOwn(aliases, lower) ? aliases[lower] : undefined;
}

// Few use a digest as a stream: its states come to be at the first look.
function lazyStream(prototype) {
  for (const name of ["_readableState", "_writableState"]) {
    Object.defineProperty(prototype, name, {
      configurable: true,
      get() {
        if (this === prototype) return undefined;
        for (const state of ["_readableState", "_writableState"]) Object.defineProperty(this, state, { value: undefined, writable: true, configurable: true });
        Transform.call(this, this.streamOptions);
        return this[name];
      },
      set(value) {
        Object.defineProperty(this, name, { value, writable: true, configurable: true });
      },
    });
  }
}

const slots = new WeakMap();

function feed(state, data, encoding) {
  if (state.done) throw coded(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
  const bytes = bytesOf(data, "data", encoding, ["string", "Buffer", "TypedArray", "DataView"]);
  // A copy: the caller may use the buffer again.
  state.chunks.push(typeof data === "string" ? bytes : Buffer.from(bytes));
}

function Hash(algorithm, options) {
  if (!(this instanceof Hash)) return new Hash(algorithm, options);
  const from = algorithm instanceof Hash ? slots.get(algorithm) : undefined;
  if (from === undefined) checkString(algorithm, "algorithm");
  const name = from?.name ?? digestName(algorithm);
  if (name === undefined) throw new Error("Digest method not supported");
  if (from?.done) throw coded(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
  slots.set(this, { name, chunks: from === undefined ? [] : from.chunks.slice(), done: false });
  Object.defineProperty(this, "streamOptions", { value: options, configurable: true });
  return this;
}

function Hmac(algorithm, key, options) {
  if (!(this instanceof Hmac)) return new Hmac(algorithm, key, options);
  checkString(algorithm, "hmac");
  if (key === null || key === undefined) throw invalidArgType("key", ["ArrayBuffer", "Buffer", "TypedArray", "DataView", "string", "KeyObject", "CryptoKey"], key);
  const secret = bytesOf(key, "key", options?.encoding, ["ArrayBuffer", "Buffer", "TypedArray", "DataView", "string", "KeyObject", "CryptoKey"]);
  const name = digestName(algorithm);
  if (name === undefined) throw coded(TypeError, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${algorithm}`);
  slots.set(this, { name, key: Buffer.from(secret), chunks: [], done: false });
  Object.defineProperty(this, "streamOptions", { value: options, configurable: true });
  return this;
}

for (const Class of [Hash, Hmac]) {
  Object.setPrototypeOf(Class.prototype, Transform.prototype);
  Object.setPrototypeOf(Class, Transform);
  lazyStream(Class.prototype);

  Class.prototype.update = function update(data, encoding) {
    feed(slots.get(this), data, encoding);
    return this;
  };

  Class.prototype._transform = function (chunk, encoding, callback) {
    feed(slots.get(this), chunk, encoding);
    callback();
  };

  Class.prototype._flush = function (callback) {
    this.push(this.digest());
    callback();
  };
}

Hash.prototype.digest = function digest(encoding) {
  const state = slots.get(this);
  if (state.done) throw coded(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
  state.done = true;
  return answer(internal.hash(state.name, whole(Buffer.concat(state.chunks))), encoding);
};

Hash.prototype.copy = function copy(options) {
  return new Hash(this, options);
};

Hmac.prototype.digest = function digest(encoding) {
  const state = slots.get(this);
  // Asked twice, Node answers with nothing.
  if (state.done) return answer(new ArrayBuffer(0), encoding);
  state.done = true;
  return answer(internal.hmac(state.name, whole(state.key), whole(Buffer.concat(state.chunks))), encoding);
};

module.exports = { Hash, Hmac, digestName, lazyStream };
