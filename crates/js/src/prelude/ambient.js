// What is different each time, the clock and chance, comes from the host's side of the engine: a state of the
// engine that is used for many calls has neither in it, and the host sees that a script asked.

// The engine's own Date, whose "now" is the host's (ECMA-262 §21.4.2.1 and §21.4.3.1).
function hostedDate() {
  const prototype = Date.prototype;
  const toText = uncurry(prototype.toString);
  // While a script loads, the host wants to know who asks.
  const now = () => floor(native.clock() ?? native.clock(new Error().stack));

  // Between the time and AM or PM stands a narrow space in what Intl writes, which the engine does not read.
  function readable(text) {
    const at = typeof text === "string" ? indexOf(text, "\u202f") : -1;
    return at < 0 ? text : readable(`${slice(text, 0, at)} ${slice(text, at + 1)}`);
  }

  function HostedDate(...parts) {
    if (new.target === undefined) return toText(new Date(now()));
    if (parts.length === 1) parts[0] = readable(parts[0]);
    return construct(Date, parts.length === 0 ? setPrototypeOf([now()], null) : parts, new.target);
  }
  const fixed = (target, key, value) => defineProperty(target, key, { __proto__: null, value, writable: false, enumerable: false, configurable: true });
  const named = (target, name) => fixed(target, "name", name);
  named(HostedDate, "Date");
  fixed(HostedDate, "length", 7);
  defineProperty(HostedDate, "prototype", { __proto__: null, value: prototype, writable: false, enumerable: false, configurable: false });
  hidden(prototype, "constructor", HostedDate);
  hidden(HostedDate, "now", named({ now() { return now(); } }.now, "now"));
  const engineParse = Date.parse;
  hidden(HostedDate, "parse", named({ parse(text) { return engineParse(readable(`${text}`)); } }.parse, "parse"));
  hidden(HostedDate, "UTC", Date.UTC);
  return HostedDate;
}
hidden(global, "Date", hostedDate());
hidden(Math, "random", { random() { return native.chance(); } }.random);
