// The chosen solution as text, with all values.
let standingOut = new Map(); // labels of ends and knee

const called = (i) => `Solution ${solutions[i].number}${results.length > 1 ? ` (${resultOf(i).label})` : ""}`;
const valued = (i) => objectives.map(({ name }, k) => `${name} ${format(solutions[i].values[k])}`).join(", ");
const introduced = everything.map((i) => `${called(i)}: ${valued(i)}`);
const labelled = (i) => [introduced[i], ...(standingOut.get(i) ?? [])].join(", ");

function inWords(i) {
  const { words, routes, moves } = solutions[i];
  if (words !== undefined) return words;
  const named = (route) => route.filter(isCustomer).map((row) => stopName(i, row)).join(" \u2013 ");
  return routes ? routes.map(named).join(" | ") : moves.join(" ");
}

function valueList(i) {
  const { values, violations } = solutions[i];
  const entries = objectives.flatMap(({ name, maximise }, k) => [
    el("dt", {}, maximise ? `${name} (more is better)` : name),
    el("dd", {}, format(values[k])),
  ]);
  if (violations) entries.push(el("dt", {}, "violations"), el("dd", { class: "late" }, format(violations)));
  return el("dl", { class: "values" }, ...entries);
}

function showChosen() {
  const place = byId("chosen-body");
  const i = state.chosen;
  const { routes, words } = solutions[i];
  const isKept = state.kept === i;
  const parts = [el("h3", {}, [called(i), ...(standingOut.get(i) ?? [])].join(", ")), valueList(i)];
  if (!routes || words !== undefined) parts.push(el("p", {}, inWords(i)));
  if (hasMap(i)) parts.push(drawMap(i, room(place)));
  if (routes) parts.push(...itinerary(i));
  const keepButton = button("Keep to compare", keep, { id: "keep", "aria-pressed": String(isKept) });
  parts.push(buttons(keepButton, button("Download as CSV", downloadChosen)));
  if (isKept) parts.push(note("Now choose another solution: both are shown side by side below."));
  place.replaceChildren(...parts);
}

function choose(i) {
  state.chosen = i;
  update();
}

// Update all views after a change of choice or limits.
function update() {
  standingOut = marks(candidates());
  updateViews();
  updateList();
  byId("status").textContent = statusWords();
  if (!solutions.length) return;
  showChosen();
  showComparison();
}

function statusWords() {
  if (!solutions.length) return "There is no solution to choose.";
  const n = everything.filter(isWithin).length;
  if (!n) return "No solution is within these limits.";
  const isLimited = state.limits.some((limit) => limit !== null);
  const count = isLimited ? `${n} of ${solutions.length} within your limits. ` : "";
  return `${count}Chosen: ${labelled(state.chosen)}.`;
}
