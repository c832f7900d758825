"""Conversion of the official file of NAS-Bench-101 into a compact table.

It is a TFRecord file: length, checksum, bytes, checksum; all little-endian, checksums masked CRC-32C. A record is JSON,
and in it a protocol buffer in base 64:

[hash, epochs, "0110...", "input,conv3x3-bn-relu,...,output", base64(ModelMetrics)]

message ModelMetrics { repeated EvaluationData evaluation_data = 1; int32 trainable_parameters = 2; ... }
message EvaluationData { double current_epoch = 1, training_time = 2, train_accuracy = 3,
                         validation_accuracy = 4, test_accuracy = 5; ... }
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numba import types
from numpy.typing import NDArray

from .._util.files import check_writable, write_atomically
from ..engine.jit.kernels import compile_entry
from ..errors import DataError
from ..routing.benchmarks import cache_folder
from .cells101 import MAX_EDGES, MAX_VERTICES, N_CELLS, OPERATIONS, bits_of, parameters
from .tables import FAMILY, TABLE_101

_EPOCHS = 108
_CHECKED_EVERY = 1_000  # computing the hash of a cell takes half a millisecond
_VARINT, _DOUBLE, _BYTES, _FLOAT = 0, 1, 2, 5
_EVALUATIONS, _PARAMETERS = 1, 2
_TIME, _VALIDATION, _TEST = 2, 4, 5
_LONGEST_RECORD = 1 << 24  # a record of the benchmark has some hundred bytes
_LONGEST_VARINT = 10  # bytes: 64 bits
_HASH = re.compile("[0-9a-f]{32}")
_POLYNOMIAL, _MASK_DELTA = 0x82F63B78, 0xA282EAD8
# Errors of records that are not of the benchmark.
_DAMAGED = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError, struct.error)


@dataclass(frozen=True)
class Training:
    """One training of one cell."""

    hash: str
    epochs: int
    matrix: NDArray[np.int8]
    operations: list[int]
    parameters: int
    seconds: float
    validation_accuracy: float  # at the end of the training, from 0 to 1
    test_accuracy: float


def convert(
    path: str | os.PathLike[str],
    to: str | os.PathLike[str] | None = None,
    *,
    expected: int | None = N_CELLS,
    progress: Callable[[int], None] = lambda done: None,
) -> Path:
    """Convert `nasbench_only108.tfrecord` (or the full file) into a table; returns its path.

    Parameters
    ----------
    to
        The folder or .npz file to write; by default in the user's cache.
    expected
        The expected number of cells; None: any number.
    progress
        Called with the number of records read.
    """
    target = cache_folder() / FAMILY / TABLE_101 if to is None else Path(to)
    target = target if target.suffix == ".npz" else target / TABLE_101
    check_writable(target)
    cells: dict[str, list[Training]] = {}
    try:
        with open(path, "rb") as file:
            for done, record in enumerate(read_records(file, Path(path).name)):
                training = read_training(record)
                if done % _CHECKED_EVERY == 0:
                    progress(done)
                    check_official(training)
                if training.epochs == _EPOCHS:
                    cells.setdefault(training.hash, []).append(training)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}.") from error
    if not cells:
        raise DataError(f"{path} has no training of {_EPOCHS} epochs.")
    if expected is not None and len(cells) != expected:
        raise DataError(f"{path} must have {expected:,} cells, it has {len(cells):,}; download it again.")
    columns = _columns([cells[digest] for digest in sorted(cells)])
    return write_atomically(target, lambda out: np.savez_compressed(out, **columns))  # type: ignore[arg-type]  # keywords of savez are arrays of any name


def _columns(cells: list[list[Training]]) -> dict[str, NDArray[np.generic]]:
    """Return the columns of the table; accuracies and times are means over the trainings of a cell."""
    first = [trainings[0] for trainings in cells]
    ops = np.full((len(cells), MAX_VERTICES - 2), -1, dtype=np.int8)
    for row, cell in zip(ops, first, strict=True):
        row[: len(cell.operations)] = cell.operations

    def means(name: str) -> NDArray[np.float32]:
        return np.array([np.mean([getattr(t, name) for t in trainings]) for trainings in cells], dtype=np.float32)

    return {
        "hash": np.array([list(bytes.fromhex(cell.hash)) for cell in first], dtype=np.uint8),
        "n_vertices": np.array([len(cell.matrix) for cell in first], dtype=np.int8),
        "adj_bits": np.array([bits_of(cell.matrix) for cell in first], dtype=np.int32),
        "ops": ops,
        "params": np.array([cell.parameters for cell in first], dtype=np.int32),
        "n_runs": np.array([len(trainings) for trainings in cells], dtype=np.int8),
        "valid108": means("validation_accuracy"),
        "test108": means("test_accuracy"),
        "train_time108_s": means("seconds"),
    }


def check_official(training: Training) -> None:
    """Raise unless hash and parameters of a record are those of its cell."""
    if cell_hash(training.matrix, training.operations) != training.hash:
        raise DataError(
            f"the record of {training.hash} has another hash than its cell; the file is not the official one."
        )
    if parameters(training.matrix, training.operations) != training.parameters:
        raise DataError(f"the record of {training.hash} has another number of parameters than its cell.")


def cell_hash(matrix: NDArray[np.int8], operations: Sequence[int]) -> str:
    """Return the benchmark's hash of a cell, shared by isomorphic cells (iterated MD5, its `hash_module`)."""
    n = len(matrix)
    labels = [-1, *operations, -2]
    degrees = zip(matrix.sum(axis=1).tolist(), matrix.sum(axis=0).tolist(), labels, strict=True)
    hashes = [_md5(str(triple)) for triple in degrees]
    sources = [np.flatnonzero(matrix[:, v]).tolist() for v in range(n)]
    targets = [np.flatnonzero(matrix[v]).tolist() for v in range(n)]
    for _ in range(n):
        hashes = [
            _md5(
                f"{''.join(sorted(hashes[w] for w in sources[v]))}|{''.join(sorted(hashes[w] for w in targets[v]))}|"
                f"{hashes[v]}"
            )
            for v in range(n)
        ]
    return _md5(str(sorted(hashes)))


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


