"use strict";
// The page on which to choose. All text of users goes into the document as text (el, svg), never as HTML.
// Choosing follows choosing.py, rule by rule.
(() => {
const { title, objectives, results, solutions } = JSON.parse(document.getElementById("data").textContent);
const TIE_BREAK = 1e-3, FLAT = 1e-9, COLOURS = 8;
const MOST_PANELS = 15, MOST_NUMBERED = 60, MOST_NAMED = 25, MOST_MOVES = 100;
const state = { chosen: -1, kept: -1, limits: objectives.map(() => null), weights: objectives.map(() => 5) };
const views = []; // for each plot, the element of each solution
const everything = solutions.map((_, i) => i);

// ---- elements

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}
const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const section = (id) => document.getElementById(id);
const room = (element) => Math.max(240, element.clientWidth);
const cell = (content, words = false) => el("td", { class: words ? "words" : null }, content);
const scrolling = (label, ...children) => el("div", { class: "scroll", role: "region", "aria-label": label, tabindex: 0 }, ...children);

function table(caption, header, rows) {
  const head = header.map(([name, words]) => el("th", { scope: "col", class: words ? "words" : null }, name));
  return el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows));
}

// ---- numbers

const format = (value) => value.toLocaleString("en", { maximumSignificantDigits: Math.abs(value) >= 1e6 ? 9 : 6 });
const signed = (value) => (value > 0 ? "+" : value < 0 ? "\u2212" : "\u00b1") + format(Math.abs(value));
const clock = (value) => {
  const minutes = Math.abs(Math.round(value)), two = (n) => String(n).padStart(2, "0");
  return `${Math.round(value) < 0 ? "\u2212" : ""}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
};
const planOf = (i) => results[solutions[i].result].plan;
const timeOf = (i) => (planOf(i).clock ? clock : format);
const plural = (n, word) => `${format(n)} ${word}${n === 1 ? "" : "s"}`;

function ticks(low, high, n) {
  const rough = (high - low) / n || Math.abs(low) || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high && found.length < 20; k++) found.push(k * step + 0);
  return found;
}

// ---- choosing

const better = (i, k) => (objectives[k].maximise ? -solutions[i].values[k] : solutions[i].values[k]);
const isWithin = (i) => state.limits.every((limit, k) =>
  limit === null || (objectives[k].maximise ? solutions[i].values[k] >= limit : solutions[i].values[k] <= limit));
const least = Math.min(...solutions.map((s) => s.violations));
const candidates = () => everything.filter((i) => !solutions[i].dominated && solutions[i].violations === least && isWithin(i));
const total = (row) => row.reduce((sum, x) => sum + x, 0);
const smallest = (scores) => scores.indexOf(Math.min(...scores));

function scaled(rows) {
  const spans = objectives.map((_, k) => {
    const values = rows.map((i) => better(i, k)), low = Math.min(...values);
    return [low, Math.max(...values) - low || 1];
  });
  return rows.map((i) => spans.map(([low, width], k) => (better(i, k) - low) / width));
}
function compromise(rows, weights) {
  const sum = total(weights), share = weights.map((w) => (sum > 0 ? w / sum : 1 / weights.length));
  return rows[smallest(scaled(rows).map((row) => {
    const weighted = row.map((x, k) => x * share[k]);
    return Math.max(...weighted) + TIE_BREAK * total(weighted);
  }))];
}
function knee(rows) {
  const sums = scaled(rows).map(total), best = smallest(sums);
  return sums[best] < 1 - FLAT ? rows[best] : compromise(rows, objectives.map(() => 1));
}
function marks(rows) {
  const found = new Map();
  if (objectives.length < 2 || rows.length < 2) return found;
  const put = (i, word) => found.set(i, [...(found.get(i) ?? []), word]);
  const points = scaled(rows), sums = points.map(total);
  objectives.forEach(({ name }, k) => {
    let best = 0;
    points.forEach((row, j) => {
      if (row[k] < points[best][k] || (row[k] === points[best][k] && sums[j] < sums[best])) best = j;
    });
    put(rows[best], `best ${name}`);
  });
  put(knee(rows), "knee");
  return found;
}

// ---- words

const called = (i) => `Solution ${solutions[i].number}${results.length > 1 ? ` (${results[solutions[i].result].label})` : ""}`;
const valued = (i) => objectives.map(({ name }, k) => `${name} ${format(solutions[i].values[k])}`).join(", ");
const stopName = (i, row) => planOf(i).stops[row[0]].name;
const routeWords = (i, route) => route.filter((row) => row[0] > 0).map((row) => stopName(i, row)).join(" \u2013 ");
function inWords(i) {
  const { words, routes, moves } = solutions[i];
  return words ?? (routes ? routes.map((route) => routeWords(i, route)).join(" | ") : moves.join(" "));
}
let standing = new Map();
const labelled = (i) => [`${called(i)}: ${valued(i)}`, ...(standing.get(i) ?? [])].join(", ");

// ---- plots

const SHAPES = [
  (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`,
  (r) => `M${-r} ${-r}H${r}V${r}H${-r}Z`,
  (r) => `M0 ${-1.3 * r}L${1.2 * r} ${r}H${-1.2 * r}Z`,
  (r) => `M0 ${-1.4 * r}L${1.4 * r} 0L0 ${1.4 * r}L${-1.4 * r} 0Z`,
];
const colour = (n) => `s${n % COLOURS}`;
const shape = (result, r) => SHAPES[result % SHAPES.length](r);

