// Intl.NumberFormat and Intl.PluralRules in English. Rounding is done on the decimal digits that a number is written
// with, half away from zero: 1.005 is 1.01 with two digits.
"use strict";

const { localeOf, supportedLocalesOf } = require("internal/intl_locale");

const symbols = { USD: "$", EUR: "€", GBP: "£", JPY: "¥", INR: "₹", CNY: "CN¥", KRW: "₩", BRL: "R$", CAD: "CA$", AUD: "A$", MXN: "MX$", NZD: "NZ$", ILS: "₪", VND: "₫", HKD: "HK$", TWD: "NT$", XAF: "FCFA", XOF: "F\u202fCFA", PHP: "₱" };
const currencyNames = { USD: "US dollar", EUR: "euro", GBP: "British pound", JPY: "Japanese yen", INR: "Indian rupee", CNY: "Chinese yuan", CAD: "Canadian dollar", AUD: "Australian dollar", CHF: "Swiss franc" };
const withoutCents = new Set(["JPY", "KRW", "VND", "CLP", "ISK", "XAF", "XOF", "PYG", "UGX", "RWF"]);
const threeDigits = new Set(["BHD", "JOD", "KWD", "OMR", "TND", "LYD"]);
const shortUnits = {
  kilometer: " km", meter: " m", centimeter: " cm", millimeter: " mm", mile: " mi", foot: " ft", inch: " in", yard: " yd", kilogram: " kg", gram: " g", pound: " lb", ounce: " oz", liter: " L", milliliter: " mL",
  celsius: "°C", fahrenheit: "°F", percent: "%", byte: " byte", kilobyte: " kB", megabyte: " MB", gigabyte: " GB", terabyte: " TB", bit: " bit", second: " sec", minute: " min", hour: " hr", day: " day", week: " wk", month: " mth",
  year: " yr", millisecond: " ms", degree: " deg", "kilometer-per-hour": " km/h", "mile-per-hour": " mph", "meter-per-second": " m/s",
};
const plurals = new Set(["byte", "day", "week", "month", "year", "deg"]);

// Digits without leading or trailing zeros, and where the point stands among them.
function decimal(value) {
  if (typeof value === "bigint") {
    const digits = `${value < 0n ? -value : value}`;
    return { negative: value < 0n, digits: digits.replace(/0+$/, ""), point: digits === "0" ? 0 : digits.length };
  }
  const [mantissa, exponent] = Math.abs(value).toExponential().split("e");
  const digits = mantissa.replace(".", "").replace(/0+$/, "");
  return { negative: value < 0 || Object.is(value, -0), digits, point: digits === "" ? 0 : Number(exponent) + 1 };
}

// Keeps `count` digits, half up.
function rounded({ negative, digits, point }, count) {
  if (count >= digits.length) return { negative, digits, point };
  if (count < 0) return { negative, digits: "", point: 0 };
  const up = digits[count] >= "5";
  let kept = digits.slice(0, count);
  if (up) {
    const grown = (BigInt(kept || "0") + 1n).toString().padStart(count, "0");
    point += grown.length - count;
    kept = grown;
  }
  kept = kept.replace(/0+$/, "");
  return { negative, digits: kept, point: kept === "" ? 0 : point };
}

function bounded(value, low, high, name, fallback) {
  if (value === undefined) return fallback;
  value = Number(value);
  if (!(value >= low && value <= high)) throw new RangeError(`${name} value is out of range.`);
  return Math.floor(value);
}

function oneOf(options, name, allowed, fallback) {
  const value = options[name];
  if (value === undefined) return fallback;
  if (!allowed.includes(`${value}`)) throw new RangeError(`Value ${value} out of range for Intl.NumberFormat options property ${name}`);
  return `${value}`;
}

class NumberFormat {
  #settings;
  #bound;

