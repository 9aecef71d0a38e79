// Sensible JSON: any value as what JSON can say, for a reader who never saw the object. The table in
// docs/guides/wrap-a-library.md says what becomes of what.

// Of a whole result; of what is shown beside a handle; of each property of an error.
const RESULT = { nodes: 1_000_000, text: 16 << 20 };
const DISPLAY = { nodes: 500, text: 4 << 10 };
const ERROR_DATA = { nodes: 500, text: 4 << 10 };
const DEEPEST = 64;
const ITEMS = 10_000;

function sensible(value, bounds) {
  return convert(value, 0, "", { nodes: bounds.nodes, text: bounds.text, bounds, above: new Set() });
}

// A value as far as it is small, else the name of its class.
function display(value) {
  try {
    return sensible(value, DISPLAY);
  } catch {
    return named(value);
  }
}

function convert(value, depth, key, walk) {
  switch (typeof value) {
    case "string": return text(value, walk);
    case "number": return isFinite(value) ? value : null;
    case "boolean": case "undefined": return value;
    case "bigint": return text(`${value}`, walk);
    case "symbol": return text(String(value), walk);
    case "function": return text(functionText(value), walk);
  }
  if (value === null) return null;
  if (walk.above.has(value)) return "[Circular]";
  if (depth > DEEPEST) throw new Fault("result", `The result nests deeper than ${DEEPEST} levels`);
  walk.above.add(value);
  try {
    return convertObject(value, depth, key, walk);
  } catch (error) {
    if (isOurs(error)) throw error;
    // A revoked proxy, a trap or a method that throws.
    const message = read(error, "message");
    return text(typeof message === "string" ? `[Unreadable: ${message.slice(0, 200)}]` : "[Unreadable]", walk);
  } finally {
    walk.above.delete(value);
  }
}

function convertObject(value, depth, key, walk) {
  if (isArray(value)) return convertArray(value, depth, walk);
  const parent = getPrototypeOf(value);
  const isPlain = parent === null || getPrototypeOf(parent) === null;
  if (!isPlain) {
    const convertKind = kindOf(value);
    if (convertKind !== undefined) return convertKind(value, depth, walk);
  }
  if (typeof value.toJSON === "function") {
    const made = attempt(() => value.toJSON(`${key}`));
    if (made !== undefined && made.value !== value) return convert(made.value, depth + 1, key, walk);
  }
  if (isIterator(value)) return convertItems(value, depth, walk);
  // A socket, a request, an agent: it lives, and leads to everything that lives with it.
  if (!isPlain && typeof value.on === "function" && typeof value.destroy === "function") return text(named(value), walk);
  return convertProperties(value, isPlain, depth, walk);
}

// An iterator is its own iterator. A list of elements, as cheerio's, has `next` for something else.
function isIterator(value) {
  return typeof value.next === "function" && typeof value[symbolIterator] === "function" && value[symbolIterator]() === value;
}

function convertArray(array, depth, walk) {
  const { length } = array;
  spend(walk, length);
  const made = [];
  for (let i = 0; i < length; i++) made[i] = inArray(array[i], depth, i, walk);
  return made;
}

// JSON's way: an array keeps its places.
function inArray(item, depth, index, walk) {
  const made = convert(item, depth + 1, index, walk);
  return made === undefined ? null : made;
}

// A getter of a plain object is as good as a value. One of a class is its own business: it may open a connection.
function convertProperties(object, isPlain, depth, walk) {
  const made = create(null);
  for (const key of keysOf(object)) {
    let item;
    if (isPlain) {
      try {
        item = object[key];
      } catch {
        continue;
      }
    } else {
      const property = getOwnPropertyDescriptor(object, key);
      if (property === undefined || !hasOwn(property, "value")) continue;
      item = property.value;
    }
    put(made, key, item, depth, walk);
  }
  return made;
}

function put(made, key, item, depth, walk) {
  spend(walk, 1);
  const shown = convert(item, depth + 1, key, walk);
  if (shown !== undefined) made[text(key, walk)] = shown;
}

function convertItems(iterator, depth, walk) {
  const made = [];
  for (;;) {
    const step = iterator.next();
    if (!isObject(step) || step.done) return made;
    if (made.length === ITEMS) {
      attempt(() => iterator.return());
      made[ITEMS] = `[more than ${ITEMS} items]`;
      return made;
    }
    spend(walk, 1);
    made[made.length] = inArray(step.value, depth, made.length, walk);
  }
}

