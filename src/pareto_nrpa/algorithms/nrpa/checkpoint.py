"""Saving a search to a file and going on from it: arrays and JSON in one .npz, nothing that needs unpickling."""

from __future__ import annotations

import hashlib
import io
import json
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..._util.checks import short, shown
from ..._util.files import write_atomically
from ...engine.archive import archived_rows, enlarge
from ...engine.arrays import (
    LAST_IMPROVEMENT,
    MAX_ARCHIVED,
    N_ARCHIVED,
    N_CODES,
    N_DECISIONS,
    N_FREE,
    N_LOGGED,
    N_MOVES,
    SIZE,
    Archive,
    Pool,
    SearchState,
)
from ...engine.evaluated import rebuilt_keys
from ...engine.plain import Index
from ...errors import CheckpointError
from ...problem.base import AnyProblem, problem_fingerprint, problem_name
from .checkpoint_checks import check_arrays, check_meta, read_arrays
from .memory import with_archive, with_codes, with_longer_sequences, with_slots
from .plain_player import PlainPlayer

if TYPE_CHECKING:
    import os
    from typing import BinaryIO

    from numpy.typing import NDArray

    from .search import AskTellSearch


class Resumable(Protocol):
    """An algorithm whose searches are saved here."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def iterations(self) -> int | None:
        """N, where it is given."""

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values."""

    def search(self, problem: AnyProblem, *, seed: int, n_iterations: int) -> AskTellSearch:
        """Return a search at its very beginning."""


_FORMAT = "pareto-nrpa checkpoint 6"
#: Of several searches that work together, see parallel/islands/checkpoint.py.
TEAM_FORMAT = "pareto-nrpa team 7"
_OLDER_FORMATS = (
    *(f"pareto-nrpa checkpoint {n}" for n in (1, 2, 3, 4, 5)),
    *(f"pareto-nrpa team {n}" for n in (1, 2, 3, 4, 5, 6)),
)


def save_search(search: AskTellSearch, path: str | os.PathLike[str]) -> None:
    """Write all that a search is to a file."""
    arrays = _packed(search)
    write_atomically(path, lambda file: np.savez(file, **arrays))


def to_bytes(search: AskTellSearch) -> bytes:
    """Return all that a search is, as `save_search` writes it."""
    file = io.BytesIO()
    np.savez(file, **_packed(search))
    return file.getvalue()


def _packed(search: AskTellSearch) -> dict[str, Any]:
    machine, player = search.machine, search.player
    meta: dict[str, Any] = {
        "format": _FORMAT,
        "problem": search.fingerprint.known_as(),
        "instance": problem_name(search.problem),
        "algorithm": search.algorithm.name,
        "parameters": search.algorithm.to_dict(),
        "iterations": search.n_iterations,
        "seed": search.seed,
        "random_state": player.random_state(),
        "wall_seconds": search.wall_seconds,
        "cpu_seconds": search.cpu_seconds,
    }
    if isinstance(player, PlainPlayer):
        meta["codes"] = [encode(code) for code in player.codes]
        meta["moves"] = [encode(move) for move in player.met()]
    arrays = {
        "weights": machine.weights[:, :, : machine.counters[N_CODES]],
        "starts": machine.starts,
        "levels": machine.levels,
        "counters": machine.counters,
        **{f"pool_{name}": array for name, array in _used_pool(search).items()},
        **{f"archive_{name}": array for name, array in _used_archive(machine.archive, machine.counters).items()},
        **{f"local_{name}": array for name, array in search.local_state().items()},
        "meta": np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8),
    }
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    arrays["sum"] = sum_of(arrays)
    return arrays


def _used_pool(search: AskTellSearch) -> dict[str, NDArray[Any]]:
    """Return the sequences in use: the sets of the levels, one after the other, then what is pending."""
    machine = search.machine
    sets = (row[: machine.levels[level, SIZE]].tolist() for level, row in enumerate(machine.members))
    slots = [slot for members in sets for slot in members]
    n_members = len(slots)
    slots += [candidate.slot for candidate in search.pending]
    used = {name: array[slots] for name, array in machine.pool._asdict().items()}
    used["scores"][n_members:] = 0.0  # not known yet
    n_decisions = used["heads"][:, N_DECISIONS]
    n_candidates = np.take_along_axis(used["ends"], np.maximum(n_decisions - 1, 0)[:, None], axis=1)[:, 0]
    widths = {
        "moves": used["heads"][:, N_MOVES],
        "ends": n_decisions,
        "chosen": n_decisions,
        "codes": np.where(n_decisions > 0, n_candidates, 0),
    }
    if search.settings.has_bias:
        widths["biases"] = widths["codes"]
    return used | {name: used[name][:, : lengths.max(initial=0)] for name, lengths in widths.items()}


