// crypto: digests, keys from passwords, AES and chance. Signatures and public keys are not in here.
"use strict";

const { Buffer } = require("buffer");
const { coded, invalidArgType, outOfRange, checkFunction, checkInteger, checkNumber, checkString, stubs } = require("internal/errors");
const { Hash, Hmac, digestName } = require("internal/crypto_hash");
const { Cipheriv, Decipheriv, names: cipherNames } = require("internal/crypto_cipher");
const { KeyObject, createSecretKey } = require("internal/crypto_keys");
const { bytesOf, whole, answer } = require("internal/crypto_bytes");
const { nextTick } = require("internal/next_tick");
const { isAnyArrayBuffer } = require("internal/types");

const webcrypto = internal.global.crypto;
const largest = 2 ** 31 - 1;
// The most that a native call may hand out at once.
const randomStep = 65536;

// Work that Node does on another thread is done at once here; only the answer comes later.
function later(callback, make) {
  checkFunction(callback, "callback");
  let outcome;
  try {
    outcome = [null, make()];
  } catch (error) {
    if (typeof error?.code === "string" && error.code.startsWith("ERR_")) throw error;
    outcome = [error];
  }
  nextTick(callback, ...outcome);
}

function fillRandom(bytes) {
  for (let at = 0; at < bytes.length; at += randomStep) webcrypto.getRandomValues(bytes.subarray(at, at + randomStep));
}

function randomBytes(size, callback) {
  checkNumber(size, "size", 0, largest);
  const make = () => {
    const made = Buffer.alloc(size);
    fillRandom(made);
    return made;
  };
  return callback === undefined ? make() : later(callback, make);
}

function randomFillSync(target, offset = 0, size = undefined) {
  if (!ArrayBuffer.isView(target) && !isAnyArrayBuffer(target)) throw invalidArgType("buf", ["ArrayBuffer", "ArrayBufferView"], target);
  const unit = target.BYTES_PER_ELEMENT ?? 1;
  const bytes = isAnyArrayBuffer(target) ? new Uint8Array(target) : new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
  const from = offset * unit;
  if (from > bytes.length) throw outOfRange("offset", `>= 0 && <= ${bytes.length}`, offset);
  const count = size === undefined ? bytes.length - from : size * unit;
  if (from + count > bytes.length) throw outOfRange("size + offset", `<= ${bytes.length}`, from + count);
  fillRandom(bytes.subarray(from, from + count));
  return target;
}

function randomFill(target, ...args) {
  const callback = args.pop();
  later(callback, () => randomFillSync(target, ...args));
}

// Uniform: what lies beyond the last whole multiple of the range is thrown again.
function randomInt(min, max, callback) {
  if (max === undefined || typeof max === "function") [min, max, callback] = [0, min, max];
  if (!Number.isSafeInteger(min)) throw invalidArgType("min", "a safe integer", min);
  if (!Number.isSafeInteger(max)) throw invalidArgType("max", "a safe integer", max);
  if (max <= min) throw outOfRange("max", `greater than the value of "min" (${min})`, max);
  const range = max - min;
  if (range > 2 ** 48 - 1) throw outOfRange(max === range ? "max" : "max - min", `<= ${2 ** 48 - 1}`, range);
  const make = () => {
    const limit = 2 ** 48 - (2 ** 48 % range);
    while (true) {
      const value = randomBytes(6).readUIntBE(0, 6);
      if (value < limit) return min + (value % range);
    }
  };
  return callback === undefined ? make() : later(callback, make);
}

function timingSafeEqual(a, b) {
  const [left, right] = [a, b].map((value, at) => {
    if (!ArrayBuffer.isView(value) && !isAnyArrayBuffer(value)) throw coded(TypeError, "ERR_INVALID_ARG_TYPE", `The "buf${at + 1}" argument must be an instance of ArrayBuffer, Buffer, TypedArray, or DataView.`);
    return bytesOf(value);
  });
  if (left.length !== right.length) throw coded(RangeError, "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH", "Input buffers must have the same byte length");
  let different = 0;
  for (let at = 0; at < left.length; at++) different |= left[at] ^ right[at];
  return different === 0;
}

