// The front: points for two objectives; lines across all axes and points for each pair where there are more.
const MOST_POINTS = 6000; // that a browser draws at once
const MOST_OPEN_PANELS = 6;
const LEAST_BETWEEN_AXES = 72;

function scatter(width, kx, ky, isSmall) {
  const height = Math.min(width * 0.8, isSmall ? 260 : 400);
  const names = [objectives[kx].name, objectives[ky].name];
  const spans = [kx, ky].map((k) => span(solutions.map(({ values }) => values[k]), 0.06));
  const attributes = { role: "radiogroup", "aria-label": `Solutions by ${names[0]} and ${names[1]}` };
  const { figure, x, y } = plane({ width, height, spans, names, attributes });
  const places = solutions.map(({ values }) => [x(values[kx]), y(values[ky])]);
  const elements = places.map(([left, top], i) => {
    const { result } = solutions[i];
    const transform = `translate(${left.toFixed(1)} ${top.toFixed(1)})`;
    return radio("point", { d: shape(result, isSmall ? 4.5 : 6), transform });
  });
  const order = [...everything].sort((a, b) => solutions[a].values[kx] - solutions[b].values[kx] || a - b);
  const view = addSolutions(figure, elements, order, (rows, left, top) => {
    return rows[indexOfSmallest(rows.map((i) => Math.hypot(places[i][0] - left, places[i][1] - top)))];
  });
  if (!isSmall) {
    const words = svg("g", { "aria-hidden": "true" });
    figure.append(words);
    view.drawMore = () => words.replaceChildren(...markWords(places, width));
  }
  return figure;
}

function markWords(places, width) {
  return [...standingOut].map(([i, words]) => {
    const [left, top] = places[i];
    const isRight = left > width / 2;
    const attributes = { class: "mark", x: left + (isRight ? -10 : 10), y: top - 10 };
    return svg("text", { ...attributes, "text-anchor": isRight ? "end" : "start" }, words.join(", "));
  });
}

function parallelAxes(width) {
  const [height, top, bottom] = [300, 44, 24];
  const last = objectives.length - 1;
  const side = Math.min(70, width / (2 * objectives.length));
  const between = (width - 2 * side) / last;
  const x = (k) => side + k * between;
  const ends = objectives.map(({ maximise }, k) => {
    const [low, high] = span(solutions.map(({ values }) => values[k]), 0);
    return maximise ? [high, low] : [low, high];
  });
  const y = ends.map((pair) => linear(pair, height - bottom, top));
  const lines = solutions.map(({ values }) => values.map((value, k) => [x(k), y[k](value)]));
  const elements = lines.map((points) => {
    const d = `M${points.map((point) => point.map((at) => at.toFixed(1)).join(" ")).join("L")}`;
    return radio("path", { d });
  });
  const scales = svg("g", { "aria-hidden": "true" });
  objectives.forEach(({ name }, k) => {
    const [anchor, at] = k === 0 ? ["start", 0] : k === last ? ["end", width] : ["middle", x(k)];
    const line = last > 3 && k % 2 ? 26 : 12; // every other name one line lower, where there are many
    scales.append(
      svg("line", { class: "axis", x1: x(k), x2: x(k), y1: top, y2: height - bottom }),
      svg("text", { class: "mark", x: at, y: line, "text-anchor": anchor }, name),
      svg("text", { x: x(k), y: top - 6, "text-anchor": "middle" }, digits4.format(ends[k][1])),
      svg("text", { x: x(k), y: height - 6, "text-anchor": "middle" }, digits4.format(ends[k][0])),
    );
  });
  const attributes = { role: "radiogroup", "aria-label": "Solutions across all objectives" };
  const figure = svg("svg", { width, height, ...attributes }, scales);
  addSolutions(figure, elements, everything, (rows, left, down) => {
    const k = Math.min(last - 1, Math.max(0, Math.floor((left - side) / between)));
    const share = (left - x(k)) / between;
    const height = (i) => lines[i][k][1] * (1 - share) + lines[i][k + 1][1] * share;
    return rows[indexOfSmallest(rows.map((i) => Math.abs(height(i) - down)))];
  });
  return figure;
}

function panels(width) {
  const pairs = objectives.flatMap((_, a) => objectives.slice(a + 1).map((_, b) => [a, a + 1 + b]));
  const across = width < 420 ? 1 : 2;
  const each = (width - 16 * (across - 1)) / across;
  const areFew = pairs.length * solutions.length <= MOST_POINTS;
  const found = areFew ? pairs.map(([a, b]) => scatter(each, a, b, true)) : [];
  const panel = el("div", { class: across > 1 ? "panels two" : "panels" }, ...found);
  if (found.length <= MOST_OPEN_PANELS) return panel;
  return el("details", {}, el("summary", {}, `Each of the ${pairs.length} pairs of objectives`), panel);
}

function drawFront() {
  const place = byId("front-plots");
  const width = room(place);
  views.length = drawn.length = 0;
  if (objectives.length === 2) {
    place.replaceChildren(scatter(width, 0, 1, false));
  } else {
    const caption = el("figcaption", {}, "A line for each solution; on every axis lower is better.");
    const axes = parallelAxes(Math.max(width, objectives.length * LEAST_BETWEEN_AXES));
    place.replaceChildren(el("figure", {}, scrolling("Parallel axes", axes), caption), panels(width));
  }
}

function makeFront() {
  if (results.length > 1) byId("front").append(legend());
  if (objectives.length > 1) {
    byId("front").append(el("div", { id: "front-plots" }));
    byId("front").append(note("Click a solution, or go through them with the arrow keys."));
  } else {
    byId("front").append(el("p", {}, "One objective only: the best solutions are in the list below."));
  }
}

function legend() {
  const items = results.map(({ label }, r) => {
    const point = svg("path", { class: "point", d: shape(r, 5) });
    const box = { width: 16, height: 16, viewBox: "-8 -8 16 16" };
    return el("li", { class: colour(r) }, svg("svg", { class: "sign", ...box, "aria-hidden": "true" }, point), label);
  });
  return el("ul", { class: "legend" }, ...items);
}
