// The race over time, and what the parameters have to do with the outcome.
const AS_MUCH = "#0072b2", OTHER = "#9a9a9a", BEST = "#e69f00";

// A single disaster would press all other points into a line.
function worst(values, shown) {
  const bad = (list) => list.filter((value) => value !== null).map((value) => sign() * value);
  const finite = bad(values).sort((a, b) => a - b);
  if (!finite.length) return sign();
  const middle = finite[Math.floor(finite.length / 2)];
  const far = Math.max(middle + 4 * (middle - finite[0]), ...bad(shown));
  return sign() * Math.min(far, finite[finite.length - 1]);
}

// No worse than the worst that is drawn.
const held = (value, limit) => (value === null ? null : sign() * Math.min(sign() * value, sign() * limit));

function valueRange(values, limit) {
  const good = sign() * Math.min(...values.filter((value) => value !== null).map((value) => sign() * value));
  const [low, high] = [Math.min(good, limit), Math.max(good, limit)];
  const margin = 0.06 * (high - low) || 0.05;
  return [low - margin, high + margin];
}

function drawIncumbent() {
  const data = view.data.incumbent;
  byId("incumbent-section").hidden = !data || !data.times.length;
  if (!data || !data.times.length) return;
  const name = plain(measure().name), led = measure().leader;
  const stages = [...new Set(view.data.looks.map((look) => look.stage))];
  const points = stages.map(() => ({ x: [], y: [], who: [] }));
  for (const one of view.data.configurations) {
    const values = valuesOf(one);
    one.looks.forEach((look, place) => {
      const group = points[stages.indexOf(view.data.looks[look - 1].stage)];
      group.x.push(data.times[look - 1]);
      group.y.push(values[place]);
      group.who.push(one.index);
    });
  }
  const all = points.flatMap((group) => group.y);
  const limit = worst(all, led);
  const unit = data.unit === "seconds" ? "s" : "";
  const behind = points.map((group, place) => ({ type: "scatter", mode: "markers", name: plain(stages[place]), x: group.x, y: group.y.map((value) => held(value, limit)), customdata: group.who,
    text: group.y.map((value) => number(value)), hovertemplate: `${name} %{text} at %{x:.3g} ${unit}<extra>${plain(stages[place])}</extra>`,
    marker: { color: OKABE[(place + 1) % OKABE.length], symbol: SYMBOLS[(place + 1) % SYMBOLS.length], size: all.length > 400 ? 5 : 7, opacity: 0.6 } }));
  const line = { x: [], y: [], who: [] };
  data.times.forEach((time, place) => {
    // Values on other rows do not compare: the line is broken there.
    if (place && data.loss_stages[place] !== data.loss_stages[place - 1]) { line.x.push(time, time); line.y.push(line.y[line.y.length - 1], null); line.who.push(data.incumbents[place - 1], null); }
    line.x.push(time); line.y.push(led[place]); line.who.push(data.incumbents[place]);
  });
  const leader = { type: "scatter", mode: "lines", name: "leader", x: line.x, y: line.y, customdata: line.who, line: { color: colour("ink"), width: 2, shape: "hv" }, hovertemplate: `leader's ${name} %{y:.5g} at %{x:.3g} ${unit}<extra></extra>` };
  const changes = data.incumbents.map((who, place) => place).filter((place) => place === 0 || data.incumbents[place] !== data.incumbents[place - 1]);
  const fresh = { type: "scatter", mode: "markers", name: "new leader", x: changes.map((place) => data.times[place]), y: changes.map((place) => led[place]), customdata: changes.map((place) => data.incumbents[place]),
    marker: { color: colour("paper"), size: 8, line: { color: colour("ink"), width: 2 } }, hovertemplate: `new leader, ${name} %{y:.5g}<extra></extra>` };
  draw("incumbent", [...behind, leader, fresh], { height: narrow() ? 380 : 340, showlegend: true, legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom", x: 0 }, margin: { l: 50, r: 16, t: 10, b: narrow() ? 120 : 84 },
    xaxis: { title: { text: data.unit === "seconds" ? "seconds since the start" : "look" } }, yaxis: { title: { text: name }, range: valueRange([...all, ...led], limit) } });
}

