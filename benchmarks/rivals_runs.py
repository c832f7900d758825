"""Stored runs of the default search and its rivals, and what they are measured against where nothing is proved.

A run is a line in results/rivals.csv. Until the common front of all runs on an instance is frozen as its yardstick, in
results/yardsticks.npz, each keeps its own front in its line; later runs are measured against the yardstick, and do not
change it: a share above 1 is a front that is better than all were then.
"""

from __future__ import annotations

import csv
import io
import json
from math import nan
from typing import TYPE_CHECKING

import numpy as np
from stored import RESULTS, read_rows

from pareto_nrpa._util.files import write_atomically, write_text
from pareto_nrpa.metrics import n_found, nondominated, share_of_hypervolume

if TYPE_CHECKING:
    from pareto_nrpa.result.reference import ReferenceFront

FILE = RESULTS / "rivals.csv"
YARDSTICKS = FILE.with_name("yardsticks.npz")
csv.field_size_limit(2**24)  # fronts of thousands
MADE = ("instance", "method", "budget", "seed", "points", "first_feasible", "evaluations", "seconds")
FIELDS = (*MADE[:4], "share", "found", *MADE[4:], "front")


def scores(instance: str, proved: ReferenceFront | None, points: np.ndarray) -> dict[str, object]:
    """Return the fields of a run that say how good it is; its front, as text, where that cannot be said yet."""
    if proved:
        truth = proved.front
    else:
        front = _written(nondominated(points))
        truth = _yardsticks().get(instance)
        if truth is None:
            return {"share": nan, "found": nan, "front": front}
        points = _read(front)  # rounded as the yardstick is, so that equal points are equal
    share, found = _measure(truth, points)
    return {"share": share, "found": found, "front": ""}


def keys() -> set[tuple[str, str, str, int]]:
    """Return which runs there are, by instance, method, budget and seed."""
    return {(row["instance"], row["method"], row["budget"], int(row["seed"])) for row in read_rows(FILE)}


def add(run: dict[str, object]) -> None:
    """Write a run behind the others."""
    is_new = not FILE.exists()
    with FILE.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if is_new:
            writer.writeheader()
        writer.writerow({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in run.items()})


def stored() -> list[dict[str, str]]:
    """Return all runs; where there is no yardstick yet, they are measured against the best of them all."""
    rows = read_rows(FILE)
    best = _yardsticks_for(rows)
    for row in rows:
        if row["front"]:
            share, found = _measure(best.get(row["instance"]), _read(row["front"]))
            row["share"], row["found"] = f"{share:.6g}", f"{found:.6g}"
    return rows


def freeze() -> None:
    """Let the common fronts of all runs that still have theirs be yardsticks, and the runs keep only their shares."""
    rows = stored()
    fronts = _yardsticks_for(rows)
    write_atomically(YARDSTICKS, lambda file: np.savez_compressed(file, **fronts))
    text = io.StringIO()
    writer = csv.DictWriter(text, FIELDS)
    writer.writeheader()
    writer.writerows({**row, "front": ""} for row in rows)
    write_text(FILE, text.getvalue())


def _yardsticks_for(rows: list[dict[str, str]]) -> dict[str, np.ndarray]:
    """Return all yardsticks, and the best of the fronts that were kept where there is none."""
    kept: dict[str, list[np.ndarray]] = {}
    for row in rows:
        if row["front"] and len(front := _read(row["front"])):
            kept.setdefault(row["instance"], []).append(front)
    return {name: nondominated(np.concatenate(fronts)) for name, fronts in kept.items()} | _yardsticks()


def _yardsticks() -> dict[str, np.ndarray]:
    """Return the fronts, by instance, that stand in for proofs."""
    if not YARDSTICKS.exists():
        return {}
    with np.load(YARDSTICKS) as fronts:
        return dict(fronts)


def _measure(truth: np.ndarray | None, points: np.ndarray) -> tuple[float, float]:
    """Return the share of the hypervolume of a front, up to its worst and a tenth of its range, and of its points."""
    if len(points) == 0 or truth is None:
        return 0.0, 0.0
    corner = truth.max(axis=0) + 0.1 * np.ptp(truth, axis=0)
    share = share_of_hypervolume(points, truth, reference_point=corner)
    return share, n_found(points, truth, tolerance=1e-5) / len(truth)


def _written(points: np.ndarray) -> str:
    """Return a front as text: six digits tell more than the noise of a run."""
    return "[" + ",".join("[" + ",".join(f"{value:.6g}" for value in point) + "]" for point in points) + "]"


def _read(front: str) -> np.ndarray:
    return np.array(json.loads(front), dtype=float)
