// worker_threads: this is the only thread.
"use strict";

const { stubs } = require("internal/errors");
const { MessageChannel, MessagePort, BroadcastChannel } = require("internal/message_channel");

module.exports = {
  MessageChannel, MessagePort, BroadcastChannel,
  isMainThread: true, isInternalThread: false, parentPort: null, workerData: null, threadId: 0, threadName: "", resourceLimits: {}, SHARE_ENV: Symbol.for("nodejs.worker_threads.SHARE_ENV"),
  markAsUntransferable: () => {},
  markAsUncloneable: () => {},
  isMarkedAsUntransferable: () => false,
  getEnvironmentData: () => undefined,
  setEnvironmentData: () => {},
};
stubs("worker_threads", [
  "Worker", "moveMessagePortToContext", "receiveMessageOnPort", "postMessageToThread",
], module.exports);
