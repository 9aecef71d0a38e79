// assert: both tempers, legacy and strict.
"use strict";

const { coded, invalidArgType, invalidArgValue } = require("internal/errors");
const { inspect } = require("internal/inspect");
const { isDeepEqual, isDeepStrictEqual } = require("internal/equal");
const { isRegExp, isPromise } = require("internal/types");

const headings = {
  strictEqual: "Expected values to be strictly equal:",
  deepStrictEqual: "Expected values to be strictly deep-equal:",
  deepEqual: "Expected values to be loosely deep-equal:",
  equal: "Expected values to be loosely equal:",
  notStrictEqual: 'Expected "actual" to be strictly unequal to:',
  notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
  notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
  notEqual: 'Expected "actual" to be loosely unequal to:',
};

const shown = (value) => inspect(value, { compact: false, customInspect: false, depth: 1000, maxArrayLength: Infinity, sorted: true, getters: true, breakLength: Infinity });

class AssertionError extends Error {
  constructor(options) {
    if (options === null || typeof options !== "object") throw invalidArgType("options", "Object", options);
    const { message, operator, actual, expected, stackStartFn } = options;
    super(message !== undefined && message !== null ? String(message) : explain(operator, actual, expected));
    this.generatedMessage = message === undefined || message === null;
    Object.defineProperty(this, "name", { value: "AssertionError", writable: true, enumerable: false, configurable: true });
    this.code = "ERR_ASSERTION";
    Object.assign(this, { actual, expected, operator });
    Error.captureStackTrace?.(this, stackStartFn ?? AssertionError);
  }

  toString() {
    return `${this.name} [${this.code}]: ${this.message}`;
  }

  [inspect.custom](depth, options) {
    return inspect(this, { ...options, customInspect: false, depth: 0 });
  }
}

function explain(operator, actual, expected) {
  if (operator === "fail") return "Failed";
  if (operator === "deepEqual") return `${headings[operator]}\n\n${shown(actual)}\n\nshould loosely deep-equal\n\n${shown(expected)}`;
  if (operator === "equal" || operator === "notEqual" || operator === "==" || operator === "!=") return `${inspect(actual)} ${operator.includes("!") || operator === "notEqual" ? "!=" : "=="} ${inspect(expected)}`;
  if (headings[operator] === undefined) return `${inspect(actual)} ${operator} ${inspect(expected)}`;
  if (operator.startsWith("not")) {
    const lines = shown(actual).split("\n");
    return lines.length === 1 ? `${headings[operator]}${lines[0].length > 5 ? "\n\n" : " "}${lines[0]}` : `${headings[operator]}\n\n${lines.join("\n")}\n`;
  }
  return difference(headings[operator], shown(actual).split("\n"), shown(expected).split("\n"), actual, expected);
}

function difference(heading, left, right, actual, expected) {
  const simple = (value) => (typeof value !== "object" || value === null) && typeof value !== "function";
  if (left.length === 1 && right.length === 1 && simple(actual) && simple(expected) && left[0] !== right[0]) {
    return `${heading}\n\n${left[0]} !== ${right[0]}\n`;
  }
  if (left.join("\n") === right.join("\n")) return `Values have same structure but are not reference-equal:\n\n${left.join("\n")}\n`;
  const lines = diff(left, right).map(([mark, line]) => `${mark} ${line}`);
  return `${heading}\n+ actual - expected\n\n${lines.join("\n")}\n`;
}

// The longest common subsequence of lines; where there are too many, first all of one, then all of the other.
function diff(left, right) {
  if (left.length * right.length > 250000) return [...left.map((line) => ["+", line]), ...right.map((line) => ["-", line])];
  const lengths = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1));
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) lengths[i][j] = left[i] === right[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
  }
  const lines = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      lines.push([" ", left[i++]]);
      j += 1;
    } else if (j >= right.length || (i < left.length && lengths[i + 1][j] >= lengths[i][j + 1])) lines.push(["+", left[i++]]);
    else lines.push(["-", right[j++]]);
  }
  return lines;
}

function fail(options, message) {
  if (message instanceof Error) throw message;
  throw new AssertionError({ ...options, message });
}

// With a message of our own, unless the caller gave one.
function failWith(options, message, generated) {
  if (message !== undefined) fail(options, message);
  throw Object.assign(new AssertionError({ ...options, message: generated }), { generatedMessage: true });
}

function needsTwo(args) {
  if (args.length < 2) throw coded(TypeError, "ERR_MISSING_ARGS", 'The "actual" and "expected" arguments must be specified');
}