function span(k) {
  const values = solutions.map((s) => s.values[k]);
  const low = Math.min(...values), high = Math.max(...values), pad = (high - low) * 0.06 || Math.abs(low) * 0.1 || 1;
  return [low - pad, high + pad];
}
const linear = ([low, high], from, to) => (value) => from + ((value - low) / (high - low)) * (to - from);

// Solutions as the radio buttons of one group: a single stop for Tab, arrows go from one to the next.
function choosable(figure, elements, order, nearest) {
  figure.addEventListener("click", (event) => {
    const box = figure.getBoundingClientRect(), at = nearest(event.clientX - box.left, event.clientY - box.top);
    if (at !== undefined) choose(at);
  });
  figure.addEventListener("keydown", (event) => {
    const rows = order.filter((i) => isWithin(i)), here = rows.indexOf(state.chosen), last = rows.length - 1;
    const to = { ArrowRight: here + 1, ArrowDown: here + 1, ArrowLeft: here - 1, ArrowUp: here - 1, Home: 0, End: last,
      " ": here, Enter: here }[event.key];
    if (to === undefined || last < 0) return;
    event.preventDefault();
    choose(rows[(to + rows.length) % rows.length]);
    elements[state.chosen].focus();
  });
  // What is chosen is drawn once more, above the others: its element stays where it is in the order.
  const above = svg("g", { class: "above", "aria-hidden": "true" });
  elements.raise = () => above.replaceChildren(...[state.kept, state.chosen].filter((i) => i >= 0).map((i) =>
    svg("path", { class: elements[i].getAttribute("class"), d: elements[i].getAttribute("d"), transform: elements[i].getAttribute("transform") })));
  figure.append(...order.map((i) => elements[i]), above);
  views.push(elements);
  return figure;
}
const radio = (attributes) => svg("path", { role: "radio", "aria-checked": "false", tabindex: -1, ...attributes });

function axes(x, y, spans, width, height, left, bottom, names, n) {
  const group = svg("g", { "aria-hidden": "true" });
  for (const value of ticks(...spans[0], n[0])) {
    group.append(svg("line", { class: "grid", x1: x(value), x2: x(value), y1: 18, y2: height - bottom }),
      svg("text", { x: x(value), y: height - bottom + 15, "text-anchor": x(value) > width - 24 ? "end" : "middle" }, format(value)));
  }
  for (const value of ticks(...spans[1], n[1])) {
    group.append(svg("line", { class: "grid", x1: left, x2: width, y1: y(value), y2: y(value) }),
      svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, format(value)));
  }
  group.append(svg("path", { class: "axis", d: `M${left} 18V${height - bottom}H${width}` }),
    svg("text", { x: width, y: height - 4, "text-anchor": "end" }, `${names[0]} \u2192`),
    svg("text", { x: 0, y: 11 }, `\u2191 ${names[1]}`));
  return group;
}

function scatter(width, kx, ky, isSmall) {
  const height = Math.min(width * 0.8, isSmall ? 260 : 400), left = 52, bottom = 36;
  const spans = [span(kx), span(ky)], names = [objectives[kx].name, objectives[ky].name];
  const x = linear(spans[0], left, width - 12), y = linear(spans[1], height - bottom, 18);
  const places = solutions.map((s) => [x(s.values[kx]), y(s.values[ky])]);
  const size = isSmall ? 4.5 : 6;
  const elements = places.map(([cx, cy], i) => radio({ class: `point ${colour(solutions[i].result)}`,
    d: shape(solutions[i].result, size), transform: `translate(${cx.toFixed(1)} ${cy.toFixed(1)})` }));
  const figure = svg("svg", { width, height, role: "radiogroup", "aria-label": `Solutions by ${names[0]} and ${names[1]}` },
    axes(x, y, spans, width, height, left, bottom, names, [Math.max(2, width / 110), height / 60]));
  const order = [...everything].sort((a, b) => solutions[a].values[kx] - solutions[b].values[kx] || a - b);
  choosable(figure, elements, order, (px, py) => {
    const within = everything.filter(isWithin);
    return within[smallest(within.map((i) => Math.hypot(places[i][0] - px, places[i][1] - py)))];
  });
  if (isSmall) return figure;
  const words = svg("g", { "aria-hidden": "true" });
  figure.append(words);
  elements.draw = () => {
    words.replaceChildren(...[...standing].map(([i, says]) => {
      const isRight = places[i][0] > width / 2;
      return svg("text", { class: "mark", x: places[i][0] + (isRight ? -10 : 10), y: places[i][1] - 10,
        "text-anchor": isRight ? "end" : "start" }, says.join(", "));
    }));
  };
  return figure;
}

