// assert/strict
"use strict";

module.exports = require("assert").strict;