function ok(...args) {
  truthy(ok, "==", args);
}

function truthy(stackStartFn, operator, args) {
  const [value, message] = args;
  if (value) return;
  if (args.length === 0) throw Object.assign(new AssertionError({ message: "No value argument passed to `assert.ok()`", actual: undefined, expected: true, operator, stackStartFn }), { generatedMessage: true });
  if (message instanceof Error) throw message;
  const own = message !== undefined && message !== null;
  const error = new AssertionError({ message: own ? message : "The expression evaluated to a falsy value", actual: value, expected: true, operator, stackStartFn });
  error.generatedMessage = !own;
  throw error;
}

function assert(...args) {
  truthy(assert, "==", args);
}

const comparisons = {
  equal: (a, b) => a == b || (Number.isNaN(a) && Number.isNaN(b)),
  notEqual: (a, b) => !(a == b || (Number.isNaN(a) && Number.isNaN(b))),
  strictEqual: (a, b) => Object.is(a, b),
  notStrictEqual: (a, b) => !Object.is(a, b),
  deepEqual: isDeepEqual,
  notDeepEqual: (a, b) => !isDeepEqual(a, b),
  deepStrictEqual: isDeepStrictEqual,
  notDeepStrictEqual: (a, b) => !isDeepStrictEqual(a, b),
};
const operators = { equal: "==", notEqual: "!=" };

for (const [name, holds] of Object.entries(comparisons)) {
  const compare = function (...args) {
    needsTwo(args);
    const [actual, expected, message] = args;
    if (!holds(actual, expected)) fail({ actual, expected, operator: operators[name] ?? name, stackStartFn: compare }, message);
  };
  Object.defineProperty(compare, "name", { value: name });
  assert[name] = compare;
}

assert.fail = function (...args) {
  const [actual, expected, message, operator = "!="] = args;
  if (args.length <= 1) {
    if (actual instanceof Error) throw actual;
    const error = new AssertionError({ message: actual ?? "Failed", operator: "fail", stackStartFn: assert.fail });
    error.generatedMessage = actual === undefined;
    throw error;
  }
  fail({ actual, expected, operator: args.length === 2 ? "!=" : operator, stackStartFn: assert.fail }, message);
};

function caught(code) {
  if (typeof code !== "function") throw invalidArgType("fn", "Function", code);
  try {
    code();
  } catch (error) {
    return { error };
  }
  return undefined;
}

async function rejected(promise) {
  if (typeof promise === "function") {
    const made = promise();
    if (typeof made?.then !== "function") throw coded(TypeError, "ERR_INVALID_RETURN_VALUE", `Expected instance of Promise to be returned from the "promiseFn" function but got ${made === undefined ? "undefined" : `type ${typeof made}`}.`);
    promise = made;
  } else if (!isPromise(promise) && typeof promise?.then !== "function") throw invalidArgType("promiseFn", ["Function", "Promise"], promise);
  try {
    await promise;
  } catch (error) {
    return { error };
  }
  return undefined;
}

function expectThrow(stackStartFn, outcome, expected, message) {
  if (typeof expected === "string") {
    if (message !== undefined) throw invalidArgType("error", ["Object", "Error", "Function", "RegExp"], expected);
    if (outcome !== undefined && outcome.error?.message === expected) throw coded(TypeError, "ERR_AMBIGUOUS_ARGUMENT", `The "error/message" argument is ambiguous. The error message "${expected}" is identical to the message.`);
    [expected, message] = [undefined, expected];
  } else if (expected !== undefined && expected !== null && typeof expected !== "object" && typeof expected !== "function") {
    throw invalidArgType("error", ["Object", "Error", "Function", "RegExp"], expected);
  }
  const operator = stackStartFn.name;
  if (outcome === undefined) {
    const named = expected?.name ? ` (${expected.name})` : "";
    const what = operator === "rejects" ? "rejection" : "exception";
    fail({ actual: undefined, expected, operator, stackStartFn, }, `Missing expected ${what}${named}${message ? `: ${message}` : "."}`);
  }
  if (expected !== undefined && expected !== null) checkError(outcome.error, expected, message, stackStartFn);
}

