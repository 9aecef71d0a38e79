// crypto.subtle with secret keys: HMAC, AES, PBKDF2 and HKDF, on the built-in crypto. Public keys are Node's to handle.
"use strict";

const { Buffer } = require("buffer");
const { unavailable } = require("internal/errors");

const ALGORITHMS = ["HMAC", "AES-CBC", "AES-CTR", "AES-GCM", "PBKDF2", "HKDF"];
const HASHES = { "SHA-1": ["sha1", 64], "SHA-256": ["sha256", 64], "SHA-384": ["sha384", 128], "SHA-512": ["sha512", 128] };
const JWK_NAMES = { "AES-CBC": "CBC", "AES-CTR": "CTR", "AES-GCM": "GCM" };

const secrets = new WeakMap();

class CryptoKey {
  constructor() {
    throw Object.assign(new TypeError("Illegal constructor"), { code: "ERR_ILLEGAL_CONSTRUCTOR" });
  }
}
Object.defineProperty(CryptoKey.prototype, Symbol.toStringTag, { value: "CryptoKey", configurable: true });

function makeKey(bytes, algorithm, extractable, usages) {
  const key = Object.create(CryptoKey.prototype);
  Object.assign(key, { type: "secret", extractable: Boolean(extractable), algorithm, usages: [...usages] });
  secrets.set(key, bytes);
  return Object.freeze(key);
}

function failed(name, message) {
  return new internal.global.DOMException(message, name);
}

function normal(algorithm) {
  const said = typeof algorithm === "string" ? { name: algorithm } : { ...algorithm };
  const name = ALGORITHMS.find((one) => one === `${said.name}`.toUpperCase());
  if (name === undefined) throw unavailable(`crypto.subtle with '${said.name}'`);
  return { ...said, name };
}

function hashOf(algorithm) {
  const name = `${typeof algorithm.hash === "string" ? algorithm.hash : algorithm.hash?.name}`.toUpperCase();
  if (!Object.hasOwn(HASHES, name)) throw failed("NotSupportedError", `Unrecognized algorithm name: ${name}`);
  return name;
}

function bytesOf(data) {
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength));
  if (data instanceof ArrayBuffer) return Buffer.from(data.slice(0));
  throw Object.assign(new TypeError("The data must be an ArrayBuffer or a view of one"), { code: "ERR_INVALID_ARG_TYPE" });
}

function bufferOf(bytes) {
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
}

// The key's bytes, if it is of this algorithm and may be used so.
function secretOf(key, name, usage) {
  const bytes = secrets.get(key);
  if (bytes === undefined) throw Object.assign(new TypeError("The key must be a CryptoKey"), { code: "ERR_INVALID_ARG_TYPE" });
  if (key.algorithm.name !== name) throw failed("InvalidAccessError", "Key algorithm mismatch");
  if (!key.usages.includes(usage)) throw failed("InvalidAccessError", `Unable to use this key to ${usage}`);
  return bytes;
}

function described(algorithm, bytes) {
  const { name } = algorithm;
  if (name === "HMAC") return { name, hash: { name: hashOf(algorithm) }, length: algorithm.length ?? bytes.length * 8 };
  if (!name.startsWith("AES")) return { name };
  if (![16, 24, 32].includes(bytes.length)) throw failed("DataError", "Invalid key length");
  return { name, length: bytes.length * 8 };
}

function importKey(format, data, algorithm, extractable, usages) {
  const said = normal(algorithm);
  let bytes;
  if (format === "raw" || format === "raw-secret") bytes = bytesOf(data);
  else if (format === "jwk" && data?.kty === "oct") bytes = Buffer.from(`${data.k}`, "base64url");
  else throw unavailable(`crypto.subtle.importKey of '${format}' keys${data?.kty === undefined ? "" : ` of type '${data.kty}'`}`);
  return makeKey(bytes, described(said, bytes), extractable, usages);
}

function exportKey(format, key) {
  const bytes = secrets.get(key);
  if (bytes === undefined) throw Object.assign(new TypeError("The key must be a CryptoKey"), { code: "ERR_INVALID_ARG_TYPE" });
  if (!key.extractable) throw failed("InvalidAccessError", "key is not extractable");
  if (format === "raw" || format === "raw-secret") return bufferOf(bytes);
  if (format !== "jwk") throw unavailable(`crypto.subtle.exportKey as '${format}'`);
  const { name, hash } = key.algorithm;
  const alg = name === "HMAC" ? `HS${hash.name.slice(4)}` : `A${bytes.length * 8}${JWK_NAMES[name]}`;
  return { key_ops: [...key.usages], ext: true, kty: "oct", k: bytes.toString("base64url"), alg };
}

