"""Saving searches that work together: the checkpoint of each, and what each has not taken in yet, in one file."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import shown
from ..exceptions import CheckpointError
from ..files import write_atomically
from ..nrpa.checkpoint import TEAM_FORMAT, check_sum, decode, encode, read_search, sum_of
from ..nrpa.checkpoint_checks import need, read_arrays
from ..problem import CompiledProblem
from .work import Newcomer

if TYPE_CHECKING:
    import os

    from ..nrpa.checkpoint import Resumable
    from ..nrpa.search import Search
    from ..problem import AnyProblem
    from .search import CooperatingSearch


def save_team(team: CooperatingSearch, path: str | os.PathLike[str]) -> None:
    """Write all that searches are to a file."""
    states = team.crew.states()
    meta = {
        "format": TEAM_FORMAT,
        "searches": team.n_searches,
        "seed": team.seed,
        "wall_seconds": team.wall_seconds,
        "cpu_seconds": team.cpu_seconds,
        "inboxes": [[[encode(tuple(one.solution)), one.policy] for one in inbox] for inbox in team.crew.inboxes],
    }
    arrays = {f"search_{k}": np.frombuffer(state, dtype=np.uint8) for k, state in enumerate(states)}
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    arrays["sum"] = sum_of(arrays)
    write_atomically(path, lambda file: np.savez(file, **arrays))  # type: ignore[arg-type]


def load_team(
    path: str | os.PathLike[str], problem: AnyProblem, algorithm: Resumable, n_searches: int
) -> tuple[list[Search], list[list[Newcomer]], dict[str, Any]]:
    """Return searches as they were saved, what each is to take in first, and what else was written down."""
    try:
        with open(path, "rb") as raw:
            arrays = read_arrays(raw)
        meta = json.loads(arrays["meta"].tobytes())
        if meta["format"] != TEAM_FORMAT and "iterations" in meta:
            raise CheckpointError(f"{path} was made with searches=1, not {n_searches}; use that, or another file.")
        need(meta["format"] == TEAM_FORMAT, "a known format")
        if meta["searches"] != n_searches:
            raise CheckpointError(
                f"{path} was made with searches={shown(meta['searches'])}, not {n_searches}; use that, or another file."
            )
        check_sum(arrays)
        need(type(meta["seed"]) is int and meta["seed"] >= 0, "a seed")
        states = [arrays[f"search_{k}"].tobytes() for k in range(n_searches)]
        searches = [read_search(io.BytesIO(state), path, problem, algorithm) for state in states]
        inboxes = [[_newcomer(one, searches[0]) for one in inbox] for inbox in meta["inboxes"]]
        need(len(inboxes) == n_searches, "inboxes")
        meta = {name: meta[name] for name in ("seed", "wall_seconds", "cpu_seconds")}
        need(all(0 <= meta[name] < np.inf for name in meta), "times")
    except CheckpointError:
        raise
    except OSError as error:
        raise CheckpointError(f"cannot read the checkpoint {path}: {error.strerror or error}.") from error
    except Exception as error:  # whatever a damaged file leads to
        message = f"{path} is not a checkpoint of pareto-nrpa, or is damaged; start again with another file."
        raise CheckpointError(message) from error
    return searches, inboxes, meta


def _newcomer(saved: Any, search: Search) -> Newcomer:
    """Return what is to be taken in; raises whatever error where it cannot be played with."""
    solution, policy = saved
    n_policies = search.machine.weights.shape[1]
    need(type(solution) is list and type(policy) is int and 0 <= policy < n_policies, "newcomers")
    moves = list(decode(solution))
    hash(tuple(moves))
    if isinstance(search.problem, CompiledProblem):
        search.player.numbers(moves)
    return Newcomer(moves, policy)
