// The alternatives to Pinza, one request a line on stdin, one answer a line on stdout.
//
//   node node.js vm      a new context for every call; times a block of calls by itself
//   node node.js child   no isolation: every call runs in this process, one call a line
//
// The first line brings the scripts: {"scripts": {name: source}, "lodash": file or null}.

const fs = require("node:fs");
const vm = require("node:vm");

const modes = { vm: newContexts, child: noIsolation };
let serve = null;
let unread = "";

process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  unread += text;
  for (let end = unread.indexOf("\n"); end >= 0; end = unread.indexOf("\n")) {
    const message = JSON.parse(unread.slice(0, end));
    unread = unread.slice(end + 1);
    if (serve === null) serve = modes[process.argv[2]](message);
    else process.stdout.write(JSON.stringify(serve(message)) + "\n");
  }
});

/** Scripts are compiled once, and evaluated in each new context, as is the library that they ask for. */
function newContexts({ scripts, lodash }) {
  const compiled = {};
  for (const name in scripts) compiled[name] = new vm.Script(`${scripts[name]}\n;execute`, { filename: `${name}.js` });
  const library = lodash && new vm.Script(asLibrary(lodash), { filename: lodash });

  function call(script, params) {
    const context = vm.createContext({});
    context.lib = () => exportsOf(library.runInContext(context));
    return asText(compiled[script].runInContext(context)(JSON.parse(params)));
  }

  return ({ script, params, calls, milliseconds }) => {
    const times = [];
    const end = performance.now() + milliseconds;
    let result;
    while (times.length < calls && performance.now() < end) {
      const begun = process.hrtime.bigint();
      result = call(script, params);
      times.push(Number(process.hrtime.bigint() - begun));
    }
    return { times, result };
  };
}

/** Scripts and library are evaluated once; what a call leaves behind, the next one sees. */
function noIsolation({ scripts, lodash }) {
  const library = lodash && exportsOf(vm.runInThisContext(asLibrary(lodash), { filename: lodash }));
  const functions = {};
  for (const name in scripts) {
    const code = `(function (lib) { ${scripts[name]}\nreturn execute; })`;
    functions[name] = vm.runInThisContext(code, { filename: `${name}.js` })(() => library);
  }
  return ({ id, script, params }) => ({ id, result: asText(functions[script](params)) });
}

function asLibrary(file) {
  return `(function (module, exports) { ${fs.readFileSync(file, "utf8")}\n})`;
}

function exportsOf(evaluate) {
  const module = { exports: {} };
  evaluate(module, module.exports);
  return module.exports;
}

/** As Pinza makes text of a result. */
function asText(result) {
  if (result === undefined || result === null) return "";
  return typeof result === "string" ? result : JSON.stringify(result);
}
