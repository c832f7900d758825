"""Forged files, which have sums of their own: something in them is changed, and the sum made to fit again."""

from __future__ import annotations

import functools
import io
import json
import zipfile
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from mutations.damage import change_bytes, change_tree, text
from pareto_nrpa.baselines.search import content_sum
from pareto_nrpa.nrpa.checkpoint import sum_of
from pareto_nrpa.parallel.journal import line_sum

if TYPE_CHECKING:
    Arrays = dict[str, np.ndarray[Any, Any]]

NUMBERS = (0, 1, -1, 2, 3, 15, 16, 64, 1000, 2**31, 2**32 - 1, 2**53, 2**62, 2**63 - 1, -(2**63))
FLOATS = (0, 1, -1, 0.5, 1e300, -1e300, np.nan, np.inf, -np.inf, 1e6, 5e-324)
TYPES = ("i8", "f8", "u4", "i4", "u1", ">i8", "c16", "S3", "?")
WAYS = ("numbers", "numbers", "numbers", "bits", "shape", "type", "meta", "meta", "missing")
_BOMB = bytes(40_000_000)
_SHARE_DAMAGED, _SHARE_BOMB, _SHARE_DEEP, _SHARE_HEADER = 0.1, 0.03, 0.03, 0.1


def checkpoint(content: bytes, rng: np.random.Generator) -> bytes:
    """Change an array, a number or the rest of a checkpoint."""
    if rng.random() < _SHARE_DAMAGED:
        return text(content, rng)
    arrays = _unpacked(content)
    for _ in range(rng.integers(1, 3)):
        _change(arrays, rng)
    return _packed(arrays, rng)


def team(content: bytes, rng: np.random.Generator) -> bytes:
    """Change what is around the checkpoints of several searches, or within one of them."""
    if rng.random() < 0.5:
        return checkpoint(content, rng)
    arrays = _unpacked(content)
    name = str(rng.choice([name for name in arrays if name.startswith("search_")]))
    arrays[name] = np.frombuffer(checkpoint(arrays[name].tobytes(), rng), dtype=np.uint8)
    return _packed(arrays, rng)


def baseline(content: bytes, rng: np.random.Generator) -> bytes:
    """Change what a checkpoint of a baseline says."""
    if rng.random() < _SHARE_DAMAGED:
        return text(content, rng)
    saved = change_tree(json.loads(content), rng)
    if isinstance(saved, dict):
        saved["sum"] = content_sum(saved)
    return json.dumps(saved).encode()


def journal(content: bytes, rng: np.random.Generator) -> bytes:
    """Change a line of a journal."""
    lines = content.splitlines(keepends=True)
    at = int(rng.integers(len(lines)))
    if rng.random() < 0.4:
        lines[at] = change_bytes(lines[at], rng)
        return b"".join(lines) if rng.random() < 0.5 else text(content, rng)
    line = json.loads(lines[at])
    line.pop("sum")
    line = change_tree(line, rng)
    if isinstance(line, dict):
        line["sum"] = line_sum(line)
    lines[at] = json.dumps(line).encode() + b"\n"
    return b"".join(lines)


def arrays_alone(content: bytes, rng: np.random.Generator) -> bytes:
    """Change an array of an .npz that has no sum."""
    if rng.random() < 0.5:
        return text(content, rng)
    arrays = _unpacked(content)
    _change(arrays, rng)
    return _packed(arrays, rng, has_sum=False)


def _unpacked(content: bytes) -> Arrays:
    return dict(_arrays_of(content))


@functools.lru_cache(maxsize=8)
def _arrays_of(content: bytes) -> Arrays:
    """Return the arrays of a good file, which is changed some thousand times: others take their place."""
    with np.load(io.BytesIO(content)) as file:
        return {name: file[name] for name in file.files if name != "sum"}