function parallel(width) {
  const height = 300, top = 44, bottom = 24, m = objectives.length, side = Math.min(70, width / (2 * m));
  const x = (k) => side + (k * (width - 2 * side)) / (m - 1);
  const spans = objectives.map((_, k) => {
    const values = solutions.map((s) => s.values[k]), low = Math.min(...values), high = Math.max(...values);
    return objectives[k].maximise ? [high, low === high ? low - 1 : low] : [low, low === high ? low + 1 : high];
  });
  const y = spans.map((s) => linear(s, height - bottom, top));
  const lines = solutions.map((s) => s.values.map((value, k) => [x(k), y[k](value)]));
  const elements = lines.map((points, i) => radio({ class: `path ${colour(solutions[i].result)}`,
    d: `M${points.map(([px, py]) => `${px.toFixed(1)} ${py.toFixed(1)}`).join("L")}` }));
  const figure = svg("svg", { width, height, role: "radiogroup", "aria-label": "Solutions across all objectives" });
  const scale = svg("g", { "aria-hidden": "true" });
  objectives.forEach(({ name }, k) => {
    const anchor = k === 0 ? "start" : k === m - 1 ? "end" : "middle", at = k === 0 ? 0 : k === m - 1 ? width : x(k);
    scale.append(svg("line", { class: "axis", x1: x(k), x2: x(k), y1: top, y2: height - bottom }),
      svg("text", { class: "mark", x: at, y: 12 + (m > 4 && k % 2 ? 14 : 0), "text-anchor": anchor }, name),
      svg("text", { x: x(k), y: top - 6, "text-anchor": "middle" }, format(spans[k][1])),
      svg("text", { x: x(k), y: height - 6, "text-anchor": "middle" }, format(spans[k][0])));
  });
  figure.append(scale);
  return choosable(figure, elements, everything, (px, py) => {
    const within = everything.filter(isWithin), k = Math.min(m - 2, Math.max(0, Math.floor(((px - side) / (width - 2 * side)) * (m - 1))));
    const share = (px - x(k)) / (x(k + 1) - x(k));
    return within[smallest(within.map((i) => Math.abs(lines[i][k][1] * (1 - share) + lines[i][k + 1][1] * share - py)))];
  });
}

function drawFront() {
  const place = section("front-plots"), width = room(place), m = objectives.length;
  views.length = 0;
  if (m === 2) place.replaceChildren(scatter(width, 0, 1, false));
  else {
    const pairs = objectives.flatMap((_, a) => objectives.slice(a + 1).map((_, b) => [a, a + 1 + b]));
    const across = width < 420 ? 1 : Math.min(3, Math.max(2, Math.floor(width / 240))), each = (width - 16 * (across - 1)) / across;
    const panels = el("div", { class: "panels" }, ...(pairs.length <= MOST_PANELS ? pairs.map(([a, b]) => scatter(each, a, b, true)) : []));
    panels.style.gridTemplateColumns = `repeat(${across}, minmax(0, 1fr))`;
    place.replaceChildren(el("figure", {}, parallel(width), el("figcaption", {}, "A line for each solution; on every axis lower is better.")), panels);
  }
  update();
}

// ---- what is chosen, everywhere it shows

function choose(i) {
  state.chosen = i;
  update();
  showChosen();
  showComparison();
}

function update() {
  standing = marks(candidates());
  for (const elements of views) {
    elements.forEach((element, i) => {
      const isChosen = i === state.chosen, isOut = !isWithin(i), label = labelled(i);
      const flags = { "is-chosen": isChosen, "is-kept": i === state.kept, "is-out": isOut, "is-marked": standing.has(i),
        "is-dominated": solutions[i].dominated };
      for (const [name, is] of Object.entries(flags)) element.classList.toggle(name, Boolean(is));
      element.setAttribute("aria-checked", isChosen);
      element.setAttribute("tabindex", isChosen ? 0 : -1);
      if (isOut) element.setAttribute("aria-disabled", "true"); else element.removeAttribute("aria-disabled");
      if (element.getAttribute("aria-label") !== label) {
        element.setAttribute("aria-label", label);
        element.replaceChildren(svg("title", {}, label));
      }
    });
    elements.raise();
    elements.draw?.();
  }
  updateList();
  const n = everything.filter(isWithin).length, limited = state.limits.some((limit) => limit !== null);
  const count = limited ? `${n} of ${solutions.length} within your limits. ` : "";
  section("status").textContent = solutions.length === 0 ? "There is no solution to choose."
    : n === 0 ? `No solution is within these limits.` : `${count}Chosen: ${labelled(state.chosen)}.`;
}

