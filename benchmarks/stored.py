"""Runs as rows of CSV files, and the best known fronts that they are measured against where the true one is unknown.

A row keeps what a run came to, not its front. So that earlier and later rows can be compared, best known fronts do not
change: results/best-known.csv has the non-dominated points of all runs up to 2026-11-18 that the known front of the
problem, if there is one, does not have. A problem without a known front needs rows there before its first run.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results"
BEST_KNOWN = RESULTS / "best-known.csv"


def read_rows(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def append_row(path: Path, row: dict[str, object]) -> None:
    """Write a row behind the others; numbers have nine digits."""
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, row, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow({key: f"{value:.9g}" if isinstance(value, float) else value for key, value in row.items()})


def best_known(page: str, problem: str) -> np.ndarray:
    """Return the best known points [n, m] of a problem of a page; [0, 0] if there are none."""
    rows = [row for row in read_rows(BEST_KNOWN) if (row["page"], row["problem"]) == (page, problem)]
    points = [[float(row[name]) for name in ("f1", "f2", "f3") if row[name]] for row in rows]
    return np.array(points).reshape(len(points), -1) if points else np.zeros((0, 0))
