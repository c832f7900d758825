"""What bounds several workers, on one core: Python between kernels, and rounds that do not take equally long."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from pareto_nrpa import MaxEvaluations, PolishedNRPA, solve
from pareto_nrpa.cooperation import crews
from pareto_nrpa.kernels._jit import Entry

if TYPE_CHECKING:
    from pareto_nrpa.cooperation.work import Spell

_WARM_UP = 200


class Alone(NamedTuple):
    """One search."""

    rate: float  # evaluations a second of CPU time
    python: float  # the share of its time that is not spent in kernels


def alone(problem, n: int) -> Alone:
    """Return what one search makes of a second, and what of it is Python."""
    search = PolishedNRPA().start(problem, seed=1)
    search.compile()
    search.advance(_WARM_UP)
    inside = [0.0]
    owners = search.player, getattr(search.local, "judge", None)
    entries = {entry: entry.call for owner in owners for entry in _entries(owner)}
    for entry, call in entries.items():
        entry.call = _timed(call, inside)
    began = time.thread_time()
    search.advance(n)
    seconds = time.thread_time() - began
    for entry, call in entries.items():  # others use it, too
        entry.call = call
    return Alone(n / seconds, 1.0 - inside[0] / seconds)


def _entries(owner) -> list:
    """Return the compiled code that an object calls."""
    held = [*vars(owner).values(), *getattr(owner, "following", ())] if owner else []
    return [value for value in held if isinstance(value, Entry) and value.call is not None]


def _timed(call, inside: list[float]):
    def timed(*arguments):
        began = time.thread_time()
        try:
            return call(*arguments)
        finally:
            inside[0] += time.thread_time() - began

    return timed


def cores_at_best(problem, n: int) -> float:
    """Return how many of two cores two searches could use that waited for each other at the end of each round."""
    spent: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))  # by round and search
    carry_on = crews.carry_on

    def watched(search, stretch, *more) -> Spell:
        spell = carry_on(search, stretch, *more)
        spent[stretch.round_begin][id(search)] += spell.cpu_seconds
        return spell

    crews.carry_on = watched
    try:
        solve(problem, stop=MaxEvaluations(n), searches=2)
    finally:
        crews.carry_on = carry_on
    return sum(sum(one.values()) for one in spent.values()) / sum(max(one.values()) for one in spent.values())
