// constants: those of os, fs and crypto in one place, as it was before they moved there
"use strict";

const { errno, signals, priority } = require("os").constants;

module.exports = { ...errno, ...signals, ...priority, ...require("internal/files").constants, ...require("crypto").constants };