# --- records


def read_training(record: bytes) -> Training:
    """Return the checked content of a record."""
    try:
        digest, epochs, bits, names, metrics = json.loads(record)
        n = math.isqrt(len(bits))
        if n > MAX_VERTICES:
            raise ValueError("too many vertices")
        fields = list(_fields(base64.b64decode(metrics, validate=True)))
        evaluations = [value for field, value in fields if field == _EVALUATIONS and isinstance(value, bytes)]
        last = dict(_fields(evaluations[-1]))
        training = Training(
            hash=str(digest),
            epochs=int(epochs),
            matrix=np.array([int(bit) for bit in bits], dtype=np.int8).reshape(n, n),
            operations=[OPERATIONS.index(name) for name in names.split(",")[1:-1]],
            parameters=int(dict(fields)[_PARAMETERS]),
            seconds=float(last[_TIME]),
            validation_accuracy=float(last[_VALIDATION]),
            test_accuracy=float(last[_TEST]),
        )
    except _DAMAGED as error:
        raise DataError(f"not a record of NAS-Bench-101: {record[:60]!r} ...") from error
    _check(training)
    return training


def _check(training: Training) -> None:
    matrix = training.matrix
    n = len(matrix)
    is_cell = (
        2 <= n <= MAX_VERTICES
        and len(training.operations) == n - 2
        and set(np.unique(matrix)) <= {0, 1}
        and not np.tril(matrix).any()
        and int(matrix.sum()) <= MAX_EDGES
        and _HASH.fullmatch(training.hash) is not None
        and 0 <= training.parameters < 2**31
    )
    if not is_cell:
        raise DataError(f"the record of {training.hash[:40]!r} is not a cell of up to 7 vertices and 9 edges.")
    for accuracy in (training.validation_accuracy, training.test_accuracy):
        if not 0 <= accuracy <= 1:
            raise DataError(f"the record of {training.hash} has an accuracy of {accuracy}; expected 0 to 1.")
    if not 0 <= training.seconds <= 1e9:
        raise DataError(f"the record of {training.hash} took {training.seconds:g} seconds; expected 0 to 1e9.")


def _fields(message: bytes) -> Iterator[tuple[int, int | float | bytes]]:
    """Yield number and value of each field of a protocol buffer."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        field, kind = tag >> 3, tag & 7
        value: int | float | bytes
        if kind == _VARINT:
            value, at = _varint(message, at)
        elif kind in (_DOUBLE, _FLOAT):
            (value,) = struct.unpack_from("<d" if kind == _DOUBLE else "<f", message, at)
            at += 8 if kind == _DOUBLE else 4
        elif kind == _BYTES:
            size, at = _varint(message, at)
            value = message[at : at + size]
            if len(value) < size:
                raise ValueError("cut off")
            at += size
        else:
            raise ValueError(f"unknown kind of field: {kind}")
        yield field, value


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """Return a number written in groups of seven bits, the lowest first, and the position after it."""
    number = shift = 0
    while shift < 7 * _LONGEST_VARINT:
        byte = message[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return number, at
    raise ValueError("a number of more than 64 bits")


# --- TFRecord files without TensorFlow


def read_records(file: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield the records of a file, each checked."""
    number = 0
    while head := file.read(12):
        number += 1
        where = f"record {number:,} of {name}"
        if len(head) < 12:
            raise DataError(f"{where} is cut off; download the file again.")
        length, checksum = struct.unpack("<QI", head)
        if checksum != masked_crc(head[:8]) or length > _LONGEST_RECORD:
            raise DataError(f"{where} is damaged, or this is not a TFRecord file; download it again.")
        body = file.read(length + 4)
        if len(body) < length + 4:
            raise DataError(f"{where} is cut off; download the file again.")
        if struct.unpack("<I", body[length:])[0] != masked_crc(body[:length]):
            raise DataError(f"{where} is damaged (its checksum differs); download the file again.")
        yield body[:length]


def _table() -> NDArray[np.int64]:
    values = np.arange(256, dtype=np.int64)
    for _ in range(8):
        values = np.where(values & 1, (values >> 1) ^ _POLYNOMIAL, values >> 1)
    return values


_TABLE = _table()


def _crc(data, table):  # type: ignore[no-untyped-def]  # compiled code
    """Return the CRC-32C (Castagnoli) of bytes."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ table[(crc ^ np.int64(byte)) & 0xFF]
    return crc ^ 0xFFFFFFFF


def masked_crc(data: bytes) -> int:
    """Return the checksum of TFRecord files: rotated and shifted, as data may contain checksums."""
    entry = compile_entry(_crc, types.int64(types.Array(types.uint8, 1, "C", readonly=True), types.int64[::1]))
    entry.compile()
    crc = int(entry.call(np.frombuffer(data, dtype=np.uint8), _TABLE))
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF
