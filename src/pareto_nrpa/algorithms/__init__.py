"""All algorithms: the registry, Pareto-NRPA, the default search, and what they are compared with."""

from .registry import DEFAULT as DEFAULT
from .registry import ENTRIES as ENTRIES
from .registry import NAMES as NAMES
from .registry import algorithm as algorithm
from .registry import parameters as parameters
