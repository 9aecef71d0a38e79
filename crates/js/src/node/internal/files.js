// Files of the workspace: what Node does with them, made of the few operations that Pinza's jail has. Each asks for
// its own permission. Files of the library itself can be read too, as far as the loader lends them.
"use strict";

const { Buffer } = require("buffer");
const { coded, invalidArgType, invalidArgValue, systemError, unavailable } = require("internal/errors");
const { normalize } = require("internal/encodings");

const constants = Object.freeze({
  __proto__: null,
  UV_FS_SYMLINK_DIR: 1, UV_FS_SYMLINK_JUNCTION: 2, O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, UV_DIRENT_UNKNOWN: 0, UV_DIRENT_FILE: 1, UV_DIRENT_DIR: 2, UV_DIRENT_LINK: 3,
  UV_DIRENT_FIFO: 4, UV_DIRENT_SOCKET: 5, UV_DIRENT_CHAR: 6, UV_DIRENT_BLOCK: 7, S_IFMT: 61440, S_IFREG: 32768, S_IFDIR: 16384, S_IFCHR: 8192, S_IFBLK: 24576,
  S_IFIFO: 4096, S_IFLNK: 40960, S_IFSOCK: 49152, O_CREAT: 64, O_EXCL: 128, O_NOCTTY: 256, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536, O_NOFOLLOW: 131072,
  O_SYNC: 1052672, O_DSYNC: 4096, O_NONBLOCK: 2048, S_IRWXU: 448, S_IRUSR: 256, S_IWUSR: 128, S_IXUSR: 64, S_IRWXG: 56, S_IRGRP: 32, S_IWGRP: 16, S_IXGRP: 8, S_IRWXO: 7,
  S_IROTH: 4, S_IWOTH: 2, S_IXOTH: 1, F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, UV_FS_COPYFILE_EXCL: 1, COPYFILE_EXCL: 1, COPYFILE_FICLONE: 2, COPYFILE_FICLONE_FORCE: 4,
});

// What Pinza refuses, in Node's words.
const refusals = { file_not_found: "ENOENT", not_found: "ENOENT", path_not_allowed: "EACCES", permission_denied: "EACCES", file_too_large: "EFBIG" };

// One write is at most this long; a longer one is continued by appending.
const PIECE = 4 << 20;

function pathOf(path, name = "path") {
  if (path instanceof URL) return require("url").fileURLToPath(path);
  if (ArrayBuffer.isView(path)) path = Buffer.from(path.buffer, path.byteOffset, path.byteLength).toString();
  if (typeof path !== "string") throw typeof path === "number" ? unavailable("fs with file descriptors") : invalidArgType(name, ["string", "Buffer", "URL"], path);
  if (path.includes("\0")) throw invalidArgValue(name, path, "must be a string, Uint8Array, or URL without null bytes");
  return path;
}

function ask(op, payload, bytes) {
  const [ok, json, answer] = internal.requestSync(op, JSON.stringify(payload).toWellFormed(), bytes);
  const value = typeof json === "string" && json !== "" ? JSON.parse(json) : undefined;
  return ok ? { value, bytes: answer } : { refused: value ?? {} };
}

// The workspace is the root of what a library sees, so "/a.txt" (path.resolve makes such) is a file of it. A real
// path beneath the workspace is one too, and comes first.
function operate(op, path, syscall, { to, bytes } = {}) {
  let answer = ask(op, { path, to }, bytes);
  if (answer.refused?.code === "path_not_allowed" && (path.startsWith("/") || to?.startsWith("/"))) answer = ask(op, { path: rooted(path), to: to && rooted(to) }, bytes);
  if (answer.refused !== undefined) throw refusal(answer.refused, syscall, path);
  if (answer.value?.errno !== undefined) throw withTarget(systemError(answer.value.errno, syscall, path), to);
  return answer;
}

function rooted(path) {
  return path.replace(/^\/+/, "") || ".";
}

