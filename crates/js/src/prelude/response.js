// Response (Fetch §5.5), with one addition: `truncated` says that the host's limit cut the body off.

const loadResponse = once(function () {
  const { Headers, make, rawOf, appendRaw } = loadHeaders();
  const { extract, isUsed, isUnusable, cloneBody, mixBody } = loadBody();
  const { streamOf } = loadStream();
  let partsOf, fromHost;

  class Response {
    #type = "default";
    #url = "";
    #redirected = false;
    #status = 200;
    #statusText = "";
    #headers = new Headers();
    #body = null;
    #truncated = false;

    constructor(body = null, init = undefined) {
      const options = dictionary(init, "Response: init");
      this.#begin(options);
      if (body !== null) this.#fill(extract(body));
    }

    #begin(options) {
      const { status = 200, statusText = "", headers } = options;
      const code = Number(status) & 0xffff;
      if (code < 200 || code > 599) throw new RangeError(`Response: the status ${status} is not between 200 and 599`);
      const text = byteString(statusText);
      if (regexExec(/^[\t\x20-\x7e\x80-\xff]*$/, text) === null) throw new TypeError("Response: the status text holds control characters");
      this.#status = code;
      this.#statusText = text;
      if (headers !== undefined) this.#headers = new Headers(headers);
    }

    #fill({ bytes, type }) {
      if (isNullBody(this.#status)) throw new TypeError(`Response: status ${this.#status} has no body`);
      this.#body = streamOf(bytes);
      if (type !== null && find(rawOf(this.#headers), (entry) => entry[0] === "content-type") < 0) appendRaw(this.#headers, "content-type", type);
    }

    static error() {
      const made = new Response();
      made.#type = "error";
      made.#status = 0;
      made.#headers = make(list(), true);
      return made;
    }

    static redirect(url, status = 302) {
      needs(1, arguments.length, "Response.redirect");
      const parts = parseUrl(url, undefined);
      if (parts === undefined) throw new TypeError(`Response.redirect: invalid URL '${usv(url)}'`);
      const code = Number(status) & 0xffff;
      if (!isRedirect(code)) throw new RangeError(`Response.redirect: ${status} is not the status of a redirect`);
      const made = new Response();
      const pairs = list();
      push(pairs, pair("location", parts.href));
      made.#status = code;
      made.#headers = make(pairs, true);
      return made;
    }

    static json(data, init = undefined) {
      needs(1, arguments.length, "Response.json");
      const text = stringify(data);
      if (text === undefined) throw new TypeError("Response.json: the data has no JSON form");
      const made = new Response();
      made.#begin(dictionary(init, "Response.json: init"));
      made.#fill({ __proto__: null, bytes: encodeUtf8(text), type: "application/json" });
      return made;
    }

    get type() { return this.#type; }
    get url() { return this.#url; }
    get redirected() { return this.#redirected; }
    get status() { return this.#status; }
    get ok() { return this.#status >= 200 && this.#status <= 299; }
    get statusText() { return this.#statusText; }
    get headers() { return this.#headers; }
    get body() { return this.#body; }
    get bodyUsed() { return isUsed(this.#body); }
    get truncated() { return this.#truncated; }

    clone() {
      if (isUnusable(this.#body)) throw new TypeError("The body was read already");
      const made = new Response();
      made.#type = this.#type;
      made.#url = this.#url;
      made.#redirected = this.#redirected;
      made.#status = this.#status;
      made.#statusText = this.#statusText;
      made.#headers = make(rawOf(this.#headers), this.#type !== "default");
      made.#body = cloneBody(this.#body);
      made.#truncated = this.#truncated;
      return made;
    }

    static {
      partsOf = (response) => ({ __proto__: null, body: response.#body, headers: response.#headers, truncated: response.#truncated });
      // The response that the host's answer describes.
      fromHost = (answer, bytes, method) => {
        const made = new Response();
        made.#type = answer.type ?? "basic";
        made.#url = withoutFragment(answer.url ?? "");
        made.#redirected = answer.redirected === true;
        made.#status = answer.status;
        made.#statusText = answer.statusText ?? "";
        made.#headers = make(answer.headers ?? list(), true);
        made.#truncated = answer.truncated === true;
        if (method !== "HEAD" && !isNullBody(answer.status)) made.#body = streamOf(new Uint8Array(bytes ?? 0));
        return made;
      };
    }
  }
  mixBody(Response, partsOf);
  expose(Response, "Response", (response) => {
    const { headers } = partsOf(response);
    return { __proto__: null, status: response.status, url: response.url, headers };
  });

  function isNullBody(status) {
    return status === 101 || status === 103 || status === 204 || status === 205 || status === 304;
  }

  function isRedirect(status) {
    return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
  }

  function withoutFragment(url) {
    const at = indexOf(url, "#");
    return at < 0 ? url : slice(url, 0, at);
  }

  return { __proto__: null, Response, fromHost };
});
lazyGlobals(loadResponse, "Response");
