"""JSON and TOML files as typed values: one reader, one writer.

The type of a value (a `msgspec.Struct`, a dataclass, a list of them) is the schema of its file. A value that does not
fit is refused with the name of its field.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from ..errors import ParetoNRPAError
from .checks import did_you_mean, printable, shown
from .files import read_bytes, write_atomically

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

T = TypeVar("T")

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PLACE = re.compile(r"^(.*) - at `\$\.?(.*)`$", re.DOTALL)
_FIELD = re.compile(r"^Object (missing required|contains unknown) field `(.*)`$", re.DOTALL)


def read(
    path: str | os.PathLike[str],
    kind: type[T],
    *,
    what: str,
    error: type[Exception] = ParetoNRPAError,
    most_bytes: int = 100_000_000,
) -> T:
    """Return the value in a file of JSON, or of TOML if its name ends in .toml.

    Parameters
    ----------
    kind
        The type of the value.
    what
        The expected kind of file for messages, as in "a result of pareto-nrpa".
    error
        Raised if the file cannot be read, is longer than `most_bytes`, or has another content.
    """
    data = read_bytes(path, error=error, most_bytes=most_bytes)
    decoder = msgspec.toml.decode if Path(path).suffix.lower() == ".toml" else msgspec.json.decode
    return _decoded(data, kind, decoder, source=str(path), what=what, error=error)


def decode(data: bytes, kind: type[T], *, source: str, what: str, error: type[Exception] = ParetoNRPAError) -> T:
    """Return the value in JSON that was read from `source`; see `read`."""
    return _decoded(data, kind, msgspec.json.decode, source=source, what=what, error=error)


def write(path: str | os.PathLike[str], value: Any) -> Path:
    """Write a value as JSON atomically, and return the path."""
    return write_atomically(path, lambda file: file.write(encode(value) + b"\n"))


def encode(value: Any) -> bytes:
    """Return a value as JSON. Arrays of NumPy become lists; NaN and infinity become null."""
    return msgspec.json.encode(value, enc_hook=_as_builtin)


def _as_builtin(value: Any) -> Any:
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return value.tolist()
    raise TypeError(f"cannot write {shown(value)} as JSON.")


def _decoded(
    data: bytes, kind: type[T], decoder: Callable[..., Any], *, source: str, what: str, error: type[Exception]
) -> T:
    data = data.removeprefix(_BYTE_ORDER_MARK)
    try:
        value: T = decoder(data, type=kind)
    except RecursionError as reason:
        raise error(f"{source} is not {what}, or is damaged: it is nested too deeply.") from reason
    except ValueError as reason:  # includes DecodeError and UnicodeDecodeError
        raise error(f"{source} is not {what}, or is damaged: {_in_words(reason, data, decoder, kind)}.") from reason
    return value


def _in_words(reason: ValueError, data: bytes, decoder: Callable[..., Any], kind: Any) -> str:
    """Return a message of msgspec as a sentence that begins with the field and ends with its value."""
    if isinstance(reason, UnicodeDecodeError):
        return "it is not UTF-8 text"
    if not isinstance(reason, msgspec.ValidationError):
        return "it is cut off" if "truncated" in str(reason) else str(reason).rstrip(".")
    found = _PLACE.match(str(reason))
    text, place = (found[1], found[2]) if found else (str(reason), "")
    field = _FIELD.match(text)
    if field is not None:
        name = printable(f"{field[2]} of {place}" if place else field[2])[:100]
        if field[1].startswith("missing"):
            return f"{name} is missing"
        known = () if place else getattr(kind, "__struct_encode_fields__", ())
        return f"{name} is not a known field{did_you_mean(field[2], known)}"
    text = "unknown value" if text.startswith("Invalid") else f"{text[:1].lower()}{text[1:]}".replace("`", "")
    if place and " got " not in text and (value := _value_at(place, data, decoder)):
        text = f"{text}, got {value}"
    return f"{place}: {text}" if place else text


def _value_at(place: str, data: bytes, decoder: Callable[..., Any]) -> str:
    """Return the value at a place such as a.b[0] as text, or nothing if it cannot be found."""
    try:
        value = decoder(data)
        for key, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", place):
            value = value[key] if key else value[int(index)]
    except (ValueError, RecursionError, LookupError, TypeError):
        return ""
    return shown(value)