// ---- the list of all solutions

function makeList() {
  const isMany = results.length > 1, isLate = solutions.some((s) => s.violations > 0);
  const header = [["Number", true], ...(isMany ? [["Result", true]] : []), ...objectives.map(({ name }) => [name, false]),
    ...(isLate ? [["Violations", false]] : []), ["Stands out", true], ["In words", true]];
  const rows = everything.map((i) => el("tr", { onclick: () => choose(i) },
    el("th", { scope: "row", class: "words" }, el("button", { "aria-pressed": "false", "aria-label": called(i) }, String(solutions[i].number))),
    ...(isMany ? [cell(results[solutions[i].result].label, true)] : []),
    ...solutions[i].values.map((value) => cell(format(value))),
    ...(isLate ? [cell(format(solutions[i].violations))] : []),
    cell("", true), el("td", { class: "words" }, el("div", { class: "long" }, inWords(i)))));
  const shown = results.reduce((sum, result) => sum + result.total, 0);
  section("list").append(
    el("p", { class: "note" }, shown > solutions.length
      ? `${format(solutions.length)} of ${format(shown)} solutions are on this page, evenly spaced; the saved result has all of them.`
      : "Press a number to choose that solution."),
    scrolling("Table of all solutions", table("Solutions of the front", header, rows)),
    el("div", { class: "buttons" }, el("button", { onclick: downloadFront }, "Download all as CSV")));
  listed = rows;
}
let listed = [];
function updateList() {
  listed.forEach((row, i) => {
    row.classList.toggle("is-chosen", i === state.chosen);
    row.classList.toggle("is-out", !isWithin(i));
    row.querySelector("button").setAttribute("aria-pressed", i === state.chosen);
    row.cells[row.cells.length - 2].textContent = [...(standing.get(i) ?? []), ...(solutions[i].dominated ? ["beaten by another result"] : [])].join(", ");
  });
}

// ---- the chosen solution

const hasMap = (i) => solutions[i].routes && planOf(i).stops.some((stop) => (stop.x ?? stop.lat ?? null) !== null);
const legs = (i) => solutions[i].routes.flatMap((route) => route.slice(1).map((row, j) => `${stopName(i, route[j])}\u0000${stopName(i, row)}`));
const visits = (i) => solutions[i].routes.flatMap((route, r) => route.filter((row) => row[0] > 0).map((row) => ({ name: stopName(i, row), route: r + 1, row })));

function drawMap(i, width, same = new Set()) {
  const { stops, geographic } = planOf(i), { routes } = solutions[i];
  const [across, up] = geographic ? ["lon", "lat"] : ["x", "y"];
  const known = stops.map((stop) => (stop[across] ?? null) !== null && (stop[up] ?? null) !== null);
  const lons = stops.map((stop) => stop[across]).filter((_, s) => known[s]);
  const isWrapped = geographic && Math.max(...lons) - Math.min(...lons) > 180; // across the date line
  const shrink = geographic ? Math.cos((Math.PI / 180) * (total(stops.filter((_, s) => known[s]).map((stop) => stop[up])) / lons.length)) : 1;
  const flat = stops.map((stop, s) => known[s] && [(isWrapped && stop[across] < 0 ? stop[across] + 360 : stop[across]) * shrink, stop[up]]);
  const box = [0, 1].map((axis) => { const v = flat.filter(Boolean).map((p) => p[axis]); return [Math.min(...v), Math.max(...v)]; });
  const margin = 26, spread = [0, 1].map((axis) => box[axis][1] - box[axis][0] || 1);
  const zoom = Math.min((width - 2 * margin) / spread[0], (Math.min(width, 440) - 2 * margin) / spread[1]);
  const height = spread[1] * zoom + 2 * margin, shift = (width - spread[0] * zoom) / 2;
  const place = flat.map((p) => p && [shift + (p[0] - box[0][0]) * zoom, height - margin - (p[1] - box[1][0]) * zoom]);
  const figure = svg("svg", { width, height, role: "img", "aria-label": `Map of ${plural(routes.length, "route")}; the timetable has the same stops in words` });
  routes.forEach((route, r) => {
    const rows = route.filter((row) => place[row[0]]);
    rows.slice(1).forEach((row, j) => {
      const [from, to] = [place[rows[j][0]], place[row[0]]], leg = `${stopName(i, rows[j])}\u0000${stopName(i, row)}`;
      figure.append(svg("path", { class: `route ${colour(r)}${same.has(leg) ? " is-same" : ""}`, d: `M${from.map((v) => v.toFixed(1))}L${to.map((v) => v.toFixed(1))}` }));
    });
  });
  const isNumbered = stops.length <= MOST_NUMBERED;
  routes.forEach((route, r) => route.filter((row) => row[0] > 0).forEach((row, j) => {
    if (!place[row[0]]) return;
    const [x, y] = place[row[0]], name = stopName(i, row);
    figure.append(svg("circle", { class: `stop ${colour(r)}`, cx: x, cy: y, r: isNumbered ? 9 : 4 }, svg("title", {}, `${j + 1}: ${name}`)));
    if (isNumbered) figure.append(svg("text", { class: "stop-number", x, y: y + 3.5 }, String(j + 1)));
    if (stops.length <= MOST_NAMED && name !== String(row[0])) {
      const isRight = x > width - 90;
      figure.append(svg("text", { class: "stop-name", x: x + (isRight ? -12 : 12), y: y + 4, "text-anchor": isRight ? "end" : "start" },
        name.length > 16 ? `${name.slice(0, 15)}\u2026` : name));
    }
  }));
  if (place[0] && stops.length <= MOST_NAMED) figure.append(svg("text", { class: "stop-name", x: place[0][0], y: place[0][1] + 20, "text-anchor": "middle" }, stops[0].name.slice(0, 16)));
  if (place[0]) figure.append(svg("path", { class: "depot", d: SHAPES[1](8), transform: `translate(${place[0][0]} ${place[0][1]})` }, svg("title", {}, stops[0].name)));
  return el("figure", {}, figure);
}