def _used_archive(archive: Archive, counters: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Return the parts of an archive that hold something, in the order of discovery."""
    rows = archived_rows(archive)
    heads = archive.heads[rows]
    return {
        "heads": heads,
        "scores": archive.scores[rows],
        "moves": archive.moves[rows, : heads[:, N_MOVES].max(initial=0)],
        "log": archive.log[: counters[N_LOGGED]],
        "keys": archive.keys,
        "key_scores": archive.key_scores,
    }


def sum_of(arrays: dict[str, NDArray[Any]]) -> NDArray[np.uint8]:
    """Return a hash of all arrays, by which a changed file is noticed."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name}{arrays[name].dtype}{arrays[name].shape}".encode())
        digest.update(arrays[name].data)
    return np.frombuffer(digest.digest(), dtype=np.uint8)


def load_search(path: str | os.PathLike[str], problem: AnyProblem, params: Resumable) -> AskTellSearch:
    """Return the search saved at `path`, ready to go on; it must be of the same problem and parameters."""
    try:
        with open(path, "rb") as raw:
            return read_search(raw, path, problem, params)
    except CheckpointError:
        raise
    except OSError as error:
        raise CheckpointError(f"cannot read the checkpoint {path}: {error.strerror or error}.") from error
    except Exception as error:  # whatever a damaged file leads to
        message = f"{path} is not a checkpoint of pareto-nrpa, or is damaged; start again with another file."
        raise CheckpointError(message) from error


def read_search(raw: BinaryIO, name: Any, problem: AnyProblem, params: Resumable) -> AskTellSearch:
    """Return the search in an open file; raises whatever a damaged one leads to."""
    arrays = read_arrays(raw)
    meta = json.loads(arrays["meta"].tobytes())
    _check_match(name, meta, problem, params)
    check_sum(arrays)
    return _revive(arrays, meta, problem, params)


def from_bytes(state: bytes, problem: AnyProblem, params: Resumable) -> AskTellSearch:
    """Return the search that `to_bytes` was given, perhaps in another process, where all may have other names."""
    arrays = read_arrays(io.BytesIO(state))
    check_sum(arrays)
    return _revive(arrays, json.loads(arrays["meta"].tobytes()), problem, params)


def check_sum(arrays: dict[str, NDArray[Any]]) -> None:
    """Raise if arrays are not what they were when their sum was written beside them."""
    total = arrays.pop("sum")
    if sum_of(arrays).tobytes() != total.tobytes():
        raise ValueError("changed contents")


def check_version(path: Any, made_by: object) -> None:
    """Raise if a checkpoint is of a format that was in use before."""
    if made_by in _OLDER_FORMATS:
        raise CheckpointError(
            f"{path} was made by an older version of pareto-nrpa; go on with that one, or start again in another file."
        )


def _check_match(path: Any, meta: dict[str, Any], problem: AnyProblem, params: Resumable) -> None:
    check_version(path, meta["format"])
    if meta["format"] == TEAM_FORMAT:
        raise CheckpointError(f"{path} was made with searches={shown(meta['searches'])}; use that, or another file.")
    if meta["format"] != _FORMAT:
        raise ValueError("unknown format")
    if problem_fingerprint(problem) not in meta["problem"]:
        raise CheckpointError(
            f"the checkpoint {path} is of another problem ({short(meta['instance'])}), or the data or code of "
            f"{problem_name(problem)} have changed since; choose another file."
        )
    if meta["algorithm"] != params.name:
        raise CheckpointError(
            f"the checkpoint {path} was made by {short(meta['algorithm'])}, not {params.name}; use that, or another "
            "file."
        )
    ours = json.loads(json.dumps(params.to_dict()))
    theirs = meta["parameters"]
    for name in {**theirs, **ours}:
        if ours.get(name) != theirs.get(name):
            how = f"without {name}"
            if name in theirs:
                how = f"with {short(name)}={shown(theirs[name])}, not {ours.get(name)}"
            raise CheckpointError(f"the checkpoint {path} was made {how}; use that, or another file.")


