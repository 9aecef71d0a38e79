// util/types
"use strict";

module.exports = require("internal/types");
