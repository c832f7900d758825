"""What the contents of a checkpoint must be like before compiled code, which checks no index, may trust them.

A sum tells that a file is as it was written, not who wrote it. So nothing is read that is larger inside than outside,
and every number that becomes an index, a size or a counter is looked at. A `ValueError` says that something is wrong.
"""

from __future__ import annotations

import io
import math
import os
import zipfile
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ...engine.arrays import (
    EVALUATIONS,
    FOUND_AT,
    ITERATIONS,
    KEY,
    MAX_ARCHIVED,
    N_CODES,
    N_COUNTERS,
    N_DECISIONS,
    N_DISCARDED,
    N_FRONT,
    N_HEADS,
    N_MOVES,
    N_UNIQUE,
    NO_IDENTITY,
    POLICY,
    REPETITIONS,
    RESTARTS,
    SIZE,
    VIOLATIONS,
)
from ...problem.base import CompiledProblem
from .plain_player import PlainPlayer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .search import AskTellSearch

    Arrays = dict[str, NDArray[Any]]

# Evaluations are logged as floats, which count no further.
MOST_EVALUATIONS = 2**53
_MOST_ITERATIONS = 2**62


def read_arrays(raw: BinaryIO) -> Arrays:
    """Return the arrays of an .npz file; its size on disk bounds what is read."""
    with zipfile.ZipFile(raw) as file:
        parts = file.infolist()
        need(all(part.compress_type == zipfile.ZIP_STORED for part in parts), "nothing compressed")
        need(sum(part.file_size for part in parts) <= raw.seek(0, os.SEEK_END), "no more than is there")
        return {part.filename.removesuffix(".npy"): _array(file.read(part)) for part in parts}


def _array(content: bytes) -> NDArray[Any]:
    """Return the array of an .npy file without believing what its header says of its size."""
    stream = io.BytesIO(content)
    need(np.lib.format.read_magic(stream) == (1, 0), "a known version")
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    need(dtype in (np.int64, np.float64, np.uint32, np.uint8) and not is_fortran, "a known type")
    return np.frombuffer(content[stream.tell() :], dtype=dtype).reshape(shape)


def check_meta(meta: dict[str, Any], iterations: int | None) -> None:
    """Check what is not an array; `iterations` are those of the parameters, if they say."""
    for name in ("iterations", "seed"):
        need(type(meta[name]) is int, name)
    need(0 < meta["iterations"] < _MOST_ITERATIONS and iterations in (None, meta["iterations"]), "iterations")
    need(meta["seed"] >= 0, "seed")
    for name in ("wall_seconds", "cpu_seconds"):
        need(type(meta[name]) in (int, float) and 0 <= meta[name] < math.inf, name)


def check_arrays(arrays: Arrays, search: AskTellSearch) -> None:
    """Check all arrays against the search that is to go on from them, which is at its very beginning."""
    machine, problem = search.machine, search.problem
    n_levels, n_policies, _ = machine.weights.shape
    m = problem.n_objectives
    counters, levels = arrays["counters"], arrays["levels"]
    check_shape(counters, np.int64, N_COUNTERS)
    check_shape(levels, np.int64, n_levels, 4)
    _check_counters(counters, arrays)
    _check_levels(levels, len(arrays["pool_heads"]), search)

    n_codes = int(counters[N_CODES])
    need(n_codes == problem.n_codes if isinstance(problem, CompiledProblem) else n_codes >= 0, "codes")
    check_shape(arrays["weights"], np.float64, n_levels, n_policies, n_codes)
    check_shape(arrays["starts"], np.float64, *machine.starts.shape)
    unmet = np.isnan(arrays["starts"]) if search.settings.bias_by_code else False
    need(((np.isnan(arrays["weights"]) == unmet) & ~np.isinf(arrays["weights"])).all(), "weights")
    need(not np.isinf(arrays["starts"]).any(), "starts")

    n_known = len(search.player.moves) if isinstance(search.player, PlainPlayer) else None
    for part, n_columns in (("pool", N_HEADS), ("archive", FOUND_AT + 1)):
        heads = arrays[f"{part}_heads"]
        check_shape(heads, np.int64, len(heads), n_columns)
        _check_scores(arrays[f"{part}_scores"], len(heads), m)
        need(in_range(heads[:, POLICY], 0, n_policies), "policies")
        need(in_range(heads[:, N_MOVES], 1, problem.max_moves + 1), "lengths")
        moves = arrays[f"{part}_moves"]
        check_shape(moves, np.int64, len(heads), heads[:, N_MOVES].max(initial=0))
        need(n_known is None or in_range(moves[_filled(moves, heads[:, N_MOVES])], 0, n_known), "moves")
    _check_pool(arrays, n_codes, search, unmet)
    _check_archive(arrays, m, int(counters[EVALUATIONS]))


