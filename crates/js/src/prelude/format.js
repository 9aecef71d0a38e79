// Values as a person reads them, for the console. Bounded in depth, width and length; getters are shown and
// never called; an object that cannot be read says so instead of failing the tool.

const loadFormat = once(function () {
  const { kindOf } = loadKinds();
  const MAX_DEPTH = 4;
  const MAX_ITEMS = 100;
  const MAX_TEXT = 10_000;
  const LINE = 76;
  const SHORT = 12;

  function inspect(value, depth = MAX_DEPTH) {
    const state = { __proto__: null, depth, parents: list(), left: MAX_TEXT };
    return bounded(show(value, state, 0));
  }

  function bounded(text) {
    return text.length > MAX_TEXT ? `${slice(text, 0, MAX_TEXT)}… (${text.length - MAX_TEXT} more characters)` : text;
  }

  function show(value, state, level) {
    if (typeof value === "string") return quoted(value);
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value === "symbol") return symbolToString(value);
    if (value === 0 && 1 / value < 0) return "-0";
    if (!isObject(value)) return `${value}`;
    try {
      return showObject(value, state, level);
    } catch (error) {
      return "[unreadable]";
    }
  }

  function quoted(text) {
    return stringify(text.length > MAX_TEXT ? `${slice(text, 0, MAX_TEXT)}…` : text);
  }

  function showObject(value, state, level) {
    for (let i = 0; i < state.parents.length; i++) if (state.parents[i] === value) return "[Circular]";
    if (typeof value === "function") return functionLabel(value);
    const kind = kindOf(value);
    const whole = showWhole(value, kind);
    if (whole !== undefined) return whole;
    const label = constructorName(value);
    if (level > state.depth || state.left <= 0) return `[${label ?? "Object"}]`;
    push(state.parents, value);
    const inner = (item) => {
      const text = show(item, state, level + 1);
      state.left -= text.length;
      return text;
    };
    const shown = showParts(value, kind, label, inner, level);
    state.parents.length -= 1;
    return shown;
  }

  // Kinds that print in one piece.
  function showWhole(value, kind) {
    if (kind === "date") return dateValue(value) === dateValue(value) ? dateText(value) : "Invalid Date";
    if (kind === "regexp") return `/${regexSource(value)}/${regexFlags(value)}`;
    if (kind === "error" || kind === "exception") return errorText(value);
    if (kind === "boolean") return `[Boolean: ${booleanValue(value)}]`;
    if (kind === "number") return `[Number: ${numberValue(value)}]`;
    if (kind === "string") return `[String: ${quoted(stringValue(value))}]`;
    if (kind === "bigint") return `[BigInt: ${bigintValue(value)}n]`;
    if (kind === "buffer") return `ArrayBuffer { byteLength: ${bufferBytes(value)} }`;
    return undefined;
  }

  function showParts(value, kind, label, inner, level) {
    const items = list();
    if (kind === "array") {
      listItems(items, value.length, (i) => elementText(value, i, inner));
      return wrap(label === "Array" ? "" : `${label}(${value.length}) `, "[", items, "]", level);
    }
    if (kind === "view" && typedTag(value) !== undefined) {
      listItems(items, typedLength(value), (i) => inner(value[i]));
      return wrap(`${typedTag(value)}(${typedLength(value)}) `, "[", items, "]", level);
    }
    if (kind === "map") {
      mapForEach(value, (item, key) => items.length < MAX_ITEMS && push(items, `${inner(key)} => ${inner(item)}`));
      more(items, mapSize(value));
      return wrap(`Map(${mapSize(value)}) `, "{", items, "}", level);
    }
    if (kind === "set") {
      setForEach(value, (item) => items.length < MAX_ITEMS && push(items, inner(item)));
      more(items, setSize(value));
      return wrap(`Set(${setSize(value)}) `, "{", items, "}", level);
    }
    if (kind === "platform") return showPlatform(value, inner, level);
    properties(items, value, inner);
    const prefix = label === "Object" ? "" : `${label ?? "[Object: null prototype]"} `;
    return wrap(prefix, "{", items, "}", level);
  }

  function showPlatform(value, inner, level) {
    let entry;
    for (let at = getPrototypeOf(value); entry === undefined; at = getPrototypeOf(at)) entry = mapGet(platform, at);
    const items = list();
    if (entry.describe !== undefined) properties(items, entry.describe(value), inner);
    return wrap(`${entry.tag} `, "{", items, "}", level);
  }

  function listItems(items, length, at) {
    for (let i = 0; i < length && i < MAX_ITEMS; i++) push(items, at(i));
    more(items, length);
  }

  function more(items, length) {
    if (length > MAX_ITEMS) push(items, `… ${length - MAX_ITEMS} more`);
  }

  function elementText(array, index, inner) {
    const descriptor = getOwnPropertyDescriptor(array, index);
    return descriptor === undefined ? "<empty>" : slotText(descriptor, inner);
  }

  function properties(items, value, inner) {
    const keys = ownKeys(value);
    let total = 0;
    for (let i = 0; i < keys.length; i++) {
      const descriptor = getOwnPropertyDescriptor(value, keys[i]);
      if (descriptor === undefined || !descriptor.enumerable) continue;
      total += 1;
      if (total <= MAX_ITEMS) push(items, `${keyText(keys[i])}: ${slotText(descriptor, inner)}`);
    }
    more(items, total);
  }

  function slotText(descriptor, inner) {
    setPrototypeOf(descriptor, null);
    if (descriptor.get !== undefined) return descriptor.set === undefined ? "[Getter]" : "[Getter/Setter]";
    return descriptor.set === undefined ? inner(descriptor.value) : "[Setter]";
  }

  function keyText(key) {
    if (typeof key === "symbol") return `[${symbolToString(key)}]`;
    return regexExec(/^[A-Za-z_$][\w$]*$/, key) !== null ? key : quoted(key);
  }

  function wrap(prefix, open, items, close, level) {
    if (items.length === 0) return `${prefix}${open}${close}`;
    let line = items[0];
    for (let i = 1; i < items.length; i++) line += `, ${items[i]}`;
    if (line.length + level * 2 <= LINE && indexOf(line, "\n") < 0) return `${prefix}${open} ${line} ${close}`;
    return `${prefix}${open}\n${lines(items, repeat("  ", level + 1))}\n${repeat("  ", level)}${close}`;
  }

  // One item a line; short ones share lines, so that a list of numbers stays readable.
  function lines(items, indent) {
    let text = indent;
    let column = indent.length;
    for (let i = 0; i < items.length; i++) {
      const item = i + 1 < items.length ? `${items[i]},` : items[i];
      const shares = i > 0 && items[i].length <= SHORT && items[i - 1].length <= SHORT && column + item.length < LINE;
      if (i > 0) text += shares ? " " : `\n${indent}`;
      column = shares ? column + item.length + 1 : indent.length + item.length;
      text += item;
    }
    return text;
  }

  function dataValue(target, key) {
    const descriptor = getOwnPropertyDescriptor(target, key);
    return descriptor === undefined ? undefined : setPrototypeOf(descriptor, null).value;
  }

  function constructorName(value) {
    for (let at = value; at !== null; at = getPrototypeOf(at)) {
      const made = dataValue(at, "constructor");
      if (typeof made !== "function") continue;
      const name = dataValue(made, "name");
      if (typeof name === "string" && name !== "") return name;
    }
    return undefined;
  }

  function functionLabel(value) {
    const name = dataValue(value, "name");
    const sort = slice(functionToString(value), 0, 6) === "class " ? "class" : "Function";
    return typeof name === "string" && name !== "" ? `[${sort}: ${name}]` : `[${sort} (anonymous)]`;
  }

  // The head line as Error.prototype.toString has it, then the stack's frames.
  function errorText(error) {
    const head = errorHead(error);
    const stack = error.stack;
    if (typeof stack !== "string" || stack === "") return head;
    const frames = indexOf(stack, head) === 0 ? slice(stack, head.length) : `\n${stack}`;
    return head + trimEnd(frames);
  }

  function errorHead(error) {
    const name = error.name === undefined ? "Error" : `${error.name}`;
    const message = error.message === undefined ? "" : `${error.message}`;
    if (name === "" || message === "") return name + message;
    return `${name}: ${message}`;
  }

  function trimEnd(text) {
    let end = text.length;
    while (end > 0 && text[end - 1] === "\n") end -= 1;
    return slice(text, 0, end);
  }

  // Console §2.2.1 "Formatter", and %j for JSON as Node has it.
  function format(args) {
    const cursor = { __proto__: null, next: 0 };
    let text = "";
    if (typeof args[0] === "string") {
      cursor.next = 1;
      text = args.length > 1 ? substituted(args[0], args, cursor) : args[0];
    }
    for (let i = cursor.next; i < args.length; i++) {
      if (i > 0) text += " ";
      text += typeof args[i] === "string" ? args[i] : inspect(args[i]);
    }
    return bounded(text);
  }

  function substituted(template, args, cursor) {
    let text = "";
    let from = 0;
    for (let at = indexOf(template, "%"); at >= 0; at = indexOf(template, "%", from)) {
      const letter = template[at + 1];
      text += slice(template, from, at);
      from = at + 2;
      if (letter === "%") text += "%";
      else if (letter === undefined || indexOf("sdifjoOc", letter) < 0 || cursor.next >= args.length) {
        text += "%";
        from = at + 1;
      } else {
        text += directive(letter, args[cursor.next]);
        cursor.next += 1;
      }
    }
    return text + slice(template, from);
  }

  function directive(letter, value) {
    if (letter === "c") return "";
    if (letter === "s") return typeof value === "string" ? value : typeof value === "bigint" || isObject(value) ? inspect(value, 1) : String(value);
    if (letter === "j") return jsonText(value);
    if (letter === "o" || letter === "O") return inspect(value);
    if (typeof value === "symbol" || isObject(value)) return "NaN";
    if (typeof value === "bigint") return `${value}n`;
    return String(letter === "f" ? parseFloat(value) : letter === "i" ? parseInt(value, 10) : Number(value));
  }

  function jsonText(value) {
    try {
      return String(stringify(value));
    } catch {
      return "[unreadable]";
    }
  }

  return { __proto__: null, inspect, format };
});
