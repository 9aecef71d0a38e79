// Intl for an engine without one: English, and the world's time zones. Run once, it installs itself where nothing is.
"use strict";

const { Locale, getCanonicalLocales } = require("internal/intl_locale");
const { DateTimeFormat, dateText } = require("internal/intl_dates");
const { NumberFormat, PluralRules } = require("internal/intl_numbers");
const { Collator, ListFormat, RelativeTimeFormat, Segmenter, DisplayNames } = require("internal/intl_text");

const Intl = {};
const members = { Collator, DateTimeFormat, DisplayNames, ListFormat, Locale, NumberFormat, PluralRules, RelativeTimeFormat, Segmenter, getCanonicalLocales, supportedValuesOf };
for (const [name, value] of Object.entries(members)) hidden(Intl, name, value);
Object.defineProperty(Intl, Symbol.toStringTag, { value: "Intl", configurable: true });

function supportedValuesOf(key) {
  const lists = { calendar: ["gregory"], collation: ["default"], currency: ["USD", "EUR", "GBP", "JPY"], numberingSystem: ["latn"], timeZone: ["UTC"], unit: [] };
  if (!Object.hasOwn(lists, key)) throw new RangeError(`Invalid key : ${key}`);
  return lists[key];
}

function hidden(target, key, value) {
  Object.defineProperty(target, key, { value, writable: true, enumerable: false, configurable: true });
}

// The language's own methods that would ask Intl.
const methods = {
  Number: { toLocaleString(locales, options) { return new NumberFormat(locales, options).format(Number.prototype.valueOf.call(this)); } },
  BigInt: { toLocaleString(locales, options) { return new NumberFormat(locales, options).format(BigInt.prototype.valueOf.call(this)); } },
  Date: {
    toLocaleString(locales, options) { return dateText(this, locales, options, ["date", "time"], "any"); },
    toLocaleDateString(locales, options) { return dateText(this, locales, options, ["date"], "date"); },
    toLocaleTimeString(locales, options) { return dateText(this, locales, options, ["time"], "time"); },
  },
  String: {
    localeCompare(that, locales, options) {
      const [a, b] = [`${this}`, `${that}`];
      if (a === b) return 0;
      return new Collator(locales, options).compare(a, b);
    },
  },
};

function install(global) {
  hidden(global, "Intl", Intl);
  for (const [Class, own] of Object.entries(methods)) for (const [name, method] of Object.entries(own)) hidden(global[Class].prototype, name, method);
}

if (internal.global.Intl === undefined) install(internal.global);

module.exports = { Intl, install };
