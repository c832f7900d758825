"""How often architectures are evaluated again, and what it is worth not to count that: 2,000 of all, 2,000 unique."""

import numpy as np
from report import write

from pareto_nrpa import InstanceError, MaxEvaluations, load, solve
from pareto_nrpa.algorithms import algorithm

BUDGET, SEEDS = 2_000, range(30)
PROBLEMS = ("nas-bench-201", "nas-bench-101-surrogate")
ALGORITHMS = {
    "Pareto-NRPA": ("pareto-nrpa", {}),
    "Pareto-NRPA (no crowding)": ("pareto-nrpa", {"weighting": "none"}),
    "NSGA-II": ("nsga-ii", {}),
    "SMS-EMOA": ("sms-emoa", {}),
    "PLS": ("pls", {}),
    "Random": ("random", {}),
}


def main() -> None:
    rows = []
    unique = MaxEvaluations(BUDGET, count="unique")
    for name in PROBLEMS:
        try:
            problem = load(name)
        except (InstanceError, ImportError) as error:
            print(f"unique evaluations on {name} not measured: {error}")
            continue
        best = problem.reference_front.volume
        for label, (algorithm_name, parameters) in ALGORITHMS.items():
            solver = algorithm(algorithm_name, parameters)
            # Both criteria, of which the first always fires: the second makes it count.
            first = [solve(problem, solver, stop=MaxEvaluations(BUDGET) | unique, seed=seed) for seed in SEEDS]
            second = [solve(problem, solver, stop=unique, seed=seed) for seed in SEEDS]
            row = [name, label, f"{np.mean([result.unique_evaluations for result in first]):,.0f}"]
            row.append(f"{np.mean([result.hypervolume for result in first]) / best:.4f}")
            row.append(f"{np.mean([result.evaluations for result in second]):,.0f}")
            row.append(f"{np.mean([result.hypervolume for result in second]) / best:.4f}")
            rows.append(row)
    header = ["problem", "algorithm", f"unique of {BUDGET:,}", "share of the true front's hypervolume"]
    header += [f"evaluations for {BUDGET:,} unique", "share then"]
    notes = f"Means over seeds {SEEDS[0]} to {SEEDS[-1]}; NAS-Bench-101 is a surrogate."
    write("unique", "Evaluations that count once", header, rows, notes)


if __name__ == "__main__":
    main()
