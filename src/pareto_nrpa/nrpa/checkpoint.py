"""Saving a search to a file and going on from it: arrays and JSON in one .npz, nothing that needs unpickling."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import CheckpointError
from ..files import write_atomically
from ..kernels.archive import enlarge
from ..kernels.bundles import N_ARCHIVED, N_CODES, N_FREE, N_LOGGED, SIZE, Archive, Machine, Pool
from ..play.plain import Numbering
from ..problem import AnyProblem, problem_fingerprint, problem_name
from .memory import with_archive, with_codes, with_longer_sequences, with_slots
from .plain_player import PlainPlayer

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from .params import ParetoNRPA
    from .search import Search

_FORMAT = "pareto-nrpa checkpoint 1"


def save_search(search: Search, path: str | os.PathLike[str]) -> None:
    """Write all that a search is to a file."""
    machine, player = search.machine, search.player
    used = _used_slots(search)
    counters = machine.counters
    meta: dict[str, Any] = {
        "format": _FORMAT,
        "problem": problem_fingerprint(search.problem),
        "instance": problem_name(search.problem),
        "parameters": search.params.to_dict(),
        "iterations": search.n_iterations,
        "seed": search.seed,
        "random_state": player.random_state(),
        "wall_seconds": search.wall_seconds,
        "cpu_seconds": search.cpu_seconds,
        "slots": used,
        "pending": [candidate.slot for candidate in search.pending],
    }
    if isinstance(player, PlainPlayer):
        meta["codes"] = [encode(code) for code in player.codes]
        meta["moves"] = [encode(move) for move in player.moves]
    arrays = {
        "weights": machine.weights[:, :, : counters[N_CODES]],
        "starts": machine.starts,
        "members": machine.members,
        "levels": machine.levels,
        "counters": counters,
        **{f"pool_{name}": array[used] for name, array in machine.pool._asdict().items()},
        **{f"archive_{name}": array for name, array in _used_archive(machine.archive, counters).items()},
    }
    meta["digest"] = _digest(arrays)
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    write_atomically(path, lambda file: np.savez(file, allow_pickle=False, **arrays))


def _used_archive(archive: Archive, counters: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Return the parts of an archive that hold something."""
    ends = {"log": counters[N_LOGGED], "keys": archive.keys.size, "key_scores": archive.keys.size}
    return {name: array[: ends.get(name, counters[N_ARCHIVED])] for name, array in archive._asdict().items()}


def _digest(arrays: dict[str, np.ndarray]) -> str:
    """Return a hash of all arrays, by which a changed file is noticed before compiled code trusts its numbers."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name}{array.dtype}{array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()


def _used_slots(search: Search) -> list[int]:
    machine = search.machine
    slots = {candidate.slot for candidate in search.pending}
    for level, row in enumerate(machine.members):
        slots.update(row[: machine.levels[level, SIZE]].tolist())
    return sorted(slots)


def load_search(path: str | os.PathLike[str], problem: AnyProblem, params: ParetoNRPA) -> Search:
    """Return the search saved at `path`, ready to go on; it must be of the same problem and parameters."""
    try:
        arrays, meta = _read(path)
        _check_match(path, meta, problem, params)
        return _revive(arrays, meta, problem, params)
    except CheckpointError:
        raise
    except OSError as error:
        raise CheckpointError(f"cannot read the checkpoint {path}: {error.strerror or error}.") from error
    except Exception as error:  # whatever a damaged file leads to
        message = f"{path} is not a checkpoint of pareto-nrpa, or is damaged; start again with another file."
        raise CheckpointError(message) from error


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    # Opened here, as np.load leaves a damaged file open.
    with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    meta = json.loads(arrays.pop("meta").tobytes())
    if meta["format"] != _FORMAT or meta["digest"] != _digest(arrays):
        raise ValueError("unknown format or changed contents")
    return arrays, meta


def _revive(arrays: dict[str, np.ndarray], meta: dict[str, Any], problem: AnyProblem, params: ParetoNRPA) -> Search:
    from .search import Search

    search = Search(problem, params, seed=meta["seed"], budget=None, n_iterations=meta["iterations"])
    search.rng.bit_generator.state = meta["random_state"]
    search.wall_seconds, search.cpu_seconds = float(meta["wall_seconds"]), float(meta["cpu_seconds"])
    if isinstance(search.player, PlainPlayer):
        search.player.codes = Numbering((decode(code), i) for i, code in enumerate(meta["codes"]))
        search.player.moves = Numbering((decode(move), i) for i, move in enumerate(meta["moves"]))
    search.machine = _restore(search.machine, arrays, meta)
    for slot in meta["pending"]:
        search.restore_pending(slot)
    return search


def _check_match(path: Any, meta: dict[str, Any], problem: AnyProblem, params: ParetoNRPA) -> None:
    if meta["problem"] != problem_fingerprint(problem):
        raise CheckpointError(
            f"the checkpoint {path} is of another problem ({meta['instance']}), or the data or code of "
            f"{problem_name(problem)} have changed since; choose another file."
        )
    ours = json.loads(json.dumps(params.to_dict()))
    for name, value in meta["parameters"].items():
        if ours.get(name) != value:
            raise CheckpointError(
                f"the checkpoint {path} was made with {name}={value}, not {ours.get(name)}; use that, or another file."
            )


def _restore(machine: Machine, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> Machine:
    """Return a new machine filled with what was saved; slots keep their numbers."""
    saved_pool = {name: arrays[f"pool_{name}"] for name in Pool._fields}
    saved_archive = {name: arrays[f"archive_{name}"] for name in Archive._fields if not name.startswith("key")}
    used = meta["slots"]
    n_codes = arrays["weights"].shape[2]
    machine = with_longer_sequences(machine, saved_pool["moves"].shape[1], saved_pool["codes"].shape[1])
    machine = with_codes(machine, n_codes)
    machine = with_slots(machine, max(machine.free.size, max([*used, 0]) + 1))
    machine = with_archive(machine, len(saved_archive["heads"]) + 1, len(saved_archive["log"]) + 1)
    machine.weights[:, :, :n_codes] = arrays["weights"]
    machine.starts[:] = arrays["starts"]
    machine.members[:, :] = enlarge(arrays["members"], *machine.members.shape)[:, : machine.members.shape[1]]
    machine.levels[:] = arrays["levels"]
    machine.counters[: len(arrays["counters"])] = arrays["counters"]
    for name, array in saved_pool.items():
        target = getattr(machine.pool, name)
        target[used, : array.shape[1]] = array
    for name, array in saved_archive.items():
        getattr(machine.archive, name)[: len(array), : array.shape[1]] = array
    if "archive_keys" in arrays:
        tables = {name: np.ascontiguousarray(arrays[f"archive_{name}"]) for name in ("keys", "key_scores")}
        machine = machine._replace(archive=machine.archive._replace(**tables))
    free = np.setdiff1d(np.arange(machine.free.size), used)
    machine.free[: len(free)] = free
    machine.counters[N_FREE] = len(free)
    return machine


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
