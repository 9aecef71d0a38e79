// Blob and File (File API §3, §4). A blob's bytes are in memory, and slices share them.

const loadBlob = once(function () {
  const nothing = { __proto__: null };
  let bytesOf, typeOf, isBlob, isFile, nameOf, cloneBlob, adopt, fileOf, refit;

  class Blob {
    #bytes;
    #type;

    constructor(parts = undefined, options = undefined) {
      if (parts === nothing) return;
      if (parts !== undefined && (!isObject(parts) || typeof parts[symbolIterator] !== "function")) throw new TypeError("Blob: the parts must be a sequence");
      const { type = "", endings = "transparent" } = dictionary(options, "Blob: options");
      if (`${endings}` !== "transparent" && `${endings}` !== "native") throw new TypeError("Blob: endings must be 'transparent' or 'native'");
      this.#bytes = parts === undefined ? new Uint8Array(0) : gather(parts, `${endings}` === "native");
      this.#type = typeText(type);
    }

    get size() { return typedLength(this.#bytes); }
    get type() { return this.#type; }

    slice(start = 0, end = undefined, type = "") {
      const size = typedLength(this.#bytes);
      const from = position(start, size);
      const to = max(from, end === undefined ? size : position(end, size));
      return adopt(part(this.#bytes, from, to), typeText(type));
    }

    async text() { return decodeUtf8(this.#bytes); }
    async arrayBuffer() { return typedBuffer(copy(this.#bytes)); }
    async bytes() { return copy(this.#bytes); }
    stream() { return loadStream().streamOf(copy(this.#bytes)); }

    static {
      isBlob = (value) => isObject(value) && #bytes in value;
      bytesOf = (blob) => blob.#bytes;
      typeOf = (blob) => blob.#type;
      // A blob of bytes that nobody else will change.
      adopt = (bytes, type) => refit(new Blob(nothing), bytes, type);
      refit = (blob, bytes, type) => {
        blob.#bytes = bytes;
        blob.#type = type;
        return blob;
      };
      cloneBlob = (value) => {
        if (!isBlob(value)) return undefined;
        return isFile(value) ? fileOf(value, nameOf(value)) : adopt(value.#bytes, value.#type);
      };
    }
  }
  expose(Blob, "Blob", (blob) => ({ __proto__: null, size: blob.size, type: blob.type }));

  function gather(parts, native) {
    const chunks = list();
    for (const item of parts) {
      const view = isBlob(item) ? bytesOf(item) : viewOf(item);
      push(chunks, view ?? encodeUtf8(native ? lineFeeds(usv(item)) : `${item}`));
    }
    return concat(chunks);
  }

  // "convert line endings to native": the sandbox's native line ending is a line feed.
  function lineFeeds(text) {
    let made = "";
    for (let i = 0; i < text.length; i++) {
      if (text[i] === "\r" && text[i + 1] === "\n") continue;
      made += text[i] === "\r" ? "\n" : text[i];
    }
    return made;
  }

  function typeText(type) {
    const text = `${type}`;
    return regexExec(/[^\x20-\x7e]/, text) === null ? toLowerCase(text) : "";
  }

  // Web IDL's [Clamp] long long, then relative to the end if negative.
  function position(value, size) {
    const at = Number(value);
    if (at !== at) return 0;
    const whole = at < 0 ? -floor(-at) : floor(at);
    return whole < 0 ? max(0, size + whole) : min(whole, size);
  }

  class File extends Blob {
    #name;
    #modified;

    constructor(bits, name, options = undefined) {
      needs(2, arguments.length, "File");
      if (!isObject(bits)) throw new TypeError("File: the parts must be a sequence");
      super(bits, options);
      const { lastModified } = dictionary(options, "File: options");
      this.#name = usv(name);
      this.#modified = lastModified === undefined ? floor(native.clock()) : whole(Number(lastModified));
    }

    get name() { return this.#name; }
    get lastModified() { return this.#modified; }
    get webkitRelativePath() { return ""; }

    static {
      isFile = (value) => isObject(value) && #name in value;
      nameOf = (file) => file.#name;
      // The same contents under a file's name (XHR §4.3 "create an entry").
      fileOf = (blob, name) => {
        const file = refit(new File(nothing, name), bytesOf(blob), typeOf(blob));
        if (isFile(blob)) file.#modified = blob.#modified;
        return file;
      };
    }
  }
  expose(File, "File", (file) => ({ __proto__: null, name: file.name, size: file.size, type: file.type }));

  function whole(number) {
    if (number !== number || number === Infinity || number === -Infinity) return 0;
    return number < 0 ? -floor(-number) : floor(number);
  }

  return { __proto__: null, Blob, File, isBlob, isFile, bytesOf, typeOf, nameOf, fileOf, adopt, cloneBlob };
});
lazyGlobals(loadBlob, "Blob", "File");
