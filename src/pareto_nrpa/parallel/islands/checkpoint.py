"""Saving searches that work together: the checkpoint of each, and what each has not taken in yet, in one file."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._util.checks import shown
from ..._util.files import write_atomically
from ...algorithms.nrpa.checkpoint import (
    TEAM_FORMAT,
    check_sum,
    check_version,
    decode,
    encode,
    read_search,
    sum_of,
)
from ...algorithms.nrpa.checkpoint_checks import need, read_arrays
from ...errors import CheckpointError
from ...problem.base import CompiledProblem
from .exchange import LAG
from .task import Member

if TYPE_CHECKING:
    import os

    from ...algorithms.nrpa.checkpoint import Resumable
    from ...algorithms.nrpa.search import AskTellSearch
    from ...problem.base import AnyProblem
    from .exchange import Rounds
    from .search import IslandSearch


def save_team(team: IslandSearch, path: str | os.PathLike[str]) -> None:
    """Write all that searches are to a file."""
    states = team.states()
    meta = {
        "format": TEAM_FORMAT,
        "searches": team.n_searches,
        "seed": team.seed,
        "wall_seconds": team.wall_seconds,
        "cpu_seconds": team.cpu_seconds,
        "inboxes": [[record.round, *map(_encoded, record.inbox)] for record in team.records],
        "fronts": [
            [number, k, *map(_encoded, members)]
            for number, fronts in sorted(team.post.fronts.items())
            for k, members in sorted(fronts.items())
        ],
    }
    arrays = {f"search_{k}": np.frombuffer(state, dtype=np.uint8) for k, state in enumerate(states)}
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    arrays["sum"] = sum_of(arrays)
    write_atomically(path, lambda file: np.savez(file, **arrays))  # type: ignore[arg-type]  # keywords of savez are arrays of any name


class Saved(NamedTuple):
    """What a file holds of searches that work together."""

    searches: list[AskTellSearch]
    inboxes: list[tuple[int, list[Member]]]  # of each search: the round and what it takes in
    fronts: dict[int, dict[int, list[Member]]]  # by round and search
    seed: int
    wall_seconds: float
    cpu_seconds: float


def load_team(path: str | os.PathLike[str], problem: AnyProblem, algorithm: Resumable, n_searches: int) -> Saved:
    """Return searches as they were saved, what is on the way between them, and what else was written down."""
    try:
        with open(path, "rb") as raw:
            arrays = read_arrays(raw)
        meta = json.loads(arrays["meta"].tobytes())
        check_version(path, meta["format"])
        if meta["format"] != TEAM_FORMAT and "iterations" in meta:
            raise CheckpointError(f"{path} was made with searches=1, not {n_searches}; use that, or another file.")
        need(meta["format"] == TEAM_FORMAT, "a known format")
        if meta["searches"] != n_searches:
            raise CheckpointError(
                f"{path} was made with searches={shown(meta['searches'])}, not {n_searches}; use that, or another file."
            )
        check_sum(arrays)
        states = [arrays[f"search_{k}"].tobytes() for k in range(n_searches)]
        searches = [read_search(io.BytesIO(state), path, problem, algorithm) for state in states]
        return _checked(meta, searches)
    except CheckpointError:
        raise
    except OSError as error:
        raise CheckpointError(f"cannot read the checkpoint {path}: {error.strerror or error}.") from error
    except Exception as error:  # whatever a damaged file leads to
        raise _damaged(path) from error


def _damaged(path: str | os.PathLike[str]) -> CheckpointError:
    return CheckpointError(f"{path} is not a checkpoint of pareto-nrpa, or is damaged; start again with another file.")


def check_rounds(path: str | os.PathLike[str], saved: Saved, rounds: Rounds) -> None:
    """Raise unless searches are in rounds in which they can be, and all that they will wait for is there."""
    numbers = [rounds.number(search.evaluations) for search in saved.searches]
    first = min(number for number, _ in saved.inboxes)
    for k, (number, (opened, inbox)) in enumerate(zip(numbers, saved.inboxes, strict=True)):
        is_possible = number - opened in (0, 1) and number <= first + LAG + 1 and opened >= 0
        if not is_possible or len(inbox) > rounds.begin(opened + 1) - rounds.begin(opened):
            raise _damaged(path)
        if any(k not in saved.fronts.get(done, {}) for done in range(max(0, first + 1 - LAG), number)):
            raise _damaged(path)


def _checked(meta: dict[str, Any], searches: list[AskTellSearch]) -> Saved:
    """Return what was written down, if it can be true."""
    need(type(meta["seed"]) is int and meta["seed"] >= 0, "a seed")
    need(all(0 <= meta[name] < np.inf for name in ("wall_seconds", "cpu_seconds")), "times")
    inboxes = [(number, [_member(one, searches[0]) for one in members]) for number, *members in meta["inboxes"]]
    need(len(inboxes) == len(searches) and all(type(number) is int for number, _ in inboxes), "inboxes")
    fronts: dict[int, dict[int, list[Member]]] = {}
    for number, k, *members in meta["fronts"]:
        need(type(number) is int and type(k) is int and 0 <= k < len(searches), "fronts")
        fronts.setdefault(number, {})[k] = [_member(one, searches[0]) for one in members]
    return Saved(searches, inboxes, fronts, meta["seed"], float(meta["wall_seconds"]), float(meta["cpu_seconds"]))


def _encoded(member: Member) -> list[Any]:
    return [member.found_at, list(member.scores), member.policy, encode(tuple(member.solution))]


def _member(saved: Any, search: AskTellSearch) -> Member:
    """Return what is to be taken in; raises whatever error where it cannot be played with."""
    found_at, scores, policy, solution = saved
    n_policies, width = search.machine.weights.shape[1], 1 + search.problem.n_objectives
    need(type(found_at) is int and type(policy) is int and 0 <= policy < n_policies, "a policy")
    need(len(scores) == width and np.isfinite(scores).all() and scores[0] >= 0, "scores")
    need(type(solution) is list, "a solution")
    moves = list(decode(solution))
    hash(tuple(moves))
    if isinstance(search.problem, CompiledProblem):
        search.player.numbers(moves)
    return Member(found_at, tuple(map(float, scores)), policy, moves)
