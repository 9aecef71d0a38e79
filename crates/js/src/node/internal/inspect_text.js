// Texts as inspect quotes them, and terminal colours.
"use strict";

const escapes = { "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", "\\": "\\\\" };
const special = /[\x00-\x1f\x27\x5c\x7f-\x9f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const specials = new RegExp(special.source, "g");

// With the quotation mark that needs no escape, single ones first.
function quote(text) {
  let mark = "'";
  if (text.includes("'")) {
    if (!text.includes('"')) mark = '"';
    else if (!text.includes("`") && !text.includes("${")) mark = "`";
  }
  if (!special.test(text)) return `${mark}${text}${mark}`;
  return `${mark}${text.replace(specials, (character) => escaped(character, mark))}${mark}`;
}

function escaped(character, mark) {
  if (character === "'") return mark === "'" ? "\\'" : "'";
  if (escapes[character] !== undefined) return escapes[character];
  const code = character.charCodeAt(0);
  const hex = code.toString(16);
  return code < 256 ? `\\x${hex.toUpperCase().padStart(2, "0")}` : `\\u${hex}`;
}

// CSI and OSC sequences (ECMA-48 §5.4), with the terminators that terminals take.
const colorCodes = /[\u001b\u009b][[\]()#;?]*(?:(?:(?:[a-zA-Z\d]*(?:;[-a-zA-Z\d/#&.:=?%@~_]*)*)?(?:\u0007|\u001b\u005c|\u009c))|(?:(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-ntqry=><~]))/g;

function stripColors(text) {
  return text.replace(colorCodes, "");
}

function shortName(name) {
  return name.split(" ")[0];
}

module.exports = { quote, stripColors, shortName };
