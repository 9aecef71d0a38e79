// Functions by their paths, and what to say where a path leads nowhere.

const parsed = new Map();

function partsOfPath(path) {
  const known = parsed.get(path);
  if (known !== undefined) return known;
  const parts = parsePath(path);
  if (parsed.size < 10_000) parsed.set(path, parts);
  return parts;
}

// `utils.format`, `methods[0]`, `parsers["a.b"]`.
function parsePath(path) {
  if (typeof path !== "string" || path === "") throw new Fault("path", "There is no function named");
  const parts = [];
  const part = /(?:^|\.)([^.[\]]+)|\[(\d+)\]|\[(["'])(.*?)\3\]/y;
  while (part.lastIndex < path.length) {
    const found = part.exec(path);
    if (found === null) throw new Fault("path", `'${path}' is not a path such as get, utils.format or methods[0]`);
    parts.push(found[1] ?? found[2] ?? found[4]);
  }
  return parts;
}

function joined(parts) {
  return parts.map((part, i) => (/^\d+$/.test(part) ? `[${part}]` : i > 0 ? `.${part}` : part)).join("");
}

// An object, and what an ES module, or a compiler's idea of one, keeps behind `default`.
function layers(target) {
  const found = [];
  let at = target;
  while (isObject(at) && found.length < 3 && !found.includes(at)) {
    found.push(at);
    at = attempt(() => hasOwn(found.at(-1), "default"))?.value ? read(at, "default") : undefined;
  }
  return found;
}

// How far the path leads, the last object on it, and what that has there.
function walkPath(target, parts) {
  let owner;
  let value = target;
  for (let reached = 0; reached < parts.length; reached++) {
    if (isAbsent(value)) return { reached, owner, value };
    owner = value;
    try {
      value = owner[parts[reached]];
    } catch (error) {
      return { reached, owner, error: { thrown: error } };
    }
    if (value === undefined) return { reached, owner, value };
  }
  return { reached: parts.length, owner, value };
}

const isFunction = (value) => typeof value === "function";

// The first of the places (`{ targets, words }`) that has a function there, with the object that it is called on.
function find(places, path, accept = isFunction) {
  const parts = partsOfPath(path);
  const tried = [];
  for (let i = 0; i < places.targets.length; i++) {
    const found = walkPath(places.targets[i], parts);
    if (found.reached === parts.length && accept(found.value)) return calledOn(found, places.targets, i, parts);
    tried.push(found);
  }
  throw missing(path, parts, tried, places.words);
}

function tryFind(places, path) {
  try {
    return find(places, path);
  } catch {
    return undefined;
  }
}

// Node makes a namespace of a CommonJS module's exports; its functions expect the exports themselves as `this`.
function calledOn(found, targets, index, parts) {
  const target = targets[index];
  const isNamespace = isObject(target) && getPrototypeOf(target) === null && target[toStringTag] === "Module";
  if (!isNamespace) return found;
  for (const behind of targets.slice(index + 1)) {
    const inside = walkPath(behind, parts);
    if (inside.reached === parts.length && inside.value === found.value) return inside;
  }
  return found;
}

// Of several places, the one where the path led furthest is told.
function missing(path, parts, tried, words) {
  const furthest = tried.reduce((best, one) => (one.reached > best.reached ? one : best), tried[0] ?? { reached: 0 });
  const { reached, value, error } = furthest;
  if (reached === parts.length) return new Fault("path", `'${path}' is not a function, but ${article(value)}`);
  const before = reached > 0 ? `'${joined(parts.slice(0, reached))}'` : words;
  if (error !== undefined) {
    const { thrown } = error;
    return new Fault("path", `'${path}' cannot be read: '${parts[reached]}' of ${before} throws ${classOf(thrown)}: ${messageOf(thrown)}`);
  }
  if (value === null) return new Fault("path", `'${path}' is not there: ${before} is null`);
  const owners = tried.filter((one) => one.reached === reached).map((one) => one.owner);
  const has = before.startsWith("neither") ? "has" : "has no";
  return new Fault("path", `'${path}' is not there: ${before} ${has} '${parts[reached]}'${suggestion(owners, parts[reached])}`);
}

function article(value) {
  if (value === null) return "null";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function suggestion(owners, name) {
  const names = [...new Set(owners.flatMap(namesOf))];
  const most = (one) => Math.max(1, Math.floor(Math.min(one.length, name.length) / 3));
  const near = names.map((one) => ({ one, far: distance(one.toLowerCase(), name.toLowerCase()) }));
  const closest = near.filter(({ one, far }) => far <= most(one)).sort((a, b) => a.far - b.far);
  if (closest.length > 0) return `; did you mean ${closest.slice(0, 3).map(({ one }) => one).join(" or ")}?`;
  return names.length > 0 && names.length <= 8 ? `; there is ${names.join(", ")}` : "";
}

// All that can be named on an object, but for what every object or function has.
function namesOf(owner) {
  const names = new Set();
  const ofFunctions = ["length", "name", "prototype", "arguments", "caller"];
  let at = isObject(owner) ? owner : undefined;
  while (isObject(at) && at !== Object.prototype && at !== Function.prototype && names.size < 2000) {
    const holder = at;
    for (const key of attempt(() => ownKeys(holder))?.value ?? []) {
      const isUsual = key === "constructor" || (typeof holder === "function" && ofFunctions.includes(key));
      if (typeof key === "string" && !isUsual && !key.startsWith("__")) names.add(key);
    }
    at = attempt(() => getPrototypeOf(holder))?.value;
  }
  return [...names];
}

// How many letters must be added, taken away, changed or swapped with their neighbour.
function distance(a, b) {
  if (Math.abs(a.length - b.length) > 3 || a.length > 64) return 64;
  const rows = [];
  for (let i = 0; i <= a.length; i++) {
    rows[i] = [i];
    for (let j = 1; j <= b.length; j++) {
      if (i === 0) {
        rows[0][j] = j;
        continue;
      }
      const change = rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      rows[i][j] = Math.min(change, rows[i - 1][j] + 1, rows[i][j - 1] + 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.length][b.length];
}
