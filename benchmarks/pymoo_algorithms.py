"""Ours in pymoo beside pymoo's own algorithms, at equal evaluations: a knapsack, a flow shop, NAS-Bench-201.

python benchmarks/pymoo_algorithms.py tune               # populations of the rivals, on other problems and seeds
python benchmarks/pymoo_algorithms.py run --seeds 5      # continues where it was stopped
python benchmarks/pymoo_algorithms.py page               # writes docs/results/samplers.md

All are judged by all that they evaluated: a population forgets, an archive does not. Every run is a row of
results/pymoo.csv; the page reads these alone.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pymoo
from pymoo.algorithms.moo.nsga2 import NSGA2, RankAndCrowdingSurvival
from pymoo.core.mixed import MixedVariableGA
from pymoo.core.problem import ElementwiseProblem
from pymoo.core.variable import Choice
from pymoo.operators.crossover.ox import OrderCrossover
from pymoo.operators.crossover.pntx import TwoPointCrossover
from pymoo.operators.mutation.bitflip import BitflipMutation
from pymoo.operators.mutation.inversion import InversionMutation
from pymoo.operators.sampling.rnd import BinaryRandomSampling, PermutationRandomSampling
from pymoo.optimize import minimize
from report import write_section
from spaces import FlowShop, flow_shop
from stored import RESULTS, append_row, best_known, read_rows

from pareto_nrpa import ReferenceFront, load
from pareto_nrpa.integrations.pymoo import ParetoNRPAForPymoo, PolishedNRPAForPymoo
from pareto_nrpa.metrics import nondominated

RUNS = RESULTS / "pymoo.csv"
EVALUATIONS = 5_000
POPULATIONS = (20, 50, 100, 200)


class Knapsack(ElementwiseProblem):
    """50 items, half of the weight may be carried: two profits, maximised."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(n_var=50, n_obj=2, n_ieq_constr=1, xl=0, xu=1, vtype=bool)
        self.weights, *self.profits = np.random.default_rng(seed).integers(10, 100, (3, 50))

    def _evaluate(self, x, out, *args, **kwargs):
        out["F"] = [-(profit @ x) for profit in self.profits]
        out["G"] = [(self.weights @ x - self.weights.sum() / 2) / self.weights.sum()]


class Orders(ElementwiseProblem):
    def __init__(self, seed: int = 1) -> None:
        self.shop = FlowShop(seed=seed)
        super().__init__(n_var=self.shop.max_moves, n_obj=2, xl=0, xu=self.shop.max_moves - 1)

    def _evaluate(self, x, out, *args, **kwargs):
        out["F"] = self.shop.evaluate([int(job) for job in x])


class Architectures(ElementwiseProblem):
    def __init__(self, name: str = "nas-bench-201") -> None:
        self.table = load(name)
        steps = self.table.genotype.moves
        super().__init__(vars={f"edge {k}": Choice(options=list(step)) for k, step in enumerate(steps)}, n_obj=2)

    def _evaluate(self, x, out, *args, **kwargs):
        out["F"] = self.table.replay([x[name] for name in self.vars])[0]


def rivals(problem, population: int) -> dict:
    """What pymoo has for each kind of problem: MixedVariableGA takes choices, and neither arrays of bits nor orders."""
    if isinstance(problem, Orders):
        operators = {"crossover": OrderCrossover(), "mutation": InversionMutation()}
        return {"NSGA-II": NSGA2(population, sampling=PermutationRandomSampling(), **operators)}
    if isinstance(problem, Architectures):
        return {"MixedVariableGA": MixedVariableGA(population, survival=RankAndCrowdingSurvival())}
    operators = {"crossover": TwoPointCrossover(), "mutation": BitflipMutation()}
    return {"NSGA-II": NSGA2(population, sampling=BinaryRandomSampling(), **operators)}


def ours(problem) -> dict:
    if isinstance(problem, Orders):
        return {
            "PolishedNRPA (kind: permutation)": PolishedNRPAForPymoo(kind="permutation"),
            "ParetoNRPA (kind: permutation)": ParetoNRPAForPymoo(kind="permutation"),
            "ParetoNRPA (construction given)": ParetoNRPAForPymoo(construction=problem.shop),
        }
    return {"PolishedNRPA": PolishedNRPAForPymoo(), "ParetoNRPA": ParetoNRPAForPymoo()}


