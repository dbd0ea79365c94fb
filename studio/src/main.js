// The page: what is written is checked at once, and searched when the typing pauses. What is beside the picture (the
// result, EXPLAIN, why) is asked for when it is seen, after the picture has been drawn.

import { makeEditor } from "./editor.js";
import { counted, fill, listTable, makeTabs, place, put } from "./parts.js";
import { ask } from "./talk.js";

const PAUSE = 150, LOOK = 60;
const DIALECTS = ["spark", "databricks", "snowflake", "oracle", "trino", "flink", "duckdb", "bigquery", "sqlts"];
const LISTS = { explain: "EXPLAIN", why: "Why not", result: "Result" };

let tables = [];
let overview = null;  // the last answer of a search of all there is
let seen = { reading: "explain", listing: "matches" };
let fresh = new Set();  // panels that show the query as it is
let typing = 0, looking = 0, asked = 0;
let example = "";  // the text of the example that was chosen last

const editor = makeEditor(place("editor"), { onChange: changed, onRun: () => { clearTimeout(typing); search(); } });
const picture = globalThis.showPicture({
  panels: place("panels"), legend: place("legend"), notes: place("notes"), tip: place("tip"), reset: place("reset"),
}, viewed);

const own = () => tables.find((table) => table.name === place("table").value);
const wanted = () => ({
  query: editor.text(), dialect: place("dialect").value, x: place("x").value || null, y: place("y").value || null,
  partition: place("partition").value || null,
});

function say(text) { place("status").textContent = text; }

function tell(errors, warnings = []) {
  const problems = place("problems");
  problems.replaceChildren();
  editor.mark(errors);
  for (const { code, message, notes, hint } of errors) {
    put(problems, "p", code ? `${code}: ${message}` : message, "error");
    for (const note of notes) put(problems, "p", note, "hint");
    if (hint) put(problems, "p", `hint: ${hint}`, "hint");
  }
  for (const warning of warnings) put(problems, "p", `warning: ${warning}`, "hint");
}

// --- Writing ---------------------------------------------------------------------------------------------------------

async function changed() {
  fresh.clear();
  place("seeing").classList.add("old");
  clearTimeout(typing);
  const number = ++asked;
  typing = setTimeout(search, PAUSE);
  const answer = await ask("check", wanted());
  if (answer === null || number !== asked) return;
  if (answer.errors) clearTimeout(typing);  // nothing can be searched
  tell(answer.errors ?? [], answer.warnings);
}

async function search() {
  ++asked;
  fresh.clear();
  if (!editor.text().trim()) return tell([]);
  say("searching");
  const begin = performance.now();
  const answer = await ask("search", wanted());
  if (answer === null) return;
  tell(answer.errors ?? [], answer.warnings);
  if (answer.errors) {
    say("");
    if (answer.errors.every(({ code }) => code === "REX301")) await showLists();  // it has a result, if no picture
    return;
  }
  overview = answer;
  place("seeing").classList.remove("old");
  picture.take(answer.picture);
  const number = asked;
  await new Promise(requestAnimationFrame);
  const { duration } = performance.measure("search", { start: begin, end: performance.now() });
  if (number !== asked) return;
  const what = answer.is_windows ? "window" : "match";
  say(`${counted(answer.n_answers, what)} in ${counted(answer.n_rows, "row")}, ${Math.round(duration)} ms`);
  fillPartitions(answer);
  listMatches(answer);
  await showLists();
}

function fillPartitions({ partitions, n_partitions: total }) {
  const more = total > partitions.length && partitions.length ? `, ${counted(total, "partition")}` : "";
  fill(place("partition"), [
    ["", `all${more}`], ...partitions.map(({ title, n_answers: n }) => [title, `${title} (${n.toLocaleString("en-US")})`]),
  ]);
  place("partition").disabled = !partitions.length;
}

function listMatches({ matches }) {
  const list = place("matches");
  if (matches === null) {
    list.replaceChildren();
    put(list, "p", "Trend queries have windows, and no matches: see the result.", "note");
    return;
  }
  listTable(list, matches, (row) => {
    const [low, high] = matches.ends[row], origin = overview.picture.x.origin;
    if (low === null || high === null) return;
    const all = overview.picture.high - overview.picture.low;
    const room = Math.max(Math.abs(high - low), all * 1e-6) * 0.75;
    picture.zoom(Math.min(low, high) - origin - room, Math.max(low, high) - origin + room);
  });
}

