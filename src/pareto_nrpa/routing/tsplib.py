"""TSPLIB (Reinelt 1991): symmetric and asymmetric tours, distances rounded as its description says."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InstanceError
from .matrices import checked_matrices, euclidean
from .route_plan import numbered_plan
from .table import read_text
from .tsp import mo_tsp
from .tsptw_files import MOST_CITIES

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from ..problem.base import CompiledProblem

_PI, _RADIUS = 3.141592, 6378.388  # as its description has them
_COORDINATES, _WEIGHTS = "NODE_COORD_SECTION", "EDGE_WEIGHT_SECTION"


def is_tsplib(path: Path) -> bool:
    """Tell whether a file is one of TSPLIB, by its name."""
    return path.suffix.lower() in (".tsp", ".atsp")


def read_tsplib(paths: list[Path], *, name: str | None = None) -> CompiledProblem:
    """Return the tour whose objectives are the distances of each file, city i of the one being city i of the others."""
    read = [_read(path) for path in paths]
    for path, (matrix, _) in zip(paths, read, strict=True):
        if len(matrix) != len(read[0][0]):
            raise InstanceError(
                f"{path.name} has {len(matrix)} cities, {paths[0].name} has {len(read[0][0])}; they must be the same."
            )
    names = [path.stem for path in paths]
    if len(set(names)) < len(names):
        raise InstanceError(f"two files are called {max(names, key=names.count)}; they must be different objectives.")
    problem = mo_tsp(np.stack([matrix for matrix, _ in read]), name=name or "+".join(names))
    points = read[0][1]
    n = len(read[0][0])
    if points is None:
        return replace(problem, objective_names=names)
    plan = numbered_plan(points, read[0][0], np.zeros(n), np.full(n, np.inf), np.zeros(n))
    for number, stop in enumerate(plan.stops, 1):
        stop["name"] = str(number)  # TSPLIB counts from 1
    return replace(problem, objective_names=names, plan=plan)


def _read(path: Path) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the distances of a file, and the coordinates where they lie in a plane."""
    words, sections = _parts(path)
    n = _dimension(path, words)
    kind = words.get("EDGE_WEIGHT_TYPE", "EXPLICIT")
    if kind == "EXPLICIT":
        shape = words.get("EDGE_WEIGHT_FORMAT", "FULL_MATRIX")
        matrix, points = _explicit(path, sections.get(_WEIGHTS, []), n, shape), None
    else:
        points = _points(path, sections.get(_COORDINATES, []), n)
        with np.errstate(over="ignore", invalid="ignore"):
            matrix = _rounded_distances(path, points, kind)
    np.fill_diagonal(matrix, 0.0)
    try:
        return checked_matrices(matrix, "distances")[0], points if kind != "GEO" else None
    except InstanceError as error:
        raise InstanceError(f"{path}: {error}") from error


def _parts(path: Path) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return what a file specifies, and the words of its sections."""
    words: dict[str, str] = {}
    sections: dict[str, list[str]] = {}
    here: list[str] | None = None
    for line in read_text(path).splitlines():
        text = line.strip()
        if text == "EOF":
            break
        specification = re.fullmatch(r"([A-Z_]+)\s*:\s*(.*)", text)
        if specification is not None:
            words[specification[1]], here = specification[2].strip(), None
        elif re.fullmatch(r"[A-Z_]+_SECTION\s*:?", text):
            here = sections.setdefault(text.rstrip(" :"), [])
        elif here is not None:
            here += text.split()
        elif text:
            raise InstanceError(
                f"{path} is no TSPLIB file: {text[:40]!r} is neither 'KEYWORD : value' nor in a section."
            )
    return words, sections


def _dimension(path: Path, words: dict[str, str]) -> int:
    text = words.get("DIMENSION", "")
    if not re.fullmatch(r"[0-9]{1,6}", text) or not 2 <= int(text) <= MOST_CITIES:
        raise InstanceError(f"{path}: DIMENSION must be a number from 2 to {MOST_CITIES}, got {text[:40]!r}.")
    if words.get("TYPE", "TSP").split()[:1] not in (["TSP"], ["ATSP"]):
        raise InstanceError(f"{path}: TYPE must be TSP or ATSP, got {words['TYPE'][:40]!r}.")
    return int(text)


def _numbers(path: Path, texts: list[str], expected: int, what: str) -> NDArray[np.float64]:
    if len(texts) != expected:
        raise InstanceError(f"{path} must have {expected} numbers of {what}, got {len(texts)}; is it cut off?")
    values = []
    for text in texts:
        try:
            values.append(float(text))
        except ValueError as error:
            raise InstanceError(f"{path}: {what} must be numbers, got {text[:40]!r}.") from error
        if not math.isfinite(values[-1]):
            raise InstanceError(f"{path}: {what} must be finite numbers, got {text[:40]}.")
    return np.array(values)


def _points(path: Path, texts: list[str], n: int) -> NDArray[np.float64]:
    rows = _numbers(path, texts, 3 * n, f"{_COORDINATES} (a city, x, y)").reshape(n, 3)
    if sorted(rows[:, 0]) != list(range(1, n + 1)):
        raise InstanceError(f"{path}: {_COORDINATES} must have each city from 1 to {n} once.")
    return rows[np.argsort(rows[:, 0]), 1:]


def _rounded_distances(path: Path, points: NDArray[np.float64], kind: str) -> NDArray[np.float64]:
    if kind == "EUC_2D":
        return np.floor(euclidean(points) + 0.5)
    if kind == "CEIL_2D":
        return np.ceil(euclidean(points))
    if kind == "MAN_2D":
        return np.asarray(np.floor(np.abs(points[:, None] - points[None]).sum(axis=2) + 0.5))
    if kind == "MAX_2D":
        return np.asarray(np.floor(np.abs(points[:, None] - points[None]) + 0.5).max(axis=2))
    if kind == "ATT":
        return np.ceil(euclidean(points) / math.sqrt(10))
    if kind == "GEO":
        degrees = np.trunc(points)
        lat, lon = (_PI * (degrees + 5.0 * (points - degrees) / 3.0) / 180.0).T
        q1, q2, q3 = (np.cos(a[:, None] - b) for a, b in ((lon, lon), (lat, lat), (lat, -lat)))
        cosine = np.clip(0.5 * ((1 + q1) * q2 - (1 - q1) * q3), -1, 1)
        return np.asarray(np.floor(_RADIUS * np.arccos(cosine) + 1.0))
    known = "EUC_2D, CEIL_2D, MAN_2D, MAX_2D, ATT, GEO and EXPLICIT"
    raise InstanceError(f"{path}: EDGE_WEIGHT_TYPE {kind[:40]!r} is not supported; {known} are.")


def _explicit(path: Path, texts: list[str], n: int, shape: str) -> NDArray[np.float64]:
    places = {
        "FULL_MATRIX": np.indices((n, n)).reshape(2, -1),
        "UPPER_ROW": np.array(np.triu_indices(n, 1)),
        "LOWER_ROW": np.array(np.tril_indices(n, -1)),
        "UPPER_DIAG_ROW": np.array(np.triu_indices(n)),
        "LOWER_DIAG_ROW": np.array(np.tril_indices(n)),
    }
    if shape not in places:
        raise InstanceError(f"{path}: EDGE_WEIGHT_FORMAT {shape[:40]!r} is not supported; {', '.join(places)} are.")
    rows, columns = places[shape]
    matrix = np.zeros((n, n))
    matrix[rows, columns] = _numbers(path, texts, len(rows), _WEIGHTS)
    return matrix if shape == "FULL_MATRIX" else np.maximum(matrix, matrix.T)
