// Intl as far as libraries probe for it: English, the Gregorian calendar, every time zone. The engine has none.
"use strict";

const months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const two = (number) => String(number).padStart(2, "0");

// English is all there is; what was asked for is answered with it, as ECMA-402 §9.2 does for what is not supported.
function localeOf(locales) {
  const wanted = [locales ?? "en-US"].flat()[0] ?? "en-US";
  return /^en(-|$)/i.test(String(wanted)) ? String(wanted) : "en-US";
}
const supportedLocalesOf = (locales) => [locales ?? []].flat().filter((locale) => /^en(-|$)/i.test(locale));

function offsetZone(text) {
  const found = /^([+-])(\d{2}):?(\d{2})$/.exec(text);
  return found === null ? undefined : (found[1] === "-" ? -1 : 1) * (Number(found[2]) * 60 + Number(found[3])) * 60;
}

// Year, month, day, hour, minute, second, offset, abbreviation, name.
function partsIn(milliseconds, zone) {
  const offset = offsetZone(zone);
  if (offset === undefined) return internal.zoneParts(milliseconds, zone);
  const date = new Date(milliseconds + offset * 1000);
  return [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds(), offset, gmt(offset, false), zone];
}

function gmt(offset, long) {
  if (offset === 0) return "GMT";
  const minutes = Math.abs(offset) / 60;
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  const sign = offset < 0 ? "-" : "+";
  return long ? `GMT${sign}${two(hours)}:${two(rest)}` : `GMT${sign}${hours}${rest === 0 ? "" : `:${two(rest)}`}`;
}

// en-US has short names for its own zones and for UTC; others are offsets.
const named = { EST: "Eastern Standard Time", EDT: "Eastern Daylight Time", CST: "Central Standard Time", CDT: "Central Daylight Time", MST: "Mountain Standard Time", MDT: "Mountain Daylight Time", PST: "Pacific Standard Time", PDT: "Pacific Daylight Time", AKST: "Alaska Standard Time", AKDT: "Alaska Daylight Time", HST: "Hawaii-Aleutian Standard Time", UTC: "Coordinated Universal Time" };

function zoneName([, , , , , , offset, abbreviation, zone], style) {
  const american = zone.startsWith("America/") || zone.startsWith("US/") || zone === "Pacific/Honolulu" || zone === "UTC" || zone.startsWith("Etc/");
  if (style === "shortOffset") return gmt(offset, false);
  if (style === "longOffset") return gmt(offset, true);
  const known = american && Object.hasOwn(named, abbreviation);
  if (style === "long" || style === "longGeneric") return known ? named[abbreviation] : gmt(offset, true);
  return known ? abbreviation : gmt(offset, false);
}

const styles = {
  full: { weekday: "long", year: "numeric", month: "long", day: "numeric" },
  long: { year: "numeric", month: "long", day: "numeric" },
  medium: { year: "numeric", month: "short", day: "numeric" },
  short: { year: "2-digit", month: "numeric", day: "numeric" },
};
const timeStyles = {
  full: { hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "long" },
  long: { hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "short" },
  medium: { hour: "numeric", minute: "2-digit", second: "2-digit" },
  short: { hour: "numeric", minute: "2-digit" },
};
const fields = ["weekday", "era", "year", "month", "day", "dayPeriod", "hour", "minute", "second", "fractionalSecondDigits", "timeZoneName"];

class DateTimeFormat {
  #options;
  #locale;
  #zone;
  constructor(locales, options = {}) {
    if (new.target === undefined) return new DateTimeFormat(locales, options);
    this.#locale = localeOf(locales);
    let zone = options?.timeZone === undefined ? internal.zoneName() : String(options.timeZone);
    const known = partsIn(0, zone);
    if (known === undefined || known === null) throw new RangeError(`Invalid time zone specified: ${zone}`);
    zone = offsetZone(zone) === undefined ? known[8] : zone;
    this.#zone = /^(etc\/)?(utc|gmt|zulu|uct)$/i.test(zone) ? "UTC" : zone;
    const chosen = { ...styles[options?.dateStyle], ...timeStyles[options?.timeStyle] };
    for (const field of fields) if (options?.[field] !== undefined) chosen[field] = options[field];
    if (["weekday", "year", "month", "day", "dayPeriod", "hour", "minute", "second", "fractionalSecondDigits"].every((field) => chosen[field] === undefined)) Object.assign(chosen, { year: "numeric", month: "numeric", day: "numeric" });
    if (chosen.hour !== undefined) {
      const cycle = options?.hour12 === undefined ? options?.hourCycle ?? "h12" : options.hour12 ? "h12" : "h23";
      chosen.hourCycle = cycle;
    }
    this.#options = chosen;
    this.format = (date) => this.formatToParts(date).map(({ value }) => value).join("");
    Object.defineProperty(this, "format", { enumerable: false });
  }