function generateKey(algorithm, extractable, usages) {
  const said = normal(algorithm);
  if (said.name === "PBKDF2" || said.name === "HKDF") throw failed("NotSupportedError", "Unrecognized algorithm name");
  const length = said.name === "HMAC" ? (said.length ?? HASHES[hashOf(said)][1] * 8) : said.length;
  const bytes = require("crypto").randomBytes(Math.ceil(length / 8));
  return makeKey(bytes, described(said, bytes), extractable, usages);
}

function mac(key, data, usage) {
  const bytes = secretOf(key, "HMAC", usage);
  return require("crypto").createHmac(HASHES[key.algorithm.hash.name][0], bytes).update(bytesOf(data)).digest();
}

function sign(algorithm, key, data) {
  normal(algorithm);
  return bufferOf(mac(key, data, "sign"));
}

function verify(algorithm, key, signature, data) {
  normal(algorithm);
  const [made, given] = [mac(key, data, "verify"), bytesOf(signature)];
  return made.length === given.length && require("crypto").timingSafeEqual(made, given);
}

function cipherOf(said, key, usage) {
  const bytes = secretOf(key, said.name, usage);
  const { createCipheriv, createDecipheriv } = require("crypto");
  const make = usage === "encrypt" ? createCipheriv : createDecipheriv;
  const name = `aes-${bytes.length * 8}-${said.name.slice(4).toLowerCase()}`;
  if (said.name !== "AES-GCM") return { cipher: make(name, bytes, bytesOf(said.iv ?? said.counter)), tag: 0 };
  const tag = (said.tagLength ?? 128) / 8;
  const cipher = make(name, bytes, bytesOf(said.iv), { authTagLength: tag });
  if (said.additionalData !== undefined) cipher.setAAD(bytesOf(said.additionalData));
  return { cipher, tag };
}

function encrypt(algorithm, key, data) {
  const { cipher, tag } = cipherOf(normal(algorithm), key, "encrypt");
  const parts = [cipher.update(bytesOf(data)), cipher.final()];
  if (tag > 0) parts.push(cipher.getAuthTag());
  return bufferOf(Buffer.concat(parts));
}

function decrypt(algorithm, key, data) {
  const { cipher, tag } = cipherOf(normal(algorithm), key, "decrypt");
  const bytes = bytesOf(data);
  try {
    if (tag > 0) cipher.setAuthTag(bytes.subarray(bytes.length - tag));
    return bufferOf(Buffer.concat([cipher.update(bytes.subarray(0, bytes.length - tag)), cipher.final()]));
  } catch {
    throw failed("OperationError", "The operation failed for an operation-specific reason");
  }
}

function derived(said, key, length, usage) {
  const bytes = secretOf(key, said.name, usage);
  const { pbkdf2Sync, hkdfSync } = require("crypto");
  const hash = HASHES[hashOf(said)][0];
  if (said.name === "PBKDF2") return pbkdf2Sync(bytes, bytesOf(said.salt), said.iterations, length / 8, hash);
  if (said.name === "HKDF") return Buffer.from(hkdfSync(hash, bytes, bytesOf(said.salt), bytesOf(said.info), length / 8));
  throw failed("NotSupportedError", "Unrecognized algorithm name");
}

function deriveBits(algorithm, key, length) {
  return bufferOf(derived(normal(algorithm), key, length, "deriveBits"));
}

function deriveKey(algorithm, key, made, extractable, usages) {
  const target = normal(made);
  const length = target.name === "HMAC" ? (target.length ?? HASHES[hashOf(target)][1] * 8) : target.length;
  const bytes = derived(normal(algorithm), key, length, "deriveKey");
  return makeKey(bytes, described(target, bytes), extractable, usages);
}

function wrapKey() {
  throw unavailable("crypto.subtle.wrapKey");
}

function unwrapKey() {
  throw unavailable("crypto.subtle.unwrapKey");
}

module.exports = { CryptoKey, importKey, exportKey, generateKey, sign, verify, encrypt, decrypt, deriveBits, deriveKey, wrapKey, unwrapKey };
