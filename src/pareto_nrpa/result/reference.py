"""Reference fronts that results are compared with: from a table, a proof or a file."""

from __future__ import annotations

import copy
import csv
import io
import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from msgspec import Meta, Struct

from .._util.checks import shown
from .._util.files import read_bytes
from .._util.structs import decode
from ..errors import ParetoNRPAError
from ..metrics import as_vector, igd_plus, n_found, nondominated, quick_hypervolume, share_of_hypervolume, worst_point
from ..problem.base import CompiledProblem, check_problem_type, data_fingerprint, objective_signs, problem_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from ..problem.base import AnyProblem
    from ..routing.exact import Certificate

# Costs of tours are rounded sums, in an order that differs between tours.
_SAME = 1e-8
# From this number of objectives on, the hypervolume of a long front takes many seconds.
_MANY = 7
_PROVED = "proved complete"  # the status of a finished proof in a certificate
_CERTIFICATE = "pareto-nrpa certificate"  # how the format of a certificate begins


class _Format(Struct):
    """The format field of a file; a plain front has none."""

    format: str = ""


class _Objectives(Struct):
    objectives: Annotated[list[list[float]], Meta(min_length=1)]


@dataclass(frozen=True, eq=False, repr=False)
class ReferenceFront:
    """A front to compare results with, and its reference point; everything minimised.

    Attributes
    ----------
    points
        [n, m]: the front, or all solutions.
    is_complete
        Whether the front is known to be complete: from a table of all solutions, or proved.
    is_table
        Whether `points` are all solutions.
    given_point
        The reference point of the hypervolume, if one is given that is behind the front.
    """

    points: NDArray[np.float64]
    is_complete: bool = True
    is_table: bool = False
    given_point: NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        known = "complete" if self.is_complete else "best known"
        return f"<ReferenceFront of {len(self.front)}, {known}>"

    @classmethod
    def of(
        cls,
        objectives: ArrayLike,
        *,
        maximise: bool | Sequence[bool] | NDArray[np.bool_] = False,
        is_complete: bool = False,
        is_table: bool = False,
        reference_point: ArrayLike | None = None,
    ) -> ReferenceFront:
        """Return the reference front for objectives [n, m] in a problem's own sense.

        Parameters
        ----------
        maximise
            True, or one bool per objective, where more is better.
        is_complete
            Whether the front is complete.
        is_table
            Whether these are all solutions; the front is then complete.
        reference_point
            The reference point of hypervolumes; by default slightly worse than the front.
        """
        values = _finite(objectives)
        if values is None or values.ndim != 2 or not values.size:
            got = shown(objectives) if values is None else f"shape {values.shape}"
            raise ParetoNRPAError(f"objectives must be finite numbers [n, m], got {got}.")
        m = values.shape[1]
        try:
            signs = np.where(np.broadcast_to(np.asarray(maximise, dtype=bool), m), -1.0, 1.0)
        except ValueError as error:
            message = f"maximise must be true or false, or {m} of them, one for each objective, got {shown(maximise)}."
            raise ParetoNRPAError(message) from error
        point = None if reference_point is None else as_vector(reference_point, m, "reference_point")
        return cls(values * signs, is_complete or is_table, is_table, None if point is None else point * signs)

    @classmethod
    def of_certificate(cls, certificate: Certificate, problem: AnyProblem) -> ReferenceFront:
        """Return the front of a certificate; one of other data is refused."""
        from ..routing.exact import Certificate

        if not isinstance(certificate, Certificate):
            raise ParetoNRPAError(
                f"front must be a ReferenceFront, a Certificate or the name of a file, got {shown(certificate)}; "
                "ReferenceFront.of(objectives, maximise=problem.maximise) makes one of numbers."
            )
        if certificate.fingerprint != data_fingerprint(problem):
            raise ParetoNRPAError(
                f"the certificate is for {certificate.instance}, or for other data than {problem_name(problem)}."
            )
        if not len(certificate.objectives):
            raise ParetoNRPAError(f"the certificate of {certificate.instance} has no tours to compare with.")
        complete = certificate.status == _PROVED
        return cls.of(certificate.objectives, maximise=problem.maximise, is_complete=complete)

    @classmethod
    def read(cls, path: str | os.PathLike[str], problem: AnyProblem) -> ReferenceFront:
        """Read a front from a result, a certificate (JSON) or a table whose first columns are the objectives (CSV).

        Only a certificate of the problem's own data makes the front complete; a certificate of other data is refused.
        """
        content, m = read_bytes(path), problem.n_objectives
        what = f"a reference front (a result or certificate, or a CSV with names and {m} columns of objectives first)"
        if Path(path).suffix.lower() != ".json":
            try:
                lines = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
                return cls.of([row[:m] for row in lines][1:], maximise=problem.maximise)
            except (ValueError, csv.Error, ParetoNRPAError) as error:
                raise ParetoNRPAError(f"{path} is not {what}: {str(error).rstrip('.')}.") from error
        if decode(content, _Format, source=str(path), what=what).format.startswith(_CERTIFICATE):
            from ..routing.exact import Certificate

            return cls.of_certificate(Certificate.from_json(content, path), problem)
        rows = decode(content, _Objectives, source=str(path), what=what).objectives
        if any(len(row) != len(rows[0]) for row in rows):
            raise ParetoNRPAError(f"{path} is not {what}: every row of objectives must have {len(rows[0])} numbers.")
        return cls.of(rows, maximise=problem.maximise)

    @cached_property
    def front(self) -> NDArray[np.float64]:
        """The points that nothing dominates [k, m]."""
        return nondominated(self.points)

    @cached_property
    def reference_point(self) -> NDArray[np.float64]:
        """The reference point of the hypervolume."""
        given = self.given_point
        return worst_point(self.front) if given is None or not (self.front < given).all(axis=1).any() else given

    @cached_property
    def volume(self) -> float:
        """The hypervolume of the front."""
        return quick_hypervolume(self.front, reference_point=self.reference_point)

    def found(self, points: ArrayLike) -> int:
        """Return how many points of the front are among some feasible points."""
        return n_found(points, self.front, tolerance=_SAME)

    def share(self, points: ArrayLike) -> float:
        """Return how much of the hypervolume of the front some feasible points have."""
        return share_of_hypervolume(points, self.volume, reference_point=self.reference_point)

    def distance(self, points: ArrayLike) -> float:
        """Return IGD+ in units of the range of the front; without feasible points, that of the reference point."""
        low, high = self.front.min(axis=0), self.front.max(axis=0)
        unit = np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
        there = np.asarray(points, dtype=float)
        there = there if len(there) else self.reference_point[None]
        return igd_plus(there / unit, self.front / unit)

    def compared(self, points: ArrayLike) -> dict[str, float]:
        """Return the measures of some feasible points beside the front, as plain values."""
        counts: dict[str, float] = {
            "points": len(self.front),
            "found": self.found(points),
            "igd_plus": self.distance(points),
        }
        if not self.is_complete:
            counts["complete"] = 0
        if self.front.shape[1] >= _MANY:
            return counts
        return {**counts, "share_of_hypervolume": self.share(points)}