def _packed(arrays: Arrays, rng: np.random.Generator, *, has_sum: bool = True) -> bytes:
    """Return forged arrays as a file, sometimes one that is odd in itself."""
    odd = rng.random()
    if "meta" in arrays and odd < _SHARE_DEEP:
        arrays["meta"] = np.frombuffer(b"[" * 100_000, dtype=np.uint8)
    if has_sum:
        arrays["sum"] = sum_of({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    file = io.BytesIO()
    if odd > 1 - _SHARE_BOMB:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
        with zipfile.ZipFile(file, "a") as archive:
            archive.writestr("bomb.npy", _BOMB, zipfile.ZIP_DEFLATED, 1)
    else:
        np.savez(file, **arrays)  # type: ignore[arg-type]
    is_header = _SHARE_DEEP < odd < _SHARE_DEEP + _SHARE_HEADER
    return _with_odd_header(file.getvalue(), rng) if is_header else file.getvalue()


def _with_odd_header(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a sound archive in which the head of one array says something else."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {part.filename: bytearray(archive.read(part)) for part in archive.infolist()}
    name = str(rng.choice(sorted(parts)))
    place = int(rng.integers(min(len(parts[name]), 128)))
    parts[name][place : place + 1] = bytes(rng.choice([b"(", b"9" * 20, b"'", b"\x00", b"-", b"{", b"\xff"]))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for part, data in parts.items():
            archive.writestr(part, bytes(data))
    return file.getvalue()


def _change(arrays: Arrays, rng: np.random.Generator) -> None:
    """Change one array, or what is not an array."""
    name, way = str(rng.choice(sorted(arrays))), str(rng.choice(WAYS))
    array = arrays[name]
    if way == "missing":
        del arrays[name]
    elif way == "meta" and "meta" in arrays:
        arrays["meta"] = _changed_meta(arrays["meta"], rng)
    elif way == "type":
        with np.errstate(all="ignore"), suppress(ValueError):  # text, by a change before, that is no number
            arrays[name] = array.astype(rng.choice(TYPES))
    elif way == "shape":
        arrays[name] = _reshaped(array, rng)
    elif array.size:
        arrays[name] = _with_other_numbers(np.ascontiguousarray(array).copy(), way == "bits", rng)


def _changed_meta(meta: np.ndarray[Any, Any], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    try:
        changed = json.dumps(_other_value(json.loads(meta.tobytes()), rng)).encode()
    except (ValueError, RecursionError):  # it was changed before
        changed = change_bytes(meta.tobytes(), rng)
    return np.frombuffer(changed, dtype=np.uint8)


def _other_value(value: Any, rng: np.random.Generator) -> Any:
    """Change a whole number by a little, or anything to anything."""
    return value + int(rng.choice([-1, 1, 2**40])) if type(value) is int else change_tree(value, rng)


def _with_other_numbers(array: np.ndarray[Any, Any], is_bits: bool, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    flat = array.reshape(-1)
    places = rng.integers(array.size, size=int(rng.choice([1, 1, 3, array.size])))
    if is_bits:
        flat.view(np.uint8)[places * array.itemsize + rng.integers(array.itemsize)] ^= 1 << int(rng.integers(8))
    elif array.dtype.kind == "f":
        flat[places] = rng.choice(FLOATS) if rng.random() < 0.8 else flat[rng.integers(flat.size, size=places.size)]
    elif array.dtype.kind in "iu":
        number = NUMBERS[int(rng.integers(len(NUMBERS)))] % 256**array.itemsize
        others = flat[rng.integers(flat.size, size=places.size)]
        flat[places] = others if rng.random() < 0.2 else np.array(number, f"u{array.itemsize}").view(array.dtype)
    return array


def _reshaped(array: np.ndarray[Any, Any], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Return an array with a row or column more or less, turned round, flat, or empty and very wide."""
    axis = int(rng.integers(max(1, array.ndim)))
    if array.ndim == 0:
        return array.reshape(1)
    ways = [
        np.delete(array, slice(0, 1), axis),
        np.concatenate([array, array], axis),
        np.pad(array, [(0, int(i == axis)) for i in range(array.ndim)]),
        array.T,
        array.reshape(-1),
        np.zeros((0, 10**12), dtype=array.dtype),
        array[..., None],
    ]
    return np.ascontiguousarray(ways[int(rng.integers(len(ways)))])