function refusal({ code, message }, syscall, path) {
  const cause = Object.assign(new Error(message), { code });
  const errno = refusals[code];
  if (errno === undefined) return cause;
  const made = systemError(errno, syscall, path, cause);
  // Why a path is refused is more than its number says.
  if (errno === "EACCES") made.message += ` (${message})`;
  return made;
}

// Node names both paths of an operation that has two.
function withTarget(error, to) {
  if (to === undefined) return error;
  error.message += ` -> '${to}'`;
  return Object.assign(error, { dest: to });
}

// Files of the library itself, which some read while they load: bytes of a file, names of a directory.
function ofPackage(path) {
  return path.startsWith("/") ? internal.packageFile?.(path) : undefined;
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
  const own = ofPackage(file);
  if (own?.names !== undefined) throw systemError("EISDIR", "read");
  let content;
  try {
    content = Buffer.from(own?.bytes ?? operate("fs.bytes", file, "open").bytes);
  } catch (error) {
    throw error.code === "EISDIR" ? systemError("EISDIR", "read") : error;
  }
  return encoding === undefined ? content : content.toString(encoding);
}

// The bytes of what is to be written, as a buffer of their own.
function bytesOf(data, options) {
  if (typeof data === "string") data = Buffer.from(data, encodingOf(options) ?? "utf8");
  if (!ArrayBuffer.isView(data)) throw invalidArgType("data", ["string", "Buffer", "TypedArray", "DataView"], data);
  return data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
}

function writeFile(path, data, options) {
  const file = pathOf(path);
  const flag = `${options?.flag ?? "w"}`;
  const bytes = bytesOf(data, options);
  if (flag.includes("x") && exists(file)) throw systemError("EEXIST", "open", file);
  if (flag.startsWith("r") && !exists(file)) throw systemError("ENOENT", "open", file);
  put(file, bytes, flag.startsWith("a"));
}

function put(file, bytes, append) {
  operate(append ? "fs.add" : "fs.put", file, "open", { bytes: bytes.slice(0, PIECE) });
  for (let at = PIECE; at < bytes.byteLength; at += PIECE) operate("fs.add", file, "write", { bytes: bytes.slice(at, at + PIECE) });
}

function appendFile(path, data, options) {
  writeFile(path, data, { ...(typeof options === "string" ? { encoding: options } : options), flag: "a" });
}

// What is at a path, or undefined.
function look(file, syscall) {
  const own = ofPackage(file);
  if (own !== undefined) return { type: own.names === undefined ? "file" : "directory", size: own.bytes?.byteLength ?? 4096, modified: 0 };
  try {
    return operate("fs.stat", file, syscall).value ?? undefined;
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw error;
  }
}

function exists(path) {
  try {
    return look(pathOf(path), "access") !== undefined;
  } catch {
    return false;
  }
}

function access(path, mode = constants.F_OK) {
  const file = pathOf(path);
  const found = look(file, "access");
  if (found === undefined) throw systemError("ENOENT", "access", file);
  if (mode & constants.X_OK && found.type === "file") throw systemError("EACCES", "access", file);
}

const kinds = { file: constants.S_IFREG | 0o644, directory: constants.S_IFDIR | 0o755, other: constants.S_IFLNK | 0o777 };

