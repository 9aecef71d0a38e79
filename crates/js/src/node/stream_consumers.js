// stream/consumers: a whole stream at once.
"use strict";

const { Buffer } = require("buffer");

async function buffer(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : Buffer.from(chunk.buffer ?? chunk, chunk.byteOffset, chunk.byteLength));
  return Buffer.concat(chunks);
}

async function arrayBuffer(stream) {
  const bytes = await buffer(stream);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
}

const text = async (stream) => (await buffer(stream)).toString().replace(/^\ufeff/, "");
const json = async (stream) => JSON.parse(await text(stream));
const blob = async (stream) => new Blob([await buffer(stream)]);

module.exports = { arrayBuffer, blob, buffer, json, text };
