"""Plain Python problems at equal CPU time and equal evaluations: the default beside pymoo's NSGA-II and NSGA-III.

python benchmarks/plain.py --overhead
python benchmarks/plain.py --runs FILE [--seeds 10] [--seconds 10] [--problems NAME ...] [--methods NAME ...]
python benchmarks/plain.py --runs FILE --parts [--seeds 3]
PYTHONPATH=OTHER/src python benchmarks/plain.py --runs FILE --methods default --label OTHER --evaluations 1000 5000

The last one measures the default of another revision, a clone in the folder OTHER, which the next run on FILE compares.
Each finished run is a few rows of FILE, so the command can be interrupted and repeated. The table has, for each moment,
the mean share of the hypervolume of the front of all runs together, in the box of that front and a fifth more.
`--parts` takes out one part of the default search at a time.
"""

import argparse
import csv
import json
import sys
import time
from bisect import bisect_right
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import numpy as np
from plain_problems import ALL, COMPILED, TABLE, THREE_OBJECTIVES, TUNING
from report import write

from pareto_nrpa import Choices, PolishedNRPA, Problem
from pareto_nrpa.metrics import hypervolume

SECONDS, EVALUATIONS = (0.5, 2.0, 10.0), (200, 1_000, 5_000, 20_000)
METHODS = ("default", "pymoo 50", "pymoo 100")
_OVERHEAD = "What the search adds to an evaluation of a plain problem"
_OVERHEAD_NOTES = (
    "The default search on plain Python functions, three of them also compiled by Numba: best of five stretches of "
    "10,000 evaluations after the first 5,000, and the function alone. CPU time, one thread."
)
_PARTS = "Parts of the default search taken out, on plain Python problems"
_TITLE = "Plain Python problems by the clock"
_NOTES = (
    "Mean share of the hypervolume of all runs together (standard deviation); CPU time on a busy machine, one thread; "
    "the front of all evaluated solutions counts. Evaluations a second in the order of the methods. The least range of "
    "chains was added after a look at this flow shop."
)
_AT = f"{EVALUATIONS[-1]} evaluations"
_WITHOUT = "without "


PARTS = ("chains", "drift", "model", "crossover", "learning", "playouts", "credit")


def taken_out(part: str) -> list[tuple]:
    """Return what is replaced to take out a part: where, its name, and by what."""
    from pareto_nrpa.algorithms.polished import change_search
    from pareto_nrpa.algorithms.polished.additive_model import AdditiveModel
    from pareto_nrpa.algorithms.polished.credit import Credit
    from pareto_nrpa.algorithms.polished.solution_front import ManyFront, PairFront
    from pareto_nrpa.algorithms.polished.solution_search import SolutionSearch

    changes_of = change_search.changes_of

    class WithoutPlayouts(Credit):
        def draw(self, number: float) -> int:
            return super().draw(number) or 1

    return {
        "chains": [(SolutionSearch, "_share_of_chains", lambda _: 0.0)],
        "drift": [(front, "replace", lambda *_: None) for front in (PairFront, ManyFront)],
        "model": [(AdditiveModel, "is_possible", staticmethod(lambda _: False))],
        "crossover": [(change_search, "changes_of", lambda *given: (changes_of(*given)[0], []))],
        "learning": [(SolutionSearch, "_learns", False)],
        "playouts": [(change_search, "Credit", WithoutPlayouts)],
        "credit": [(Credit, "reward", lambda *_, **__: None)],
    }[part]


_SLICE = 50
_FIRST, _MEASURED, _REPETITIONS = 5_000, 10_000, 5


