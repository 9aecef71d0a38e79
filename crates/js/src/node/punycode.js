// punycode (RFC 3492): names with other letters than ASCII's.
"use strict";

const [base, tMin, tMax, skew, damp, initialBias, initialN] = [36, 1, 26, 38, 700, 72, 128];

// RFC 3492 §6.1.
function adapt(delta, points, first) {
  delta = Math.floor(delta / (first ? damp : 2));
  delta += Math.floor(delta / points);
  let k = 0;
  for (; delta > ((base - tMin) * tMax) >> 1; k += base) delta = Math.floor(delta / (base - tMin));
  return k + Math.floor(((base - tMin + 1) * delta) / (delta + skew));
}

const threshold = (k, bias) => (k <= bias ? tMin : k >= bias + tMax ? tMax : k - bias);
const letter = (digit) => String.fromCharCode(digit < 26 ? digit + 97 : digit + 22);

function digitOf(character) {
  const code = character.charCodeAt(0);
  if (code >= 48 && code < 58) return code - 22;
  const lower = code | 32;
  return lower >= 97 && lower < 123 ? lower - 97 : base;
}

const ucs2 = {
  decode: (text) => Array.from(text, (character) => character.codePointAt(0)),
  encode: (points) => String.fromCodePoint(...points),
};

function encode(text) {
  const points = ucs2.decode(text);
  let output = points.filter((point) => point < 128).map((point) => String.fromCharCode(point)).join("");
  const basic = output.length;
  let handled = basic;
  if (basic > 0) output += "-";
  let n = initialN;
  let delta = 0;
  let bias = initialBias;
  while (handled < points.length) {
    const next = Math.min(...points.filter((point) => point >= n));
    delta += (next - n) * (handled + 1);
    n = next;
    for (const point of points) {
      if (point < n) delta += 1;
      if (point !== n) continue;
      let q = delta;
      for (let k = base; ; k += base) {
        const t = threshold(k, bias);
        if (q < t) break;
        output += letter(t + ((q - t) % (base - t)));
        q = Math.floor((q - t) / (base - t));
      }
      output += letter(q);
      bias = adapt(delta, handled + 1, handled === basic);
      delta = 0;
      handled += 1;
    }
    delta += 1;
    n += 1;
  }
  return output;
}

function decode(text) {
  const last = Math.max(0, text.lastIndexOf("-"));
  const points = ucs2.decode(text.slice(0, last));
  if (points.some((point) => point > 127)) throw new RangeError("Illegal input >= 0x80 (not a basic code point)");
  let n = initialN;
  let bias = initialBias;
  let i = 0;
  for (let at = last > 0 ? last + 1 : 0; at < text.length; ) {
    const before = i;
    for (let weight = 1, k = base; ; k += base) {
      const digit = at < text.length ? digitOf(text[at++]) : base;
      if (digit >= base) throw new RangeError("Invalid input");
      i += digit * weight;
      const t = threshold(k, bias);
      if (digit < t) break;
      weight *= base - t;
    }
    const count = points.length + 1;
    bias = adapt(i - before, count, before === 0);
    n += Math.floor(i / count);
    if (n > 0x10ffff) throw new RangeError("Invalid input");
    i %= count;
    points.splice(i++, 0, n);
  }
  return ucs2.encode(points);
}

// Each label of a domain; what stands before an @ is left alone.
function mapLabels(domain, change) {
  const at = domain.lastIndexOf("@");
  const labels = domain.slice(at + 1).replace(/[\u3002\uff0e\uff61]/g, ".").split(".");
  return domain.slice(0, at + 1) + labels.map(change).join(".");
}

const toASCII = (domain) => mapLabels(domain, (label) => (/[^\0-\x7f]/.test(label) ? `xn--${encode(label)}` : label));
const toUnicode = (domain) => mapLabels(domain, (label) => (/^xn--/.test(label) ? decode(label.slice(4).toLowerCase()) : label));

module.exports = { version: "2.1.0", ucs2, encode, decode, toASCII, toUnicode };
