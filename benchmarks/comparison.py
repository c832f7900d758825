"""What comparing algorithms costs: all instances with the compiled ones, and pymoo's with and without its objects."""

import time

import numpy as np
from report import write

from pareto_nrpa import MaxEvaluations, load, solve
from pareto_nrpa.algorithms.registry import algorithm
from pareto_nrpa.experiments.plan import load_plan

EVALUATIONS = 100_000
COMPILED = ("Pareto-NRPA", "PLS", "Pareto-MCTS")
MOST_MINUTES = 4
FEWER = 20_000  # pymoo is slow
INSTANCE = "rc_201.3"


def main() -> None:
    compiled_part()
    without_objects()


def compiled_part() -> None:
    """One seed on all instances; CPU time of this process, compiling and loading included."""
    plan = load_plan("tsptw")
    begin = time.process_time()
    rows = []
    for contender in plan.contenders:
        if contender.label in COMPILED:
            seconds = [
                solve(
                    load(name), algorithm(contender.name, contender.parameters), stop=MaxEvaluations(EVALUATIONS)
                ).cpu_seconds
                for name in plan.problems
            ]
            rows.append([contender.label, f"{sum(seconds):.0f}", f"{np.median(seconds):.2f}", f"{max(seconds):.2f}"])
    total = time.process_time() - begin
    rows.append(["all, with loading and compiling", f"{total:.0f}", "", ""])
    notes = f"{len(plan.problems)} instances, {EVALUATIONS:,} evaluations, 1 seed; our limit is {MOST_MINUTES} minutes."
    header = ["algorithm", "CPU seconds, all instances", "median", "largest"]
    write("comparison", "The compiled part of the comparison", header, rows, notes)


def without_objects() -> None:
    """pymoo as it comes against the same steps on arrays (the results are the same, see tests/test_evolutionary.py)."""
    rows = []
    for name, plain in plain_pymoo().items():
        solve(load(INSTANCE), algorithm(name, {"bias": 0.0}), stop=MaxEvaluations(300))
        ours = solve(load(INSTANCE), algorithm(name, {"bias": 0.0}), stop=MaxEvaluations(FEWER), seed=1).cpu_seconds
        begin = time.process_time()
        plain()
        theirs = time.process_time() - begin
        rows.append([name, f"{theirs:.2f}", f"{ours:.3f}", f"{theirs / ours:.0f}"])
    notes = f"{FEWER:,} evaluations of {INSTANCE}, seed 1, no bias; pymoo gets a vectorised evaluator."
    write(
        "comparison-pymoo",
        "pymoo's algorithms with and without its objects",
        ["algorithm", "pymoo, s", "here, s", "ratio"],
        rows,
        notes,
        part="comparison",
    )


def plain_pymoo() -> dict:
    from pymoo.algorithms.moo.moead import MOEAD
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.algorithms.moo.sms import SMSEMOA
    from pymoo.core.problem import Problem
    from pymoo.operators.crossover.ox import OrderCrossover
    from pymoo.operators.mutation.inversion import InversionMutation
    from pymoo.operators.sampling.rnd import PermutationRandomSampling
    from pymoo.optimize import minimize
    from pymoo.util.ref_dirs import get_reference_directions

    data = load(INSTANCE).data
    n = data.opens.size

    class Tours(Problem):
        def __init__(self) -> None:
            super().__init__(n_var=n - 1, n_obj=2, xl=0, xu=n - 2, vtype=int)

        def _evaluate(self, rows, out, *args, **kwargs) -> None:
            tours = np.column_stack([np.zeros(len(rows), int), rows.astype(int) + 1])
            after = np.roll(tours, -1, axis=1)
            costs = data.costs[:, tours, after]
            now, late = np.full(len(rows), data.opens[0]), np.zeros(len(rows))
            for step in range(1, n):
                now = now + costs[0, :, step - 1]
                late += now > data.closes[tours[:, step]]
                now = np.maximum(now, data.opens[tours[:, step]])
            out["F"] = costs.sum(axis=2).T + 1e6 * late[:, None]

    def operators() -> dict:
        return {
            "sampling": PermutationRandomSampling(),
            "crossover": OrderCrossover(),
            "mutation": InversionMutation(),
        }

    def run(made):
        return lambda: minimize(Tours(), made, ("n_eval", FEWER), seed=1)

    directions = get_reference_directions("das-dennis", 2, n_partitions=199)
    return {
        "nsga-ii": run(NSGA2(pop_size=250, n_offsprings=25, **operators())),
        "sms-emoa": run(SMSEMOA(pop_size=250, **operators())),
        "moea-d": run(MOEAD(directions, **operators())),
    }


if __name__ == "__main__":
    main()
