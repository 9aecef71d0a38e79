// Readable's helpers that work like an array's: map, filter, toArray and the rest.
"use strict";

const { checkFunction, checkInteger, invalidArgType, AbortError, coded } = require("internal/errors");

function install(Readable) {
  const stream = (name, make) => {
    Readable.prototype[name] = function (...args) {
      return Readable.from(make(this, ...args));
    };
  };
  const promise = (name, make) => {
    Readable.prototype[name] = function (...args) {
      return make(this, ...args);
    };
  };

  stream("map", (source, change, options) => (checkFunction(change, "fn"), mapped(source, change, options)));
  stream("filter", (source, keeps, options) => (checkFunction(keeps, "fn"), filtered(source, keeps, options)));
  stream("flatMap", (source, change, options) => (checkFunction(change, "fn"), flattened(source, change, options)));
  stream("take", (source, count) => (checkInteger(count, "number", 0), taken(source, count)));
  stream("drop", (source, count) => (checkInteger(count, "number", 0), dropped(source, count)));
  stream("asIndexedPairs", async function* (source) {
    let at = 0;
    for await (const item of source) yield [at++, item];
  });

  promise("forEach", async (source, action, options) => {
    checkFunction(action, "fn");
    for await (const _ of mapped(source, action, options));
  });
  promise("toArray", async (source, options) => {
    const items = [];
    for await (const item of source) {
      alive(options);
      items.push(item);
    }
    return items;
  });
  promise("some", async (source, holds, options) => {
    checkFunction(holds, "fn");
    for await (const item of source) if (await holds(item, { signal: options?.signal })) return true;
    return false;
  });
  promise("every", async (source, holds, options) => {
    checkFunction(holds, "fn");
    for await (const item of source) if (!(await holds(item, { signal: options?.signal }))) return false;
    return true;
  });
  promise("find", async (source, holds, options) => {
    checkFunction(holds, "fn");
    for await (const item of source) if (await holds(item, { signal: options?.signal })) return item;
    return undefined;
  });
  promise("reduce", async (source, combine, ...rest) => {
    checkFunction(combine, "reducer");
    let [value, options] = rest;
    let begun = rest.length > 0;
    for await (const item of source) {
      alive(options);
      value = begun ? await combine(value, item, { signal: options?.signal }) : item;
      begun = true;
    }
    if (!begun) throw coded(TypeError, "ERR_MISSING_ARGS", "Reduce of an empty stream requires an initial value");
    return value;
  });
}

function alive(options) {
  if (options?.signal?.aborted) throw new AbortError(undefined, { cause: options.signal.reason });
}

// Up to `concurrency` at a time, results in order.
async function* mapped(source, change, options) {
  const limit = options?.concurrency ?? 1;
  if (typeof limit !== "number" || limit < 1) throw invalidArgType("options.concurrency", "number", limit);
  const running = [];
  for await (const item of source) {
    alive(options);
    const result = Promise.resolve(change(item, { signal: options?.signal }));
    result.catch(() => {});
    running.push(result);
    if (running.length >= limit) yield running.shift();
  }
  while (running.length > 0) yield running.shift();
}

async function* filtered(source, keeps, options) {
  for await (const item of source) {
    alive(options);
    if (await keeps(item, { signal: options?.signal })) yield item;
  }
}

async function* flattened(source, change, options) {
  for await (const items of mapped(source, change, options)) yield* items;
}

async function* taken(source, count) {
  if (count <= 0) return;
  for await (const item of source) {
    yield item;
    if (--count <= 0) return;
  }
}

async function* dropped(source, count) {
  for await (const item of source) if (count-- <= 0) yield item;
}

module.exports = { install };
