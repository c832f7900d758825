"""The numbers printed in the paper, transcribed as they stand (published.csv)."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .plan import Plan


@dataclass(frozen=True)
class Published:
    """A number of the paper; NaN where it prints a dash."""

    table: str
    plan: str
    problem: str
    algorithm: str
    metric: str
    mean: float
    interval: float  # NaN where the paper prints none
    bold: bool


@cache
def all_published() -> tuple[Published, ...]:
    """Return all numbers in the order of the paper."""
    text = (files(__package__) / "published.csv").read_text(encoding="utf-8")
    return tuple(
        Published(
            table=row["table"],
            plan=row["plan"],
            problem=row["problem"],
            algorithm=row["algorithm"],
            metric=row["metric"],
            mean=float(row["mean"] or math.nan),
            interval=float(row["ci"] or math.nan),
            bold=row["bold"] == "1",
        )
        for row in csv.DictReader(text.splitlines())
    )


def published(plan: Plan, problem: str, algorithm: str, metric: str) -> Published | None:
    """Return the paper's number; where two tables have it, that of the later one, which has an interval."""
    name = plan.published.get(problem, problem)
    found = [
        p for p in all_published() if (p.plan, p.problem, p.algorithm, p.metric) == (plan.name, name, algorithm, metric)
    ]
    with_interval = [p for p in found if not math.isnan(p.interval)]
    best = with_interval or found
    return best[-1] if best else None
