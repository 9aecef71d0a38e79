// Stack frames as V8 hands them out: packages look at who calls them.
"use strict";

// Runs with structured frames; answers those of the stack below it.
function framesHere(limit = 10) {
  const { prepareStackTrace, stackTraceLimit } = Error;
  try {
    Error.prepareStackTrace = (error, frames) => frames;
    Error.stackTraceLimit = limit + 2;
    const { stack } = new Error();
    return Array.isArray(stack) ? stack.slice(2) : [];
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
}

const more = {
  getThis: () => undefined,
  getTypeName: () => null,
  getFunction: () => undefined,
  getMethodName: () => null,
  getEvalOrigin: () => undefined,
  getScriptNameOrSourceURL() { return this.getFileName(); },
  getScriptHash: () => "",
  getPosition: () => 0,
  getEnclosingLineNumber: () => 0,
  getEnclosingColumnNumber: () => 0,
  getPromiseIndex: () => null,
  isToplevel: () => true,
  isEval: () => false,
  isAsync: () => false,
  isPromiseAll: () => false,
  toString() { return `${this.getFunctionName() || "<anonymous>"} (${this.getFileName()}:${this.getLineNumber()}:${this.getColumnNumber()})`; },
};

// Gives the engine's frames the methods that V8's have and they have not.
function complete() {
  const [frame] = framesHere();
  if (frame === undefined) return;
  const prototype = Object.getPrototypeOf(frame);
  for (const [name, method] of Object.entries(more)) {
    if (!Object.hasOwn(prototype, name)) Object.defineProperty(prototype, name, { value: method, writable: true, enumerable: false, configurable: true });
  }
}

function getCallSites(count = 8) {
  if (typeof count !== "number") count = 8;
  return framesHere(count + 1).slice(1, count + 1).map((frame) => ({
    functionName: frame.getFunctionName() ?? "", scriptId: "0", scriptName: frame.getFileName() ?? "", lineNumber: frame.getLineNumber() ?? 0, columnNumber: frame.getColumnNumber() ?? 0, column: frame.getColumnNumber() ?? 0,
  }));
}

module.exports = { complete, getCallSites };