class Found:
    """The front of all feasible solutions evaluated: evaluation, CPU seconds and minimised objectives of each entry."""

    def __init__(self, problem: Problem) -> None:
        self.signs = np.where(np.broadcast_to(problem.maximise, problem.n_objectives), -1.0, 1.0).tolist()
        self.problem, self.n, self.entries = problem, 0, []
        self._front: list[tuple[float, ...]] = []
        self.begin = time.process_time()

    def judge(self, solution) -> tuple[tuple[float, ...], float]:
        """Evaluate a solution; returns minimised objectives and violations."""
        self.n += 1
        value = self.problem.evaluate_solution(solution)
        objectives, violations = value if self.problem.constrained else (value, 0)
        point = tuple(sign * float(one) for sign, one in zip(self.signs, objectives, strict=True))
        if violations == 0:
            self._offer(point)
        return point, violations

    def _offer(self, point) -> None:
        front, place = self._front, bisect_right(self._front, point)
        if len(point) == 2:  # sorted: the one before it is the only one that may cover it
            if place and front[place - 1][1] <= point[1]:
                return
            end = place
            while end < len(front) and front[end][1] >= point[1]:
                end += 1
            front[place:end] = [point]
        elif any(all(map(float.__le__, one, point)) for one in front[:place]):
            return
        else:
            front[place:] = [point, *(one for one in front[place:] if not all(map(float.__le__, point, one)))]
        self.entries.append((self.n, time.process_time() - self.begin, point))


def default(problem: Problem, seed: int, seconds: float, evaluations: int):
    search = PolishedNRPA().start(problem, seed=seed)
    search.compile()
    found, logged = Found(problem), 0
    while (spent := time.process_time() - found.begin) < seconds or search.evaluations < evaluations:
        search.advance(_SLICE)
        rows = search.log()[logged:]
        logged += len(rows)
        found.entries += [(int(n), spent, tuple(p)) for n, violations, *p in rows.tolist() if violations == 0]
    found.n = search.evaluations
    return found


def nsga(problem: Problem, seed: int, seconds: float, evaluations: int, population: int):
    from pymoo.core.callback import Callback
    from pymoo.optimize import minimize

    class Clock(Callback):
        def notify(self, algorithm):
            is_over = time.process_time() - found.begin >= seconds and found.n >= evaluations
            algorithm.termination.force_termination = is_over

    adapter, algorithm = pymoo_setup(problem, population)
    found = adapter.found = Found(problem)
    minimize(adapter, algorithm, ("n_gen", 10**9), seed=seed, callback=Clock(), copy_algorithm=False)
    return found


def pymoo_setup(problem: Problem, population: int):
    """Return a problem of pymoo, and NSGA-II with the usual operators for it; NSGA-III from three objectives on."""
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.algorithms.moo.nsga3 import NSGA3
    from pymoo.core.mutation import Mutation
    from pymoo.core.problem import ElementwiseProblem
    from pymoo.operators.crossover.ox import OrderCrossover
    from pymoo.operators.crossover.ux import UX
    from pymoo.operators.mutation.inversion import InversionMutation
    from pymoo.operators.sampling.rnd import IntegerRandomSampling, PermutationRandomSampling
    from pymoo.util.ref_dirs import get_reference_directions

    moves = problem.genotype.moves
    is_choice = isinstance(problem.genotype, Choices)
    sizes = np.array([len(step) for step in moves]) if is_choice else np.full(len(moves), len(moves))

    class Adapter(ElementwiseProblem):
        def __init__(self):
            m = problem.n_objectives
            super().__init__(
                n_var=len(moves), n_obj=m, n_ieq_constr=int(problem.constrained), xl=0, xu=sizes - 1, vtype=int
            )

        def _evaluate(self, x, out, *args, **kwargs):
            genes = x.tolist()
            solution = (
                [step[i] for step, i in zip(moves, genes, strict=True)] if is_choice else [moves[i] for i in genes]
            )
            point, violations = self.found.judge(solution)
            out["F"] = point
            if problem.constrained:
                out["G"] = [violations]

    class RandomChoice(Mutation):
        """Each choice anew with a probability of one in their number."""

        def _do(self, problem, X, *args, random_state=None, **kwargs):
            anew = random_state.integers(0, sizes, X.shape)
            return np.where(random_state.random(X.shape) < 1 / X.shape[1], anew, X)

    operators = {
        "sampling": PermutationRandomSampling(),
        "crossover": OrderCrossover(),
        "mutation": InversionMutation(),
    }
    if is_choice:
        operators = {"sampling": IntegerRandomSampling(), "crossover": UX(), "mutation": RandomChoice()}
    if problem.n_objectives == 2:
        return Adapter(), NSGA2(pop_size=population, **operators)
    directions = get_reference_directions("energy", problem.n_objectives, population, seed=1)
    return Adapter(), NSGA3(directions, pop_size=population, **operators)


