// dns/promises
"use strict";

const { stubs } = require("internal/errors");
const { shared, missing } = require("internal/dns_names");

module.exports = { ...shared };
stubs("dns/promises", missing, module.exports);
