// tls: connections are made by the host.
"use strict";

const { stubs, unavailable } = require("internal/errors");

// Some libraries make one while they load, to get at a class that Node does not hand out; nothing goes through it.
class JSStreamSocket extends require("stream").Duplex {}

class TLSSocket extends require("stream").Duplex {
  encrypted = true;
  authorized = false;
  constructor(socket) {
    super();
    if (socket !== undefined) this._handle = { _parentWrap: new JSStreamSocket() };
  }
  _read() {}
  _write(chunk, encoding, callback) {
    callback(unavailable("tls.TLSSocket"));
  }
  connect() {
    throw unavailable("tls.TLSSocket");
  }
}

module.exports = {
  CLIENT_RENEG_LIMIT: 3, CLIENT_RENEG_WINDOW: 600, DEFAULT_CIPHERS: "", DEFAULT_ECDH_CURVE: "auto", DEFAULT_MIN_VERSION: "TLSv1.2", DEFAULT_MAX_VERSION: "TLSv1.3",
  rootCertificates: Object.freeze([]),
  getCiphers: () => [],
  TLSSocket,
};
stubs("tls", [
  "connect", "createSecureContext", "createSecurePair", "createServer", "checkServerIdentity", "convertALPNProtocols", "getCACertificates",
  "setDefaultCACertificates", "SecureContext", "Server",
], module.exports);
