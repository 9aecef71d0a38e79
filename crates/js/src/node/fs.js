// fs: files of the workspace, through Pinza's jail and as its policy says. What the jail lacks (links, modes, descriptors) says so.
"use strict";

const files = require("internal/files");
const { checkFunction, stubs } = require("internal/errors");
const { nextTick } = require("internal/next_tick");

const { constants, Stats, Dirent } = files;

// name: a synchronous function. It also becomes `nameSync`, and `name` with a callback.
const work = {};
for (const name of ["access", "appendFile", "chmod", "chown", "copyFile", "cp", "lchmod", "lchown", "lstat", "lutimes", "mkdir", "mkdtemp", "readFile", "readdir", "readlink", "realpath", "rename", "rm", "rmdir", "stat", "truncate", "unlink", "utimes", "writeFile"]) work[name] = files[name];

// With descriptors; Node promises those as FileHandles, which are not here.
const described = {};
for (const name of ["open", "close", "read", "write", "fstat", "ftruncate", "fsync", "fdatasync"]) described[name] = (...args) => require("internal/descriptors")[name](...args);

const promises = { constants };
for (const [name, run] of Object.entries({ ...work, ...described })) {
  exports[`${name}Sync`] = named(`${name}Sync`, (...args) => run(...args));
  exports[name] = named(name, (...args) => {
    const callback = typeof args.at(-1) === "function" ? args.pop() : undefined;
    checkFunction(callback, "cb");
    let outcome;
    try {
      outcome = [null, run(...args)];
    } catch (error) {
      if (error.code === "ERR_INVALID_ARG_TYPE" || error.code === "ERR_INVALID_ARG_VALUE") throw error;
      outcome = [error];
    }
    // Those that move bytes hand back where they are, too.
    if (outcome.length === 2 && (name === "read" || name === "write")) outcome.push(args[1]);
    nextTick(callback, ...outcome);
  });
  if (!Object.hasOwn(described, name)) promises[name] = named(name, async (...args) => run(...args));
}
// Node's promised form also takes what is read bit by bit.
promises.writeFile = named("writeFile", async (path, data, options) => files.writeFile(path, isIterable(data) ? await gathered(data, options) : data, options));
promises.appendFile = named("appendFile", async (path, data, options) => files.appendFile(path, isIterable(data) ? await gathered(data, options) : data, options));

function isIterable(data) {
  return data !== null && typeof data === "object" && !ArrayBuffer.isView(data) && (Symbol.asyncIterator in data || Symbol.iterator in data);
}

async function gathered(data, options) {
  const { Buffer } = require("buffer");
  const parts = [];
  for await (const part of data) parts.push(Buffer.from(files.bytesOf(part, options)));
  return Buffer.concat(parts);
}

class Dir {
  #entries;
  constructor(path, options) {
    this.path = path;
    this.#entries = files.readdir(path, { ...options, withFileTypes: true });
  }
  readSync() {
    return this.#entries.shift() ?? null;
  }
  read(callback) {
    const entry = this.readSync();
    if (callback === undefined) return Promise.resolve(entry);
    nextTick(callback, null, entry);
    return undefined;
  }
  closeSync() {}
  close(callback) {
    if (callback === undefined) return Promise.resolve();
    nextTick(callback, null);
    return undefined;
  }
  async *[Symbol.asyncIterator]() {
    for (let entry = this.readSync(); entry !== null; entry = this.readSync()) yield entry;
  }
}
exports.opendirSync = (path, options) => new Dir(files.pathOf(path), options);
exports.opendir = (path, options, callback = options) => {
  checkFunction(callback, "cb");
  promises.opendir(path, typeof options === "function" ? undefined : options).then((dir) => callback(null, dir), callback);
};
promises.opendir = async (path, options) => exports.opendirSync(path, options);

exports.realpath.native = exports.realpath;
exports.realpathSync.native = exports.realpathSync;

function named(name, method) {
  return Object.defineProperty(method, "name", { value: name, configurable: true });
}

exports.existsSync = (path) => {
  try {
    return files.exists(path);
  } catch {
    return false;
  }
};
exports.exists = (path, callback) => {
  checkFunction(callback, "cb");
  nextTick(callback, exports.existsSync(path));
};
exports.exists[require("util").promisify.custom] = async (path) => exports.existsSync(path);

