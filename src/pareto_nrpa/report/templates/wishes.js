// Limits and weights.
const resets = [];

function makeWishes() {
  const place = byId("wishes");
  if (objectives.length < 2 || solutions.length < 2) {
    place.remove();
    return;
  }
  const words = note("Moving a weight chooses the best compromise for it.");
  const limits = el("fieldset", {}, el("legend", {}, "Limits"), ...objectives.map(limitOf));
  const weights = el("fieldset", {}, el("legend", {}, "Weights"), words, ...objectives.map(weightOf));
  const ends = objectives.map(({ name }, k) => button(`Best ${name}`, () => chooseBy((rows) => bestIn(rows, k))));
  const reset = button("Reset", () => {
    resets.forEach((undo) => undo());
    chooseBy(knee);
  });
  place.append(buttons(button("Knee", () => chooseBy(knee)), ...ends), limits, weights, buttons(reset));
}

function chooseBy(rule) {
  const rows = candidates();
  if (rows.length) choose(rule(rows));
  else update();
}

function limitOf({ name, maximise }, k) {
  const values = solutions.map((solution) => solution.values[k]);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const open = maximise ? low : high;
  const words = `${name} at ${maximise ? "least" : "most"}`;
  const ends = { min: low, max: high, step: "any", value: open };
  const slider = el("input", { type: "range", ...ends, "aria-label": `${words}, slider` });
  const field = el("input", { type: "number", step: "any", id: `limit-${k}`, value: short(open) });
  const set = (value) => {
    state.limits[k] = Number.isFinite(value) && value !== open ? value : null;
    if (isWithin(state.chosen)) update();
    else chooseBy((rows) => compromise(rows, state.weights));
  };
  slider.addEventListener("input", () => {
    field.value = short(Number(slider.value));
    set(Number(slider.value));
  });
  field.addEventListener("input", () => {
    slider.value = field.value === "" ? open : field.value;
    set(field.value === "" ? open : Number(field.value));
  });
  resets.push(() => {
    slider.value = open;
    field.value = short(open);
    state.limits[k] = null;
  });
  return el("div", { class: "wish" }, el("label", { for: `limit-${k}` }, words), slider, field);
}

function weightOf({ name }, k) {
  const id = `weight-${k}`;
  const slider = el("input", { type: "range", min: 0, max: 2 * MIDDLE_WEIGHT, step: 1, value: MIDDLE_WEIGHT, id });
  const shown = el("output", { for: id }, String(MIDDLE_WEIGHT));
  const set = (value) => {
    state.weights[k] = value;
    shown.textContent = String(value);
  };
  slider.addEventListener("input", () => {
    set(Number(slider.value));
    chooseBy((rows) => compromise(rows, state.weights));
  });
  resets.push(() => {
    slider.value = MIDDLE_WEIGHT;
    set(MIDDLE_WEIGHT);
  });
  return el("div", { class: "wish" }, el("label", { for: id }, name), slider, shown);
}