def run(name: str, method: str, seed: int, seconds: float, evaluations: list[int]) -> list[dict]:
    """Make a run; returns a row for each moment."""
    problem = ALL[name]()
    with ExitStack() as stack:
        for one in taken_out(method.removeprefix(_WITHOUT)) if method.startswith(_WITHOUT) else ():
            stack.enter_context(patch.object(*one))
        if method.startswith("pymoo"):
            found = nsga(problem, seed, seconds, evaluations[-1], int(method.split()[1]))
        else:
            found = default(problem, seed, seconds, evaluations[-1])
    total = time.process_time() - found.begin
    moments = [(f"{n} evaluations", [p for at, _, p in found.entries if at <= n]) for n in evaluations]
    moments += [(f"{s:g} s", [p for _, at, p in found.entries if at <= s]) for s in SECONDS if s <= seconds]
    rows = []
    for moment, points in moments:
        front = nondominated(points)
        row = {"problem": name, "method": method, "seed": seed, "moment": moment, "per_second": round(found.n / total)}
        rows.append({**row, "front": json.dumps(front)})
    return rows


def nondominated(points) -> list[list[float]]:
    kept: list[tuple[float, ...]] = []
    for point in sorted(set(points)):
        if not any(all(map(float.__le__, one, point)) for one in kept):
            kept.append(point)
    return [list(point) for point in kept]


def read(path: Path) -> list[dict]:
    csv.field_size_limit(10**9)
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def shares(rows: list[dict]) -> list[dict]:
    """Return the rows with the share of the hypervolume that all runs of a problem found together."""
    by_problem = defaultdict(list)
    for row in rows:
        by_problem[row["problem"]].append(row)
    measured = []
    for chosen in by_problem.values():
        union = np.array(nondominated([tuple(point) for row in chosen for point in json.loads(row["front"])]))
        best, worst = union.min(axis=0), union.max(axis=0)
        corner = worst + 0.2 * np.where(worst > best, worst - best, 1.0)
        most = hypervolume(union, reference_point=corner)
        for row in chosen:
            front = np.array(json.loads(row["front"])).reshape(-1, union.shape[1])
            share = hypervolume(front, reference_point=corner) / most if len(front) else 0.0
            measured.append({**{key: row[key] for key in row if key != "front"}, "share": f"{share:.4f}"})
    return measured


