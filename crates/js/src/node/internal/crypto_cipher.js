// Cipheriv and Decipheriv: AES in CBC, CTR and GCM. A native call has no memory, so what a mode carries from block to
// block (the last block, the counter) is kept here.
"use strict";

const { Transform } = require("internal/duplex");
const { Buffer } = require("buffer");
const { coded, checkString, invalidArgType } = require("internal/errors");
const { bytesOf, whole } = require("internal/crypto_bytes");
const { lazyStream } = require("internal/crypto_hash");

const names = ["aes-128-cbc", "aes-128-ctr", "aes-128-gcm", "aes-192-cbc", "aes-192-ctr", "aes-192-gcm", "aes-256-cbc", "aes-256-ctr", "aes-256-gcm"];
const aliases = { aes128: "aes-128-cbc", aes192: "aes-192-cbc", aes256: "aes-256-cbc", "id-aes128-gcm": "aes-128-gcm", "id-aes192-gcm": "aes-192-gcm", "id-aes256-gcm": "aes-256-gcm" };
const none = Buffer.alloc(0);

function fail(message, code) {
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

// CBC: whole blocks go through, the last one waits where it may be padding.
class Cbc {
  constructor(name, encrypts, key, iv) {
    Object.assign(this, { name, encrypts, key, iv: Buffer.from(iv), held: none, padding: true });
  }

  update(data) {
    const all = Buffer.concat([this.held, data]);
    const keeps = !this.encrypts && this.padding && all.length > 0 && all.length % 16 === 0 ? 16 : all.length % 16;
    const ready = all.subarray(0, all.length - keeps);
    this.held = Buffer.from(all.subarray(all.length - keeps));
    if (ready.length === 0) return none;
    const made = Buffer.from(internal.cipher(this.name, this.encrypts, whole(this.key), whole(this.iv), whole(ready), false));
    this.iv = Buffer.from((this.encrypts ? made : ready).subarray(-16));
    return made;
  }

  final() {
    if (!this.padding && this.held.length === 0) return none;
    if (this.held.length % 16 !== 0 && !(this.encrypts && this.padding)) {
      throw this.encrypts ? fail("error:1C80006A:Provider routines::wrong final block length", "ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH") : fail("error:1C80006B:Provider routines::wrong final block length", "ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH");
    }
    if (!this.encrypts && this.padding && this.held.length === 0) throw fail("error:1C80006B:Provider routines::wrong final block length", "ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH");
    try {
      return Buffer.from(internal.cipher(this.name, this.encrypts, whole(this.key), whole(this.iv), whole(this.held), this.padding));
    } catch {
      throw fail("error:1C800064:Provider routines::bad decrypt", "ERR_OSSL_BAD_DECRYPT");
    }
  }
}

// CTR: a stream of bytes from a counter.
class Ctr {
  constructor(name, key, iv) {
    Object.assign(this, { name, key, counter: BigInt(`0x${Buffer.from(iv).toString("hex")}`), offset: 0, padding: true });
  }

  update(data) {
    if (data.length === 0) return none;
    // Bytes of the first block that are used up already.
    const input = Buffer.concat([Buffer.alloc(this.offset), data]);
    const iv = Buffer.from((this.counter & (2n ** 128n - 1n)).toString(16).padStart(32, "0"), "hex");
    const made = Buffer.from(internal.cipher(this.name, true, whole(this.key), whole(iv), whole(input), false)).subarray(this.offset);
    this.counter += BigInt(Math.floor(input.length / 16));
    this.offset = input.length % 16;
    return Buffer.from(made);
  }

  final() {
    return none;
  }
}

// GCM: CTR for the text as it comes, and once more as a whole for the tag.
class Gcm {
  constructor(name, encrypts, key, iv, tagLength) {
    Object.assign(this, { name, encrypts, key, iv: Buffer.from(iv), tagLength: tagLength ?? 16, chunks: [], aad: none, tag: undefined, padding: true });
    // SP 800-38D §7.1: with 96 bits of iv the text begins at counter 2; else the counter is a secret of the mode.
    this.stream = iv.length === 12 ? new Ctr(name.replace("gcm", "ctr"), key, Buffer.concat([iv, Buffer.from([0, 0, 0, 2])])) : undefined;
  }

  update(data) {
    this.chunks.push(Buffer.from(data));
    return this.stream === undefined ? none : this.stream.update(data);
  }

  final() {
    const text = Buffer.concat(this.chunks);
    const [key, iv, data, aad] = [this.key, this.iv, text, this.aad].map(whole);
    if (this.encrypts) {
      const sealed = Buffer.from(internal.seal(this.name, key, iv, data, aad));
      this.tag = Buffer.from(sealed.subarray(text.length).subarray(0, this.tagLength));
      return this.stream === undefined ? sealed.subarray(0, text.length) : none;
    }
    const opened = this.tag === undefined ? undefined : internal.open(this.name, key, iv, data, whole(this.tag), aad);
    if (opened === undefined || opened === null) throw fail("Unsupported state or unable to authenticate data");
    return this.stream === undefined ? Buffer.from(opened) : none;
  }
}

const slots = new WeakMap();

function begin(self, encrypts, cipher, key, iv, options) {
  checkString(cipher, "cipher");
  const lower = cipher.toLowerCase();
  const name = aliases[lower] ?? lower;
  if (!names.includes(name)) throw coded(Error, "ERR_CRYPTO_UNKNOWN_CIPHER", "Unknown cipher");
  const secret = Buffer.from(bytesOf(key, "key", "utf8"));
  if (iv === undefined) throw invalidArgType("iv", ["string", "ArrayBuffer", "Buffer", "TypedArray", "DataView"], iv);
  if (secret.length * 8 !== Number(name.slice(4, 7))) throw coded(RangeError, "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length");
  const isGcm = name.endsWith("gcm");
  const start = iv === null ? none : Buffer.from(bytesOf(iv, "iv", "utf8"));
  if (isGcm ? start.length === 0 : start.length !== 16) throw coded(TypeError, "ERR_CRYPTO_INVALID_IV", "Invalid initialization vector");
  if (isGcm && start.length !== 12 && start.length !== 16) throw require("internal/errors").unavailable(`an iv of ${start.length} bytes for ${name}`);
  const mode = isGcm ? new Gcm(name, encrypts, secret, start, options?.authTagLength) : name.endsWith("ctr") ? new Ctr(name, secret, start) : new Cbc(name, encrypts, secret, start);
  slots.set(self, { mode, isGcm, encrypts, done: false, outputEncoding: undefined });
  Object.defineProperty(self, "streamOptions", { value: options, configurable: true });
}

function Cipheriv(cipher, key, iv, options) {
  if (!(this instanceof Cipheriv)) return new Cipheriv(cipher, key, iv, options);
  begin(this, true, cipher, key, iv, options);
}

function Decipheriv(cipher, key, iv, options) {
  if (!(this instanceof Decipheriv)) return new Decipheriv(cipher, key, iv, options);
  begin(this, false, cipher, key, iv, options);
}

// Text in pieces: base64 needs groups of three bytes, so a decoder carries the rest over.
function output(state, bytes, encoding, last) {
  if (encoding === undefined || encoding === null || encoding === "buffer") return bytes;
  state.decoder ??= new (require("string_decoder").StringDecoder)(encoding);
  return last ? state.decoder.end(bytes) : state.decoder.write(bytes);
}

for (const Class of [Cipheriv, Decipheriv]) {
  Object.setPrototypeOf(Class.prototype, Transform.prototype);
  Object.setPrototypeOf(Class, Transform);
  lazyStream(Class.prototype);

  Object.assign(Class.prototype, {
    update(data, inputEncoding, outputEncoding) {
      const state = slots.get(this);
      const bytes = bytesOf(data, "data", inputEncoding, ["string", "Buffer", "TypedArray", "DataView"]);
      if (state.done) throw fail(`Trying to add data in unsupported state`, "ERR_CRYPTO_INVALID_STATE");
      return output(state, state.mode.update(bytes), outputEncoding, false);
    },

    final(encoding) {
      const state = slots.get(this);
      if (state.done) throw fail("Unsupported state", "ERR_CRYPTO_INVALID_STATE");
      state.done = true;
      return output(state, state.mode.final(), encoding, true);
    },

    setAutoPadding(on = true) {
      slots.get(this).mode.padding = Boolean(on);
      return this;
    },

    setAAD(data, options) {
      const { mode, isGcm } = slots.get(this);
      if (!isGcm) throw fail("Invalid state for operation setAAD", "ERR_CRYPTO_INVALID_STATE");
      mode.aad = Buffer.concat([mode.aad, bytesOf(data, "buffer", options?.encoding)]);
      return this;
    },

    getAuthTag() {
      const { mode, isGcm, encrypts } = slots.get(this);
      if (!isGcm || !encrypts || mode.tag === undefined) throw coded(Error, "ERR_CRYPTO_INVALID_STATE", "Invalid state for operation getAuthTag");
      return mode.tag;
    },

    setAuthTag(tag, encoding) {
      const { mode, isGcm, encrypts } = slots.get(this);
      if (!isGcm || encrypts) throw coded(Error, "ERR_CRYPTO_INVALID_STATE", "Invalid state for operation setAuthTag");
      mode.tag = Buffer.from(bytesOf(tag, "buffer", encoding));
      if (mode.tag.length !== 16) throw coded(TypeError, "ERR_CRYPTO_INVALID_AUTH_TAG", `Invalid authentication tag length: ${mode.tag.length}`);
      return this;
    },

    _transform(chunk, encoding, callback) {
      this.push(this.update(chunk, encoding));
      callback();
    },

    _flush(callback) {
      try {
        this.push(this.final());
      } catch (error) {
        return callback(error);
      }
      return callback();
    },
  });
}

module.exports = { Cipheriv, Decipheriv, names };