def _check_counters(counters: NDArray[np.int64], arrays: Arrays) -> None:
    need(0 <= counters[EVALUATIONS] < MOST_EVALUATIONS, "evaluations")
    need(0 <= counters[RESTARTS] <= counters[EVALUATIONS], "restarts")
    need(0 <= counters[N_DISCARDED] <= counters[EVALUATIONS], "discarded solutions")
    limit, size = counters[MAX_ARCHIVED], len(arrays["archive_heads"])
    need(limit == 0 or max(2, size) <= limit < _MOST_ITERATIONS, "a limit of the archive")
    keys = arrays["archive_keys"]
    check_shape(keys, np.int64, keys.size)
    # A table of no power of two has places that are never found, a full one has none to end a search at.
    need(keys.size & (keys.size - 1) == 0 if keys.size else True, "a power of two")
    need(counters[N_UNIQUE] == np.count_nonzero(keys) and 2 * counters[N_UNIQUE] <= keys.size, "unique solutions")


def _check_levels(levels: NDArray[np.int64], n_slots: int, search: AskTellSearch) -> None:
    need((levels >= 0).all() and (levels <= _MOST_ITERATIONS // len(levels)).all(), "levels")
    need(levels[:, SIZE].sum() <= n_slots, "members")
    most = np.full(len(levels), search.n_iterations)
    most[0] *= search.params.playouts_per_step
    need((levels[:, ITERATIONS] < most).all(), "iterations of a level")
    n_waiting = levels[0, ITERATIONS] % search.params.playouts_per_step
    need(n_waiting + levels[0, N_FRONT] <= levels[0, SIZE], "playouts to learn from")
    need((levels[:, REPETITIONS] <= levels[:, ITERATIONS]).all(), "repetitions")
    need((levels[:, N_FRONT] <= levels[:, SIZE]).all(), "fronts")


def _check_pool(arrays: Arrays, n_codes: int, search: AskTellSearch, unmet: Any) -> None:
    """Check what was recorded: decisions that follow each other, a choice within each, codes that exist."""
    heads, ends, chosen, codes, biases = (
        arrays[f"pool_{name}"] for name in ("heads", "ends", "chosen", "codes", "biases")
    )
    n, n_decisions = len(heads), heads[:, N_DECISIONS]
    need(in_range(n_decisions, 0, heads[:, N_MOVES] + 1) and (heads[:, KEY] >= NO_IDENTITY).all(), "heads")
    for array in (ends, chosen):
        check_shape(array, np.int64, n, n_decisions.max(initial=0))
    begins = np.concatenate([np.zeros((n, 1), dtype=np.int64), ends], axis=1)[:, :-1]
    recorded = _filled(ends, n_decisions)
    need(in_range(ends[recorded], begins[recorded] + 2, _MOST_ITERATIONS), "ends")
    need(in_range(chosen[recorded], begins[recorded], ends[recorded]), "choices")
    n_candidates = np.where(recorded, ends, 0).max(axis=1, initial=0)
    check_shape(codes, np.uint32, n, n_candidates.max(initial=0))
    if isinstance(search.problem, CompiledProblem):
        need(codes.shape[1] <= search.machine.pool.codes.shape[1], "candidates")
    used = _filled(codes, n_candidates)
    need(in_range(codes[used].astype(np.int64), 0, n_codes), "codes")
    policies = np.broadcast_to(heads[:, POLICY][:, None], codes.shape)
    need(unmet is False or not unmet[policies[used], codes[used]].any(), "codes that were met")
    check_shape(biases, np.float64, n, codes.shape[1] if search.settings.has_bias else 1)
    need(np.isfinite(biases).all(), "biases")


def _check_archive(arrays: Arrays, m: int, evaluations: int) -> None:
    found, log, keys = arrays["archive_heads"][:, FOUND_AT], arrays["archive_log"], arrays["archive_keys"]
    check_shape(log, np.float64, len(log), 2 + m)
    _check_scores(log[:, 1:], len(log), m)
    for numbers in (found, log[:, 0]):
        need(in_range(numbers, 1, evaluations + 1) and (np.diff(numbers) > 0).all(), "the order of discovery")
    need(len(np.unique(arrays["archive_scores"][:, VIOLATIONS])) <= 1, "violations")
    _check_scores(arrays["archive_key_scores"], keys.size, m)


def _check_scores(scores: NDArray[Any], n: int, m: int) -> None:
    check_shape(scores, np.float64, n, 1 + m)
    need(np.isfinite(scores).all() and (scores[:, VIOLATIONS] >= 0).all(), "scores")


def check_shape(array: NDArray[Any], dtype: Any, *shape: int) -> None:
    """Raise if an array is not what it must be."""
    need(array.dtype == dtype and array.shape == shape, "an array")


def _filled(array: NDArray[Any], lengths: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which places of an array are in use, where each row is so far."""
    return np.arange(array.shape[1]) < lengths[:, None]


def in_range(numbers: NDArray[Any], begin: Any, end: Any) -> bool:
    """Tell whether all numbers are at least `begin` and below `end`."""
    return bool(((begin <= numbers) & (numbers < end)).all())


def need(condition: Any, what: str) -> None:
    """Raise unless a condition holds."""
    if not condition:
        raise ValueError(f"a checkpoint needs {what}")
