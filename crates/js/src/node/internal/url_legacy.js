// url.parse, url.format and url.resolve: how Node read URLs before the standard, quirks that packages know included.
"use strict";

const querystring = require("querystring");
const { invalidArgType, checkString } = require("internal/errors");

const slashed = new Set(["http", "https", "ftp", "gopher", "file", "ws", "wss"].flatMap((name) => [name, `${name}:`]));
const escapes = { "\t": "%09", "\n": "%0A", "\r": "%0D", " ": "%20", '"': "%22", "'": "%27", "<": "%3C", ">": "%3E", "\\": "%5C", "^": "%5E", "`": "%60", "{": "%7B", "|": "%7C", "}": "%7D" };

function Url() {
  for (const part of ["protocol", "slashes", "auth", "host", "port", "hostname", "hash", "search", "query", "pathname", "path", "href"]) this[part] = null;
}

function parse(url, parseQuery, slashesDenoteHost) {
  if (url instanceof Url) return url;
  const made = new Url();
  made.parse(url, parseQuery, slashesDenoteHost);
  return made;
}

Url.prototype.parse = function (url, parseQuery, slashesDenoteHost) {
  checkString(url, "url");
  let rest = forwardSlashes(url.trim().replace(/^\ufeff/, ""));
  const simple = /^(\/(?!\/)[^?\s]*|\/\/?$)(\?[^\s]*)?$/.exec(rest);
  if (!slashesDenoteHost && !rest.includes("#") && !rest.includes("@") && simple !== null) return this.takeSimple(rest, simple, parseQuery);
  const protocol = /^[a-z0-9.+-]+:/i.exec(rest)?.[0];
  const lower = protocol?.toLowerCase();
  if (protocol !== undefined) {
    this.protocol = lower;
    rest = rest.slice(protocol.length);
  }
  if ((slashesDenoteHost || protocol !== undefined || /^\/\/[^@/]+@[^@/]+/.test(rest)) && rest.startsWith("//") && lower !== "javascript:") {
    rest = rest.slice(2);
    this.slashes = true;
  }
  if (lower !== "javascript:" && (this.slashes || (protocol !== undefined && !slashed.has(protocol)))) rest = this.takeHost(rest);
  if (lower !== "javascript:") rest = rest.replace(/[\t\n\r "'<>\\^`{|}]/g, (character) => escapes[character]);
  this.takeRest(rest, parseQuery);
  if (slashed.has(lower) && this.hostname && !this.pathname) this.pathname = "/";
  if (this.pathname || this.search) this.path = `${this.pathname ?? ""}${this.search ?? ""}`;
  this.href = this.format();
  return this;
};

// Backslashes were slashes to browsers, before the query.
function forwardSlashes(text) {
  const found = text.search(/[?#]/);
  const end = found < 0 ? text.length : found;
  return text.slice(0, end).replaceAll("\\", "/") + text.slice(end);
}

Url.prototype.takeSimple = function (rest, [, pathname, search], parseQuery) {
  Object.assign(this, { path: rest, href: rest, pathname });
  if (search !== undefined) {
    this.search = search;
    this.query = parseQuery ? querystring.parse(search.slice(1)) : search.slice(1);
  } else if (parseQuery) Object.assign(this, { search: null, query: Object.create(null) });
  return this;
};

Url.prototype.takeHost = function (rest) {
  // The last @ before the path ends the credentials.
  const end = rest.search(/[/?#]/);
  const whole = end < 0 ? rest : rest.slice(0, end);
  const at = whole.lastIndexOf("@");
  if (at >= 0) this.auth = decodeURIComponent(whole.slice(0, at));
  let host = whole.slice(at + 1);
  const stop = host.search(/[\t\n\r "%';<>\\^`{|}]/);
  if (stop >= 0) host = host.slice(0, stop);
  rest = rest.slice(at + 1 + host.length);
  const port = /:([0-9]*)$/.exec(host);
  if (port !== null) {
    if (port[1] !== "") this.port = port[1];
    host = host.slice(0, -port[0].length);
  }
  const inBrackets = host.startsWith("[") && host.endsWith("]");
  if (inBrackets) this.hostname = host.slice(1, -1).toLowerCase();
  else {
    const invalid = host.search(/[^a-zA-Z0-9.+_\-\u0080-\u{10ffff}]/u);
    if (invalid >= 0) {
      rest = `${host.slice(invalid) ? `/${host.slice(invalid)}` : ""}${port?.[0] ?? ""}${rest}`;
      if (port !== null) this.port = null;
      host = host.slice(0, invalid);
    }
    this.hostname = host.length > 255 ? "" : toAscii(host.toLowerCase());
  }
  this.host = `${inBrackets ? `[${this.hostname}]` : this.hostname}${this.port === null ? "" : `:${this.port}`}`;
  return inBrackets && rest[0] !== "/" && rest !== "" && !/^[?#]/.test(rest) ? `/${rest}` : rest;
};

function toAscii(host) {
  return /[^\0-\x7f]/.test(host) ? require("punycode").toASCII(host.normalize("NFKC").toLowerCase()) : host;
}

Url.prototype.takeRest = function (rest, parseQuery) {
  const hash = rest.indexOf("#");
  if (hash >= 0) {
    this.hash = rest.slice(hash);
    rest = rest.slice(0, hash);
  }
  const question = rest.indexOf("?");
  if (question >= 0) {
    this.search = rest.slice(question);
    this.query = parseQuery ? querystring.parse(this.search.slice(1)) : this.search.slice(1);
    rest = rest.slice(0, question);
  } else if (parseQuery) Object.assign(this, { search: null, query: Object.create(null) });
  if (rest !== "") this.pathname = rest;
};

Url.prototype.format = function () {
  let auth = this.auth || "";
  if (auth) auth = `${encodeURIComponent(auth).replace(/%3A/i, ":")}@`;
  let protocol = this.protocol || "";
  let pathname = this.pathname || "";
  let hash = this.hash || "";
  let host = "";
  if (this.host) host = auth + this.host;
  else if (this.hostname) host = auth + (this.hostname.includes(":") && !/^\[.*\]$/.test(this.hostname) ? `[${this.hostname}]` : this.hostname) + (this.port ? `:${this.port}` : "");
  const query = this.query !== null && typeof this.query === "object" ? querystring.stringify(this.query) : "";
  let search = this.search || (query && `?${query}`) || "";
  if (protocol && !protocol.endsWith(":")) protocol += ":";
  pathname = pathname.replace(/[?#]/g, (character) => encodeURIComponent(character));
  if (this.slashes || slashed.has(protocol)) {
    if (this.slashes || host) {
      if (pathname && pathname[0] !== "/") pathname = `/${pathname}`;
      host = `//${host}`;
    } else if (protocol.startsWith("file")) host = "//";
  }
  if (hash && hash[0] !== "#") hash = `#${hash}`;
  if (search && search[0] !== "?") search = `?${search}`;
  return `${protocol}${host}${pathname}${search.replaceAll("#", "%23")}${hash}`;
};

Url.prototype.resolve = function (relative) {
  return this.resolveObject(parse(relative, false, true)).format();
};

// RFC 3986 §5.2, with the exceptions that Node makes for protocols that it does not know.
Url.prototype.resolveObject = function (relative) {
  if (typeof relative === "string") relative = parse(relative, false, true);
  const made = Object.assign(new Url(), this);
  made.hash = relative.hash;
  if (relative.href === "") {
    made.href = made.format();
    return made;
  }
  if (relative.slashes && !relative.protocol) {
    const { protocol } = made;
    Object.assign(made, relative, { protocol });
    if (slashed.has(protocol) && made.hostname && !made.pathname) made.path = made.pathname = "/";
    made.href = made.format();
    return made;
  }
  if (relative.protocol && relative.protocol !== made.protocol) return otherProtocol(made, relative);
  return samePlace(made, relative);
};

function otherProtocol(made, relative) {
  if (!slashed.has(relative.protocol)) {
    Object.assign(made, relative);
    made.href = made.format();
    return made;
  }
  const keepsHost = relative.host || /^file:?$/.test(relative.protocol) || relative.protocol === "javascript:";
  made.protocol = relative.protocol;
  if (keepsHost) made.pathname = relative.pathname;
  else {
    const segments = (relative.pathname || "").split("/");
    while (segments.length > 0 && !(relative.host = segments.shift()));
    relative.host ??= "";
    relative.hostname ||= "";
    if (segments[0] !== "") segments.unshift("");
    if (segments.length < 2) segments.unshift("");
    made.pathname = segments.join("/");
  }
  Object.assign(made, { search: relative.search, query: relative.query, host: relative.host || "", auth: relative.auth, hostname: relative.hostname || relative.host, port: relative.port });
  if (made.pathname || made.search) made.path = `${made.pathname || ""}${made.search || ""}`;
  made.slashes ||= relative.slashes;
  made.href = made.format();
  return made;
}

function samePlace(made, relative) {
  const fromRoot = Boolean(relative.host || relative.pathname?.startsWith("/"));
  const isAbsolute = fromRoot || made.pathname?.startsWith("/") || (made.host && relative.pathname);
  let segments = made.pathname?.split("/") ?? [];
  if (fromRoot) {
    if (relative.host || relative.host === "") Object.assign(made, { host: relative.host, hostname: relative.hostname, port: relative.port, auth: relative.host !== made.host ? relative.auth : made.auth });
    if (relative.host) made.auth = relative.auth;
    Object.assign(made, { search: relative.search, query: relative.query });
    segments = relative.pathname?.split("/") ?? [];
  } else if (relative.pathname) {
    segments.pop();
    segments = segments.concat(relative.pathname.split("/"));
    Object.assign(made, { search: relative.search, query: relative.query });
  } else if (relative.search !== null && relative.search !== undefined) {
    Object.assign(made, { search: relative.search, query: relative.query });
    made.path = `${made.pathname || ""}${made.search || ""}` || null;
    made.href = made.format();
    return made;
  }
  if (segments.length === 0) {
    made.pathname = null;
    made.path = made.search ? `/${made.search}` : null;
    made.href = made.format();
    return made;
  }
  made.pathname = withoutDots(segments, Boolean(isAbsolute));
  made.path = made.pathname !== null || made.search !== null ? `${made.pathname || ""}${made.search || ""}` : null;
  made.slashes ||= relative.slashes;
  made.href = made.format();
  return made;
}

function withoutDots(segments, absolute) {
  const last = segments[segments.length - 1];
  const trailing = (segments.length > 1 && (last === "." || last === "..")) || last === "" || (segments.length === 1 && absolute && (last === "." || last === ".."));
  const kept = [];
  let above = 0;
  for (const segment of segments.slice(segments[0] === "" && absolute ? 1 : 0)) {
    if (segment === ".") continue;
    if (segment !== "..") kept.push(segment);
    else if (kept.length > 0) kept.pop();
    else above += 1;
  }
  if (!absolute) for (; above > 0; above--) kept.unshift("..");
  let text = kept.join("/");
  if (absolute && !text.startsWith("/")) text = `/${text}`;
  if (absolute && kept[0] === "" && kept.length > 1 && segments[0] === "") text = `/${kept.join("/")}`;
  if (trailing && !text.endsWith("/")) text += "/";
  return text === "" ? null : text;
}

function format(value, options) {
  if (typeof value === "string") return parse(value).format();
  if (value === null || typeof value !== "object") throw invalidArgType("urlObject", ["Object", "string"], value);
  if (value instanceof URL) return formatStandard(value, options);
  return Url.prototype.format.call(value);
}

function formatStandard(url, { auth = true, fragment = true, search = true, unicode = false } = {}) {
  const host = unicode ? require("punycode").toUnicode(url.hostname) : url.hostname;
  const login = auth && (url.username || url.password) ? `${url.username}${url.password ? `:${url.password}` : ""}@` : "";
  const slashes = url.host !== "" || url.protocol === "file:" ? "//" : "";
  return `${url.protocol}${slashes}${login}${host}${url.port ? `:${url.port}` : ""}${url.pathname}${search ? url.search : ""}${fragment ? url.hash : ""}`;
}

function resolve(from, to) {
  return parse(from, false, true).resolve(to);
}

function resolveObject(from, to) {
  return from ? parse(from, false, true).resolveObject(to) : to;
}

module.exports = { Url, parse, format, resolve, resolveObject };
