// A runner for one library: initialises it, finds what a plan names, calls it, keeps what shall be kept.

const MOST_KEPT = 10_000;

const isPromise = (value) => isObject(value) && (isA(value, Promise) || tagOf(value) === "[object Promise]");
const isThenable = (value) => isObject(value) && typeof value.then === "function";
const isStatic = (init) => isAbsent(init) || isAbsent(init.type) || init.type === "static";

// A class cannot be called: whoever names one wants an instance. Its `prototype` is fixed, as a function's is only
// when somebody froze it. Where the source is not kept, that is all that can be known.
function isClass(value) {
  const property = getOwnPropertyDescriptor(value, "prototype");
  if (property === undefined || property.writable !== false) return false;
  const source = sourceOf(value);
  return source.startsWith("class") || (source.endsWith("[native code]\n}") && !isFrozen(value));
}

const call = (value, owner, args) => (isClass(value) ? construct(value, args) : apply(value, owner, args));

const isAsyncIterator = (value) => isObject(value) && isFunction(read(value, symbolAsyncIterator)) && isFunction(read(value, "next"));

// An async generator's items, which only waiting can tell.
async function gathered(result) {
  const items = [];
  for await (const item of result) {
    if (items.length === ITEMS) {
      items.push(`[more than ${ITEMS} items]`);
      break;
    }
    items.push(item);
  }
  return items;
}

// A library that writes to Object.prototype shall not write into plans.
const own = (fields) => (isAbsent(fields) ? undefined : { __proto__: null, ...fields });

