// http: the client. There is no way to listen in the sandbox.
"use strict";

const { Agent, ClientRequest, IncomingMessage, client, validateHeaderName, validateHeaderValue } = require("internal/http_client");
const { STATUS_CODES, METHODS } = require("internal/http_names");
const { stubs } = require("internal/errors");

module.exports = {
  Agent, IncomingMessage, STATUS_CODES, METHODS, validateHeaderName, validateHeaderValue,
  ClientRequest: class extends ClientRequest {
    constructor(input, options, callback) {
      if (typeof options === "function") [callback, options] = [options, undefined];
      super(input, options, callback, { protocol: "http:" });
    }
  },
  globalAgent: new Agent({ keepAlive: true, scheduling: "lifo", timeout: 5000 }),
  maxHeaderSize: 16384,
  setMaxIdleHTTPParsers: () => {},
  ...client({ protocol: "http:" }),
};
Object.defineProperty(module.exports.ClientRequest, "name", { value: "ClientRequest" });
Object.defineProperty(module.exports.ClientRequest, Symbol.hasInstance, { value: (value) => value instanceof ClientRequest });
stubs("http", ["createServer", "Server", "ServerResponse", "OutgoingMessage", "_connectionListener", "WebSocket", "CloseEvent", "MessageEvent"], module.exports);
