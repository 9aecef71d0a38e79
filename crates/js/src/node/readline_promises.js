// readline/promises
"use strict";

const { Interface, createInterface } = require("readline");
const { stub } = require("internal/errors");

module.exports = { Interface, createInterface, Readline: stub("readline/promises.Readline") };
