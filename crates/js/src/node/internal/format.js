// util.format: printf for values.
"use strict";

const { inspect, builtInNames, symbolText, numberText } = require("internal/inspect");

function format(...args) {
  return formatWithOptions(undefined, ...args);
}

function formatWithOptions(options, ...args) {
  if (options !== undefined && (options === null || typeof options !== "object")) throw require("internal/errors").invalidArgType("inspectOptions", "object", options);
  if (args.length === 0) return "";
  const [first] = args;
  let text = "";
  let next = 0;
  if (typeof first === "string") {
    if (args.length === 1) return first;
    next = 1;
    text = first.replace(/%[sdifjoOc%]/g, (directive) => {
      if (directive === "%%") return next > args.length - 1 && args.length === 1 ? directive : "%";
      if (next >= args.length) return directive;
      return directiveText(directive[1], args[next++], options);
    });
  }
  const rest = args.slice(next).map((value) => (typeof value === "string" ? value : inspect(value, plain(options))));
  return (next > 0 ? [text, ...rest] : rest).join(" ");
}

function plain(options, more) {
  return { ...options, compact: 3, colors: options?.colors ?? false, depth: options?.depth ?? 2, ...more };
}

function directiveText(directive, value, options) {
  switch (directive) {
    case "s": return stringText(value, options);
    case "d": return typeof value === "bigint" ? `${value}n` : typeof value === "symbol" ? "NaN" : numberText(Number(value));
    case "i": return typeof value === "bigint" ? `${value}n` : typeof value === "symbol" ? "NaN" : numberText(parseInt(value));
    case "f": return typeof value === "symbol" ? "NaN" : numberText(parseFloat(value));
    case "j": return jsonText(value);
    case "o": return inspect(value, { ...options, showHidden: true, showProxy: true, depth: 4 });
    case "O": return inspect(value, { ...options });
  }
  return "";
}

function stringText(value, options) {
  if (typeof value === "number") return numberText(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "symbol") return symbolText(value);
  if (typeof value !== "object" || value === null || hasOwnText(value)) return String(value);
  return inspect(value, plain(options, { depth: 0, colors: false }));
}

// Whether a value's toString is its author's, not the language's.
function hasOwnText(value) {
  if (typeof value[Symbol.toPrimitive] === "function" && !(value instanceof Date)) return true;
  if (typeof value.toString !== "function") return false;
  if (Object.hasOwn(value, "toString")) return true;
  for (let at = value; at !== null; at = Object.getPrototypeOf(at)) {
    if (!Object.hasOwn(at, "constructor")) continue;
    let holder = value;
    while (holder !== null && !Object.hasOwn(holder, "toString")) holder = Object.getPrototypeOf(holder);
    const owner = holder?.constructor;
    return typeof owner === "function" && !builtInNames.has(owner.name);
  }
  return false;
}

function jsonText(value) {
  try {
    return `${JSON.stringify(value)}`;
  } catch (error) {
    if (/circular/i.test(error.message)) return "[Circular]";
    throw error;
  }
}

module.exports = { format, formatWithOptions };
