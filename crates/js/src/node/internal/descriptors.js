// File descriptors on top of whole files: one remembers its file, its position and what it has read. Every write
// reaches the file at once, so nothing is lost with a call that does not close it.
"use strict";

const { Buffer } = require("buffer");
const { systemError, checkInteger, invalidArgType } = require("internal/errors");
const files = require("internal/files");

const opened = new Map();
let next = 20;

const numbers = { 0: "r", 1: "w", 2: "r+" };

function flagOf(flags) {
  if (typeof flags !== "number") return `${flags ?? "r"}`.replace("s", "");
  const { O_CREAT, O_EXCL, O_TRUNC, O_APPEND } = files.constants;
  const base = flags & O_APPEND ? "a" : flags & O_TRUNC || flags & O_CREAT ? "w" : numbers[flags & 3];
  return `${base}${flags & O_EXCL ? "x" : ""}`;
}

function open(path, flags) {
  const file = files.pathOf(path);
  const flag = flagOf(flags);
  if (!flag.startsWith("r")) files.writeFile(file, "", { flag });
  const content = files.readFile(file);
  next += 1;
  opened.set(next, { file, content, position: 0, appends: flag.startsWith("a") });
  return next;
}

function of(fd, syscall) {
  checkInteger(fd, "fd", 0, 2147483647);
  const found = opened.get(fd);
  if (found === undefined) throw systemError("EBADF", syscall);
  return found;
}

function close(fd) {
  of(fd, "close");
  opened.delete(fd);
}

function read(fd, buffer, offset, length, position) {
  const found = of(fd, "read");
  if (offset !== null && typeof offset === "object") ({ offset, length, position } = offset);
  if (!ArrayBuffer.isView(buffer)) throw invalidArgType("buffer", ["Buffer", "TypedArray", "DataView"], buffer);
  const target = Buffer.from(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  offset ??= 0;
  length ??= target.length - offset;
  const at = typeof position === "number" && position >= 0 ? position : typeof position === "bigint" ? Number(position) : undefined;
  const from = at ?? found.position;
  const count = found.content.copy(target, offset, from, Math.min(found.content.length, from + length));
  if (at === undefined) found.position += count;
  return count;
}

function write(fd, data, offset, length, position) {
  const found = of(fd, "write");
  let bytes;
  // A text comes with a position and an encoding, bytes with the part of them that counts.
  if (typeof data === "string") {
    position = offset;
    bytes = Buffer.from(data, typeof length === "string" ? length : "utf8");
  } else {
    if (offset !== null && typeof offset === "object") ({ offset, length, position } = offset);
    const whole = Buffer.from(files.bytesOf(data));
    bytes = whole.subarray(offset ?? 0, (offset ?? 0) + (length ?? whole.length));
  }
  const at = typeof position === "number" && !found.appends ? position : undefined;
  const from = found.appends ? found.content.length : (at ?? found.position);
  if (from === found.content.length) {
    files.put(found.file, files.bytesOf(bytes), true);
    found.content = Buffer.concat([found.content, bytes]);
  } else {
    const content = Buffer.alloc(Math.max(found.content.length, from + bytes.length));
    found.content.copy(content);
    bytes.copy(content, from);
    files.put(found.file, files.bytesOf(content), false);
    found.content = content;
  }
  if (at === undefined) found.position = from + bytes.length;
  return bytes.length;
}

function fstat(fd, options) {
  return files.stat(of(fd, "fstat").file, options);
}

function ftruncate(fd, length = 0) {
  const found = of(fd, "ftruncate");
  files.truncate(found.file, length);
  found.content = files.readFile(found.file);
}

// Every write is in the file already.
function fsync(fd) {
  of(fd, "fsync");
}

module.exports = { open, close, read, write, fstat, ftruncate, fsync, fdatasync: fsync };
