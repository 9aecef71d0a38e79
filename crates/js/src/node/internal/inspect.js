// util.inspect: any value as the text that Node shows, layout included, because people and tests read it.
"use strict";

const types = require("internal/types");
const { quote, shortName } = require("internal/inspect_text");
const { arrange } = require("internal/inspect_layout");

const custom = Symbol.for("nodejs.util.inspect.custom");
const identifier = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
const builtInNames = new Set(Object.getOwnPropertyNames(internal.global).filter((name) => /^[A-Z][a-zA-Z0-9]+$/.test(name)));

const defaults = {
  showHidden: false, depth: 2, colors: false, customInspect: true, showProxy: false, maxArrayLength: 100,
  maxStringLength: 10000, breakLength: 80, compact: 3, sorted: false, getters: false, numericSeparator: false,
};

const styles = Object.assign(Object.create(null), {
  special: "cyan", number: "yellow", bigint: "yellow", boolean: "yellow", undefined: "grey", null: "bold", string: "green",
  symbol: "green", date: "magenta", regexp: "red", module: "underline",
});

const colors = Object.assign(Object.create(null), {
  reset: [0, 0], bold: [1, 22], dim: [2, 22], italic: [3, 23], underline: [4, 24], blink: [5, 25], inverse: [7, 27], hidden: [8, 28], strikethrough: [9, 29],
  doubleunderline: [21, 24], black: [30, 39], red: [31, 39], green: [32, 39], yellow: [33, 39], blue: [34, 39], magenta: [35, 39], cyan: [36, 39], white: [37, 39],
  bgBlack: [40, 49], bgRed: [41, 49], bgGreen: [42, 49], bgYellow: [43, 49], bgBlue: [44, 49], bgMagenta: [45, 49], bgCyan: [46, 49], bgWhite: [47, 49],
  framed: [51, 54], overlined: [53, 55], gray: [90, 39], grey: [90, 39], redBright: [91, 39], greenBright: [92, 39], yellowBright: [93, 39], blueBright: [94, 39],
  magentaBright: [95, 39], cyanBright: [96, 39], whiteBright: [97, 39], bgGray: [100, 49], bgGrey: [100, 49], bgRedBright: [101, 49], bgGreenBright: [102, 49],
  bgYellowBright: [103, 49], bgBlueBright: [104, 49], bgMagentaBright: [105, 49], bgCyanBright: [106, 49], bgWhiteBright: [107, 49],
});

// inspect(value, options), or the old inspect(value, showHidden, depth, colors).
function inspect(value, options, ...old) {
  const job = { ...defaults, seen: [], circular: undefined, indent: 0, deepest: 0, userOptions: undefined };
  if (options !== null && typeof options === "object") {
    for (const key of Object.keys(options)) {
      if (Object.hasOwn(defaults, key) || key === "stylize") job[key] = options[key];
      else job.userOptions = options;
    }
    job.userOptions = options;
  } else {
    if (typeof options === "boolean") job.showHidden = options;
    if (old[0] !== undefined) job.depth = old[0];
    if (typeof old[1] === "boolean") job.colors = old[1];
  }
  job.depth ??= Infinity;
  job.maxArrayLength ??= Infinity;
  job.maxStringLength ??= Infinity;
  const paint = job.colors ? painted : (text) => text;
  job.stylize = paint;
  return show(job, value, 0);
}

function painted(text, style) {
  const pair = colors[styles[style]];
  return pair === undefined ? text : `\u001b[${pair[0]}m${text}\u001b[${pair[1]}m`;
}

function show(job, value, level) {
  if (value === null || (typeof value !== "object" && typeof value !== "function")) return primitive(job, value);
  const own = job.customInspect ? customText(job, value, level) : undefined;
  if (own !== undefined) return own;
  if (job.seen.includes(value)) {
    job.circular ??= new Map();
    if (!job.circular.has(value)) job.circular.set(value, job.circular.size + 1);
    return job.stylize(`[Circular *${job.circular.get(value)}]`, "special");
  }
  return object(job, value, level);
}