function drawImportance() {
  const data = view.data.importance;
  byId("importance-section").hidden = !data;
  if (!data) return;
  const names = data.names.map((name) => plain(cut(name, narrow() ? 18 : 40)));
  const bars = { type: "bar", orientation: "h", name: "with others", y: names, x: data.means, marker: { color: OKABE[5] }, width: 0.6, hovertemplate: "%{x:.0%} with others<extra>%{y}</extra>",
    error_x: { type: "data", symmetric: false, array: data.means.map((mean, place) => data.high[place] - mean), arrayminus: data.means.map((mean, place) => mean - data.low[place]), color: colour("ink"), thickness: 1.5, width: 4 } };
  const alone = { type: "bar", orientation: "h", name: "alone", y: names, x: data.alone, marker: { color: OKABE[0] }, width: 0.6, hovertemplate: "%{x:.0%} alone<extra>%{y}</extra>" };
  // The interval belongs above both bars.
  const { error_x, ...plainBars } = bars;
  const interval = { type: "scatter", mode: "markers", y: names, x: data.means, error_x, marker: { size: 1, color: colour("ink") }, showlegend: false, hoverinfo: "skip" };
  draw("importance", [plainBars, alone, interval], { barmode: "overlay", height: 110 + 34 * names.length, showlegend: true, legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom", x: 0, traceorder: "normal" }, margin: { l: 50, r: 16, t: 6, b: 74 },
    xaxis: { tickformat: ".0%", range: [0, Math.min(1.05, 1.05 * Math.max(0.1, ...data.high))] }, yaxis: { autorange: "reversed", type: "category", showgrid: false } });
}

function drawSlices() {
  const data = view.data.slices;
  byId("slices-section").hidden = !data;
  if (!data) return;
  [byId("slices-fewer").textContent, byId("slices-as-many").textContent] = data.labels;
  const columns = Math.min(narrow() ? 1 : 3, data.axes.length), rows = Math.ceil(data.axes.length / columns);
  const values = measure().comparable;
  const limit = worst(values, values.filter((_, place) => data.as_much[place]));
  const y = values.map((value) => held(value, limit));
  const winner = data.numbers.indexOf(view.data.winner.index), chosen = data.numbers.indexOf(view.chosen);
  const traces = [], extra = {};
  const gap = 0.045, width = (1 - gap * (columns - 1)) / columns;
  const space = narrow() ? 62 : 58, height = 26 + rows * (170 + space), tall = 170 / (height - 26);
  // Names side by side share the width of a panel.
  const pixels = (byId("slices").clientWidth - 70) * width;
  const room = (ticks) => Math.max(4, Math.min(16, Math.floor(pixels / (7 * Math.max(1, ticks.length)))));
  data.axes.forEach((axis, place) => {
    const [row, column] = [Math.floor(place / columns), place % columns];
    const key = place ? String(place + 1) : "";
    const upper = 1 - row * (170 + space) / (height - 26);
    const ticks = narrow() ? axis.ticks : axis.ticks.filter((_, n) => axis.ticks.length < 7 || n % 2 === 0 || axis.scale === "categories");
    extra[`xaxis${key}`] = { ...layout({}).xaxis, domain: [column * (width + gap), column * (width + gap) + width], anchor: `y${key}`, range: axis.span, tickvals: ticks.map((tick) => tick[0]), ticktext: ticks.map((tick) => plain(cut(tick[1], room(ticks)))), title: { text: plain(cut(axis.name, 34)), standoff: 4 }, zeroline: false, automargin: false };
    extra[`yaxis${key}`] = { ...layout({}).yaxis, domain: [Math.max(0, upper - tall), upper], anchor: `x${key}`, range: valueRange(values, limit), showticklabels: column === 0, zeroline: false, title: { text: column === 0 ? plain(cut(measure().name, 22)) : "" } };
    const group = (wanted, hue, size, opacity, symbol) => {
      const places = data.numbers.map((_, n) => n).filter(wanted);
      return { type: "scatter", mode: "markers", xaxis: `x${key}`, yaxis: `y${key}`, x: places.map((n) => axis.positions[n]), y: places.map((n) => y[n]), customdata: places.map((n) => data.numbers[n]), hoverinfo: "none",
        marker: { color: hue, size, opacity, symbol, line: { width: symbol === "star" ? 1 : 0, color: "#000000" } } };
    };
    traces.push(group((n) => !data.as_much[n] && n !== winner, OTHER, 6, 0.6, "circle"), group((n) => data.as_much[n] && n !== winner, AS_MUCH, 7, 0.9, "circle"), group((n) => n === winner, BEST, 14, 1, "star"));
    if (chosen >= 0 && chosen !== winner) traces.push({ ...group((n) => n === chosen, "#e754c6", 14, 1, "circle-open"), marker: { symbol: "circle-open", size: 15, color: "#e754c6", line: { width: 3 } } });
  });
  draw("slices", traces, { height, margin: { l: 56, r: 12, t: 8, b: 18 }, ...extra });
}

