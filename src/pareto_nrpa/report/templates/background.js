// Quality and settings of the result.
const ALMOST = 0.99;

function makeBackground() {
  const areMany = results.length > 1;
  const lines = areMany ? [`${results.length} results compared`] : results[0].headline;
  byId("headline").append(...paragraphs(lines));
  if (areMany) byId("quality").append(scrolling("Table of results", comparedResults()));
  const truths = results.map(({ truth }) => truth);
  const areEqual = truths.every((truth) => truth === truths[0]);
  const said = areEqual ? truths.slice(0, 1) : results.map(({ label, truth }) => `${label}: ${truth}`);
  byId("quality").append(...paragraphs(said), el("div", { id: "quality-plots" }));
  for (const { label, made, command, headline } of results) {
    if (areMany) byId("made").append(el("h3", {}, label), ...paragraphs(headline));
    const entries = made.flatMap(([word, value]) => [el("dt", {}, word), el("dd", {}, value)]);
    if (command) entries.push(el("dt", {}, "Command"), el("dd", {}, el("code", {}, command)));
    byId("made").append(el("dl", {}, ...entries));
  }
  byId("made").append(note("Made by pareto-nrpa. This page needs no connection and sends nothing."));
}

function comparedResults() {
  const rows = results.map(({ label, total: found, best, share }) => {
    const volume = share === null ? "" : `${(100 * share).toFixed(2)} %`;
    return tableRow(rowHead(label), cell(format(found)), cell(format(best)), cell(volume));
  });
  const heads = ["Trade-offs", "Not dominated by another result", "Hypervolume relative to the largest"].map(numbersHead);
  return table("Results side by side", [wordsHead("Result"), ...heads], rows);
}

// Hypervolumes are drawn together if their reference points are equal.
function drawQuality() {
  const groups = new Map();
  results.forEach(({ history, reference }, r) => {
    const key = JSON.stringify(reference);
    if (history.length) groups.set(key, [...(groups.get(key) ?? []), r]);
  });
  const place = byId("quality-plots");
  const width = Math.min(room(place), 900);
  const figures = [...groups.values()].map((group) => {
    return el("figure", {}, historyPlot(width, group), el("figcaption", {}, group.map(progressWords).join(" ")));
  });
  place.replaceChildren(...figures);
}

function progressWords(r) {
  const { history, label } = results[r];
  const [evaluations, volume] = history[history.length - 1];
  const soon = history.find(([, value]) => value >= ALMOST * volume)[0];
  const words = `99 % of the final hypervolume after ${format(soon)} of ${format(evaluations)} evaluations.`;
  return results.length > 1 ? `${label}: ${words}` : words;
}

function historyPlot(width, group) {
  const points = group.flatMap((r) => results[r].history);
  const spans = [0, 1].map((axis) => [0, Math.max(...points.map((point) => point[axis])) * (1 + 0.05 * axis) || 1]);
  const finals = group.map((r) => format(results[r].history.slice(-1)[0][1]));
  const attributes = { role: "img", "aria-label": `Hypervolume over evaluations, up to ${finals.join(", ")}` };
  const names = ["evaluations", "hypervolume"];
  const { figure, x, y } = plane({ width, height: 220, spans, names, attributes });
  for (const r of group) {
    const [[start, first], ...steps] = results[r].history;
    const way = steps.map(([n, volume]) => `H${x(n).toFixed(1)}V${y(volume).toFixed(1)}`);
    figure.append(svg("path", { class: `curve ${colour(r)}`, d: `M${x(start)} ${y(first)}${way.join("")}` }));
  }
  return figure;
}
