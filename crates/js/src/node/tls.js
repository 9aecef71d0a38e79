// tls: connections are made by the host.
"use strict";

const { stubs } = require("internal/errors");

module.exports = {
  CLIENT_RENEG_LIMIT: 3, CLIENT_RENEG_WINDOW: 600, DEFAULT_CIPHERS: "", DEFAULT_ECDH_CURVE: "auto", DEFAULT_MIN_VERSION: "TLSv1.2", DEFAULT_MAX_VERSION: "TLSv1.3",
  rootCertificates: Object.freeze([]),
  getCiphers: () => [],
};
stubs("tls", [
  "connect", "createSecureContext", "createSecurePair", "createServer", "checkServerIdentity", "convertALPNProtocols", "getCACertificates",
  "setDefaultCACertificates", "SecureContext", "Server", "TLSSocket",
], module.exports);