def _revive(
    arrays: dict[str, NDArray[Any]], meta: dict[str, Any], problem: AnyProblem, params: Resumable
) -> AskTellSearch:
    check_meta(meta, params.iterations)
    search = params.search(problem, seed=meta["seed"], n_iterations=meta["iterations"])
    search.fingerprint.first = meta["problem"][0]
    search.rng.bit_generator.state = meta["random_state"]
    search.wall_seconds, search.cpu_seconds = float(meta["wall_seconds"]), float(meta["cpu_seconds"])
    if isinstance(search.player, PlainPlayer):
        search.player.codes = _numbering(meta["codes"])
        search.player.moves = Index()
        moves = [decode(move) for move in meta["moves"]]
        if search.player.numbers(moves) != list(range(len(moves))):
            raise ValueError("two numbers for one thing")
    check_arrays(arrays, search)
    search.machine = _restore(search.machine, arrays)
    for slot in range(int(arrays["levels"][:, SIZE].sum()), len(arrays["pool_heads"])):
        search.restore_pending(slot)
    local = {name.removeprefix("local_"): array for name, array in arrays.items() if name.startswith("local_")}
    search.restore_local(local)
    return search


def _numbering(encoded: list[Any]) -> Index:
    numbering = Index((decode(value), number) for number, value in enumerate(encoded))
    if len(numbering) < len(encoded):
        raise ValueError("two numbers for one thing")
    return numbering


def _restore(machine: SearchState, arrays: dict[str, NDArray[Any]]) -> SearchState:
    """Return a new machine filled with what was saved."""
    pool = {name: arrays[f"pool_{name}"] for name in Pool._fields}
    archived: dict[str, Any] = {name: arrays[f"archive_{name}"] for name in ("heads", "scores", "moves", "log")}
    n_slots, n_codes = len(pool["heads"]), arrays["weights"].shape[2]
    max_moves = max(pool["moves"].shape[1], archived["moves"].shape[1])
    machine = with_longer_sequences(machine, max_moves, pool["codes"].shape[1])
    machine = with_codes(machine, n_codes)
    machine = with_slots(machine, max(machine.free.size, n_slots))
    machine.weights[:, :, :n_codes] = arrays["weights"]
    machine.starts[:] = arrays["starts"]
    machine.levels[:] = arrays["levels"]
    machine.counters[:] = arrays["counters"]
    for name, array in pool.items():
        getattr(machine.pool, name)[:n_slots, : array.shape[1]] = array
    first = 0
    for level, size in enumerate(arrays["levels"][:, SIZE]):
        machine.members[level, :size] = np.arange(first, first + size)
        first += size
    free = np.arange(n_slots, machine.free.size)
    machine.free[: len(free)] = free

    size = max(len(machine.archive.heads), len(archived["heads"]) + 1)
    if machine.counters[MAX_ARCHIVED]:
        size = min(size, int(machine.counters[MAX_ARCHIVED]))
    log_size = max(len(machine.archive.log), len(archived["log"]) + 1)
    archived["moves"] = enlarge(archived["moves"], 0, machine.archive.moves.shape[1])
    keys, key_scores = arrays["archive_keys"].copy(), arrays["archive_key_scores"].copy()
    if keys.size:
        keys, key_scores = rebuilt_keys(keys, key_scores)
    archive = machine.archive._replace(**archived, keys=keys, key_scores=key_scores)
    counted = {
        N_FREE: len(free),
        N_ARCHIVED: len(archived["heads"]),
        N_LOGGED: len(archived["log"]),
        LAST_IMPROVEMENT: archived["log"][-1, 0] if len(archived["log"]) else 0,
    }
    machine.counters[list(counted)] = list(counted.values())
    return with_archive(machine._replace(archive=archive), size, log_size)


def encode(value: Any) -> Any:
    """Return a code or move as JSON that `decode` turns back: a list stands for a tuple."""
    if type(value) is tuple:
        return [encode(item) for item in value]
    if isinstance(value, np.generic):
        return encode(value.item())
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise CheckpointError(
        f"a checkpoint can hold codes and moves made of numbers, text, None and tuples of them, got {value!r}."
    )


def decode(value: Any) -> Any:
    """Return what `encode` was given."""
    return tuple(decode(item) for item in value) if isinstance(value, list) else value