// --- Looking ---------------------------------------------------------------------------------------------------------

// A range is drawn at once from what is there, then in detail, with some room to move on.
function viewed(view, isAll) {
  if (overview === null) return;
  clearTimeout(looking);
  if (isAll) return picture.take(overview.picture, true);
  looking = setTimeout(async () => {
    const origin = overview.picture.x.origin, room = (view.high - view.low) / 2;
    const range = [origin + view.low - room, origin + view.high + room];
    const answer = await ask("search", { ...wanted(), view: range });
    if (answer?.picture) picture.take(answer.picture, true);
    if (answer !== null) await showLists();  // looking closer has called off what was asked for beside the picture
  }, LOOK);
}

// --- Beside the picture ----------------------------------------------------------------------------------------------

async function showLists() {
  for (const name of [seen.listing, seen.reading]) await showList(name);
}

async function showList(name) {
  if (!(name in LISTS) || fresh.has(name) || !editor.text().trim()) return;
  const number = asked, answer = await ask(name, wanted());
  if (answer === null || number !== asked) return;
  const panel = place(name);
  panel.replaceChildren();
  if (answer.errors) for (const { message } of answer.errors) put(panel, "p", message, "note");
  else if (name === "result") listTable(panel, answer);
  else put(panel, "pre", answer.text);
  fresh.add(name);
}

function showColumns() {
  const table = own(), panel = place("columns");
  panel.replaceChildren();
  if (!table) return;
  put(panel, "p", table.error ? table.error.message : `${table.path}: ${counted(table.n_rows, "row")}`, "note");
  if (table.error) return;
  listTable(panel, {
    columns: ["column", "type"], is_number: [false, false], n_rows: table.columns.length,
    cells: [table.columns.map(({ name }) => name), table.columns.map(({ type }) => type)],
  });
}

// --- Choices ---------------------------------------------------------------------------------------------------------

function chooseTable() {
  const table = own(), names = (table?.columns ?? []).map(({ name }) => [name, name]);
  fill(place("example"), [["", "an example"], ...(table?.examples ?? []).map(({ title }, n) => [String(n), title])]);
  fill(place("x"), [["", "by the query"], ...names]);
  fill(place("y"), [["", "by the query"], ...names]);
  showColumns();
}

function chooseExample() {
  const found = own()?.examples[place("example").value];
  if (!found) return;
  place("partition").value = place("x").value = place("y").value = "";
  place("dialect").value = "spark";
  example = found.query;
  editor.set(example);
}

async function copy() {
  const answer = await ask("python", wanted());
  if (answer === null) return;
  if (answer.errors) return tell(answer.errors);
  try {
    await navigator.clipboard.writeText(answer.text);
    say("copied");
  } catch {
    place("program-text").value = answer.text;
    place("program").showModal();
    place("program-text").select();
  }
}

async function start() {
  fill(place("dialect"), DIALECTS.map((name) => [name, name]));
  const answer = await ask("tables");
  if (!answer || answer.errors) return tell(answer?.errors ?? []);
  tables = answer.tables;
  fill(place("table"), tables.map(({ name }) => [name, name]));
  editor.know(Object.fromEntries(tables.map(({ name, columns }) => [name, (columns ?? []).map((column) => column.name)])));
  makeTabs(place("reading").querySelector('[role="tablist"]'), (name) => { seen.reading = name; showList(name); });
  makeTabs(place("listing").querySelector('[role="tablist"]'), (name) => { seen.listing = name; showList(name); });
  place("table").addEventListener("change", () => {
    chooseTable();
    if (editor.text() !== example) return search();  // a text of one's own stays
    place("example").value = "0";
    chooseExample();
  });
  place("example").addEventListener("change", chooseExample);
  for (const name of ["x", "y", "partition", "dialect"]) place(name).addEventListener("change", search);
  place("copy").addEventListener("click", copy);
  chooseTable();
  place("example").value = "0";
  chooseExample();
  editor.focus();
}

start();
