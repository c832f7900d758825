// Routes of a solution: on a map, and as timetables.
const MOST_NUMBERED = 60;
const MOST_NAMED = 25;
const LONGEST_NAME = 16;
const KNOWN_COLUMNS = ["name", "x", "y", "lat", "lon", "opens", "closes", "service", "demand", "kind"];

const isCustomer = (row) => row[0] > 0;
const leg = (i, from, to) => `${stopName(i, from)}\u0000${stopName(i, to)}`;
const legsOf = (i) => solutions[i].routes.flatMap((route) => route.slice(1).map((row, j) => leg(i, route[j], row)));
const axesOf = ({ geographic }) => (geographic ? ["lon", "lat"] : ["x", "y"]);
const onMap = (plan) => (stop) => axesOf(plan).every((name) => typeof stop[name] === "number");
const hasMap = (i) => Boolean(solutions[i].routes) && planOf(i).stops.some(onMap(planOf(i)));
const moreColumns = (stops) => [...new Set(stops.flatMap(Object.keys))].filter((name) => !KNOWN_COLUMNS.includes(name));

// Places of stops on a map of this width, null if unknown. No streets are drawn, as nothing is fetched.
function placesOf(plan, width) {
  const [across, up] = axesOf(plan);
  const known = plan.stops.filter(onMap(plan));
  const [easts, norths] = [across, up].map((name) => known.map((stop) => stop[name]));
  const isWrapped = plan.geographic && Math.max(...easts) - Math.min(...easts) > 180; // across the date line
  const shrink = plan.geographic ? Math.cos((total(norths) / known.length / 180) * Math.PI) : 1;
  const flat = (stop) => [(isWrapped && stop[across] < 0 ? stop[across] + 360 : stop[across]) * shrink, stop[up]];
  const points = known.map(flat);
  const low = [0, 1].map((axis) => Math.min(...points.map((point) => point[axis])));
  const size = [0, 1].map((axis) => Math.max(...points.map((point) => point[axis])) - low[axis] || 1);
  const margin = 28;
  const zoom = Math.min((width - 2 * margin) / size[0], (Math.min(width, 440) - 2 * margin) / size[1]);
  const height = size[1] * zoom + 2 * margin;
  const place = ([x, y]) => [(width - size[0] * zoom) / 2 + (x - low[0]) * zoom, height - margin - (y - low[1]) * zoom];
  return { places: plan.stops.map((stop) => (onMap(plan)(stop) ? place(flat(stop)) : null)), height };
}

// Legs that are the `same` in another solution are thin.
function drawMap(i, width, same = new Set()) {
  const { stops } = planOf(i);
  const { routes } = solutions[i];
  const { places, height } = placesOf(planOf(i), width);
  const label = `Map of ${plural(routes.length, "route")}; the timetable has the same stops in words`;
  const figure = svg("svg", { width, height, role: "img", "aria-label": label });
  const isSeen = (row) => places[row[0]] !== null;
  routes.forEach((route, r) => {
    const rows = route.filter(isSeen);
    rows.slice(1).forEach((row, j) => {
      const [from, to] = [rows[j], row].map(([stop]) => places[stop].map((at) => at.toFixed(1)).join(" "));
      const isSame = same.has(leg(i, rows[j], row));
      figure.append(svg("path", { class: `route ${colour(r)} ${isSame ? "is-same" : ""}`, d: `M${from}L${to}` }));
    });
  });
  if (stops.length <= MOST_NAMED) figure.append(...stopNames(stops, places, width));
  const isNumbered = stops.length <= MOST_NUMBERED;
  routes.forEach((route, r) => {
    route.filter(isCustomer).forEach((row, j) => {
      if (!isSeen(row)) return;
      const [x, y] = places[row[0]];
      const words = svg("title", {}, `${j + 1}: ${stopName(i, row)}`);
      figure.append(svg("circle", { class: `stop ${colour(r)}`, cx: x, cy: y, r: isNumbered ? 9 : 4 }, words));
      if (isNumbered) figure.append(svg("text", { class: "stop-number", x, y: y + 3.5 }, String(j + 1)));
    });
  });
  if (places[0]) {
    const transform = `translate(${places[0].join(" ")})`;
    figure.append(svg("path", { class: "depot", d: SHAPES[1](8), transform }, svg("title", {}, stops[0].name)));
  }
  return el("figure", {}, figure);
}

