// What an object is, whatever its constructor or tag pretend: the console and structuredClone both ask.

const loadKinds = once(function () {
  const known = new Map();
  const know = (Class, kind, proves) => Class && mapSet(known, Class.prototype, { __proto__: null, kind, proves });
  know(Object, "object");
  know(Array, "array", isArray);
  know(Map, "map", proof(mapSize));
  know(Set, "set", proof(setSize));
  know(Date, "date", proof(dateValue));
  know(RegExp, "regexp", (value) => proof(regexSource)(value) && value !== RegExp.prototype);
  know(Error, "error");
  know(DOMException, "exception", proof(exceptionName));
  know(ArrayBuffer, "buffer", isBuffer);
  know(DataView, "view", isView);
  mapSet(known, typedPrototype, { __proto__: null, kind: "view", proves: isView });
  know(Boolean, "boolean", proof(booleanValue));
  know(Number, "number", proof(numberValue));
  know(String, "string", proof(stringValue));
  know(BigInt, "bigint", proof(bigintValue));
  know(Promise, "promise");
  know(WeakMap, "weak");
  know(WeakSet, "weak");
  know(WeakRef, "weak");

  function proof(read) {
    return (value) => {
      try {
        read(value);
        return true;
      } catch {
        return false;
      }
    };
  }

  // The nearest known prototype is only a hint: where a brand can be checked, it must hold.
  function kindOf(value) {
    if (isArray(value)) return "array";
    for (let prototype = getPrototypeOf(value); prototype !== null; prototype = getPrototypeOf(prototype)) {
      const hint = mapGet(known, prototype);
      if (hint !== undefined && (hint.proves === undefined || hint.proves(value))) return hint.kind;
      if (mapHas(platform, prototype)) return "platform";
    }
    return "object";
  }

  return { __proto__: null, kindOf };
});
