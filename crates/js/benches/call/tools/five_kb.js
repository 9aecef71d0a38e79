// A report in Markdown about a web server's access log: what was asked for, by whom, how it was
// answered and what went wrong. About 5 KB, as tools are that somebody wrote for a real chore.

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const CLASSES = {
  1: "informational",
  2: "success",
  3: "redirection",
  4: "client error",
  5: "server error",
};

const UNITS = ["B", "KB", "MB", "GB"];

// host ident user [time] "request" status bytes "referrer" "agent" seconds
const LINE = /^(\S+) \S+ (\S+) \[([^\]]+)\] "(\S+) (\S+) [^"]*" (\d{3}) (\d+|-) "[^"]*" "([^"]*)" ([\d.]+)$/;

// 15/Nov/2026:10:02:11 +0000
const TIME = /^(\d+)\/(\w+)\/(\d+):(\d+):(\d+):(\d+) ([+-])(\d\d)(\d\d)$/;

/** Milliseconds since 1970, or null for what is no time. */
function parseTime(text) {
  const found = TIME.exec(text);
  if (found === null) return null;
  const [, day, name, year, hour, minute, second, sign, hours, minutes] = found;
  const month = MONTHS.indexOf(name);
  if (month < 0) return null;
  const utc = Date.UTC(+year, month, +day, +hour, +minute, +second);
  const offset = (+hours * 60 + +minutes) * 60000;
  return sign === "+" ? utc - offset : utc + offset;
}

function parseLine(line) {
  const found = LINE.exec(line);
  if (found === null) return null;
  const [, host, user, time, method, target, status, bytes, agent, seconds] = found;
  const at = parseTime(time);
  if (at === null) return null;
  const question = target.indexOf("?");
  return {
    host,
    user: user === "-" ? null : user,
    at,
    method,
    path: question < 0 ? target : target.slice(0, question),
    status: +status,
    bytes: bytes === "-" ? 0 : +bytes,
    agent: family(agent),
    seconds: +seconds,
  };
}

/** The browser or program behind a user agent, as far as it says so. */
function family(agent) {
  if (/bot|crawl|spider/i.test(agent)) return "robot";
  if (agent.includes("Firefox/")) return "Firefox";
  if (agent.includes("Chrome/")) return "Chrome";
  if (agent.includes("Safari/")) return "Safari";
  if (agent.startsWith("curl/")) return "curl";
  return agent === "-" || agent === "" ? "unknown" : "other";
}

/** Numbers in a path are ids: `/orders/17` and `/orders/23` are the same page. */
function page(path) {
  const parts = path.split("/");
  for (let i = 0; i < parts.length; i++) {
    if (parts[i] !== "" && !Number.isNaN(Number(parts[i]))) parts[i] = ":id";
  }
  return parts.join("/");
}

class Counter {
  constructor() {
    this.counts = new Map();
  }

  add(key, amount = 1) {
    this.counts.set(key, (this.counts.get(key) ?? 0) + amount);
  }

  /** The largest first; what is equal in the order of the alphabet. */
  top(limit) {
    const rows = [...this.counts];
    rows.sort(([nameA, a], [nameB, b]) => b - a || (nameA < nameB ? -1 : 1));
    return rows.slice(0, limit);
  }
}

function percentile(sorted, share) {
  if (sorted.length === 0) return 0;
  const rank = Math.ceil(sorted.length * share) - 1;
  return sorted[Math.max(0, Math.min(sorted.length - 1, rank))];
}

function size(bytes) {
  let unit = 0;
  while (bytes >= 1024 && unit < UNITS.length - 1) {
    bytes /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? bytes : bytes.toFixed(1)} ${UNITS[unit]}`;
}

function table(head, rows) {
  const escaped = (cell) => String(cell).replaceAll("|", "\\|");
  const lines = [`| ${head.join(" | ")} |`, `|${head.map(() => "---").join("|")}|`];
  for (const row of rows) lines.push(`| ${row.map(escaped).join(" | ")} |`);
  return lines.join("\n");
}

function execute({ log, top = 3 }) {
  const pages = new Counter();
  const hosts = new Counter();
  const agents = new Counter();
  const classes = new Counter();
  const failures = [];
  const times = [];
  let [count, skipped, bytes, first, last] = [0, 0, 0, Infinity, -Infinity];

  for (const line of log.split("\n")) {
    if (line.trim() === "") continue;
    const entry = parseLine(line);
    if (entry === null) {
      skipped += 1;
      continue;
    }
    count += 1;
    bytes += entry.bytes;
    first = Math.min(first, entry.at);
    last = Math.max(last, entry.at);
    times.push(entry.seconds);
    pages.add(`${entry.method} ${page(entry.path)}`);
    hosts.add(entry.host, entry.bytes);
    agents.add(entry.agent);
    classes.add(CLASSES[Math.floor(entry.status / 100)] ?? "unknown");
    if (entry.status >= 500) failures.push(entry);
  }
  if (count === 0) return "No line of the log could be read.";

  times.sort((a, b) => a - b);
  const period = `${new Date(first).toISOString()} to ${new Date(last).toISOString()}`;
  const report = [
    `# ${count} requests, ${size(bytes)}`,
    `${period}; ${skipped} lines were not understood.`,
    `Half were answered within ${percentile(times, 0.5)} s, 95 % within ${percentile(times, 0.95)} s.`,
    table(["page", "requests"], pages.top(top)),
    table(["host", "sent"], hosts.top(top).map(([host, sent]) => [host, size(sent)])),
    table(["answer", "requests"], classes.top(top)),
    table(["agent", "requests"], agents.top(top)),
  ];
  if (failures.length > 0) {
    report.push(failures.map(({ method, path, status }) => `- ${status} ${method} ${path}`).join("\n"));
  }
  return report.join("\n\n");
}