// What the value's own [inspect.custom] says, if it has one.
function customText(job, value, level) {
  const method = value[custom];
  if (typeof method !== "function" || method === inspect || (value.constructor && value.constructor.prototype === value)) return undefined;
  const depth = job.depth === Infinity ? Infinity : job.depth - level;
  const options = { ...job.userOptions };
  for (const key of Object.keys(defaults)) options[key] = job[key];
  Object.assign(options, { depth, stylize: job.colors ? painted : (text) => `${text}` });
  const made = method.call(value, depth, options, inspect);
  if (made === value) return undefined;
  if (made !== null && typeof made === "object") return show(job, made, level);
  if (typeof made !== "string") return show(job, made, level);
  return made.replaceAll("\n", `\n${" ".repeat(job.indent)}`);
}

function primitive(job, value) {
  if (typeof value === "string") return text(job, value);
  if (typeof value === "number") return job.stylize(numberText(value, job.numericSeparator), "number");
  if (typeof value === "bigint") return job.stylize(`${job.numericSeparator ? separated(`${value}`) : value}n`, "bigint");
  if (typeof value === "boolean") return job.stylize(`${value}`, "boolean");
  if (typeof value === "undefined") return job.stylize("undefined", "undefined");
  if (value === null) return job.stylize("null", "null");
  return job.stylize(symbolText(value), "symbol");
}

function symbolText(symbol) {
  return Symbol.prototype.toString.call(symbol);
}

function numberText(value, separators) {
  const shown = Object.is(value, -0) ? "-0" : `${value}`;
  if (!separators || !/^-?\d+(\.\d+)?$/.test(shown)) return shown;
  const [whole, part] = shown.split(".");
  return part === undefined ? separated(whole) : `${separated(whole)}.${part.replace(/(\d{3})(?=\d)/g, "$1_")}`;
}

function separated(digits) {
  return digits.replace(/\B(?=(\d{3})+$)/g, "_");
}

function text(job, value) {
  let more = "";
  if (value.length > job.maxStringLength) {
    const left = value.length - job.maxStringLength;
    value = value.slice(0, job.maxStringLength);
    more = `... ${left} more character${left > 1 ? "s" : ""}`;
  }
  // A long text goes on several lines, one for each of its own.
  if (job.compact !== true && value.length > 16 && value.length > job.breakLength - job.indent - 4) {
    const lines = value.split(/(?<=\n)/).map((line) => job.stylize(quote(line), "string"));
    return lines.join(` +\n${" ".repeat(job.indent + 2)}`) + more;
  }
  return job.stylize(quote(value), "string") + more;
}

function object(job, value, level) {
  const shape = describe(job, value, level);
  if (typeof shape === "string") return shape;
  if (level > job.depth) {
    const name = prefixOf(shape.name, shape.tag, shape.fallback ?? "Object").slice(0, -1);
    return job.stylize(name.startsWith("[") ? name : `[${name}]`, "special");
  }
  job.seen.push(value);
  job.deepest = level + 1;
  const items = shape.items ? shape.items() : [];
  for (const key of shape.keys) items.push(property(job, value, key, level + 1));
  job.seen.pop();
  let { base } = shape;
  if (job.circular?.has(value)) {
    const reference = job.stylize(`<ref *${job.circular.get(value)}>`, "special");
    if (job.compact === true) shape.open = `${reference} ${shape.open}`;
    else base = base === "" ? reference : `${reference} ${base}`;
  }
  if (job.sorted) {
    const order = job.sorted === true ? undefined : job.sorted;
    if (shape.isList) items.splice(items.length - shape.keys.length, shape.keys.length, ...items.slice(items.length - shape.keys.length).sort(order));
    else items.sort(order);
  }
  return arrange(job, items, base, shape, level + 1, value);
}

