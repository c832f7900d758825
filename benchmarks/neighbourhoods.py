"""What the parts of local search by segments bring: `python benchmarks/neighbourhoods.py [--seconds 5]`.

Each part is taken out alone. Lists: all moves are near to each. Arcs: objectives are joined from rows, which excludes
kicks; without `near` lists are complete. Kinds: on routes, only those of tours. Useful: neighbours put up for
evaluation, of a million judged; those that only lead a descent on are not counted.
"""

from __future__ import annotations

import argparse
import time
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

import weighted_sums
from report import write
from solomon import FOLDER, best_known

from pareto_nrpa import PolishedNRPA, load
from pareto_nrpa.algorithms.polished import candidate_lists, near_evaluation
from pareto_nrpa.metrics import hypervolume
from pareto_nrpa.routing import mo_tsp, read_stops

if TYPE_CHECKING:
    from collections.abc import Callable

    from pareto_nrpa import CompiledProblem, Front

_ALL = 10_000
_LISTS = [(candidate_lists, "NEAR", _ALL)]
_LISTS += [(near_evaluation, name, _ALL) for name in ("POOL", "NEAR", "NEAR_WITH_LIMITS")]


class Case(NamedTuple):
    problem: CompiledProblem
    score: Callable[[Front], str]
    parts: tuple[str, ...]


def cases() -> dict[str, Case]:
    costs, corner = weighted_sums.instance("uniform 200")
    windows, routes = load("rc_204.1"), read_stops(FOLDER / "R107.txt", objectives=["distance"])
    best = best_known("R107", routes.data.costs[0])
    worst = windows.reference_front.front.max(axis=0) * 1.05
    whole = hypervolume(windows.reference_front.front, reference_point=worst)
    return {
        "uniform 200, share of the box": Case(
            mo_tsp(costs),
            lambda front: f"{weighted_sums.share(front.objectives, corner):.4f}",
            ("lists", "arcs", "kicks"),
        ),
        "rc_204.1, share of the proved front": Case(
            windows,
            lambda front: f"{hypervolume(front.objectives, reference_point=worst) / whole:.5f}",
            ("lists", "arcs"),
        ),
        "R107, gap to the best known": Case(
            routes,
            lambda front: f"{front.objectives[0, 0] / best - 1:+.2%}" if front.is_feasible else "infeasible",
            ("lists", "arcs", "kinds"),
        ),
    }


def measured(case: Case, part: str, seconds: float) -> list[str]:
    """Return what a search without a part finds, and how it judges."""
    changes = {"lists": _LISTS, "kinds": [(near_evaluation, "N_ON_ROUTES", near_evaluation.N_ON_TOURS)]}
    problem = case.problem
    if part == "arcs":
        problem = replace(problem, segments=replace(problem.segments, arc_of=None))
    with ExitStack() as stack:
        for change in changes.get(part, []):
            stack.enter_context(patch.object(*change))
        search = PolishedNRPA(**({"kicks": 0} if part == "kicks" else {})).start(problem, seed=1)
        search.compile()
        judge, found = search.local.judge, [0]
        of = judge.found

        def counted():
            neighbours = of()
            found[0] += len(neighbours)
            return neighbours

        judge.found = counted
        end = time.process_time() + seconds
        while time.process_time() < end:
            search.advance(search.slice_size)
    return [
        case.score(search.front()),
        f"{judge.n_judged / seconds / 1e6:.1f}",
        f"{1e6 * found[0] / max(1, judge.n_judged):,.0f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    given = parser.parse_args()
    lines = []
    for name, case in cases().items():
        for part in ("nothing", *case.parts):
            lines.append([name, part, *measured(case, part, given.seconds)])
            print(*lines[-1], flush=True)
    write(
        "default-search",
        "Local search by segments, each part taken out",
        ["instance, and what is measured", "without", "found", "million judged a second", "useful of a million"],
        lines,
        notes=(__doc__ or "").split("\n\n", 1)[1].strip() + f"\n\n{given.seconds:g} s of CPU time, seed 1.",
        command="neighbourhoods.py",
    )


if __name__ == "__main__":
    main()
