// The table of all configurations: filter, sort, walk with the arrow keys.
const sorting = { key: "rank", down: false };

function columns() {
  const names = view.data.parameters.map((axis) => axis.name);
  return [
    { key: "rank", title: "rank", of: (one) => one.rank, pinned: "first" },
    // Before the parameters, of which there may be more than fit, and always in sight.
    { key: "value", title: measure().name, of: (one) => lastValue(one).value, number: true, pinned: "second" },
    { key: "status", title: "status", text: true, of: statusOf },
    ...(measure().has_errors ? [{ key: "error", title: "± s.e.", of: (one) => lastValue(one).error, number: true, digits: 2 }] : []),
    ...names.map((name, place) => ({
      key: `p${place}`, title: name, value: true, of: (one) => one.parameters[name] ?? "",
      // Levels are ordered as numbers where they are numbers.
      order: (one) => view.data.parameters[place].codes[one.index],
    })),
    { key: "looks", title: "looks run", of: (one) => one.looks.length },
    { key: "top", title: "top in", of: (one) => one.top.reduce((sum, top) => sum + top, 0) },
    { key: "dropped", title: "dropped at", of: (one) => one.dropped_at || null, number: true },
    ...(longRace() ? [] : [{ key: "trace", title: "trace", text: true, of: (one) => marks(one).join(""), node: traceNode }]),
  ];
}

