// The choices of the page: picks rows, writes the answer, hands rows to the charts.
// Belongs here: picking and placing. Does not belong here: a number that SQL did not give, or what a row looks like
// as text (`rows.js`, which precedes this in the same script).
const specs = read("charts");
const views = {};
const ERRORS_ONLY = 1;
const state = { ...(tables.first_choice[0] ?? {}) };

// The choices

const chosen = (row) => ["model_id", "workload_id", "speed_percentile"].every((key) => row[key] === state[key]);
const ofWorkload = (row) => row.model_id === state.model_id && row.workload_id === state.workload_id;
const onSeries = (row) => chosen(row) && row.price_series_id === state.price_series_id;
const atSpeed = (row) => onSeries(row) && row.speed === state.speed;
const workloadKey = (row) => JSON.stringify([row.workload_id, row.speed_percentile]);
const chipsWithRent = [...new Set(tables.rent.map((row) => row.chip_id))];

function options(id, entries, value) {
  const select = byId(id);
  const kept = [...select.options].map((option) => option.value).join("\n");
  if (kept !== entries.map(([key]) => key).join("\n"))
    select.replaceChildren(...entries.map(([key, text]) => Object.assign(element("option", text), { value: key })));
  select.value = value;
}

function distinct(rows, key, text) {
  return [...new Map(rows.map((row) => [key(row), text(row)])).entries()];
}

/** Puts the choices right one after the other, and returns what was asked for and is not there. */
function settled() {
  const missing = [];
  const keep = (entries, key, wanted, apply) => {
    if (entries.some(([value]) => value === wanted)) return;
    if (wanted) missing.push(`${key} “${wanted}”`);
    if (entries.length) apply(entries[0][0]);
  };
  const models = distinct(tables.answer, (row) => row.model_id, (row) => names.model(row.model_id));
  keep(models, "model", state.model_id, (value) => (state.model_id = value));
  const ofModel = tables.answer.filter((row) => row.model_id === state.model_id);
  const workloads = distinct(ofModel, workloadKey, (row) =>
    `${names.workload(row.workload_id)} · ${row.speed_percentile === "p50" ? "median speed" : `speed ${row.speed_percentile}`}`);
  keep(workloads, "workload", state.workload_id && workloadKey(state), (value) => ([state.workload_id, state.speed_percentile] = JSON.parse(value)));
  const speeds = distinct(tables.answer.filter(chosen), (row) => row.speed, (row) => speedName(row.speed));
  const order = ([one], [other]) => (Number(one) || Infinity) - (Number(other) || Infinity);
  speeds.sort(order);
  keep(speeds, "speed", state.speed, (value) => (state.speed = value));
  const known = [...series.values()];
  keep(known.map((row) => [row.price_series_id]), "price basis", state.price_series_id, (value) => (state.price_series_id = value));
  const type = series.get(state.price_series_id);
  const types = distinct(known, typeKey, typeName);
  const bases = type ? known.filter((row) => typeKey(row) === typeKey(type)).map((row) => [row.price_series_id, row.title]) : [];
  keep(chipsWithRent.map((id) => [id]), "chip", state.chip_id, (value) => (state.chip_id = value));
  options("model", models, state.model_id);
  options("workload", workloads, workloadKey(state));
  options("speed", speeds, state.speed);
  options("type", types, type ? typeKey(type) : "");
  options("series", bases, state.price_series_id);
  options("chip", chipsWithRent.map((id) => [id, names.chip(id)]), state.chip_id);
  return missing;
}

function fromHash() {
  for (const [key, value] of new URLSearchParams(location.hash.slice(1)))
    if (["model_id", "workload_id", "speed_percentile", "speed", "price_series_id", "chip_id"].includes(key)) state[key] = value;
}

function toHash() {
  const kept = new URLSearchParams();
  for (const key of ["model_id", "workload_id", "speed_percentile", "speed", "price_series_id", "chip_id"])
    if (state[key]) kept.set(key, state[key]);
  history.replaceState(null, "", `#${kept}`);
}

// The answer

function whyNone(rows) {
  if (!rows.length) return "No benchmark that this version holds fits the choice.";
  const counts = new Map();
  for (const row of rows) if (row.unranked_reason) counts.set(row.unranked_reason, (counts.get(row.unranked_reason) ?? 0) + 1);
  const told = [...counts].sort((one, other) => other[1] - one[1]).map(([code, count]) => `${count} because ${word(code)}`);
  return `None of ${rows.length} chips and precisions can be ranked here: ${told.join("; ")}.`;
}

const chipText = (row) => `${names.chip(row.chip_id)}${row.precision ? ` (${row.precision})` : ""}`;
const costText = (row) => shown("usd", row.usd_per_million_tokens);

