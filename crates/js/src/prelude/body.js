// The Body mixin of Request and Response (Fetch §5.3), over bytes that are there from the start.

const loadBody = once(function () {
  const { isBlob, bytesOf, typeOf, adopt } = loadBlob();
  const { isFormData, fromPairs, encodeMultipart } = loadFormData();
  const { isSearchParams, pairsOf } = loadSearchParams();
  const { streamOf, isStream, stateOf, take } = loadStream();

  // Fetch §5.2 "extract a body": bytes that nobody else holds, and the content type that they imply.
  function extract(source) {
    if (isStream(source)) return { __proto__: null, bytes: drain(source), type: null };
    if (isBlob(source)) return { __proto__: null, bytes: copy(bytesOf(source)), type: typeOf(source) === "" ? null : typeOf(source) };
    if (isFormData(source)) {
      const { boundary, bytes } = encodeMultipart(source);
      return { __proto__: null, bytes, type: `multipart/form-data; boundary=${boundary}` };
    }
    if (isSearchParams(source)) {
      return { __proto__: null, bytes: encodeUtf8(serializeForm(pairsOf(source))), type: "application/x-www-form-urlencoded;charset=UTF-8" };
    }
    const view = viewOf(source);
    if (view !== undefined) return { __proto__: null, bytes: copy(view), type: null };
    return { __proto__: null, bytes: encodeUtf8(`${source}`), type: "text/plain;charset=UTF-8" };
  }

  function drain(stream) {
    const state = stateOf(stream);
    if (state.locked || state.disturbed) throw new TypeError("The stream was read already");
    return take(state);
  }

  function isUsed(body) {
    return body !== null && stateOf(body).disturbed;
  }

  function isUnusable(body) {
    return body !== null && (stateOf(body).disturbed || stateOf(body).locked);
  }

  // "tee": a second body with the same bytes.
  function cloneBody(body) {
    return body === null ? null : streamOf(copy(stateOf(body).bytes));
  }

  // A body is null or a stream, whose bytes are handed out once.
  function consume(body) {
    if (isUnusable(body)) throw new TypeError("The body was read already; use clone() to read it twice");
    return body === null ? new Uint8Array(0) : take(stateOf(body));
  }

  // `read(self)` answers {body, headers, truncated} of a Request or Response, and checks the brand.
  function mixBody(Class, read) {
    const methods = {
      __proto__: null,
      async arrayBuffer() { return exactBuffer(consume(read(this).body)); },
      async bytes() { return consume(read(this).body); },
      async text() { return decodeUtf8(consume(read(this).body)); },
      async json() {
        const { body, truncated } = read(this);
        const bytes = consume(body);
        if (truncated) throw cutOff(typedLength(bytes));
        return parse(decodeUtf8(bytes));
      },
      async blob() {
        const { body, headers } = read(this);
        return adopt(consume(body), toLowerCase(contentType(headers)));
      },
      async formData() {
        const { body, headers } = read(this);
        const essence = regexExec(/^[^;\s]*/, toLowerCase(contentType(headers)))[0];
        if (essence !== "application/x-www-form-urlencoded") throw new TypeError(`formData() reads application/x-www-form-urlencoded, and this body is '${essence}'`);
        return fromPairs(parseForm(decodeUtf8(consume(body), true)));
      },
    };
    const names = ownKeys(methods);
    for (let i = 0; i < names.length; i++) hidden(Class.prototype, names[i], methods[names[i]]);
  }

  function contentType(headers) {
    const raw = loadHeaders().rawOf(headers);
    const at = find(raw, (entry) => entry[0] === "content-type");
    return at < 0 ? "" : raw[at][1];
  }

  function cutOff(length) {
    return new SyntaxError(`The response was cut off after ${length} bytes, so its JSON is incomplete. Ask for less (a page, fewer fields), read text(), or use downloadToFile.`);
  }

  return { __proto__: null, extract, isUsed, isUnusable, cloneBody, consume, mixBody };
});
