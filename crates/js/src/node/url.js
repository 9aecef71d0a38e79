// url: the standard's URL is a global already; files' URLs and the old functions are here.
"use strict";

const legacy = require("internal/url_legacy");
const { coded, invalidArgType, checkString, stub } = require("internal/errors");
const path = require("path");

const { URL, URLSearchParams } = internal.global;

function fileURLToPath(url, options) {
  if (typeof url === "string") url = new URL(url);
  else if (url === null || typeof url !== "object" || !url.href || !url.protocol) throw invalidArgType("path", ["string", "URL"], url);
  if (url.protocol !== "file:") throw coded(TypeError, "ERR_INVALID_URL_SCHEME", "The URL must be of scheme file");
  if (options?.windows) return windowsPath(url);
  if (url.hostname !== "") throw coded(TypeError, "ERR_INVALID_FILE_URL_HOST", 'File URL host must be "localhost" or empty on linux');
  if (/%2f/i.test(url.pathname)) throw coded(TypeError, "ERR_INVALID_FILE_URL_PATH", "File URL path must not include encoded / characters");
  return decodeURIComponent(url.pathname);
}

function windowsPath(url) {
  if (/%2f|%5c/i.test(url.pathname)) throw coded(TypeError, "ERR_INVALID_FILE_URL_PATH", "File URL path must not include encoded \\ or / characters");
  const plain = decodeURIComponent(url.pathname.replaceAll("/", "\\"));
  if (url.hostname !== "") return `\\\\${domainToUnicode(url.hostname)}${plain}`;
  if (!/^\\[a-z]:/i.test(plain)) throw coded(TypeError, "ERR_INVALID_FILE_URL_PATH", "File URL path must be absolute");
  return plain.slice(1);
}

function pathToFileURL(file, options) {
  checkString(file, "path");
  const { resolve } = options?.windows ? path.win32 : path;
  let resolved = resolve(file);
  if (/[/]$/.test(file) && !resolved.endsWith("/")) resolved += "/";
  const escaped = resolved.replace(/[%\\\n\r\t?#]/g, (character) => (options?.windows && character === "\\" ? "/" : encodeURIComponent(character)));
  return new URL(`file://${options?.windows ? "/" : ""}${escaped}`);
}

function urlToHttpOptions(url) {
  const { hostname, pathname, port, username, password, search } = url;
  const options = {
    __proto__: null, ...url,
    protocol: url.protocol,
    hostname: hostname?.startsWith("[") ? hostname.slice(1, -1) : hostname,
    hash: url.hash, search, pathname,
    path: `${pathname || ""}${search || ""}`,
    href: url.href,
  };
  if (port !== "") options.port = Number(port);
  if (username || password) options.auth = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return options;
}

function domainToASCII(domain) {
  try {
    return new URL(`ws://${domain}`).hostname;
  } catch {
    return "";
  }
}

function domainToUnicode(domain) {
  return require("punycode").toUnicode(domainToASCII(domain));
}

module.exports = {
  Url: legacy.Url, parse: legacy.parse, resolve: legacy.resolve, resolveObject: legacy.resolveObject, format: legacy.format,
  URL, URLSearchParams, domainToASCII, domainToUnicode, fileURLToPath, pathToFileURL, urlToHttpOptions,
  URLPattern: stub("url.URLPattern"),
};
