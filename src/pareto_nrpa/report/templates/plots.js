// Shared by all plots: scales, axes, and solutions as radio buttons.
const linear = ([low, high], from, to) => (value) => from + ((value - low) / (high - low)) * (to - from);

function span(values, margin) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const pad = (high - low) * margin || (low === high ? Math.abs(low) * 0.1 || 1 : 0);
  return [low - pad, high + pad];
}

function ticks([low, high], n) {
  const rough = (high - low) / n;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((size) => size >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high && found.length < 20; k++) found.push(k * step + 0);
  return found;
}

const BORDER = { left: 60, top: 18, right: 12, bottom: 36 };

// A plane with axes: its element, and the functions that place values.
function plane({ width, height, spans, names, attributes }) {
  const { left, top, right, bottom } = BORDER;
  const floor = height - bottom;
  const x = linear(spans[0], left, width - right);
  const y = linear(spans[1], floor, top);
  const axes = svg("g", { "aria-hidden": "true" });
  for (const value of ticks(spans[0], Math.max(2, width / 120))) {
    const at = x(value);
    const anchor = at > width - 24 ? "end" : "middle";
    axes.append(svg("line", { class: "grid", x1: at, x2: at, y1: top, y2: floor }));
    axes.append(svg("text", { x: at, y: floor + 15, "text-anchor": anchor }, format(value)));
  }
  for (const value of ticks(spans[1], height / 60)) {
    const at = y(value);
    axes.append(svg("line", { class: "grid", x1: left, x2: width, y1: at, y2: at }));
    axes.append(svg("text", { x: left - 6, y: at + 4, "text-anchor": "end" }, format(value)));
  }
  axes.append(
    svg("path", { class: "axis", d: `M${left} ${top}V${floor}H${width}` }),
    svg("text", { x: width, y: height - 4, "text-anchor": "end" }, `${names[0]} \u2192`),
    svg("text", { x: 0, y: 11 }, `\u2191 ${names[1]}`),
  );
  return { figure: svg("svg", { width, height, ...attributes }, axes), x, y };
}

const views = []; // the plots of the front: in each, an element for each solution
const radio = (kind, attributes) => svg("path", { role: "radio", "data-kind": kind, ...attributes }); // see updateRadio

// Solutions as one group of radio buttons: a single stop for Tab, arrows go from one to the next, a click chooses the
// nearest, given by `nearest`.
function addSolutions(figure, elements, order, nearest) {
  // The chosen solution is drawn once more, above the others: its element keeps its place in the order.
  const above = svg("g", { class: "above", "aria-hidden": "true" });
  figure.append(...order.map((i) => elements[i]), above);
  figure.addEventListener("click", (event) => {
    const box = figure.getBoundingClientRect();
    const within = everything.filter(isWithin);
    if (within.length) choose(nearest(within, event.clientX - box.left, event.clientY - box.top));
  });
  figure.addEventListener("keydown", (event) => {
    const within = order.filter(isWithin);
    const to = keyTarget(event.key, within.indexOf(state.chosen), within.length);
    if (to === undefined || !within.length) return;
    event.preventDefault();
    choose(within[(to + within.length) % within.length]);
    elements[state.chosen].focus();
  });
  const view = { elements, above, drawMore: () => {} };
  views.push(view);
  return view;
}

function keyTarget(key, here, n) {
  const next = here + 1;
  const previous = here < 0 ? n - 1 : here - 1;
  const targets = { ArrowRight: next, ArrowDown: next, ArrowLeft: previous, ArrowUp: previous, Home: 0, End: n - 1 };
  return key === " " || key === "Enter" ? Math.max(0, here) : targets[key];
}

const drawn = []; // state of each solution at the last drawing: only changes are applied
function updateViews() {
  const changed = everything.filter((i) => {
    const now = `${flagsOf(i).join(" ")} ${labelled(i)}`;
    const isChanged = drawn[i] !== now;
    drawn[i] = now;
    return isChanged;
  });
  for (const { elements, above, drawMore } of views) {
    changed.forEach((i) => updateRadio(elements[i], i));
    const raised = [state.kept, state.chosen].filter((i) => i >= 0).map((i) => elements[i]);
    const copied = (element) => ["class", "d", "transform"].map((name) => [name, element.getAttribute(name)]);
    above.replaceChildren(...raised.map((element) => svg("path", Object.fromEntries(copied(element)))));
    drawMore();
  }
}

function flagsOf(i) {
  const flags = {
    "is-chosen": i === state.chosen,
    "is-kept": i === state.kept,
    "is-out": !isWithin(i),
    "is-marked": standingOut.has(i),
    "is-dominated": solutions[i].dominated === true,
  };
  return Object.keys(flags).filter((name) => flags[name]);
}

function updateRadio(element, i) {
  const isChosen = i === state.chosen;
  element.setAttribute("class", [element.dataset.kind, colour(solutions[i].result), ...flagsOf(i)].join(" "));
  element.setAttribute("aria-checked", String(isChosen));
  element.setAttribute("aria-disabled", String(!isWithin(i)));
  element.setAttribute("tabindex", isChosen ? 0 : -1);
  element.setAttribute("aria-label", labelled(i));
  element.replaceChildren(svg("title", {}, labelled(i)));
}