function checkError(actual, expected, message, stackStartFn) {
  const options = { actual, expected, operator: stackStartFn.name, stackStartFn };
  if (typeof expected === "function") return checkClass(actual, expected, message, options);
  if (isRegExp(expected)) {
    if (expected.test(String(actual))) return;
    failWith(options, message, `The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(String(actual))}\n`);
  }
  const keys = Object.keys(expected);
  if (expected instanceof Error) keys.push("name", "message");
  else if (keys.length === 0) throw invalidArgValue("error", expected, "may not be an empty object");
  const holds = (from, key) => from !== null && from !== undefined && key in Object(from);
  const picked = (from) => shown(Object.fromEntries(keys.filter((key) => holds(from, key)).map((key) => [key, from[key]]))).split("\n");
  for (const key of keys) {
    const pattern = expected[key];
    if (isRegExp(pattern) && typeof actual?.[key] === "string" && pattern.test(actual[key])) continue;
    if (holds(actual, key) && isDeepStrictEqual(actual[key], pattern)) continue;
    failWith(options, message, difference(headings.deepStrictEqual, picked(actual), picked(expected), {}, {}));
  }
}

function checkClass(actual, expected, message, options) {
  if (expected.prototype !== undefined && actual instanceof expected) return;
  if (Error.isPrototypeOf(expected) || expected === Error) {
    const name = actual?.constructor?.name ?? inspect(actual);
    failWith(options, message, `The error is expected to be an instance of "${expected.name}". Received "${name}"${actual?.message ? `\n\nError message:\n\n${actual.message}` : ""}`);
  }
  const answer = expected.call({}, actual);
  if (answer === true) return;
  failWith(options, message, `The ${expected.name ? `"${expected.name}" ` : ""}validation function is expected to return "true". Received ${inspect(answer)}\n\nCaught error:\n\n${actual}`);
}

assert.throws = function throws(code, expected, message) {
  expectThrow(throws, caught(code), expected, message);
};
assert.rejects = async function rejects(promise, expected, message) {
  expectThrow(rejects, await rejected(promise), expected, message);
};

function expectNone(stackStartFn, outcome, expected, message) {
  if (outcome === undefined) return;
  if (typeof expected === "string") [expected, message] = [undefined, expected];
  const matches = expected === undefined || (isRegExp(expected) ? expected.test(String(outcome.error)) : outcome.error instanceof expected);
  if (!matches) throw outcome.error;
  const what = stackStartFn.name === "doesNotReject" ? "rejection" : "exception";
  fail({ actual: outcome.error, expected, operator: stackStartFn.name, stackStartFn }, `Got unwanted ${what}${message ? `: ${message}` : "."}\nActual message: "${outcome.error?.message}"`);
}

assert.doesNotThrow = function doesNotThrow(code, expected, message) {
  expectNone(doesNotThrow, caught(code), expected, message);
};
assert.doesNotReject = async function doesNotReject(promise, expected, message) {
  expectNone(doesNotReject, await rejected(promise), expected, message);
};

assert.ifError = function ifError(value) {
  if (value === null || value === undefined) return;
  const shownValue = value instanceof Error || (typeof value === "object" && typeof value.message === "string") ? (value.message.length === 0 && value.constructor ? value.constructor.name : value.message) : inspect(value);
  fail({ actual: value, expected: null, operator: "ifError", stackStartFn: ifError }, `ifError got unwanted exception: ${shownValue}`);
};

function matching(stackStartFn, text, pattern, message, wanted) {
  if (!isRegExp(pattern)) throw invalidArgType("regexp", "RegExp", pattern);
  if (typeof text === "string" && pattern.test(text) === wanted) return;
  if (message instanceof Error) throw message;
  const reason = typeof text !== "string"
    ? `The "string" argument must be of type string. Received type ${typeof text} (${inspect(text)})`
    : `The input ${wanted ? "did not match" : "was expected to not match"} the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`;
  const error = new AssertionError({ actual: text, expected: pattern, message: message ?? reason, operator: stackStartFn.name, stackStartFn });
  error.generatedMessage = message === undefined;
  throw error;
}

assert.match = function match(text, pattern, message) {
  matching(match, text, pattern, message, true);
};
assert.doesNotMatch = function doesNotMatch(text, pattern, message) {
  matching(doesNotMatch, text, pattern, message, false);
};

assert.ok = ok;
assert.AssertionError = AssertionError;
assert.CallTracker = require("internal/errors").stub("assert.CallTracker");

function strict(...args) {
  truthy(strict, "==", args);
}
assert.strict = Object.assign(strict, assert, {
  equal: assert.strictEqual, notEqual: assert.notStrictEqual, deepEqual: assert.deepStrictEqual, notDeepEqual: assert.notDeepStrictEqual,
});
strict.strict = strict;

module.exports = assert;
