"""Ours in pymoo beside pymoo's own algorithms, at equal evaluations: a knapsack, a flow shop, NAS-Bench-201.

python benchmarks/pymoo_algorithms.py run --seeds 5      # goes on where it was stopped
python benchmarks/pymoo_algorithms.py page               # writes docs/results/pymoo.md
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

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
from spaces import FlowShop

from pareto_nrpa import ReferenceFront, load
from pareto_nrpa.files import file_name, write_text
from pareto_nrpa.pymoo import ParetoNRPA, PolishedNRPA

RUNS = Path(__file__).parent / "results" / "pymoo-runs"
PAGE = Path(__file__).parents[1] / "docs" / "results" / "pymoo.md"
EVALUATIONS = 5_000


class Knapsack(ElementwiseProblem):
    """50 items, half of the weight may be carried: two profits, maximised."""

    def __init__(self) -> None:
        super().__init__(n_var=50, n_obj=2, n_ieq_constr=1, xl=0, xu=1, vtype=bool)
        self.weights, *self.profits = np.random.default_rng(0).integers(10, 100, (3, 50))

    def _evaluate(self, x, out, *args, **kwargs):
        out["F"] = [-(profit @ x) for profit in self.profits]
        out["G"] = [(self.weights @ x - self.weights.sum() / 2) / self.weights.sum()]


class Orders(ElementwiseProblem):
    def __init__(self) -> None:
        self.shop = FlowShop()
        super().__init__(n_var=self.shop.max_moves, n_obj=2, xl=0, xu=self.shop.max_moves - 1)

    def _evaluate(self, x, out, *args, **kwargs):
        out["F"] = self.shop.evaluate([int(job) for job in x])


class Architectures(ElementwiseProblem):
    def __init__(self) -> None:
        self.table = load("nas-bench-201")
        steps = self.table.genotype.moves
        super().__init__(vars={f"edge {k}": Choice(options=list(step)) for k, step in enumerate(steps)}, n_obj=2)

    def _evaluate(self, x, out, *args, **kwargs):
        out["F"] = self.table.replay([x[name] for name in self.vars])[0]


def algorithms(problem) -> dict:
    if isinstance(problem, Knapsack):
        rival = NSGA2(sampling=BinaryRandomSampling(), crossover=TwoPointCrossover(), mutation=BitflipMutation())
        return {"PolishedNRPA": PolishedNRPA(), "ParetoNRPA": ParetoNRPA(), "NSGA-II": rival}
    if isinstance(problem, Orders):
        operators = {"crossover": OrderCrossover(), "mutation": InversionMutation()}
        rival = NSGA2(sampling=PermutationRandomSampling(), **operators)
        return {
            "PolishedNRPA (kind: permutation)": PolishedNRPA(kind="permutation"),
            "ParetoNRPA (kind: permutation)": ParetoNRPA(kind="permutation"),
            "ParetoNRPA (construction given)": ParetoNRPA(construction=problem.shop),
            "NSGA-II": rival,
        }
    rival = MixedVariableGA(pop_size=50, survival=RankAndCrowdingSurvival())
    return {"PolishedNRPA": PolishedNRPA(), "ParetoNRPA": ParetoNRPA(), "MixedVariableGA": rival}


PROBLEMS = {"knapsack": Knapsack, "flow shop": Orders, "nas-bench-201": Architectures}


def make_runs(seeds: int) -> None:
    RUNS.mkdir(parents=True, exist_ok=True)
    for name, make in PROBLEMS.items():
        problem = make()
        for label, algorithm in algorithms(problem).items():
            for seed in range(seeds):
                path = RUNS / f"{file_name(f'{name}-{label}-{seed}')}.json"
                if path.exists():
                    continue
                start = time.process_time()
                res = minimize(problem, algorithm, ("n_eval", EVALUATIONS), seed=seed)
                seconds = time.process_time() - start
                record = {"problem": name, "algorithm": label, "seed": seed, "seconds": seconds}
                write_text(path, json.dumps({**record, "front": np.asarray(res.F, dtype=float).tolist()}))
                print(f"{name}, {label}, seed {seed}: {seconds:.1f} s of CPU time", flush=True)


def write_page() -> None:
    records = [json.loads(path.read_text()) for path in sorted(RUNS.glob("*.json"))]
    lines = [
        "# Algorithms of pymoo compared",
        "",
        f"Made by `python benchmarks/pymoo_algorithms.py page` from stored runs; pymoo {pymoo.__version__}, "
        f"{EVALUATIONS:,} evaluations each. Share: of the hypervolume of the front of all runs (NAS-Bench-201: of the "
        "true front), mean and standard deviation over seeds; more is better.",
    ]
    for name in PROBLEMS:
        here = [record for record in records if record["problem"] == name]
        if not here:
            continue
        points = np.array([row for record in here for row in record["front"]])
        truth = load("nas-bench-201").reference_front.front if name == "nas-bench-201" else points
        reference = ReferenceFront.of(np.vstack([points, truth]))
        lines += ["", f"## {name}", "", "| | share | seeds | seconds |", "|---|---|---|---|"]
        for label in dict.fromkeys(record["algorithm"] for record in here):
            runs = [record for record in here if record["algorithm"] == label]
            shares = [reference.share(np.array(record["front"])) for record in runs]
            seconds = np.mean([record["seconds"] for record in runs])
            lines.append(f"| {label} | {np.mean(shares):.3f} ± {np.std(shares):.3f} | {len(runs)} | {seconds:.1f} |")
    write_text(PAGE, "\n".join(lines) + "\n")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "page"])
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    make_runs(given.seeds) if given.what == "run" else write_page()