def _finite(values: ArrayLike) -> NDArray[np.float64] | None:
    """Return values as an array, or None if they are not finite numbers."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return None
    return array if np.isfinite(array).all() else None


def true_front(problem: AnyProblem) -> NDArray[np.float64] | None:
    """Return the complete front [k, m] in the problem's own sense; None where it is not known."""
    check_problem_type(problem)
    known = problem.reference_front
    return known.front * objective_signs(problem) if known is not None and known.is_complete else None


def with_reference_front(
    problem: AnyProblem, front: ReferenceFront | Certificate | str | os.PathLike[str]
) -> AnyProblem:
    """Return the problem with a reference front: a front, a certificate, or a file of either."""
    check_problem_type(problem)
    if isinstance(front, str | os.PathLike):
        front = ReferenceFront.read(front, problem)
    if not isinstance(front, ReferenceFront):
        front = ReferenceFront.of_certificate(front, problem)
    if front.points.shape[1] != problem.n_objectives:
        raise ParetoNRPAError(
            f"the reference front has {front.points.shape[1]} objectives, {problem_name(problem)} has "
            f"{problem.n_objectives}."
        )
    if isinstance(problem, CompiledProblem):
        return replace(problem, reference_front=front)
    carrier = copy.copy(problem)
    carrier.reference_front = front
    return carrier
