"""A problem out of stops and costs: one vehicle or several, the objectives by name."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.checks import check_choice, check_whole, did_you_mean, is_number, shown
from ..errors import InstanceError
from . import costs as matrices
from .costs import TIME
from .feasibility import check_load, check_windows
from .matrices import checked_matrices, shortest_times
from .route_plan import RoutePlan
from .stops import WINDOW_ENDS, Stops, close_by_end_of_service
from .tsptw import mo_tsptw
from .vrptw import MEASURES, vrptw

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ..problem.base import CompiledProblem

DISTANCE = "distance"


@dataclass(frozen=True)
class RoutingOptions:
    """What is said of an instance beside its file.

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
        How many there are, and what each carries; None for what the file says (one, without a limit).
    late_costs
        True if a missed window costs (`lateness`) and is no violation.
    window_end
        What the end of a window is: the latest "start" of service, or the latest "end-of-service".
    """

    speed: float | None = None
    time: Any = None
    costs: Mapping[str, Any] = field(default_factory=dict)
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
        for name in self.costs:
            if not name or name in MEASURES or not name.isprintable():
                raise InstanceError(f"a cost must have a name, other than {', '.join(MEASURES)}, got {shown(name)}.")

    @property
    def given(self) -> list[str]:
        """The names of those that say something."""
        silent = RoutingOptions()
        values = {one.name: (getattr(self, one.name), getattr(silent, one.name)) for one in fields(self)}
        # Matrices cannot be compared, and need not be.
        return [
            name for name, (value, default) in values.items() if (value if name == "costs" else value is not default)
        ]


@dataclass
class Instance:
    """What a file says: stops, and where it has them travel times, costs, vehicles."""

    stops: Stops
    name: str
    travel: NDArray[np.float64] | None = None
    costs: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    vehicles: int | None = None
    capacity: float | None = None


def routing_problem(instance: Instance, options: RoutingOptions) -> CompiledProblem:
    """Return the problem of an instance, or say which stop makes it impossible."""
    stops = instance.stops
    if options.window_end == "end-of-service":
        close_by_end_of_service(stops)
    vehicles = options.vehicles or instance.vehicles or 1
    capacity = options.capacity or instance.capacity
    if capacity is not None and not stops.column("demand").any():
        way_out = "; write what each stop asks for into a column named demand, or leave out --capacity"
        raise InstanceError(
            f"{stops.source} has no demand, so that the capacity {capacity:g} means nothing"
            f"{way_out if options.capacity else ''}."
        )
    travel, known = _matrices(instance, options)
    times = travel + stops.column("service")[:, None]
    np.fill_diagonal(times, 0.0)
    objectives = _objectives(options, known, stops, vehicles)
    if capacity is not None:
        check_load(stops, vehicles, capacity)
    # Straight lines keep the triangle inequality.
    metric = options.time is None and instance.travel is None
    if not options.late_costs:
        check_windows(stops, times if metric else shortest_times(times), vehicles=vehicles)
    plan = RoutePlan([_shown(row) for row in stops.rows], travel, stops.clock)
    opens, closes = stops.column("opens"), stops.column("closes")
    if vehicles == 1 and not options.late_costs and objectives[0] == TIME and set(objectives[1:]) <= known.keys():
        others = [known[name] for name in objectives[1:]]
        return mo_tsptw(
            np.stack([times, *others]),
            opens,
            closes,
            distances=np.stack([travel, *others]),
            metric=metric,
            name=instance.name,
            objective_names=objectives,
            plan=plan,
        )
    return vrptw(
        times,
        opens,
        closes,
        vehicles=vehicles,
        objectives=objectives,
        costs=known,
        demand=stops.column("demand"),
        capacity=capacity,
        late_costs=options.late_costs,
        metric=metric,
        name=instance.name,
        plan=plan,
    )


def _matrices(
    instance: Instance, options: RoutingOptions
) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """Return travel times, and all costs by name; what the user gives goes before what the file has."""
    stops = instance.stops
    if options.time is not None and options.speed is not None:
        raise InstanceError("time and speed cannot both be given: travel times need no speed.")
    # What is missing is said at once, not when all matrices are read.
    is_driven = options.time is None and (instance.travel is None or options.speed is not None)
    has_distances = DISTANCE in instance.costs
    speed = matrices.checked_speed(stops, options.speed, has_distances=has_distances) if is_driven else None
    known = dict(instance.costs)
    lengths = known.get(DISTANCE)
    if lengths is None and (lengths := matrices.distances(stops)) is not None:
        known[DISTANCE] = checked_matrices(lengths, DISTANCE)[0]
    known |= {name: matrices.matrix(value, stops, name) for name, value in options.costs.items()}
    if options.time is not None:
        return matrices.matrix(options.time, stops, TIME), known
    if instance.travel is not None and speed is None:
        return instance.travel, known
    assert lengths is not None
    assert speed is not None
    return checked_matrices(lengths / speed * (stops.per_hour or 1.0), "travel times")[0], known


def _objectives(
    options: RoutingOptions, known: dict[str, NDArray[np.float64]], stops: Stops, vehicles: int
) -> tuple[str, ...]:
    """Return the names of the objectives: those asked for, or what such an instance is usually judged by."""
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
                f"objectives must be out of {', '.join(possible)}, got {shown(name)}{did_you_mean(name, possible)}."
            )
    if "lateness" in names and not options.late_costs:
        raise InstanceError("lateness is always 0 while windows must be kept; give --late-costs to let them be missed.")
    return tuple(names)


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"closes": row["closes"] if math.isfinite(row["closes"]) else None}
