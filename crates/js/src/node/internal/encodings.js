// Texts as bytes and back, in the encodings that Buffer knows. Large work is native; it is handed exact buffers, so
// that a small piece of a large one costs what the piece costs.
"use strict";

const names = {
  utf8: "utf8", "utf-8": "utf8", ucs2: "utf16le", "ucs-2": "utf16le", utf16le: "utf16le", "utf-16le": "utf16le", latin1: "latin1", binary: "latin1",
  base64: "base64", base64url: "base64url", hex: "hex", ascii: "ascii",
};

// The one name of an encoding; undefined for what is none.
function normalize(encoding) {
  if (encoding === undefined || encoding === null || encoding === "") return "utf8";
  const name = names[encoding];
  if (name !== undefined && Object.hasOwn(names, encoding)) return name;
  const lower = `${encoding}`.toLowerCase();
  return Object.hasOwn(names, lower) ? names[lower] : undefined;
}

function exact(bytes, start, end) {
  if (start === 0 && end === bytes.buffer.byteLength && bytes.byteOffset === 0) return bytes.buffer;
  return bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + end);
}

function decode(bytes, encoding, start = 0, end = bytes.length) {
  if (end <= start) return "";
  return encoding === "utf16le" ? fromUtf16(bytes, start, end) : internal.text(encoding, exact(bytes, start, end));
}

function fromUtf16(bytes, start, end) {
  let text = "";
  let units = [];
  for (let at = start; at + 1 < end; at += 2) {
    units.push(bytes[at] | (bytes[at + 1] << 8));
    if (units.length < 4096) continue;
    text += String.fromCharCode.apply(null, units);
    units = [];
  }
  return text + String.fromCharCode.apply(null, units);
}

function encode(text, encoding) {
  if (encoding === "utf16le") return units(text, 2);
  // Half a pair of surrogates has a low byte, but no place in the text that natives see.
  if ((encoding === "latin1" || encoding === "ascii") && !text.isWellFormed()) return units(text, 1);
  return new Uint8Array(internal.bytes(encoding, text));
}

function units(text, size) {
  const bytes = new Uint8Array(text.length * size);
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    bytes[at * size] = unit;
    if (size === 2) bytes[at * 2 + 1] = unit >> 8;
  }
  return bytes;
}

function byteLength(text, encoding) {
  switch (encoding) {
    case "latin1":
    case "ascii": return text.length;
    case "utf16le": return text.length * 2;
    case "hex": return text.length >>> 1;
    case "base64":
    case "base64url": return base64Length(text);
  }
  let total = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) total += 1;
    else if (unit < 0x800) total += 2;
    else if (unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      total += 4;
      at += 1;
    } else total += 3;
  }
  return total;
}

function base64Length(text) {
  let { length } = text;
  if (text[length - 1] === "=") length -= 1;
  if (length > 1 && text[length - 1] === "=") length -= 1;
  return (length * 3) >>> 2;
}

// How many of the encoded bytes may be written into `room`, so that no character is cut in two.
function fitting(bytes, encoding, room) {
  if (bytes.length <= room) return bytes.length;
  if (encoding === "utf16le") return room & ~1;
  if (encoding !== "utf8") return room;
  let end = room;
  while (end > 0 && (bytes[end] & 0xc0) === 0x80) end -= 1;
  return end;
}

module.exports = { normalize, decode, encode, byteLength, fitting, exact };
