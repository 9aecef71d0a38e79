// dgram: there are no sockets.
"use strict";

const { stubs } = require("internal/errors");

module.exports = stubs("dgram", [
  "createSocket", "Socket", "_createSocketHandle",
]);