// Dark to pale, the best first: Viridis at eight places.
const SHADES = ["#440154", "#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#a0da39", "#dfe318"];

// A name in up to three lines of at most this many letters, broken after its words.
function linesOf(name, room) {
  const lines = [""];
  for (const part of name.split(/(?<=[_ .-])/)) {
    if (last(lines) && (last(lines) + part).length > room) lines.push("");
    lines.push(lines.pop() + part);
  }
  const [first, second, ...others] = lines;
  return [first, second, others.join("")].filter((line) => line).map((line) => cut(line, room));
}

// Lines rather than plotly's own chart, which needs WebGL.
function drawParallel() {
  const data = view.data.slices;
  const hidden = !data || data.axes.length < 2;
  byId("parallel-section").hidden = hidden;
  if (hidden) return;
  const values = measure().comparable;
  const known = data.numbers.map((_, place) => place).filter((place) => values[place] !== null).sort((a, b) => sign() * (values[b] - values[a]));
  const limit = worst(values, []), best = sign() * Math.min(...known.map((place) => sign() * values[place]));
  const [low, high] = [Math.min(best, limit), Math.max(best, limit)];
  const most = narrow() ? 4 : 9;
  const shown = data.axes.slice(0, most);
  const height = (value) => (high > low ? (held(value, limit) - low) / (high - low) : 0.5);
  const pathOf = (place) => [...shown.map((axis) => axis.positions[place]), height(values[place])];
  const across = [...shown.keys(), shown.length];
  const shades = isDark() ? [...SHADES].reverse() : SHADES;
  const traces = shades.map((hue) => ({ type: "scatter", mode: "lines", x: [], y: [], hoverinfo: "skip", line: { color: hue, width: 1 }, opacity: Math.max(0.3, Math.min(0.9, 60 / known.length)) })).reverse();
  known.forEach((place, n) => {
    const bin = traces[Math.floor((n * SHADES.length) / known.length)];
    bin.x.push(...across, null);
    bin.y.push(...pathOf(place), null);
  });
  last(traces).line.width = 2;
  for (const [index, hue, symbol] of [[view.data.winner.index, BEST, "star"], [view.chosen, "#e754c6", "diamond"]]) {
    const place = data.numbers.indexOf(index);
    if (place >= 0 && values[place] !== null) traces.push({ type: "scatter", mode: "lines+markers", x: across, y: pathOf(place), hoverinfo: "skip", line: { color: hue, width: 3 }, marker: { symbol, size: 9 } });
  }
  const steps = [0, 0.25, 0.5, 0.75, 1].map((share) => [share, number(low + share * (high - low), 3)]);
  const annotations = [...shown.map((axis) => axis.ticks), steps].flatMap((ticks, place) => ticks.map(([y, text]) => ({ x: place, y, text: plain(cut(text, narrow() ? 7 : 12)), showarrow: false, xanchor: "left", xshift: 2, font: { size: 10 }, bgcolor: `${colour("paper")}cc`, borderpad: 1 })));
  const shapes = across.map((x) => ({ type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1, line: { color: colour("faint"), width: 1 } }));
  // Names share the width of the chart, and half of the first one is left of its axis.
  const letter = 7.2, sides = [0.15, 0.45], units = shown.length + sides[0] + sides[1];
  const inside = (byId("parallel").clientWidth || 800) - 40;
  const room = Math.max(4, Math.min(22, Math.floor((0.9 * inside) / units / letter)));
  const labels = [...shown.map((axis) => axis.name), measure().name].map((name) => linesOf(name, room));
  const half = (label) => 4 + (letter * Math.max(...label.map((line) => line.length))) / 2;
  const margin = { l: Math.max(20, half(labels[0])), r: Math.max(20, half(last(labels)) - (sides[1] * inside) / units), t: 10, b: 14 + 18 * Math.max(2, ...labels.map((label) => label.length)) };
  draw("parallel", traces, { height: 360, margin, annotations, shapes,
    xaxis: { tickvals: across, ticktext: labels.map((label) => label.map(plain).join("<br>")), tickangle: 0, range: [-sides[0], shown.length + sides[1]], showgrid: false, zeroline: false },
    yaxis: { visible: false, range: [Math.min(...shown.map((axis) => axis.span[0])), 1.06] } });
}
