"""Problems from stops and costs: one vehicle or several, objectives by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from .._util.checks import check_choice, check_whole, did_you_mean, is_number, shown
from ..errors import InstanceError
from . import costs as matrices
from .costs import DISTANCE, TIME
from .itinerary import with_timetable
from .proved_fronts import with_proved_front
from .stops import WINDOW_ENDS, Stops, close_by_end_of_service
from .tsp import mo_tsp
from .tsptw import TOLERANCE, mo_tsptw
from .vehicles import MEASURES, vrptw

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..problem.base import CompiledProblem
    from .costs import MatrixSource


@dataclass(frozen=True)
class RoutingOptions:
    """Options for an instance beside its file.

    Attributes
    ----------
    speed
        Distance per hour, where times are given as hh:mm, else per unit of time.
    time
        A matrix of travel times, without service.
    costs
        Matrices of further costs, by name.
    objectives
        Names: those of the costs, distance, and time, finish, waiting, lateness, vehicles, longest.
    vehicles, capacity
        Number of vehicles and capacity of each; None for the values of the file (one, without a limit).
    late_costs
        True if a missed window counts as `lateness`, not as a violation.
    window_end
        Meaning of the end of a window: the latest "start" of service, or the latest "end-of-service".
    """

    speed: float | None = None
    time: MatrixSource | None = None
    costs: Mapping[str, MatrixSource] = field(default_factory=dict)
    objectives: Sequence[str] | None = None
    vehicles: int | None = None
    capacity: float | None = None
    late_costs: bool = False
    window_end: str = "start"

    def __post_init__(self) -> None:
        if self.vehicles is not None:
            check_whole("vehicles", self.vehicles, 1)
        if self.capacity is not None and (not is_number(self.capacity) or self.capacity <= 0):
            raise InstanceError(f"capacity must be a finite number above 0, got {shown(self.capacity)}.")
        check_choice("window_end", self.window_end, WINDOW_ENDS)
        if self.objectives is not None and (isinstance(self.objectives, str) or not len(self.objectives)):
            raise InstanceError(f"objectives must be a list of at least one name, got {shown(self.objectives)}.")
        if not isinstance(self.costs, Mapping):
            raise InstanceError(f"costs must be matrices by name, {{'euros': matrix}}, got {shown(self.costs)}.")
        for name in self.costs:
            if not isinstance(name, str) or not name or name in MEASURES or not name.isprintable():
                raise InstanceError(f"a cost must have a name, other than {', '.join(MEASURES)}, got {shown(name)}.")

    @property
    def given(self) -> list[str]:
        """The names of the options given."""
        silent = RoutingOptions()
        values = {one.name: (getattr(self, one.name), getattr(silent, one.name)) for one in fields(self)}
        # Matrices cannot be compared, and need not be.
        return [
            name for name, (value, default) in values.items() if (value if name == "costs" else value is not default)
        ]


@dataclass(frozen=True)
class VehicleType:
    """Identical vehicles: their number, and the capacity of each (None: without limit)."""

    count: int = 1
    capacity: float | None = None


@dataclass(frozen=True)
class Instance:
    """The content of a file.

    Attributes
    ----------
    travel
        [n, n] travel times without service, where the file has them; else distances are driven at a speed.
    costs
        [n, n] matrices by name, the distance among them where stops have places.
    vehicles
        Types of vehicles; empty if the file has none (then one vehicle).
    kind
        Kind of problem without further options: "routes"; "tours", an objective for each matrix; or "windows", the
        published form of tours with time windows, whose costs have no names.
    is_metric
        Whether the distances are known to satisfy the triangle inequality.
    reference_point
        The published reference point of the kind "windows", if any.
    """

    name: str
    stops: Stops
    travel: NDArray[np.float64] | None = None
    costs: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    vehicles: tuple[VehicleType, ...] = ()
    kind: str = "routes"
    is_metric: bool = False
    reference_point: Sequence[float] | None = None


def places_instance(stops: Stops, name: str, rounding: str, *, kind: str = "routes") -> Instance:
    """Return the instance of stops with the distances between their places, if they have any."""
    lengths = matrices.distances(stops)
    costs = {} if lengths is None else {DISTANCE: matrices.rounded_lengths(lengths, rounding)}
    return Instance(name, stops, costs=costs, kind=kind, is_metric=rounding in ("file", "none"))


def build_problem(instance: Instance, options: RoutingOptions | None = None) -> CompiledProblem:
    """Return the problem of an instance, or raise with the stop that makes it infeasible.

    Matrices are checked, and detours computed, where the compiled problem is made.
    """
    options = options or RoutingOptions()
    if instance.kind == "tours" and options.given:
        word = options.given[0].replace("_", " ")
        raise InstanceError(f"{instance.stops.source} is a tour of TSPLIB, which has no {word}.")
    try:
        if instance.kind == "tours":
            return _tours(instance)
        if instance.kind == "windows" and not options.given:
            return _published(instance)
    except InstanceError as error:
        raise InstanceError(f"{instance.stops.source}: {error}") from error
    return _routes(instance, options)


def _tours(instance: Instance) -> CompiledProblem:
    first, *_ = lengths = list(instance.costs.values())
    problem = replace(mo_tsp(np.stack(lengths), name=instance.name), objective_names=list(instance.costs))
    return with_timetable(problem, instance.stops.rows, first)


def _published(instance: Instance) -> CompiledProblem:
    """Return the problem of a published file, without the check for infeasible windows."""
    travel, *others = instance.costs.values()
    problem = mo_tsptw(
        np.stack([_with_service(travel, instance.stops), *others]),
        instance.stops.column("opens"),
        instance.stops.column("closes"),
        distances=np.stack([travel, *others]),
        metric=instance.is_metric,
        name=instance.name,
        reference_point=instance.reference_point,
    )
    return with_proved_front(with_timetable(problem, instance.stops.rows, travel))


def _routes(instance: Instance, options: RoutingOptions) -> CompiledProblem:
    stops = instance.stops
    if options.window_end == "end-of-service":
        stops = close_by_end_of_service(stops)
    vehicles, capacity = _vehicles(instance, options)
    travel, known, is_metric = _matrices(instance, options)
    times = _with_service(travel, stops)
    objectives = _objectives(options, known, stops, vehicles)
    if capacity is not None:
        _check_load(stops, vehicles, capacity)
    opens, closes = stops.column("opens"), stops.column("closes")
    if vehicles == 1 and not options.late_costs and objectives[0] == TIME and set(objectives[1:]) <= known.keys():
        others = [known[name] for name in objectives[1:]]
        problem = mo_tsptw(
            np.stack([times, *others]),
            opens,
            closes,
            distances=np.stack([travel, *others]),
            metric=is_metric,
            name=instance.name,
            objective_names=objectives,
        )
    else:
        problem = vrptw(
            times,
            opens,
            closes,
            vehicles=vehicles,
            objectives=objectives,
            costs=known,
            demand=stops.column("demand"),
            capacity=capacity,
            late_costs=options.late_costs,
            metric=is_metric,
            name=instance.name,
        )
    if not options.late_costs:
        _check_windows(stops, problem.data.shortest, vehicles=vehicles)
    return with_timetable(problem, stops.rows, travel, clock=stops.clock, late_costs=options.late_costs)


def _vehicles(instance: Instance, options: RoutingOptions) -> tuple[int, float | None]:
    """Return the number of vehicles and their capacity; options of the user override the file."""
    stops, (first, *others) = instance.stops, instance.vehicles or (VehicleType(),)
    if others:
        raise InstanceError(f"{stops.source} has {len(others) + 1} types of vehicles; one type is supported.")
    capacity = options.capacity or first.capacity
    if capacity is not None and not stops.column("demand").any():
        way_out = "; add a column named demand, or leave out --capacity"
        raise InstanceError(
            f"{stops.source} has no demand, so the capacity {capacity:g} has no effect"
            f"{way_out if options.capacity else ''}."
        )
    return options.vehicles or first.count, capacity


def _matrices(
    instance: Instance, options: RoutingOptions
) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]], bool]:
    """Return travel times, all costs by name, and whether the times satisfy the triangle inequality."""
    stops = instance.stops
    if options.time is not None and options.speed is not None:
        raise InstanceError("time and speed cannot both be given: travel times need no speed.")
    # Missing values are reported before matrices are read.
    is_driven = options.time is None and (instance.travel is None or options.speed is not None)
    has_distances = DISTANCE in instance.costs
    speed = matrices.checked_speed(stops, options.speed, has_distances=has_distances) if is_driven else None
    known = instance.costs | {name: matrices.matrix(value, stops, name) for name, value in options.costs.items()}
    if options.time is not None:
        return matrices.matrix(options.time, stops, TIME), known, False
    if speed is None:
        assert instance.travel is not None
        return instance.travel, known, False
    return known[DISTANCE] / speed * (stops.per_hour or 1.0), known, instance.is_metric


def _with_service(travel: NDArray[np.float64], stops: Stops) -> NDArray[np.float64]:
    """Return travel times with the service at the stop that is left."""
    times: NDArray[np.float64] = travel + stops.column("service")[:, None]
    np.fill_diagonal(times, 0.0)
    return times


def _objectives(
    options: RoutingOptions, known: dict[str, NDArray[np.float64]], stops: Stops, vehicles: int
) -> tuple[str, ...]:
    """Return the names of the objectives: those given, or the defaults for such an instance."""
    if options.objectives is not None:
        names = list(options.objectives)
    elif options.costs:
        names = [TIME, *options.costs]
    else:
        names = [DISTANCE if DISTANCE in known else TIME]
        names += ["finish"] if vehicles == 1 and stops.has_windows and not options.late_costs else []
    if options.objectives is None:
        names += ["vehicles"] if vehicles > 1 else []
        names += ["lateness"] if options.late_costs else []
    possible = list(dict.fromkeys([*known, *MEASURES]))
    for name in names:
        if name not in possible:
            raise InstanceError(
                f"objectives must be among {', '.join(possible)}, got {shown(name)}{did_you_mean(name, possible)}."
            )
    if "lateness" in names and not options.late_costs:
        raise InstanceError("lateness is always 0 while windows are constraints; add --late-costs.")
    return tuple(names)


# --- detection of infeasible instances before the search, with the name of the stop


def _check_load(stops: Stops, vehicles: int, capacity: float) -> None:
    """Raise if the vehicles cannot carry the demand."""
    demand = stops.column("demand")
    largest = int(np.argmax(demand))
    if demand[largest] > capacity * (1 + TOLERANCE):
        raise InstanceError(
            f"{stops.source}: {stops.named(largest)} has demand {demand[largest]:g}, above the capacity of a vehicle "
            f"({capacity:g})."
        )
    if demand.sum() > vehicles * capacity * (1 + TOLERANCE):
        raise InstanceError(
            f"{stops.source}: total demand is {demand.sum():g}, more than {vehicles} vehicle(s) of capacity "
            f"{capacity:g} carry."
        )


def _check_windows(stops: Stops, shortest: NDArray[np.float64], *, vehicles: int) -> None:
    """Raise if a window cannot be kept on any route.

    Times [n, n] are shortest paths, and include service at the stop left.
    """
    opens, closes = stops.column("opens"), stops.column("closes")
    latest = closes * (1 + TOLERANCE)
    start = np.maximum(opens[0] + shortest[0], opens)
    late = [i for i in range(1, len(stops)) if start[i] > latest[i]]
    if late:
        stop = min(late, key=lambda i: closes[i])
        raise InstanceError(
            f"{stops.source}: {stops.named(stop)} cannot be reached in time: it closes at {stops.time(closes[stop])}, "
            f"and a vehicle that leaves the depot at {stops.time(opens[0])} is there at {stops.time(start[stop])}."
        )
    back = start + shortest[:, 0]
    late = [i for i in range(1, len(stops)) if back[i] > latest[0]]
    if late:
        stop = max(late, key=lambda i: back[i])
        raise InstanceError(
            f"{stops.source}: from {stops.named(stop)} no vehicle is back at the depot before it closes at "
            f"{stops.time(closes[0])}: served at {stops.time(start[stop])}, it is back at {stops.time(back[stop])}."
        )
    if vehicles == 1:
        _check_pairs(stops, start, shortest, latest)


def _check_pairs(
    stops: Stops, start: NDArray[np.float64], shortest: NDArray[np.float64], latest: NDArray[np.float64]
) -> None:
    """Raise if one vehicle cannot serve two stops in any order."""
    too_late = start[:, None] + shortest > latest[None, :]
    both = np.triu(too_late & too_late.T, 1)[1:, 1:]
    if both.any():
        first, second = (int(i) + 1 for i in np.argwhere(both)[0])
        raise InstanceError(
            f"{stops.source}: one vehicle cannot serve both {stops.named(first)} and {stops.named(second)} in time "
            "in any order; use more vehicles (--vehicles) or wider windows."
        )
