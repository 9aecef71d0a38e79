// domain
"use strict";

const { stubs } = require("internal/errors");

module.exports = { active: null, _stack: [] };
stubs("domain", [
  "createDomain", "create", "Domain",
], module.exports);
