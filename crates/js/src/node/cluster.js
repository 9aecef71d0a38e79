// cluster: one call, one engine.
"use strict";

const { stubs } = require("internal/errors");

module.exports = Object.assign(new (require("events"))(), { isWorker: false, isMaster: true, isPrimary: true, workers: {}, settings: {}, SCHED_NONE: 1, SCHED_RR: 2, schedulingPolicy: 2 });
stubs("cluster", [
  "Worker", "fork", "disconnect", "setupPrimary", "setupMaster",
], module.exports);
