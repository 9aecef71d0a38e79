// Secret keys as objects. Public and private keys need algorithms that are not in here.
"use strict";

const { Buffer } = require("buffer");
const { coded, invalidArgValue, stub } = require("internal/errors");

class KeyObject {
  #bytes;

  constructor(type, bytes) {
    if (type !== "secret") throw invalidArgValue("type", type);
    this.#bytes = Buffer.from(bytes);
  }

  get type() { return "secret"; }
  get symmetricKeySize() { return this.#bytes.length; }

  export(options) {
    if (options?.format === "jwk") return { kty: "oct", k: this.#bytes.toString("base64url") };
    return Buffer.from(this.#bytes);
  }

  equals(other) {
    return other instanceof KeyObject && this.#bytes.equals(other.#bytes);
  }

  get [Symbol.toStringTag]() { return "KeyObject"; }
}
KeyObject.from = stub("crypto.KeyObject.from");

class SecretKeyObject extends KeyObject {}

function createSecretKey(key, encoding) {
  const bytes = require("internal/crypto_bytes").bytesOf(key, "key", encoding);
  if (bytes.length === 0) throw coded(RangeError, "ERR_OUT_OF_RANGE", 'The value of "key.byteLength" is out of range. It must be > 0. Received 0');
  return new SecretKeyObject("secret", bytes);
}

module.exports = { KeyObject, createSecretKey };
