// Two solutions side by side, and what changes between them.
const MOST_MOVES = 100;

function keep() {
  state.kept = state.kept === state.chosen ? -1 : state.chosen;
  update();
  byId("keep").focus();
}

function stopComparing() {
  state.kept = -1;
  update();
  byId("chosen").focus();
}

function showComparison() {
  const { kept, chosen } = state;
  const section = byId("comparison");
  section.hidden = kept < 0 || kept === chosen;
  if (section.hidden) return;
  const place = byId("comparison-body");
  const areRoutes = [kept, chosen].every((i) => solutions[i].routes);
  const parts = [scrolling("Objectives side by side", changedObjectives(kept, chosen))];
  if (areRoutes) {
    const same = new Set(legsOf(kept).filter((name) => legsOf(chosen).includes(name)));
    if (hasMap(kept) && hasMap(chosen)) parts.push(...twoMaps(kept, chosen, same, room(place)));
    parts.push(...changedRoutes(kept, chosen, same));
  } else {
    parts.push(...changedMoves(kept, chosen));
  }
  place.replaceChildren(...parts, buttons(button("Stop comparing", stopComparing)));
}

function changedObjectives(a, b) {
  const rows = objectives.map(({ name }, k) => {
    const [before, after] = [a, b].map((i) => solutions[i].values[k]);
    const change = minimised(b, k) - minimised(a, k);
    const words = change ? `${signed(after - before)} (${change < 0 ? "better" : "worse"})` : "equal";
    return tableRow(rowHead(name), cell(format(before)), cell(format(after)), cell(words));
  });
  return table("Objectives", [wordsHead("Objective"), ...[called(a), called(b), "Change"].map(numbersHead)], rows);
}

function twoMaps(a, b, same, width) {
  const each = width < 620 ? width : (width - 16) / 2;
  const maps = [a, b].map((i) => el("div", {}, el("h3", {}, called(i)), drawMap(i, each, same)));
  return [el("div", { class: "pair" }, ...maps), note("Legs that only one of them has are thick.")];
}

function visitsOf(i) {
  const visits = solutions[i].routes.flatMap((route, r) =>
    route.filter(isCustomer).map((row) => [stopName(i, row), { route: r + 1, arrival: row[1] }]),
  );
  return new Map(visits);
}

function changedRoutes(a, b, same) {
  const [before, after] = [visitsOf(a), visitsOf(b)];
  const areMany = [a, b].some((i) => solutions[i].routes.length > 1);
  const rows = [];
  for (const [name, { route, arrival }] of after) {
    const old = before.get(name);
    const shift = old ? arrival - old.arrival : 0;
    if (old && Math.abs(shift) < NOTHING && old.route === route) continue;
    const cells = [cell(old ? timeFormat(a)(old.arrival) : "not visited"), cell(timeFormat(b)(arrival))];
    if (areMany) cells.unshift(cell(old && old.route !== route ? `${old.route} \u2192 ${route}` : String(route)));
    const words = `${timeFormat(b)(Math.abs(shift))} ${shift < 0 ? "earlier" : "later"}`;
    rows.push(tableRow(rowHead(name), ...cells, cell(Math.abs(shift) < NOTHING ? "" : words)));
  }
  const legs = `${same.size} of ${legsOf(b).length} legs are the same`;
  const said = el("p", {}, `${legs}; ${rows.length} of ${plural(after.size, "stop")} change in time or route.`);
  const columns = [...(areMany ? ["Route"] : []), called(a), called(b), "Change"];
  const heads = [wordsHead("Stop"), ...columns.map(numbersHead)];
  return rows.length ? [said, scrolling("What changes, stop by stop", table("What changes", heads, rows))] : [said];
}

function changedMoves(a, b) {
  const [before, after] = [a, b].map((i) => solutions[i].moves ?? []);
  const words = [a, b].map((i) => el("p", {}, el("strong", {}, `${called(i)}: `), inWords(i)));
  if (before.length !== after.length) return words;
  const changed = after.map((_, j) => j).filter((j) => before[j] !== after[j]);
  const rows = changed.slice(0, MOST_MOVES).map((j) => {
    return tableRow(rowHead(String(j + 1)), wordCell(before[j]), wordCell(after[j]));
  });
  const heads = ["Move", called(a), called(b)].map(wordsHead);
  const said = el("p", {}, `${changed.length} of ${after.length} moves are different.`);
  return [...words, said, scrolling("What changes, move by move", table("What changes", heads, rows))];
}