// How an object opens and closes, which keys it shows and what comes before them; or all of its text.
function describe(job, value, level) {
  const name = constructorName(value);
  let tag = value[Symbol.toStringTag];
  if (typeof tag !== "string" || tag === "" || tag === name || (name !== null && tag === name.split(" ")[0])) tag = "";
  const shape = { name, tag, base: "", open: "{", close: "}", keys: keysOf(value, job.showHidden), items: undefined, isList: false, fallback: "Object" };
  const collection = describeCollection(job, value, level, shape);
  if (collection !== undefined) return collection;
  return typeof value === "function" ? describeFunction(job, value, shape) : describeOther(job, value, level, shape);
}

function describeCollection(job, value, level, shape) {
  const { name, tag } = shape;
  const opened = (fallback, size, brace) => `${prefixOf(name, tag, fallback, size)}${brace}`;
  if (Array.isArray(value)) {
    shape.keys = keysOf(value, job.showHidden, true);
    shape.open = name === "Array" && tag === "" ? "[" : opened("Array", `(${value.length})`, "[");
    shape.close = "]";
    shape.isList = true;
    shape.fallback = "Array";
    if (value.length === 0 && shape.keys.length === 0) return `${shape.open}]`;
    shape.items = () => arrayItems(job, value, level + 1);
    return shape;
  }
  if (types.isSet(value)) {
    const size = Set.prototype.values.call(value);
    const all = [...size];
    shape.open = opened("Set", `(${all.length})`, "{");
    shape.fallback = "Set";
    if (all.length === 0 && shape.keys.length === 0) return `${shape.open}}`;
    shape.items = () => nested(job, () => limited(job, all, (item) => show(job, item, level + 1)));
    return shape;
  }
  if (types.isMap(value)) {
    const all = [...Map.prototype.entries.call(value)];
    shape.open = opened("Map", `(${all.length})`, "{");
    shape.fallback = "Map";
    if (all.length === 0 && shape.keys.length === 0) return `${shape.open}}`;
    shape.items = () => nested(job, () => limited(job, all, ([key, item]) => `${show(job, key, level + 1)} => ${show(job, item, level + 1)}`));
    return shape;
  }
  if (types.isTypedArray(value)) {
    shape.keys = keysOf(value, job.showHidden, true);
    const fallback = Object.prototype.toString.call(value).slice(8, -1);
    shape.open = opened(fallback, `(${value.length})`, "[");
    shape.close = "]";
    shape.isList = true;
    shape.fallback = fallback;
    if (value.length === 0 && !job.showHidden) return `${shape.open}]`;
    shape.items = () => typedItems(job, value, level);
    return shape;
  }
  return undefined;
}

function describeFunction(job, value, shape) {
  const base = functionText(value, shape.name, shape.tag);
  shape.fallback = "Function";
  if (shape.keys.length === 0) return job.stylize(base, "special");
  shape.base = base;
  return shape;
}

