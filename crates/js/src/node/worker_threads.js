// worker_threads: this is the only thread.
"use strict";

const { stubs } = require("internal/errors");

module.exports = {
  isMainThread: true, isInternalThread: false, parentPort: null, workerData: null, threadId: 0, threadName: "", resourceLimits: {}, SHARE_ENV: Symbol.for("nodejs.worker_threads.SHARE_ENV"),
  getEnvironmentData: () => undefined,
  setEnvironmentData: () => {},
};
stubs("worker_threads", [
  "Worker", "MessageChannel", "MessagePort", "BroadcastChannel", "markAsUntransferable", "markAsUncloneable", "isMarkedAsUntransferable",
  "moveMessagePortToContext", "receiveMessageOnPort", "postMessageToThread",
], module.exports);
