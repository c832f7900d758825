"""What baselines play in: the arrays of one sequence and of the archive, and what a status in them means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ...engine.archive import new_archive
from ...engine.arrays import (
    DEPTH,
    ILLEGAL_MOVE,
    INCOMPLETE,
    N_COUNTERS,
    N_HEADS,
    N_MOVES,
    NEEDS_ROOM,
    OK,
    STATUS,
    WRONG_LENGTH,
)
from ...engine.evaluation import new_room
from ...errors import ProblemError
from ...problem.base import AnyProblem, paper_preference
from ...problem.genotype import encoded, unplayable_message
from .rollout import HERE

if TYPE_CHECKING:
    from .compiled_player import CompiledRollouts
    from .plain_player import PlainRollouts

    Player: TypeAlias = CompiledRollouts | PlainRollouts

_OVERRUN = 4096


def arena_parts(problem: AnyProblem, bias: float, max_moves: int, max_legal: int) -> dict[str, Any]:
    """Return the arrays of an arena by name."""
    m = problem.n_objectives
    return {
        "moves": np.zeros((1, max_moves), dtype=np.int64),
        "heads": np.zeros((1, N_HEADS), dtype=np.int64),
        "scores": np.zeros((1, 1 + m)),
        # Room behind the end: a problem that fills in too many moves is told so, instead of crashing.
        "legal": np.zeros(max_legal + _OVERRUN, dtype=np.int64)[:max_legal],
        "probabilities": new_room(max_legal, m),
        "n_legal": np.zeros(1, dtype=np.int64),
        "preference": paper_preference(problem),
        "bias_scale": np.array([bias if problem.bias is not None else 0.0]),
        "counters": np.zeros(N_COUNTERS, dtype=np.int64),
        "archive": new_archive(m, max_moves),
    }


def check_status(player: Player) -> None:
    """Make room if that is what compiled code asks for; raise if the problem broke a promise."""
    counters, moves = player.arena.counters, player.arena.moves[HERE]
    status, depth = int(counters[STATUS]), int(counters[DEPTH])
    counters[STATUS] = OK
    if status == NEEDS_ROOM:
        player.make_room()
    elif status == WRONG_LENGTH:
        encoded(player.problem, player.solution(moves[: player.arena.heads[HERE, N_MOVES]].tolist()))
    elif status in (ILLEGAL_MOVE, INCOMPLETE):
        assert player.problem.genotype is not None
        solution = player.solution(moves[: len(player.problem.genotype.moves)].tolist())
        raise ProblemError(unplayable_message(player.problem, solution, depth))
    elif status != OK:
        raise player.error(status, depth)


def depth_or_none(player: Player, status: int) -> int | None:
    """Return where a solution that was checked cannot be played, or None; raise if that is not what is wrong."""
    if status in (ILLEGAL_MOVE, INCOMPLETE):
        return int(player.arena.counters[DEPTH])
    player.arena.counters[STATUS] = status
    check_status(player)
    return None