def algorithms(problem) -> dict:
    return {**ours(problem), **rivals(problem, TUNED[type(problem)])}


# What `tune` found to be best.
TUNED = {Knapsack: 50, Orders: 20, Architectures: 50}
PROBLEMS = {"knapsack": Knapsack, "flow shop": Orders, "nas-bench-201": Architectures}


def reference_of(name: str) -> ReferenceFront:
    """Return what runs on a problem are measured against."""
    if name == "nas-bench-201":
        return load(name).reference_front
    return ReferenceFront.of(
        best_known("pymoo", name), reference_point=flow_shop().point if name == "flow shop" else None
    )


def make_runs(seeds: int) -> None:
    made = {(row["problem"], row["algorithm"], int(row["seed"])) for row in read_rows(RUNS)}
    for name, make in PROBLEMS.items():
        problem, reference = make(), reference_of(name)
        for label, algorithm in algorithms(problem).items():
            for seed in range(seeds):
                if (name, label, seed) in made:
                    continue
                seconds, front = run(problem, algorithm, seed)
                scores = {"share": reference.share(front), "igd_plus": reference.distance(front)}
                append_row(RUNS, {"problem": name, "algorithm": label, "seed": seed, "seconds": seconds, **scores})
                print(f"{name}, {label}, seed {seed}: {seconds:.1f} s of CPU time", flush=True)


def run(problem, algorithm, seed: int) -> tuple[float, np.ndarray]:
    """Return the CPU time of an algorithm, and the front of all that it evaluated."""
    feasible, evaluate = [], type(problem)._evaluate  # noqa: SLF001

    def recorded(x, out, *args, **kwargs):
        evaluate(problem, x, out, *args, **kwargs)
        if max(out.get("G", [0])) <= 0:
            feasible.append([float(value) for value in out["F"]])

    problem._evaluate = recorded  # noqa: SLF001
    start = time.process_time()
    minimize(problem, algorithm, ("n_eval", EVALUATIONS), seed=seed)
    return time.process_time() - start, nondominated(feasible)


def tune() -> None:
    """Print what each population is worth, on problems and seeds that are not reported."""
    for problem in (Knapsack(1), Orders(2), Architectures("nas-bench-201:objectives=in16_error+hw_edgegpu_latency")):
        fronts = {
            (label, population): [run(problem, algorithm, seed)[1] for seed in (100, 101, 102)]
            for population in POPULATIONS
            for label, algorithm in rivals(problem, population).items()
        }
        reference = ReferenceFront.of(np.vstack([front for runs in fronts.values() for front in runs]))
        for (label, population), runs in fronts.items():
            share = np.mean([reference.share(front) for front in runs])
            print(f"{type(problem).__name__}, {label}, population {population}: {share:.3f}", flush=True)


def write_page() -> None:
    rows = read_rows(RUNS)
    lines = [
        f"Made by `python benchmarks/pymoo_algorithms.py page` from stored runs; pymoo {pymoo.__version__}, "
        f"{EVALUATIONS:,} evaluations each. Share of the hypervolume of the front of all runs up to 2026-11-18 "
        "(NAS-Bench-201: of the true front; flow shop: up to a random order), mean and standard deviation over "
        "seeds; more is better. All evaluations count. Populations of the rivals "
        f"({', '.join(f'{kind.__name__} {size}' for kind, size in TUNED.items())}) are the best of "
        f"{', '.join(map(str, POPULATIONS))} on other problems and seeds.",
    ]
    for name in PROBLEMS:
        here = [row for row in rows if row["problem"] == name]
        if not here:
            continue
        lines += ["", f"### {name}", "", "| | share | seeds | seconds |", "|---|---|---|---|"]
        for label in dict.fromkeys(row["algorithm"] for row in here):
            runs = [row for row in here if row["algorithm"] == label]
            shares, seconds = ([float(row[column]) for row in runs] for column in ("share", "seconds"))
            mean, deviation = np.mean(shares), np.std(shares)
            lines.append(f"| {label} | {mean:.3f} ± {deviation:.3f} | {len(runs)} | {np.mean(seconds):.1f} |")
    write_section("samplers", "Algorithms of pymoo", "\n".join(lines))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["tune", "run", "page"])
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    {"tune": tune, "run": lambda: make_runs(given.seeds), "page": write_page}[given.what]()
