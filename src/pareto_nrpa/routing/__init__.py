"""Routes: tours and fleets, with or without time windows, from generators, benchmarks and files of stops.

tsp, tsptw, vrptw              the problems, as kernels; segments, matrices
read, table, stops, costs      from a file or a DataFrame to an instance; times of day
instance, feasibility          from an instance to a problem; limits that no route can meet
tsplib, vrplib_files, vroom    files of other tools
benchmarks, generate           published instances and seeded ones
route_plan, itinerary          routes with arrival times
exact/                         proofs
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._util.lazy import lazy_names

if TYPE_CHECKING:
    from .generate import generate_tsp as generate_tsp
    from .generate import generate_tsptw as generate_tsptw
    from .generate import generate_vrptw as generate_vrptw
    from .instance import RoutingOptions as RoutingOptions
    from .read import is_routing_file as is_routing_file
    from .read import read_routing as read_routing
    from .read import read_stops as read_stops
    from .tsp import mo_tsp as mo_tsp
    from .tsptw import mo_tsptw as mo_tsptw

# Loaded when first used: the data folder is searched without Numba. The function `vrptw` is not among them: its module
# has the same name, and either would replace the other.
_HOMES = {
    "generate_tsp": "generate",
    "generate_tsptw": "generate",
    "generate_vrptw": "generate",
    "RoutingOptions": "instance",
    "is_routing_file": "read",
    "read_routing": "read",
    "read_stops": "read",
    "mo_tsp": "tsp",
    "mo_tsptw": "tsptw",
}

__all__ = [*_HOMES]
__getattr__ = lazy_names(__name__, _HOMES)
