// TextEncoder and TextDecoder (Encoding §7). The tables are the host's; what is here is the stream state.

const loadEncoding = once(function () {
  class TextEncoder {
    #own;
    get encoding() {
      this.#own;
      return "utf-8";
    }

    encode(input = "") {
      this.#own;
      return encodeUtf8(`${input}`);
    }

    encodeInto(source, destination) {
      this.#own;
      needs(2, arguments.length, "TextEncoder.encodeInto");
      const text = `${source}`;
      if (!isView(destination) || typedTag(destination) !== "Uint8Array") throw new TypeError("TextEncoder.encodeInto: the destination must be a Uint8Array");
      const read = fitting(text, typedLength(destination));
      const bytes = encodeUtf8(slice(text, 0, read));
      typedSet(destination, bytes);
      return { read, written: typedLength(bytes) };
    }
  }
  expose(TextEncoder, "TextEncoder");

  // How many code units of the text fit into so many bytes; a pair of surrogates goes whole or not at all.
  function fitting(text, room) {
    if (text.length * 3 <= room) return text.length;
    let at = 0;
    while (at < text.length) {
      const unit = charCodeAt(text, at);
      const paired = unit >= 0xd800 && unit < 0xdc00 && isLow(charCodeAt(text, at + 1));
      room -= paired ? 4 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
      if (room < 0) break;
      at += paired ? 2 : 1;
    }
    return at;
  }

  function isLow(unit) {
    return unit >= 0xdc00 && unit < 0xe000;
  }

  class TextDecoder {
    #name;
    #fatal;
    #ignoreBOM;
    #held = undefined;
    #begun = false;

    constructor(label = "utf-8", options = undefined) {
      const name = native.encodingName(usv(label));
      if (!name || name === "replacement") throw new RangeError(`TextDecoder: the encoding '${label}' is not known`);
      const { fatal = false, ignoreBOM = false } = dictionary(options, "TextDecoder: options");
      this.#name = name;
      this.#fatal = !!fatal;
      this.#ignoreBOM = !!ignoreBOM;
    }

    get encoding() { return this.#name; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#ignoreBOM; }

    decode(input = undefined, options = undefined) {
      let bytes = input === undefined ? new Uint8Array(0) : viewOf(input);
      if (bytes === undefined) throw new TypeError("TextDecoder.decode: the input must be an ArrayBuffer or a view of one");
      const { stream = false } = dictionary(options, "TextDecoder.decode: options");
      if (this.#held !== undefined) bytes = concat([this.#held, bytes]);
      const ready = typedLength(bytes) - (stream ? unfinished(this.#name, bytes) : 0);
      const keepMark = this.#ignoreBOM || this.#begun;
      this.#held = ready < typedLength(bytes) ? copy(part(bytes, ready, typedLength(bytes))) : undefined;
      this.#begun = !!stream && (this.#begun || ready > 0);
      return native.decode(this.#name, typedBuffer(bytes), typedOffset(bytes), ready, this.#fatal, keepMark);
    }
  }
  expose(TextDecoder, "TextDecoder", (decoder) => ({ __proto__: null, encoding: decoder.encoding }));

  // How many bytes at the end may be the beginning of a character that the next chunk completes.
  function unfinished(name, bytes) {
    const length = typedLength(bytes);
    if (name === "utf-8") return unfinishedUtf8(bytes, length);
    if (name === "utf-16le" || name === "utf-16be") return unfinishedUtf16(bytes, length, name === "utf-16le" ? 1 : 0);
    if (regexExec(/^(windows-|iso-8859-|koi8-|macintosh|x-mac-|ibm|x-user)/, name) !== null) return 0;
    // The other encodings keep state that the host does not hand out: they wait for the last chunk.
    return length;
  }

  function unfinishedUtf8(bytes, length) {
    for (let back = 1; back <= 3 && back <= length; back++) {
      const byte = bytes[length - back];
      if ((byte & 0xc0) === 0x80) continue;
      const size = byte >= 0xf0 && byte <= 0xf4 ? 4 : byte >= 0xe0 && byte < 0xf0 ? 3 : byte >= 0xc2 && byte < 0xe0 ? 2 : 1;
      return size > back ? back : 0;
    }
    return 0;
  }

  function unfinishedUtf16(bytes, length, high) {
    const odd = length % 2;
    const unitEnd = length - odd;
    const isHigh = unitEnd >= 2 && (bytes[unitEnd - 2 + high] & 0xfc) === 0xd8;
    return isHigh ? odd + 2 : odd;
  }

  return { __proto__: null, TextEncoder, TextDecoder };
});
lazyGlobals(loadEncoding, "TextEncoder", "TextDecoder");