function ReadStream(path, options) {
  if (!(this instanceof ReadStream)) return new ReadStream(path, options);
  if (typeof options === "string") options = { encoding: options };
  const { start = 0, end = Infinity, encoding, highWaterMark = 65536, signal, emitClose } = options ?? {};
  require("stream").Readable.call(this, { encoding, highWaterMark, signal, emitClose });
  Object.assign(this, { path: files.pathOf(path), bytesRead: 0, pending: true, range: [start, end] });
}

function WriteStream(path, options) {
  if (!(this instanceof WriteStream)) return new WriteStream(path, options);
  if (typeof options === "string") options = { encoding: options };
  require("stream").Writable.call(this, { defaultEncoding: options?.encoding, signal: options?.signal, emitClose: options?.emitClose, highWaterMark: options?.highWaterMark });
  Object.assign(this, { path: files.pathOf(path), bytesWritten: 0, pending: true, chunks: [], held: 0, flag: options?.flags ?? options?.flag ?? "w" });
}

// What a stream holds before it writes, in bytes.
const HELD = 256 << 10;

// The streams' classes are made when somebody wants one: most libraries only read whole files.
let streams = false;
function withStreams() {
  if (streams) return;
  streams = true;
  const { Readable, Writable } = require("stream");
  const { Buffer } = require("buffer");
  Object.setPrototypeOf(ReadStream.prototype, Readable.prototype);
  Object.setPrototypeOf(WriteStream.prototype, Writable.prototype);
  Object.assign(ReadStream.prototype, {
    // A file that is not there shows at once, whether or not somebody reads.
    _construct(callback) {
      try {
        const [start, end] = this.range;
        this.content = files.readFile(this.path).subarray(start, end + 1);
      } catch (error) {
        return callback(error);
      }
      this.pending = false;
      callback();
      this.emit("open", -1);
      this.emit("ready");
      return undefined;
    },
    _read(size) {
      const part = this.content.subarray(this.bytesRead, this.bytesRead + size);
      this.bytesRead += part.length;
      this.push(part.length === 0 ? null : part);
    },
    close(callback) {
      if (callback !== undefined) this.once("close", callback);
      this.destroy();
    },
  });
  Object.assign(WriteStream.prototype, {
    // As Node opens it: what cannot be written shows before anything is.
    _construct(callback) {
      try {
        files.writeFile(this.path, "", { flag: this.flag });
      } catch (error) {
        return callback(error);
      }
      this.pending = false;
      callback();
      this.emit("open", -1);
      this.emit("ready");
      return undefined;
    },
    _write(chunk, encoding, callback) {
      this.chunks.push(chunk);
      this.held += chunk.length;
      this.bytesWritten += chunk.length;
      callback(this.held < HELD ? undefined : this.flushed());
    },
    _final(callback) {
      callback(this.flushed());
    },
    // Each write costs a question to Pinza, so small ones go together.
    flushed() {
      const chunks = this.chunks.splice(0);
      this.held = 0;
      try {
        if (chunks.length > 0) files.appendFile(this.path, Buffer.concat(chunks));
        return undefined;
      } catch (error) {
        return error;
      }
    },
    close(callback) {
      if (callback !== undefined) this.once("close", callback);
      this.end();
    },
  });
}

for (const [name, Class] of Object.entries({ ReadStream, WriteStream, FileReadStream: ReadStream, FileWriteStream: WriteStream })) {
  Object.defineProperty(exports, name, { enumerable: true, configurable: true, get: () => (withStreams(), Class) });
}
exports.createReadStream = (path, options) => new exports.ReadStream(path, options);
exports.createWriteStream = (path, options) => new exports.WriteStream(path, options);

const missing = [
  "fchmod", "fchown", "futimes", "glob", "link", "readv", "statfs", "symlink", "writev",
];
stubs("fs", missing.flatMap((name) => [name, `${name}Sync`]), exports);
stubs("fs", ["watch", "watchFile", "unwatchFile", "openAsBlob"], exports);
stubs("fs.promises", [...missing.filter((name) => !/^(fchmod|fchown|futimes|readv|writev)$/.test(name)), "open", "watch", "FileHandle"], promises);
// A refused promise, as everything else that is promised.
for (const name of Object.keys(promises)) {
  if (!missing.includes(name) && name !== "open") continue;
  const refuse = promises[name];
  promises[name] = named(name, async (...args) => refuse(...args));
}

Object.assign(exports, { constants, Stats, Dir, Dirent, promises, F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, _toUnixTimestamp: (time) => Number(time) / (time instanceof Date ? 1000 : 1) });
