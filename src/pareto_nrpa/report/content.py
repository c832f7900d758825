"""The data of the page as plain values: solutions, stops, settings, quality."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ParetoNRPAError
from ..metrics import MANY_OBJECTIVES, is_nondominated, quick_hypervolume, worst_point
from ..result.choose import ends, knee_index
from ..result.result import beside_the_truth, plain
from ..routing.itinerary import has_routes, itineraries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..result.result import Result
    from ..routing.itinerary import Itinerary

# Above the number that a reader examines, and fast to draw in a browser.
_MOST_SOLUTIONS = 1000
_MOST_STEPS = 300
_DIGITS = 4  # of times, after the point
_UNKNOWN = (
    "How far this front is from the best possible one is not known. For tours with time windows "
    '"pareto-nrpa certify" can prove it, and "solve --reference-front" measures a result against the proof.'
)


def content_of(results: Sequence[Result], names: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the data of the page for results with the same objectives."""
    if not results:
        raise ParetoNRPAError("a report needs at least one result, got none.")
    first = results[0]
    for other in results[1:]:
        if (other.columns(), other.maximise) != (first.columns(), first.maximise):
            raise ParetoNRPAError(
                f"only results with the same objectives can be compared: {first.instance} has "
                f"{', '.join(first.columns())}, {other.instance} has {', '.join(other.columns())}."
            )
    labels = _labels(results, names)
    shown = [_thinned(result) for result in results]
    routes = [itineraries(result) if has_routes(result) else [] for result in results]
    dominated = _dominated(results)
    return {
        "title": " and ".join(dict.fromkeys(result.instance for result in results)),
        "objectives": [
            {"name": name, "maximise": more} for name, more in zip(first.columns(), first.maximise, strict=True)
        ],
        "results": [
            {**_result(result, label), "plan": _plan(driven), **compared}
            for result, driven, label, compared in zip(
                results, routes, labels, _compared(results, dominated), strict=True
            )
        ],
        "solutions": [
            _solution(result, r, i, bool(dominated[r][i]), routes[r][i] if routes[r] else None)
            for r, (result, rows) in enumerate(zip(results, shown, strict=True))
            for i in rows
        ],
    }


def _labels(results: Sequence[Result], names: Sequence[str] | None) -> list[str]:
    """Return a distinct name for each result."""
    labels = list(names or [f"{result.algorithm}, seed {result.seed}" for result in results])
    return labels if len(set(labels)) == len(labels) else [f"{i + 1}: {label}" for i, label in enumerate(labels)]


def _thinned(result: Result) -> list[int]:
    """Return the rows to show: all, or evenly spaced ones with the ends and the knee."""
    n = len(result.front)
    if n <= _MOST_SOLUTIONS:
        return list(range(n))
    even = np.linspace(0, n - 1, _MOST_SOLUTIONS).round().astype(int).tolist()
    return sorted({*even, *ends(result), knee_index(result)})


def _solution(result: Result, r: int, i: int, is_dominated: bool, itinerary: Itinerary | None) -> dict[str, Any]:
    front = result.front
    entry: dict[str, Any] = {
        "result": r,
        "number": i + 1,
        "values": front.objectives[i].tolist(),
        "violations": float(front.violations[i]),
    }
    if is_dominated:
        entry["dominated"] = True
    if itinerary is not None:
        entry["routes"] = [[_row(row) for row in itinerary.rows(route)] for route in itinerary.routes]
    else:
        entry["moves"] = [str(plain(move)) for move in front.solutions[i]]
    if result.descriptions and (itinerary is None or result.descriptions[i] != itinerary.words()):
        entry["words"] = result.descriptions[i]
    return entry


def _row(row: dict[str, Any]) -> list[Any]:
    """Return a row of a route as stop, times and load if there is one; the rest is in the stop."""
    times = [round(row[name], _DIGITS) for name in ("arrival", "waiting", "lateness", "departure")]
    return [row["stop"], *times, *([row["load"]] if row["load"] is not None else [])]


def _plan(itineraries: list[Itinerary]) -> dict[str, Any]:
    """Return the stops of a result of routes."""
    if not itineraries:
        return {}
    stops = itineraries[0].stops
    return {"stops": stops, "clock": itineraries[0].clock, "geographic": "lat" in stops[0]}


def _result(result: Result, label: str) -> dict[str, Any]:
    return {
        "label": label,
        "headline": result.headline(),
        "total": len(result.front),
        "history": _steps(result.history),
        "reference": result.reference_point,
        "truth": beside_the_truth(result.truth) if result.truth else _UNKNOWN,
        "made": _made(result),
        "command": result.command,
    }


def _steps(history: NDArray[np.float64]) -> list[list[float]]:
    if len(history) > _MOST_STEPS:
        history = history[np.unique(np.linspace(0, len(history) - 1, _MOST_STEPS).round().astype(int))]
    steps: list[list[float]] = history.tolist()
    return steps


def _made(result: Result) -> list[list[str]]:
    """Return the settings of a result as pairs of name and value."""
    settings = ", ".join(f"{name} {plain(value)}" for name, value in result.parameters.items() if value is not None)
    return [
        ["Instance", result.instance],
        ["Algorithm", result.algorithm],
        ["Settings", settings or "none"],
        ["Seed", str(result.seed)],
        ["Evaluations", f"{result.evaluations:,}, stopped by {result.stopped_by}"],
        ["Time", f"{result.wall_seconds:.2f} s, {result.cpu_seconds:.2f} s of it on the processor"],
        ["Versions", ", ".join(f"{name} {number}" for name, number in result.versions.items())],
    ]


def _minimised(result: Result) -> NDArray[np.float64]:
    return np.column_stack([result.front.violations, result.front.objectives * np.where(result.maximise, -1.0, 1.0)])


def _dominated(results: Sequence[Result]) -> list[NDArray[np.bool_]]:
    """Return for each solution whether one of another result is better: fewer violations come first."""
    if len(results) == 1:
        return [np.zeros(len(results[0].front), dtype=bool)]
    rows = [_minimised(result) for result in results]
    everything = np.concatenate(rows)
    if not len(everything):
        return [np.zeros(0, dtype=bool) for _ in rows]
    least = everything[:, 0] == everything[:, 0].min()
    is_best = np.zeros(len(everything), dtype=bool)
    is_best[least] = is_nondominated(everything[least, 1:])
    return np.split(~is_best, np.cumsum([len(part) for part in rows])[:-1])


def _compared(results: Sequence[Result], dominated: list[NDArray[np.bool_]]) -> list[dict[str, Any]]:
    """Return a comparison of several results: non-dominated solutions, and hypervolumes up to a common point."""
    if len(results) == 1:
        return [{}]
    feasible = [_minimised(result)[:, 1:] if result.front.is_feasible else None for result in results]
    points = [front for front in feasible if front is not None]
    volumes: list[float | None] = [None] * len(results)
    if points and points[0].shape[1] < MANY_OBJECTIVES:
        reference = worst_point(np.concatenate(points))
        volumes = [0.0 if front is None else quick_hypervolume(front, reference_point=reference) for front in feasible]
    most = max((volume for volume in volumes if volume is not None), default=0.0)
    return [
        {"best": int((~out).sum()), "share": None if volume is None or not most else volume / most}
        for out, volume in zip(dominated, volumes, strict=True)
    ]