function sureness(row) {
  if (row.uncertainty_share === null) return "how uncertain it is was not worked out for this point";
  const band = row.price_band_share === null ? ", and more by the price, which has no band" : "";
  return `uncertain by ${digits.format(row.uncertainty_share * 100)} %${band}`;
}

function sentence(rows) {
  const target = byId("sentence");
  const first = rows.find((row) => row.rank === 1);
  if (!first) {
    target.replaceChildren(element("strong", "There is no answer. "), whyNone(rows));
    return;
  }
  const basis = series.get(state.price_series_id);
  const where = state.speed === "max_throughput"
    ? `At its greatest throughput${first.interactivity_tok_s_user === null ? "" : ` (${digits.format(first.interactivity_tok_s_user)} tok/s per user)`}`
    : `At ${speedName(state.speed)}`;
  const close = rows.filter((row) => row.rank > 1 && row.distinguishable === false);
  const ties = rows.filter((row) => row.rank === 1 && row !== first);
  target.replaceChildren(
    `${where}, `, element("strong", chipText(first)), ` makes a million output tokens of ${names.model(first.model_id)} cheapest: `,
    element("strong", costText(first)), `, ${typeName(basis)} at ${shown("usd", first.usd_per_gpu_hour)} per GPU-hour. `,
    `Price: ${basis.title}, of ${day(first.priced_on)}, ${first.price_age_days} days old. `,
    `Benchmark: ${first.engine ?? "engine not stated"}, of ${day(first.measured_on)}, ${first.benchmark_age_days} days old; ${first.evidence}, `,
    `${first.position === "measured" ? "a measured point" : word(first.position)}; ${sureness(first)}. `,
    ties.length ? `Equally cheap: ${ties.map(chipText).join(", ")}. ` : "",
    close.length ? element("strong", `Not distinguishable from it: ${close.map((row) => `${chipText(row)} at ${costText(row)}`).join(", ")}.`) : "",
  );
}

function cards() {
  const beside = [...series.values()].filter((row) => row.headline_order !== null);
  byId("bases").replaceChildren(...beside.map((basis) => {
    const rows = tables.answer.filter((row) => chosen(row) && row.speed === state.speed && row.price_series_id === basis.price_series_id);
    const first = rows.find((row) => row.rank === 1);
    const card = element("div", undefined, basis.price_series_id === state.price_series_id ? "card chosen" : "card");
    card.dataset.series = basis.price_series_id;
    card.append(element("h3", typeName(basis).replace(/^./, (letter) => letter.toUpperCase())));
    if (!first) card.append(element("p", "no answer", "figure"), element("p", whyNone(rows)));
    else card.append(
      element("p", costText(first), "figure"),
      element("p", `per million output tokens, on ${chipText(first)}`),
      element("p", `${shown("usd", first.usd_per_gpu_hour)} per GPU-hour: ${basis.title}, of ${day(first.priced_on)}, ${first.price_age_days} days old`, "small"),
      element("p", `${first.evidence} ${day(first.measured_on)}, ${first.benchmark_age_days} days old; ${sureness(first)}`, "small"));
    return card;
  }));
}

function ranking(rows) {
  const beside = [...series.values()].filter((row) => row.headline_order !== null);
  const column = (basis) => `${typeKey(basis).replace(":", "_")}_usd_per_million_tokens`;
  for (const basis of beside) headings.set(column(basis), `${typeName(basis)}, $ per million tokens`);
  const cost = (row, basis) =>
    tables.answer.find((other) => chosen(other) && other.speed === row.speed && other.price_series_id === basis.price_series_id
      && other.chip_id === row.chip_id && other.precision === row.precision)?.usd_per_million_tokens ?? null;
  const side = rows.map((row) => {
    const { rank, chip_id, precision, usd_per_million_tokens, unranked_reason, distinguishable, ...others } = row;
    const costs = {};
    for (const basis of beside) costs[column(basis)] = cost(row, basis);
    return { rank, chip_id, precision, usd_per_million_tokens, ...costs, distinguishable, unranked_reason, ...others };
  });
  files.set(byId("ranking-csv"), side);
  const columns = ["rank", "chip_id", "precision", ...beside.map(column), "unranked_reason", "distinguishable",
    "throughput_tok_s_gpu", "ttft_p50_s", "engine", "benchmark_age_days", "price_age_days", "evidence", "disclosure_score"];
  if (!beside.some((basis) => basis.price_series_id === state.price_series_id)) columns.splice(3, 0, "usd_per_million_tokens");
  byId("ranking").replaceChildren(asTable(side, columns, (row) => row.rank === 1));
}

// What each chart shows, and why it shows nothing

