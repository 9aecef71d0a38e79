// The way into a tool's function and out of it again.

// Calls `entry` with the parsed parameters and answers the call's result as text.
async function run(entry, paramsJson) {
  return resultText(await entry(parse(paramsJson)));
}

function resultText(result) {
  if (result === undefined || result === null) return "";
  if (typeof result === "string") return toWellFormed(result);
  const text = stringify(result);
  if (text === undefined) throw new TypeError(`The tool returned a ${typeof result}, which has no JSON form; return a string, an object or an array.`);
  return text;
}

// Who loads what an ES module imports from files that are none: known once a package is loaded.
let foreignLoader;

function setForeign(load) {
  foreignLoader = load;
}

function foreign(name) {
  if (foreignLoader === undefined) throw new Error("There are no modules to import here");
  return foreignLoader(name);
}
