// URL (URL §6.1). Parsing is the host side's; this keeps the parts of one parsed URL and its query list.

const loadUrl = once(function () {
  const { URLSearchParams, attach, refill, pairsOf } = loadSearchParams();
  let hrefOf;

  class URL {
    #parts;
    #params = undefined;

    constructor(url, base = undefined) {
      needs(1, arguments.length, "URL");
      this.#parts = parseUrl(url, base);
      if (this.#parts === undefined) throw new TypeError(`Invalid URL: '${usv(url)}'${base === undefined ? "" : ` with base '${usv(base)}'`}`);
    }

    static parse(url, base = undefined) {
      needs(1, arguments.length, "URL.parse");
      return URL.#valid(url, base) ? new URL(url, base) : null;
    }

    static canParse(url, base = undefined) {
      needs(1, arguments.length, "URL.canParse");
      return URL.#valid(url, base);
    }

    static #valid(url, base) {
      return parseUrl(url, base) !== undefined;
    }

    get href() { return this.#parts.href; }
    set href(value) {
      const parts = parseUrl(value, undefined);
      if (parts === undefined) throw new TypeError(`Invalid URL: '${usv(value)}'`);
      this.#take(parts);
    }
    get origin() { return this.#parts.origin; }
    get protocol() { return this.#parts.protocol; }
    set protocol(value) { this.#set("protocol", value); }
    get username() { return this.#parts.username; }
    set username(value) { this.#set("username", value); }
    get password() { return this.#parts.password; }
    set password(value) { this.#set("password", value); }
    get host() { return this.#parts.host; }
    set host(value) { this.#set("host", value); }
    get hostname() { return this.#parts.hostname; }
    set hostname(value) { this.#set("hostname", value); }
    get port() { return this.#parts.port; }
    set port(value) { this.#set("port", value); }
    get pathname() { return this.#parts.pathname; }
    set pathname(value) { this.#set("pathname", value); }
    get search() { return this.#parts.search; }
    set search(value) { this.#set("search", value); }
    get hash() { return this.#parts.hash; }
    set hash(value) { this.#set("hash", value); }

    get searchParams() {
      const query = slice(this.#parts.search, 1);
      return (this.#params ??= attach(refilled(query), () => this.#write("search", serializeForm(pairsOf(this.#params)))));
    }

    toString() { return this.#parts.href; }
    toJSON() { return this.#parts.href; }

    #set(part, value) {
      this.#write(part, usv(value));
      if (part === "search" && this.#params !== undefined) refill(this.#params, slice(this.#parts.search, 1));
    }

    #write(part, text) {
      const changed = native.setUrl(this.#parts.href, part, text);
      if (changed) this.#parts = answerOf(changed);
    }

    #take(parts) {
      this.#parts = parts;
      if (this.#params !== undefined) refill(this.#params, slice(parts.search, 1));
    }

    static {
      hrefOf = (value) => (isObject(value) && #parts in value ? value.#parts.href : undefined);
    }
  }
  expose(URL, "URL", (url) => ({ __proto__: null, href: hrefOf(url) }));

  function refilled(query) {
    const params = new URLSearchParams();
    refill(params, query);
    return params;
  }

  return { __proto__: null, URL };
});
lazyGlobals(loadUrl, "URL");

// The parts of a URL as a null-prototype object; undefined if it is not valid.
function parseUrl(url, base) {
  return answerOf(native.parseUrl(usv(url), base === undefined ? undefined : usv(base)));
}
