// Files of the workspace, as the bridge lends them: whole texts, to read, to write and to append.
"use strict";

const { Buffer } = require("buffer");
const { coded, invalidArgType, invalidArgValue, systemError, unavailable } = require("internal/errors");
const { normalize } = require("internal/encodings");

const bridge = internal.global.fs;

const constants = Object.freeze({
  __proto__: null,
  UV_FS_SYMLINK_DIR: 1, UV_FS_SYMLINK_JUNCTION: 2, O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, UV_DIRENT_UNKNOWN: 0, UV_DIRENT_FILE: 1, UV_DIRENT_DIR: 2, UV_DIRENT_LINK: 3,
  UV_DIRENT_FIFO: 4, UV_DIRENT_SOCKET: 5, UV_DIRENT_CHAR: 6, UV_DIRENT_BLOCK: 7, S_IFMT: 61440, S_IFREG: 32768, S_IFDIR: 16384, S_IFCHR: 8192, S_IFBLK: 24576,
  S_IFIFO: 4096, S_IFLNK: 40960, S_IFSOCK: 49152, O_CREAT: 64, O_EXCL: 128, O_NOCTTY: 256, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536, O_NOFOLLOW: 131072,
  O_SYNC: 1052672, O_DSYNC: 4096, O_NONBLOCK: 2048, S_IRWXU: 448, S_IRUSR: 256, S_IWUSR: 128, S_IXUSR: 64, S_IRWXG: 56, S_IRGRP: 32, S_IWGRP: 16, S_IXGRP: 8, S_IRWXO: 7,
  S_IROTH: 4, S_IWOTH: 2, S_IXOTH: 1, F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, UV_FS_COPYFILE_EXCL: 1, COPYFILE_EXCL: 1, COPYFILE_FICLONE: 2, COPYFILE_FICLONE_FORCE: 4,
});

const codes = { file_not_found: "ENOENT", not_found: "ENOENT", path_not_allowed: "EACCES", permission_denied: "EACCES", file_too_large: "EFBIG" };

function pathOf(path, name = "path") {
  if (path instanceof URL) return require("url").fileURLToPath(path);
  if (ArrayBuffer.isView(path)) path = Buffer.from(path.buffer, path.byteOffset, path.byteLength).toString();
  if (typeof path !== "string") throw typeof path === "number" ? unavailable("fs with file descriptors") : invalidArgType(name, ["string", "Buffer", "URL"], path);
  if (path.includes("\0")) throw invalidArgValue(name, path, "must be a string, Uint8Array, or URL without null bytes");
  return path;
}

// Files of the library itself, which some read while they load: the loader may lend them by their whole path.
function ofPackage(path) {
  return typeof internal.packageFile === "function" ? internal.packageFile(require("path").resolve(path)) : undefined;
}

// The workspace is the root of what a library sees, so "/a.txt" (path.resolve makes such) is a file of it. A real
// path beneath the workspace is one too, and comes first.
function reach(path, syscall, run) {
  const plain = path.replace(/^\/+/, "");
  try {
    try {
      return run(path);
    } catch (error) {
      if (path === plain || plain === "" || error.code !== "path_not_allowed") throw error;
      return run(plain);
    }
  } catch (error) {
    const code = codes[error.code];
    if (code === undefined) throw error;
    const made = systemError(code, syscall, path, error);
    // Why a path is refused is more than its number says.
    if (code === "EACCES") made.message += ` (${error.message})`;
    throw made;
  }
}

function encodingOf(options) {
  const encoding = typeof options === "string" ? options : options?.encoding;
  if (encoding === undefined || encoding === null || encoding === "buffer") return undefined;
  if (normalize(encoding) === undefined) throw coded(TypeError, "ERR_INVALID_ARG_VALUE", `The argument 'encoding' is invalid encoding. Received '${encoding}'`);
  return encoding;
}

function readFile(path, options) {
  const file = pathOf(path);
  const encoding = encodingOf(options);
  const text = ofPackage(file) ?? reach(file, "open", (at) => bridge.readFile(at));
  if (encoding !== undefined && normalize(encoding) === "utf8") return text;
  const bytes = Buffer.from(text);
  return encoding === undefined ? bytes : bytes.toString(encoding);
}