  constructor(wanted, options = undefined) {
    options = options === undefined ? {} : Object(options);
    const style = oneOf(options, "style", ["decimal", "percent", "currency", "unit"], "decimal");
    const currency = options.currency === undefined ? undefined : `${options.currency}`.toUpperCase();
    if (style === "currency" && currency === undefined) throw new TypeError("Currency code is required with currency style.");
    if (currency !== undefined && !/^[A-Z]{3}$/.test(currency)) throw new RangeError(`Invalid currency code : ${options.currency}`);
    if (style === "unit" && options.unit === undefined) throw new TypeError("Required unit option missing");
    const notation = oneOf(options, "notation", ["standard", "scientific", "engineering", "compact"], "standard");
    const grouping = options.useGrouping ?? (notation === "compact" ? "min2" : "auto");
    this.#settings = {
      locale: localeOf(wanted, ["en-US"], "en-US"), style, notation, currency: style === "currency" ? currency : undefined,
      currencyDisplay: oneOf(options, "currencyDisplay", ["code", "symbol", "narrowSymbol", "name"], "symbol"), currencySign: oneOf(options, "currencySign", ["standard", "accounting"], "standard"),
      unit: style === "unit" ? `${options.unit}` : undefined, unitDisplay: oneOf(options, "unitDisplay", ["short", "narrow", "long"], "short"), compactDisplay: oneOf(options, "compactDisplay", ["short", "long"], "short"),
      signDisplay: oneOf(options, "signDisplay", ["auto", "never", "always", "exceptZero", "negative"], "auto"),
      useGrouping: grouping === true || grouping === "true" ? "always" : grouping === "false" ? false : grouping,
      minimumIntegerDigits: bounded(options.minimumIntegerDigits, 1, 21, "minimumIntegerDigits", 1),
      ...digitsOf(options, style, currency, notation),
    };
  }

  get format() {
    return (this.#bound ??= (value) => this.formatToParts(value).map((part) => part.value).join(""));
  }

  formatToParts(input) {
    const value = typeof input === "bigint" ? input : typeof input === "string" && /^-?\d{16,}$/.test(input) ? BigInt(input) : Number(input);
    const settings = this.#settings;
    const scaled = settings.style === "percent" ? (typeof value === "bigint" ? value * 100n : value) : value;
    const body = this.#body(scaled, settings.style === "percent" && typeof value !== "bigint" ? 2 : 0);
    return decorated(body.parts, body.negative, body.zero, settings, body.one);
  }

  #body(value, shift) {
    if (typeof value === "number" && !Number.isFinite(value)) {
      const parts = [Number.isNaN(value) ? { type: "nan", value: "NaN" } : { type: "infinity", value: "∞" }];
      return { parts, negative: value < 0, zero: false, one: false };
    }
    const settings = this.#settings;
    const exact = decimal(value);
    if (shift > 0 && exact.digits !== "") exact.point += shift;
    let power = 0;
    if (settings.notation !== "standard" && exact.digits !== "") power = powerOf(exact, settings);
    let number = round({ ...exact, point: exact.point - power }, settings);
    // 999,999 rounds to 1M, not to 1000K.
    if (settings.notation === "compact" && number.point > 3 && power < 12) {
      power += 3;
      number = round({ ...exact, point: exact.point - power }, settings);
    }
    const parts = this.#digits(number);
    if (settings.notation === "compact" && power > 0) {
      const at = power / 3 - 1;
      if (settings.compactDisplay === "long") parts.push({ type: "literal", value: " " }, { type: "compact", value: ["thousand", "million", "billion", "trillion"][at] });
      else parts.push({ type: "compact", value: ["K", "M", "B", "T"][at] });
    } else if (settings.notation === "scientific" || settings.notation === "engineering") {
      parts.push({ type: "exponentSeparator", value: "E" });
      if (power < 0) parts.push({ type: "exponentMinusSign", value: "-" });
      parts.push({ type: "exponentInteger", value: `${Math.abs(power)}` });
    }
    return { parts, negative: exact.negative, zero: number.digits === "", one: number.digits === "1" && number.point === 1 && power === 0 };
  }

  // Integer part in groups, then the fraction with its zeros.
  #digits({ digits, point, shownFraction }) {
    const settings = this.#settings;
    const whole = (point > 0 ? digits.slice(0, point).padEnd(point, "0") : "0").padStart(settings.minimumIntegerDigits, "0");
    const fraction = (point > 0 ? digits.slice(point) : digits === "" ? "" : "0".repeat(-point) + digits).padEnd(shownFraction, "0");
    const parts = [];
    const groups = settings.useGrouping !== false && !(settings.useGrouping === "min2" && whole.length < 5) ? whole.split(/(?=(?:\d{3})+$)/) : [whole];
    groups.forEach((group, at) => parts.push(...(at > 0 ? [{ type: "group", value: "," }] : []), { type: "integer", value: group }));
    if (fraction !== "") parts.push({ type: "decimal", value: "." }, { type: "fraction", value: fraction });
    return parts;
  }

  formatRange(start, end) {
    const [from, to] = [this.format(start), this.format(end)];
    return from === to ? `~${from}` : `${from}–${to}`;
  }

  resolvedOptions() {
    const { locale, compactDisplay, currencyDisplay, currencySign, unitDisplay, significant, compactRounding, ...rest } = this.#settings;
    const made = { locale, numberingSystem: "latn", style: rest.style };
    if (rest.currency !== undefined) Object.assign(made, { currency: rest.currency, currencyDisplay, currencySign });
    if (rest.unit !== undefined) Object.assign(made, { unit: rest.unit, unitDisplay });
    Object.assign(made, { minimumIntegerDigits: rest.minimumIntegerDigits });
    if (significant) Object.assign(made, { minimumSignificantDigits: rest.minimumSignificantDigits, maximumSignificantDigits: rest.maximumSignificantDigits });
    else Object.assign(made, { minimumFractionDigits: rest.minimumFractionDigits, maximumFractionDigits: rest.maximumFractionDigits });
    return Object.assign(made, { useGrouping: rest.useGrouping, notation: rest.notation, ...(rest.notation === "compact" ? { compactDisplay } : {}), signDisplay: rest.signDisplay, roundingIncrement: 1, roundingMode: "halfExpand", roundingPriority: "auto", trailingZeroDisplay: "auto" });
  }

  static supportedLocalesOf(wanted) {
    return supportedLocalesOf(wanted, ["en-US"]);
  }
}
Object.defineProperty(NumberFormat.prototype, Symbol.toStringTag, { value: "Intl.NumberFormat", configurable: true });

