// What is told of an error: its own class and message, and what its library added.

const LONGEST_TEXT = 8 << 10;
const DEEPEST_CAUSE = 3;
const BUILT_IN = ["Error", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"];
const TOLD_ALREADY = ["name", "message", "stack", "code", "status", "cause"];

function failure(error, during) {
  if (isOurs(error)) return { name: "Error", message: clipped(error.message), fault: error.kind };
  const told = { name: classOf(error), message: messageOf(error) };
  const code = scalar(read(error, "code"));
  if (code !== undefined) told.code = code;
  const status = statusOf(error);
  if (status !== undefined) told.status = status;
  const stack = read(error, "stack");
  if (typeof stack === "string") told.stack = clipped(stack);
  const cause = causeOf(error, 1);
  if (cause !== undefined) told.cause = cause;
  const data = ownData(error);
  if (data !== undefined) told.data = data;
  if (during !== undefined) told.fault = during;
  return told;
}

// A class that does not set `name` still has one, unless a minifier took it.
function classOf(error) {
  const name = read(error, "name");
  const said = typeof name === "string" && name !== "" ? clipped(name) : "Error";
  if (!BUILT_IN.includes(said) || !isA(error, Error)) return said;
  const own = read(read(error, "constructor"), "name");
  return typeof own === "string" && own.length > 2 ? clipped(own) : said;
}

function messageOf(error) {
  if (typeof error === "string") return clipped(error);
  const message = read(error, "message");
  if (typeof message === "string" && message !== "") return clipped(message);
  // Node's error for a connection that every address refused has nothing but these.
  const errors = read(error, "errors");
  const inner = attempt(() => (isArray(errors) ? errors.slice(0, 3).map((one) => read(one, "message")).join("; ") : ""));
  if (inner?.value) return clipped(inner.value);
  const code = scalar(read(error, "code"));
  if (code !== undefined) return `${code}`;
  if (isA(error, Error)) return "";
  return clipped(`${stringify(display(error)) ?? "undefined"} was thrown`);
}

const scalar = (value) => (typeof value === "string" ? clipped(value) : isFinite(value) ? value : undefined);

function statusOf(error) {
  const found = [read(error, "status"), read(error, "statusCode"), read(read(error, "response"), "status")];
  return found.find((status) => isInteger(status));
}

function causeOf(error, depth) {
  const cause = read(error, "cause");
  if (isAbsent(cause) || depth > DEEPEST_CAUSE) return undefined;
  const told = { name: classOf(cause), message: messageOf(cause) };
  const code = scalar(read(cause, "code"));
  if (code !== undefined) told.code = code;
  const further = causeOf(cause, depth + 1);
  if (further !== undefined) told.cause = further;
  return told;
}

// Each property as far as it is small: requests and sockets hang there too.
function ownData(error) {
  if (!isObject(error) || typeof error === "function") return undefined;
  const data = create(null);
  for (const key of attempt(() => keysOf(error))?.value ?? []) {
    if (TOLD_ALREADY.includes(key)) continue;
    try {
      const property = getOwnPropertyDescriptor(error, key);
      const shown = hasOwn(property, "value") ? sensible(property.value, ERROR_DATA) : undefined;
      if (shown !== undefined) data[clipped(key)] = shown;
    } catch {
      // Too large, or not to be read.
    }
    if (keysOf(data).length === 32) break;
  }
  return keysOf(data).length > 0 ? data : undefined;
}

const clipped = (value) => value.slice(0, LONGEST_TEXT);
