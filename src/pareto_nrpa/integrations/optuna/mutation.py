"""Plans of trials: a trial of the front with changes, or a mixture of two.

A plan has values for parameters by name, and moves for problems that are played. Parameters that only appear after a
change are chosen by a policy.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from .changes import MIX, ONE, TWO

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import numpy as np
    from optuna.trial import FrozenTrial

    from .parameters import Parameters


class MovePlan(NamedTuple):
    """Moves of a problem to be repeated, and the steps at which another move is made.

    After such a step the remaining moves follow in their order (`in_order`), or each at its own step; a move that was
    already made is replaced by one that was not.
    """

    moves: list[Hashable]
    leave_at: set[int]
    in_order: bool

    def position(self, made: Sequence[Hashable], legal: Sequence[Hashable]) -> int | None:
        """Return the position of the next planned move that is legal; None if there is none."""
        step = len(made)
        if not self.in_order and step < len(self.moves) and self.moves[step] in legal:
            return legal.index(self.moves[step])
        left = Counter(self.moves) - Counter(made)
        return next((legal.index(move) for move in self.moves if left[move] and move in legal), None)


class TrialPlan(NamedTuple):
    """Planned values of parameters and moves of problems."""

    values: dict[str, Any]
    routes: dict[str, MovePlan]


def changed(
    kind: int, trial: FrozenTrial, other: FrozenTrial, parameters: Parameters, rng: np.random.Generator
) -> TrialPlan:
    """Return a trial with changes of a kind; `other` is the one to mix it with, if that is the kind."""
    routes = {name: parameters.moves(trial, name) for name in parameters.played(trial)}
    values, distributions = trial.params, trial.distributions
    if kind == MIX:
        values, distributions = _mixed_values(values, other.params, rng), {**other.distributions, **distributions}
        for name in set(routes) & set(parameters.played(other)):
            routes[name] = _mixed_moves(routes[name], parameters.moves(other, name), rng)
    planned, leave_at = {}, defaultdict(set)
    sites = _draw_sites([name for name in values if not distributions[name].single()], kind, rng)
    for name, value in values.items():
        step = parameters.step_of(name)
        if step is None:
            dial = parameters.dial(name, distributions[name])
            planned[name] = dial.changed(value, rng) if name in sites else value
        elif name in sites:
            leave_at[step[0]].add(step[1])
    return TrialPlan(planned, {name: _route(moves, leave_at[name], rng) for name, moves in routes.items()})


def _route(moves: list[Hashable], leave_at: set[int], rng: np.random.Generator) -> MovePlan:
    return MovePlan(moves, leave_at, in_order=bool(rng.integers(2)) and not _has_repeats(moves))


def _draw_sites(names: Sequence[str], kind: int, rng: np.random.Generator) -> set[str]:
    """Draw the parameters to change: one, or two; in a mixture none or two."""
    n_changes = {ONE: 1, TWO: 2, MIX: 2 * int(rng.integers(2))}[kind]
    return {names[i] for i in rng.choice(len(names), size=min(n_changes, len(names)), replace=False)}


def _mixed_values(first: dict[str, Any], second: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Take each parameter from one of two trials, where both have it."""
    values = {**second, **first}
    return {name: second[name] if name in second and rng.random() < 0.5 else values[name] for name in values}


def _mixed_moves(first: list[Hashable], second: list[Hashable], rng: np.random.Generator) -> list[Hashable]:
    """Return the beginning of one sequence and the end of another; a permutation stays a permutation."""
    cut = int(rng.integers(len(first) + 1))
    if _has_repeats(first):
        return first[:cut] + second[cut:]
    return first[:cut] + [move for move in second if move not in first[:cut]]


def _has_repeats(moves: Sequence[Hashable]) -> bool:
    """Return whether a move is made more than once: then its step matters, not only its predecessor."""
    return len(set(moves)) < len(moves)
