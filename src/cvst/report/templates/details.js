// Small tools, and the panel that tells all about one configuration.
const byId = (id) => document.getElementById(id);
const view = { data: JSON.parse(byId("data").textContent), chosen: null, shown: null, limit: 100, measure: 0 };

// Data become text nodes, never markup.
function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null).map((child) => (child instanceof Node ? child : String(child))));
  return node;
}

function number(value, digits = 5) {
  if (value === null || value === undefined) return "–";
  if (value !== 0 && Math.abs(value) < 1e-4) return value.toExponential(Math.min(digits, 3) - 1).replace(/\.?0+e/, "e");
  return String(Number(value.toPrecision(digits)));
}

// Few digits in tables and legends; the details have all.
function short(text, digits = 4) {
  const value = Number(text);
  return Number.isNaN(value) || !String(text).trim() ? text : number(value, digits);
}

// What is shown of a configuration: the score that was asked for, or the loss.
const LOSS = { name: "loss", source: "losses", lower: true, has_errors: true };
const measures = () => view.data.measures || [{ ...LOSS, leader: view.data.incumbent ? view.data.incumbent.losses : [], comparable: view.data.slices ? view.data.slices.losses : [] }];
const measure = () => measures()[Math.min(view.measure, measures().length - 1)];
function valuesOf(one) {
  const { source, key, lower } = measure();
  if (source === "losses") return one.losses;
  // Tables of other scores have the sign already in which they are shown.
  if (source === "other_scores") return one.other_scores[key];
  return lower ? one.scores.map((score) => (score === null ? null : -score)) : one.scores;
}
// Negative where more is better: then less is better of the product.
const sign = () => (measure().lower ? 1 : -1);
const failedOnly = (one) => one.failures.length > 0 && one.losses.every((loss) => loss === null);

const last = (list) => (list.length ? list[list.length - 1] : null);
// A race that proposes has hundreds of looks at a few configurations each.
function longRace() {
  const { looks, n_looks: n, n_configurations: pool } = view.data;
  const fits = looks.reduce((sum, look) => sum + look.n_tested, 0);
  return n > 60 || (n > 20 && fits < 0.15 * n * pool);
}
const parameterText = (one) => Object.entries(one.parameters).map(([name, value]) => `${name}=${value}`).join(", ");

// What happened to a configuration in every look: "t", "f", "d" or "a".
function marks(one) {
  const result = new Array(view.data.n_looks).fill("a");
  one.looks.forEach((look, place) => { result[look - 1] = one.top[place] ? "t" : "f"; });
  for (const [look] of one.drops) {
    for (let next = look; next < result.length && result[next] === "a"; next += 1) result[next] = "d";
  }
  return result;
}

const SIGNS = { t: "●", f: "○", d: "×", a: "·" };
const WORDS = { t: "top", f: "flop", d: "dropped", a: "not looked at" };

function traceNode(one) {
  const codes = marks(one);
  const node = make("span", { class: "trace", role: "img", "aria-label": codes.map((code) => WORDS[code]).join(", ") });
  codes.forEach((code) => node.append(make("span", { class: code, "aria-hidden": "true" }, SIGNS[code])));
  return node;
}

// The value of the last look, or the mean over the folds of its stage.
function lastValue(one) {
  const final = last(one.looks);
  if (final === null) return { value: null, error: null };
  const stage = view.data.looks[final - 1];
  let places = [one.looks.length - 1];
  if (stage.is_fold) {
    places = one.looks.map((look, place) => place).filter((place) => view.data.looks[one.looks[place] - 1].stage === stage.stage);
  }
  const mean = (values) => (values && places.every((place) => values[place] !== null)
    ? places.reduce((sum, place) => sum + values[place], 0) / places.length : null);
  const errors = measure().has_errors && one.errors && places.every((place) => one.errors[place] !== null)
    ? Math.sqrt(places.reduce((sum, place) => sum + one.errors[place] ** 2, 0)) / places.length : null;
  return { value: mean(valuesOf(one)), error: errors };
}

function statusOf(one) {
  if (one.index === view.data.winner.index) return view.data.finished ? "winner" : "leader";
  if (!one.looks.length && one.active) return "waiting";
  if (one.active) return "left";
  if (failedOnly(one)) return "failed";
  return "dropped";
}

function fate(one) {
  const list = make("ul", {});
  for (const [look, reason] of one.drops) {
    const back = one.looks.some((other) => other > look);
    const meaning = view.data.drop_reasons[reason];
    list.append(make("li", {}, `Dropped at look ${look} (${reason})${meaning ? `: ${meaning}` : ""}.${back ? " A later stage took it up again." : ""}`));
  }
  for (const [look, reason] of one.failures) list.append(make("li", {}, `Its fit failed in look ${look}: ${reason}.`));
  if (!one.drops.length) list.append(make("li", {}, one.looks.length ? "It was never dropped." : "No look included it."));
  return list;
}

function lookTable(one) {
  const values = valuesOf(one), errors = measure().has_errors ? one.errors : null;
  const head = ["look", errors ? `${measure().name} ± s.e.` : measure().name, "p-value"];
  const stages = new Set(view.data.looks.map((look) => look.stage)).size > 1;
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...head.map((name) => make("th", { scope: "col" }, name)))));
  const body = make("tbody", {});
  one.looks.forEach((look, place) => {
    const facts = view.data.looks[look - 1];
    const name = `${look}${stages ? ` ${facts.stage}` : ""}: ${one.top[place] ? "● top" : "○ flop"}`;
    const cells = [number(values[place], 4) + (errors && errors[place] !== null ? ` ± ${number(errors[place], 2)}` : ""), number(one.p_values[place], 2)];
    body.append(make("tr", {}, make("th", { scope: "row" }, name), ...cells.map((cell) => make("td", {}, cell))));
  });
  table.append(body);
  return make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Look by look" }, table);
}

function showDetails(index) {
  if (view.shown === index) return;
  view.shown = index;
  const one = view.data.configurations[index];
  const list = make("dl", {});
  for (const [name, value] of Object.entries(one.parameters)) list.append(make("dt", {}, name), make("dd", {}, value));
  const head = make("p", { class: "lead" }, `Rank ${one.rank} of ${view.data.n_configurations}, `, make("strong", {}, statusOf(one)));
  byId("details-body").replaceChildren(head, list, longRace() ? "" : make("p", {}, traceNode(one)), fate(one), lookTable(one),
    make("p", { class: "hint" }, `p-value: of the test that decided between top and flop in that look; – where none was needed (the best, or one ahead of it was flop already). ${measure().name}: ${measure().lower ? "lower" : "higher"} is better; s.e.: standard error.`));
  byId("details").classList.add("open");
  document.body.classList.add("with-details");
}

function hideDetails() {
  byId("details").classList.remove("open");
  document.body.classList.remove("with-details");
  view.shown = null;
}
