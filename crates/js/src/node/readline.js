// readline: the lines of a stream. There is no terminal to talk to.
"use strict";

const EventEmitter = require("events");
const { unavailable, coded } = require("internal/errors");

class Interface extends EventEmitter {
  #rest = "";
  #queue = [];

  constructor(input) {
    super();
    const options = typeof input?.on === "function" ? { input } : (input ?? {});
    Object.assign(this, { input: options.input, output: options.output, terminal: false, line: "", cursor: 0, closed: false, paused: false });
    if (typeof this.input?.on !== "function") throw unavailable("readline.createInterface without an input stream");
    const decoder = new (require("string_decoder").StringDecoder)("utf8");
    this.input.on("data", (chunk) => this.#take(decoder.write(chunk)));
    this.input.on("end", () => {
      this.#take(decoder.end());
      if (this.#rest !== "") this.#tell(this.#rest.replace(/\r$/, ""));
      this.#rest = "";
      this.close();
    });
    this.input.on("error", (error) => this.emit("error", error));
  }

  #take(text) {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop();
    for (const line of lines) this.#tell(line);
  }

  #tell(line) {
    if (this.closed) return;
    if (this.paused) this.#queue.push(line);
    else this.emit("line", line);
  }

  pause() {
    this.paused = true;
    this.input.pause?.();
    this.emit("pause");
    return this;
  }

  resume() {
    this.paused = false;
    for (const line of this.#queue.splice(0)) this.emit("line", line);
    this.input.resume?.();
    this.emit("resume");
    return this;
  }

  close() {
    if (this.closed) return;
    for (const line of this.#queue.splice(0)) this.emit("line", line);
    this.closed = true;
    this.input.pause?.();
    this.emit("close");
  }

  question() {
    if (this.closed) throw coded(Error, "ERR_USE_AFTER_CLOSE", "readline was closed");
    throw unavailable("readline.Interface.question");
  }

  setPrompt() {}
  getPrompt() { return "> "; }
  prompt() {}
  write() {}
  getCursorPos() { return { rows: 0, cols: 0 }; }

  async *[Symbol.asyncIterator]() {
    const lines = [];
    let wake = () => {};
    let failure;
    this.on("line", (line) => {
      lines.push(line);
      wake();
    });
    this.on("close", () => wake());
    this.on("error", (error) => {
      failure = { error };
      wake();
    });
    try {
      while (true) {
        if (lines.length > 0) yield lines.shift();
        else if (failure !== undefined) throw failure.error;
        else if (this.closed) return;
        else await new Promise((resolve) => (wake = resolve));
      }
    } finally {
      this.close();
    }
  }
}

const createInterface = (input, ...rest) => new Interface(input, ...rest);
const done = (stream, ...args) => {
  const callback = args.findLast((argument) => typeof argument === "function");
  if (callback !== undefined) require("internal/next_tick").nextTick(callback);
  return true;
};

module.exports = { Interface, createInterface, clearLine: done, clearScreenDown: done, cursorTo: done, moveCursor: done, emitKeypressEvents: () => {} };
Object.defineProperty(module.exports, "promises", { enumerable: true, configurable: true, get: () => require("readline/promises") });
