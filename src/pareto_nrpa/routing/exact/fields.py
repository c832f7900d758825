"""What may stand in the file of a certificate: a reader for each field, which raises unless the value is one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

PROVED, INFEASIBLE, OPEN = "proved complete", "proved infeasible", "not finished"
_LONGEST_TEXT = 1000
_LARGEST_COUNT = 10**18
_MOST_SHOWN = 40


def shortened(value: Any) -> str:
    """Return how a value begins, however long it is."""
    if isinstance(value, dict):
        return "an object"
    text = repr(value[:_MOST_SHOWN] if isinstance(value, list | str) else value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        raise TypeError
    return value


def _status(value: Any) -> str:
    if value not in (PROVED, INFEASIBLE, OPEN):
        raise ValueError
    return _text(value)


def _number(value: Any, least: float = 0.0, most: float = math.inf) -> float:
    """Return a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    if not math.isfinite(value) or not least <= value <= most:
        raise ValueError
    return float(value)


def _count(value: Any, least: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    if not least <= value <= _LARGEST_COUNT:
        raise ValueError
    return value


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _vector(value: Any) -> list[float]:
    """Return the numbers of one or two objectives; a bound may be a little below 0."""
    numbers = [_number(item, -math.inf) for item in _items(value)]
    if len(numbers) not in (1, 2):
        raise ValueError
    return numbers


def _vectors(value: Any) -> NDArray[np.float64]:
    return np.array([_vector(item) for item in _items(value)], dtype=float)


def _front(value: Any) -> NDArray[np.float64]:
    """Return vectors of which the first objective grows and the second one falls; of one objective, one."""
    vectors = _vectors(value)
    steps = np.diff(vectors, axis=0) if len(vectors) else vectors
    if (vectors < 0).any() or (len(steps) and not (vectors.shape[1] == 2 and (steps * [1, -1] > 0).all())):
        raise ValueError
    return vectors


def _tours(value: Any) -> list[list[int]]:
    """Return tours, all of the same cities, each of which is visited once."""
    tours = [[_count(city, 1) for city in _items(tour)] for tour in _items(value)]
    if any(not tour or sorted(tour) != list(range(1, len(tours[0]) + 1)) for tour in tours):
        raise ValueError
    return tours


def _boxes(value: Any) -> NDArray[np.float64]:
    """Return boxes [b, 2, m]; null stands for infinity."""
    corners = [
        [[infinity if x is None else _number(x, -math.inf) for x in _items(box[end])] for end, infinity in _ENDS]
        for box in _items(value)
    ]
    boxes = np.array(corners, dtype=float)
    if len(boxes) and not (boxes.shape[2] in (1, 2) and (boxes[:, 0] <= boxes[:, 1]).all()):
        raise ValueError
    return boxes


_ENDS = (("from", -math.inf), ("to", math.inf))


def _versions(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise TypeError
    return {_text(name): _text(number) for name, number in value.items()}


READERS: dict[str, Callable[[Any], Any]] = {
    "instance": _text,
    "fingerprint": _text,
    "status": _status,
    "stopped_by": _text,
    "objectives": _front,
    "solutions": _tours,
    "open_boxes": _boxes,
    "lower_bounds": _vectors,
    "gap": lambda value: _number(value, most=1.0),
    "labels": _count,
    "cpu_seconds": _number,
    "wall_seconds": _number,
    "stage": lambda value: _count(value, 1),
    "versions": _versions,
}


def of_one_width(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values with all vectors for the same number of objectives, and one for each tour."""
    vectors = {name: values[name] for name in ("objectives", "lower_bounds", "open_boxes")}
    widths = {array.shape[-1] for array in vectors.values() if len(array)} or {2}
    n, m = len(values["solutions"]), widths.pop()
    if widths or len(values["objectives"]) != n:
        raise ValueError
    shapes = {"objectives": (n, m), "lower_bounds": (-1, m), "open_boxes": (-1, 2, m)}
    return {**values, **{name: array.reshape(shapes[name]) for name, array in vectors.items()}}
