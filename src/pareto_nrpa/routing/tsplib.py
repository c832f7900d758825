"""TSPLIB (Reinelt 1991) and VRPLIB: `KEYWORD : value` and sections; tours, or vehicles with capacities and windows."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InstanceError
from .costs import DISTANCE, rounded_lengths
from .instance import Instance, VehicleType
from .matrices import euclidean
from .solomon import MOST_CITIES
from .stops import MOST_STOPS, check_stops, numbered_stops

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_TOURS, _ROUTES = ("TSP", "ATSP"), ("CVRP", "ACVRP", "VRPTW", "CVRPTW")
_OF_ROUTES = {"CAPACITY", "VEHICLES", "TRUCKS", "SERVICE_TIME", "DEMAND_SECTION", "TIME_WINDOW_SECTION"}
_OF_ROUTES |= {"SERVICE_TIME_SECTION", "DEPOT_SECTION"}
_OF_BOTH = {"NAME", "COMMENT", "TYPE", "DIMENSION", "EDGE_WEIGHT_TYPE", "EDGE_WEIGHT_FORMAT", "NODE_COORD_TYPE"}
_OF_BOTH |= {"DISPLAY_DATA_TYPE", "DISPLAY_DATA_SECTION", "NODE_COORD_SECTION", "EDGE_WEIGHT_SECTION"}
_PI, _RADIUS = 3.141592, 6378.388  # as in the description of TSPLIB


def parse_tsplib(text: str, source: str, rounding: str) -> Instance:
    """Return the instance of a file: a tour with one cost named after the file, or routes with their distances."""
    file = _File.of(text, source)
    kind = (file.words.get("TYPE") or "").split()[:1]
    is_tour = kind[0] in _TOURS if kind else not _OF_ROUTES & file.all_names
    if kind and kind[0] not in (*_TOURS, *_ROUTES):
        raise file.wrong(f"TYPE must be one of {', '.join((*_TOURS, *_ROUTES))}, got {kind[0][:40]!r}")
    n = file.dimension(MOST_CITIES if is_tour else MOST_STOPS)
    lengths, columns, is_metric = _distances(file, n, rounding)
    places = [f"number {i + 1}" for i in range(n)]
    stem = Path(source).stem
    if is_tour:
        names = [str(i + 1) for i in range(n)]
        stops = numbered_stops(source, columns | {"demand": np.zeros(n)}, places, names=names)
        return Instance(stem, stops, costs={stem: lengths}, kind="tours")
    columns |= _columns_of_routes(file, n)
    stops = numbered_stops(source, columns, places, prefix="stop ")
    check_stops(stops)
    return Instance(
        (file.words.get("NAME") or stem)[:80],
        stops,
        costs={DISTANCE: lengths},
        is_metric=is_metric,
        vehicles=(_vehicles(file, n),),
    )


def joined(instances: list[Instance]) -> Instance:
    """Return the instance of several tours through the same cities, an objective each, or that of a single file.

    City i of one file is city i of the others.
    """
    first, *others = instances
    for other in others:
        if {first.kind, other.kind} != {"tours"}:
            raise InstanceError(
                f"several files at once must all be TSPLIB files, an objective each; {other.stops.source} cannot be "
                f"added to {first.stops.source} (matrices of costs are given with --cost)."
            )
        if len(other.stops) != len(first.stops):
            raise InstanceError(
                f"{other.stops.source} has {len(other.stops)} cities, {first.stops.source} has {len(first.stops)}; "
                "they must be the same."
            )
    names = [instance.name for instance in instances]
    if len(set(names)) < len(names):
        raise InstanceError(f"two files are named {max(names, key=names.count)}; they must be different objectives.")
    costs = {name: cost for instance in instances for name, cost in instance.costs.items()}
    return replace(first, name="+".join(names), costs=costs) if others else first


@dataclass
class _File:
    """The specification of a file, and the words of its sections."""

    source: str
    words: dict[str, str]
    sections: dict[str, list[str]]

    @classmethod
    def of(cls, text: str, source: str) -> _File:
        file, here = cls(source, {}, {}), None
        for line in map(str.strip, text.splitlines()):
            if line == "EOF":
                break
            specification = re.fullmatch(r"([A-Z_]+)\s*:\s*(.*)", line)
            if re.fullmatch(r"[A-Z_]+_SECTION\s*:?", line):
                here = file.sections.setdefault(line.rstrip(" :"), [])
            elif specification is not None:
                file.words[specification[1]], here = specification[2].strip(), None
            elif here is not None:
                here += line.split()
            elif line:
                raise file.wrong(f"{line[:40]!r} is neither 'KEYWORD : value' nor in a section of TSPLIB or VRPLIB")
        return file

    @property
    def all_names(self) -> set[str]:
        return self.words.keys() | self.sections.keys()

    def wrong(self, reason: str) -> InstanceError:
        return InstanceError(f"{self.source}: {reason}.")

    def dimension(self, most: int) -> int:
        text = self.words.get("DIMENSION", "")
        if not re.fullmatch(r"[0-9]{1,6}", text) or not 2 <= int(text) <= most:
            raise self.wrong(f"DIMENSION must be a number from 2 to {most}, got {text[:40]!r}")
        return int(text)

    def numbers(self, texts: list[str], expected: int, what: str) -> NDArray[np.float64]:
        if len(texts) != expected:
            raise self.wrong(f"{what} must have {expected} numbers, got {len(texts)}; is it cut off?")
        try:
            values = np.array(list(map(float, texts)))
        except ValueError as error:
            bad = str(error).rpartition(": ")[2][:40]
            raise self.wrong(f"{what} must be numbers, got {bad}") from error
        if not np.isfinite(values).all():
            raise self.wrong(f"{what} must be finite numbers, got {texts[int(np.argmin(np.isfinite(values)))][:40]}")
        return values

    def by_city(self, section: str, n: int, width: int = 1) -> NDArray[np.float64]:
        """Return the values [n, width] of a section whose rows begin with the number of a city."""
        rows = self.numbers(self.sections.get(section, []), (1 + width) * n, section).reshape(n, 1 + width)
        if sorted(rows[:, 0]) != list(range(1, n + 1)):
            raise self.wrong(f"{section} must have each city from 1 to {n} once")
        if section != "NODE_COORD_SECTION" and (rows[:, 1:] < 0).any():
            raise self.wrong(f"{section} must have numbers of at least 0, got {rows[:, 1:].min():g}")
        return rows[np.argsort(rows[:, 0]), 1:]


def _columns_of_routes(file: _File, n: int) -> dict[str, NDArray[np.float64]]:
    """Return demand, windows and service of each stop, if the file has them."""
    unknown = sorted(file.all_names - _OF_ROUTES - _OF_BOTH)
    if unknown:
        name = unknown[0].removesuffix("_SECTION")[:40]
        raise file.wrong(f"{name} is not supported; vehicles with capacities and windows are")
    if file.sections.get("DEPOT_SECTION", ["1"]) not in (["1"], ["1", "-1"]):
        raise file.wrong("DEPOT_SECTION must have one depot, number 1")
    columns = {}
    if "DEMAND_SECTION" in file.sections:
        columns["demand"] = file.by_city("DEMAND_SECTION", n)[:, 0]
    if "TIME_WINDOW_SECTION" in file.sections:
        columns["opens"], columns["closes"] = file.by_city("TIME_WINDOW_SECTION", n, 2).T
    if "SERVICE_TIME_SECTION" in file.sections:
        columns["service"] = file.by_city("SERVICE_TIME_SECTION", n)[:, 0]
    elif "SERVICE_TIME" in file.words:  # the same at every stop
        columns["service"] = file.numbers([file.words["SERVICE_TIME"]], 1, "SERVICE_TIME") * (np.arange(n) > 0)
    return columns


def _vehicles(file: _File, n: int) -> VehicleType:
    """Return the vehicles of a file, by default as many as stops."""
    count = file.words.get("VEHICLES", file.words.get("TRUCKS", str(n - 1)))
    if not re.fullmatch(r"[0-9]{1,9}", count) or int(count) < 1:
        raise file.wrong(f"VEHICLES must be a whole number of at least 1, got {count[:40]!r}")
    capacity = file.words.get("CAPACITY")
    if capacity is None:
        return VehicleType(int(count))
    (value,) = file.numbers([capacity], 1, "CAPACITY")
    if value <= 0:
        raise file.wrong(f"CAPACITY must be a number above 0, got {capacity[:40]}")
    return VehicleType(int(count), float(value))


def _distances(file: _File, n: int, rounding: str) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]], bool]:
    """Return distances, the columns x and y for cities in a plane, and whether the triangle inequality holds."""
    kind = file.words.get("EDGE_WEIGHT_TYPE", "EXPLICIT" if "EDGE_WEIGHT_SECTION" in file.sections else "EUC_2D")
    if kind == "EXPLICIT":
        return _explicit(file, n), {}, False
    if kind not in _KINDS:
        known = f"{', '.join(_KINDS)} and EXPLICIT"
        raise file.wrong(f"EDGE_WEIGHT_TYPE {kind[:40]!r} is not supported; {known} are")
    points = file.by_city("NODE_COORD_SECTION", n, 2)
    measure, round_off = _KINDS[kind]
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = measure(points)
        lengths = round_off(lengths) if rounding == "file" else rounded_lengths(lengths, rounding)
    np.fill_diagonal(lengths, 0.0)
    columns = {} if kind == "GEO" else {"x": points[:, 0], "y": points[:, 1]}
    return lengths, columns, rounding == "none"


def _nearest(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.floor(lengths + 0.5)


def _on_axes(points: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.abs(points[:, None] - points[None]))


def _on_the_globe(points: NDArray[np.float64]) -> NDArray[np.float64]:
    degrees = np.trunc(points)
    lat, lon = (_PI * (degrees + 5.0 * (points - degrees) / 3.0) / 180.0).T
    q1, q2, q3 = (np.cos(a[:, None] - b) for a, b in ((lon, lon), (lat, lat), (lat, -lat)))
    cosine = np.clip(0.5 * ((1 + q1) * q2 - (1 - q1) * q3), -1, 1)
    return np.asarray(_RADIUS * np.arccos(cosine))


_Measure = tuple["Callable[[NDArray[np.float64]], NDArray[np.float64]]", "Callable[..., NDArray[np.float64]]"]
#: Distance and rounding of each type.
_KINDS: dict[str, _Measure] = {
    "EUC_2D": (euclidean, _nearest),
    "CEIL_2D": (euclidean, np.ceil),
    "FLOOR_2D": (euclidean, np.floor),
    "EXACT_2D": (euclidean, np.copy),
    "MAN_2D": (lambda points: _on_axes(points).sum(axis=2), _nearest),
    "MAX_2D": (lambda points: _on_axes(points).max(axis=2), _nearest),
    "ATT": (lambda points: euclidean(points) / math.sqrt(10), np.ceil),
    "GEO": (_on_the_globe, lambda lengths: np.floor(lengths + 1.0)),
}


def _explicit(file: _File, n: int) -> NDArray[np.float64]:
    places = {
        "FULL_MATRIX": np.indices((n, n)).reshape(2, -1),
        "UPPER_ROW": np.array(np.triu_indices(n, 1)),
        "LOWER_ROW": np.array(np.tril_indices(n, -1)),
        "UPPER_DIAG_ROW": np.array(np.triu_indices(n)),
        "LOWER_DIAG_ROW": np.array(np.tril_indices(n)),
    }
    shape = file.words.get("EDGE_WEIGHT_FORMAT", "FULL_MATRIX")
    if shape not in places:
        raise file.wrong(f"EDGE_WEIGHT_FORMAT {shape[:40]!r} is not supported; {', '.join(places)} are")
    rows, columns = places[shape]
    matrix = np.zeros((n, n))
    matrix[rows, columns] = file.numbers(file.sections.get("EDGE_WEIGHT_SECTION", []), len(rows), "EDGE_WEIGHT_SECTION")
    np.fill_diagonal(matrix, 0.0)
    return matrix if shape == "FULL_MATRIX" else np.maximum(matrix, matrix.T)