const OPERATORS = { "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b, "=": (a, b) => a === b };

// A word of the filter as a test: "C>100" compares numbers, anything else is text.
function wordTest(typed) {
  // Names are shown without the path that all of them share, and may be typed with it.
  const path = view.data.path.toLowerCase(), word = typed.startsWith(path) ? typed.slice(path.length) : typed;
  const parts = word.match(/^([^<>=]+)(<=|>=|<|>|=)([^<>=]+)$/);
  const bound = parts ? Number(parts[3]) : NaN;
  if (!parts || Number.isNaN(bound)) return (one, text) => text.includes(word);
  return (one) => {
    const name = Object.keys(one.parameters).find((key) => key.toLowerCase() === parts[1]);
    const own = { rank: one.rank, [measure().name.toLowerCase()]: lastValue(one).value, ...(measure().source === "losses" ? {} : { score: lastValue(one).value }) };
    const value = name ? Number(one.parameters[name]) : own[parts[1]] ?? null;
    return value !== null && !Number.isNaN(value) && OPERATORS[parts[2]](value, bound);
  };
}

function matching() {
  const tests = byId("filter").value.toLowerCase().replace(/\s*(<=|>=|<|>|=)\s*/g, "$1").split(/[\s,]+/).filter(Boolean).map(wordTest);
  const wanted = byId("status").value;
  return view.data.configurations.filter((one) => {
    if (wanted === "left" && !(one.active && one.looks.length)) return false;
    if (wanted === "dropped" && one.active) return false;
    if (wanted === "failed" && !one.failures.length) return false;
    if (wanted.startsWith("reason ") && !one.drops.some(([, reason]) => reason === wanted.slice(7))) return false;
    const reasons = one.drops.map(([, reason]) => reason).join(" ");
    const text = `${parameterText(one)} ${statusOf(one)} ${reasons}`.toLowerCase();
    return tests.every((test) => test(one, text));
  });
}

function compare(first, second) {
  const empty = (value) => value === null || value === undefined || value === "";
  if (empty(first) || empty(second)) return empty(first) - empty(second);
  return first < second ? -1 : first > second ? 1 : 0;
}

function sorted(list, all) {
  const column = all.find((one) => one.key === sorting.key) || all[0];
  const order = column.order || column.of;
  const keys = new Map(list.map((one) => [one.index, order(one)]));
  return list.sort((a, b) => {
    const [x, y] = [keys.get(a.index), keys.get(b.index)];
    const missing = [x, y].some((value) => value === null);
    const result = compare(x, y);
    return (sorting.down && !missing ? -result : result) || a.rank - b.rank;
  });
}

function drawHead(all) {
  const row = make("tr", {});
  for (const column of all) {
    const state = column.key === sorting.key ? (sorting.down ? "descending" : "ascending") : "none";
    const arrow = state === "none" ? "" : sorting.down ? "\u00a0▼" : "\u00a0▲";
    // Long names may break after an underscore.
    const title = column.title.split("_").flatMap((part, place, parts) => (place < parts.length - 1 ? [`${part}_`, make("wbr")] : [part]));
    const button = make("button", { type: "button", "data-key": column.key }, ...title, make("span", { "aria-hidden": "true" }, arrow));
    button.addEventListener("click", () => {
      sorting.down = sorting.key === column.key && !sorting.down;
      sorting.key = column.key;
      drawTable();
      document.querySelector(`#table [data-key="${column.key}"]`).focus();
    });
    const head = make("th", { scope: "col", "aria-sort": state, class: column.text || column.value ? "text" : "" }, button);
    if (column.pinned) head.classList.add("pinned", column.pinned);
    row.append(head);
  }
  document.querySelector("#table thead").replaceChildren(row);
}

function drawRow(one, all) {
  const row = make("tr", { "data-index": one.index, tabindex: "-1", "aria-selected": String(one.index === view.chosen) });
  if (one.index === view.data.winner.index) row.classList.add("leader");
  for (const column of all) {
    const value = column.of(one);
    const shown = column.node ? column.node(one) : column.number ? number(value, column.digits) : column.value ? short(value) : value;
    const cell = make("td", { class: column.value ? "text value" : column.text ? "text" : "" }, shown);
    if (column.value) cell.title = value;
    if (column.pinned) cell.classList.add("pinned", column.pinned);
    if (column.key === "status") cell.classList.add(`status-${value}`);
    row.append(cell);
  }
  return row;
}

function drawTable() {
  fillReasons();
  fillMeasures();
  const all = columns();
  const found = sorted(matching(), all);
  const visible = found.slice(0, view.limit);
  drawHead(all);
  const body = document.querySelector("#table tbody");
  body.replaceChildren(...visible.map((one) => drawRow(one, all)));
  // One row is reached by the tabulator, the others by the arrow keys.
  const entry = body.querySelector('[aria-selected="true"]') || body.firstElementChild;
  if (entry) entry.tabIndex = 0;
  const total = view.data.n_configurations;
  byId("trace-key").hidden = longRace();
  byId("count").textContent = visible.length < found.length
    ? `${visible.length} of ${found.length} matching rows shown, ${total} in all` : `${found.length} of ${total} shown`;
  byId("more").hidden = visible.length === found.length;
  byId("more").textContent = `Show all ${found.length}`;
  pin();
}

// Where cells that stay in sight come to rest: beside the rank, below the head.
function pin() {
  const table = byId("table"), head = table.querySelector("thead"), rank = head.querySelector(".first");
  if (!rank) return;
  table.style.setProperty("--rank-width", `${rank.getBoundingClientRect().width}px`);
  table.style.setProperty("--head-height", `${head.getBoundingClientRect().height}px`);
}

// Reasons that occur, to choose from; a choice that is gone shows all.
function fillReasons() {
  const counts = new Map();
  for (const one of view.data.configurations) for (const reason of new Set(one.drops.map(([, why]) => why))) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const select = byId("status"), before = select.value;
  for (const option of select.querySelectorAll("[value^='reason ']")) option.remove();
  for (const [reason, n] of counts) select.append(make("option", { value: `reason ${reason}` }, `dropped: ${reason} (${n})`));
  select.value = before;
  if (select.selectedIndex < 0) select.value = "all";
  select.querySelector("[value='failed']").hidden = !view.data.configurations.some((one) => one.failures.length);
}

function fillMeasures() {
  const several = measures().length > 1;
  for (const choice of document.querySelectorAll(".measure-choice")) choice.hidden = !several;
  for (const select of document.querySelectorAll("select.measure")) {
    select.replaceChildren(...measures().map((one, place) => make("option", { value: place }, one.name)));
    select.value = String(Math.min(view.measure, measures().length - 1));
  }
}

function startMeasures() {
  for (const select of document.querySelectorAll("select.measure")) {
    select.addEventListener("change", () => {
      view.measure = Number(select.value);
      view.shown = null;
      fillMeasures();
      drawTable();
      drawCharts();
      if (view.chosen !== null) { showDetails(view.chosen); highlight(view.chosen); }
    });
  }
}

function rowOf(event) {
  return event.target.closest("tbody tr");
}

function choose(index) {
  view.chosen = index;
  for (const row of document.querySelectorAll("#table tbody tr")) {
    const mine = Number(row.dataset.index) === index;
    row.setAttribute("aria-selected", String(mine));
    row.tabIndex = mine ? 0 : -1;
  }
  showDetails(index);
  highlight(index);
}

function walk(event) {
  const row = rowOf(event);
  if (!row) return;
  const targets = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling,
    Home: row.parentNode.firstElementChild, End: row.parentNode.lastElementChild };
  if (event.key in targets) {
    event.preventDefault();
    if (targets[event.key]) targets[event.key].focus();
  } else if (event.key === "Escape") {
    hideDetails();
  }
}

function startTable() {
  const table = byId("table");
  table.addEventListener("focusin", (event) => { if (rowOf(event)) choose(Number(rowOf(event).dataset.index)); });
  table.addEventListener("click", (event) => { if (rowOf(event)) rowOf(event).focus(); });
  table.addEventListener("mouseover", (event) => { if (rowOf(event)) showDetails(Number(rowOf(event).dataset.index)); });
  table.addEventListener("mouseleave", () => { if (view.chosen !== null) showDetails(view.chosen); });
  table.addEventListener("keydown", walk);
  byId("filter").addEventListener("input", () => { view.limit = 100; drawTable(); });
  byId("status").addEventListener("change", () => { view.limit = 100; drawTable(); });
  byId("more").addEventListener("click", () => { view.limit = Infinity; drawTable(); });
  byId("close").addEventListener("click", hideDetails);
  startMeasures();
  drawTable();
  window.addEventListener("resize", pin);
}
