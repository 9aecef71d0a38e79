// Request (Fetch §5.4). Modes, caches and referrers of a browser are answered with their defaults.

const loadRequest = once(function () {
  const { Headers, make, rawOf, appendRaw } = loadHeaders();
  const { extract, isUsed, isUnusable, cloneBody, consume, mixBody } = loadBody();
  const { streamOf } = loadStream();
  const { create, follow, isSignal } = loadAbort();
  const none = { __proto__: null };
  let partsOf, isRequest;

  class Request {
    #url;
    #method = "GET";
    #headers;
    #body = null;
    #signal;
    #redirect = "follow";

    constructor(input, init = undefined) {
      needs(1, arguments.length, "Request");
      if (input === none) return;
      const options = dictionary(init, "Request: init");
      const from = isRequest(input) ? input : undefined;
      this.#url = from === undefined ? requestUrl(input) : from.#url;
      this.#method = options.method === undefined ? (from?.#method ?? "GET") : methodName(options.method);
      this.#redirect = options.redirect === undefined ? (from?.#redirect ?? "follow") : redirectMode(options.redirect);
      this.#signal = signalFor(options.signal === undefined ? from?.#signal : options.signal);
      this.#headers = options.headers !== undefined ? new Headers(options.headers) : from === undefined ? new Headers() : make(rawOf(from.#headers), false);
      this.#takeBody(options.body, from);
    }

    get method() { return this.#method; }
    get url() { return this.#url; }
    get headers() { return this.#headers; }
    get signal() { return this.#signal; }
    get redirect() { return this.#redirect; }
    get body() { return this.#body; }
    get bodyUsed() { return isUsed(this.#body); }

    clone() {
      if (isUnusable(this.#body)) throw new TypeError("The body was read already");
      const made = new Request(none);
      made.#url = this.#url;
      made.#method = this.#method;
      made.#redirect = this.#redirect;
      made.#headers = make(rawOf(this.#headers), false);
      made.#signal = signalFor(this.#signal);
      made.#body = cloneBody(this.#body);
      return made;
    }

    #takeBody(source, from) {
      const given = source !== undefined && source !== null;
      const inherited = source === undefined && from !== undefined && from.#body !== null;
      if ((given || inherited) && (this.#method === "GET" || this.#method === "HEAD")) throw new TypeError(`A ${this.#method} request has no body`);
      if (inherited) this.#body = streamOf(consume(from.#body));
      if (!given) return;
      const { bytes, type } = extract(source);
      this.#body = streamOf(bytes);
      if (type !== null && find(rawOf(this.#headers), (entry) => entry[0] === "content-type") < 0) appendRaw(this.#headers, "content-type", type);
    }

    static {
      isRequest = (value) => isObject(value) && #redirect in value;
      partsOf = (request) => ({
        __proto__: null,
        url: request.#url,
        method: request.#method,
        headers: request.#headers,
        body: request.#body,
        signal: request.#signal,
        redirect: request.#redirect,
        truncated: false,
      });
    }
  }
  mixBody(Request, partsOf);
  fixedAttributes({
    __proto__: null,
    destination: "",
    referrer: "about:client",
    referrerPolicy: "",
    mode: "cors",
    credentials: "same-origin",
    cache: "default",
    integrity: "",
    keepalive: false,
    duplex: "half",
  });
  expose(Request, "Request", (request) => {
    const { method, url, headers } = partsOf(request);
    return { __proto__: null, method, url, headers };
  });

  // What a browser lets a page choose and a sandboxed tool cannot.
  function fixedAttributes(values) {
    const names = ownKeys(values);
    for (let i = 0; i < names.length; i++) {
      const get = function () {
        return partsOf(this) && values[names[i]];
      };
      defineProperty(Request.prototype, names[i], { __proto__: null, get, enumerable: true, configurable: true });
    }
  }

  // Only names that browsers normalise are put in upper case; any other token is sent as it is written.
  function methodName(value) {
    const method = byteString(value);
    if (!isToken(method)) throw new TypeError(`'${method}' is not an HTTP method`);
    const upper = toUpperCase(method);
    if (upper === "CONNECT" || upper === "TRACE" || upper === "TRACK") throw new TypeError(`The method ${upper} is not allowed`);
    return regexExec(/^(DELETE|GET|HEAD|OPTIONS|POST|PUT)$/, upper) !== null ? upper : method;
  }

  function redirectMode(value) {
    const mode = `${value}`;
    if (mode !== "follow" && mode !== "error" && mode !== "manual") throw new TypeError("redirect must be 'follow', 'error' or 'manual'");
    return mode;
  }

  function signalFor(signal) {
    const made = create();
    if (signal === undefined || signal === null) return made;
    if (!isSignal(signal)) throw new TypeError("signal must be an AbortSignal");
    const sources = list();
    push(sources, signal);
    return follow(made, sources);
  }

  return { __proto__: null, Request, partsOf, isRequest };
});
lazyGlobals(loadRequest, "Request");

// An absolute URL without credentials; there is no page that a relative one could refer to.
function requestUrl(input) {
  const parts = parseUrl(input, undefined);
  if (parts === undefined) throw new TypeError(`Invalid URL: '${usv(input)}'; fetch needs an absolute one`);
  if (parts.username !== "" || parts.password !== "") throw new TypeError("A URL with a user name or password cannot be fetched; send an Authorization header");
  return parts.href;
}