function openFrom({ opens = null, closes = null }, time) {
  if (closes === null) return opens ? `from ${time(opens)}` : "";
  return opens === null ? `until ${time(closes)}` : `${time(opens)}\u2013${time(closes)}`;
}

const KNOWN_COLUMNS = new Set(["name", "x", "y", "lat", "lon", "opens", "closes", "service", "demand", "kind"]);
function timetable(i, route, caption) {
  const { stops } = planOf(i), time = timeOf(i);
  const isLoaded = route.some((row) => row[5] > 0), hasWindows = stops.some((stop) => (stop.closes ?? null) !== null);
  const more = [...new Set(stops.flatMap((stop) => Object.keys(stop)))].filter((name) => !KNOWN_COLUMNS.has(name));
  const header = [["#", true], ["Stop", true], ["Arrives", false], ["Waits", false], ["Late", false], ["Leaves", false],
    ...(hasWindows ? [["Window", false]] : []), ...(isLoaded ? [["Load", false]] : []), ...more.map((name) => [name, true])];
  let position = 0;
  const rows = route.map((row, j) => {
    const [s, arrival, waiting, lateness, departure, load] = row, stop = stops[s], isDepot = s === 0;
    return el("tr", {}, cell(isDepot ? "" : String(++position), true), el("th", { scope: "row", class: "words" }, stop.name),
      cell(isDepot && j === 0 ? "" : time(arrival)), cell(waiting > 1e-6 ? time(waiting) : ""),
      el("td", { class: lateness > 1e-6 ? "late" : null }, lateness > 1e-6 ? time(lateness) : ""),
      cell(isDepot && j > 0 ? "" : time(departure)),
      ...(hasWindows ? [cell(openFrom(stop, time))] : []), ...(isLoaded ? [cell(format(load ?? 0))] : []),
      ...more.map((name) => cell(String(stop[name] ?? ""), true)));
  });
  return table(caption, header, rows);
}

function routeSummary(i, route) {
  const time = timeOf(i), visited = route.filter((row) => row[0] > 0), late = visited.filter((row) => row[3] > 1e-6);
  const waiting = total(route.map((row) => row[2]));
  return [plural(visited.length, "stop"), `leaves at ${time(route[0][4])}`, `back at ${time(route[route.length - 1][1])}`,
    waiting > 1e-6 ? `waits ${time(waiting)} in all` : "no waiting",
    late.length ? `late at ${plural(late.length, "stop")}` : "nowhere late"].join(", ");
}

function values(i) {
  return el("dl", { class: "values" }, ...objectives.flatMap(({ name, maximise }, k) =>
    [el("dt", {}, maximise ? `${name} (more is better)` : name), el("dd", {}, format(solutions[i].values[k]))]),
  ...(solutions[i].violations ? [el("dt", {}, "violations"), el("dd", { class: "late" }, format(solutions[i].violations))] : []));
}