class Kind {
  isFile() { return this.#is(constants.S_IFREG); }
  isDirectory() { return this.#is(constants.S_IFDIR); }
  isSymbolicLink() { return this.#is(constants.S_IFLNK); }
  isBlockDevice() { return false; }
  isCharacterDevice() { return false; }
  isFIFO() { return false; }
  isSocket() { return false; }
  #is(kind) { return (Number(this[modeOf]?.() ?? this.mode) & constants.S_IFMT) === kind; }
}
const modeOf = Symbol("mode");

class Stats extends Kind {
  constructor({ type, size, modified }, big) {
    super();
    const number = (value) => (big ? BigInt(Math.floor(value)) : value);
    Object.assign(this, {
      dev: number(0), mode: number(kinds[type]), nlink: number(1), uid: number(65534), gid: number(65534), rdev: number(0), blksize: number(4096), ino: number(0),
      size: number(size), blocks: number(Math.ceil(size / 512)),
    });
    for (const name of ["atime", "mtime", "ctime", "birthtime"]) {
      this[`${name}Ms`] = number(modified);
      if (big) this[`${name}Ns`] = BigInt(Math.floor(modified)) * 1000000n;
    }
    for (const name of ["atime", "mtime", "ctime", "birthtime"]) this[name] = new Date(Math.floor(modified));
  }
}

class Dirent extends Kind {
  #mode;
  constructor(name, parentPath, type) {
    super();
    Object.assign(this, { name, parentPath });
    this.#mode = kinds[type];
  }
  [modeOf]() { return this.#mode; }
  get path() { return this.parentPath; }
}

// Links are followed, also by lstat: where they lead is Pinza's to judge, and nothing outside can be seen.
function stat(path, options) {
  const file = pathOf(path);
  const found = look(file, "stat");
  if (found !== undefined) return new Stats(found, options?.bigint === true);
  if (options?.throwIfNoEntry === false) return undefined;
  throw systemError("ENOENT", "stat", file);
}

function lstat(path, options) {
  try {
    return stat(path, options);
  } catch (error) {
    throw error.syscall === "stat" && error.cause === undefined ? systemError(error.code, "lstat", error.path) : error;
  }
}

function entries(file) {
  const own = ofPackage(file);
  if (own === undefined) return operate("fs.list", file, "scandir").value;
  if (own.names === undefined) throw systemError("ENOTDIR", "scandir", file);
  return own.names.map((name) => ({ name, type: look(join(file, name), "scandir")?.type ?? "other" }));
}

function join(...parts) {
  return require("path").join(...parts);
}

function readdir(path, options) {
  const file = pathOf(path);
  const found = walk(file, options?.recursive === true, "");
  const encoding = typeof options === "string" ? options : options?.encoding;
  if (options?.withFileTypes) return found.map(({ name, type, below }) => new Dirent(name, below === "" ? file : join(file, below), type));
  const names = found.map(({ name, below }) => (below === "" ? name : join(below, name)));
  return encoding === "buffer" ? names.map((name) => Buffer.from(name)) : names;
}

function walk(file, isRecursive, below) {
  const found = entries(below === "" ? file : join(file, below)).map((entry) => ({ ...entry, below }));
  if (!isRecursive) return found;
  return found.flatMap((entry) => (entry.type === "directory" ? [entry, ...walk(file, true, join(below, entry.name))] : [entry]));
}

function mkdir(path, options) {
  const file = pathOf(path);
  const resolved = require("path").resolve(file);
  const isRecursive = options?.recursive === true;
  const found = look(file, "mkdir");
  if (found !== undefined) {
    if (isRecursive && found.type === "directory") return undefined;
    throw systemError("EEXIST", "mkdir", file);
  }
  const missing = [];
  for (let at = resolved; at !== "/" && look(at, "mkdir") === undefined; at = require("path").dirname(at)) missing.push(at);
  if (missing.length > 1 && !isRecursive) throw systemError("ENOENT", "mkdir", file);
  operate("fs.mkdir", file, "mkdir");
  return isRecursive ? missing.at(-1) : undefined;
}

function mkdtemp(prefix) {
  const random = internal.global.crypto.getRandomValues(new Uint8Array(6));
  const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const made = pathOf(prefix, "prefix") + Array.from(random, (byte) => letters[byte % letters.length]).join("");
  mkdir(made);
  return made;
}

function unlink(path) {
  const file = pathOf(path);
  operate("fs.unlink", file, "unlink");
}

function rmdir(path, options) {
  const file = pathOf(path);
  if (options?.recursive === true) return rm(file, { recursive: true });
  operate("fs.rmdir", file, "rmdir");
  return undefined;
}

// A link is removed, and what it leads to is not.
function rm(path, options) {
  const file = pathOf(path);
  try {
    operate("fs.unlink", file, "rm");
  } catch (error) {
    if (error.code === "ENOENT" && options?.force === true) return;
    if (error.code === "ENOENT") throw systemError("ENOENT", "lstat", file);
    if (error.code !== "EISDIR") throw error;
    if (options?.recursive !== true) throw coded(Error, "ERR_FS_EISDIR", `Path is a directory: rm returned EISDIR (is a directory) ${file}`);
    for (const { name, type } of entries(file)) {
      if (type === "directory") rm(join(file, name), options);
      else operate("fs.unlink", join(file, name), "unlink");
    }
    operate("fs.rmdir", file, "rmdir");
  }
}

function rename(from, to) {
  operate("fs.rename", pathOf(from, "oldPath"), "rename", { to: pathOf(to, "newPath") });
}

function copyFile(from, to, mode = 0) {
  const [source, target] = [pathOf(from, "src"), pathOf(to, "dest")];
  if (mode & constants.COPYFILE_EXCL && exists(target)) throw withTarget(systemError("EEXIST", "copyfile", source), target);
  let bytes;
  try {
    bytes = ofPackage(source)?.bytes ?? operate("fs.bytes", source, "copyfile").bytes;
    put(target, bytes, false);
  } catch (error) {
    throw error.cause === undefined && error.syscall !== undefined ? withTarget(systemError(error.code, "copyfile", source), target) : error;
  }
}

function cp(from, to, options) {
  const [source, target] = [pathOf(from, "src"), pathOf(to, "dest")];
  const found = look(source, "cp");
  if (found === undefined) throw systemError("ENOENT", "cp", source);
  if (options?.filter?.(source, target) === false) return;
  if (found.type !== "directory") {
    const isKept = options?.force === false && exists(target);
    if (isKept && options?.errorOnExist === true) throw coded(Error, "ERR_FS_CP_EEXIST", `Target already exists: cp returned EEXIST (${target} already exists) ${target}`);
    if (!isKept) {
      mkdir(require("path").dirname(target), { recursive: true });
      copyFile(source, target);
    }
    return;
  }
  if (options?.recursive !== true) throw coded(Error, "ERR_FS_EISDIR", `Recursive option not enabled, cannot copy a directory: cp returned EISDIR (${source} is a directory (not copied)) ${source}`);
  mkdir(target, { recursive: true });
  for (const { name } of entries(source)) cp(join(source, name), join(target, name), options);
}

function truncate(path, length = 0) {
  const old = readFile(path);
  const bytes = Buffer.alloc(Math.max(0, length));
  old.copy(bytes);
  writeFile(path, bytes);
}

function realpath(path, options) {
  const file = pathOf(path);
  if (look(file, "realpath") === undefined) throw systemError("ENOENT", "realpath", file);
  const real = require("path").resolve(file);
  return options === "buffer" || options?.encoding === "buffer" ? Buffer.from(real) : real;
}

// Links are followed wherever they are: nothing is one.
function readlink(path) {
  const file = pathOf(path);
  throw systemError(exists(file) ? "EINVAL" : "ENOENT", "readlink", file);
}

// Modes, owners and times are not the library's to change: it is told so in the log, and goes on.
const ignored = {};
const told = new Set();
for (const name of ["chmod", "lchmod", "chown", "lchown", "utimes", "lutimes"]) {
  ignored[name] = (path) => {
    const file = pathOf(path);
    if (look(file, name) === undefined) throw systemError("ENOENT", name, file);
    if (!told.has(name)) require("process").emitWarning(`fs.${name} changes nothing in the sandbox (Pinza's embedded engine)`);
    told.add(name);
  };
}

module.exports = {
  ...ignored,
  constants, pathOf, readFile, writeFile, appendFile, exists, access, stat, lstat, readdir, mkdir, mkdtemp, unlink, rmdir, rm, rename, copyFile, cp, truncate, realpath, readlink,
  put, bytesOf, Stats, Dirent,
};
