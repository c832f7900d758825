"""All algorithms: the registry, Pareto-NRPA, the default search and the baselines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._util.lazy import lazy_names
from .registry import DEFAULT as DEFAULT
from .registry import ENTRIES as ENTRIES
from .registry import NAMES as NAMES
from .registry import algorithm as algorithm
from .registry import parameters as parameters

if TYPE_CHECKING:
    from .algorithm import Algorithm as Algorithm
    from .baselines.mcts import ParetoMCTS as ParetoMCTS
    from .baselines.moea import MOEAD as MOEAD
    from .baselines.moea import NSGA2 as NSGA2
    from .baselines.moea import SMSEMOA as SMSEMOA
    from .baselines.nmcs import WeightedNMCS as WeightedNMCS
    from .baselines.nsga3 import NSGA3 as NSGA3
    from .baselines.pls import ParetoLocalSearch as ParetoLocalSearch
    from .baselines.random_search import RandomSearch as RandomSearch
    from .baselines.weighted_nrpa import WeightedNRPA as WeightedNRPA
    from .nrpa.driven import DrivenProblem as DrivenProblem
    from .nrpa.params import ParetoNRPA as ParetoNRPA
    from .polished.params import PolishedNRPA as PolishedNRPA
    from .search import Search as Search

__getattr__ = lazy_names(
    __name__,
    {
        **{entry.kind: entry.module for entry in ENTRIES},
        "Algorithm": "algorithm",
        "DrivenProblem": "nrpa.driven",
        "Search": "search",
    },
)
