// process: a harmless one. There is no process to look at or to end: only one call, and its log.
"use strict";

const EventEmitter = require("events");
const { coded, invalidArgType, unavailable, stubs } = require("internal/errors");
const { nextTick } = require("internal/next_tick");

const { performance } = internal.global;

class Process extends EventEmitter {}
Object.defineProperty(Process, "name", { value: "process" });
const process = (module.exports = new Process());
Object.defineProperty(process, Symbol.toStringTag, { value: "process", configurable: true });

Object.assign(process, {
  title: "node",
  version: "v22.0.0",
  versions: { node: "22.0.0", acorn: "8.11.3", ares: "1.28.1", modules: "127", napi: "9", unicode: "15.1", uv: "1.48.0", v8: "12.4.254.14", zlib: "1.3.0.1", openssl: "3.0.13" },
  arch: "x64",
  platform: "linux",
  release: { name: "node", lts: false },
  argv: ["/usr/bin/node", "/index.js"],
  argv0: "node",
  execArgv: [],
  execPath: "/usr/bin/node",
  env: {},
  pid: 1,
  ppid: 0,
  exitCode: undefined,
  debugPort: 9229,
  config: { target_defaults: {}, variables: {} },
  features: { inspector: false, debug: false, uv: false, ipv6: true, tls_alpn: true, tls_sni: true, tls_ocsp: true, tls: true, cached_builtins: true },
  allowedNodeEnvironmentFlags: new Set(),
  moduleLoadList: [],
  sourceMapsEnabled: false,
  noDeprecation: false,
  nextTick,

  cwd: () => "/",
  umask: () => 0o22,
  uptime: () => performance.now() / 1000,
  getuid: () => 65534,
  geteuid: () => 65534,
  getgid: () => 65534,
  getegid: () => 65534,
  getgroups: () => [],
  cpuUsage: () => ({ user: Math.round(performance.now() * 1000), system: 0 }),
  resourceUsage: () => ({ userCPUTime: Math.round(performance.now() * 1000), systemCPUTime: 0, maxRSS: 0, sharedMemorySize: 0, unsharedDataSize: 0, unsharedStackSize: 0, minorPageFault: 0, majorPageFault: 0, swappedOut: 0, fsRead: 0, fsWrite: 0, ipcSent: 0, ipcReceived: 0, signalsCount: 0, voluntaryContextSwitches: 0, involuntaryContextSwitches: 0 }),
  constrainedMemory: () => 0,
  availableMemory: () => 128 << 20,
  getActiveResourcesInfo: () => [],
  setSourceMapsEnabled: () => {},
  hasUncaughtExceptionCaptureCallback: () => false,
  setUncaughtExceptionCaptureCallback: () => {},
  getBuiltinModule: (name) => {
    const bare = `${name}`.replace(/^node:/, "");
    return internal.names?.includes(bare) ? require(bare) : undefined;
  },
  emitWarning,
  exit,
  reallyExit: exit,
  abort: () => exit(134),
  kill: (pid) => {
    throw unavailable("process.kill");
  },
  binding: (name) => {
    throw unavailable(`process.binding('${name}')`);
  },
});
stubs("process", ["chdir", "dlopen", "loadEnvFile", "initgroups", "setgroups", "setegid", "seteuid", "setgid", "setuid", "openStdin", "_kill", "_linkedBinding", "execve"], process);

// A library that ends its process would end a call that is not its own.
function exit(code = process.exitCode ?? 0) {
  throw coded(Error, "ERR_PROCESS_EXIT", `process.exit(${code}) was called. There is no process to end in the sandbox (Pinza's embedded engine); the call ends here instead.`);
}

// Times are of the call: nothing is read from the clock before somebody asks.
function hrtime(before) {
  const now = performance.now();
  const time = [Math.floor(now / 1000), Math.floor((now % 1000) * 1e6)];
  if (before === undefined) return time;
  if (!Array.isArray(before)) throw invalidArgType("time", "Array", before);
  const nanoseconds = time[1] - before[1];
  return [time[0] - before[0] - (nanoseconds < 0 ? 1 : 0), nanoseconds < 0 ? nanoseconds + 1e9 : nanoseconds];
}
hrtime.bigint = () => BigInt(Math.floor(performance.now() * 1e6));
process.hrtime = hrtime;

process.memoryUsage = () => ({ rss: 64 << 20, heapTotal: 32 << 20, heapUsed: 16 << 20, external: 0, arrayBuffers: 0 });
process.memoryUsage.rss = () => 64 << 20;
process.report = { writeReport: () => "", getReport: () => ({}), directory: "", filename: "", compact: false, signal: "SIGUSR2", reportOnFatalError: false, reportOnSignal: false, reportOnUncaughtException: false };

function emitWarning(warning, type, code) {
  if (type !== null && typeof type === "object") ({ type, code } = type);
  if (typeof warning === "string") {
    const text = warning;
    warning = new Error(text);
    warning.name = typeof type === "string" ? type : "Warning";
    if (code !== undefined && typeof code === "string") warning.code = code;
  } else if (!(warning instanceof Error)) throw invalidArgType("warning", ["string", "Error"], warning);
  if (warning.name === "DeprecationWarning" && process.noDeprecation) return;
  nextTick(() => {
    process.emit("warning", warning);
    console.warn(`${warning.code ? `[${warning.code}] ` : ""}${warning.name}: ${warning.message}`);
  });
}

// Whole lines go to the call's log; what has no line end yet waits for it, or for the next turn.
function output(write, fd) {
  const { Writable } = require("stream");
  let held = "";
  const flush = () => {
    if (held !== "") write(held);
    held = "";
  };
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, encoding, callback) {
      held += typeof chunk === "string" ? chunk : chunk.toString();
      const end = held.lastIndexOf("\n");
      if (end >= 0) {
        write(held.slice(0, end));
        held = held.slice(end + 1);
      }
      if (held !== "") nextTick(flush);
      callback();
    },
  });
  stream.destroy = () => stream;
  return Object.assign(stream, { fd, isTTY: false, columns: 80, rows: 24, _isStdio: true, getColorDepth: () => 1, hasColors: () => false, getWindowSize: () => [80, 24], clearLine: () => true, cursorTo: () => true, moveCursor: () => true });
}

function lazy(name, make) {
  let made;
  Object.defineProperty(process, name, { enumerable: true, configurable: true, get: () => (made ??= make()), set: (value) => void (made = value) });
}
lazy("stdout", () => output((text) => console.log("%s", text), 1));
lazy("stderr", () => output((text) => console.error("%s", text), 2));
lazy("stdin", () => Object.assign(new (require("stream").Readable)({ read() { this.push(null); } }), { fd: 0, isTTY: false, setRawMode() { return this; }, ref() { return this; }, unref() { return this; } }));
