"""Proofs of the package, found by the data of an instance."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from ..problem.base import CompiledProblem, data_fingerprint
from ..result.reference import ReferenceFront
from .tsptw import TSPTWData, evaluate

if TYPE_CHECKING:
    from .exact.certificate import Certificate


def proof_of(problem: Any) -> Certificate | None:
    """Return the certificate of all efficient tours of a problem, if the package has one."""
    if not isinstance(problem, CompiledProblem) or not isinstance(problem.data, TSPTWData):
        return None
    if problem.evaluate is not evaluate:  # another problem on the same data
        return None
    return _finished_proof(data_fingerprint(problem))


def with_proved_front(problem: CompiledProblem) -> CompiledProblem:
    """Return a problem with its proved front, if the package has a proof."""
    proof = proof_of(problem)
    if proof is None:
        return problem
    return replace(problem, reference_front=ReferenceFront.of(proof.objectives, is_complete=True))


@cache
def _finished_proof(fingerprint: str) -> Certificate | None:
    from .exact import proofs  # which needs the problems

    found = proofs.read_proofs(proofs.PROOFS, fingerprint=fingerprint)
    return next((one for one in found if one.proved and one.solutions), None)
