// path: names of files, as POSIX and as Windows write them. Both are one machine over segments; only what the root
// of a path is and which characters separate differs.
"use strict";

const { checkString, checkObject } = require("internal/errors");

// Resolves "." and "..". `above` keeps those that lead above the start.
function tidy(segments, above) {
  const kept = [];
  for (const segment of segments) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") kept.push(segment);
    else if (kept.length > 0 && kept[kept.length - 1] !== "..") kept.pop();
    else if (above) kept.push("..");
  }
  return kept;
}

function make({ sep, delimiter, separators, rootOf }) {
  const isSeparator = (character) => separators.includes(character);
  const split = (text) => text.split(sep === "/" ? "/" : /[\\/]/);

  // Where the last segment begins and ends, without separators behind it, at or after `from`.
  function lastSegment(path, from) {
    let end = path.length;
    while (end > from && isSeparator(path[end - 1])) end -= 1;
    let start = end;
    while (start > from && !isSeparator(path[start - 1])) start -= 1;
    return [start, end];
  }

  function normalize(path) {
    checkString(path, "path");
    if (path.length === 0) return ".";
    const root = rootOf(path);
    const rest = path.slice(root.length);
    const tail = tidy(split(rest), !root.absolute).join(sep);
    const trailing = rest.length > 0 && isSeparator(path[path.length - 1]);
    if (tail === "" && !root.absolute) return `${root.text || "."}${root.text === "" && trailing ? sep : root.text === "" ? "" : `.${trailing ? sep : ""}`}`;
    return `${root.text}${tail}${trailing && tail !== "" ? sep : ""}`;
  }

  function basename(path, suffix) {
    if (suffix !== undefined) checkString(suffix, "suffix");
    checkString(path, "path");
    const [start, end] = lastSegment(path, rootOf(path).drive ?? 0);
    const name = path.slice(start, end);
    return suffix !== undefined && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length || undefined) : suffix !== undefined && name === suffix && path === suffix ? "" : name;
  }

  function dirname(path) {
    checkString(path, "path");
    if (path.length === 0) return ".";
    const root = rootOf(path);
    // One separator goes; of several, the others stay.
    const end = lastSegment(path, root.length)[0] - 1;
    if (end > root.length) return path.slice(0, end);
    if (end === 1 && sep === "/" && root.absolute) return "//";
    return end === root.length && !root.absolute ? path.slice(0, end) || "." : root.raw || ".";
  }

  function extname(path) {
    checkString(path, "path");
    const name = basename(path);
    const dot = name.lastIndexOf(".");
    return dot <= 0 || name === ".." ? "" : name.slice(dot);
  }

  function isAbsolute(path) {
    checkString(path, "path");
    return rootOf(path).absolute;
  }

  function parse(path) {
    checkString(path, "path");
    const root = rootOf(path);
    const base = path.length === root.length ? "" : basename(path);
    const ext = extname(base);
    let dir = dirname(path);
    if (dir === "." && !/^\.[\\/]+[^\\/]/.test(path)) dir = "";
    return { root: root.raw, dir: base === "" ? root.raw : dir, base, ext, name: ext === "" ? base : base.slice(0, -ext.length) };
  }

  function format(parts) {
    checkObject(parts, "pathObject");
    const dir = parts.dir || parts.root;
    const ext = parts.ext ? (parts.ext[0] === "." ? parts.ext : `.${parts.ext}`) : "";
    const base = parts.base || `${parts.name || ""}${ext}`;
    if (!dir) return base;
    return dir === parts.root ? `${dir}${base}` : `${dir}${sep}${base}`;
  }

  function relative(from, to) {
    checkString(from, "from");
    checkString(to, "to");
    if (from === to) return "";
    const [a, b] = [self.resolve(from), self.resolve(to)];
    const fold = (text) => (sep === "/" ? text : text.toLowerCase());
    if (fold(a) === fold(b)) return "";
    const [rootA, rootB] = [rootOf(a), rootOf(b)];
    if (fold(rootA.text) !== fold(rootB.text)) return b;
    const left = tidy(split(a.slice(rootA.length)), false);
    const right = tidy(split(b.slice(rootB.length)), false);
    let same = 0;
    while (same < left.length && same < right.length && fold(left[same]) === fold(right[same])) same += 1;
    return [...left.slice(same).map(() => ".."), ...right.slice(same)].join(sep);
  }

  const self = { sep, delimiter, normalize, basename, dirname, extname, isAbsolute, parse, format, relative };
  return self;
}