  resolvedOptions() {
    const { hourCycle, ...rest } = this.#options;
    const clock = hourCycle === undefined ? {} : { hourCycle, hour12: hourCycle === "h12" || hourCycle === "h11" };
    return { locale: this.#locale, calendar: "gregory", numberingSystem: "latn", timeZone: this.#zone, ...clock, ...rest };
  }

  formatToParts(date = Date.now()) {
    const time = Number(date);
    if (!Number.isFinite(time)) throw new RangeError("Invalid time value");
    const at = partsIn(time, this.#zone);
    const options = this.#options;
    const value = (field) => this.#value(field, at, time);
    const has = (field) => options[field] !== undefined;
    const parts = [];
    const add = (type, text) => parts.push({ type, value: text });
    const join = (text) => parts.length > 0 && add("literal", text);
    const textual = options.month !== undefined && ["long", "short", "narrow"].includes(options.month);
    if (has("weekday")) add("weekday", value("weekday"));
    if (textual) {
      if (has("month")) { join(", "); add("month", value("month")); }
      if (has("day")) { join(" "); add("day", value("day")); }
      if (has("year")) { join(has("day") ? ", " : " "); add("year", value("year")); }
    } else {
      const numeric = ["month", "day", "year"].filter(has);
      if (numeric.length > 0) join(", ");
      numeric.forEach((field, index) => {
        if (index > 0) add("literal", "/");
        add(field, value(field));
      });
    }
    if (has("era")) { join(" "); add("era", value("era")); }
    const clock = ["hour", "minute", "second"].filter(has);
    if (clock.length > 0) join(textual && options.month === "long" && options.hour !== undefined && has("weekday") ? " at " : ", ");
    clock.forEach((field, index) => {
      if (index > 0) add("literal", ":");
      add(field, value(field));
    });
    if (has("fractionalSecondDigits")) {
      if (clock.length > 0) add("literal", ".");
      add("fractionalSecond", String(((time % 1000) + 1000) % 1000).padStart(3, "0").slice(0, options.fractionalSecondDigits));
    }
    if (has("hour") && (options.hourCycle === "h12" || options.hourCycle === "h11")) {
      add("literal", "\u202f");
      add("dayPeriod", at[3] < 12 ? "AM" : "PM");
    }
    if (has("timeZoneName")) { join(clock.length > 0 ? " " : ", "); add("timeZoneName", zoneName(at, options.timeZoneName)); }
    return parts;
  }

  #value(field, at, time) {
    const style = this.#options[field];
    const number = (value) => (style === "2-digit" ? two(value % 100) : String(value));
    const word = (words, index) => (style === "long" ? words[index] : style === "narrow" ? words[index][0] : words[index].slice(0, 3));
    switch (field) {
      case "weekday": return word(weekdays, new Date(time + at[6] * 1000).getUTCDay());
      case "era": return style === "long" ? (at[0] > 0 ? "Anno Domini" : "Before Christ") : style === "narrow" ? (at[0] > 0 ? "A" : "B") : at[0] > 0 ? "AD" : "BC";
      case "year": return number(this.#options.era === undefined || at[0] > 0 ? at[0] : 1 - at[0]);
      case "month": return ["long", "short", "narrow"].includes(style) ? word(months, at[1] - 1) : number(at[1]);
      case "day": return number(at[2]);
      case "hour": return this.#hour(at[3], style);
      case "minute": return this.#options.hour === undefined && style !== "2-digit" ? String(at[4]) : two(at[4]);
      default: return this.#options.minute === undefined && style !== "2-digit" ? String(at[5]) : two(at[5]);
    }
  }

  #hour(hour, style) {
    const cycle = this.#options.hourCycle;
    if (cycle === "h12") hour = hour % 12 || 12;
    else if (cycle === "h11") hour %= 12;
    else if (cycle === "h24") hour = hour || 24;
    return style === "2-digit" || cycle === "h23" || cycle === "h24" ? two(hour) : String(hour);
  }

  formatRange(start, end) { return `${this.format(start)} – ${this.format(end)}`; }
  get [Symbol.toStringTag]() { return "Intl.DateTimeFormat"; }
  static supportedLocalesOf(locales) { return supportedLocalesOf(locales); }
}

class NumberFormat {
  #options;
  constructor(locales, options = {}) {
    if (new.target === undefined) return new NumberFormat(locales, options);
    const currency = options?.style === "currency";
    const percent = options?.style === "percent";
    const least = options?.minimumFractionDigits ?? (currency ? 2 : 0);
    const most = options?.maximumFractionDigits ?? Math.max(least, currency ? 2 : percent ? 0 : 3);
    this.#options = { locale: localeOf(locales), numberingSystem: "latn", style: "decimal", minimumIntegerDigits: 1, useGrouping: true, ...options, minimumFractionDigits: Math.min(least, most), maximumFractionDigits: most };
    this.format = (number) => this.#format(number);
    Object.defineProperty(this, "format", { enumerable: false });
  }
  resolvedOptions() { return { ...this.#options }; }
  formatToParts(number) { return [{ type: "literal", value: this.format(number) }]; }
  #format(number) {
    const { style, currency, unit, minimumFractionDigits, maximumFractionDigits, minimumIntegerDigits, useGrouping } = this.#options;
    const value = typeof number === "bigint" ? number : Number(number) * (style === "percent" ? 100 : 1);
    if (Number.isNaN(value)) return "NaN";
    const negative = value < 0 || Object.is(value, -0);
    let [whole, rest = ""] = (typeof value === "bigint" ? String(value < 0n ? -value : value) : Math.abs(value) === Infinity ? "∞" : Math.abs(value).toFixed(Math.min(maximumFractionDigits, 100))).split(".");
    while (rest.length > minimumFractionDigits && rest.endsWith("0")) rest = rest.slice(0, -1);
    whole = whole.padStart(minimumIntegerDigits, "0");
    if (useGrouping !== false && useGrouping !== "false") whole = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
    const text = rest === "" ? whole : `${whole}.${rest}`;
    const signs = { USD: "$", EUR: "€", GBP: "£", JPY: "¥", INR: "₹", CNY: "CN¥", KRW: "₩" };
    const shown = style === "currency" ? `${signs[currency] ?? `${currency}\u00a0`}${text}` : style === "percent" ? `${text}%` : style === "unit" ? `${text} ${unit}` : text;
    return negative ? `-${shown}` : shown;
  }
  static supportedLocalesOf(locales) { return supportedLocalesOf(locales); }
}

class Collator {
  #options;
  constructor(locales, options = {}) {
    if (new.target === undefined) return new Collator(locales, options);
    this.#options = { locale: localeOf(locales), usage: "sort", sensitivity: "variant", ignorePunctuation: false, collation: "default", numeric: false, caseFirst: "false", ...options };
    this.compare = (a, b) => this.#compare(String(a), String(b));
  }
  resolvedOptions() { return { ...this.#options }; }
  #compare(a, b) {
    const { sensitivity, numeric } = this.#options;
    if (numeric) {
      const [left, right] = [a.split(/(\d+)/), b.split(/(\d+)/)];
      for (let i = 0; i < Math.min(left.length, right.length); i++) {
        const order = i % 2 === 1 ? Math.sign(Number(left[i]) - Number(right[i])) : this.#words(left[i], right[i], sensitivity);
        if (order !== 0) return order;
      }
      return Math.sign(left.length - right.length);
    }
    return this.#words(a, b, sensitivity);
  }
  #words(a, b, sensitivity) {
    const base = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
    const plain = (one, other) => (one < other ? -1 : one > other ? 1 : 0);
    const order = plain(base(a), base(b));
    if (order !== 0 || sensitivity === "base") return order;
    const accents = plain(a.normalize("NFD").toLowerCase(), b.normalize("NFD").toLowerCase());
    if (accents !== 0 || sensitivity === "accent") return sensitivity === "case" ? 0 : accents;
    return -plain(a, b);
  }
  static supportedLocalesOf(locales) { return supportedLocalesOf(locales); }
}

class PluralRules {
  #options;
  constructor(locales, options = {}) { this.#options = { locale: localeOf(locales), type: "cardinal", ...options }; }
  select(number) {
    if (this.#options.type !== "ordinal") return Number(number) === 1 ? "one" : "other";
    const [ten, hundred] = [number % 10, number % 100];
    return ten === 1 && hundred !== 11 ? "one" : ten === 2 && hundred !== 12 ? "two" : ten === 3 && hundred !== 13 ? "few" : "other";
  }
  resolvedOptions() { return { ...this.#options, pluralCategories: this.#options.type === "ordinal" ? ["few", "one", "two", "other"] : ["one", "other"] }; }
  static supportedLocalesOf(locales) { return supportedLocalesOf(locales); }
}

class ListFormat {
  #word;
  constructor(locales, options = {}) { this.#word = options?.type === "disjunction" ? "or" : options?.type === "unit" ? "" : "and"; }
  format(list) {
    const items = [...list];
    if (items.length < 2) return items.join("");
    const last = items.pop();
    if (this.#word === "") return `${items.join(", ")}, ${last}`;
    return items.length === 1 ? `${items[0]} ${this.#word} ${last}` : `${items.join(", ")}, ${this.#word} ${last}`;
  }
  static supportedLocalesOf(locales) { return supportedLocalesOf(locales); }
}

class RelativeTimeFormat {
  #numeric;
  #locale;
  constructor(locales, options = {}) {
    this.#locale = localeOf(locales);
    this.#numeric = options?.numeric ?? "always";
  }
  format(value, unit) {
    const name = String(unit).replace(/s$/, "");
    const near = { day: { "-1": "yesterday", 0: "today", 1: "tomorrow" } }[name]?.[value] ?? { "-1": `last ${name}`, 0: `this ${name}`, 1: `next ${name}` }[value];
    if (this.#numeric === "auto" && near !== undefined && name !== "second") return near;
    const count = `${new NumberFormat().format(Math.abs(value))} ${name}${Math.abs(value) === 1 ? "" : "s"}`;
    return value < 0 || Object.is(value, -0) ? `${count} ago` : `in ${count}`;
  }
  resolvedOptions() { return { locale: this.#locale, style: "long", numeric: this.#numeric, numberingSystem: "latn" }; }
  static supportedLocalesOf(locales) { return supportedLocalesOf(locales); }
}

class Locale {
  constructor(tag) {
    this.baseName = String(tag);
    [this.language, this.region] = this.baseName.split("-");
  }
  toString() { return this.baseName; }
}

const Intl = {
  DateTimeFormat, NumberFormat, Collator, PluralRules, ListFormat, RelativeTimeFormat, Locale,
  getCanonicalLocales: (locales) => [locales ?? []].flat().map(String),
  supportedValuesOf: () => [],
};
Object.defineProperty(Intl, Symbol.toStringTag, { value: "Intl", configurable: true });
Object.defineProperty(internal.global, "Intl", { value: Intl, writable: true, enumerable: false, configurable: true });

// What the engine formats without a locale is formatted as Intl would.
const hidden = (target, name, value) => Object.defineProperty(target, name, { value, writable: true, enumerable: false, configurable: true });
const day = { year: "numeric", month: "numeric", day: "numeric" };
const clock = { hour: "numeric", minute: "2-digit", second: "2-digit" };
const without = (options, ...names) => names.every((name) => options?.[name] === undefined) && options?.dateStyle === undefined && options?.timeStyle === undefined;
hidden(Date.prototype, "toLocaleString", function toLocaleString(locales, options) {
  const all = without(options, "weekday", "year", "month", "day", "hour", "minute", "second") ? { ...day, ...clock, ...options } : options;
  return Number.isNaN(this.getTime()) ? "Invalid Date" : new DateTimeFormat(locales, all).format(this);
});
hidden(Date.prototype, "toLocaleDateString", function toLocaleDateString(locales, options) {
  const all = without(options, "weekday", "year", "month", "day") ? { ...day, ...options } : options;
  return Number.isNaN(this.getTime()) ? "Invalid Date" : new DateTimeFormat(locales, all).format(this);
});
hidden(Date.prototype, "toLocaleTimeString", function toLocaleTimeString(locales, options) {
  const all = without(options, "hour", "minute", "second") ? { ...clock, ...options } : options;
  return Number.isNaN(this.getTime()) ? "Invalid Date" : new DateTimeFormat(locales, all).format(this);
});
hidden(Number.prototype, "toLocaleString", function toLocaleString(locales, options) { return new NumberFormat(locales, options).format(this); });
module.exports = Intl;
