// fetch (Fetch §5.6), and the two transfers between the network and the workspace's files.

const loadFetch = once(function () {
  const { Headers, rawOf } = loadHeaders();
  const { Request, partsOf } = loadRequest();
  const { fromHost } = loadResponse();
  const { consume } = loadBody();
  const { isAborted, whenAborted, reasonOf } = loadAbort();
  const { isFormData, fromPairs, entry } = loadFormData();
  const { isBlob } = loadBlob();

  function fetch(input, init = undefined) {
    const count = arguments.length;
    return new Promise((resolve, reject) => {
      needs(1, count, "fetch");
      const { url, method, headers, body, signal, redirect } = partsOf(new Request(input, init));
      if (isAborted(signal)) throw reasonOf(signal);
      const bytes = body === null ? undefined : exactBuffer(consume(body));
      const payload = { __proto__: null, url, method, headers: withAccept(rawOf(headers)), redirect };
      send("fetch", payload, bytes, signal, method, resolve, reject);
    });
  }

  // Fetch §4.1 step 12: a request that names nothing accepts everything.
  function withAccept(raw) {
    if (find(raw, (entry) => entry[0] === "accept") >= 0) return raw;
    const pairs = list();
    for (let i = 0; i < raw.length; i++) push(pairs, raw[i]);
    push(pairs, pair("accept", "*/*"));
    return pairs;
  }

  function send(op, payload, bytes, signal, method, resolve, reject) {
    let forget;
    const id = start(op, payload, bytes, (ok, json, answer) => {
      forget?.();
      if (!ok) return reject(failure(json, TypeError));
      try {
        resolve(fromHost(answerOf(json), answer, method));
      } catch (error) {
        reject(error);
      }
    });
    if (signal === undefined) return;
    forget = whenAborted(signal, () => {
      cancel(id);
      reject(reasonOf(signal));
    });
  }

  function headerPairs(options, what) {
    const { headers } = dictionary(options, what);
    return rawOf(new Headers(headers ?? undefined));
  }

  function downloadToFile(url, path, options = undefined) {
    return new Promise((resolve, reject) => {
      const payload = { __proto__: null, url: requestUrl(url), path: pathText(path), headers: headerPairs(options, "downloadToFile: options") };
      start("download", payload, undefined, (ok, json) => {
        if (!ok) return reject(failure(json, Error));
        resolve(setPrototypeOf(answerOf(json), Object.prototype));
      });
    });
  }

  // Parts are {name, value} or {name, path, filename?, type?}; the host reads the files that paths name.
  function uploadMultipart(url, parts, options = undefined) {
    if (isFormData(parts)) return sendForm(url, parts, options);
    return new Promise((resolve, reject) => {
      if (!isArray(parts)) throw new TypeError("uploadMultipart: parts must be FormData or an array of {name, value} and {name, path}");
      const { method = "POST" } = dictionary(options, "uploadMultipart: options");
      const form = blobForm(parts);
      if (form !== undefined) return resolve(sendForm(url, form, options));
      const payload = { __proto__: null, url: requestUrl(url), method: `${method}`, headers: headerPairs(options, "uploadMultipart: options"), parts: partList(parts) };
      send("upload", payload, undefined, undefined, payload.method, resolve, reject);
    });
  }

  function sendForm(url, body, options) {
    const { method = "POST", headers } = dictionary(options, "uploadMultipart: options");
    return fetch(url, { __proto__: null, method, headers, body });
  }

  // Blobs live here and paths in the host: parts with blobs are encoded here, and cannot be mixed with paths.
  function blobForm(parts) {
    let blobs = false;
    let paths = false;
    for (let i = 0; i < parts.length; i++) {
      blobs ||= isObject(parts[i]) && isBlob(parts[i].value);
      paths ||= isObject(parts[i]) && parts[i].path !== undefined;
    }
    if (!blobs) return undefined;
    if (paths) throw new TypeError("uploadMultipart: parts with a path and parts with a Blob cannot be sent together");
    const pairs = list();
    for (let i = 0; i < parts.length; i++) {
      const { name, value, filename } = dictionary(parts[i], "uploadMultipart: a part");
      push(pairs, entry(name, value, filename, filename !== undefined && isBlob(value)));
    }
    return fromPairs(pairs);
  }

  function partList(parts) {
    const made = list();
    for (let i = 0; i < parts.length; i++) {
      const { name, value, path, filename, type } = dictionary(parts[i], "uploadMultipart: a part");
      if (name === undefined) throw new TypeError("uploadMultipart: each part needs a name");
      if ((value === undefined) === (path === undefined)) throw new TypeError(`uploadMultipart: the part '${name}' needs either a value or a path`);
      push(made, {
        __proto__: null,
        name: usv(name),
        value: value === undefined ? undefined : usv(value),
        path: path === undefined ? undefined : pathText(path),
        filename: filename === undefined ? undefined : usv(filename),
        type: type === undefined ? undefined : byteString(type),
      });
    }
    return made;
  }

  return { __proto__: null, fetch, downloadToFile, uploadMultipart };
});
lazyGlobals(loadFetch, "fetch", "downloadToFile", "uploadMultipart");