function functionText(value, name, tag) {
  const source = Function.prototype.toString.call(value);
  if (/^class[\s{]/.test(source) && source.endsWith("}")) return classText(value, name, tag);
  let kind = types.isAsyncFunction(value) ? "Async" : "";
  if (types.isGeneratorFunction(value)) kind += "Generator";
  kind += "Function";
  const parent = name === null ? " (null prototype)" : "";
  let made = value.name === "" || value.name === undefined ? `[${kind}${parent} (anonymous)]` : `[${kind}${parent}: ${typeof value.name === "string" ? value.name : inspect(value.name)}]`;
  if (name !== null && name !== kind && name !== "Function") made += ` ${name}`;
  if (tag !== "" && name !== tag) made += ` [${tag}]`;
  return made;
}

function classText(value, name, tag) {
  const own = Object.hasOwn(value, "name") && value.name ? ` ${value.name}` : " (anonymous)";
  let made = `[class${own}`;
  if (name !== "Function" && name !== null) made += ` [${name}]`;
  if (tag !== "" && name !== tag) made += ` [${tag}]`;
  const parent = Object.getPrototypeOf(value);
  if (name === null) made += " extends null";
  else if (parent?.name) made += ` extends ${parent.name}`;
  else if (parent === null) made += " extends [null prototype]";
  return `${made}]`;
}

function describeOther(job, value, level, shape) {
  const { name, tag, keys } = shape;
  const whole = (base, style) => {
    shape.base = base;
    return keys.length === 0 ? job.stylize(base, style) : shape;
  };
  const named = (fallback, base) => {
    const prefix = prefixOf(name, tag, fallback);
    shape.fallback = fallback;
    return prefix === `${fallback} ` ? base : `${prefix}${base}`;
  };
  const filled = (fallback, items) => {
    shape.open = `${prefixOf(name, tag, fallback)}{`;
    shape.fallback = fallback;
    shape.items = items;
    return shape;
  };
  if (types.isArgumentsObject(value)) {
    shape.open = "[Arguments] {";
    return keys.length === 0 ? `${shape.open}}` : shape;
  }
  if (types.isRegExp(value)) return whole(named("RegExp", RegExp.prototype.toString.call(value)), "regexp");
  if (types.isDate(value)) return whole(named("Date", Number.isNaN(value.getTime()) ? "Invalid Date" : Date.prototype.toISOString.call(value)), "date");
  if (types.isNativeError(value)) return whole(errorText(job, value, name, tag, keys));
  if (types.isArrayBuffer(value)) return filled("ArrayBuffer", () => bufferItems(job, value));
  if (types.isDataView(value)) return filled("DataView", () => ["byteLength", "byteOffset", "buffer"].map((key) => `${key}: ${nested(job, () => show(job, value[key], level + 1))}`));
  if (types.isPromise(value)) return filled("Promise", () => promiseItems(job, value, level + 1));
  if (types.isWeakSet(value) || types.isWeakMap(value)) return filled(types.isWeakSet(value) ? "WeakSet" : "WeakMap", () => [job.stylize("<items unknown>", "special")]);
  if (types.isModuleNamespaceObject(value)) {
    shape.open = "[Module: null prototype] {";
    return keys.length === 0 ? `${shape.open}}` : shape;
  }
  if (types.isBoxedPrimitive(value)) return boxed(job, value, shape);
  const web = platform(value);
  if (web !== undefined) return filled(web.name, () => web.items((item) => nested(job, () => show(job, item, level + 1))));
  if (name === "Object" && tag === "") return keys.length === 0 ? "{}" : shape;
  shape.open = `${prefixOf(name, tag, "Object")}{`;
  return keys.length === 0 ? `${shape.open}}` : shape;
}

// Web objects keep what they are in private fields.
function platform(value) {
  const { URL, URLSearchParams, Headers } = internal.global;
  try {
    if (value instanceof URL) {
      const parts = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "searchParams", "hash"];
      return { name: "URL", items: (each) => parts.map((key) => `${key}: ${each(value[key])}`) };
    }
    if (value instanceof URLSearchParams) return { name: "URLSearchParams", items: (each) => [...value].map(([key, item]) => `${each(key)} => ${each(item)}`) };
    if (value instanceof Headers) return { name: "Headers", items: (each) => [...value].map(([key, item]) => `${identifier.test(key) ? key : quote(key)}: ${each(item)}`) };
  } catch {
    // A prototype, or something that only inherits from it.
  }
  return undefined;
}

function boxed(job, value, shape) {
  let kind, inner;
  if (types.isNumberObject(value)) [kind, inner] = ["Number", Number.prototype.valueOf.call(value)];
  else if (types.isStringObject(value)) {
    [kind, inner] = ["String", String.prototype.valueOf.call(value)];
    shape.keys = shape.keys.filter((key) => !(typeof key === "string" && /^\d+$/.test(key) && Number(key) < inner.length));
  } else if (types.isBooleanObject(value)) [kind, inner] = ["Boolean", Boolean.prototype.valueOf.call(value)];
  else if (types.isBigIntObject(value)) [kind, inner] = ["BigInt", BigInt.prototype.valueOf.call(value)];
  else [kind, inner] = ["Symbol", Symbol.prototype.valueOf.call(value)];
  let base = `[${kind}`;
  if (kind !== shape.name) base += shape.name === null ? " (null prototype)" : ` (${shape.name})`;
  base += `: ${primitive({ ...job, stylize: (plain) => plain, breakLength: Infinity }, inner)}]`;
  if (shape.tag !== "" && shape.tag !== shape.name) base += ` [${shape.tag}]`;
  shape.fallback = kind;
  shape.base = base;
  return shape.keys.length === 0 ? job.stylize(base, kind.toLowerCase()) : shape;
}

