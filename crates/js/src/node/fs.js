// fs: texts of the workspace. Reading goes through Pinza's jail; what its bridge lacks says so.
"use strict";

const files = require("internal/files");
const { checkFunction, stubs } = require("internal/errors");
const { nextTick } = require("internal/next_tick");

const { constants, Stats } = files;

// name: a synchronous function. It also becomes `nameSync`, and `name` with a callback.
const work = {
  readFile: files.readFile,
  writeFile: files.writeFile,
  appendFile: files.appendFile,
  access: files.access,
  stat: files.stat,
  lstat: files.stat,
  copyFile: files.copyFile,
  mkdir: files.mkdir,
  realpath: files.realpath,
};

const promises = { constants };
for (const [name, run] of Object.entries(work)) {
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
    nextTick(callback, ...outcome);
  });
  promises[name] = named(name, async (...args) => run(...args));
}
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
  Object.assign(this, { path: files.pathOf(path), bytesWritten: 0, pending: true, chunks: [], flag: options?.flags ?? options?.flag ?? "w" });
}

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
    _write(chunk, encoding, callback) {
      this.chunks.push(chunk);
      this.bytesWritten += chunk.length;
      callback();
    },
    // All at once: half of a character is no text.
    _final(callback) {
      try {
        files.writeFile(this.path, Buffer.concat(this.chunks), { flag: this.flag });
        this.pending = false;
        this.emit("open", -1);
        this.emit("ready");
        callback();
      } catch (error) {
        callback(error);
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
  "chmod", "chown", "close", "cp", "fchmod", "fchown", "fdatasync", "fstat", "fsync", "ftruncate", "futimes", "glob", "lchmod", "lchown", "link", "lutimes", "mkdtemp", "open", "opendir",
  "read", "readdir", "readlink", "readv", "rename", "rm", "rmdir", "statfs", "symlink", "truncate", "unlink", "utimes", "write", "writev",
];
stubs("fs", missing.flatMap((name) => [name, `${name}Sync`]), exports);
stubs("fs", ["watch", "watchFile", "unwatchFile", "openAsBlob", "Dir", "Dirent", "FSWatcher", "StatWatcher"], exports);
stubs("fs.promises", [...missing.filter((name) => !/^(close|fchmod|fchown|fdatasync|fstat|fsync|ftruncate|futimes|read|readv|write|writev)$/.test(name)), "watch", "FileHandle"], promises);
// A refused promise, as everything else that is promised.
for (const name of Object.keys(promises)) {
  if (!missing.includes(name)) continue;
  const refuse = promises[name];
  promises[name] = named(name, async (...args) => refuse(...args));
}

Object.assign(exports, { constants, Stats, promises, F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, _toUnixTimestamp: (time) => Number(time) / (time instanceof Date ? 1000 : 1) });
