// The charts: drawn with plotly.js, in the colours of the style sheet.
const OKABE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a8a"];
const SYMBOLS = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x"];
const DASHES = { kept: "solid", dropped: "dash" };
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
// plotly.js reads a little markup in its texts; data must not be taken for it.
const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const narrow = () => !view.printing && window.innerWidth < 520;

function byRank() {
  // A function of the user's may have chosen one that does not rank first.
  const chosen = (one) => one.index === view.data.winner.index;
  return [...view.data.configurations].sort((a, b) => chosen(b) - chosen(a) || a.rank - b.rank);
}

function layout(extra) {
  const axis = { gridcolor: colour("line"), zerolinecolor: colour("line"), linecolor: colour("faint"), automargin: true };
  const close = (one) => (one && one.title ? { ...one, title: { standoff: 8, ...one.title } } : one);
  const { xaxis, yaxis, ...rest } = extra;
  return { paper_bgcolor: colour("paper"), plot_bgcolor: colour("paper"), font: { color: colour("ink"), size: 12, family: "system-ui, sans-serif" },
    margin: { l: 50, r: 12, t: 10, b: 44 }, height: 320, showlegend: false, hovermode: "closest", dragmode: false,
    xaxis: { ...axis, ...close(xaxis) }, yaxis: { ...axis, ...close(yaxis) }, ...rest };
}

// A page of paper is 700 wide; charts that are side by side have half of it each.
function paperSize(id, height) {
  const half = view.share === 0.5 && (id === "survivors" || id === "curves");
  return { width: half ? 345 : 700, height: Math.min(height, id === "curves" ? 400 : 330) };
}

function draw(id, traces, extra) {
  const options = { responsive: true, displaylogo: false, displayModeBar: false, doubleClick: false };
  const all = layout(view.printing ? { ...extra, ...paperSize(id, extra.height ?? 320) } : extra);
  // The page must know the height too, or what follows would slide below the chart.
  byId(id).style.height = `${all.height}px`;
  byId(id).style.width = view.printing ? `${all.width}px` : "";
  return Plotly.react(byId(id), traces, all, options);
}

// Two lines of labels where there is room for them: half as many side by side.
function lookTicks(share = 1) {
  const looks = view.data.looks;
  const widest = Math.max(...looks.map((look) => look.n_train.toLocaleString("en").length));
  const few = looks.length <= Math.min(14, ((narrow() ? 280 : share * 740) - 60) / (7 * widest + 8));
  return few ? { tickvals: looks.map((look) => look.look), ticktext: looks.map((look) => `${look.look}<br>${look.n_train.toLocaleString("en")}`), title: { text: "look, and rows it trains on" } }
    : { title: { text: "look" } };
}

function stageLines(share = 1) {
  const shapes = [], annotations = [];
  const looks = view.data.looks;
  const each = ((narrow() ? 300 : share * 800) - 60) / looks.length;
  let start = 0, end = -Infinity, level = 0;
  for (let place = 1; place <= looks.length; place += 1) {
    if (place < looks.length && looks[place].stage === looks[start].stage) continue;
    if (start > 0) shapes.push({ type: "line", x0: start + 0.5, x1: start + 0.5, yref: "paper", y0: 0, y1: 1, line: { color: colour("faint"), width: 1, dash: "dot" } });
    const text = looks[start].stage, middle = (start + 1 + place) / 2;
    // A name that would run into the one before goes above it.
    level = (middle * each - 3.2 * text.length) < end ? (level + 1) % 3 : 0;
    end = middle * each + 3.2 * text.length;
    annotations.push({ x: middle, y: 1, yref: "paper", yanchor: "bottom", showarrow: false, yshift: 13 * level, text: plain(text), font: { size: 11, color: colour("faint") } });
    start = place;
  }
  const levels = Math.max(...annotations.map((one) => one.yshift));
  return annotations.length > 1 && annotations.length < 12 ? { shapes, annotations, top: 22 + levels } : { shapes: [], annotations: [], top: 10 };
}

