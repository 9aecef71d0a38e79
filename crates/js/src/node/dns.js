// dns: names are looked up by the host.
"use strict";

const { stubs } = require("internal/errors");
const { shared, missing } = require("internal/dns_names");

module.exports = { ...shared, get promises() { return require("dns/promises"); } };
stubs("dns", missing, module.exports);
