// child_process: there are no processes.
"use strict";

const { stubs } = require("internal/errors");

module.exports = stubs("child_process", [
  "ChildProcess", "exec", "execFile", "execFileSync", "execSync", "fork", "spawn", "spawnSync", "_forkChild",
]);