function makeRunner(library) {
  const ofLibrary = { targets: layers(library), words: "the library" };
  const instances = new Map();
  const kept = new Map();
  let lastKept = 0;

  // Made once for each configuration: a client lives with its connections as long as the runner. In a box, because
  // an instance may have a `then` of its own.
  function initialised(init) {
    const key = stringify(init);
    if (!instances.has(key)) {
      const made = initialise(init);
      instances.set(key, made);
      made.catch(() => instances.delete(key));
    }
    return instances.get(key);
  }

  async function initialise(init) {
    const args = isAbsent(init.config) ? [] : [init.config];
    const named = isAbsent(init.className) ? undefined : find(ofLibrary, init.className).value;
    const root = named ?? ofLibrary.targets.find(isFunction);
    if (init.treatAsConstructor === true) return { instance: await apply(callable(root, "called"), undefined, args) };
    const from = named === undefined ? ofLibrary : { targets: [named], words: `'${init.className}'` };
    switch (init.type) {
      case "constructor": return { instance: construct(callable(root, "constructed"), args) };
      case "factory": return { instance: await fromFactory(init, from, root, args) };
      case "singleton": {
        const { owner, value } = find(from, init.method ?? "getInstance", isObject);
        return { instance: isFunction(value) ? await call(value, owner, args) : value };
      }
      default: throw new Fault("init", `A library cannot be initialised as '${init.type}'`);
    }
  }

  // A library that is itself the factory needs no method, unless one is named.
  function fromFactory(init, from, root, args) {
    const isItself = isAbsent(init.method) && root !== undefined && tryFind(from, "create") === undefined;
    if (isItself) return call(root, undefined, args);
    const { owner, value } = find(from, init.method ?? "create");
    return call(value, owner, args);
  }

  function callable(root, done) {
    if (root !== undefined) return root;
    const target = ofLibrary.targets[0];
    const names = namesOf(target).filter((name) => isFunction(read(target, name)));
    const hint = names.length > 0 ? `; name an export with className: ${names.slice(0, 8).join(", ")}` : "";
    throw new Fault("init", `The library itself cannot be ${done}${hint}`);
  }

  // Where a plan's function is looked for; a promise of it only where an instance is needed.
  function placesOf(plan) {
    if (!isAbsent(plan.handle)) {
      if (!kept.has(plan.handle)) throw new Fault("handle", noSuchHandle(plan.handle));
      return { targets: [kept.get(plan.handle)], words: `the kept object '${plan.handle}'` };
    }
    const isAside = plan.instanceMethod === false || (plan.function === "root" && isAbsent(plan.init?.config));
    return isAside || isStatic(plan.init) ? ofLibrary : withInstance(plan.init);
  }

  async function withInstance(init) {
    const { instance } = await initialised(init);
    if (isAbsent(instance)) throw new Fault("init", `Initialising the library made ${instance === null ? "null" : "nothing"}`);
    return { targets: [...targetsOf(instance), ...ofLibrary.targets], words: "neither the instance nor the library" };
  }

  const targetsOf = (value) => (isObject(value) ? layers(value) : [value]);

  function noSuchHandle(handle) {
    const names = [...kept.keys()].slice(-8);
    return `There is no kept object '${handle}'; ${names.length > 0 ? `there is ${names.join(", ")}` : "nothing is kept"}`;
  }

  // What a plan calls, and on which object. `root` is the library's own function, or the instance where that was
  // configured and is one.
  function locate(plan, places) {
    if (plan.function !== "root") return find(places, plan.function);
    const value = places.targets.find(isFunction);
    if (value !== undefined) return { owner: undefined, value };
    const found = tryFind(places, "root");
    if (found !== undefined) return found;
    const is = places.words.startsWith("neither") ? "is" : "is not";
    throw new Fault("path", `'root' is not there: ${places.words} ${is} a function${suggestion(places.targets, "root")}`);
  }

  function keep(result, prefix) {
    if (kept.size >= MOST_KEPT) throw new Fault("handle", `${MOST_KEPT} objects are kept already`);
    lastKept += 1;
    const handle = `${prefix ?? "object"}-${lastKept}`;
    kept.set(handle, result);
    return handle;
  }

  async function outcome(plan) {
    let during = "init";
    try {
      const places = placesOf(plan);
      const { owner, value } = locate(plan, isPromise(places) ? await places : places);
      during = undefined;
      const args = isAbsent(plan.args) ? [] : plan.args.slice();
      for (const hole of plan.holes ?? []) args[hole] = undefined;
      let result = call(value, owner, args);
      if (isPromise(result) || (plan.async !== false && isThenable(result))) result = await result;
      if (plan.keep === true && !isAbsent(result)) return { value: display(result), handle: keep(result, plan.prefix) };
      return { value: sensible(isAsyncIterator(result) ? await gathered(result) : result, RESULT) };
    } catch (error) {
      return { error: failure(error, during) };
    }
  }

  async function invoke(plan) {
    return jsonText(await outcome({ ...plan, __proto__: null, init: own(plan.init) }));
  }

  // For `module check`: `{ init, functions: [path | { function, instanceMethod }] }` in, and for each function whether
  // it is there. Nothing is called but what initialises the library.
  invoke.describe = async function describe({ init, functions }) {
    const broken = isStatic(init) ? undefined : await initialised(own(init)).then(() => undefined, (error) => failure(error, "init"));
    const found = [];
    for (const one of functions) {
      const plan = { __proto__: null, ...(typeof one === "string" ? { function: one } : one), init: own(init) };
      found.push({ function: plan.function, ...(await described(plan, broken !== undefined)) });
    }
    return jsonText(broken === undefined ? { functions: found } : { init: broken, functions: found });
  };

  async function described(plan, isBroken) {
    try {
      const { value } = isBroken && plan.instanceMethod !== false ? locateWithout(plan) : locate(plan, await placesOf(plan));
      return { ok: true, parameters: value.length };
    } catch (error) {
      return { ok: false, message: messageOf(error) };
    }
  }

  // Without an instance, its class still says what it would have.
  function locateWithout(plan) {
    if (plan.function === "root") return locate(plan, ofLibrary);
    const named = isAbsent(plan.init.className) ? undefined : tryFind(ofLibrary, plan.init.className)?.value;
    const roots = named === undefined ? ofLibrary.targets : [named];
    const prototypes = roots.map((root) => read(root, "prototype")).filter(isObject);
    const found = tryFind({ targets: [...prototypes, ...ofLibrary.targets], words: "" }, plan.function);
    if (found !== undefined) return found;
    throw new Fault("init", `'${plan.function}' was not looked for, because the library cannot be initialised`);
  }

  return invoke;
}

// The outcome of a call that never came to the runner.
makeRunner.failed = (error, during) => jsonText({ error: failure(error, during) });
