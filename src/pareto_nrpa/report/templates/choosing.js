// The choice of a solution, by the rules of choose.py; a test compares the two.
const TIE_BREAK = 1e-3;
const FLAT = 1e-9;

const minimised = (i, k) => (objectives[k].maximise ? -solutions[i].values[k] : solutions[i].values[k]);
const fewestViolations = Math.min(...solutions.map(({ violations }) => violations));

function isWithin(i) {
  return state.limits.every((limit, k) => {
    if (limit === null) return true;
    return objectives[k].maximise ? solutions[i].values[k] >= limit : solutions[i].values[k] <= limit;
  });
}

// Candidates: within the limits, and not dominated by another result.
function candidates() {
  return everything.filter((i) => {
    const { dominated, violations } = solutions[i];
    return !dominated && violations === fewestViolations && isWithin(i);
  });
}

// Objectives from 0, the best of these solutions, to 1, the worst.
function scaled(rows) {
  const columns = objectives.map((_, k) => {
    const values = rows.map((i) => minimised(i, k));
    const low = Math.min(...values);
    const width = Math.max(...values) - low || 1;
    return values.map((value) => (value - low) / width);
  });
  return rows.map((_, j) => columns.map((column) => column[j]));
}

// The solution whose worst weighted objective is best; the sum breaks ties.
function compromise(rows, weights) {
  const sum = total(weights);
  const shares = weights.map((weight) => (sum > 0 ? weight / sum : 1 / weights.length));
  const scores = scaled(rows).map((point) => {
    const weighted = point.map((value, k) => value * shares[k]);
    return Math.max(...weighted) + TIE_BREAK * total(weighted);
  });
  return rows[indexOfSmallest(scores)];
}

// The solution farthest before the line between the ends, or the even compromise if none is before it.
function knee(rows) {
  const sums = scaled(rows).map(total);
  const best = indexOfSmallest(sums);
  return sums[best] < 1 - FLAT ? rows[best] : compromise(rows, objectives.map(() => 1));
}

function bestIn(rows, k) {
  const points = scaled(rows);
  const isBefore = (a, b) => points[a][k] - points[b][k] || total(points[a]) - total(points[b]) || a - b;
  return rows[points.map((_, j) => j).sort(isBefore)[0]];
}

// Labels of the ends and the knee.
function marks(rows) {
  const found = new Map();
  if (objectives.length < 2 || rows.length < 2) return found;
  const put = (i, word) => found.set(i, [...(found.get(i) ?? []), word]);
  objectives.forEach(({ name }, k) => put(bestIn(rows, k), `best ${name}`));
  put(knee(rows), "knee");
  return found;
}
