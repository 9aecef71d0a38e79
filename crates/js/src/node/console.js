// console: the call's log, and consoles that write to a stream.
"use strict";

const { format } = require("internal/format");
const { inspect } = require("internal/inspect");

const { console } = internal.global;

class Console {
  constructor(options, stderr) {
    const { stdout, stderr: errors = stdout } = typeof options?.write === "function" ? { stdout: options, stderr } : (options ?? {});
    if (typeof stdout?.write !== "function") throw require("internal/errors").coded(TypeError, "ERR_CONSOLE_WRITABLE_STREAM", "Console expects a writable stream instance for stdout");
    let indent = "";
    const counts = new Map();
    const print = (stream) => (...args) => void stream.write(`${`${indent}${format(...args)}`.replaceAll("\n", `\n${indent}`)}\n`);
    const [log, error] = [print(stdout), print(errors ?? stdout)];
    Object.assign(this, {
      log, info: log, debug: log, dirxml: log, table: log, error, warn: error,
      trace: (...args) => error(`Trace: ${format(...args)}`),
      dir: (value, settings) => log(inspect(value, { customInspect: false, ...settings })),
      assert: (condition, ...args) => (condition ? undefined : error(args.length > 0 ? `Assertion failed: ${format(...args)}` : "Assertion failed")),
      group: (...args) => {
        if (args.length > 0) log(...args);
        indent += "  ";
      },
      groupEnd: () => void (indent = indent.slice(2)),
      count: (label = "default") => {
        counts.set(label, (counts.get(label) ?? 0) + 1);
        log(`${label}: ${counts.get(label)}`);
      },
      countReset: (label = "default") => void counts.delete(label),
      time: () => {}, timeEnd: () => {}, timeLog: () => {}, clear: () => {},
    });
    this.groupCollapsed = this.group;
  }
}

// The global one keeps its own methods; the class is what this adds.
module.exports = Object.assign(Object.create(console), { ...console, Console, profile: () => {}, profileEnd: () => {}, timeStamp: () => {}, context: () => console, createTask: () => ({ run: (task) => task() }) });
