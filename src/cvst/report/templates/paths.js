// Paths of all configurations through the sequential test: looks won over looks run.
function pathOf(one) {
  const won = [0];
  one.top.forEach((top) => won.push(last(won) + top));
  return won;
}

// Those with the same history share their way; it is as wide as there are many.
function sharedEdges() {
  const edges = new Map(), falls = new Map();
  for (const one of view.data.configurations) {
    const won = pathOf(one);
    for (let run = 1; run < won.length; run += 1) {
      const key = `${run - 1},${won[run - 1]},${won[run]}`;
      edges.set(key, (edges.get(key) ?? 0) + 1);
    }
    if (!one.active && won.length > 1) {
      const key = `${won.length - 1},${last(won)}`;
      falls.set(key, (falls.get(key) ?? 0) + 1);
    }
  }
  return { edges, falls };
}

// A few widths are enough to tell many from few, and keep the number of lines small.
function edgeTraces(edges) {
  const most = Math.max(...edges.values());
  const byWidth = new Map();
  for (const [key, count] of edges) {
    const width = 1 + Math.round(7 * Math.sqrt(count / most));
    const [run, before, after] = key.split(",").map(Number);
    if (!byWidth.has(width)) byWidth.set(width, { x: [], y: [] });
    byWidth.get(width).x.push(run, run + 1, null);
    byWidth.get(width).y.push(before, after, null);
  }
  return [...byWidth].map(([width, points]) => ({ type: "scatter", mode: "lines", ...points, hoverinfo: "skip", showlegend: false, line: { color: colour("dropped"), width } }));
}

function drawPaths() {
  const test = view.data.test;
  byId("paths-section").hidden = !test;
  if (!test) return;
  const runs = test.loser.map((_, run) => run);
  const { edges, falls } = sharedEdges();
  const ends = [...falls].map(([key, count]) => [...key.split(",").map(Number), count]);
  const winner = view.data.configurations[view.data.winner.index];
  const chosen = view.chosen === null ? winner : view.data.configurations[view.chosen];
  const way = (one, name, hue, width, symbol) => ({ type: "scatter", mode: "lines+markers", name, x: pathOf(one).map((_, run) => run), y: pathOf(one),
    line: { color: hue, width }, marker: { symbol, size: width + 5 }, hovertemplate: "top in %{y} of %{x} looks<extra></extra>" });
  const line = (name, y, dash, extra) => ({ type: "scatter", mode: "lines", name, x: runs, y, line: { color: colour("ink"), width: 1, dash }, hoverinfo: "skip", ...extra });
  const traces = [
    { type: "scatter", mode: "lines", x: runs, y: runs.map(() => -1), line: { width: 0 }, hoverinfo: "skip", showlegend: false },
    line("loser line", test.loser, "solid", { fill: "tonexty", fillcolor: colour("absent") }),
    line("winner line", test.winner, "dash"),
    ...edgeTraces(edges),
    { type: "scatter", mode: ends.length > 40 ? "markers" : "markers+text", name: "dropped", x: ends.map((end) => end[0]), y: ends.map((end) => end[1]), text: ends.map((end) => String(end[2])),
      textposition: "bottom right", textfont: { color: colour("flop-ink"), size: 11 }, customdata: ends.map((end) => end[2]), marker: { symbol: "x", size: 9, color: colour("flop"), line: { color: colour("paper"), width: 1 } },
      hovertemplate: "%{customdata} dropped after %{y} of %{x}<extra></extra>" },
    way(winner, view.data.finished ? "winner" : "leader", OKABE[0], chosen === winner ? 4 : 2, "circle"),
    ...(chosen === winner ? [] : [way(chosen, "chosen", OKABE[3], 4, "diamond")]),
  ];
  const most = runs.length - 1;
  draw("paths", traces, { height: 400, showlegend: true, legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom", x: 0 }, margin: { l: 50, r: 12, t: 10, b: 84 },
    xaxis: { title: { text: "looks run" }, range: [0, most + 0.3], dtick: most > 15 ? 5 : 1 }, yaxis: { title: { text: "looks in which it was top" }, range: [-0.6, most + 0.3], dtick: most > 15 ? 5 : 1, zeroline: false } });
}
