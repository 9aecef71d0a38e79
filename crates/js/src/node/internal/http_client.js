// http and https over fetch: a request is sent when it ends, its answer comes whole.
"use strict";

const EventEmitter = require("events");
const { Readable, Writable } = require("stream");
const { Buffer } = require("buffer");
const { coded, invalidArgType, AbortError, checkSignal, unavailable } = require("internal/errors");
const { nextTick } = require("internal/next_tick");
const { STATUS_CODES } = require("internal/http_names");

const { fetch } = internal.global;

// The host's client frames messages and names the site by itself.
const ownBusiness = /^(connection|content-length|expect|host|http2-settings|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*)$/;

// What libraries do with a socket, and nothing behind it.
class FakeSocket extends EventEmitter {
  constructor(encrypted) {
    super();
    Object.assign(this, { encrypted, authorized: encrypted, connecting: false, destroyed: false, readable: true, writable: true, remoteAddress: undefined, bytesRead: 0, bytesWritten: 0 });
  }
  setTimeout() { return this; }
  setKeepAlive() { return this; }
  setNoDelay() { return this; }
  ref() { return this; }
  unref() { return this; }
  cork() {}
  uncork() {}
  address() { return {}; }
  end() { return this; }
  destroy() {
    this.destroyed = true;
    return this;
  }
  getPeerCertificate() { return {}; }
}

class Agent extends EventEmitter {
  constructor(options) {
    super();
    this.options = { noDelay: true, path: null, ...options };
    Object.assign(this, {
      requests: {}, sockets: {}, freeSockets: {}, keepAliveMsecs: options?.keepAliveMsecs ?? 1000, keepAlive: options?.keepAlive ?? false,
      maxSockets: options?.maxSockets ?? Infinity, maxFreeSockets: options?.maxFreeSockets ?? 256, maxTotalSockets: options?.maxTotalSockets ?? Infinity,
      scheduling: options?.scheduling ?? "lifo", totalSocketCount: 0, defaultPort: 80, protocol: "http:",
    });
  }
  createConnection() { throw unavailable("http.Agent.createConnection"); }
  getName(options = {}) { return `${options.host ?? "localhost"}:${options.port ?? ""}:${options.localAddress ?? ""}`; }
  keepSocketAlive() { return true; }
  reuseSocket() {}
  destroy() {}
}

class IncomingMessage extends Readable {
  constructor(socket) {
    super();
    Object.assign(this, {
      httpVersion: "1.1", httpVersionMajor: 1, httpVersionMinor: 1, complete: false, rawHeaders: [], rawTrailers: [], headers: {}, headersDistinct: {}, trailers: {}, trailersDistinct: {},
      aborted: false, upgrade: null, url: "", method: null, statusCode: null, statusMessage: null, socket, client: socket, connection: socket,
    });
  }
  _read() {}
  setTimeout(ms, callback) {
    if (callback) this.on("timeout", callback);
    return this;
  }
}

class ClientRequest extends Writable {
  #headers = new Map();
  #chunks = [];
  #controller = new AbortController();
  #timer;

