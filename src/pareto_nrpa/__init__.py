"""Pareto-NRPA: trade-offs in discrete multi-objective problems by Monte-Carlo search.

from pareto_nrpa import solve, ParetoNRPA, MaxEvaluations, load
result = solve(load("rc_204.3"), ParetoNRPA(), stop=MaxEvaluations(100_000), seed=7)
print(result.summary())
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._util.lazy import lazy_names
from ._util.moved import NAMES, find_moved

if TYPE_CHECKING:
    from .algorithms.nrpa.params import ParetoNRPA as ParetoNRPA
    from .algorithms.polished.params import PolishedNRPA as PolishedNRPA
    from .catalogue import load as load
    from .engine.jit import kernel as kernel
    from .errors import ParetoNRPAError as ParetoNRPAError
    from .problem.base import CompiledProblem as CompiledProblem
    from .problem.base import Problem as Problem
    from .problem.check import check_problem as check_problem
    from .problem.genotype import Choices as Choices
    from .problem.genotype import Permutation as Permutation
    from .problem.segments import Segments as Segments
    from .result.reference import ReferenceFront as ReferenceFront
    from .result.result import Front as Front
    from .result.result import Result as Result
    from .routing.exact import certify as certify
    from .routing.read import read_stops as read_stops
    from .solving.callbacks import Callbacks as Callbacks
    from .solving.progress_bar import ProgressBar as ProgressBar
    from .solving.solve import solve as solve
    from .solving.stop import MaxCpuTime as MaxCpuTime
    from .solving.stop import MaxEvaluations as MaxEvaluations
    from .solving.stop import MaxRuntime as MaxRuntime
    from .solving.stop import NoImprovement as NoImprovement
    from .solving.stop import TargetHypervolume as TargetHypervolume

# The module of each public name. Other names are public in the packages algorithms, routing, routing.exact, problem,
# parallel, metrics, experiments and in the modules errors and stop.
_HOMES = {
    "Callbacks": "solving.callbacks",
    "Choices": "problem.genotype",
    "CompiledProblem": "problem.base",
    "Front": "result.result",
    "MaxCpuTime": "solving.stop",
    "MaxEvaluations": "solving.stop",
    "MaxRuntime": "solving.stop",
    "NoImprovement": "solving.stop",
    "ParetoNRPA": "algorithms.nrpa.params",
    "ParetoNRPAError": "errors",
    "Permutation": "problem.genotype",
    "PolishedNRPA": "algorithms.polished.params",
    "Problem": "problem.base",
    "ProgressBar": "solving.progress_bar",
    "ReferenceFront": "result.reference",
    "Result": "result.result",
    "Segments": "problem.segments",
    "TargetHypervolume": "solving.stop",
    "certify": "routing.exact",
    "check_problem": "problem.check",
    "kernel": "engine.jit",
    "load": "catalogue",
    "read_stops": "routing.read",
    "solve": "solving.solve",
}

find_moved()

__all__ = [*_HOMES, "__version__"]
__version__ = "0.2.0"
__getattr__ = lazy_names(__name__, _HOMES, NAMES)


def __dir__() -> list[str]:
    return sorted(__all__)
