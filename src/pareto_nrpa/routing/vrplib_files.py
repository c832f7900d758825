"""Solomon's files and VRPLIB, read by the package `vrplib`."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.checks import is_number
from ..errors import InstanceError
from .instance import DISTANCE, Instance
from .matrices import checked_matrices
from .stops import MOST_STOPS, Stops, check_stops
from .table import read_text

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_SOLOMON_HEAD = 6  # lines, without empty ones
_READ = {"name", "comment", "type", "dimension", "edge_weight_type", "edge_weight_format", "edge_weight", "node_coord"}
_READ |= {"capacity", "vehicles", "demand", "time_window", "service_time", "depot", "node_coord_type"}
_READ |= {"display_data_type", "trucks"}


def looks_like_solomon(head: str) -> bool:
    """Tell by the heading over the vehicles."""
    return re.search(r"^\s*VEHICLE\s*$", head, re.MULTILINE) is not None


def looks_like_vrplib(head: str) -> bool:
    """Tell by what it specifies."""
    return re.search(r"^\s*DIMENSION\s*:", head, re.MULTILINE) is not None


def read_solomon(path: Path) -> Instance:
    """Return what a file of Solomon says; distances are not rounded."""
    lines = [line for line in read_text(path).splitlines() if line.strip()]
    for line in lines[_SOLOMON_HEAD:]:  # of anything else vrplib would make -1
        if not re.fullmatch(r"(\s*-?[0-9]{1,12}){7}\s*", line):
            raise InstanceError(f"{path}: expected seven whole numbers for each customer, got {line.strip()[:60]!r}.")
    content = _parsed(path, "solomon")
    return _instance(path, content, path.stem)


def read_vrplib(path: Path) -> Instance:
    """Return what a VRPLIB file says; EUC_2D is rounded to whole numbers, as TSPLIB says."""
    content = _parsed(path, "vrplib")
    others = sorted(content.keys() - _READ)
    if others:
        raise InstanceError(
            f"{path}: {others[0].upper()[:40]} is not supported; vehicles with capacities and windows are."
        )
    if content.get("edge_weight_type") == "EUC_2D":
        content["edge_weight"] = np.floor(np.asarray(content["edge_weight"]) + 0.5)
    if list(np.ravel(content.get("depot", [0]))) != [0]:
        raise InstanceError(f"{path}: DEPOT_SECTION must have one depot, number 1.")
    return _instance(path, content, str(content.get("name") or path.stem)[:80])


def _parsed(path: Path, instance_format: str) -> dict[str, Any]:
    try:
        import vrplib
    except ImportError as error:
        raise InstanceError(
            f'{path.name} is read by the package vrplib; install it with: pip install "pareto-nrpa[routing]".'
        ) from error
    read_text(path)  # which says so if it is no text, or none that fits into memory
    try:
        with np.errstate(all="ignore"):
            return dict(vrplib.read_instance(path, instance_format=instance_format))
    except Exception as error:  # it has no errors of its own
        reason = " ".join(str(error).split())[:100]
        raise InstanceError(f"{path} is not a {instance_format} file, or is damaged: {reason}.") from error


def _instance(path: Path, content: dict[str, Any], name: str) -> Instance:
    matrix = np.asarray(content.get("edge_weight"))
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "iuf":
        raise InstanceError(f"{path}: the distances must be a square matrix of numbers; is it cut off?")
    n, announced = len(matrix), content.get("dimension", len(matrix))
    if not 2 <= n <= MOST_STOPS or not isinstance(announced, int | float) or announced != n:
        raise InstanceError(f"{path} must have 2 to {MOST_STOPS:,} stops, as many as DIMENSION says, got {n}.")
    windows = _numbers(path, content, "time_window", (n, 2), np.tile([0.0, math.inf], (n, 1)))
    service = _numbers(path, content, "service_time", (n,), np.zeros(n))
    demand = _numbers(path, content, "demand", (n,), np.zeros(n))
    rows: list[dict[str, Any]] = [
        {"name": f"stop {i}" if i else "depot", "opens": o, "closes": c, "service": s, "demand": d}
        for i, (o, c, s, d) in enumerate(np.column_stack([windows, service, demand]).tolist())
    ]
    if "node_coord" in content:
        for row, (x, y) in zip(rows, _numbers(path, content, "node_coord", (n, 2), np.zeros((n, 2))), strict=True):
            row |= {"x": float(x), "y": float(y)}
    stops = Stops(
        path.name, rows, [f"number {i + (0 if 'dimension' not in content else 1)}" for i in range(n)], list(range(n))
    )
    check_stops(stops)
    lengths = matrix.astype(float)
    np.fill_diagonal(lengths, 0.0)
    try:
        lengths = checked_matrices(lengths, "distances")[0]
    except InstanceError as error:
        raise InstanceError(f"{path}: {error}") from error
    vehicles = content.get("vehicles", content.get("trucks"))
    return Instance(
        stops,
        name,
        travel=lengths,
        costs={DISTANCE: lengths},
        vehicles=_count(path, n - 1 if vehicles is None else vehicles),
        capacity=_capacity(path, content.get("capacity")),
    )


def _numbers(
    path: Path, content: dict[str, Any], name: str, shape: tuple[int, ...], default: NDArray[np.float64]
) -> NDArray[np.float64]:
    if name not in content:
        return default
    try:
        values = np.asarray(content[name], dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InstanceError(f"{path}: {name.upper()} must be numbers.") from error
    if values.shape != shape or not np.isfinite(values).all() or (name != "node_coord" and (values < 0).any()):
        raise InstanceError(f"{path}: {name.upper()} must be finite numbers of at least 0 for {shape[0]} stops.")
    return values


def _count(path: Path, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InstanceError(f"{path}: VEHICLES must be a whole number of at least 1, got {str(value)[:40]}.")
    return int(value)


def _capacity(path: Path, value: Any) -> float | None:
    if value is None:
        return None
    if not is_number(value) or value <= 0:
        raise InstanceError(f"{path}: CAPACITY must be a number above 0, got {str(value)[:40]}.")
    return float(value)
