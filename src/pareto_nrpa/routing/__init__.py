"""Routes: tours and fleets, with or without time windows, from generators, benchmarks and files of stops.

tsp, tsptw, vehicles           the problems, as kernels; segments, matrices
read, content                  from a file, read once, to an instance; kinds of other files
table, stops, costs            spreadsheets and DataFrames: cells, stops, matrices
tsplib, solomon, vroom         parsers of files of other tools
instance                       from an instance to a problem; detection of infeasible instances
benchmarks, generate           published instances and seeded ones
itinerary                      routes of a result, with their times
exact/                         proofs
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._util.lazy import lazy_names

if TYPE_CHECKING:
    from .generate import generate_tsp as generate_tsp
    from .generate import generate_tsptw as generate_tsptw
    from .generate import generate_vrptw as generate_vrptw
    from .instance import Instance as Instance
    from .instance import RoutingOptions as RoutingOptions
    from .instance import VehicleType as VehicleType
    from .instance import build_problem as build_problem
    from .itinerary import Itinerary as Itinerary
    from .itinerary import itineraries as itineraries
    from .read import read_instance as read_instance
    from .read import read_problem as read_problem
    from .read import read_stops as read_stops
    from .tsp import mo_tsp as mo_tsp
    from .tsptw import mo_tsptw as mo_tsptw
    from .vehicles import vrptw as vrptw

# Loaded when first used: the data folder is searched without Numba. No module has the name of a function: importing the
# module would replace the function.
_HOMES = {
    "generate_tsp": "generate",
    "generate_tsptw": "generate",
    "generate_vrptw": "generate",
    "Instance": "instance",
    "RoutingOptions": "instance",
    "VehicleType": "instance",
    "Itinerary": "itinerary",
    "itineraries": "itinerary",
    "build_problem": "instance",
    "read_instance": "read",
    "read_problem": "read",
    "read_stops": "read",
    "mo_tsp": "tsp",
    "mo_tsptw": "tsptw",
    "vrptw": "vehicles",
}

__all__ = [*_HOMES]
__getattr__ = lazy_names(__name__, _HOMES)
