// crypto (Web Cryptography §10, §14.3.5): random values and digests, from the host's own sources.

const loadCrypto = once(function () {
  class SubtleCrypto {
    #own;
    async digest(algorithm, data) {
      this.#own;
      needs(2, arguments.length, "SubtleCrypto.digest");
      const name = digestName(isObject(algorithm) ? algorithm.name : algorithm);
      const bytes = viewOf(data);
      if (bytes === undefined) throw new TypeError("SubtleCrypto.digest: the data must be an ArrayBuffer or a view of one");
      return native.digest(name, typedBuffer(bytes), typedOffset(bytes), typedLength(bytes));
    }
  }
  expose(SubtleCrypto, "SubtleCrypto");

  function digestName(value) {
    const name = toUpperCase(`${value}`);
    if (name === "SHA-1" || name === "SHA-256" || name === "SHA-384" || name === "SHA-512") return name;
    throw new DOMException(`The digest '${value}' is not supported; use SHA-1, SHA-256, SHA-384 or SHA-512`, "NotSupportedError");
  }

  class Crypto {
    #subtle = new SubtleCrypto();
    get subtle() { return this.#subtle; }

    getRandomValues(array) {
      this.#subtle;
      needs(1, arguments.length, "Crypto.getRandomValues");
      const tag = isObject(array) && isView(array) ? typedTag(array) : "";
      if (tag === "") throw new TypeError("Crypto.getRandomValues: the argument must be a typed array");
      if (tag === undefined || slice(tag, 0, 5) === "Float") throw new DOMException("The array must be one of integers", "TypeMismatchError");
      const bytes = viewOf(array);
      if (typedLength(bytes) > 65536) throw new DOMException("At most 65536 random bytes may be asked for at once", "QuotaExceededError");
      typedSet(bytes, new Uint8Array(native.random(typedLength(bytes))));
      return array;
    }

    // RFC 9562 §5.4: version 4, variant 10.
    randomUUID() {
      this.#subtle;
      const bytes = new Uint8Array(native.random(16));
      bytes[6] = (bytes[6] & 0x0f) | 0x40;
      bytes[8] = (bytes[8] & 0x3f) | 0x80;
      const hex = hexText(bytes);
      return `${slice(hex, 0, 8)}-${slice(hex, 8, 12)}-${slice(hex, 12, 16)}-${slice(hex, 16, 20)}-${slice(hex, 20)}`;
    }
  }
  expose(Crypto, "Crypto");

  return { __proto__: null, crypto: new Crypto() };
});
lazyGlobals(loadCrypto, "crypto");

function hexText(bytes) {
  let hex = "";
  for (let i = 0; i < typedLength(bytes); i++) hex += `${bytes[i] < 16 ? "0" : ""}${numberToString(bytes[i], 16)}`;
  return hex;
}