// One that was dropped at the very end may rank before a survivor.
function survivorsFirst() {
  const [winner, ...others] = byRank();
  return [winner, ...others.filter((one) => one.active), ...others.filter((one) => !one.active)];
}

function drawTraces() {
  let rows = survivorsFirst();
  let first = 0;
  const looks = view.data.looks;
  const sameStage = looks.filter((look) => look.stage === looks[looks.length - 1].stage).length;
  const start = Math.max(0, looks.length - (view.data.window || sameStage));
  // Nothing to choose where the zoom would show everything once more.
  byId("zoom-choice").hidden = start === 0 && rows.every((one) => one.active);
  const zoomed = byId("zoom").checked && !byId("zoom-choice").hidden;
  if (zoomed) {
    rows = rows.filter((one) => one.active);
    first = start;
  }
  view.rows = rows.map((one) => one.index);
  const codes = { a: 0, t: 1, f: 2, d: 3 };
  const z = rows.map((one) => marks(one).slice(first).map((mark) => codes[mark]));
  const hues = ["absent", "top", "flop", "dropped"].map(colour);
  const scale = hues.flatMap((hue, place) => [[place / 4, hue], [(place + 1) / 4, hue]]);
  const few = rows.length <= 25;
  const stages = zoomed ? { shapes: [], annotations: [], top: 10 } : stageLines();
  const shapes = [...stages.shapes];
  // Two lines if the user's own refit chose one that was dropped: it stays on top.
  for (let row = 1; row < rows.length; row += 1) {
    if (rows[row].active !== rows[row - 1].active) shapes.push({ type: "line", xref: "paper", x0: 0, x1: 1, y0: row + 0.5, y1: row + 0.5, line: { color: colour("accent"), width: 2 } });
  }
  view.traceShapes = shapes;
  const height = Math.min(520, Math.max(220, 110 + (few ? 26 : 3) * rows.length));
  draw("traces", [{ type: "heatmap", z, x: view.data.looks.slice(first).map((look) => look.look), y: rows.map((_, place) => place + 1),
    zmin: -0.5, zmax: 3.5, colorscale: scale, showscale: false, hoverinfo: "none", xgap: rows.length > 300 ? 1 : 2, ygap: few ? 2 : 0 }],
  { height, margin: { l: 60, r: 12, t: stages.top, b: 48 }, shapes, annotations: stages.annotations, xaxis: { ...lookTicks(), showgrid: false, range: [first + 0.5, view.data.n_looks + 0.5], zeroline: false },
    yaxis: { range: [rows.length + 0.5, 0.5], showgrid: false, zeroline: false, title: { text: few ? "" : "configurations" },
      ...(few ? { tickvals: rows.map((_, place) => place + 1), ticktext: rows.map((one) => plain(cut(parameterText(one) || "(default)", narrow() ? 16 : 40))) } : {}) } });
}

function drawSurvivors() {
  const looks = view.data.looks;
  const x = looks.map((look) => look.look);
  const line = (name, key, hue, symbol, dash) => ({ type: "scatter", mode: "lines+markers", name, x, y: looks.map((look) => look[key] || null), line: { color: hue, dash }, marker: { symbol, size: 8 }, hovertemplate: `%{y} ${name}<extra>look %{x}</extra>` });
  const many = Math.max(...looks.map((look) => look.n_tested)) >= 50;
  const stages = stageLines(view.share);
  draw("survivors", [line("tested", "n_tested", colour("faint"), "diamond", "solid"), line("top", "n_top", colour("ink"), "square", "dot"), line("left", "n_active", colour("accent"), "circle", "solid")],
    { showlegend: true, legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom", x: 0 }, shapes: stages.shapes, annotations: stages.annotations, margin: { l: 50, r: 12, t: stages.top, b: 84 },
      xaxis: { ...lookTicks(view.share), range: [0.5, looks.length + 0.5] }, yaxis: { type: many ? "log" : "linear", rangemode: "tozero", title: { text: "configurations" }, ...(many ? { tickvals: [1, 2, 5].flatMap((digit) => [1, 10, 100, 1000, 10000, 100000].map((power) => digit * power)), tickformat: ",d" } : {}) } });
}

