"""What the paper's settings find: 100,000 evaluations, ten seeds."""

from report import write

from pareto_nrpa import InstanceError, MaxEvaluations, ParetoNRPA, load, solve

SEEDS = range(10)
# The published optimum of the first objective where the front should reach it; None: feasible in every run is asked.
INSTANCES = {
    "rc_201.3": None,
    "rc_204.3": None,
    "rc_203.3": None,
    "rc_201.1": 444.54,
    "rc_201.2": 711.54,
    "rc_206.1": 117.85,
    "rc_207.4": 119.64,
    "rc_205.1": 343.21,
    "rc_203.1": 453.48,
}


def main() -> None:
    rows = []
    for name, optimum in INSTANCES.items():
        try:
            problem = load(name)
        except InstanceError as error:
            print(f"quality on {name} not measured: {error}")
            continue
        results = [solve(problem, ParetoNRPA(), stop=MaxEvaluations(100_000), seed=seed) for seed in SEEDS]
        feasible = [result for result in results if result.front.is_feasible]
        smallest = min((result.front.objectives[:, 0].min() for result in feasible), default=float("nan"))
        wanted = "" if optimum is None else f"{optimum:.2f}"
        reached = "" if optimum is None else "yes" if round(smallest, 2) == optimum else "no"
        rows.append([name, f"{len(feasible)} of {len(results)}", f"{smallest:.2f}", wanted, reached])
    header = ["instance", "feasible runs", "smallest f1", "published optimum", "reached"]
    notes = f"Level 4, 4 policies, alpha 0.5, 100,000 evaluations, seeds {SEEDS[0]} to {SEEDS[-1]}."
    write("quality", "Quality with the paper's settings", header, rows, notes)


if __name__ == "__main__":
    main()
