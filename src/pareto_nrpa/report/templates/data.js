// The data of the page, and the state of the choice.
const { title, objectives, results, solutions } = JSON.parse(document.getElementById("data").textContent);
const everything = solutions.map((_, i) => i); // a solution is known by its index
const MIDDLE_WEIGHT = 5;
const NOTHING = 1e-6; // negligible times

const state = {
  chosen: -1,
  kept: -1, // to compare with
  limits: objectives.map(() => null), // largest values, or least ones of maximised objectives
  weights: objectives.map(() => MIDDLE_WEIGHT),
};

const resultOf = (i) => results[solutions[i].result];
const planOf = (i) => resultOf(i).plan;
const stopName = (i, row) => planOf(i).stops[row[0]].name; // a row: stop, arrival, waiting, lateness, departure, load
