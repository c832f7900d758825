"""Independent verification of tours: plain loops over the matrices, without the code that found them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...problem.base import data_fingerprint
from ..matrices import rounded_all
from .certificate import CertificateError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ...problem.base import CompiledProblem
    from ..tsptw import TSPTWData
    from .certificate import Certificate

# Objectives are rounded, and other files may have fewer digits: 1e-6, relative to costs below 1.
_AGREEMENT = 1e-6


def check_certificate(certificate: Certificate, problem: CompiledProblem) -> None:
    """Raise unless each tour is feasible with the stated objectives, and none is as good as another.

    That there are no other efficient tours cannot be verified by the tours; that requires the proof.
    """
    if certificate.fingerprint != data_fingerprint(problem):
        raise CertificateError(
            f"the certificate is for other data than {problem.name}: it is that of {certificate.instance} with the "
            f"fingerprint {certificate.fingerprint}, expected {data_fingerprint(problem)}."
        )
    certificate.check_consistency()
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
    """Raise unless each tour visits all cities in their windows with the stated objectives."""
    data: TSPTWData = problem.data
    n = len(data.opens)
    if len(objectives) != len(tours):
        raise CertificateError(f"the {what} has {len(objectives)} objective vectors for {len(tours)} tours.")
    for number, (values, tour) in enumerate(zip(objectives, tours, strict=True), 1):
        if not all(isinstance(city, int | np.integer) for city in tour) or sorted(tour) != list(range(1, n)):
            raise CertificateError(f"tour {number} of the {what} must visit each of the cities 1 to {n - 1} once.")
        late = first_late_city(data, tour)
        if late is not None:
            place = f"city {late}" if late else "the depot, on return"
            raise CertificateError(f"tour {number} of the {what} is infeasible: it is late at {place}.")
        costs = np.array(tour_costs(data, tour))
        room = np.maximum(_AGREEMENT * np.minimum(costs, 1.0), 1e-12 * costs)
        if len(values) != len(costs) or not (np.abs(values - costs) <= room).all():
            said, found = (", ".join(f"{x:.12g}" for x in numbers) for numbers in (values, costs))
            raise CertificateError(f"tour {number} of the {what} costs ({found}), not ({said}) as it says.")


def first_late_city(data: TSPTWData, tour: Sequence[int]) -> int | None:
    """Return the first city of a closed tour that is reached after its window; 0 for the depot, on return."""
    time, at = float(data.opens[0]), 0
    for city in (*tour, 0):
        time += float(data.costs[0][at][city])
        if time > data.closes[city]:
            return int(city)
        time, at = max(time, float(data.opens[city])), city
    return None


def tour_costs(data: TSPTWData, tour: Sequence[int]) -> list[float]:
    """Return the costs of a closed tour."""
    stops = [0, *tour, 0]
    return [float(sum(costs[i][j] for i, j in pairwise(stops))) for costs in data.costs]


def rounded_costs(data: TSPTWData, tour: Sequence[int]) -> NDArray[np.float64]:
    """Return the objectives of a tour, rounded as by the problem."""
    return rounded_all(tour_costs(data, tour))