function body(i, width, same) {
  const { routes } = solutions[i], parts = [values(i)];
  if (!routes) parts.push(el("p", {}, inWords(i)));
  else {
    if (solutions[i].words) parts.push(el("p", {}, solutions[i].words));
    if (hasMap(i)) parts.push(drawMap(i, width, same));
    routes.forEach((route, r) => {
      const caption = el("span", { class: colour(r) }, routes.length > 1 ? `Route ${r + 1}` : "Timetable");
      const swatch = svg("svg", { class: `swatch ${colour(r)}`, width: 28, height: 8, "aria-hidden": "true" }, svg("path", { class: "route", d: "M0 4H28" }));
      if (routes.length > 1) caption.prepend(swatch);
      parts.push(el("p", { class: "note" }, `${routes.length > 1 ? `Route ${r + 1}: ` : ""}${routeSummary(i, route)}.`),
        scrolling(`Timetable of ${called(i)}, route ${r + 1}`, timetable(i, route, caption)));
    });
  }
  return parts;
}

function showChosen() {
  const place = section("chosen-body"), i = state.chosen;
  if (i < 0) return;
  const isKept = state.kept === i;
  place.replaceChildren(el("h3", {}, [called(i), ...(standing.get(i) ?? [])].join(", ")), ...body(i, room(place)),
    el("div", { class: "buttons" },
      el("button", { id: "keep", onclick: keep, "aria-pressed": String(isKept) }, "Keep to compare"),
      el("button", { onclick: downloadChosen }, "Download as CSV")),
    el("p", { class: "note" }, isKept ? "Now choose another solution: both are shown side by side below." : ""));
}

// ---- two solutions side by side

function keep() {
  state.kept = state.kept === state.chosen ? -1 : state.chosen;
  update();
  showChosen();
  showComparison();
  section("keep").focus();
}

function showComparison() {
  const place = section("comparison"), { kept, chosen } = state;
  place.hidden = kept < 0 || kept === chosen;
  if (place.hidden) return;
  const both = [kept, chosen], areRoutes = both.every((i) => solutions[i].routes);
  const same = areRoutes ? new Set(legs(kept).filter((leg) => legs(chosen).includes(leg))) : new Set();
  const rows = objectives.map(({ name }, k) => {
    const [a, b] = both.map((i) => solutions[i].values[k]);
    const change = better(chosen, k) - better(kept, k);
    return el("tr", {}, el("th", { scope: "row", class: "words" }, name), cell(format(a)), cell(format(b)),
      cell(change ? `${signed(b - a)} (${change < 0 ? "better" : "worse"})` : "equal"));
  });
  const header = [["Objective", true], [called(kept), false], [called(chosen), false], ["Change", false]];
  const content = el("div", {}, scrolling("Objectives side by side", table("Objectives", header, rows)),
    ...(areRoutes ? changedRoutes(kept, chosen, same) : changedMoves(kept, chosen)));
  place.replaceChildren(section("comparison-title"), content,
    el("div", { class: "buttons" }, el("button", { onclick: () => { state.kept = -1; update(); showChosen(); showComparison(); section("chosen").focus(); } }, "Stop comparing")));
  const maps = both.filter(hasMap);
  if (maps.length === 2) {
    const whole = room(content), width = whole < 620 ? whole : (whole - 16) / 2;
    content.firstChild.after(el("div", { class: "pair" }, ...both.map((i) => el("div", {}, el("h3", {}, called(i)), drawMap(i, width, same)))),
      el("p", { class: "note" }, "Legs that both have are thin, those that only one has are thick."));
  }
}

function changedRoutes(a, b, same) {
  const before = new Map(visits(a).map((visit) => [visit.name, visit])), time = timeOf(b), isMany = [a, b].some((i) => solutions[i].routes.length > 1);
  const shift = (minutes) => (Math.abs(minutes) < 1e-6 ? "equal" : `${time(Math.abs(minutes))} ${minutes < 0 ? "earlier" : "later"}`);
  const changed = visits(b).filter(({ name, route, row }) => {
    const old = before.get(name);
    return !old || old.route !== route || Math.abs(old.row[1] - row[1]) > 1e-6;
  });
  const rows = changed.map(({ name, route, row }) => {
    const old = before.get(name);
    return el("tr", {}, el("th", { scope: "row", class: "words" }, name), ...(isMany ? [cell(old ? `${old.route} \u2192 ${route}` : String(route))] : []),
      cell(old ? timeOf(a)(old.row[1]) : "not visited"), cell(time(row[1])), cell(old ? shift(row[1] - old.row[1]) : ""));
  });
  const header = [["Stop", true], ...(isMany ? [["Route", false]] : []), [called(a), false], [called(b), false], ["Change", false]];
  const words = `${same.size} of ${legs(b).length} legs are the same; ${plural(changed.length, "stop")} of ${visits(b).length} ${changed.length === 1 ? "is" : "are"} reached at another time.`;
  return [el("p", {}, words), ...(rows.length ? [scrolling("What changes, stop by stop", table("What changes", header, rows))] : [])];
}