// The stack, or "[Name: message]" without one.
function errorText(job, error, name, tag, keys) {
  const head = headOf(error, name, tag);
  let stack = typeof error.stack === "string" ? error.stack.trimEnd() : "";
  // This engine's stacks are only places; others begin with the error's own words.
  if (stack === "" || /^\s+at /.test(stack)) stack = stack === "" ? head : `${head}\n${stack}`;
  else if (name !== null && !stack.slice(0, stack.indexOf("\n    at ") >>> 0).includes(name)) stack = renamed(stack, error, name);
  for (const key of ["name", "message", "stack"]) {
    const at = keys.indexOf(key);
    if (at >= 0 && (typeof error[key] !== "string" || stack.includes(error[key]))) keys.splice(at, 1);
  }
  if ("cause" in error && !keys.includes("cause") && Object.hasOwn(error, "cause")) keys.push("cause");
  if (Array.isArray(error.errors) && !keys.includes("errors")) keys.push("errors");
  const at = stack.search(/\n\s+at /);
  if (at < 0) stack = `[${stack}]`;
  return job.indent === 0 ? stack : stack.replaceAll("\n", `\n${" ".repeat(job.indent)}`);
}

function headOf(error, name, tag) {
  const own = typeof error.name === "string" && error.name !== "" ? error.name : "Error";
  const shown = own === "Error" && name !== null && name !== "Error" ? shortName(name) : own;
  const code = typeof error.code === "string" && /^ERR_/.test(error.code) && !shown.includes(error.code) ? ` [${error.code}]` : "";
  const message = error.message === undefined || error.message === "" ? "" : `: ${error.message}`;
  return `${shown}${code}${tag !== "" && !shown.includes(tag) ? ` [${tag}]` : ""}${message}`;
}

// A subclass that does not set its name still shows as itself.
function renamed(stack, error, name) {
  const own = typeof error.name === "string" ? error.name : "Error";
  return stack.startsWith(own) && own === "Error" ? `${name}${stack.slice(own.length)}` : stack;
}

