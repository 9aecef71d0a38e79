// os: nothing of the real machine is told.
"use strict";

const { systemErrors } = require("internal/errors");

const signals = {
  SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGILL: 4, SIGTRAP: 5, SIGABRT: 6, SIGIOT: 6, SIGBUS: 7, SIGFPE: 8, SIGKILL: 9, SIGUSR1: 10, SIGSEGV: 11, SIGUSR2: 12, SIGPIPE: 13, SIGALRM: 14,
  SIGTERM: 15, SIGCHLD: 17, SIGSTKFLT: 16, SIGCONT: 18, SIGSTOP: 19, SIGTSTP: 20, SIGTTIN: 21, SIGTTOU: 22, SIGURG: 23, SIGXCPU: 24, SIGXFSZ: 25, SIGVTALRM: 26, SIGPROF: 27,
  SIGWINCH: 28, SIGIO: 29, SIGPOLL: 29, SIGPWR: 30, SIGSYS: 31,
};

module.exports = {
  EOL: "\n",
  devNull: "/dev/null",
  arch: () => "x64",
  availableParallelism: () => 1,
  cpus: () => [],
  endianness: () => "LE",
  freemem: () => 128 << 20,
  totalmem: () => 128 << 20,
  getPriority: () => 0,
  setPriority: () => {},
  homedir: () => "/",
  hostname: () => "localhost",
  loadavg: () => [0, 0, 0],
  networkInterfaces: () => ({}),
  platform: () => "linux",
  release: () => "0.0.0",
  machine: () => "x86_64",
  tmpdir: () => "/tmp",
  type: () => "Linux",
  version: () => "sandbox",
  uptime: () => require("process").uptime(),
  userInfo: () => ({ uid: 65534, gid: 65534, username: "nobody", homedir: "/", shell: null }),
  constants: {
    UV_UDP_REUSEADDR: 4,
    dlopen: {},
    errno: Object.fromEntries(Object.entries(systemErrors).map(([code, [errno]]) => [code, -errno])),
    signals,
    priority: { PRIORITY_LOW: 19, PRIORITY_BELOW_NORMAL: 10, PRIORITY_NORMAL: 0, PRIORITY_ABOVE_NORMAL: -7, PRIORITY_HIGH: -14, PRIORITY_HIGHEST: -20 },
  },
};
for (const name of ["arch", "platform", "release", "hostname", "homedir", "tmpdir", "type", "version", "machine", "endianness"]) {
  const get = module.exports[name];
  // `${os.platform}` is the platform.
  Object.defineProperty(get, Symbol.toPrimitive, { value: () => get() });
}