// Names beside their stops, on a side with room; without room they are only in the timetable.
function stopNames(stops, places, width) {
  const named = stops.map((_, s) => s).filter((s) => places[s] && stops[s].name !== String(s));
  const taken = places.filter(Boolean).map(([x, y]) => ({ left: x - 9, right: x + 9, top: y - 9, bottom: y + 9 }));
  const isFree = (box) =>
    box.left >= 0 &&
    box.right <= width &&
    taken.every(({ left, right, top, bottom }) => {
      return box.right < left || box.left > right || box.bottom < top || box.top > bottom;
    });
  return named.flatMap((s) => {
    const { name } = stops[s];
    const words = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}\u2026` : name;
    const long = words.length * 6.4;
    const [x, y] = places[s];
    const starts = [[x + 12, y], [x - 12 - long, y], [x - long / 2, y - 17], [x - long / 2, y + 17]];
    const boxes = starts.map(([left, middle]) => ({ left, right: left + long, top: middle - 6, bottom: middle + 6 }));
    const box = boxes.find(isFree);
    if (!box) return [];
    taken.push(box);
    return [svg("text", { class: "stop-name", x: box.left, y: box.bottom - 2 }, words)];
  });
}

function openFrom({ opens = null, closes = null }, time) {
  if (closes === null) return opens ? `from ${time(opens)}` : "";
  return opens === null ? `until ${time(closes)}` : `${time(opens)}\u2013${time(closes)}`;
}

function timetable(i, route, caption) {
  const { stops } = planOf(i);
  const time = timeFormat(i);
  const some = (value) => (value > NOTHING ? time(value) : "");
  const [isWaiting, isLate] = [2, 3].map((column) => route.some((row) => row[column] > NOTHING));
  const hasWindows = stops.some(({ closes = null }) => closes !== null);
  const hasLoad = route.some((row) => row[5] > 0);
  const more = moreColumns(stops);
  let position = 0;
  const rows = route.map((row, j) => {
    const [stop, arrival, waiting, lateness, departure, load] = row;
    const isDepot = !isCustomer(row);
    return tableRow(
      wordCell(isDepot ? "" : String(++position)),
      rowHead(stops[stop].name),
      cell(isDepot && j === 0 ? "" : time(arrival)),
      ...(isWaiting ? [cell(some(waiting))] : []),
      ...(isLate ? [el("td", { class: "late" }, some(lateness))] : []),
      cell(isDepot && j > 0 ? "" : time(departure)),
      ...(hasWindows ? [cell(openFrom(stops[stop], time))] : []),
      ...(hasLoad ? [cell(format(load ?? 0))] : []),
      ...more.map((name) => wordCell(String(stops[stop][name] ?? ""))),
    );
  });
  const there = { Waits: isWaiting, Late: isLate, Window: hasWindows, Load: hasLoad };
  const columns = ["Arrives", "Waits", "Late", "Leaves", "Window", "Load"].filter((name) => there[name] ?? true);
  const heads = [wordsHead("#"), wordsHead("Stop"), ...columns.map(numbersHead), ...more.map(wordsHead)];
  return table(caption, heads, rows);
}

function routeSummary(i, route) {
  const time = timeFormat(i);
  const waiting = total(route.map((row) => row[2]));
  const late = route.filter((row) => row[3] > NOTHING).length;
  const [first, last] = [route[0], route[route.length - 1]];
  return [
    plural(route.filter(isCustomer).length, "stop"),
    `leaves at ${time(first[4])}`,
    `back at ${time(last[1])}`,
    waiting > NOTHING ? `waits ${time(waiting)} in total` : "no waiting",
    late ? `late at ${plural(late, "stop")}` : "nowhere late",
  ].join(", ");
}

// All routes of a solution with their timetables.
function itinerary(i) {
  const { routes } = solutions[i];
  const isMany = routes.length > 1;
  return routes.flatMap((route, r) => {
    const line = svg("path", { class: `route ${colour(r)}`, d: "M0 4H28" });
    const sign = svg("svg", { class: "sign", width: 28, height: 8, "aria-hidden": "true" }, line);
    const said = el("p", {}, ...(isMany ? [sign, `Route ${r + 1}: `] : []), `${routeSummary(i, route)}.`);
    const caption = isMany ? `Timetable of route ${r + 1}` : "Timetable";
    return [said, scrolling(`${caption}, ${called(i)}`, timetable(i, route, caption))];
  });
}
