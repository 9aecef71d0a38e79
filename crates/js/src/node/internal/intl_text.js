// Intl's Collator, ListFormat, RelativeTimeFormat, Segmenter and DisplayNames, in English.
"use strict";

const { localeOf, supportedLocalesOf } = require("internal/intl_locale");
const { NumberFormat } = require("internal/intl_numbers");

function tagged(Class, name) {
  Object.defineProperty(Class.prototype, Symbol.toStringTag, { value: `Intl.${name}`, configurable: true });
  Class.supportedLocalesOf = (wanted) => supportedLocalesOf(wanted, ["en-US"]);
  return Class;
}

// The order of ASCII's marks in the root collation of Unicode; spaces come before, digits and letters after.
const marks = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";
const rank = (character) => {
  if (/\s/.test(character)) return 0;
  const at = marks.indexOf(character);
  if (at >= 0) return 1 + at;
  return /\p{L}/u.test(character) ? 1000 : /\p{N}/u.test(character) ? 500 : 100;
};

function order(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

// Base letters first, then accents, then case: each only where the one before says nothing.
function compareTexts(a, b, { sensitivity, numeric, caseFirst, ignorePunctuation }) {
  if (a === b) return 0;
  const [left, right] = [a, b].map((text) => {
    const plain = text.normalize("NFD");
    return ignorePunctuation ? plain.replace(/[\p{P}\s]/gu, "") : plain;
  });
  const bare = (text) => text.replace(/\p{M}/gu, "");
  const primary = comparePrimary(bare(left).toLowerCase(), bare(right).toLowerCase(), numeric);
  if (primary !== 0 || sensitivity === "base") return primary;
  if (sensitivity !== "case") {
    const accents = order(left.toLowerCase().replace(/[^\p{M}]/gu, "\u0001"), right.toLowerCase().replace(/[^\p{M}]/gu, "\u0001"));
    if (accents !== 0 || sensitivity === "accent") return accents;
  }
  const [first, second] = [bare(left), bare(right)];
  for (let at = 0; at < Math.min(first.length, second.length); at++) {
    if (first[at] === second[at]) continue;
    // Small letters come before capitals.
    const small = first[at] === first[at].toLowerCase();
    return (small ? -1 : 1) * (caseFirst === "upper" ? -1 : 1);
  }
  return order(first.length, second.length);
}

function comparePrimary(a, b, numeric) {
  const split = (text) => (numeric ? (text.match(/\d+|\D/gu) ?? []) : Array.from(text));
  const [left, right] = [split(a), split(b)];
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const [x, y] = [left[at], right[at]];
    if (x === y) continue;
    if (numeric && /^\d/.test(x) && /^\d/.test(y)) {
      const difference = order(BigInt(x), BigInt(y));
      if (difference !== 0) return difference;
      continue;
    }
    const ranks = order(rank(x), rank(y));
    return ranks !== 0 ? ranks : order(x, y);
  }
  return order(left.length, right.length);
}

class Collator {
  #settings;
  #bound;

  constructor(wanted, options = {}) {
    const { usage = "sort", sensitivity = "variant", ignorePunctuation = false, numeric = /-u(-\w+)*-kn(-true)?\b/.test(`${wanted}`), caseFirst = "false" } = options;
    if (!["base", "accent", "case", "variant"].includes(sensitivity)) throw new RangeError(`Value ${sensitivity} out of range for Intl.Collator options property sensitivity`);
    this.#settings = { locale: localeOf(wanted, ["en-US"], "en-US"), usage, sensitivity, ignorePunctuation: Boolean(ignorePunctuation), collation: "default", numeric: Boolean(numeric), caseFirst };
  }