function digitsOf(options, style, currency, notation) {
  const cents = style === "currency" ? (withoutCents.has(currency) ? 0 : threeDigits.has(currency) ? 3 : 2) : undefined;
  const [least, most] = [options.minimumFractionDigits, options.maximumFractionDigits];
  const significant = options.minimumSignificantDigits !== undefined || options.maximumSignificantDigits !== undefined;
  const low = cents !== undefined && notation === "standard" ? cents : 0;
  const high = cents !== undefined && notation === "standard" ? cents : style === "percent" || notation === "compact" ? 0 : 3;
  let minimumFractionDigits = bounded(least, 0, 100, "minimumFractionDigits", undefined);
  let maximumFractionDigits = bounded(most, 0, 100, "maximumFractionDigits", undefined);
  if (minimumFractionDigits !== undefined && maximumFractionDigits !== undefined && minimumFractionDigits > maximumFractionDigits) throw new RangeError("maximumFractionDigits value is out of range.");
  minimumFractionDigits ??= Math.min(low, maximumFractionDigits ?? low);
  maximumFractionDigits ??= Math.max(high, minimumFractionDigits);
  const minimumSignificantDigits = bounded(options.minimumSignificantDigits, 1, 21, "minimumSignificantDigits", 1);
  const maximumSignificantDigits = bounded(options.maximumSignificantDigits, minimumSignificantDigits, 21, "maximumSignificantDigits", 21);
  return { minimumFractionDigits, maximumFractionDigits, minimumSignificantDigits, maximumSignificantDigits, significant, compactRounding: notation === "compact" && !significant && least === undefined && most === undefined };
}

function powerOf({ point }, { notation }) {
  if (notation === "scientific") return point - 1;
  const power = Math.floor((point - 1) / 3) * 3;
  return notation === "engineering" ? power : Math.min(Math.max(0, power), 12);
}

function round(number, settings) {
  if (settings.significant) {
    const made = rounded(number, settings.maximumSignificantDigits);
    return { ...made, shownFraction: Math.max(0, settings.minimumSignificantDigits - Math.max(made.point, made.digits === "" ? 1 : made.point)) };
  }
  // Compact numbers have two digits, or all of their whole ones.
  const count = settings.compactRounding ? Math.max(number.point, 2) : number.point + settings.maximumFractionDigits;
  return { ...rounded(number, count), shownFraction: settings.compactRounding ? 0 : settings.minimumFractionDigits };
}

