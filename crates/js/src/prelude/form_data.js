// FormData (XHR §4.3) and its multipart/form-data encoding (HTML §4.10.21.8, RFC 7578).

const loadFormData = once(function () {
  const { isBlob, isFile, fileOf, bytesOf, typeOf, nameOf } = loadBlob();
  let pairsOf, isFormData, fromPairs;

  class FormData {
    #pairs = list();

    constructor(form = undefined) {
      if (form !== undefined) throw new TypeError("FormData: there are no form elements here; use append");
    }

    append(name, value, filename = undefined) {
      needs(2, arguments.length, "FormData.append");
      push(this.#pairs, entry(name, value, filename, arguments.length > 2));
    }

    set(name, value, filename = undefined) {
      needs(2, arguments.length, "FormData.set");
      const made = entry(name, value, filename, arguments.length > 2);
      const kept = list();
      let placed = false;
      for (let i = 0; i < this.#pairs.length; i++) {
        if (this.#pairs[i][0] !== made[0]) push(kept, this.#pairs[i]);
        else if (!placed) {
          push(kept, made);
          placed = true;
        }
      }
      if (!placed) push(kept, made);
      this.#pairs = kept;
    }

    delete(name) {
      needs(1, arguments.length, "FormData.delete");
      const matches = matcher(name);
      const kept = list();
      for (let i = 0; i < this.#pairs.length; i++) if (!matches(this.#pairs[i])) push(kept, this.#pairs[i]);
      this.#pairs = kept;
    }

    get(name) {
      needs(1, arguments.length, "FormData.get");
      const at = find(this.#pairs, matcher(name));
      return at < 0 ? null : this.#pairs[at][1];
    }

    getAll(name) {
      needs(1, arguments.length, "FormData.getAll");
      const matches = matcher(name);
      const found = list();
      for (let i = 0; i < this.#pairs.length; i++) if (matches(this.#pairs[i])) push(found, this.#pairs[i][1]);
      return asArray(found);
    }

    has(name) {
      needs(1, arguments.length, "FormData.has");
      return find(this.#pairs, matcher(name)) >= 0;
    }

    static {
      pairsOf = (data) => data.#pairs;
      isFormData = (value) => isObject(value) && #pairs in value;
      fromPairs = (pairs) => {
        const data = new FormData();
        data.#pairs = pairs;
        return data;
      };
    }
  }
  iterablePairs(FormData, "FormData", pairsOf);
  expose(FormData, "FormData", (data) => ({ __proto__: null, entries: pairsOf(data).length }));

  // XHR §4.3 "create an entry": a blob becomes a file, named "blob" unless it has a name.
  function entry(name, value, filename, named) {
    if (!isBlob(value)) {
      if (named) throw new TypeError("FormData: only a Blob takes a file name");
      return pair(usv(name), usv(value));
    }
    if (!named && isFile(value)) return pair(usv(name), value);
    return pair(usv(name), fileOf(value, named ? usv(filename) : "blob"));
  }

  // The body and its boundary, which is random so that no content can contain it on purpose.
  function encodeMultipart(data) {
    const boundary = `----pinza${hexText(new Uint8Array(native.random(16)))}`;
    const chunks = list();
    const pairs = pairsOf(data);
    for (let i = 0; i < pairs.length; i++) {
      const value = pairs[i][1];
      const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(newlines(pairs[i][0]))}"`;
      if (typeof value === "string") push(chunks, encodeUtf8(`${head}\r\n\r\n${newlines(value)}\r\n`));
      else {
        const type = typeOf(value) === "" ? "application/octet-stream" : typeOf(value);
        push(chunks, encodeUtf8(`${head}; filename="${escapeName(nameOf(value))}"\r\nContent-Type: ${type}\r\n\r\n`));
        push(chunks, bytesOf(value));
        push(chunks, encodeUtf8("\r\n"));
      }
    }
    push(chunks, encodeUtf8(`--${boundary}--\r\n`));
    return { __proto__: null, boundary, bytes: concat(chunks) };
  }

  // Every line break of a name or a text becomes CR LF.
  function newlines(text) {
    if (regexExec(/[\r\n]/, text) === null) return text;
    let made = "";
    for (let i = 0; i < text.length; i++) {
      if (text[i] === "\r" && text[i + 1] === "\n") continue;
      made += text[i] === "\r" || text[i] === "\n" ? "\r\n" : text[i];
    }
    return made;
  }

  function escapeName(text) {
    if (regexExec(/["\r\n]/, text) === null) return text;
    let made = "";
    for (let i = 0; i < text.length; i++) made += text[i] === '"' ? "%22" : text[i] === "\r" ? "%0D" : text[i] === "\n" ? "%0A" : text[i];
    return made;
  }

  return { __proto__: null, FormData, isFormData, fromPairs, entry, encodeMultipart };
});
lazyGlobals(loadFormData, "FormData");
