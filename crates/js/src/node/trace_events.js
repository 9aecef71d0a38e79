// trace_events
"use strict";

const { stubs } = require("internal/errors");

module.exports = { getEnabledCategories: () => undefined };
stubs("trace_events", [
  "createTracing",
], module.exports);
