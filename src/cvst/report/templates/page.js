// Start: theme, table, charts, and news from a race that is under way.
function isDark() {
  const set = document.documentElement.dataset.theme;
  return set ? set === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
}

function showTheme() {
  byId("theme").textContent = isDark() ? "Light" : "Dark";
  byId("theme").setAttribute("aria-pressed", String(isDark()));
  byId("theme").setAttribute("aria-label", isDark() ? "Switch to light colours" : "Switch to dark colours");
  drawCharts();
  if (view.chosen !== null) highlight(view.chosen);
}

function startTheme() {
  byId("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    showTheme();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
  // Paper is white, whatever the screen is.
  let before;
  window.addEventListener("beforeprint", () => { before = document.documentElement.dataset.theme; document.documentElement.dataset.theme = "light"; view.printing = true; showTheme(); });
  window.addEventListener("afterprint", () => {
    view.printing = false;
    if (before) document.documentElement.dataset.theme = before; else delete document.documentElement.dataset.theme;
    showTheme();
    // A chart keeps the width of the paper unless it is told to look again.
    for (const chart of document.querySelectorAll(".chart")) if (chart.data && chart.offsetParent) Plotly.Plots.resize(chart);
  });
  showTheme();
}

// plotly.js travels compressed; the browser unpacks it.
async function loadPlotly() {
  const packed = Uint8Array.from(atob(byId("plotly").textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = make("script", {}, await new Response(stream).text());
  document.head.append(script);
}

function refresh(news) {
  view.data = news.data;
  // Escaped by the same template as the page itself.
  byId("race").innerHTML = news.race;
  byId("repeat").innerHTML = news.repeat;
  const focused = document.activeElement && document.activeElement.closest ? document.activeElement.closest("#table tbody tr") : null;
  view.shown = null;
  drawTable();
  if (focused) {
    const row = document.querySelector(`#table tbody tr[data-index="${focused.dataset.index}"]`);
    if (row) row.focus();
  } else if (view.chosen !== null) {
    showDetails(view.chosen);
  }
  if (view.charts) { if (byId("traces").data) { fillAxes(); drawCharts(); if (view.chosen !== null) highlight(view.chosen); } else startCharts(); }
}

// The next question is asked before the answer to the last one is drawn, so that the end
// arrives even if the race does not wait for the drawing.
function askAfter(revision) {
  const answer = fetch(`news.json?after=${revision}&wait=20`, { cache: "no-store" });
  answer.catch(() => {});
  return answer;
}

async function follow() {
  const status = byId("live-status");
  status.hidden = false;
  let revision = view.data.revision ?? -1, asked = askAfter(revision);
  for (;;) {
    try {
      const answer = await asked;
      if (!answer.ok) throw new Error(answer.statusText);
      const news = answer.status === 200 ? await answer.json() : null;
      if (news) revision = news.revision;
      if (!(news || view).data.finished) asked = askAfter(revision);
      if (news) refresh(news);
      if (view.data.finished) { status.textContent = "The race is over; this page is final."; return; }
      status.textContent = `Live: ${view.data.n_looks} looks done, ${view.data.n_active} configurations left.`;
    } catch (error) {
      status.textContent = "The race no longer answers; this page shows the last that is known.";
      return;
    }
  }
}

// Panels stand side by side where there is room: another width is another picture.
function startResizing() {
  let width = window.innerWidth, waiting = null;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width || view.printing) return;
    width = window.innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(() => { drawCharts(); if (view.chosen !== null) highlight(view.chosen); }, 150);
  });
}

document.body.classList.add("scripted");
startResizing();
startTable();
startTheme();
byId("zoom").addEventListener("change", () => { drawTraces(); if (view.chosen !== null) highlight(view.chosen); });
for (const id of ["surface-x", "surface-y"]) byId(id).addEventListener("change", drawSurface);
loadPlotly().then(startCharts).catch((error) => {
  for (const chart of document.querySelectorAll(".chart")) chart.textContent = "This browser cannot draw the charts; the tables hold the same values.";
  console.warn(error);
}).finally(() => { document.body.dataset.ready = "yes"; });
if (document.body.dataset.live === "yes") follow();
