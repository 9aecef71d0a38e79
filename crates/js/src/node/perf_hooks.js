// perf_hooks: the call's clock, with marks and measures.
"use strict";

const { coded, stubs } = require("internal/errors");

const clock = internal.global.performance;

class PerformanceEntry {
  constructor(name, entryType, startTime, duration, detail = null) {
    Object.assign(this, { name, entryType, startTime, duration, detail });
  }
  toJSON() { return { ...this }; }
}
class PerformanceMark extends PerformanceEntry {
  constructor(name, options = {}) { super(`${name}`, "mark", options.startTime ?? clock.now(), 0, options.detail ?? null); }
}
class PerformanceMeasure extends PerformanceEntry {}

let entries = [];

function timeOf(mark) {
  if (typeof mark === "number") return mark;
  const found = entries.findLast((entry) => entry.entryType === "mark" && entry.name === mark);
  if (found === undefined) throw coded(internal.global.DOMException ?? Error, "ERR_INVALID_PERFORMANCE_MARK", `The "${mark}" performance mark has not been set`);
  return found.startTime;
}

const performance = {
  now: () => clock.now(),
  get timeOrigin() { return clock.timeOrigin; },
  toJSON: () => ({ timeOrigin: clock.timeOrigin }),
  mark(name, options) {
    const made = new PerformanceMark(name, options);
    entries.push(made);
    return made;
  },
  measure(name, start, end) {
    const options = start !== null && typeof start === "object" ? start : { start, end };
    const until = options.end === undefined ? (options.duration !== undefined ? timeOf(options.start ?? 0) + options.duration : clock.now()) : timeOf(options.end);
    const from = options.start === undefined ? (options.duration !== undefined ? until - options.duration : 0) : timeOf(options.start);
    const made = new PerformanceMeasure(name, "measure", from, until - from, options.detail ?? null);
    entries.push(made);
    return made;
  },
  clearMarks: (name) => void (entries = entries.filter((entry) => entry.entryType !== "mark" || (name !== undefined && entry.name !== name))),
  clearMeasures: (name) => void (entries = entries.filter((entry) => entry.entryType !== "measure" || (name !== undefined && entry.name !== name))),
  getEntries: () => [...entries],
  getEntriesByName: (name, type) => entries.filter((entry) => entry.name === name && (type === undefined || entry.entryType === type)),
  getEntriesByType: (type) => entries.filter((entry) => entry.entryType === type),
  timerify: (run) => run,
  eventLoopUtilization: () => ({ idle: 0, active: 0, utilization: 0 }),
  clearResourceTimings: () => {},
  setResourceTimingBufferSize: () => {},
  addEventListener: () => {},
  removeEventListener: () => {},
  nodeTiming: { name: "node", entryType: "node", startTime: 0 },
};

// Nothing is observed: entries are there to be asked for.
class PerformanceObserver {
  static supportedEntryTypes = ["mark", "measure"];
  observe() {}
  disconnect() {}
  takeRecords() { return []; }
}

module.exports = { performance, PerformanceEntry, PerformanceMark, PerformanceMeasure, PerformanceObserver, Performance: performance.constructor, constants: {} };
stubs("perf_hooks", ["PerformanceObserverEntryList", "PerformanceResourceTiming", "monitorEventLoopDelay", "createHistogram"], module.exports);
