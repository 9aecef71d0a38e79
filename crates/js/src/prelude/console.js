// console: lines of the call's log. Console Standard, with the levels that the log knows.

const loadConsole = once(function () {
  const { inspect, format } = loadFormat();
  const counts = new Map();
  const timers = new Map();
  let indent = "";

  function print(level, text) {
    native.log(level, toWellFormed(indent === "" ? text : indented(text)));
  }

  function indented(text) {
    let lines = indent;
    for (let i = 0; i < text.length; i++) lines += text[i] === "\n" ? `\n${indent}` : text[i];
    return lines;
  }

  function elapsed(label) {
    const since = mapGet(timers, label);
    if (since === undefined) print("warn", `Timer '${label}' does not exist`);
    return since === undefined ? undefined : `${label}: ${floor((native.now() - since) * 1000) / 1000} ms`;
  }

  function group(...args) {
    if (args.length > 0) print("log", format(args));
    indent += "  ";
  }

  const methods = {
    debug: (...args) => print("debug", format(args)),
    info: (...args) => print("info", format(args)),
    log: (...args) => print("log", format(args)),
    warn: (...args) => print("warn", format(args)),
    error: (...args) => print("error", format(args)),
    assert(condition = false, ...args) {
      if (condition) return;
      const text = format(args);
      print("error", text === "" ? "Assertion failed" : `Assertion failed: ${text}`);
    },
    dir: (value) => print("log", inspect(value)),
    dirxml: (...args) => print("log", format(args)),
    table: (data, columns) => print("log", loadTable().table(data, columns) ?? format([data])),
    trace(...args) {
      const text = format(args);
      print("log", `Trace${text === "" ? "" : `: ${text}`}\n${new Error().stack}`);
    },
    group,
    groupCollapsed: group,
    groupEnd() {
      indent = slice(indent, 2);
    },
    count(label = "default") {
      const count = (mapGet(counts, `${label}`) ?? 0) + 1;
      mapSet(counts, `${label}`, count);
      print("info", `${label}: ${count}`);
    },
    countReset(label = "default") {
      if (!mapDelete(counts, `${label}`)) print("warn", `Count for '${label}' does not exist`);
    },
    time(label = "default") {
      if (mapHas(timers, `${label}`)) print("warn", `Timer '${label}' already exists`);
      else mapSet(timers, `${label}`, native.now());
    },
    timeLog(label = "default", ...args) {
      const text = elapsed(`${label}`);
      if (text !== undefined) print("log", args.length === 0 ? text : `${text} ${format(args)}`);
    },
    timeEnd(label = "default") {
      const text = elapsed(`${label}`);
      mapDelete(timers, `${label}`);
      if (text !== undefined) print("info", text);
    },
    clear() {
      indent = "";
    },
  };

  defineProperty(methods, toStringTag, { __proto__: null, value: "console", configurable: true });
  return { __proto__: null, console: setPrototypeOf(methods, {}) };
});
lazyGlobals(loadConsole, "console");

const loadTable = once(function () {
  const { inspect } = loadFormat();

  // Rows of plain cells, a primitive row under "Values"; undefined for what is no table or cannot be read.
  function table(data, wanted) {
    try {
      return isObject(data) ? rowsOf(data, wanted) : undefined;
    } catch {
      return undefined;
    }
  }

  function rowsOf(data, wanted) {
    const columns = list();
    const rows = list();
    const keys = ownKeys(data);
    for (let i = 0; i < keys.length && rows.length < 100; i++) {
      const slot = getOwnPropertyDescriptor(data, keys[i]);
      if (slot === undefined || !slot.enumerable || typeof keys[i] === "symbol") continue;
      const cells = new Map();
      mapSet(cells, "(index)", keys[i]);
      fill(cells, columns, data[keys[i]], wanted);
      push(rows, cells);
    }
    return draw(columns, rows);
  }

  function fill(cells, columns, row, wanted) {
    if (!isObject(row)) return put(cells, columns, "Values", row);
    const keys = isArray(wanted) ? wanted : ownKeys(row);
    for (let i = 0; i < keys.length && i < 100; i++) if (typeof keys[i] === "string") put(cells, columns, keys[i], row[keys[i]]);
  }

  function put(cells, columns, name, value) {
    mapSet(cells, name, inspect(value, 0));
    for (let i = 0; i < columns.length; i++) if (columns[i] === name) return;
    push(columns, name);
  }

  function draw(columns, rows) {
    const names = list();
    push(names, "(index)");
    for (let i = 0; i < columns.length; i++) push(names, columns[i]);
    const lines = list();
    for (let r = -1; r < rows.length; r++) push(lines, "");
    for (let c = 0; c < names.length; c++) {
      let width = names[c].length;
      for (let r = 0; r < rows.length; r++) width = max(width, (mapGet(rows[r], names[c]) ?? "").length);
      for (let r = -1; r < rows.length; r++) {
        const cell = r < 0 ? names[c] : (mapGet(rows[r], names[c]) ?? "");
        lines[r + 1] += `| ${cell}${repeat(" ", width - cell.length)} `;
      }
    }
    let text = `${lines[0]}|`;
    for (let i = 1; i < lines.length; i++) text += `\n${lines[i]}|`;
    return text;
  }

  return { __proto__: null, table };
});