function changedMoves(a, b) {
  const [old, now] = [a, b].map((i) => solutions[i].moves ?? []);
  const parts = [a, b].map((i) => el("p", {}, el("strong", {}, `${called(i)}: `), inWords(i)));
  if (old.length !== now.length) return parts;
  const changed = now.map((_, j) => j).filter((j) => old[j] !== now[j]);
  const rows = changed.slice(0, MOST_MOVES).map((j) => el("tr", {}, el("th", { scope: "row", class: "words" }, String(j + 1)), cell(old[j], true), cell(now[j], true)));
  const header = [["Move", true], [called(a), true], [called(b), true]];
  return [...parts, el("p", {}, `${changed.length} of ${now.length} moves are different.`),
    ...(rows.length ? [scrolling("What changes, move by move", table("What changes", header, rows))] : [])];
}

// ---- limits and weights

function makeWishes() {
  const place = section("wishes");
  if (objectives.length < 2 || solutions.length < 2) { place.remove(); return; }
  const limits = el("fieldset", { id: "limits" }, el("legend", {}, "Limits"));
  const weights = el("fieldset", { id: "weights" }, el("legend", {}, "Weights"),
    el("p", { class: "note" }, "Moving a weight chooses the best compromise for it."));
  objectives.forEach(({ name, maximise }, k) => {
    const values = solutions.map((s) => s.values[k]), low = Math.min(...values), high = Math.max(...values);
    const words = `${name} at ${maximise ? "least" : "most"}`, open = maximise ? low : high;
    const slider = el("input", { type: "range", min: low, max: high, step: "any", value: open, "aria-label": `${words}, slider` });
    const field = el("input", { type: "number", step: "any", id: `limit-${k}`, value: Number(open.toPrecision(6)) });
    const set = (value) => {
      state.limits[k] = Number.isFinite(value) && value !== open ? value : null;
      const rows = candidates();
      if (rows.length && !isWithin(state.chosen)) choose(compromise(rows, state.weights));
      else { update(); showChosen(); }
    };
    slider.addEventListener("input", () => { field.value = Number(Number(slider.value).toPrecision(6)); set(Number(slider.value)); });
    field.addEventListener("input", () => { slider.value = field.value; set(field.value === "" ? NaN : Number(field.value)); });
    limits.append(el("div", { class: "wish" }, el("label", { for: `limit-${k}` }, words), slider, field));
    const weight = el("input", { type: "range", min: 0, max: 10, step: 1, value: 5, id: `weight-${k}` }), shown = el("output", { for: `weight-${k}` }, "5");
    weight.addEventListener("input", () => {
      state.weights[k] = Number(weight.value);
      shown.textContent = weight.value;
      const rows = candidates();
      if (rows.length) choose(compromise(rows, state.weights));
    });
    weights.append(el("div", { class: "wish" }, el("label", { for: `weight-${k}` }, name), weight, shown));
    resets.push(() => { slider.value = open; field.value = Number(open.toPrecision(6)); state.limits[k] = null; weight.value = 5; shown.textContent = "5"; state.weights[k] = 5; });
  });
  const choice = (word, pick) => el("button", { onclick: () => { const rows = candidates(); if (rows.length) choose(pick(rows)); } }, word);
  const end = (name) => (rows) => [...marks(rows)].find(([, words]) => words.includes(`best ${name}`))?.[0] ?? rows[0];
  place.append(el("div", { class: "buttons" }, choice("Knee", knee), ...objectives.map(({ name }) => choice(`Best ${name}`, end(name)))),
    limits, weights, el("div", { class: "buttons" }, el("button", { onclick: () => { resets.forEach((reset) => reset()); choose(knee(candidates())); } }, "Reset")));
}
const resets = [];

// ---- downloads

