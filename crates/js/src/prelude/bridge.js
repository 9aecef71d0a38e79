// Requests to the host, and their answers. No promise is chained inside the prelude: an answer calls a
// function that settles the caller's own promise, so patched promise methods are never asked.

const pending = new Map();

// Starts a request; `finish(ok, json, bytes)` is called at most once, from `settle`.
function start(op, payload, bytes, finish) {
  const id = native.request(op, payloadText(payload), bytes);
  mapSet(pending, id, finish);
  return id;
}

function cancel(id) {
  if (mapDelete(pending, id)) native.cancel(id);
}

function settle(id, ok, json, bytes) {
  const finish = mapGet(pending, id);
  if (finish === undefined) return;
  mapDelete(pending, id);
  finish(ok, json, bytes);
}

// A request whose answer, given to `convert(value, bytes)`, fulfils a promise.
function ask(op, payload, bytes, convert) {
  return new Promise((resolve, reject) => {
    start(op, payload, bytes, (ok, json, answer) => {
      if (!ok) return reject(failure(json, Error));
      try {
        resolve(convert(answerOf(json), answer));
      } catch (error) {
        reject(error);
      }
    });
  });
}

function askNow(op, payload) {
  const answer = native.requestSync(op, payloadText(payload));
  if (!answer[0]) throw failure(answer[1], Error);
  return answerOf(answer[1]);
}

// JSON.stringify escapes a surrogate only if it is alone (ECMA-262 §25.5.2.3), and no reader of UTF-8 takes
// those: they become U+FFFD, as in a USVString.
function payloadText(payload) {
  const json = stringify(payload);
  if (indexOf(json, "\\ud") < 0) return json;
  let text = "";
  let from = 0;
  for (let at = indexOf(json, "\\"); at >= 0; at = indexOf(json, "\\", at + 2)) {
    if (json[at + 1] !== "u" || json[at + 2] !== "d") continue;
    text += `${slice(json, from, at)}\\ufffd`;
    from = at + 6;
  }
  return text + slice(json, from);
}

function answerOf(json) {
  if (json === undefined || json === null || json === "") return undefined;
  const value = parse(json);
  return isObject(value) && !isArray(value) ? setPrototypeOf(value, null) : value;
}

// What the host said about an error, which a script may change on the error itself.
const origins = new WeakMap();

function origin(error) {
  return originGet(origins, error);
}

// The error that a refused or failed request becomes; `code` is one of Pinza's stable error codes.
function failure(json, Fallback) {
  const { code, message = "the request failed", name, hint } = answerOf(json) ?? { __proto__: null };
  const error = errorNamed(name, message, Fallback);
  if (code !== undefined && !isDomName(name)) {
    hidden(error, "code", code);
    originSet(origins, error, { __proto__: null, code, hint });
  }
  if (hint !== undefined) hidden(error, "hint", hint);
  return error;
}

function errorNamed(name, message, Fallback) {
  if (name === "TypeError") return new TypeError(message);
  if (name === "RangeError") return new RangeError(message);
  if (name === "SyntaxError") return new SyntaxError(message);
  return isDomName(name) ? new DOMException(message, name) : new Fallback(message);
}

function isDomName(name) {
  return typeof name === "string" && name !== "Error" && name !== "TypeError" && name !== "RangeError" && name !== "SyntaxError";
}

// HTML "report an exception": an error that no caller can catch goes to the call's log.
function report(error) {
  native.log("error", toWellFormed(`Uncaught ${loadFormat().inspect(error)}`));
}
