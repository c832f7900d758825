"""What runs come to, a row each, and these as CSV: pages can be made from it where the runs themselves are not."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._util.csv_text import csv_text, unguarded
from ..errors import ParetoNRPAError
from .metric_table import METRICS, METRICS_OF_THE_TRUTH

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_LARGEST_FILE = 100_000_000
_HEAD = ("problem", "algorithm", "seed", "evaluations", "cpu_seconds", "front_size")
_TAIL = ("unique_evaluations", "versions", "error")


@dataclass(frozen=True)
class Row:
    """What one run comes to; `row[metric]` is NaN for what it does not have, as spacing without two feasible points."""

    problem: str
    algorithm: str  # the label in the plan
    seed: int
    evaluations: int
    cpu_seconds: float
    front_size: int
    metrics: dict[str, float]
    unique_evaluations: float = math.nan  # of the evaluations, where they were counted
    versions: dict[str, str] = field(default_factory=dict)  # of the algorithm (revision) and of what it was run with
    error: str = ""

    def __getitem__(self, metric: str) -> float:
        return self.metrics.get(metric, math.nan)


def to_csv(rows: Sequence[Row]) -> str:
    """Return the rows as CSV, in the order given, numbers rounded to six decimals."""
    # Where no true front is known, or nobody counted unique evaluations, there is nothing to say of them.
    optional = (*METRICS_OF_THE_TRUTH, "unique_evaluations", "versions")
    cells = [{name: _cell(row, name) for name in (*_HEAD, *METRICS, *_TAIL)} for row in rows]
    names = [n for n in (*_HEAD, *METRICS, *_TAIL) if n not in optional or any(cell[n] for cell in cells)]
    return csv_text([names, *([cell[name] for name in names] for cell in cells)])


def _cell(row: Row, name: str) -> str:
    value: Any = row[name] if name in METRICS else getattr(row, name)
    if name == "versions":
        return "; ".join(f"{of} {number}" for of, number in value.items())
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6f}".rstrip("0").rstrip(".")
    return str(value)


def read_csv(path: Path) -> list[Row]:
    """Return the rows of a file that `to_csv` wrote."""
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise ValueError(f"it has more than {_LARGEST_FILE:,} bytes")
        lines = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline=""), strict=True)
        return [_from_cells(line) for line in lines]
    except OSError as error:
        raise ParetoNRPAError(f"cannot read {path}: {error.strerror or error}.") from error
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, csv.Error) as error:
        reason = " ".join(str(error).split())[:120]
        raise ParetoNRPAError(f"{path} is not a table of runs (PLAN-runs.csv), or is damaged: {reason}.") from error


def _from_cells(line: dict[str, str]) -> Row:
    cells = {name: unguarded(cell) for name, cell in line.items() if isinstance(cell, str)}
    return Row(
        problem=str(cells["problem"]),
        algorithm=str(cells["algorithm"]),
        seed=_count(cells["seed"]),
        evaluations=_count(cells["evaluations"]),
        cpu_seconds=_number(cells["cpu_seconds"]),
        front_size=_count(cells["front_size"]),
        metrics={name: _number(cells[name]) for name in METRICS if cells.get(name)},
        unique_evaluations=_number(cells.get("unique_evaluations") or "nan"),
        versions=dict(part.rsplit(" ", 1) for part in (cells.get("versions") or "").split("; ") if part),
        error=str(cells["error"]),
    )


def _count(text: str) -> int:
    value = int(text)
    if not 0 <= value < 2**63:
        raise ValueError(f"{text!r} is no count")
    return value


def _number(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text!r} is not finite")
    return value
