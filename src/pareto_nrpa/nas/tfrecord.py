"""TFRecord files without TensorFlow: length, checksum, bytes, checksum; all little-endian, checksums masked CRC-32C."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numba import types

from ..engine.jit.kernels import compile_entry
from ..errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

_POLYNOMIAL = 0x82F63B78
_MASK_DELTA = 0xA282EAD8
_LONGEST = 1 << 24  # a record of the benchmark has some hundred bytes


def _table() -> np.ndarray:
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
    """Return the checksum that TFRecord files have: rotated and shifted, as data may hold checksums themselves."""
    entry = compile_entry(_crc, types.int64(types.Array(types.uint8, 1, "C", readonly=True), types.int64[::1]))
    entry.compile()
    crc = int(entry.call(np.frombuffer(data, dtype=np.uint8), _TABLE))
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


def write_record(file: BinaryIO, data: bytes) -> None:
    """Append a record to a file."""
    length = struct.pack("<Q", len(data))
    file.write(length + struct.pack("<I", masked_crc(length)) + data + struct.pack("<I", masked_crc(data)))


def read_records(file: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield the records of a file, each checked."""
    number = 0
    while head := file.read(12):
        number += 1
        where = f"record {number:,} of {name}"
        if len(head) < 12:
            raise DataError(f"{where} is cut off; download the file again.")
        length, checksum = struct.unpack("<QI", head)
        if checksum != masked_crc(head[:8]) or length > _LONGEST:
            raise DataError(f"{where} is damaged, or this is not a TFRecord file; download it again.")
        body = file.read(length + 4)
        if len(body) < length + 4:
            raise DataError(f"{where} is cut off; download the file again.")
        if struct.unpack("<I", body[length:])[0] != masked_crc(body[:length]):
            raise DataError(f"{where} is damaged (its checksum differs); download the file again.")
        yield body[:length]