const quoted = (value) => (/[",\n\r]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
function download(name, rows) {
  const text = rows.map((row) => row.map(quoted).join(",")).join("\n") + "\n";
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  el("a", { href: address, download: `${title.replace(/[^\w.-]+/g, "-").slice(0, 60)}-${name}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
function downloadFront() {
  download("front", [["result", "number", ...objectives.map(({ name }) => name), "violations", "solution"],
    ...everything.map((i) => [results[solutions[i].result].label, solutions[i].number, ...solutions[i].values, solutions[i].violations, inWords(i)])]);
}
function downloadChosen() {
  const i = state.chosen, s = solutions[i], name = `solution-${s.number}`;
  if (!s.routes) return download(name, [["move"], ...s.moves.map((move) => [move])]);
  const time = planOf(i).clock ? clock : (value) => value, { stops } = planOf(i);
  const more = [...new Set(stops.flatMap((stop) => Object.keys(stop)))].filter((key) => !["name", "x", "y", "lat", "lon"].includes(key));
  return download(name, [["route", "position", "stop", "arrival", "waiting", "lateness", "departure", "load", ...more],
    ...s.routes.flatMap((route, r) => route.map(([stop, ...row], j) =>
      [r + 1, j, stops[stop].name, ...row.slice(0, 4).map(time), row[4] ?? "", ...more.map((key) => stops[stop][key] ?? "")]))]);
}

// ---- how good it is, how it was made

function drawHistory(width, group) {
  const height = 220, left = 64, bottom = 36, points = group.flatMap((r) => results[r].history);
  const spans = [[0, Math.max(...points.map((p) => p[0])) || 1], [0, Math.max(...points.map((p) => p[1])) * 1.05 || 1]];
  const x = linear(spans[0], left, width - 12), y = linear(spans[1], height - bottom, 18);
  const final = group.map((r) => results[r].history[results[r].history.length - 1][1]);
  return svg("svg", { width, height, role: "img", "aria-label": `Hypervolume over evaluations, up to ${final.map(format).join(", ")}` },
    axes(x, y, spans, width, height, left, bottom, ["evaluations", "hypervolume"], [Math.max(2, width / 150), 4]),
    ...group.map((r) => {
      const steps = results[r].history.map(([n, value], j) => `${j ? `H${x(n).toFixed(1)}V` : `M${x(n).toFixed(1)} `}${y(value).toFixed(1)}`);
      return svg("path", { class: `curve ${colour(r)}`, d: steps.join("") });
    }));
}

function drawQuality() {
  const place = section("quality-plots"), groups = new Map();
  results.forEach(({ history, reference }, r) => {
    const key = JSON.stringify(reference);
    if (history.length) groups.set(key, [...(groups.get(key) ?? []), r]);
  });
  place.replaceChildren(...[...groups.values()].map((group) => {
    const said = group.map((r) => {
      const { history, label } = results[r], last = history[history.length - 1], soon = history.find((p) => p[1] >= 0.99 * last[1]);
      return `${results.length > 1 ? `${label}: ` : ""}99 % of the final hypervolume after ${format(soon[0])} of ${format(last[0])} evaluations.`;
    });
    return el("figure", {}, drawHistory(Math.min(room(place), 900), group), el("figcaption", {}, said.join(" ")));
  }));
}

function legend() {
  return el("ul", { class: "legend" }, ...results.map(({ label }, r) => el("li", { class: colour(r) },
    svg("svg", { width: 16, height: 16, "aria-hidden": "true", viewBox: "-8 -8 16 16" }, svg("path", { class: "point", d: shape(r, 5) })), label)));
}

function makeText() {
  const many = results.length > 1;
  const paragraphs = (lines) => lines.map((line) => el("p", {}, line));
  section("headline").append(...(many ? [el("p", {}, `${results.length} results compared`)] : paragraphs(results[0].headline)));
  if (many) {
    const rows = results.map(({ label, total: n, best, share }) => el("tr", {}, el("th", { scope: "row", class: "words" }, label), cell(format(n)),
      cell(format(best)), cell(share === null ? "" : `${(100 * share).toFixed(2)} %`)));
    section("quality").append(scrolling("Results side by side", table("Results side by side",
      [["Result", true], ["Trade-offs", false], ["Not beaten by another result", false], ["Hypervolume, the largest being 100 %", false]], rows)));
  }
  const truths = [...new Set(results.map(({ truth }) => truth))];
  section("quality").append(...paragraphs(truths.length === 1 ? truths : results.map(({ label, truth }) => `${label}: ${truth}`)));
  section("quality").append(el("div", { id: "quality-plots" }));
  results.forEach(({ label, made, command, headline }) => section("made").append(...(many ? [el("h3", {}, label), ...paragraphs(headline)] : []),
    el("dl", {}, ...[...made, ...(command ? [["Command", command]] : [])].flatMap(([word, value]) =>
      [el("dt", {}, word), el("dd", {}, word === "Command" ? el("code", {}, value) : value)]))));
  section("made").append(el("p", { class: "note" }, "Made by pareto-nrpa. This page needs no connection and sends nothing."));
}

// ---- start

makeText();
const isPlotted = objectives.length > 1 && solutions.length > 0;
if (solutions.length) {
  if (results.length > 1) section("front").append(legend());
  if (isPlotted) section("front").append(el("div", { id: "front-plots" }),
    el("p", { class: "note" }, "Click a solution, or go through them with the arrow keys."));
  else section("front").append(el("p", {}, "One objective only: the best solutions are in the list below."));
  section("chosen").append(el("div", { id: "chosen-body" }));
  makeWishes();
  makeList();
  state.chosen = candidates().length > 1 && isPlotted ? knee(candidates()) : candidates()[0] ?? 0;
} else document.querySelectorAll("#front, #wishes, #chosen, #list, .skip").forEach((part) => part.remove());

let drawn = 0;
function draw() {
  if (drawn === document.documentElement.clientWidth) return;
  drawn = document.documentElement.clientWidth;
  if (isPlotted) drawFront(); else update();
  showChosen();
  showComparison();
  drawQuality();
}
draw();
window.addEventListener("resize", draw);
})();