  constructor(input, options, callback, defaults) {
    // Sent is not done: it is open until its answer was read.
    super({ autoDestroy: false });
    const settings = settingsOf(input, options, defaults);
    Object.assign(this, {
      method: `${settings.method ?? "GET"}`.toUpperCase(), path: settings.path || "/", protocol: settings.protocol, host: settings.hostname || settings.host || "localhost", agent: settings.agent,
      aborted: false, finished: false, reusedSocket: false, maxHeadersCount: null, headersSent: false, sendDate: false, shouldKeepAlive: false, res: null, timeout: settings.timeout,
    });
    if (!/^[\^_`a-zA-Z\-0-9!#$%&'*+.|~]+$/.test(this.method)) throw coded(TypeError, "ERR_INVALID_HTTP_TOKEN", `Method must be a valid HTTP token ["${settings.method}"]`);
    if (/[^\u0021-\u00ff]/.test(this.path)) throw coded(TypeError, "ERR_UNESCAPED_CHARACTERS", "Request path contains unescaped characters");
    this.socket = this.connection = new FakeSocket(this.protocol === "https:");
    const host = this.host.includes(":") && !this.host.startsWith("[") ? `[${this.host}]` : this.host;
    const port = settings.port ? `:${settings.port}` : "";
    Object.defineProperty(this, "target", { value: `${this.protocol}//${host}${port}${this.path}`, configurable: true });
    this.#takeHeaders(settings, `${host}${port}`);
    if (callback) this.once("response", callback);
    if (settings.timeout) this.setTimeout(settings.timeout);
    this.#follow(settings.signal);
    nextTick(() => this.emit("socket", this.socket));
  }

  #takeHeaders(settings, host) {
    const { headers } = settings;
    if (Array.isArray(headers)) {
      const pairs = Array.isArray(headers[0]) ? headers : headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1]]] : []));
      for (const [name, value] of pairs) this.appendHeader(name, value);
    } else for (const name of Object.keys(headers ?? {})) if (headers[name] !== undefined) this.setHeader(name, headers[name]);
    if (!this.hasHeader("host") && settings.setHost !== false) this.setHeader("Host", host);
    if (settings.auth && !this.hasHeader("authorization")) this.setHeader("Authorization", `Basic ${Buffer.from(`${settings.auth}`).toString("base64")}`);
  }

  #follow(signal) {
    if (!signal) return;
    checkSignal(signal, "options.signal");
    const abort = () => this.destroy(new AbortError(undefined, { cause: signal.reason }));
    if (signal.aborted) nextTick(abort);
    else signal.addEventListener("abort", abort, { once: true });
  }

  setHeader(name, value) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    this.#headers.set(name.toLowerCase(), [name, value]);
    return this;
  }
  appendHeader(name, value) {
    const before = this.#headers.get(name.toLowerCase());
    return this.setHeader(name, before === undefined ? value : [].concat(before[1], value));
  }
  setHeaders(headers) {
    for (const [name, value] of headers) this.setHeader(name, value);
    return this;
  }
  getHeader(name) { return this.#headers.get(`${name}`.toLowerCase())?.[1]; }
  hasHeader(name) { return this.#headers.has(`${name}`.toLowerCase()); }
  removeHeader(name) { this.#headers.delete(`${name}`.toLowerCase()); }
  getHeaderNames() { return [...this.#headers.keys()]; }
  getRawHeaderNames() { return Array.from(this.#headers.values(), ([name]) => name); }
  getHeaders() { return Object.assign(Object.create(null), Object.fromEntries(Array.from(this.#headers, ([key, [, value]]) => [key, value]))); }
  flushHeaders() {}
  addTrailers() {}
  setNoDelay() {}
  setSocketKeepAlive() {}
  onSocket() {}

  // Only tells: who set it decides whether to give up.
  setTimeout(ms, callback) {
    if (callback) this.once("timeout", callback);
    clearTimeout(this.#timer);
    if (ms > 0) {
      this.#timer = setTimeout(() => {
        this.socket.emit("timeout");
        this.emit("timeout");
      }, ms);
    }
    return this;
  }
  clearTimeout(callback) {
    if (callback) this.removeListener("timeout", callback);
    clearTimeout(this.#timer);
  }

  abort() {
    if (this.aborted) return;
    this.aborted = true;
    nextTick(() => this.emit("abort"));
    this.destroy();
  }

  _write(chunk, encoding, callback) {
    this.#chunks.push(Buffer.from(chunk));
    callback();
  }

  _final(callback) {
    this.finished = this.headersSent = true;
    this.#send().catch((error) => this.destroy(error));
    callback();
  }

  _destroy(error, callback) {
    clearTimeout(this.#timer);
    this.#controller.abort();
    if (this.res !== null && !this.res.complete) this.res.destroy(error ?? undefined);
    if (error === null && this.res === null) error = coded(Error, "ECONNRESET", "socket hang up");
    this.socket.destroy();
    callback(error);
  }

  async #send() {
    const headers = [];
    for (const [key, [name, value]] of this.#headers) {
      if (ownBusiness.test(key)) continue;
      for (const one of Array.isArray(value) && key !== "cookie" ? value : [Array.isArray(value) ? value.join("; ") : value]) headers.push([name, `${one}`]);
    }
    const body = Buffer.concat(this.#chunks);
    if (this.#headers.has("upgrade")) throw unavailable("an HTTP upgrade (a WebSocket)");
    if (body.length > 0 && (this.method === "GET" || this.method === "HEAD")) throw unavailable(`a body in a ${this.method} request`);
    let response;
    try {
      response = await fetch(this.target, { method: this.method, headers, body: body.length > 0 ? body : undefined, redirect: "manual", signal: this.#controller.signal });
    } catch (error) {
      throw networkError(error);
    }
    const bytes = Buffer.from(await response.arrayBuffer());
    if (this.destroyed) return;
    clearTimeout(this.#timer);
    this.#answer(response, bytes);
  }

  #answer(response, bytes) {
    const message = (this.res = new IncomingMessage(this.socket));
    message.req = this;
    message.statusCode = response.status;
    message.statusMessage = response.statusText || (STATUS_CODES[response.status] ?? "");
    for (const [name, value] of response.headers) {
      message.rawHeaders.push(name, value);
      (message.headersDistinct[name] ??= []).push(value);
      if (name === "set-cookie") (message.headers[name] ??= []).push(value);
      else message.headers[name] = value;
    }
    const heard = this.emit("response", message);
    if (!heard) message.resume();
    if (bytes.length > 0) message.push(bytes);
    if (response.truncated) return void message.destroy(coded(Error, "ECONNRESET", `The response was cut off after ${bytes.length} bytes, the sandbox's limit`));
    message.complete = true;
    message.push(null);
    message.once("end", () => nextTick(() => this.destroyed || this.destroy()));
    return undefined;
  }
}

// The host's own words stay; the code becomes the one that libraries know.
function networkError(error) {
  if (error.code !== "network_error") return error;
  const { message } = error;
  error.code = /resolve/i.test(message) ? "ENOTFOUND" : /refused/i.test(message) ? "ECONNREFUSED" : /timed out|timeout/i.test(message) ? "ETIMEDOUT" : "ECONNRESET";
  return error;
}

function settingsOf(input, options, defaults) {
  let settings = {};
  if (typeof input === "string") settings = fromUrl(new URL(input));
  else if (input instanceof URL) settings = fromUrl(input);
  else if (input !== null && typeof input === "object") settings = { ...input };
  else throw invalidArgType("url", ["string", "URL", "Object"], input);
  settings = { ...settings, ...options };
  settings.protocol ||= settings.agent?.protocol ?? defaults.protocol;
  if (settings.protocol !== defaults.protocol && !(settings.agent?.protocol === settings.protocol)) throw coded(TypeError, "ERR_INVALID_PROTOCOL", `Protocol "${settings.protocol}" not supported. Expected "${defaults.protocol}"`);
  if (settings.socketPath) throw unavailable("http over a local socket");
  // "host" may carry the port, as the header of that name does.
  if (!settings.hostname && typeof settings.host === "string" && settings.port) settings.host = settings.host.replace(/:\d+$/, "");
  return settings;
}

function fromUrl(url) {
  return { ...require("url").urlToHttpOptions(url) };
}

function validateHeaderName(name, label = "Header name") {
  if (typeof name !== "string" || !/^[\^_`a-zA-Z\-0-9!#$%&'*+.|~]+$/.test(name)) throw coded(TypeError, "ERR_INVALID_HTTP_TOKEN", `${label} must be a valid HTTP token ["${name}"]`);
}

function validateHeaderValue(name, value) {
  if (value === undefined) throw coded(TypeError, "ERR_HTTP_INVALID_HEADER_VALUE", `Invalid value "undefined" for header "${name}"`);
  if ([].concat(value).some((one) => /[^\t\x20-\x7e\x80-\xff]/.test(`${one}`))) throw coded(TypeError, "ERR_INVALID_CHAR", `Invalid character in header content ["${name}"]`);
}

// request and get, for one protocol.
function client(defaults) {
  const request = (input, options, callback) => {
    if (typeof options === "function") [callback, options] = [options, undefined];
    return new ClientRequest(input, options, callback, defaults);
  };
  const get = (input, options, callback) => {
    const made = request(input, options, callback);
    made.end();
    return made;
  };
  return { request, get };
}

module.exports = { Agent, ClientRequest, IncomingMessage, client, validateHeaderName, validateHeaderValue };
