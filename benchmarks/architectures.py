"""Settings of Pareto-NRPA for architectures, chosen on other objectives than those that are reported."""

from itertools import product

import numpy as np
from report import write

from pareto_nrpa import InstanceError, MaxEvaluations, ParetoNRPA, load, solve
from pareto_nrpa.truth import truth

BUDGET, SEEDS = 2_000, range(100, 130)  # those of the plans begin at 0
PROBLEMS = ("nas-bench-201:objectives=c100_error+flops", "nas-bench-201:objectives=in16_error+c10_latency")
LEVELS, POLICIES, ALPHAS, WEIGHTINGS = (2, 3, 4), (2, 4, 8), (0.125, 0.25, 0.5, 1.0), ("crowding", "none")
SHOWN = 8


def main() -> None:
    try:
        problems = [load(name) for name in PROBLEMS]
    except (InstanceError, ImportError) as error:
        print(f"settings for architectures not measured: {error}")
        return
    settings = [ParetoNRPA(*choice) for choice in product(LEVELS, POLICIES, ALPHAS, (None,), WEIGHTINGS)]
    shares = {setting: [mean_share(problem, setting) for problem in problems] for setting in settings}
    order = sorted(settings, key=lambda setting: -np.mean(shares[setting]))
    paper = ParetoNRPA()
    rows = []
    for place, setting in enumerate(order, start=1):
        if place <= SHOWN or setting == paper:
            words = [f"{setting.level}", f"{setting.n_policies}", f"{setting.alpha:g}", setting.weighting]
            rows.append([f"{place}", *words, *(f"{share:.4f}" for share in shares[setting])])
    header = ["place", "level", "policies", "alpha", "weighting", *(name.partition("=")[2] for name in PROBLEMS)]
    notes = (
        f"Share of the true front's hypervolume after {BUDGET:,} evaluations, means over {len(SEEDS)} seeds that no "
        f"plan uses; {len(settings)} settings: the best {SHOWN}, and the paper's. The first is *tuned* in the plans."
    )
    write("architectures", "Settings for architectures", header, rows, notes)


def mean_share(problem, setting) -> float:
    """Return the share of the true front's hypervolume, averaged over the seeds."""
    known, stop = truth(problem), MaxEvaluations(BUDGET)
    fronts = [solve(problem, setting, stop=stop, seed=seed).front.objectives for seed in SEEDS]
    return float(np.mean([known.share(front) for front in fronts]))


if __name__ == "__main__":
    main()