function shows() {
  const answers = tables.answer.filter(atSpeed);
  const type = series.get(state.price_series_id);
  const points = new Set(answers.filter((row) => row.rank !== null).flatMap((row) => [row.point_id, row.above_point_id]));
  const time = tables.cost_over_time.filter(atSpeed);
  const speed = tables.cost_against_speed.filter(onSeries);
  const rents = tables.rent.filter((row) => row.chip_id === state.chip_id && type && typeKey(row) === typeKey(type));
  return {
    cost_over_time: { rows: time, more: { labels: lastOf(time) }, why: whyNone(answers) },
    cost_against_speed: {
      rows: speed,
      more: {
        labels: lastOf(speed),
        crossings: tables.crossover.filter((row) => onSeries(row) && row.speed_tok_s_user !== null),
        break_evens: tables.break_even.filter((row) => ofWorkload(row) && row.price_series_id === state.price_series_id
          && row.gpu_scope === "all" && row.traffic === "benchmark" && row.break_even_speed_tok_s_user !== null),
        chosen: Number(state.speed) ? [{ speed_tok_s_user: Number(state.speed) }] : [],
      },
      why: "No server of this model and workload has a cost on this price basis at any speed. " + whyNone(answers),
    },
    rent: {
      rows: rents,
      more: { labels: lastOf(rents, "name") },
      why: `No ${type ? typeName(type) : ""} price of ${names.chip(state.chip_id)} is known to this version.`,
    },
    cost_change: {
      rows: tables.cost_change.filter((row) => ofWorkload(row) && row.price_series_id === state.price_series_id),
      why: `No cost of this model and workload has changed on this price basis: a first cost is no change, and changes are worked out on the price series beside the headline. ${elsewhere()}`,
    },
    disclosure: {
      rows: tables.disclosure.filter((row) => row.subject_kind === "report" || points.has(row.subject_id)),
      why: "Nothing is ranked here, and no report was read.",
    },
    tokens_per_megawatt: {
      rows: tables.tokens_per_megawatt.filter(ofWorkload),
      why: "No point of this model and workload may be ranked and has a power per chip in force.",
    },
    price_coverage: { rows: tables.price_coverage, why: "No chip was measured, so none needs a price." },
  };
}

function elsewhere() {
  const others = new Set(tables.cost_change.filter(ofWorkload).map((row) => seriesName(row.price_series_id)));
  return others.size ? `There are changes on: ${[...others].join("; ")}.` : "There are none on any other.";
}

function lastOf(rows, key = "chip_id") {
  return [...new Map(rows.map((row) => [row[key], row])).values()];
}

function draw(name, { rows, more = {}, why }) {
  const figure = byId(name);
  const box = figure.querySelector(".chart");
  const empty = figure.querySelector(".empty");
  box.hidden = !rows.length;
  empty.hidden = rows.length > 0;
  empty.textContent = rows.length ? "" : why;
  files.set(figure.querySelector("a.csv"), rows);
  const details = figure.querySelector("details");
  details.hidden = !rows.length;
  const fill = () => details.querySelector(".scroll").replaceChildren(asTable(rows, Object.keys(rows[0] ?? {}).filter((column) => column !== "stretch")));
  details.ontoggle = () => details.open && fill();
  if (details.open) fill();
  if (!rows.length) return Promise.resolve();
  const width = Math.max(260, figure.clientWidth - 4);
  const filled = { rows, ...more };
  const view = views[name];
  if (view) {
    for (const [data, values] of Object.entries(filled)) view.data(data, values.map((row) => ({ ...row })));
    return view.width(width).runAsync();
  }
  // Figures at the ends of bars stand outside what Vega fits.
  const padding = { left: 2, top: 4, bottom: 4, right: ["disclosure", "tokens_per_megawatt"].includes(name) ? 36 : 6 };
  const description = (box.dataset.label ??= box.getAttribute("aria-label"));
  const spec = { ...specs[name], description, width, padding, autosize: { type: "fit-x", contains: "padding" } };
  spec.data = spec.data.map((data) => (filled[data.name] ? { ...data, values: filled[data.name].map((row) => ({ ...row })) } : data));
  // A layer without rows, such as a band where no index has one, is no warning.
  return window.vegaEmbed(box, spec, { mode: "vega", ast: true, actions: false, renderer: "svg", defaultStyle: false, logLevel: ERRORS_ONLY })
    .then((made) => (views[name] = made.view));
}

// The tables without a chart

function list(id, rows, columns, why) {
  const box = byId(id);
  if (!rows.length) return box.replaceChildren(element("p", why, "empty"));
  const scroll = element("div", undefined, "scroll");
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", box.previousElementSibling?.textContent ?? id);
  scroll.append(asTable(rows, columns));
  const link = Object.assign(element("a", "Download these rows as CSV", "csv"), { href: "#", download: `${id}.csv` });
  files.set(link, rows);
  const note = element("p", undefined, "small");
  note.append(link);
  box.replaceChildren(scroll, note);
}