function bufferItems(job, buffer) {
  const bytes = new Uint8Array(buffer);
  const shown = bytes.slice(0, Math.min(Math.max(0, job.maxArrayLength), bytes.length));
  let hex = Array.from(shown, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  const more = bytes.length - shown.length;
  if (more > 0) hex += ` ... ${more} more byte${more > 1 ? "s" : ""}`;
  return [`${job.stylize("[Uint8Contents]", "special")}: <${hex}>`, `byteLength: ${job.stylize(`${buffer.byteLength}`, "number")}`];
}

function promiseItems(job, promise, level) {
  const [state, result] = internal.promiseState(promise);
  if (state === "pending") return [job.stylize("<pending>", "special")];
  const shown = nested(job, () => show(job, result, level));
  return [state === "rejected" ? `${job.stylize("<rejected>", "special")} ${shown}` : shown];
}

function nested(job, make) {
  job.indent += 2;
  const made = make();
  job.indent -= 2;
  return made;
}

function limited(job, all, each) {
  const count = Math.min(Math.max(0, job.maxArrayLength), all.length);
  const made = all.slice(0, count).map(each);
  if (all.length > count) made.push(moreItems(all.length - count));
  return made;
}

function moreItems(count) {
  return `... ${count} more item${count > 1 ? "s" : ""}`;
}

// Holes count as one item each run.
function arrayItems(job, value, level) {
  const made = [];
  const limit = Math.min(Math.max(0, job.maxArrayLength), value.length);
  let at = 0;
  while (at < value.length && made.length < limit) {
    if (Object.hasOwn(value, at)) {
      made.push(property(job, value, `${at}`, level, true));
      at += 1;
      continue;
    }
    let end = at;
    while (end < value.length && !Object.hasOwn(value, end)) end += 1;
    made.push(job.stylize(`<${end - at} empty item${end - at > 1 ? "s" : ""}>`, "undefined"));
    at = end;
  }
  if (at < value.length) made.push(moreItems(value.length - at));
  return made;
}

function typedItems(job, value, level) {
  const made = limited(job, Array.from({ length: Math.min(value.length, job.maxArrayLength + 1) }, (_, at) => value[at]), (item) => primitive(job, item));
  if (value.length > job.maxArrayLength) made[made.length - 1] = moreItems(value.length - job.maxArrayLength);
  if (!job.showHidden) return made;
  return nested(job, () => [...made, ...["BYTES_PER_ELEMENT", "length", "byteLength", "byteOffset", "buffer"].map((key) => `[${key}]: ${show(job, value[key], level + 1)}`)]);
}

function property(job, value, key, level, isItem = false) {
  const slot = Object.getOwnPropertyDescriptor(value, key) ?? { value: value[key], enumerable: true };
  const shown = slotText(job, value, slot, level);
  if (isItem) return shown;
  let name;
  if (typeof key === "symbol") name = job.stylize(`[${symbolText(key)}]`, "symbol");
  else if (key === "__proto__") name = "['__proto__']";
  else if (identifier.test(key)) name = job.stylize(key, "name");
  else name = job.stylize(quote(key), "string");
  if (slot.enumerable === false && typeof key !== "symbol") name = `[${key}]`;
  else if (slot.enumerable === false) name = `[${name}]`;
  return `${name}: ${shown}`;
}

function slotText(job, value, slot, level) {
  if (slot.get === undefined && slot.set === undefined) return nested(job, () => show(job, slot.value, level));
  const label = slot.get === undefined ? "Setter" : slot.set === undefined ? "Getter" : "Getter/Setter";
  const wanted = slot.get !== undefined && (job.getters === true || (job.getters === "get" && slot.set === undefined) || (job.getters === "set" && slot.set !== undefined));
  if (!wanted) return job.stylize(`[${label}]`, "special");
  try {
    const got = slot.get.call(value);
    if (got !== null && typeof got === "object") return `${job.stylize(`[${label}]`, "special")} ${nested(job, () => show(job, got, level))}`;
    return `${job.stylize(`[${label}:`, "special")} ${primitive(job, got)}${job.stylize("]", "special")}`;
  } catch (error) {
    return job.stylize(`[${label}: <Inspection threw (${error?.message})>]`, "special");
  }
}

function keysOf(value, hidden, isList = false) {
  const symbols = Object.getOwnPropertySymbols(value);
  let names = hidden ? Object.getOwnPropertyNames(value) : Object.keys(value);
  if (isList) names = names.filter((name) => !/^(0|[1-9]\d*)$/.test(name));
  return [...names, ...(hidden ? symbols : symbols.filter((symbol) => Object.prototype.propertyIsEnumerable.call(value, symbol)))];
}

// The name of the nearest constructor that the value is an instance of; null without one.
function constructorName(value) {
  for (let at = value; at !== null; at = Object.getPrototypeOf(at)) {
    const slot = Object.getOwnPropertyDescriptor(at, "constructor");
    if (slot !== undefined && typeof slot.value === "function" && slot.value.name !== "" && isInstance(value, slot.value)) return `${slot.value.name}`;
  }
  return null;
}

function isInstance(value, Class) {
  try {
    return value instanceof Class;
  } catch {
    return false;
  }
}

function prefixOf(name, tag, fallback, size = "") {
  const tagged = (than) => (tag !== "" && tag !== than ? `[${tag}] ` : "");
  if (name === null) return `[${fallback}${size}: null prototype] ${tagged(fallback)}`;
  return `${name}${size} ${tagged(name)}`;
}

inspect.custom = custom;
inspect.colors = colors;
inspect.styles = styles;
Object.defineProperty(inspect, "defaultOptions", {
  get: () => defaults,
  set: (options) => void Object.assign(defaults, options),
  configurable: true,
});

module.exports = { inspect, builtInNames, symbolText, numberText };