// One point for each look, folds of a stage together.
function curve(one) {
  const groups = new Map();
  const values = valuesOf(one), errors = measure().has_errors ? one.errors : null;
  one.looks.forEach((look, place) => {
    const facts = view.data.looks[look - 1];
    const key = facts.is_fold ? facts.stage : look;
    if (values[place] === null) return;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push({ n: facts.n_train, test: facts.n_test, value: values[place], error: errors ? errors[place] : null });
  });
  return [...groups.values()].map((points) => {
    const weight = points.reduce((sum, point) => sum + point.test, 0);
    const mean = (key) => points.reduce((sum, point) => sum + point[key] * point.test, 0) / weight;
    const known = points.every((point) => point.error !== null);
    return { n: mean("n"), value: mean("value"), error: known ? Math.sqrt(points.reduce((sum, point) => sum + (point.error * point.test) ** 2, 0)) / weight : null };
  }).sort((a, b) => a.n - b.n);
}

// Parameters in which the shown ones differ; the others would only take room.
function differingText(one, shown) {
  const names = Object.keys(one.parameters).filter((name) => new Set(shown.map((other) => other.parameters[name])).size > 1);
  return names.filter((name) => name in one.parameters).map((name) => `${name}=${short(one.parameters[name], 3)}`).join(", ") || parameterText(one) || "(default)";
}

// A legend has no room for long lines: break them between parameters.
function inLines(text, most) {
  const lines = [""];
  for (const part of text.split(/(?<=,) /)) {
    if (last(lines) && last(lines).length + part.length >= most) lines.push("");
    lines.push(`${lines.pop()}${part} `);
  }
  return lines.map((line) => plain(line.trim())).join("<br>");
}

// The best and those that came close, with the one that was chosen.
function curvesShown() {
  const rows = byRank().filter((one) => valuesOf(one).some((value) => value !== null));
  const shown = [...rows.filter((one) => one.active).slice(0, 3), ...rows.filter((one) => !one.active).slice(0, 2)];
  const chosen = view.chosen === null ? null : view.data.configurations[view.chosen];
  if (chosen && !shown.includes(chosen)) shown.push(chosen);
  return shown;
}

// Nothing grows where all were seen on the same rows.
const curvesGrow = () => new Set(curvesShown().flatMap((one) => curve(one).map((point) => point.n))).size > 1;

