// net: addresses can be told apart; there are no sockets.
"use strict";

const { stubs } = require("internal/errors");

const part = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const v4 = `${part}(?:\\.${part}){3}`;
const isV4 = new RegExp(`^${v4}$`);
const endsInV4 = new RegExp(`(?:^|:)(${v4})$`);

// RFC 4291 §2.2: eight groups, one run of zeros left out, the last two perhaps written as IPv4; a zone after %.
function isV6(text) {
  const [address, zone, ...more] = text.split("%");
  if (more.length > 0 || (zone !== undefined && !/^[0-9a-zA-Z-.:]+$/.test(zone))) return false;
  const halves = address.replace(endsInV4, (whole) => `${whole.startsWith(":") ? ":" : ""}0:0`).split("::");
  if (halves.length > 2) return false;
  const groups = halves.map((half) => (half === "" ? [] : half.split(":")));
  if (!groups.flat().every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return false;
  const count = groups.flat().length;
  return halves.length === 2 ? count <= 7 : count === 8;
}

const isIPv4 = (text) => isV4.test(`${text}`);
const isIPv6 = (text) => isV6(`${text}`);
const isIP = (text) => (isIPv4(text) ? 4 : isIPv6(text) ? 6 : 0);

module.exports = {
  isIP, isIPv4, isIPv6,
  getDefaultAutoSelectFamily: () => true,
  setDefaultAutoSelectFamily: () => {},
  getDefaultAutoSelectFamilyAttemptTimeout: () => 250,
  setDefaultAutoSelectFamilyAttemptTimeout: () => {},
};
stubs("net", ["Socket", "Stream", "Server", "BlockList", "SocketAddress", "connect", "createConnection", "createServer", "_normalizeArgs", "_createServerHandle", "_setSimultaneousAccepts"], module.exports);
