// Intl.DateTimeFormat in English, and the few other forms of numeric dates that programs ask for by locale ("en-CA" and
// "sv-SE" for the ISO order, "en-GB" for day first). Zones are the native's.
"use strict";

const { localeOf, supportedLocalesOf } = require("internal/intl_locale");

const months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const locales = {
  "en-US": { order: "MDY", separator: "/", hourCycle: "h12", halves: ["AM", "PM"] },
  "en-CA": { order: "YMD", separator: "-", padded: true, hourCycle: "h12", halves: ["a.m.", "p.m."] },
  "en-GB": { order: "DMY", separator: "/", padded: true, hourCycle: "h23", halves: ["am", "pm"] },
  "sv-SE": { order: "YMD", separator: "-", padded: true, hourCycle: "h23", halves: ["fm", "em"], joint: " " },
};

const fields = ["weekday", "era", "year", "month", "day", "dayPeriod", "hour", "minute", "second", "fractionalSecondDigits", "timeZoneName"];
const styles = {
  date: { full: { weekday: "long", year: "numeric", month: "long", day: "numeric" }, long: { year: "numeric", month: "long", day: "numeric" }, medium: { year: "numeric", month: "short", day: "numeric" }, short: { year: "2-digit", month: "numeric", day: "numeric" } },
  time: {
    full: { hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "long" }, long: { hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "short" },
    medium: { hour: "numeric", minute: "2-digit", second: "2-digit" }, short: { hour: "numeric", minute: "2-digit" },
  },
};
const values = {
  weekday: ["long", "short", "narrow"], era: ["long", "short", "narrow"], year: ["numeric", "2-digit"], month: ["numeric", "2-digit", "long", "short", "narrow"], day: ["numeric", "2-digit"], dayPeriod: ["long", "short", "narrow"],
  hour: ["numeric", "2-digit"], minute: ["numeric", "2-digit"], second: ["numeric", "2-digit"], timeZoneName: ["short", "long", "shortOffset", "longOffset", "shortGeneric", "longGeneric"],
  hourCycle: ["h11", "h12", "h23", "h24"], dateStyle: ["full", "long", "medium", "short"], timeStyle: ["full", "long", "medium", "short"],
};

// Abbreviations of the zone database that English has its own names for.
const northAmerican = { E: "Eastern", C: "Central", M: "Mountain", P: "Pacific", AK: "Alaska", H: "Hawaii-Aleutian" };
const longNames = {
  UTC: "Coordinated Universal Time", GMT: "Greenwich Mean Time", BST: "British Summer Time", CET: "Central European Standard Time", CEST: "Central European Summer Time",
  EET: "Eastern European Standard Time", EEST: "Eastern European Summer Time", WET: "Western European Standard Time", WEST: "Western European Summer Time", MSK: "Moscow Standard Time", JST: "Japan Standard Time",
  KST: "Korean Standard Time", AEST: "Australian Eastern Standard Time", AEDT: "Australian Eastern Daylight Time", ACST: "Australian Central Standard Time", ACDT: "Australian Central Daylight Time",
  AWST: "Australian Western Standard Time", NZST: "New Zealand Standard Time", NZDT: "New Zealand Daylight Time", SAST: "South Africa Standard Time", HKT: "Hong Kong Standard Time", PKT: "Pakistan Standard Time",
};
const zonesOfLongNames = { "Asia/Kolkata": "India Standard Time", "Asia/Calcutta": "India Standard Time", "Asia/Shanghai": "China Standard Time", "Asia/Singapore": "Singapore Standard Time", "America/Sao_Paulo": "Brasilia Standard Time" };

function option(options, name) {
  const value = options[name];
  if (value === undefined) return undefined;
  if (!values[name].includes(`${value}`)) throw new RangeError(`Value ${value} out of range for Intl.DateTimeFormat options property ${name}`);
  return `${value}`;
}

// An IANA name as it is written, or an offset; a RangeError for what is neither.
function zoneOf(zone) {
  if (zone === undefined) return internal.zoneName();
  const text = `${zone}`;
  if (/^(etc\/)?(utc|gmt|uct|zulu|greenwich|universal)$/i.test(text)) return "UTC";
  const offset = /^([+-])(\d\d):?(\d\d)?$/.exec(text);
  if (offset !== null && Number(offset[2]) < 24 && Number(offset[3] ?? 0) < 60) return `${offset[1]}${offset[2]}:${offset[3] ?? "00"}`;
  const parts = internal.zoneParts(0, text);
  if (parts === undefined || parts === null || !/^[a-z]/i.test(text)) throw new RangeError(`Invalid time zone specified: ${text}`);
  return parts[8] ?? text;
}

