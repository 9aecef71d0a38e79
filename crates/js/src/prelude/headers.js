// Headers (Fetch §5.1). What a request may say is the host's to decide, so the only guard is "immutable".

const loadHeaders = once(function () {
  let make, rawOf, appendRaw;

  class Headers {
    #raw = list();
    #immutable = false;
    #sorted = undefined;

    constructor(init = undefined) {
      if (init === undefined) return;
      if (!isObject(init)) throw new TypeError("Headers: the argument must be an object or a list of pairs");
      const pairs = readPairs(init, byteString, "Headers");
      for (let i = 0; i < pairs.length; i++) this.#append(pairs[i][0], pairs[i][1]);
    }

    append(name, value) {
      needs(2, arguments.length, "Headers.append");
      this.#append(byteString(name), byteString(value));
    }

    delete(name) {
      needs(1, arguments.length, "Headers.delete");
      const key = headerName(name);
      this.#change();
      this.#raw = without(this.#raw, key);
    }

    get(name) {
      needs(1, arguments.length, "Headers.get");
      const key = headerName(name);
      let found = null;
      for (let i = 0; i < this.#raw.length; i++) if (this.#raw[i][0] === key) found = found === null ? this.#raw[i][1] : `${found}, ${this.#raw[i][1]}`;
      return found;
    }

    getSetCookie() {
      const found = list();
      for (let i = 0; i < this.#raw.length; i++) if (this.#raw[i][0] === "set-cookie") push(found, this.#raw[i][1]);
      return asArray(found);
    }

    has(name) {
      needs(1, arguments.length, "Headers.has");
      const key = headerName(name);
      return find(this.#raw, (entry) => entry[0] === key) >= 0;
    }

    set(name, value) {
      needs(2, arguments.length, "Headers.set");
      const key = headerName(name);
      const text = headerValue(byteString(value));
      this.#change();
      const first = find(this.#raw, (entry) => entry[0] === key);
      if (first < 0) return push(this.#raw, pair(key, text));
      const kept = list();
      for (let i = 0; i < this.#raw.length; i++) {
        if (i === first) push(kept, pair(key, text));
        else if (this.#raw[i][0] !== key) push(kept, this.#raw[i]);
      }
      this.#raw = kept;
    }

    #append(name, value) {
      const key = headerName(name);
      const text = headerValue(value);
      this.#change();
      push(this.#raw, pair(key, text));
    }

    #change() {
      if (this.#immutable) throw new TypeError("These headers cannot be changed");
      this.#sorted = undefined;
    }

    static {
      rawOf = (headers) => headers.#raw;
      appendRaw = (headers, name, value) => push(headers.#raw, pair(name, value));
      // Headers from the host, where names and values need no checks.
      make = (pairs, immutable) => {
        const headers = new Headers();
        for (let i = 0; i < pairs.length; i++) push(headers.#raw, pair(toLowerCase(`${pairs[i][0]}`), `${pairs[i][1]}`));
        headers.#immutable = immutable;
        return headers;
      };
      iterablePairs(Headers, "Headers", (headers) => (headers.#sorted ??= sortAndCombine(headers.#raw)));
    }
  }
  expose(Headers, "Headers", (headers) => {
    const shown = { __proto__: null };
    const raw = sortAndCombine(rawOf(headers));
    for (let i = 0; i < raw.length; i++) shown[raw[i][0]] = raw[i][1];
    return shown;
  });

  function without(raw, key) {
    const kept = list();
    for (let i = 0; i < raw.length; i++) if (raw[i][0] !== key) push(kept, raw[i]);
    return kept;
  }

  // Fetch §2.2.2 "sort and combine": by name, values joined, each cookie on its own.
  function sortAndCombine(raw) {
    const combined = list();
    const places = new Map();
    for (let i = 0; i < raw.length; i++) {
      const at = mapGet(places, raw[i][0]);
      if (at !== undefined && raw[i][0] !== "set-cookie") {
        combined[at][1] += `, ${raw[i][1]}`;
        continue;
      }
      mapSet(places, raw[i][0], combined.length);
      push(combined, pair(raw[i][0], raw[i][1]));
    }
    return arraySort(combined, (a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
  }

  return { __proto__: null, Headers, make, rawOf, appendRaw };
});
lazyGlobals(loadHeaders, "Headers");

// Web IDL's ByteString.
function byteString(value) {
  const text = `${value}`;
  if (regexExec(/[^\x00-\xff]/, text) !== null) throw new TypeError("A header may only hold characters up to U+00FF");
  return text;
}

// Fetch §2.2.2: a name is a token (RFC 9110 §5.6.2), compared in lower case.
function headerName(name) {
  const text = byteString(name);
  if (!isToken(text)) throw new TypeError(`'${text}' is not a header's name`);
  return toLowerCase(text);
}

function isToken(text) {
  return regexExec(/^[!#$%&'*+.^_`|~\w-]+$/, text) !== null;
}

// Leading and trailing HTTP whitespace goes; NUL, CR and LF are refused.
function headerValue(value) {
  let from = 0;
  let to = value.length;
  while (from < to && indexOf("\t\n\r ", value[from]) >= 0) from += 1;
  while (to > from && indexOf("\t\n\r ", value[to - 1]) >= 0) to -= 1;
  const text = slice(value, from, to);
  if (regexExec(/[\0\r\n]/, text) !== null) throw new TypeError("A header's value may not hold line breaks");
  return text;
}
