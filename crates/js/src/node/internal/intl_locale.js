// Names of locales (BCP 47), as far as English needs them.
"use strict";

function canonical(tag) {
  const text = `${tag}`;
  if (typeof tag !== "string" && (tag === null || typeof tag !== "object")) throw new TypeError("Language ID should be string or object.");
  if (!/^[a-z]{2,8}(?:[-_][a-z0-9]{1,8})*$/i.test(text)) throw new RangeError(`Incorrect locale information provided`);
  return text.split(/[-_]/).map((part, at) => {
    if (at === 0) return part.toLowerCase();
    if (part.length === 4 && /^[a-z]+$/i.test(part)) return part[0].toUpperCase() + part.slice(1).toLowerCase();
    return part.length === 2 && at < 3 ? part.toUpperCase() : part.toLowerCase();
  }).join("-");
}

function listOf(wanted) {
  if (wanted === undefined) return [];
  if (typeof wanted === "string" || wanted instanceof Locale) return [canonical(`${wanted}`)];
  if (wanted === null) throw new TypeError("Cannot convert undefined or null to object");
  return [...new Set(Array.from(wanted, (tag) => canonical(tag instanceof Locale ? `${tag}` : tag)))];
}

// The first wanted locale that is known, by its whole name or its language; else the default.
function localeOf(wanted, known, fallback) {
  for (const tag of listOf(wanted)) {
    const plain = tag.replace(/-u-.*$/, "");
    if (known.includes(plain)) return plain;
    if (/^en(-|$)/.test(plain) && known.some((name) => name.startsWith("en"))) return known.includes("en") || fallback === "en" ? plain : fallback;
  }
  return fallback;
}

function supportedLocalesOf(wanted, known) {
  return listOf(wanted).filter((tag) => known.includes(tag) || /^en(-|$)/.test(tag));
}

class Locale {
  #name;
  #options;

  constructor(tag, options = {}) {
    if (tag === undefined) throw new TypeError("First argument to Intl.Locale constructor can't be empty or missing");
    this.#name = canonical(tag instanceof Locale ? `${tag}` : tag);
    this.#options = options;
  }

  get baseName() { return [this.language, this.script, this.region].filter(Boolean).join("-"); }
  get language() { return this.#options.language ?? this.#name.split("-")[0]; }
  get script() { return this.#options.script ?? this.#name.split("-").find((part, at) => at > 0 && part.length === 4); }
  get region() { return this.#options.region ?? this.#name.replace(/-u-.*$/, "").split("-").find((part, at) => at > 0 && /^([A-Z]{2}|\d{3})$/.test(part)); }
  get calendar() { return this.#options.calendar; }
  get collation() { return this.#options.collation; }
  get hourCycle() { return this.#options.hourCycle; }
  get numberingSystem() { return this.#options.numberingSystem; }
  get caseFirst() { return this.#options.caseFirst; }
  get numeric() { return this.#options.numeric ?? false; }
  maximize() { return this.language === "en" && this.region === undefined ? new Locale("en-Latn-US") : this; }
  minimize() { return new Locale(this.language); }
  toString() { return this.baseName; }
}
Object.defineProperty(Locale.prototype, Symbol.toStringTag, { value: "Intl.Locale", configurable: true });

module.exports = { Locale, localeOf, supportedLocalesOf, getCanonicalLocales: listOf };