function clockAt(ms, zone) {
  const fixed = /^([+-])(\d\d):(\d\d)$/.exec(zone);
  let offset = 0;
  let abbreviation = "UTC";
  if (fixed !== null) {
    offset = (fixed[1] === "-" ? -1 : 1) * (Number(fixed[2]) * 3600 + Number(fixed[3]) * 60);
    abbreviation = zone;
  } else if (zone !== "UTC") {
    // The calendar beyond the database's years is that of its edge.
    const parts = internal.zoneParts(Math.min(Math.max(ms, -377705023201000), 253402207200999), zone);
    if (parts !== undefined && parts !== null) [offset, abbreviation = ""] = [parts[6], parts[7]];
  }
  const local = new Date(ms + offset * 1000);
  const year = local.getUTCFullYear();
  return {
    year: year > 0 ? year : 1 - year, era: year > 0 ? 1 : 0, month: local.getUTCMonth(), day: local.getUTCDate(), weekday: local.getUTCDay(), hour: local.getUTCHours(), minute: local.getUTCMinutes(),
    second: local.getUTCSeconds(), millisecond: local.getUTCMilliseconds(), offset, abbreviation,
  };
}

function offsetText(seconds, style) {
  if (style === "long") {
    const all = Math.abs(seconds);
    return `GMT${seconds < 0 ? "-" : "+"}${two(Math.floor(all / 3600))}:${two(Math.floor((all % 3600) / 60))}`;
  }
  const all = Math.abs(seconds);
  const minutes = Math.floor((all % 3600) / 60);
  return `GMT${seconds < 0 ? "-" : "+"}${Math.floor(all / 3600)}${minutes > 0 ? `:${two(minutes)}` : ""}`;
}

function zoneText(clock, zone, style) {
  if (style === "shortOffset") return offsetText(clock.offset, "short");
  if (style === "longOffset") return offsetText(clock.offset, "long");
  if (zone === "UTC") return style.endsWith("Generic") ? offsetText(0, style.startsWith("long") ? "long" : "short") : style === "long" ? longNames.UTC : "UTC";
  const american = /^(America|US|Canada|Pacific\/Honolulu)/.test(zone) ? /^(E|C|M|P|AK|H)([SD])T$/.exec(clock.abbreviation) : null;
  if (american !== null) {
    const [short, region, season] = american;
    const daylight = season === "D" ? "Daylight" : "Standard";
    return { short, long: `${northAmerican[region]} ${daylight} Time`, shortGeneric: `${region}T`, longGeneric: `${northAmerican[region]} Time` }[style];
  }
  const long = zonesOfLongNames[zone] ?? longNames[clock.abbreviation];
  if (style.startsWith("long")) return long === undefined ? offsetText(clock.offset, "long") : style === "long" ? long : long.replace(/ (Standard|Summer|Daylight) Time$/, " Time");
  return clock.offset === 0 ? "GMT" : offsetText(clock.offset, "short");
}

const two = (value) => `${value}`.padStart(2, "0");
const numeric = (value, style) => (style === "2-digit" ? two(value % 100) : `${value}`);
const word = (text, style) => (style === "long" ? text : style === "short" ? text.slice(0, 3) : text[0]);

let dateText;

class DateTimeFormat {
  #locale;
  #zone;
  #shown;
  #hourCycle;
  #styles;
  #bound;

  constructor(wanted, options = undefined) {
    if (new.target === undefined) return new DateTimeFormat(wanted, options);
    this.#read(wanted, options === undefined ? {} : Object(options), ["date"], "any");
  }

