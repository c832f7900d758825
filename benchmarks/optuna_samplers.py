"""ParetoNRPASampler beside the samplers that Optuna comes with, at equal numbers of trials.

    python benchmarks/optuna_samplers.py run --trials 200 --seeds 5        # continues where it was stopped
    python benchmarks/optuna_samplers.py page                              # writes docs/results/samplers.md

Every run is a row of results/optuna.csv: the share and the distance of its front, and its CPU time. The page reads
these alone.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import optuna
from report import write_section
from spaces import SPACES, Space
from stored import RESULTS, append_row, read_rows

from pareto_nrpa.integrations.optuna import ParetoNRPASampler
from pareto_nrpa.metrics import nondominated

RUNS = RESULTS / "optuna.csv"
OURS = "ParetoNRPA"
KEYS = " (random keys)"
SAMPLERS = {
    OURS: lambda seed: ParetoNRPASampler(seed=seed),
    "Random": lambda seed: optuna.samplers.RandomSampler(seed=seed),
    "NSGA-II": lambda seed: optuna.samplers.NSGAIISampler(seed=seed),
    "TPE": lambda seed: optuna.samplers.TPESampler(seed=seed),
    "TPE (multivariate, group)": lambda seed: optuna.samplers.TPESampler(seed=seed, multivariate=True, group=True),
}


def contenders(space: Space) -> list[str]:
    """Rivals may also sort by random keys where we play moves: that is how orders are written in Optuna."""
    return [*SAMPLERS, *(name + KEYS for name in list(SAMPLERS)[2:] if space.keys is not None)]


def run(space: Space, contender: str, seed: int, trials: int) -> dict[str, object]:
    study = optuna.create_study(
        directions=["minimize"] * space.n_objectives, sampler=SAMPLERS[contender.removesuffix(KEYS)](seed)
    )
    start = time.process_time()
    study.optimize(space.keys if contender.endswith(KEYS) else space.suggest, n_trials=trials)
    seconds = time.process_time() - start
    feasible = [trial.values for trial in study.trials if all(v <= 0 for v in trial.constraints.values())]
    front = nondominated(feasible).round(9) if feasible else np.zeros((0, space.n_objectives))
    reference = space.reference()
    return {
        "space": space.name,
        "sampler": contender,
        "trials": trials,
        "seed": seed,
        "seconds": round(seconds, 2),
        "share": reference.share(front),
        "igd_plus": reference.distance(front),
    }


def key_of(row: dict) -> tuple[str, str, int, int]:
    return row["space"], row["sampler"], int(row["trials"]), int(row["seed"])


def make_runs(names: list[str], only: list[str], trials: int, seeds: int) -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    spaces = [SPACES[name]() for name in names]
    made = {key_of(row) for row in read_rows(RUNS)}
    for seed in range(seeds):  # what is stopped has as many seeds on every space, but for one
        for space in spaces:
            for contender in only or contenders(space):
                if contender in contenders(space) and (space.name, contender, trials, seed) not in made:
                    row = run(space, contender, seed, trials)
                    append_row(RUNS, row)
                    print(f"{space.name}, {contender}, seed {seed}: {row['seconds']:.1f} s of CPU time", flush=True)


def write_page() -> None:
    rows = read_rows(RUNS)
    lines = [
        "Made by `python benchmarks/optuna_samplers.py page` from stored runs; Optuna "
        f"{optuna.__version__}, directions minimised, default settings of every sampler.",
        "",
        "Mean and standard deviation over seeds. Share of the hypervolume of the true front, or of the front of all "
        "runs up to 2026-11-18 (flow shop, scikit-learn); more is better. IGD+ in ranges of the true front; "
        "less is better. Seconds: CPU time of a run. *Random keys*: one real number per item, sorted, not moves. "
        "On rc_201.1 all samplers choose among legal moves, and only ours has the bias of the problem.",
    ]
    for name, make in SPACES.items():
        space = make()
        here = [row for row in rows if row["space"] == name]
        if not here:
            continue
        lines += ["", f"### {name}", "", f"{space.about}.", ""]
        for trials in sorted({int(row["trials"]) for row in here}):
            lines += _table(space, [row for row in here if int(row["trials"]) == trials], trials)
    write_section("samplers", "Samplers of Optuna", "\n".join(lines))


def _table(space: Space, here: list[dict[str, str]], trials: int) -> list[str]:
    word, column = ("share", "share") if space.measure == "share" else ("IGD+", "igd_plus")
    rows = []
    for contender in contenders(space):
        runs = [row for row in here if row["sampler"] == contender]
        if not runs:
            continue
        values = [float(row[column]) for row in runs]
        seconds = np.mean([float(row["seconds"]) for row in runs])
        rows.append((np.mean(values), f"{np.mean(values):.3f} ± {np.std(values):.3f}", contender, len(runs), seconds))
    best = (max if space.measure == "share" else min)(row[0] for row in rows)
    lines = [f"| {trials:,} trials | {word} | seeds | seconds |", "|---|---|---|---|"]
    for value, text, contender, n, seconds in rows:
        lines.append(f"| {contender} | {f'**{text}**' if value == best else text} | {n} | {seconds:.1f} |")
    return [*lines, ""]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "page"])
    parser.add_argument("--spaces", nargs="+", choices=[*SPACES], default=[*SPACES])
    parser.add_argument("--samplers", nargs="+", default=[])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    if given.what == "run":
        make_runs(given.spaces, given.samplers, given.trials, given.seeds)
    else:
        write_page()