function textOf(data, options) {
  if (typeof data === "string") {
    const encoding = encodingOf(options);
    if (encoding === undefined || normalize(encoding) === "utf8") return data;
    data = Buffer.from(data, encoding);
  }
  if (!ArrayBuffer.isView(data)) throw invalidArgType("data", ["string", "Buffer", "TypedArray", "DataView"], data);
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (!require("buffer").isUtf8(bytes)) throw unavailable("fs.writeFile of bytes that are not UTF-8 text");
  return bytes.toString();
}

function writeFile(path, data, options) {
  const file = pathOf(path);
  const flag = options?.flag ?? "w";
  const text = textOf(data, options);
  if (flag.includes("x") && exists(file)) throw systemError("EEXIST", "open", file);
  reach(file, "open", (at) => (flag.startsWith("a") ? bridge.appendFile(at, text) : bridge.writeFile(at, text)));
}

function appendFile(path, data, options) {
  writeFile(path, data, { ...(typeof options === "string" ? { encoding: options } : options), flag: "a" });
}

function exists(path) {
  try {
    if (ofPackage(pathOf(path)) !== undefined) return true;
    return reach(pathOf(path), "access", (at) => bridge.exists(at));
  } catch {
    return false;
  }
}

function access(path, mode = constants.F_OK) {
  const file = pathOf(path);
  if (!reach(file, "access", (at) => bridge.exists(at))) throw systemError("ENOENT", "access", file);
  if (mode & constants.X_OK) throw systemError("EACCES", "access", file);
}

class Stats {
  constructor(isFile, size) {
    const time = new Date(0);
    Object.assign(this, {
      dev: 0, mode: (isFile ? constants.S_IFREG | 0o644 : constants.S_IFDIR | 0o755), nlink: 1, uid: 65534, gid: 65534, rdev: 0, blksize: 4096, ino: 0, size, blocks: Math.ceil(size / 512),
      atimeMs: 0, mtimeMs: 0, ctimeMs: 0, birthtimeMs: 0, atime: time, mtime: time, ctime: time, birthtime: time,
    });
  }
  isFile() { return (this.mode & constants.S_IFMT) === constants.S_IFREG; }
  isDirectory() { return (this.mode & constants.S_IFMT) === constants.S_IFDIR; }
  isSymbolicLink() { return false; }
  isBlockDevice() { return false; }
  isCharacterDevice() { return false; }
  isFIFO() { return false; }
  isSocket() { return false; }
}

// The bridge tells whether something is there, and what is in a file. What is there and cannot be read as one is
// taken for a directory; times are not known.
function stat(path, options) {
  const file = pathOf(path);
  if (/^\/*$/.test(file) || file === ".") return new Stats(false, 4096);
  if (!exists(file)) {
    if (options?.throwIfNoEntry === false) return undefined;
    throw systemError("ENOENT", "stat", file);
  }
  try {
    return new Stats(true, Buffer.byteLength(ofPackage(file) ?? reach(file, "stat", (at) => bridge.readFile(at))));
  } catch (error) {
    const isFile = error.code === "EFBIG" || /UTF-8/.test(error.message);
    return new Stats(isFile, isFile ? 0 : 4096);
  }
}

function copyFile(from, to, mode = 0) {
  if (mode & constants.COPYFILE_EXCL && exists(to)) throw systemError("EEXIST", "copyfile", pathOf(from));
  const text = reach(pathOf(from, "src"), "copyfile", (at) => bridge.readFile(at));
  writeFile(pathOf(to, "dest"), text);
}

// A file that is written brings its directories along, so there is nothing to make.
function mkdir(path) {
  pathOf(path);
}

function realpath(path) {
  const file = pathOf(path);
  if (!exists(file) && !/^\/*$/.test(file)) throw systemError("ENOENT", "realpath", file);
  return require("path").resolve(file);
}

module.exports = { constants, pathOf, readFile, writeFile, appendFile, exists, access, stat, copyFile, mkdir, realpath, Stats };