  get compare() {
    return (this.#bound ??= (a, b) => compareTexts(`${a}`, `${b}`, this.#settings));
  }

  resolvedOptions() {
    return { ...this.#settings };
  }
}
tagged(Collator, "Collator");
const callableCollator = new Proxy(Collator, { apply: (Class, self, args) => new Class(...args) });
Collator.prototype.constructor = callableCollator;

class ListFormat {
  #type;
  #style;
  #locale;

  constructor(wanted, options = {}) {
    const { type = "conjunction", style = "long" } = options;
    if (!["conjunction", "disjunction", "unit"].includes(type)) throw new RangeError(`Value ${type} out of range for Intl.ListFormat options property type`);
    if (!["long", "short", "narrow"].includes(style)) throw new RangeError(`Value ${style} out of range for Intl.ListFormat options property style`);
    [this.#type, this.#style, this.#locale] = [type, style, localeOf(wanted, ["en-US"], "en-US")];
  }

  format(list) {
    return this.formatToParts(list).map(({ value }) => value).join("");
  }

  formatToParts(list) {
    const items = Array.from(list, (item) => {
      if (typeof item !== "string") throw new TypeError("Iterable yielded a non-String value");
      return item;
    });
    const parts = [];
    items.forEach((value, at) => {
      if (at > 0) parts.push({ type: "literal", value: this.#between(at === items.length - 1, items.length) });
      parts.push({ type: "element", value });
    });
    return parts;
  }

  #between(isLast, count) {
    if (this.#type === "unit") return this.#style === "narrow" ? " " : ", ";
    if (!isLast) return ", ";
    if (this.#type === "conjunction" && this.#style === "narrow") return ", ";
    const word = this.#type === "disjunction" ? "or" : this.#style === "long" ? "and" : "&";
    return count === 2 ? ` ${word} ` : `, ${word} `;
  }

  resolvedOptions() {
    return { locale: this.#locale, type: this.#type, style: this.#style };
  }
}
tagged(ListFormat, "ListFormat");

const units = ["second", "minute", "hour", "day", "week", "month", "quarter", "year"];
const shortUnits = { second: "sec.", minute: "min.", hour: "hr.", day: "day", week: "wk.", month: "mo.", quarter: "qtr.", year: "yr." };
const words = { day: ["yesterday", "today", "tomorrow"], second: [undefined, "now", undefined] };

class RelativeTimeFormat {
  #style;
  #numeric;
  #locale;
  #numbers = new NumberFormat("en-US");

  constructor(wanted, options = {}) {
    const { style = "long", numeric = "always" } = options;
    if (!["always", "auto"].includes(numeric)) throw new RangeError(`Value ${numeric} out of range for Intl.RelativeTimeFormat options property numeric`);
    [this.#style, this.#numeric, this.#locale] = [style, numeric, localeOf(wanted, ["en-US"], "en-US")];
  }

  format(value, unit) {
    return this.formatToParts(value, unit).map((part) => part.value).join("");
  }

  formatToParts(value, unit) {
    const name = `${unit}`.replace(/s$/, "");
    value = Number(value);
    if (!units.includes(name)) throw new RangeError(`Invalid unit argument for format() '${unit}'`);
    if (!Number.isFinite(value)) throw new RangeError("The value need to be finite number for Intl.RelativeTimeFormat.prototype.format()");
    const word = this.#numeric === "auto" ? this.#word(value, name) : undefined;
    if (word !== undefined) return [{ type: "literal", value: word }];
    const past = value < 0 || Object.is(value, -0);
    const number = this.#numbers.formatToParts(Math.abs(value)).map((part) => ({ ...part, unit: name }));
    const one = Math.abs(value) === 1;
    const plural = !one && this.#style !== "long" && !/day|quarter/.test(name) ? "" : one ? "" : "s";
    const label = this.#style === "long" ? `${name}${one ? "" : "s"}` : name === "day" ? `day${plural}` : name === "quarter" ? (one ? "qtr." : "qtrs.") : shortUnits[name];
    return past ? [...number, { type: "literal", value: ` ${label} ago` }] : [{ type: "literal", value: "in " }, ...number, { type: "literal", value: ` ${label}` }];
  }

  #word(value, unit) {
    if (![-1, 0, 1].includes(value)) return undefined;
    const own = words[unit]?.[value + 1];
    if (own !== undefined || unit === "second") return own;
    if (unit === "minute" || unit === "hour") return value === 0 ? `this ${unit}` : undefined;
    const label = this.#style === "long" ? unit : shortUnits[unit];
    return `${["last", "this", "next"][value + 1]} ${label}`;
  }

  resolvedOptions() {
    return { locale: this.#locale, style: this.#style, numeric: this.#numeric, numberingSystem: "latn" };
  }
}
tagged(RelativeTimeFormat, "RelativeTimeFormat");

// UAX #29, without its rarer scripts: flags, emoji joined or with a skin tone, syllables of Hangul, letters and their marks.
const emoji = "\\p{Extended_Pictographic}(?:\\p{Emoji_Modifier}|[\\ufe0f\\u20e3]|\\p{M})*";
const cuts = {
  grapheme: new RegExp(`\\r\\n|\\p{Regional_Indicator}{2}|${emoji}(?:\\u200d${emoji})*|[\\u1100-\\u115f]*(?:[\\uac00-\\ud7a3]|[\\u1160-\\u11a7])[\\u1160-\\u11ff]*\\p{M}*|[^\\r\\n](?:\\p{M}|\\p{Emoji_Modifier}|[\\u200d\\ufe0f])*|[\\r\\n]`, "gsu"),
  word: /\r\n|[\p{L}\p{N}_]+(?:['’.:][\p{L}\p{N}_]+|\p{M}+[\p{L}\p{N}_]*)*| +|\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\ufe0f|\u200d\p{Extended_Pictographic})*|./gsu,
  sentence: /[^.!?\n]*(?:[.!?]+["')\]]*\s*|\n|$)/gsu,
};

class Segmenter {
  #granularity;
  #locale;

  constructor(wanted, options = {}) {
    const { granularity = "grapheme" } = options;
    if (cuts[granularity] === undefined) throw new RangeError(`Value ${granularity} out of range for Intl.Segmenter options property granularity`);
    [this.#granularity, this.#locale] = [granularity, localeOf(wanted, ["en-US"], "en-US")];
  }

  segment(text) {
    const input = `${text}`;
    const granularity = this.#granularity;
    const all = function* () {
      for (const { 0: segment, index } of input.matchAll(cuts[granularity])) {
        if (segment === "") continue;
        yield granularity === "word" ? { segment, index, input, isWordLike: /[\p{L}\p{N}]/u.test(segment) } : { segment, index, input };
      }
    };
    return {
      [Symbol.iterator]: all,
      containing(at = 0) {
        for (const part of all()) if (at >= part.index && at < part.index + part.segment.length) return part;
        return undefined;
      },
    };
  }

  resolvedOptions() {
    return { locale: this.#locale, granularity: this.#granularity };
  }
}
tagged(Segmenter, "Segmenter");

const names = {
  region: { US: "United States", GB: "United Kingdom", DE: "Germany", FR: "France", ES: "Spain", IT: "Italy", CA: "Canada", CN: "China", IN: "India", JP: "Japan", BR: "Brazil", AU: "Australia", MX: "Mexico" },
  language: { en: "English", "en-US": "American English", "en-GB": "British English", de: "German", fr: "French", es: "Spanish", it: "Italian", pt: "Portuguese", ja: "Japanese", zh: "Chinese", ru: "Russian", ar: "Arabic", ko: "Korean" },
  currency: { USD: "US Dollar", EUR: "Euro", GBP: "British Pound", JPY: "Japanese Yen", INR: "Indian Rupee", CNY: "Chinese Yuan", CHF: "Swiss Franc", CAD: "Canadian Dollar", AUD: "Australian Dollar" },
};

// The common ones; for others the code stands for itself, as the standard's default says.
class DisplayNames {
  #settings;

  constructor(wanted, options) {
    if (options?.type === undefined) throw new TypeError("Required option \"type\" must not be undefined");
    this.#settings = { locale: localeOf(wanted, ["en-US"], "en-US"), style: options.style ?? "long", type: options.type, fallback: options.fallback ?? "code" };
  }

  of(code) {
    return names[this.#settings.type]?.[code] ?? (this.#settings.fallback === "none" ? undefined : `${code}`);
  }

  resolvedOptions() {
    return { ...this.#settings };
  }
}
tagged(DisplayNames, "DisplayNames");

module.exports = { Collator: callableCollator, ListFormat, RelativeTimeFormat, Segmenter, DisplayNames, compareTexts };
