"""What a record of the official NAS-Bench-101 file says: JSON, and in it a protocol buffer in base 64.

[hash, epochs, "0110...", "input,conv3x3-bn-relu,...,output", base64(ModelMetrics)]

message ModelMetrics { repeated EvaluationData evaluation_data = 1; int32 trainable_parameters = 2; ... }
message EvaluationData { double current_epoch = 1, training_time = 2, train_accuracy = 3,
                         validation_accuracy = 4, test_accuracy = 5; ... }
"""

from __future__ import annotations

import base64
import json
import math
import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import DataError
from .cells101 import MAX_EDGES, MAX_VERTICES, OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_VARINT, _DOUBLE, _BYTES, _FLOAT = 0, 1, 2, 5
_EVALUATIONS, _PARAMETERS = 1, 2
_TIME, _VALIDATION, _TEST = 2, 4, 5
_LONGEST_VARINT = 10  # bytes: 64 bits
_MOST_PARAMETERS = 2**31 - 1
_MOST_SECONDS = 1e9
_HASH = re.compile("[0-9a-f]{32}")
# Whatever a record that is none may lead to.
_DAMAGED = (
    *(ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError, RecursionError),
    struct.error,
)


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


def read_training(record: bytes) -> Training:
    """Return what a record says, checking all of it."""
    try:
        digest, epochs, bits, names, metrics = json.loads(record)
        n = math.isqrt(len(bits))
        if n > MAX_VERTICES:
            raise ValueError("too many vertices")
        matrix = np.array([int(bit) for bit in bits], dtype=np.int8).reshape(n, n)
        operations = [OPERATIONS.index(name) for name in names.split(",")[1:-1]]
        fields = list(_fields(base64.b64decode(metrics, validate=True)))
        last = [dict(_fields(value)) for field, value in fields if field == _EVALUATIONS and isinstance(value, bytes)][
            -1
        ]
        training = Training(
            hash=str(digest),
            epochs=int(epochs),
            matrix=matrix,
            operations=operations,
            parameters=_whole(dict(fields)[_PARAMETERS]),
            seconds=_number(last[_TIME]),
            validation_accuracy=_number(last[_VALIDATION]),
            test_accuracy=_number(last[_TEST]),
        )
    except _DAMAGED as error:
        raise DataError(f"not a record of NAS-Bench-101: {record[:60]!r} ...") from error
    _check(training)
    return training


def _check(training: Training) -> None:
    matrix = training.matrix
    n, edges = len(matrix), int(matrix.sum())
    is_cell = (
        2 <= n <= MAX_VERTICES
        and len(training.operations) == n - 2
        and set(np.unique(matrix)) <= {0, 1}
        and not np.tril(matrix).any()
        and edges <= MAX_EDGES
        and _HASH.fullmatch(training.hash) is not None
        and 0 <= training.parameters <= _MOST_PARAMETERS
    )
    if not is_cell:
        raise DataError(f"the record of {training.hash[:40]!r} is no cell of up to 7 vertices and 9 edges.")
    for accuracy in (training.validation_accuracy, training.test_accuracy):
        if not 0 <= accuracy <= 1:
            raise DataError(f"the record of {training.hash} has an accuracy of {accuracy}; expected 0 to 1.")
    if not 0 <= training.seconds <= _MOST_SECONDS:
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
    """Return a number written in groups of seven bits, the lowest first, and where it ends."""
    number = shift = 0
    while shift < 7 * _LONGEST_VARINT:
        byte = message[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return number, at
    raise ValueError("a number of more than 64 bits")


def _number(value: int | float | bytes) -> float:
    if not isinstance(value, float) or not math.isfinite(value):
        raise ValueError("not a number")
    return value


def _whole(value: int | float | bytes) -> int:
    if not isinstance(value, int):
        raise ValueError("not a whole number")
    return value
