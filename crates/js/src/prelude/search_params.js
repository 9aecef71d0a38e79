// URLSearchParams (URL §6.2) and the application/x-www-form-urlencoded format (URL §5).

const loadSearchParams = once(function () {
  let attach, refill, pairsOf, isSearchParams;

  class URLSearchParams {
    #pairs = list();
    #changed = undefined;

    constructor(init = "") {
      if (isObject(init)) this.#pairs = readPairs(init, usv, "URLSearchParams");
      else {
        const text = usv(init);
        this.#pairs = parseForm(text[0] === "?" ? slice(text, 1) : text);
      }
    }

    get size() { return this.#pairs.length; }

    append(name, value) {
      needs(2, arguments.length, "URLSearchParams.append");
      push(this.#pairs, pair(usv(name), usv(value)));
      this.#changed?.();
    }

    delete(name, value = undefined) {
      needs(1, arguments.length, "URLSearchParams.delete");
      this.#keep(matcher(name, value), false);
      this.#changed?.();
    }

    get(name) {
      needs(1, arguments.length, "URLSearchParams.get");
      const at = find(this.#pairs, matcher(name));
      return at < 0 ? null : this.#pairs[at][1];
    }

    getAll(name) {
      needs(1, arguments.length, "URLSearchParams.getAll");
      const matches = matcher(name);
      const found = list();
      for (let i = 0; i < this.#pairs.length; i++) if (matches(this.#pairs[i])) push(found, this.#pairs[i][1]);
      return asArray(found);
    }

    has(name, value = undefined) {
      needs(1, arguments.length, "URLSearchParams.has");
      return find(this.#pairs, matcher(name, value)) >= 0;
    }

    set(name, value) {
      needs(2, arguments.length, "URLSearchParams.set");
      const matches = matcher(name);
      const text = usv(value);
      const first = find(this.#pairs, matches);
      if (first < 0) push(this.#pairs, pair(usv(name), text));
      else {
        this.#pairs[first][1] = text;
        this.#keep(matches, true);
      }
      this.#changed?.();
    }

    sort() {
      arraySort(this.#pairs, (a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
      this.#changed?.();
    }

    toString() { return serializeForm(this.#pairs); }

    // Drops what matches, all of it or all but the first.
    #keep(matches, first) {
      const kept = list();
      for (let i = 0; i < this.#pairs.length; i++) {
        if (matches(this.#pairs[i]) && !first) continue;
        if (matches(this.#pairs[i])) first = false;
        push(kept, this.#pairs[i]);
      }
      this.#pairs = kept;
    }

    static {
      pairsOf = (params) => params.#pairs;
      isSearchParams = (value) => isObject(value) && #pairs in value;
      // Ties a list to a URL: each change of the list calls `changed`, a change of the URL refills the list.
      attach = (params, changed) => {
        params.#changed = changed;
        return params;
      };
      refill = (params, query) => {
        params.#pairs = parseForm(query);
      };
    }
  }
  iterablePairs(URLSearchParams, "URLSearchParams", pairsOf);
  expose(URLSearchParams, "URLSearchParams", (params) => ({ __proto__: null, query: serializeForm(pairsOf(params)) }));
  return { __proto__: null, URLSearchParams, attach, refill, pairsOf, isSearchParams };
});
lazyGlobals(loadSearchParams, "URLSearchParams");

function matcher(name, value) {
  const key = usv(name);
  if (value === undefined) return (entry) => entry[0] === key;
  const text = usv(value);
  return (entry) => entry[0] === key && entry[1] === text;
}

function find(pairs, matches) {
  for (let i = 0; i < pairs.length; i++) if (matches(pairs[i])) return i;
  return -1;
}

function parseForm(text) {
  const pairs = list();
  for (let from = 0; from <= text.length; ) {
    let end = indexOf(text, "&", from);
    if (end < 0) end = text.length;
    if (end > from) {
      const equals = indexOf(text, "=", from);
      const split = equals < 0 || equals > end ? end : equals;
      push(pairs, pair(decodeForm(slice(text, from, split)), decodeForm(slice(text, split + 1, end))));
    }
    from = end + 1;
  }
  return pairs;
}

function decodeForm(text) {
  if (regexExec(/[+%]/, text) === null) return text;
  const bytes = encodeUtf8(text);
  let length = 0;
  for (let i = 0; i < typedLength(bytes); i++) {
    const high = bytes[i] === 0x25 ? hexDigit(bytes[i + 1]) : -1;
    const low = high < 0 ? -1 : hexDigit(bytes[i + 2]);
    bytes[length++] = low >= 0 ? high * 16 + low : bytes[i] === 0x2b ? 0x20 : bytes[i];
    if (low >= 0) i += 2;
  }
  return decodeUtf8(part(bytes, 0, length), true);
}

function hexDigit(byte) {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  if ((byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)) return (byte & 0xdf) - 0x37;
  return -1;
}

function serializeForm(pairs) {
  let text = "";
  for (let i = 0; i < pairs.length; i++) text += `${i > 0 ? "&" : ""}${encodeForm(pairs[i][0])}=${encodeForm(pairs[i][1])}`;
  return text;
}

function encodeForm(text) {
  if (regexExec(/^[\w*.-]*$/, text) !== null) return text;
  const bytes = encodeUtf8(text);
  let encoded = "";
  for (let i = 0; i < typedLength(bytes); i++) {
    const byte = bytes[i];
    const letter = fromCharCode(byte);
    if (byte === 0x20) encoded += "+";
    else if (byte < 0x80 && regexExec(/[\w*.-]/, letter) !== null) encoded += letter;
    else encoded += `%${byte < 16 ? "0" : ""}${toUpperCase(numberToString(byte, 16))}`;
  }
  return encoded;
}
