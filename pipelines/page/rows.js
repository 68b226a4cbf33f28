// The rows that the page holds, in words: unpacked, formatted, as a table and as a CSV.
// Belongs here: showing given rows as text. Does not belong here: which rows (`page.js`, which follows in the same
// script), a number that SQL did not give, or markup made of data.
const read = (id) => JSON.parse(document.getElementById(id).textContent);
const byId = (id) => document.getElementById(id);
const [codes, headings] = ["codes", "headings"].map((key) => new Map(Object.entries(read("words")[key])));
const tables = unpacked(read("data"));
const names = {
  chip: named("chip", "chip_id", "chip_name"),
  model: named("model", "model_id", "model_name"),
  workload: named("workload", "workload_id", "workload_name"),
};
const series = new Map(tables.price_series.map((row) => [row.price_series_id, row]));

function unpacked({ strings, tables: packed }) {
  const found = {};
  for (const [name, columns] of Object.entries(packed)) {
    const entries = Object.entries(columns);
    const count = entries.length ? entries[0][1][1].length : 0;
    found[name] = Array.from({ length: count }, (_, at) => {
      const row = {};
      for (const [column, [kind, values]] of entries)
        row[column] = kind === "text" && values[at] !== null ? strings[values[at]] : values[at];
      return row;
    });
  }
  return found;
}

function named(table, key, name) {
  const found = new Map(tables[table].map((row) => [row[key], row[name] ?? row[key]]));
  return (id) => found.get(id) ?? id;
}

// Words and numbers

const word = (code) => codes.get(code) ?? String(code).replaceAll("_", " ");
// Three digits, and never less than a cent.
const dollars = new Intl.NumberFormat("en", {
  minimumFractionDigits: 2, maximumFractionDigits: 2, minimumSignificantDigits: 3, maximumSignificantDigits: 3,
  roundingPriority: "morePrecision",
});
const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const day = (value) => value ?? "day not stated";
const typeKey = (row) => (row.commitment_months ? `${row.price_type}:${row.commitment_months}` : row.price_type);
const typeName = (row) =>
  row.price_type === "reserved" && row.commitment_months ? `rented for ${row.commitment_months} months`
    : { on_demand: "rented on demand", owning_cost: "owned" }[row.price_type] ?? word(row.price_type);
const seriesName = (id) => series.get(id)?.title ?? id;
const speedName = (speed) => (speed === "max_throughput" ? word(speed) : `${speed} tok/s per user`);

function shown(column, value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") {
    if (/(^|_)usd(_|$)/.test(column)) return (value < 0 ? "−$" : "$") + dollars.format(Math.abs(value));
    return digits.format(value);
  }
  if (/reason|cause|position|tier|traffic|price_type|speed$|evidence|metric|status/.test(column)) return word(value);
  return String(value);
}

const element = (tag, text, className) => {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
};

// Tables and their CSV: exactly the rows that are shown

function asTable(rows, columns, mark = () => false) {
  const table = element("table");
  const head = table.createTHead().insertRow();
  for (const column of columns) {
    const cell = element("th", headings.get(column) ?? column.replaceAll("_", " "));
    cell.scope = "col";
    if (rows.some((row) => typeof row[column] === "number")) cell.className = "number";
    head.append(cell);
  }
  const body = table.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    if (mark(row)) line.className = "first";
    for (const column of columns) {
      const text = shown(column, row[column]);
      line.append(element("td", text, typeof row[column] === "number" ? "number" : text.length > 26 ? "long" : ""));
    }
  }
  return table;
}

function asCsv(rows) {
  if (!rows.length) return "";
  const columns = Object.keys(rows[0]);
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    // A spreadsheet takes a text that starts like a formula for one.
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))]
    .map((line) => line.map(cell).join(","))
    .join("\r\n");
}

const files = new Map();
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a.csv");
  if (!link) return;
  link.href = URL.createObjectURL(new Blob([asCsv(files.get(link) ?? [])], { type: "text/csv" }));
});
