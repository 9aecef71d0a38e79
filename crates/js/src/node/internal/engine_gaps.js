// What V8 does and this engine does otherwise, as far as libraries count on it. Installed for packages only.
"use strict";

exports.install = function install() {
  settableStacks();
  datesNameTheirZone();
  turkishCase();
  webCrypto();
};

function hidden(target, name, value) {
  Object.defineProperty(target, name, { value, writable: true, enumerable: false, configurable: true });
}

// A stack can be set to anything, or to nothing, and hangs on the error itself then.
function settableStacks() {
  const { get, set } = Object.getOwnPropertyDescriptor(Error.prototype, "stack") ?? {};
  if (set === undefined) return;
  Object.defineProperty(Error.prototype, "stack", {
    enumerable: false,
    configurable: true,
    get,
    set(value) {
      if (this !== null && (typeof this === "object" || typeof this === "function")) hidden(this, "stack", value);
    },
  });
}

// "… GMT+0100 (Central European Standard Time)"
function datesNameTheirZone() {
  let zone;
  const nameAt = (date) => (zone ??= new Intl.DateTimeFormat("en-US", { timeZoneName: "long" })).formatToParts(date).find((part) => part.type === "timeZoneName")?.value;
  for (const name of ["toString", "toTimeString"]) {
    const plain = Date.prototype[name];
    const method = { [name]() {
      const text = Reflect.apply(plain, this, []);
      if (text === "Invalid Date" || text.endsWith(")")) return text;
      const named = nameAt(this);
      return named === undefined ? text : `${text} (${named})`;
    } }[name];
    hidden(Date.prototype, name, method);
  }
}

// The one change of letters that depends on a language and that libraries offer.
function turkishCase() {
  const isTurkish = (locales) => /^(tr|az)\b/i.test(Array.isArray(locales) ? (locales[0] ?? "") : (locales ?? ""));
  const { toLocaleUpperCase, toLocaleLowerCase } = String.prototype;
  hidden(String.prototype, "toLocaleUpperCase", { toLocaleUpperCase(locales) {
    const text = isTurkish(locales) ? `${this}`.replace(/i/g, "İ") : this;
    return Reflect.apply(toLocaleUpperCase, text, []);
  } }.toLocaleUpperCase);
  hidden(String.prototype, "toLocaleLowerCase", { toLocaleLowerCase(locales) {
    const text = isTurkish(locales) ? `${this}`.replace(/İ|I\u0307/g, "i").replace(/I/g, "ı") : this;
    return Reflect.apply(toLocaleLowerCase, text, []);
  } }.toLocaleLowerCase);
}

// The sandbox's own has digests; the rest is loaded when somebody wants it.
function webCrypto() {
  const { global } = internal;
  const prototype = Object.getPrototypeOf(global.crypto.subtle);
  for (const name of ["importKey", "exportKey", "generateKey", "sign", "verify", "encrypt", "decrypt", "deriveBits", "deriveKey", "wrapKey", "unwrapKey"]) {
    if (name in prototype) continue;
    hidden(prototype, name, { async [name](...args) { return require("internal/web_crypto")[name](...args); } }[name]);
  }
  if (global.CryptoKey === undefined) {
    Object.defineProperty(global, "CryptoKey", {
      configurable: true,
      enumerable: false,
      get: () => require("internal/web_crypto").CryptoKey,
      set: (value) => hidden(global, "CryptoKey", value),
    });
  }
}
