"""Fronts that were proved complete and come with the package, found by the data of an instance whatever its name."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from ..problem.base import CompiledProblem, data_fingerprint
from ..result.reference import ReferenceFront
from ..result.result import Front
from .tsptw import TSPTWData, evaluate


def proved_front(problem: Any) -> Front | None:
    """Return all efficient tours of a problem, where they come with the package; None for all others."""
    if not isinstance(problem, CompiledProblem) or not isinstance(problem.data, TSPTWData):
        return None
    if problem.evaluate is not evaluate:  # another problem on the same data
        return None
    return _front(data_fingerprint(problem))


def with_proved_front(problem: CompiledProblem) -> CompiledProblem:
    """Return a problem that carries its proved front, where one comes with the package."""
    front = proved_front(problem)
    if front is None:
        return problem
    return replace(problem, reference_front=ReferenceFront.of(front.objectives, is_complete=True))


@cache
def _front(fingerprint: str) -> Front | None:
    from .exact import proofs  # which needs the problems

    for certificate in proofs.read_proofs(proofs.PROOFS, fingerprint=fingerprint):
        if certificate.proved and certificate.solutions:
            n = len(certificate.solutions)
            return Front(certificate.objectives, np.zeros(n), certificate.solutions, np.zeros(n, np.int64))
    return None