const posix = make({
  sep: "/",
  delimiter: ":",
  separators: "/",
  rootOf: (path) => (path[0] === "/" ? { text: "/", raw: "/", length: 1, absolute: true } : { text: "", raw: "", length: 0, absolute: false }),
});

posix.join = function join(...paths) {
  paths.forEach((path) => checkString(path, "path"));
  const joined = paths.filter((path) => path !== "").join("/");
  return joined === "" ? "." : posix.normalize(joined);
};

posix.resolve = function resolve(...paths) {
  paths.forEach((path, at) => checkString(path, `paths[${at}]`));
  let whole = "";
  for (let at = paths.length - 1; at >= -1 && whole[0] !== "/"; at--) {
    const path = at >= 0 ? paths[at] : require("process").cwd();
    if (path !== "") whole = whole === "" ? path : `${path}/${whole}`;
  }
  return `/${tidy(whole.split("/"), false).join("/")}`;
};

posix.toNamespacedPath = (path) => path;

// "C:\", "C:", "\\server\share\", "\" or nothing. `text` is the root as it is written out, `raw` as it was given.
function windowsRoot(path) {
  const unc = /^[\\/]{2}([^\\/]+)[\\/]+([^\\/]+)([\\/]+|$)/.exec(path);
  if (unc !== null) {
    const length = unc[0].length === path.length && unc[3] === "" ? path.length : unc[0].length - Math.max(0, unc[3].length - 1);
    return { text: `\\\\${unc[1]}\\${unc[2]}\\`, raw: path.slice(0, length), length, absolute: true, device: `\\\\${unc[1]}\\${unc[2]}` };
  }
  const drive = /^([a-zA-Z]:)([\\/]?)/.exec(path);
  if (drive !== null) return { text: `${drive[1]}${drive[2] && "\\"}`, raw: drive[0], length: drive[0].length, absolute: drive[2] !== "", drive: 2, device: drive[1] };
  if (/^[\\/]/.test(path)) return { text: "\\", raw: path[0], length: 1, absolute: true, device: "" };
  return { text: "", raw: "", length: 0, absolute: false, device: "" };
}

const win32 = make({ sep: "\\", delimiter: ";", separators: "\\/", rootOf: windowsRoot });

win32.join = function join(...paths) {
  paths.forEach((path) => checkString(path, "path"));
  const kept = paths.filter((path) => path !== "");
  if (kept.length === 0) return ".";
  let joined = kept.join("\\");
  // Two separators at the start would name a server; only the first part may mean one.
  if (!/^[\\/]{2}[^\\/]/.test(kept[0])) joined = joined.replace(/^[\\/]{2,}/, "\\");
  return win32.normalize(joined);
};

win32.resolve = function resolve(...paths) {
  paths.forEach((path, at) => checkString(path, `paths[${at}]`));
  let device = "";
  let tail = "";
  let absolute = false;
  for (let at = paths.length - 1; at >= -1; at--) {
    const path = at >= 0 ? paths[at] : require("process").cwd();
    if (path === "") continue;
    const root = windowsRoot(path);
    if (root.device !== "" && device !== "" && root.device.toLowerCase() !== device.toLowerCase()) continue;
    if (device === "") device = root.device;
    if (absolute) {
      if (device !== "") break;
      continue;
    }
    tail = `${path.slice(root.length)}\\${tail}`;
    ({ absolute } = root);
    if (absolute && device !== "") break;
  }
  const rest = tidy(tail.split(/[\\/]/), !absolute).join("\\");
  return `${device}${absolute ? "\\" : ""}${rest}` || ".";
};

win32.toNamespacedPath = (path) => {
  if (typeof path !== "string" || path.length === 0) return path;
  const resolved = win32.resolve(path);
  if (/^[a-zA-Z]:\\/.test(resolved)) return `\\\\?\\${resolved}`;
  if (/^\\\\[^.?]/.test(resolved)) return `\\\\?\\UNC\\${resolved.slice(2)}`;
  return resolved;
};

for (const flavor of [posix, win32]) {
  flavor._makeLong = flavor.toNamespacedPath;
  flavor.posix = posix;
  flavor.win32 = win32;
}

function matchesGlob(path, pattern) {
  checkString(path, "path");
  checkString(pattern, "pattern");
  const source = pattern.replace(/\*\*\/?|[*?]|[.+^${}()|[\]\\]/g, (part) => (part.startsWith("**") ? "(?:.*/)?" : part === "*" ? "[^/]*" : part === "?" ? "[^/]" : `\\${part}`));
  return new RegExp(`^${source}$`).test(path);
}
posix.matchesGlob = win32.matchesGlob = matchesGlob;

module.exports = posix;
