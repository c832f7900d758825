"""ParetoNRPASampler beside the samplers that Optuna comes with, at equal numbers of trials.

    python benchmarks/optuna_samplers.py run --trials 200 --seeds 5        # goes on where it was stopped
    python benchmarks/optuna_samplers.py page                              # writes docs/results/optuna.md
    python benchmarks/optuna_samplers.py choose --samplers ParetoNRPA      # on other spaces, for choosing settings

Every run is one file of JSON: its front and its CPU time. The page reads these alone.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import optuna
from choosing_spaces import CHOOSING_SPACES
from spaces import SPACES, Space

from pareto_nrpa.files import file_name, write_text
from pareto_nrpa.metrics import nondominated
from pareto_nrpa.optuna import ParetoNRPASampler

RUNS = Path(__file__).parent / "results" / "optuna-runs"
PAGE = Path(__file__).parents[1] / "docs" / "results" / "optuna.md"
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


def path_of(space: str, contender: str, seed: int, trials: int) -> Path:
    return RUNS / f"{file_name(f'{space}-{contender}-{trials}-{seed}')}.json"


def run(space: Space, contender: str, seed: int, trials: int) -> dict:
    study = optuna.create_study(
        directions=["minimize"] * space.n_objectives, sampler=SAMPLERS[contender.removesuffix(KEYS)](seed)
    )
    start = time.process_time()
    study.optimize(space.keys if contender.endswith(KEYS) else space.suggest, n_trials=trials)
    seconds = time.process_time() - start
    feasible = [trial.values for trial in study.trials if all(v <= 0 for v in trial.constraints.values())]
    front = nondominated(feasible).round(9).tolist() if feasible else []
    return {
        "space": space.name,
        "contender": contender,
        "seed": seed,
        "trials": trials,
        "seconds": round(seconds, 2),
        "front": front,
    }


def make_runs(names: list[str], only: list[str], trials: int, seeds: int) -> None:
    _be_quiet()
    RUNS.mkdir(parents=True, exist_ok=True)
    spaces = [SPACES[name]() for name in names]
    for seed in range(seeds):  # what is stopped has as many seeds on every space, but for one
        for space in spaces:
            for contender in only or contenders(space):
                path = path_of(space.name, contender, seed, trials)
                if contender in contenders(space) and not path.exists():
                    record = run(space, contender, seed, trials)
                    write_text(path, json.dumps(record))
                    print(f"{space.name}, {contender}, seed {seed}: {record['seconds']:.1f} s of CPU time", flush=True)


def choose(names: list[str], only: list[str], trials: int, seeds: int) -> None:
    """Print tables of spaces that the page does not show, with seeds that it does not use."""
    _be_quiet()
    for name in names:
        space = CHOOSING_SPACES[name]()
        tried = [contender for contender in contenders(space) if not only or contender in only]
        runs = [run(space, contender, 100 + seed, trials) for contender in tried for seed in range(seeds)]
        reference = space.reference(np.array([row for record in runs for row in record["front"]]))
        print(f"{name}: {space.about}", *_table(space, runs, reference, trials), sep="\n", flush=True)


def _be_quiet() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")


def write_page() -> None:
    records = [json.loads(path.read_text()) for path in sorted(RUNS.glob("*.json"))]
    lines = [
        "# Samplers of Optuna compared",
        "",
        "Made by `python benchmarks/optuna_samplers.py page` from stored runs; Optuna "
        f"{optuna.__version__}, directions minimised, default settings of every sampler.",
        "",
        "Mean and standard deviation over seeds. Share: of the hypervolume of the true front, or of the best known one "
        "(flow shop and scikit-learn: all runs of this page); more is better. IGD+: distance to the true front in "
        "units of its range; less is better. Seconds: CPU time of a run, objective included. *Random keys*: the "
        "sampler sorts by one real number per item, instead of choosing moves. Where a sampler or a number of trials "
        "is missing, it was not run; one seed is one run. On rc_201.1 all choose among legal "
        "moves, and ours alone knows the bias of the problem. Settings of ours were chosen on other spaces "
        "(`benchmarks/choosing_spaces.py`).",
    ]
    for name, make in SPACES.items():
        space = make()
        here = [record for record in records if record["space"] == name]
        if not here:
            continue
        reference = space.reference(np.array([row for record in here for row in record["front"]]))
        lines += ["", f"## {name}", "", f"{space.about}.", ""]
        for trials in sorted({record["trials"] for record in here}):
            lines += _table(space, [record for record in here if record["trials"] == trials], reference, trials)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    write_text(PAGE, "\n".join(lines) + "\n")
    print(f"wrote {PAGE}")


def _table(space: Space, records: list[dict], reference, trials: int) -> list[str]:
    word = "share" if space.measure == "share" else "IGD+"
    rows = []
    for contender in contenders(space):
        runs = [record for record in records if record["contender"] == contender]
        if not runs:
            continue
        points = [np.array(record["front"]).reshape(-1, space.n_objectives) for record in runs]
        values = [reference.share(p) if space.measure == "share" else reference.distance(p) for p in points]
        seconds = np.mean([record["seconds"] for record in runs])
        rows.append((np.mean(values), f"{np.mean(values):.3f} ± {np.std(values):.3f}", contender, len(runs), seconds))
    best = (max if space.measure == "share" else min)(row[0] for row in rows)
    lines = [f"| {trials:,} trials | {word} | seeds | seconds |", "|---|---|---|---|"]
    for value, text, contender, n, seconds in rows:
        lines.append(f"| {contender} | {f'**{text}**' if value == best else text} | {n} | {seconds:.1f} |")
    return [*lines, ""]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "page", "choose"])
    parser.add_argument("--spaces", nargs="+", choices=[*SPACES, *CHOOSING_SPACES])
    parser.add_argument("--samplers", nargs="+", default=[])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    amounts = given.samplers, given.trials, given.seeds
    if given.what == "run":
        make_runs(given.spaces or list(SPACES), *amounts)
    elif given.what == "choose":
        choose(given.spaces or list(CHOOSING_SPACES), *amounts)
    else:
        write_page()
