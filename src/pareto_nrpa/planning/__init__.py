"""The way from a spreadsheet of stops, or a file of another tool, to a problem (docs/planning.md).

table.py               a CSV file or a DataFrame as cells
stops.py, costs.py     what the cells say of stops; distances and matrices
routing.py             a problem out of them, the objectives by name
feasibility.py         what no route can do, told before the search
formats/               files of other tools: TSPLIB, Solomon and VRPLIB, VROOM, TSPTW with matrices
"""

from .reading import is_routing_file as is_routing_file
from .reading import read_routing as read_routing
from .reading import read_stops as read_stops
from .routing import RoutingOptions as RoutingOptions
