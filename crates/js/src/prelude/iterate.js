// Interfaces that are lists of pairs (Headers, URLSearchParams, FormData): Web IDL's `iterable<K, V>`.

// Adds entries, keys, values, forEach and @@iterator. `pairsOf(self)` is the live list, and checks the brand.
function iterablePairs(Class, tag, pairsOf) {
  class PairIterator {
    #owner;
    #pick;
    #index = 0;
    constructor(owner, pick) {
      this.#owner = owner;
      this.#pick = pick;
    }
    next() {
      const pairs = pairsOf(this.#owner);
      if (this.#index >= pairs.length) return { value: undefined, done: true };
      return { value: this.#pick(pairs[this.#index++]), done: false };
    }
  }
  const prototype = PairIterator.prototype;
  delete prototype.constructor;
  setPrototypeOf(prototype, iteratorPrototype);
  defineProperty(prototype, "next", { __proto__: null, enumerable: true });
  defineProperty(prototype, toStringTag, { __proto__: null, value: `${tag} Iterator`, configurable: true });

  const checked = (self, pick) => {
    pairsOf(self);
    return new PairIterator(self, pick);
  };
  const methods = {
    __proto__: null,
    entries() {
      return checked(this, (pair) => [pair[0], pair[1]]);
    },
    keys() {
      return checked(this, (pair) => pair[0]);
    },
    values() {
      return checked(this, (pair) => pair[1]);
    },
    forEach(callback, thisArg = undefined) {
      pairsOf(this);
      if (typeof callback !== "function") throw new TypeError(`${tag}.forEach: the callback must be a function`);
      for (let i = 0; i < pairsOf(this).length; i++) {
        const pair = pairsOf(this)[i];
        apply(callback, thisArg, [pair[1], pair[0], this]);
      }
    },
  };
  const names = ownKeys(methods);
  for (let i = 0; i < names.length; i++) hidden(Class.prototype, names[i], methods[names[i]]);
  hidden(Class.prototype, symbolIterator, methods.entries);
}

// Reads Web IDL's `(sequence<sequence<T>> or record<T, T>)` into a list of pairs.
function readPairs(init, convert, what) {
  const pairs = list();
  if (init[symbolIterator] === undefined || init[symbolIterator] === null) {
    const keys = ownKeys(init);
    for (let i = 0; i < keys.length; i++) {
      const descriptor = getOwnPropertyDescriptor(init, keys[i]);
      if (descriptor !== undefined && descriptor.enumerable) push(pairs, pair(convert(keys[i]), convert(init[keys[i]])));
    }
    return pairs;
  }
  for (const entry of init) {
    if (!isObject(entry)) throw new TypeError(`${what}: each entry must be a pair of name and value`);
    const items = list();
    for (const item of entry) push(items, convert(item));
    if (items.length !== 2) throw new TypeError(`${what}: each entry must be a pair of name and value`);
    push(pairs, items);
  }
  return pairs;
}
