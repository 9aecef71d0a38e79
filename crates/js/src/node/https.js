// https
"use strict";

const http = require("internal/http_client");
const { stubs } = require("internal/errors");

class Agent extends http.Agent {
  constructor(options) {
    super(options);
    Object.assign(this, { defaultPort: 443, protocol: "https:", maxCachedSessions: options?.maxCachedSessions ?? 100 });
  }
}

module.exports = { Agent, globalAgent: new Agent({ keepAlive: true, scheduling: "lifo", timeout: 5000 }), ...http.client({ protocol: "https:" }) };
stubs("https", ["createServer", "Server"], module.exports);
