// stream/web: the web's streams. Where the sandbox has a class of its own it stays that one.
"use strict";

const readable = require("internal/web_readable");
const writable = require("internal/web_writable");
const { stubs } = require("internal/errors");

const { ReadableStream, ReadableStreamDefaultReader, ReadableStreamDefaultController, ReadableByteStreamController } = readable;
const own = { ReadableStream, ReadableStreamDefaultReader, ReadableStreamDefaultController, ReadableByteStreamController, ...writable };
for (const [name, Class] of Object.entries(own)) exports[name] = Class;
stubs("stream/web", ["ReadableStreamBYOBReader", "ReadableStreamBYOBRequest"], exports);

// The bodies of requests and responses are streams of the sandbox's own kind: they learn what is missing.
const body = new internal.global.Response("").body;
if (body !== null) readable.mix(Object.getPrototypeOf(body));