// What a tag says may be anybody's claim, so each kind has a test that only the real thing passes.
const boxed = (Class) => {
  const unbox = uncurry(Class.prototype.valueOf);
  return { test: unbox, show: (value, depth, walk) => convert(unbox(value), depth, "", walk) };
};
const opaque = (name) => ({ test: () => {}, show: () => `[${name}]` });
const kinds = {
  __proto__: null,
  "[object Date]": { test: dateValue, show: (date) => (isFinite(dateValue(date)) ? dateText(date) : null) },
  "[object RegExp]": { test: getter(RegExp.prototype, "source"), show: (regex, depth, walk) => text(regexText(regex), walk) },
  "[object Map]": { test: getter(Map.prototype, "size"), show: convertMap },
  "[object Set]": { test: getter(Set.prototype, "size"), show: convertSet },
  "[object Error]": { test: () => {}, show: convertError },
  "[object ArrayBuffer]": { test: getter(ArrayBuffer.prototype, "byteLength"), show: convertBuffer },
  "[object Boolean]": boxed(Boolean),
  "[object Number]": boxed(Number),
  "[object String]": boxed(String),
  "[object Symbol]": boxed(Symbol),
  "[object BigInt]": boxed(BigInt),
  "[object Promise]": opaque("Promise"),
  "[object WeakMap]": opaque("WeakMap"),
  "[object WeakSet]": opaque("WeakSet"),
  "[object WeakRef]": opaque("WeakRef"),
  "[object URL]": { test: (url) => url.href.length, show: (url, depth, walk) => text(url.href, walk) },
  "[object URLSearchParams]": { test: (params) => params.append.length, show: (params, depth, walk) => text(`${params}`, walk) },
  "[object Headers]": { test: (headers) => headers.append.length, show: convertHeaders },
};
if (SharedArrayBuffer !== undefined) {
  kinds["[object SharedArrayBuffer]"] = { test: getter(SharedArrayBuffer.prototype, "byteLength"), show: convertBuffer };
}

function kindOf(value) {
  if (isView(value)) return convertView;
  const kind = kinds[tagOf(value)];
  if (kind !== undefined && attempt(() => kind.test(value)) !== undefined) return kind.show;
  // Subclasses that go by a name of their own.
  if (isA(value, Map)) return convertMap;
  if (isA(value, Set)) return convertSet;
  if (isA(value, Error)) return convertError;
  return undefined;
}

function convertMap(map, depth, walk) {
  const pairs = [];
  let isRecord = true;
  mapForEach(map, (item, key) => {
    isRecord &&= typeof key === "string";
    pairs[pairs.length] = [key, item];
  });
  if (!isRecord) return convertArray(pairs, depth, walk);
  const made = create(null);
  for (let i = 0; i < pairs.length; i++) put(made, pairs[i][0], pairs[i][1], depth, walk);
  return made;
}

function convertSet(set, depth, walk) {
  const items = [];
  setForEach(set, (item) => (items[items.length] = item));
  return convertArray(items, depth, walk);
}

function convertHeaders(headers, depth, walk) {
  const made = create(null);
  headers.forEach((value, name) => put(made, name, value, depth, walk));
  return made;
}

function convertError(error, depth, walk) {
  return { name: text(classOf(error), walk), message: text(messageOf(error), walk) };
}

function convertBuffer(buffer, depth, walk) {
  return bytes(new Uint8Array(buffer), walk);
}

const partsOf = (prototype) => ["buffer", "byteOffset", "byteLength"].map((key) => getter(prototype, key));
const typedParts = partsOf(getPrototypeOf(Uint8Array.prototype));
const dataViewParts = partsOf(DataView.prototype);

function convertView(view, depth, walk) {
  const [buffer, offset, length] = attempt(() => dataViewParts[2](view)) === undefined ? typedParts : dataViewParts;
  return bytes(new Uint8Array(buffer(view), offset(view), length(view)), walk);
}

function bytes(view, walk) {
  takeText(walk, Math.ceil(view.length / 3) * 4);
  return { type: "bytes", base64: base64(view) };
}

function base64(view) {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const { length } = view;
  let made = "";
  for (let i = 0; i < length; i += 3) {
    const three = (view[i] << 16) | ((view[i + 1] ?? 0) << 8) | (view[i + 2] ?? 0);
    made += digits[three >> 18] + digits[(three >> 12) & 63];
    made += i + 1 < length ? digits[(three >> 6) & 63] : "=";
    made += i + 2 < length ? digits[three & 63] : "=";
  }
  return made;
}

function functionText(value) {
  const name = read(value, "name");
  return typeof name === "string" && name !== "" ? `[Function: ${name}]` : "[Function]";
}

function named(value) {
  const name = read(read(value, "constructor"), "name");
  return typeof name === "string" && name !== "" ? `[${name}]` : "[Object]";
}

function text(value, walk) {
  takeText(walk, value.length);
  return value;
}

function takeText(walk, length) {
  walk.text -= length;
  if (walk.text < 0) throw new Fault("size", `The result is larger than ${walk.bounds.text >> 20} MiB`);
}

function spend(walk, count) {
  walk.nodes -= count;
  if (walk.nodes < 0) throw new Fault("size", `The result has more than ${walk.bounds.nodes} values`);
}