def table(measured: list[dict], methods: list[str]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows: the mean over seeds, with their standard deviation, the best method in bold."""
    cells, speeds = defaultdict(list), defaultdict(list)
    for row in measured:
        cells[row["problem"], row["moment"], row["method"]].append(float(row["share"]))
        speeds[row["problem"], row["method"]].append(float(row["per_second"]))
    lines = []
    for problem, moment in dict.fromkeys((problem, moment) for problem, moment, _ in cells):
        means = {one: np.mean(cells[problem, moment, one]) for one in methods if (problem, moment, one) in cells}
        if len(means) < len(methods):
            continue  # a moment that not all methods have reached
        line = [problem, moment]
        for one in methods:
            text = f"{means[one]:.3f} ({np.std(cells[problem, moment, one]):.2f})"
            line.append(f"**{text}**" if means[one] == max(means.values()) else text)
        n = {len(cells[problem, moment, one]) for one in means}
        lines.append([*line, ", ".join(f"{np.median(speeds[problem, one]):,.0f}" for one in means), str(min(n))])
    return ["problem", "budget", *methods, "evaluations a second", "seeds"], lines


def parts_table(measured: list[dict], methods: list[str]) -> tuple[list[str], list[list[str]]]:
    """Return a row for each search that lacks a part, and a column for each problem."""
    problems = list(dict.fromkeys(row["problem"] for row in measured))
    cells = defaultdict(list)
    for row in measured:
        if row["moment"] == _AT:
            cells[row["method"], row["problem"]].append(float(row["share"]))
    lines = []
    for method in methods:
        means = [np.mean(cells[method, problem]) for problem in problems if (method, problem) in cells]
        lines.append([method, *(f"{mean:.2f}" for mean in [*means, np.mean(means)])])
    return ["search", *(name.removeprefix("tuning: ") for name in problems), "mean"], lines


def overhead() -> tuple[list[str], list[list[str]]]:
    """Return what an evaluation takes after the first 5,000 of a search, and how much of that is the function."""
    lines = []
    for name in [*TABLE, *COMPILED]:
        problem = ALL[name]()
        search = PolishedNRPA().start(problem, seed=0)
        search.advance(_FIRST)
        solutions = search.front().solutions * 20
        pairs = []
        for _ in range(_REPETITIONS):  # in turns: a busy moment falls on both
            pairs.append((timed(search.advance, _MEASURED), timed(evaluate_all, problem, solutions) / len(solutions)))
        total, own = (min(values) * 1e6 for values in zip(*pairs, strict=True))
        total /= _MEASURED
        lines.append([name, f"{1e6 / total:,.0f}", f"{total:.1f}", f"{own:.1f}", f"**{total - own:.1f}**", "15"])
    return ["problem", "evaluations a second", "us each", "the function, us", "the search, us", "wanted at most"], lines


def timed(function, *arguments) -> float:
    begin = time.process_time()
    function(*arguments)
    return time.process_time() - begin


def evaluate_all(problem: Problem, solutions) -> None:
    for solution in solutions:
        problem.function(solution)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, default=Path("plain-runs.csv"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[10])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--evaluations", type=int, nargs="+", default=EVALUATIONS)
    parser.add_argument("--problems", nargs="+", default=[*TABLE, *THREE_OBJECTIVES])
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--label", default="", help="a name for the default search, to compare versions")
    parser.add_argument("--parts", action="store_true", help="compare with searches that each lack one part")
    parser.add_argument("--write", action="store_true", help="write the page and results/plain.csv")
    parser.add_argument("--overhead", action="store_true", help="measure what the search adds to an evaluation instead")
    chosen = parser.parse_args(arguments or [])
    if chosen.overhead:
        write("speed", _OVERHEAD, *overhead(), command="plain.py --overhead", notes=_OVERHEAD_NOTES)
        return
    if chosen.parts:
        chosen.problems, chosen.methods = list(TUNING), ["default", *(_WITHOUT + part for part in PARTS)]
        chosen.seconds = 0.0
    begin, end = chosen.seeds if len(chosen.seeds) == 2 else (0, chosen.seeds[0])
    rows = read(chosen.runs)
    done = {(row["problem"], row["method"], int(row["seed"])) for row in rows}
    for seed in range(begin, end):
        for name in chosen.problems:
            for method in chosen.methods:
                label = chosen.label or method
                if (name, label, seed) in done:
                    continue
                new = [{**row, "method": label} for row in run(name, method, seed, chosen.seconds, chosen.evaluations)]
                is_first = not chosen.runs.exists()
                with chosen.runs.open("a", newline="") as file:
                    writer = csv.DictWriter(file, new[0], lineterminator="\n")
                    if is_first:
                        writer.writeheader()
                    writer.writerows(new)
                rows += new
    measured = shares(rows)
    if chosen.parts:
        notes = f"Mean share after {_AT}, {end - begin} seeds. Settings were chosen on these instances."
        show(chosen.write, _PARTS, *parts_table(measured, chosen.methods), command="plain.py --parts", notes=notes)
        return
    header, lines = table(measured, list(dict.fromkeys(row["method"] for row in measured)))
    show(chosen.write, _TITLE, header, lines, command="plain.py", notes=_NOTES)


def show(is_written: bool, title: str, header: list[str], lines: list[list[str]], **origin: str) -> None:
    """Print a table, or also write it as a section of the page."""
    if is_written:
        write("default-search", title, header, lines, **origin)
    else:
        print("\n".join(" | ".join(line) for line in [header, *lines]))


if __name__ == "__main__":
    main(sys.argv[1:])
