// The program of a Node process that runs one library for Pinza. Its standard input is a socket: frames come and
// go there (four bytes of length, big-endian, then JSON), so whatever the library prints is only a log.
//
// The first frame is { runner, package, limit, mark }, each further one { plan } or { describe }; each of these gets one
// frame with its outcome. Before that, `mark` is printed: what comes before it in the log belongs to the call.
// In old words, so that a Node that is too old can still say so.

import { Socket } from "node:net";
import { Readable } from "node:stream";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const OLDEST = 18;

const channel = new Socket({ fd: 0, readable: true, writable: true });
// A library that reads its input finds none, and one that starts this program again does not start this text.
Object.defineProperty(process, "stdin", { value: Readable.from([]), configurable: true });
process.execArgv = [];

const print = process.stderr.write.bind(process.stderr);
let limit = 0;
let mark = "";
let makeRunner;
let runner;
// The call that waits for its outcome.
let answer;

const outcomeOf = (error, fault) => (makeRunner ? makeRunner.failed(error, fault) : JSON.stringify({ error: { name: "Error", message: String(error), fault } }));

function send(text) {
  let bytes = Buffer.from(text);
  if (bytes.length > limit) bytes = Buffer.from(outcomeOf("The result is larger than " + (limit >> 20) + " MiB", "size"));
  const head = Buffer.alloc(4);
  head.writeUInt32BE(bytes.length);
  try {
    print(mark);
  } catch (closed) {
    // There is no log any more.
  }
  channel.write(Buffer.concat([head, bytes]));
}

function serve(frame) {
  if (makeRunner === undefined) return start(frame);
  // While a call runs, only what it started keeps this process awake: then an end without an answer is seen.
  channel.unref();
  answer = (text) => {
    answer = undefined;
    channel.ref();
    send(text);
  };
  const answered = answer;
  const ask = (invoke) => (frame.describe === undefined ? invoke(frame.plan) : invoke.describe(frame.describe));
  runner.then(ask).then((text) => answer === answered && answered(text), (error) => answer === answered && answered(outcomeOf(error, "load")));
}

process.on("beforeExit", () => {
  if (answer !== undefined) answer(outcomeOf("the library waits for a promise that nothing can settle any more"));
});

// What is thrown where nobody can catch it would end this process; the call is told why before it does.
process.on("uncaughtException", (error) => {
  if (answer !== undefined) answer(outcomeOf(error));
  else console.error(error);
  channel.end(() => process.exit(1));
});

function start(frame) {
  limit = frame.limit;
  mark = frame.mark;
  const major = Number(process.versions.node.split(".")[0]);
  if (major < OLDEST) {
    makeRunner = { failed: (error, fault) => JSON.stringify({ error: { name: "Error", message: String(error), fault } }) };
    runner = Promise.reject("Node " + process.versions.node + " is too old; Node " + OLDEST + " or newer is needed");
  } else {
    makeRunner = (0, eval)(frame.runner);
    runner = load(frame.package).then(makeRunner);
  }
  // Told to whoever calls.
  runner.catch(() => {});
}

// As a module of the directory would: what `import` cannot load, `require` may.
async function load(name) {
  const isPath = /^\.{0,2}\//.test(name);
  try {
    return await import(isPath ? pathToFileURL(resolve(name)).href : name);
  } catch (error) {
    try {
      // In a box, because a promise would take a library's `then` for its own.
      return { default: createRequire(resolve("module.json"))(name) };
    } catch (second) {
      // Where the package is found but not whole, that is the news.
      throw isMissing(error) && !isMissing(second) ? second : error;
    }
  }
}

const isMissing = (error) => error !== null && typeof error === "object" && (error.code === "ERR_MODULE_NOT_FOUND" || error.code === "MODULE_NOT_FOUND");

let pending = Buffer.alloc(0);
channel.on("data", (piece) => {
  pending = Buffer.concat([pending, piece]);
  while (pending.length >= 4 && pending.length >= 4 + pending.readUInt32BE(0)) {
    const end = 4 + pending.readUInt32BE(0);
    const frame = JSON.parse(pending.toString("utf8", 4, end));
    pending = pending.subarray(end);
    serve(frame);
  }
});
// Pinza is gone, or done.
channel.on("end", () => process.exit(0));
channel.on("error", () => process.exit(0));