function lists() {
  list("crossover", tables.crossover.filter(onSeries),
    ["speed_tok_s_user", "usd_per_million_tokens", "cheaper_below_chip_id", "cheaper_above_chip_id", "evidence", "null_reason"],
    "No two chips change places on this price basis at the speeds at which both were measured.");
  const evens = tables.break_even.filter((row) => row.price_series_id === state.price_series_id);
  list("break_even", evens,
    ["chip_id", "model_id", "gpu_scope", "traffic", "sold_by", "tier", "output_usd_per_million_tokens", "usd_per_gpu_hour", "break_even_speed_tok_s_user", "evidence", "null_reason"],
    "No model with a price list has a curve on this price basis.");
  list("yield_change", tables.yield_change,
    ["after_on", "chip_id", "model_id", "metric", "before_tok_s", "after_tok_s", "percent", "cause", "claimed_cause", "beyond_noise", "withdrawn", "evidence", "null_reason", "note"],
    "No benchmark line has two points that differ.");
  list("source_health", tables.source_health,
    ["source", "title", "status", "reason", "last_success_on", "age_days", "candidates", "accepted", "rejected", "not_applicable", "unmapped_names"], "This version has no source.");
  const speeds = tables.yield_change.filter((row) => row.metric === "interactivity_tok_s_user");
  byId("speed_change").textContent = speeds.map((row) =>
    `${names.chip(row.chip_id)}, ${names.model(row.model_id)}: ${digits.format(row.before_tok_s)} → ${digits.format(row.after_tok_s)} tok/s per user `
    + `(${digits.format(row.percent)} %, ${word(row.evidence)}, ${day(row.before_on)} to ${day(row.after_on)}). Cause: ${word(row.cause)}`
    + `${row.claimed_cause ? `, claimed: ${word(row.claimed_cause)}` : ""}. A speed per user is no throughput: at equal price and equal sessions per GPU alone `
    + `the cost would change by ${digits.format(row.conditional_cost_percent)} %; it falls only if more than ${digits.format(row.kept_sessions_share_for_cheaper * 100)} % of the sessions per GPU stay.`).join(" ");
  const type = series.get(state.price_series_id);
  const ofType = (row) => row.chip_id === state.chip_id && type && typeKey(row) === typeKey(type);
  const lacks = tables.no_index.filter(ofType);
  byId("no_index").textContent = lacks.length
    ? "No index of our own: " + lacks.map((row) => `${typeName(row)}, ${row.segment}s: ${row.provider_count} counted on ${row.date}, ${word(row.null_reason)}`).join("; ") + "."
    : tables.rent.some((row) => ofType(row) && row.provider_count !== null) ? "" : "No index of our own: on no day has a price of this chip and price type voted.";
  const counts = new Map();
  for (const row of tables.source_health) counts.set(row.status, (counts.get(row.status) ?? 0) + 1);
  byId("health").textContent = [...counts].map(([status, count]) => `${count} ${status}`).join(", ") + ". “empty” has nothing fetched or imported yet.";
}

const painted = () => new Promise((resolve) => setTimeout(resolve));

async function show(missing) {
  byId("notice").hidden = !missing.length;
  byId("notice").textContent = missing.length ? `This version does not have ${missing.join(", ")}; what is shown is the nearest choice.` : "";
  const rows = tables.answer.filter(atSpeed);
  sentence(rows);
  cards();
  ranking(rows);
  const wanted = shows();
  lists();
  for (const [name, what] of Object.entries(wanted)) {
    await draw(name, what);
    await painted();
  }
  document.documentElement.dataset.ready = "1";
}

let showing = Promise.resolve();
function changed(change) {
  change?.();
  const missing = settled();
  delete document.documentElement.dataset.ready;
  if (change) toHash();
  showing = showing.then(() => show(change ? [] : missing));
}

const onChange = (id, change) => byId(id).addEventListener("change", (event) => changed(() => change(event.target.value)));
onChange("model", (value) => (state.model_id = value));
onChange("workload", (value) => ([state.workload_id, state.speed_percentile] = JSON.parse(value)));
onChange("speed", (value) => (state.speed = value));
onChange("series", (value) => (state.price_series_id = value));
onChange("chip", (value) => (state.chip_id = value));
onChange("type", (value) => (state.price_series_id = [...series.values()].find((row) => typeKey(row) === value).price_series_id));
for (const form of document.forms) form.addEventListener("submit", (event) => event.preventDefault());
window.addEventListener("hashchange", () => { fromHash(); changed(); });
let resizing;
window.addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(() => changed(() => {}), 150); });
fromHash();
changed();