  // `needed`: what is shown if nothing is asked for; `allowed`: which fields count as having asked.
  #read(wanted, options, needed, allowed) {
    this.#locale = localeOf(wanted, Object.keys(locales), "en-US");
    this.#zone = zoneOf(options.timeZone);
    const shown = {};
    for (const field of fields) {
      if (field === "fractionalSecondDigits") {
        const digits = options.fractionalSecondDigits;
        if (digits === undefined) continue;
        if (!(digits >= 1 && digits <= 3)) throw new RangeError("fractionalSecondDigits value is out of range.");
        shown[field] = Math.floor(digits);
      } else {
        const value = option(options, field);
        if (value !== undefined) shown[field] = value;
      }
    }
    const [dateStyle, timeStyle] = [option(options, "dateStyle"), option(options, "timeStyle")];
    const explicit = Object.keys(shown);
    if ((dateStyle !== undefined || timeStyle !== undefined) && explicit.length > 0) throw new TypeError(`Can't set option ${explicit[0]} when ${dateStyle !== undefined ? "dateStyle" : "timeStyle"} is used`);
    this.#styles = { dateStyle, timeStyle };
    if (dateStyle !== undefined || timeStyle !== undefined) Object.assign(shown, styles.date[dateStyle], styles.time[timeStyle]);
    else {
      const dates = ["weekday", "year", "month", "day"].some((field) => shown[field] !== undefined);
      const times = ["dayPeriod", "hour", "minute", "second", "fractionalSecondDigits"].some((field) => shown[field] !== undefined);
      if (!((allowed !== "time" && dates) || (allowed !== "date" && times))) {
        if (needed.includes("date")) Object.assign(shown, { year: "numeric", month: "numeric", day: "numeric" });
        if (needed.includes("time")) Object.assign(shown, { hour: "numeric", minute: "numeric", second: "numeric" });
      }
    }
    this.#cycle(shown, options);
    this.#shown = this.#settled(shown, dateStyle);
  }

  #cycle(shown, options) {
    if (shown.hour === undefined) return;
    const hourCycle = option(options, "hourCycle");
    const own = locales[this.#locale].hourCycle;
    if (options.hour12 !== undefined) this.#hourCycle = options.hour12 ? "h12" : this.#locale === "en-US" ? "h24" : "h23";
    else this.#hourCycle = hourCycle ?? own;
  }

  // How each field is really shown: some have only one form next to others.
  #settled(shown, dateStyle) {
    const { padded } = locales[this.#locale];
    if (padded && dateStyle === "short") Object.assign(shown, { year: "numeric" });
    if (padded && shown.month !== undefined && /numeric|2-digit/.test(shown.month) && shown.day !== undefined && shown.year !== undefined) Object.assign(shown, { month: "2-digit", day: "2-digit" });
    if (shown.hour !== undefined && /h2/.test(this.#hourCycle)) shown.hour = "2-digit";
    if (shown.hour !== undefined && shown.minute !== undefined) shown.minute = "2-digit";
    if (shown.minute !== undefined && shown.second !== undefined) Object.assign(shown, { minute: "2-digit", second: "2-digit" });
    else if (shown.hour === undefined) for (const field of ["minute", "second"]) if (shown[field] !== undefined) shown[field] = "numeric";
    return shown;
  }

  get format() {
    return (this.#bound ??= (date) => join(this.#parts(date)));
  }

  formatToParts(date) {
    return this.#parts(date);
  }

  formatRange(start, end) {
    const [from, to] = [this.format(start), this.format(end)];
    return from === to ? from : `${from} – ${to}`;
  }

  formatRangeToParts(start, end) {
    const [from, to] = [this.#parts(start), this.#parts(end)];
    const marked = (parts, source) => parts.map((part) => ({ ...part, source }));
    if (join(from) === join(to)) return marked(from, "shared");
    return [...marked(from, "startRange"), { type: "literal", value: " – ", source: "shared" }, ...marked(to, "endRange")];
  }

  resolvedOptions() {
    const made = { locale: this.#locale, calendar: "gregory", numberingSystem: "latn", timeZone: this.#zone };
    if (this.#hourCycle !== undefined) Object.assign(made, { hourCycle: this.#hourCycle, hour12: /^h1/.test(this.#hourCycle) });
    const { dateStyle, timeStyle } = this.#styles;
    if (dateStyle === undefined && timeStyle === undefined) {
      for (const field of fields) if (this.#shown[field] !== undefined) made[field] = this.#shown[field];
    }
    if (dateStyle !== undefined) made.dateStyle = dateStyle;
    if (timeStyle !== undefined) made.timeStyle = timeStyle;
    return made;
  }

  #parts(date) {
    const ms = date === undefined ? Date.now() : Number(date);
    if (Number.isNaN(ms) || Math.abs(ms) > 8.64e15) throw new RangeError("Invalid time value");
    const clock = clockAt(Math.trunc(ms), this.#zone);
    const shown = this.#shown;
    const dateParts = this.#date(clock);
    const timeParts = this.#time(clock);
    const parts = [...dateParts];
    if (dateParts.length > 0 && timeParts.length > 0) {
      const isLong = this.#styles.timeStyle !== undefined && /full|long/.test(this.#styles.dateStyle);
      const onlyWeekday = shown.weekday !== undefined && shown.day === undefined && shown.month === undefined && shown.year === undefined;
      parts.push(literal(isLong ? " at " : onlyWeekday ? " " : (locales[this.#locale].joint ?? ", ")));
    }
    parts.push(...timeParts);
    if (shown.timeZoneName !== undefined) {
      if (parts.length > 0) parts.push(literal(timeParts.length > 0 ? " " : ", "));
      parts.push({ type: "timeZoneName", value: zoneText(clock, this.#zone, shown.timeZoneName) });
    }
    return parts;
  }

  #date(clock) {
    const { weekday, era, year, month, day } = this.#shown;
    const piece = {
      W: weekday && { type: "weekday", value: word(weekdays[clock.weekday], weekday) },
      Y: year && { type: "year", value: numeric(clock.year, year) },
      M: month && { type: "month", value: /numeric|2-digit/.test(month) ? numeric(clock.month + 1, month) : word(months[clock.month], month) },
      D: day && { type: "day", value: numeric(clock.day, day) },
      E: era && { type: "era", value: era === "long" ? ["Before Christ", "Anno Domini"][clock.era] : era === "short" ? ["BC", "AD"][clock.era] : ["B", "A"][clock.era] },
    };
    const style = locales[this.#locale];
    const isText = month !== undefined && !/numeric|2-digit/.test(month);
    const made = [];
    const add = (key, before) => {
      if (piece[key] === undefined) return;
      if (made.length > 0) made.push(literal(before));
      made.push(piece[key]);
    };
    // A weekday comes first before a day of a month, and last elsewhere.
    const leads = weekday !== undefined && (month !== undefined ? day !== undefined : year === undefined && day === undefined);
    if (leads) add("W", "");
    if (isText && (style.order === "MDY" || this.#locale === "en-CA")) {
      add("M", ", ");
      add("D", " ");
      add("Y", day === undefined ? " " : ", ");
    } else if (isText) {
      add("D", ", ");
      add("M", day === undefined ? ", " : " ");
      add("Y", " ");
    } else {
      let first = true;
      for (const key of style.order) {
        if (piece[key] === undefined) continue;
        add(key, first ? ", " : style.separator);
        first = false;
      }
    }
    add("E", " ");
    if (!leads) add("W", " ");
    return made;
  }

  #time(clock) {
    const { hour, minute, second, fractionalSecondDigits: digits } = this.#shown;
    const made = [];
    if (hour !== undefined) {
      const count = { h11: clock.hour % 12, h12: clock.hour % 12 || 12, h23: clock.hour, h24: clock.hour || 24 }[this.#hourCycle];
      made.push({ type: "hour", value: numeric(count, hour) });
    }
    if (minute !== undefined) {
      if (made.length > 0) made.push(literal(":"));
      made.push({ type: "minute", value: numeric(clock.minute, minute) });
    }
    if (second !== undefined) {
      if (made.length > 0) made.push(literal(":"));
      made.push({ type: "second", value: numeric(clock.second, second) });
    }
    if (digits !== undefined) {
      if (made.length > 0) made.push(literal("."));
      made.push({ type: "fractionalSecond", value: `${clock.millisecond}`.padStart(3, "0").slice(0, digits) });
    }
    if (hour !== undefined && /^h1/.test(this.#hourCycle)) made.push(literal(narrow), { type: "dayPeriod", value: locales[this.#locale].halves[clock.hour < 12 ? 0 : 1] });
    return made;
  }

  static supportedLocalesOf(wanted) {
    return supportedLocalesOf(wanted, Object.keys(locales));
  }

  static {
    // Date's own methods default to other fields.
    dateText = (date, wanted, options, needed, allowed) => {
      if (Number.isNaN(date.getTime())) return "Invalid Date";
      const made = new DateTimeFormat(wanted);
      made.#hourCycle = undefined;
      made.#read(wanted, options === undefined ? {} : Object(options), needed, allowed);
      return made.format(date);
    };
  }
}
Object.defineProperty(DateTimeFormat.prototype, Symbol.toStringTag, { value: "Intl.DateTimeFormat", configurable: true });

function literal(value) {
  return { type: "literal", value };
}

// Parts keep the narrow space before AM that Unicode asks for; whole texts have the plain one that programs expect.
const narrow = "\u202f";

function join(parts) {
  return parts.map(({ value }) => (value === narrow ? " " : value)).join("");
}

// `Intl.DateTimeFormat()` works without `new`.
const callable = new Proxy(DateTimeFormat, { apply: (Class, self, args) => new Class(...args) });
DateTimeFormat.prototype.constructor = callable;

module.exports = { DateTimeFormat: callable, dateText };
