"""Fronts that were proved complete and come with the package, found by the data of an instance whatever its name."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files import write_atomically
from ..problem import CompiledProblem, data_fingerprint
from ..reference_front import ReferenceFront
from ..result import Front
from .mo_tsptw import TSPTWData, evaluate

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from ..exact.certificate import Certificate

FRONTS = Path(__file__).with_name("proved_fronts.json")
_FORMAT = "pareto-nrpa certified fronts 1"


def proved_front(problem: Any) -> Front | None:
    """Return all efficient tours of a problem, where they come with the package; None for all others."""
    if not isinstance(problem, CompiledProblem) or not isinstance(problem.data, TSPTWData):
        return None
    if problem.evaluate is not evaluate:  # another problem on the same data
        return None
    return _by_fingerprint().get(data_fingerprint(problem))


def with_proved_front(problem: CompiledProblem) -> CompiledProblem:
    """Return a problem that carries its proved front, where one comes with the package."""
    front = proved_front(problem)
    if front is None:
        return problem
    return replace(problem, reference_front=ReferenceFront.of(front.objectives, is_complete=True))


@cache
def _by_fingerprint() -> dict[str, Front]:
    if not FRONTS.exists():
        return {}
    stored = json.loads(FRONTS.read_text(encoding="utf-8"))["fronts"].values()
    return {entry["fingerprint"]: _front(entry["objectives"], entry["solutions"]) for entry in stored}


def _front(objectives: list[list[float]], solutions: list[list[int]]) -> Front:
    n = len(solutions)
    return Front(np.array(objectives, dtype=float), np.zeros(n), solutions, np.zeros(n, np.int64))


def write_fronts(certificates: Iterable[Certificate], path: str | os.PathLike[str] = FRONTS) -> Path:
    """Write the fronts of the certificates that prove one, beside those that the file has of other instances."""
    fronts = json.loads(Path(path).read_text(encoding="utf-8"))["fronts"] if Path(path).exists() else {}
    for certificate in certificates:
        if certificate.proved and certificate.solutions:
            fronts[certificate.instance] = {
                "fingerprint": certificate.fingerprint,
                "objectives": certificate.objectives.tolist(),
                "solutions": certificate.solutions,
            }
    lines = [f'"{name}":{json.dumps(fronts[name], separators=(",", ":"))}' for name in sorted(fronts)]
    text = f'{{"format":"{_FORMAT}","fronts":{{\n' + ",\n".join(lines) + "\n}}\n"  # a line each: changes can be read
    written = write_atomically(path, lambda file: _write(file, text))
    _by_fingerprint.cache_clear()
    return written


def _write(file: Any, text: str) -> None:
    file.write(text.encode())
