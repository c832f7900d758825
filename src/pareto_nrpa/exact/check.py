"""An independent look at tours: plain loops over the matrices, nothing of the code that found them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..problem import data_fingerprint
from .certificate import INFEASIBLE, PROVED, CertificateError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..problem import CompiledProblem
    from ..problems.mo_tsptw import Windows
    from .certificate import Certificate

# Objectives are rounded to 1e-9 (of very large numbers, in the last digit), and files of others may hold fewer digits.
_AGREEMENT = 1e-6


def check_certificate(certificate: Certificate, problem: CompiledProblem) -> None:
    """Raise unless each tour is feasible and worth what is said, and none is as good as another.

    That there are no other efficient tours cannot be seen from the tours; that takes the proof again.
    """
    if certificate.fingerprint != data_fingerprint(problem):
        raise CertificateError(
            f"the certificate is for other data than {problem.name}: it is that of {certificate.instance} with the "
            f"fingerprint {certificate.fingerprint}, expected {data_fingerprint(problem)}."
        )
    if certificate.status == INFEASIBLE and certificate.solutions:
        raise CertificateError("the certificate says that no tour is feasible, and has tours.")
    if certificate.status == PROVED and not certificate.solutions:
        raise CertificateError("the certificate says that it has all efficient tours, and has none.")
    if certificate.proved and (len(certificate.open_boxes) or certificate.gap):
        raise CertificateError("the certificate says that nothing is open, and has open boxes or a gap.")
    if certificate.lower_bounds.shape[1] != problem.n_objectives:
        raise CertificateError(
            f"the certificate is for {certificate.lower_bounds.shape[1]} objectives, {problem.name} has "
            f"{problem.n_objectives}."
        )
    check_tours(problem, certificate.objectives, certificate.solutions, "certificate")
    values = certificate.objectives
    for i in range(len(values)):
        for j in range(len(values)):
            if i != j and (values[i] <= values[j]).all():
                raise CertificateError(
                    f"tour {j + 1} of the certificate is no better than tour {i + 1} in any objective."
                )


def check_tours(
    problem: CompiledProblem, objectives: NDArray[np.float64], tours: Sequence[Sequence[int]], what: str
) -> None:
    """Raise unless each tour visits all cities in their windows and costs what is said."""
    windows: Windows = problem.data
    n = len(windows.opens)
    if len(objectives) != len(tours):
        raise CertificateError(f"the {what} has {len(objectives)} objective vectors for {len(tours)} tours.")
    for number, (values, tour) in enumerate(zip(objectives, tours, strict=True), 1):
        if not all(isinstance(city, int | np.integer) for city in tour) or sorted(tour) != list(range(1, n)):
            raise CertificateError(f"tour {number} of the {what} must visit each of the cities 1 to {n - 1} once.")
        late = first_late_city(windows, tour)
        if late is not None:
            raise CertificateError(f"tour {number} of the {what} is infeasible: it is late at city {late}.")
        costs = tour_costs(windows, tour)
        if len(values) != len(costs) or not np.allclose(values, costs, rtol=1e-12, atol=_AGREEMENT):
            said, found = (", ".join(f"{x:.6f}" for x in numbers) for numbers in (values, costs))
            raise CertificateError(f"tour {number} of the {what} costs ({found}), not ({said}) as it says.")


def first_late_city(windows: Windows, tour: Sequence[int]) -> int | None:
    """Return the first city of a tour that is reached after it has closed."""
    time, at = float(windows.opens[0]), 0
    for city in tour:
        time += float(windows.costs[0][at][city])
        if time > windows.closes[city]:
            return int(city)
        time, at = max(time, float(windows.opens[city])), city
    return None


def tour_costs(windows: Windows, tour: Sequence[int]) -> list[float]:
    """Return what a closed tour costs."""
    stops = [0, *tour, 0]
    return [float(sum(costs[i][j] for i, j in pairwise(stops))) for costs in windows.costs]


def rounded_costs(windows: Windows, tour: Sequence[int]) -> NDArray[np.float64]:
    """Return the objectives of a tour, in steps of 1e-9 as the problem gives them."""
    return np.round(tour_costs(windows, tour), 9)
