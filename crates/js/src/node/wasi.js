// wasi
"use strict";

const { stubs } = require("internal/errors");

module.exports = stubs("wasi", [
  "WASI",
]);