function drawCurves() {
  byId("curves-section").hidden = !curvesGrow();
  if (byId("curves-section").hidden) return;
  const shown = curvesShown();
  const chosen = view.chosen === null ? null : view.data.configurations[view.chosen];
  view.curves = shown.map((one) => one.index);
  const traces = shown.map((one, place) => {
    const points = curve(one);
    const mine = one === chosen;
    const hue = OKABE[place % OKABE.length];
    return { type: "scatter", mode: "lines+markers", x: points.map((point) => point.n), y: points.map((point) => point.value),
      error_y: { type: "data", array: points.map((point) => point.error), visible: points.some((point) => point.error !== null), thickness: 1, width: 2, color: hue },
      line: { color: hue, width: mine ? 4 : 2, dash: one.active ? DASHES.kept : DASHES.dropped }, marker: { symbol: SYMBOLS[place % SYMBOLS.length], size: mine ? 10 : 7 },
      name: inLines(differingText(one, shown) + (one.active ? "" : ", dropped"), narrow() ? 40 : 48), hoverinfo: "none" };
  });
  const values = traces.flatMap((trace) => trace.y);
  const n = traces.reduce((sum, trace) => sum + trace.name.split("<br>").length, 0);
  byId("curve-bars").hidden = !measure().has_errors;
  const wide = measure().lower && Math.min(...values) > 0 && Math.max(...values) > 10 * Math.min(...values);
  draw("curves", traces, { height: 310 + 18 * n, margin: { l: 50, r: 12, t: 10, b: 50 + 18 * n }, showlegend: true, legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom", x: 0, font: { size: 11 } }, xaxis: { title: { text: "training rows" } }, yaxis: { title: { text: plain(measure().name) }, type: wide ? "log" : "linear" } });
}

// The line between those dropped and the others.
function outline(cells) {
  const fell = new Map(cells.map((cell) => [`${cell.x},${cell.y}`, !cell.one.active]));
  const line = { type: "scatter", mode: "lines", x: [], y: [], hoverinfo: "skip", line: { color: colour("flop"), width: 3 } };
  for (const { x, y } of cells) {
    const mine = fell.get(`${x},${y}`);
    for (const [dx, dy] of [[1, 0], [0, 1]]) {
      const other = fell.get(`${x + dx},${y + dy}`);
      if (other === undefined || other === mine) continue;
      line.x.push(x + (dx ? 0.5 : -0.5), x + 0.5, null);
      line.y.push(y + (dy ? 0.5 : -0.5), y + 0.5, null);
    }
  }
  return line;
}

// A parameter as a scale of numbers, where the page has one.
function scaleOf(axis) {
  const slices = view.data.slices;
  const found = axis && slices ? slices.axes.find((one) => one.name === axis.name) : null;
  if (!found) return null;
  const places = new Map(slices.numbers.map((index, place) => [index, place]));
  return { axis: found, at: (index) => found.positions[places.get(index)] ?? null };
}

function drawSurface() {
  const axes = view.data.parameters;
  const across = axes[byId("surface-x").value], upwards = axes[byId("surface-y").value];
  if (!across || byId("surface-section").hidden) return;
  const best = new Map();
  for (const one of byRank()) {
    const place = `${across.codes[one.index]},${upwards ? upwards.codes[one.index] : 0}`;
    if (!best.has(place)) best.set(place, one);
  }
  const cells = [...best.values()].map((one) => ({ one, x: across.codes[one.index], y: upwards ? upwards.codes[one.index] : 0, loss: lastValue(one).value }));
  const scales = [scaleOf(across), scaleOf(upwards)];
  // Values drawn at random stand where their number is, not at their rank.
  const scattered = 4 * cells.length < across.texts.length * (upwards ? upwards.texts.length : 1) || [across, upwards].some((axis) => axis && axis.numeric && axis.texts.length > 12 && 2 * axis.texts.length > cells.length);
  if (scattered) for (const cell of cells) { if (scales[0]) cell.x = scales[0].at(cell.one.index); if (scales[1]) cell.y = scales[1].at(cell.one.index); }
  const positive = measure().lower && cells.every((cell) => cell.loss === null || cell.loss > 0);
  const finite = cells.map((cell) => cell.loss).filter((loss) => loss !== null);
  const logarithmic = positive && Math.max(...finite) > 5 * Math.min(...finite);
  const value = (loss) => (loss === null ? null : logarithmic ? Math.log10(loss) : loss);
  const n = { x: across.texts.length, y: upwards ? upwards.texts.length : 1 };
  // A grid is drawn as cells; values drawn at random are points.
  const gridded = !scattered;
  const cell = Math.min((byId("surface").clientWidth - 150) / n.x, 330 / n.y);
  const size = gridded ? cell : 11;
  const [low, high] = [Math.min(...finite), Math.max(...finite)].map(value);
  const steps = [0, 0.25, 0.5, 0.75, 1].map((share) => low + share * (high - low));
  const bar = { title: { text: `${plain(cut(measure().name, 12))}<br>&nbsp;` }, thickness: 12, tickvals: steps, ticktext: steps.map((step) => number(logarithmic ? 10 ** step : step, 3)) };
  const main = gridded ? cellMap(cells, bar)
    : { type: "scatter", mode: "markers", x: cells.map((one) => one.x), y: cells.map((one) => one.y), hoverinfo: "none",
      marker: { size, color: cells.map((one) => value(one.loss)), colorscale: "Cividis", reversescale: !measure().lower, colorbar: bar, line: { width: 1, color: colour("faint") } } };
  function cellMap(list, colorbar) {
    const at = new Map(list.map((one) => [`${one.x},${one.y}`, value(one.loss)]));
    const range = (axis) => [...(axis && axis.codes.includes(-1) ? [-1] : []), ...Array((axis ? axis.texts : [""]).length).keys()];
    const [xs, ys] = [range(across), range(upwards)];
    return { type: "heatmap", x: xs, y: ys, z: ys.map((y) => xs.map((x) => at.get(`${x},${y}`) ?? null)), colorscale: "Cividis", reversescale: !measure().lower, colorbar, hoverinfo: "none", hoverongaps: true };
  }
  view.cellAt = new Map(cells.map((one) => [`${one.x},${one.y}`, one.one.index]));
  const fallen = cell < 7 && gridded ? [] : cells.filter((one) => !one.one.active);
  const bright = (loss) => loss !== null && high > low && (measure().lower ? value(loss) - low : high - value(loss)) / (high - low) > 0.55;
  const dropped = { type: "scatter", mode: "markers", x: fallen.map((one) => one.x), y: fallen.map((one) => one.y), hoverinfo: "skip",
    marker: { symbol: "x-thin", size: Math.max(5, Math.min(14, size / 2.6)), line: { width: 1.3, color: fallen.map((one) => (one.loss === null ? "#888888" : bright(one.loss) ? "#000000" : "#ffffff")) } } };
  const border = gridded ? outline(cells) : { type: "scatter", x: [], y: [] };
  const winner = cells.filter((cell) => cell.one.index === view.data.winner.index);
  const star = { type: "scatter", mode: "markers", x: winner.map((cell) => cell.x), y: winner.map((cell) => cell.y), hoverinfo: "skip",
    marker: { symbol: "star", size: 17, color: "#ffffff", line: { color: "#000000", width: 1.5 } } };
  const chosen = cells.filter((cell) => cell.one.index === view.chosen);
  const ring = { type: "scatter", mode: "markers", x: chosen.map((cell) => cell.x), y: chosen.map((cell) => cell.y), hoverinfo: "skip",
    marker: { symbol: "circle-open", size: 22, line: { color: "#e754c6", width: 4 } } };
  const ticks = (axis, most, scale) => {
    if (scattered && scale) return { tickvals: scale.axis.ticks.map((tick) => tick[0]), ticktext: scale.axis.ticks.map((tick) => plain(tick[1])), range: scale.axis.span, title: { text: plain(cut(axis.name, 60)) }, showgrid: false, zeroline: false };
    const every = Math.max(1, Math.ceil(axis.texts.length / most));
    const places = axis.texts.map((_, place) => place).filter((place) => place % every === 0);
    const missing = axis.codes.includes(-1) ? [-1] : [];
    return { tickvals: [...missing, ...places], ticktext: [...missing.map(() => "not set"), ...places.map((place) => plain(axis.numeric ? number(Number(axis.texts[place]), 3) : cut(axis.texts[place], 18)))], range: [missing.length ? -1.6 : -0.6, axis.texts.length - 0.4], title: { text: plain(cut(axis.name, 60)) }, showgrid: false, zeroline: false };
  };
  draw("surface", [main, dropped, border, star, ring], { height: upwards ? 430 : 200, margin: { l: 70, r: 10, t: 10, b: 60 }, xaxis: ticks(across, narrow() ? 5 : 12, scales[0]),
    yaxis: upwards ? ticks(upwards, 12, scales[1]) : { visible: false, range: [-0.6, 0.6] } });
}

function fillAxes() {
  const axes = view.data.parameters;
  const varying = axes.filter((axis) => new Set(axis.codes).size > 1);
  // Those that matter most first, numbers before names where that is not known.
  const weight = (axis) => { const place = view.data.importance ? view.data.importance.names.indexOf(axis.name) : -1; return place >= 0 ? place - 1e6 : axis.numeric ? 0 : 1; };
  const order = varying.map((axis) => axes.indexOf(axis)).sort((a, b) => weight(axes[a]) - weight(axes[b]) || a - b).slice(0, 2).sort((a, b) => a - b);
  // One parameter alone is in the panels above.
  byId("surface-section").hidden = view.data.slices === undefined ? !axes.length : varying.length < 2;
  for (const [id, preferred] of [["surface-x", 0], ["surface-y", 1]]) {
    const select = byId(id);
    const before = select.value;
    select.replaceChildren(...axes.map((axis, place) => make("option", { value: place }, axis.name)));
    if (id === "surface-y") select.append(make("option", { value: "none" }, "(nothing)"));
    select.value = before || (preferred < order.length ? String(order[preferred]) : "none");
  }
}

// Show where the chosen configuration is in every chart.
function highlight(index) {
  if (!view.charts) return;
  drawSlices();
  drawParallel();
  if (byId("traces-section").hidden) { drawCurves(); drawPaths(); drawSurface(); return; }
  const row = view.rows.indexOf(index);
  const band = row < 0 ? [] : [{ type: "rect", xref: "paper", x0: -0.012, x1: 1.004, y0: row + 0.5, y1: row + 1.5, line: { color: colour("accent"), width: 2 } }];
  Plotly.relayout(byId("traces"), { shapes: [...view.traceShapes, ...band] });
  drawCurves();
  drawPaths();
  drawSurface();
}

function drawCharts() {
  if (!view.charts || !view.data.n_looks) return;
  // Where all went on to the end, and were top, there is nothing to see.
  const drops = view.data.configurations.some((one) => !one.active);
  const flops = view.data.looks.some((look) => look.n_top < look.n_tested);
  byId("traces-section").hidden = longRace() || !(drops || flops);
  byId("survivors-section").hidden = longRace() || !drops;
  drawIncumbent();
  drawImportance();
  drawSlices();
  drawParallel();
  // Which of the two share a row must be known before either is drawn.
  const both = !byId("survivors-section").hidden && curvesGrow();
  byId("pair").classList.toggle("pair", both);
  view.share = both ? 0.5 : 1;
  drawCurves();
  if (!byId("traces-section").hidden) drawTraces();
  if (!byId("survivors-section").hidden) drawSurvivors();
  drawPaths();
  drawSurface();
}

function startCharts() {
  view.charts = true;
  fillAxes();
  drawCharts();
  if (!view.data.n_looks) return;
  const targets = [["traces", (point) => view.rows[point.y - 1]], ["incumbent", (point) => point.customdata], ...(view.data.slices ? [["slices", (point) => point.customdata]] : []), ["curves", (point) => view.curves[point.curveNumber]], ["surface", (point) => view.cellAt.get(`${point.x},${point.y}`)]];
  for (const [id, indexOf] of targets) {
    if (!byId(id).data) continue;
    const from = (event) => indexOf(event.points[0]);
    byId(id).on("plotly_hover", (event) => { if (from(event) !== undefined) showDetails(from(event)); });
    byId(id).on("plotly_click", (event) => { if (from(event) !== undefined) choose(from(event)); });
    byId(id).addEventListener("mouseleave", () => { if (view.chosen !== null) showDetails(view.chosen); });
  }
}
