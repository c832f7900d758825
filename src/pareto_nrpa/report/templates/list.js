// All solutions as a table, and what can be downloaded.
let listed = [];

function makeList() {
  const areMany = results.length > 1;
  const isViolated = fewestViolations > 0;
  listed = everything.map((i) => {
    const { number, values, violations } = solutions[i];
    const select = button(String(number), null, { "aria-pressed": "false", "aria-label": called(i) });
    const cells = [rowHead(select)];
    if (areMany) cells.push(wordCell(resultOf(i).label));
    cells.push(...values.map((value) => cell(format(value))));
    if (isViolated) cells.push(cell(format(violations)));
    const row = tableRow(...cells, wordCell(""), wordCell(el("div", { class: "long" }, inWords(i))));
    row.addEventListener("click", () => choose(i));
    return row;
  });
  const heads = [wordsHead("Number"), ...objectives.map(({ name }) => numbersHead(name))];
  if (areMany) heads.splice(1, 0, wordsHead("Result"));
  if (isViolated) heads.push(numbersHead("Violations"));
  const all = table("Solutions of the front", [...heads, wordsHead("Stands out"), wordsHead("In words")], listed);
  const found = total(results.map((result) => result.total));
  const words =
    found > solutions.length
      ? `${format(solutions.length)} of ${format(found)} solutions are shown, evenly spaced; the saved result has all.`
      : "Press a number to choose a solution.";
  byId("list").append(note(words), scrolling("Table of all solutions", all));
  byId("list").append(buttons(button("Download all as CSV", downloadFront)));
}

function updateList() {
  listed.forEach((row, i) => {
    row.classList.toggle("is-chosen", i === state.chosen);
    row.classList.toggle("is-out", !isWithin(i));
    row.querySelector("button").setAttribute("aria-pressed", String(i === state.chosen));
    const beaten = solutions[i].dominated ? ["dominated by another result"] : [];
    row.cells[row.cells.length - 2].textContent = [...(standingOut.get(i) ?? []), ...beaten].join(", ");
  });
}

// As in csv_text.py: text that a spreadsheet may take for a formula gets an apostrophe before it, numbers stay numbers.
const NUMBER = /^[+-]?([0-9]+([.,:][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]{1,3})?$/;
const FORMULA = /^['"\s\u0000- \ufeff\u200b-\u200f\u2060]*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b]/;

function guarded(text) {
  if (NUMBER.test(text)) return text;
  const parts = text.split(/([;\t\r\n])/); // separators stay, at odd places
  const changed = parts.map((part) => (FORMULA.test(part) && !NUMBER.test(part.trim()) ? `'${part}` : part));
  return `${/^['"]*[\t\r\n]/.test(text) ? "'" : ""}${changed.join("")}`;
}

function quoted(value) {
  const text = guarded(String(value ?? ""));
  return /[",;\t\r\n]|^[\s']|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function download(name, rows) {
  const text = rows.map((row) => `${row.map(quoted).join(",")}\n`).join("");
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const stem = title.replace(/[^\w.-]+/g, "-").slice(0, 60);
  el("a", { href: address, download: `${stem}-${name}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function downloadFront() {
  const header = ["result", "number", ...objectives.map(({ name }) => name), "violations", "solution"];
  const rows = solutions.map(({ number, values, violations }, i) => {
    return [resultOf(i).label, number, ...values, violations, inWords(i)];
  });
  download("front", [header, ...rows]);
}

function downloadChosen() {
  const { number, routes, moves } = solutions[state.chosen];
  const rows = routes ? driversList(state.chosen) : [["move"], ...moves.map((move) => [move])];
  download(`solution-${number}`, rows);
}

function driversList(i) {
  const { stops } = planOf(i);
  const time = planOf(i).clock ? clock : (value) => value;
  const more = ["opens", "closes", "service", "demand", ...moreColumns(stops)];
  const columns = ["arrival", "waiting", "lateness", "departure"];
  const rows = solutions[i].routes.flatMap((route, r) =>
    route.map(([stop, arrival, waiting, lateness, departure, load], j) => {
      const times = [arrival, waiting, lateness, departure].map(time);
      return [r + 1, j, stops[stop].name, ...times, load, ...more.map((name) => stops[stop][name])];
    }),
  );
  return [["route", "position", "stop", ...columns, "load", ...more], ...rows];
}
