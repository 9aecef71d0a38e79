// How inspect puts the parts of an object on lines.
"use strict";

const { stripColors } = require("internal/inspect_text");

// On one line where it is short and shallow, else one line each.
function arrange(job, items, base, shape, level, value) {
  const { open, close } = shape;
  const lead = base === "" ? "" : `${base} `;
  const gap = `\n${" ".repeat(job.indent)}`;
  if (job.compact === true) {
    if (fits(job, items, 0, base)) return `${open}${base === "" ? "" : ` ${base}`} ${items.join(", ")} ${close}`;
    return `${lead}${open}${base === "" && open.length === 1 ? " " : `${gap}  `}${items.join(`,${gap}  `)} ${close}`;
  }
  if (typeof job.compact === "number" && job.compact >= 1) {
    const count = items.length;
    if (shape.isList && count > 6) items = inColumns(job, items, value);
    if (job.deepest - level < job.compact && count === items.length) {
      const start = items.length + job.indent + open.length + base.length + 10;
      if (fits(job, items, start, base)) {
        const line = items.join(", ");
        if (!line.includes("\n")) return `${lead}${open} ${line} ${close}`;
      }
    }
  }
  return `${lead}${open}${gap}  ${items.join(`,${gap}  `)}${gap}${close}`;
}

function fits(job, items, start, base) {
  let total = items.length + start;
  if (total + items.length > job.breakLength) return false;
  for (const item of items) {
    total += job.colors ? stripColors(item).length : item.length;
    if (total > job.breakLength) return false;
  }
  return base === "" || !base.includes("\n");
}

// Long lists of short items stand in columns, about two and a half times as wide as high.
function inColumns(job, items, value) {
  const hasMore = job.maxArrayLength < items.length;
  const count = hasMore ? items.length - 1 : items.length;
  const widths = items.slice(0, count).map((item) => (job.colors ? stripColors(item).length : item.length));
  const widest = Math.max(...widths) + 2;
  const total = widths.reduce((sum, width) => sum + width + 2, 0);
  if (widest * 3 + job.indent >= job.breakLength || (total / widest <= 5 && widest > 8)) return items;
  const typical = Math.max(widest - 3 - Math.sqrt(widest - total / items.length), 1);
  const columns = Math.min(Math.round(Math.sqrt(2.5 * typical * count) / typical), Math.floor((job.breakLength - job.indent) / widest), job.compact * 4, 15);
  if (columns <= 1) return items;
  const columnWidths = Array.from({ length: columns }, (_, column) => Math.max(...widths.filter((_, at) => at % columns === column)) + 2);
  const numbers = value !== undefined && items.every((_, at) => typeof value[at] === "number" || typeof value[at] === "bigint");
  const rows = [];
  for (let from = 0; from < count; from += columns) {
    const last = Math.min(from + columns, count) - 1;
    let row = "";
    for (let at = from; at <= last; at++) {
      const cell = at < last ? `${items[at]}, ` : items[at];
      const width = columnWidths[at - from] + items[at].length - widths[at] - (at < last ? 0 : 2);
      if (numbers) row += cell.padStart(width);
      else row += at < last ? cell.padEnd(width) : cell;
    }
    rows.push(row);
  }
  if (hasMore) rows.push(items[count]);
  return rows;
}

module.exports = { arrange };
