// structuredClone (HTML §2.7): StructuredSerializeInternal and StructuredDeserialize in one walk.

const loadClone = once(function () {
  const { kindOf } = loadKinds();
  const integers = { __proto__: null, Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array };
  const viewClasses = { __proto__: integers, BigInt64Array, BigUint64Array, Float16Array, Float32Array, Float64Array };
  const errors = { __proto__: null, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

  function structuredClone(value, options = undefined) {
    needs(1, arguments.length, "structuredClone");
    const { transfer } = dictionary(options, "structuredClone: options");
    const memory = new Map();
    const moved = transferList(transfer, memory);
    const made = clone(value, memory);
    for (let i = 0; i < moved.length; i++) moved[i].complete();
    return made;
  }

  // Only buffers can be transferred. Each is copied at once and detached when the clone has succeeded.
  function transferList(transfer, memory) {
    const moved = list();
    if (transfer === undefined) return moved;
    for (const buffer of transfer) {
      if (!isBuffer(buffer) || bufferTransfer === undefined) throw refuse("Only an ArrayBuffer can be transferred");
      if (mapHas(memory, buffer)) throw refuse("The transfer list names a buffer twice");
      const made = typedBuffer(copy(new Uint8Array(buffer)));
      mapSet(memory, buffer, made);
      push(moved, { __proto__: null, complete: () => void bufferTransfer(buffer) });
    }
    return moved;
  }

  function refuse(message) {
    return new DOMException(message, "DataCloneError");
  }

  function clone(value, memory) {
    if (typeof value === "symbol") throw refuse("A symbol cannot be cloned");
    if (typeof value === "function") throw refuse("A function cannot be cloned");
    if (!isObject(value)) return value;
    const known = mapGet(memory, value);
    if (known !== undefined) return known;
    const kind = kindOf(value);
    const made = cloneWhole(value, kind, memory);
    mapSet(memory, value, made);
    cloneParts(value, kind, made, memory);
    return made;
  }

  // The new object, still empty where its contents may lead back to it.
  function cloneWhole(value, kind, memory) {
    switch (kind) {
      case "object": return {};
      case "array": return lengthened(value.length);
      case "map": return new Map();
      case "set": return new Set();
      case "date": return new Date(dateValue(value));
      case "regexp": return new RegExp(regexSource(value), regexFlags(value));
      case "boolean": return Object(booleanValue(value));
      case "number": return Object(numberValue(value));
      case "string": return Object(stringValue(value));
      case "bigint": return Object(bigintValue(value));
      case "buffer": return typedBuffer(copy(new Uint8Array(value)));
      case "view": return cloneView(value, memory);
      case "error": return cloneError(value);
      case "exception": return new DOMException(exceptionMessage(value), exceptionName(value));
      case "platform": {
        const file = loadBlob().cloneBlob(value);
        if (file !== undefined) return file;
      }
    }
    throw refuse(`A ${kind === "platform" ? "platform object" : kind} cannot be cloned`);
  }

  function cloneParts(value, kind, made, memory) {
    if (kind === "object" || kind === "array") cloneProperties(value, made, memory);
    else if (kind === "map") {
      const entries = list();
      mapForEach(value, (item, key) => push(entries, pair(key, item)));
      for (let i = 0; i < entries.length; i++) mapSet(made, clone(entries[i][0], memory), clone(entries[i][1], memory));
    } else if (kind === "set") {
      const items = list();
      setForEach(value, (item) => push(items, item));
      for (let i = 0; i < items.length; i++) setAdd(made, clone(items[i], memory));
    } else if (kind === "error") {
      const cause = getOwnPropertyDescriptor(value, "cause");
      if (cause !== undefined && "value" in setPrototypeOf(cause, null)) hidden(made, "cause", clone(cause.value, memory));
    }
  }

  function lengthened(length) {
    const made = [];
    made.length = length;
    return made;
  }

  function cloneProperties(value, made, memory) {
    const keys = ownKeys(value);
    for (let i = 0; i < keys.length; i++) {
      if (typeof keys[i] === "symbol") continue;
      const descriptor = getOwnPropertyDescriptor(value, keys[i]);
      if (descriptor === undefined || !descriptor.enumerable) continue;
      const item = clone(value[keys[i]], memory);
      defineProperty(made, keys[i], { __proto__: null, value: item, writable: true, enumerable: true, configurable: true });
    }
  }

  function cloneView(view, memory) {
    const tag = typedTag(view);
    const buffer = clone(tag === undefined ? viewBuffer(view) : typedBuffer(view), memory);
    if (tag === undefined) return new DataView(buffer, viewOffset(view), viewBytes(view));
    return construct(viewClasses[tag], [buffer, typedOffset(view), typedLength(view)]);
  }

  function cloneError(error) {
    const name = error.name;
    const Class = (typeof name === "string" && errors[name]) || Error;
    const made = construct(Class, []);
    const message = getOwnPropertyDescriptor(error, "message");
    if (message !== undefined && "value" in setPrototypeOf(message, null)) hidden(made, "message", `${message.value}`);
    const { stack } = error;
    if (typeof stack === "string") hidden(made, "stack", stack);
    return made;
  }

  return { __proto__: null, structuredClone };
});
lazyGlobals(loadClone, "structuredClone");