function pbkdf2Sync(password, salt, iterations, keylen, digest) {
  checkString(digest, "digest");
  const [secret, grain] = [bytesOf(password, "password"), bytesOf(salt, "salt")];
  checkInteger(iterations, "iterations", 1, largest);
  checkInteger(keylen, "keylen", 0, largest);
  const name = digestName(digest);
  if (name === undefined) throw coded(TypeError, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${digest}`);
  return answer(internal.pbkdf2(name, whole(secret), whole(grain), iterations, keylen));
}

function pbkdf2(password, salt, iterations, keylen, digest, callback) {
  if (typeof digest === "function") [callback, digest] = [digest, undefined];
  later(callback, () => pbkdf2Sync(password, salt, iterations, keylen, digest));
}

function scryptSync(password, salt, keylen, options = {}) {
  const [secret, grain] = [bytesOf(password, "password"), bytesOf(salt, "salt")];
  checkInteger(keylen, "keylen", 0, largest);
  const { N = options.cost ?? 16384, r = options.blockSize ?? 8, p = options.parallelization ?? 1, maxmem = 32 << 20 } = options;
  const logN = Math.log2(N);
  if (!Number.isInteger(logN) || logN < 1) throw coded(RangeError, "ERR_CRYPTO_INVALID_SCRYPT_PARAMS", "Invalid scrypt params");
  if (128 * N * r >= maxmem + 128 * r) throw coded(RangeError, "ERR_CRYPTO_INVALID_SCRYPT_PARAMS", "Invalid scrypt params: error:030000AC:digital envelope routines::memory limit exceeded");
  return answer(internal.scrypt(whole(secret), whole(grain), logN, r, p, keylen));
}

function scrypt(password, salt, keylen, options, callback) {
  if (typeof options === "function") [callback, options] = [options, {}];
  later(callback, () => scryptSync(password, salt, keylen, options));
}

// RFC 5869.
function hkdfSync(digest, key, salt, info, keylen) {
  checkString(digest, "digest");
  const name = digestName(digest);
  if (name === undefined) throw coded(TypeError, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${digest}`);
  const hmac = (secret, data) => Buffer.from(internal.hmac(name, whole(secret), whole(data)));
  const [secret, grain, context] = [bytesOf(key, "ikm"), bytesOf(salt, "salt"), bytesOf(info, "info")];
  const pseudorandom = hmac(grain, secret);
  if (keylen > 255 * pseudorandom.length) throw coded(RangeError, "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length");
  let block = Buffer.alloc(0);
  let made = Buffer.alloc(0);
  for (let count = 1; made.length < keylen; count++) {
    block = hmac(pseudorandom, Buffer.concat([block, context, Buffer.from([count])]));
    made = Buffer.concat([made, block]);
  }
  return made.buffer.slice(made.byteOffset, made.byteOffset + keylen);
}

function hkdf(digest, key, salt, info, keylen, callback) {
  later(callback, () => hkdfSync(digest, key, salt, info, keylen));
}

function hash(algorithm, data, encoding = "hex") {
  return new Hash(algorithm).update(data).digest(encoding);
}

function getCipherInfo(name) {
  const known = cipherNames.includes(`${name}`.toLowerCase()) ? `${name}`.toLowerCase() : undefined;
  if (known === undefined) return undefined;
  const mode = known.slice(-3);
  return { mode, name: mode === "gcm" ? `id-${known.replace("aes-", "aes")}` : known, ...(mode === "cbc" ? { blockSize: 16 } : {}), ivLength: mode === "gcm" ? 12 : 16, keyLength: Number(known.slice(4, 7)) / 8 };
}

Object.assign(exports, {
  Hash, Hmac, Cipheriv, Decipheriv, KeyObject, createSecretKey, randomBytes, randomFillSync, randomFill, randomInt, timingSafeEqual,
  pbkdf2, pbkdf2Sync, scrypt, scryptSync, hkdf, hkdfSync, hash, getCipherInfo, webcrypto,
  createHash: (algorithm, options) => new Hash(algorithm, options),
  createHmac: (algorithm, key, options) => new Hmac(algorithm, key, options),
  createCipheriv: (name, key, iv, options) => new Cipheriv(name, key, iv, options),
  createDecipheriv: (name, key, iv, options) => new Decipheriv(name, key, iv, options),
  randomUUID: () => webcrypto.randomUUID(),
  getRandomValues: (array) => webcrypto.getRandomValues(array),
  pseudoRandomBytes: randomBytes,
  getHashes: () => ["RSA-MD5", "RSA-RIPEMD160", "RSA-SHA1", "RSA-SHA224", "RSA-SHA256", "RSA-SHA384", "RSA-SHA512", "md5", "ripemd160", "rmd160", "sha1", "sha224", "sha256", "sha384", "sha512", "sha512-256"],
  getCiphers: () => [...cipherNames],
  getCurves: () => [],
  getFips: () => 0,
  subtle: webcrypto.subtle,
  secureHeapUsed: () => ({ total: 0, used: 0, utilization: 0, min: 0 }),
  constants: {
    RSA_PKCS1_PADDING: 1, RSA_NO_PADDING: 3, RSA_PKCS1_OAEP_PADDING: 4, RSA_X931_PADDING: 5, RSA_PKCS1_PSS_PADDING: 6, RSA_PSS_SALTLEN_DIGEST: -1,
    RSA_PSS_SALTLEN_MAX_SIGN: -2, RSA_PSS_SALTLEN_AUTO: -2, POINT_CONVERSION_COMPRESSED: 2, POINT_CONVERSION_UNCOMPRESSED: 4, POINT_CONVERSION_HYBRID: 6,
    SSL_OP_NO_SSLv2: 0, SSL_OP_NO_SSLv3: 33554432, SSL_OP_NO_TLSv1: 67108864, SSL_OP_NO_TLSv1_1: 268435456, SSL_OP_LEGACY_SERVER_CONNECT: 4,
    defaultCoreCipherList: "", defaultCipherList: "",
  },
});
stubs("crypto", [
  "checkPrime", "checkPrimeSync", "createCipher", "createDecipher", "createDiffieHellman", "createDiffieHellmanGroup", "createECDH", "createPrivateKey", "createPublicKey",
  "createSign", "createVerify", "diffieHellman", "generatePrime", "generatePrimeSync", "getDiffieHellman", "generateKeyPair", "generateKeyPairSync", "generateKey",
  "generateKeySync", "privateDecrypt", "privateEncrypt", "publicDecrypt", "publicEncrypt", "sign", "setEngine", "setFips", "verify", "Certificate", "Cipher", "Decipher",
  "DiffieHellman", "DiffieHellmanGroup", "ECDH", "Sign", "Verify", "X509Certificate", "argon2", "argon2Sync", "encapsulate", "decapsulate",
], exports);