// Signs, currencies and units around the digits.
function decorated(parts, negative, zero, settings, one) {
  const { style, signDisplay, currency } = settings;
  const minus = negative && signDisplay !== "never" && !(zero && (signDisplay === "negative" || signDisplay === "exceptZero"));
  const plus = !negative && (signDisplay === "always" || (signDisplay === "exceptZero" && !zero));
  const sign = minus ? [{ type: "minusSign", value: "-" }] : plus ? [{ type: "plusSign", value: "+" }] : [];
  if (style === "percent") return [...sign, ...parts, { type: "percentSign", value: "%" }];
  if (style === "unit") return [...sign, ...parts, ...unitParts(settings, one)];
  if (style !== "currency") return [...sign, ...parts];
  if (settings.currencyDisplay === "name") return [...sign, ...parts, { type: "literal", value: " " }, { type: "currency", value: `${currencyNames[currency] ?? currency}${one || currencyNames[currency] === undefined || /yen|yuan/.test(currencyNames[currency]) ? "" : "s"}` }];
  const symbol = settings.currencyDisplay === "code" ? undefined : settings.currencyDisplay === "narrowSymbol" ? symbols[currency]?.replace(/^[A-Z]+(?=[$¥])/, "") : symbols[currency];
  const money = [{ type: "currency", value: symbol ?? currency }, ...(symbol === undefined ? [{ type: "literal", value: "\u00a0" }] : [])];
  if (minus && settings.currencySign === "accounting") return [{ type: "literal", value: "(" }, ...money, ...parts, { type: "literal", value: ")" }];
  return [...sign, ...money, ...parts];
}

function unitParts({ unit, unitDisplay }, one) {
  if (unitDisplay === "long") return [{ type: "literal", value: " " }, { type: "unit", value: `${unit.replace("-per-", `${one ? "" : "s"} per `)}${one || unit.includes("-per-") ? "" : "s"}` }];
  let text = shortUnits[unit] ?? ` ${unit}`;
  if (plurals.has(text.trim()) && !one) text += "s";
  if (/^ (wk|mth|yr)$/.test(text) && !one) text += "s";
  if (unitDisplay === "narrow") text = text.trim();
  return text.startsWith(" ") ? [{ type: "literal", value: " " }, { type: "unit", value: text.slice(1) }] : [{ type: "unit", value: text }];
}

class PluralRules {
  #type;
  #locale;
  #format;

  constructor(wanted, options = {}) {
    this.#type = options.type ?? "cardinal";
    if (this.#type !== "cardinal" && this.#type !== "ordinal") throw new RangeError(`Value ${this.#type} out of range for Intl.PluralRules options property type`);
    this.#locale = localeOf(wanted, ["en-US"], "en-US");
    this.#format = new NumberFormat("en-US", { ...options, style: "decimal", useGrouping: false });
  }

  select(value) {
    const text = this.#format.format(Math.abs(Number(value)));
    if (this.#type === "cardinal") return text === "1" ? "one" : "other";
    const n = Number(text);
    if (n % 10 === 1 && n % 100 !== 11) return "one";
    if (n % 10 === 2 && n % 100 !== 12) return "two";
    return n % 10 === 3 && n % 100 !== 13 ? "few" : "other";
  }

  selectRange(start, end) {
    return this.select(end);
  }

  resolvedOptions() {
    const { minimumIntegerDigits, minimumFractionDigits, maximumFractionDigits } = this.#format.resolvedOptions();
    return { locale: this.#locale, type: this.#type, minimumIntegerDigits, minimumFractionDigits, maximumFractionDigits, pluralCategories: this.#type === "cardinal" ? ["one", "other"] : ["few", "one", "two", "other"] };
  }

  static supportedLocalesOf(wanted) {
    return supportedLocalesOf(wanted, ["en-US"]);
  }
}
Object.defineProperty(PluralRules.prototype, Symbol.toStringTag, { value: "Intl.PluralRules", configurable: true });

const callable = new Proxy(NumberFormat, { apply: (Class, self, args) => new Class(...args) });
NumberFormat.prototype.constructor = callable;

module.exports = { NumberFormat: callable, PluralRules };
