// querystring: the older sibling of URLSearchParams.
"use strict";

const { coded } = require("internal/errors");
const { Buffer } = require("buffer");

function escape(value) {
  if (typeof value !== "string") value = typeof value === "object" ? String(value) : `${value}`;
  if (!value.isWellFormed()) throw coded(URIError, "ERR_INVALID_URI", "URI malformed");
  return encodeURIComponent(value);
}

// Percent signs that begin no escape stay as they are.
function unescapeBuffer(text) {
  const bytes = Buffer.from(text, "utf8");
  const made = Buffer.alloc(bytes.length);
  let to = 0;
  for (let at = 0; at < bytes.length; at++, to++) {
    const pair = bytes[at] === 0x25 ? bytes.latin1Slice(at + 1, at + 3) : "";
    if (/^[0-9a-fA-F]{2}$/.test(pair)) {
      made[to] = parseInt(pair, 16);
      at += 2;
    } else made[to] = bytes[at];
  }
  return made.subarray(0, to);
}

function unescape(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return unescapeBuffer(text).toString();
  }
}

function primitive(value) {
  if (typeof value === "string") return value;
  if (typeof value === "number") return Number.isFinite(value) ? `${value}` : "";
  return typeof value === "bigint" || typeof value === "boolean" ? `${value}` : "";
}

function stringify(value, separator = "&", equals = "=", options = undefined) {
  if (value === null || typeof value !== "object") return "";
  const encode = typeof options?.encodeURIComponent === "function" ? options.encodeURIComponent : exports.escape;
  const fields = [];
  for (const key of Object.keys(value)) {
    const items = Array.isArray(value[key]) ? value[key] : [value[key]];
    for (const item of items) fields.push(`${encode(primitive(key))}${equals || "="}${encode(primitive(item))}`);
  }
  return fields.join(separator || "&");
}

function parse(text, separator = "&", equals = "=", options = undefined) {
  const made = Object.create(null);
  if (typeof text !== "string" || text.length === 0) return made;
  const between = separator ? `${separator}` : "&";
  const is = equals ? `${equals}` : "=";
  const limit = typeof options?.maxKeys === "number" ? options.maxKeys : 1000;
  const decode = typeof options?.decodeURIComponent === "function" ? options.decodeURIComponent : exports.unescape;
  const read = (part) => {
    const spaced = part.replaceAll("+", " ");
    try {
      return decode === unescape && !spaced.includes("%") ? spaced : decode(spaced);
    } catch {
      return unescape(spaced);
    }
  };
  let fields = text.split(between);
  if (limit > 0) fields = fields.slice(0, limit);
  for (const field of fields) {
    if (field === "") continue;
    const at = field.indexOf(is);
    const key = read(at < 0 ? field : field.slice(0, at));
    const value = at < 0 ? "" : read(field.slice(at + is.length));
    if (!(key in made)) made[key] = value;
    else if (Array.isArray(made[key])) made[key].push(value);
    else made[key] = [made[key], value];
  }
  return made;
}

Object.assign(exports, { escape, unescape, unescapeBuffer, stringify, parse, encode: stringify, decode: parse });
