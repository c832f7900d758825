"""Pareto-NRPA: trade-offs in discrete multi-objective problems by Monte-Carlo search.

from pareto_nrpa import solve, ParetoNRPA, MaxEvaluations, load
result = solve(load("rc_204.3"), ParetoNRPA(), stop=MaxEvaluations(100_000), seed=7)
print(result.summary())
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._util.moved import find_moved
from .algorithms.registry import ENTRIES as _ALGORITHMS

if TYPE_CHECKING:
    from .algorithms.baselines.mcts import ParetoMCTS as ParetoMCTS
    from .algorithms.baselines.moea import MOEAD as MOEAD
    from .algorithms.baselines.moea import NSGA2 as NSGA2
    from .algorithms.baselines.moea import SMSEMOA as SMSEMOA
    from .algorithms.baselines.nmcs import WeightedNMCS as WeightedNMCS
    from .algorithms.baselines.nsga3 import NSGA3 as NSGA3
    from .algorithms.baselines.pls import ParetoLocalSearch as ParetoLocalSearch
    from .algorithms.baselines.random_search import RandomSearch as RandomSearch
    from .algorithms.baselines.weighted_nrpa import WeightedNRPA as WeightedNRPA
    from .algorithms.nrpa.driven import DrivenProblem as DrivenProblem
    from .algorithms.nrpa.params import ParetoNRPA as ParetoNRPA
    from .algorithms.polished.params import PolishedNRPA as PolishedNRPA
    from .catalogue import load as load
    from .engine.jit import kernel as kernel
    from .errors import CheckpointError as CheckpointError
    from .errors import DataError as DataError
    from .errors import InstanceError as InstanceError
    from .errors import ParetoNRPAError as ParetoNRPAError
    from .errors import ProblemError as ProblemError
    from .parallel.evaluations.solve_parallel import solve_parallel as solve_parallel
    from .problem.base import CompiledProblem as CompiledProblem
    from .problem.base import Problem as Problem
    from .problem.check import check_problem as check_problem
    from .problem.genotype import Choices as Choices
    from .problem.genotype import Permutation as Permutation
    from .problem.segments import END as END
    from .problem.segments import START as START
    from .problem.segments import Segments as Segments
    from .result.reference import ReferenceFront as ReferenceFront
    from .result.reference import true_front as true_front
    from .result.reference import with_reference_front as with_reference_front
    from .result.result import Front as Front
    from .result.result import Result as Result
    from .routing.exact import Certificate as Certificate
    from .routing.exact import CertificateError as CertificateError
    from .routing.exact import certify as certify
    from .routing.exact import check_certificate as check_certificate
    from .routing.generate import generate_tsp as generate_tsp
    from .routing.generate import generate_tsptw as generate_tsptw
    from .routing.generate import generate_vrptw as generate_vrptw
    from .routing.read import read_stops as read_stops
    from .routing.tsp import mo_tsp as mo_tsp
    from .routing.tsptw import mo_tsptw as mo_tsptw
    from .routing.vrptw import vrptw as vrptw
    from .solving.callbacks import Callbacks as Callbacks
    from .solving.progress_bar import ProgressBar as ProgressBar
    from .solving.solve import solve as solve
    from .solving.stop import AllOf as AllOf
    from .solving.stop import AnyOf as AnyOf
    from .solving.stop import MaxCpuTime as MaxCpuTime
    from .solving.stop import MaxEvaluations as MaxEvaluations
    from .solving.stop import MaxRuntime as MaxRuntime
    from .solving.stop import NoImprovement as NoImprovement
    from .solving.stop import Progress as Progress
    from .solving.stop import TargetHypervolume as TargetHypervolume

# Where each public name lives. Loaded when first used: the command line answers --help without importing Numba.
_HOMES = {
    **{entry.kind: f"algorithms.{entry.module}" for entry in _ALGORITHMS},
    "Callbacks": "solving.callbacks",
    "Certificate": "routing.exact",
    "CertificateError": "routing.exact",
    "certify": "routing.exact",
    "check_certificate": "routing.exact",
    "CheckpointError": "errors",
    "DataError": "errors",
    "InstanceError": "errors",
    "ParetoNRPAError": "errors",
    "ProblemError": "errors",
    "Choices": "problem.genotype",
    "Permutation": "problem.genotype",
    "kernel": "engine.jit",
    "DrivenProblem": "algorithms.nrpa.driven",
    "solve_parallel": "parallel.evaluations.solve_parallel",
    "read_stops": "routing.read",
    "PolishedNRPA": "algorithms.polished.params",
    "CompiledProblem": "problem.base",
    "Problem": "problem.base",
    "load": "catalogue",
    "mo_tsp": "routing.tsp",
    "mo_tsptw": "routing.tsptw",
    "vrptw": "routing.vrptw",
    "generate_tsp": "routing.generate",
    "generate_tsptw": "routing.generate",
    "generate_vrptw": "routing.generate",
    "ProgressBar": "solving.progress_bar",
    "Front": "result.result",
    "Result": "result.result",
    "END": "problem.segments",
    "START": "problem.segments",
    "Segments": "problem.segments",
    "solve": "solving.solve",
    "AllOf": "solving.stop",
    "AnyOf": "solving.stop",
    "MaxCpuTime": "solving.stop",
    "MaxEvaluations": "solving.stop",
    "MaxRuntime": "solving.stop",
    "NoImprovement": "solving.stop",
    "Progress": "solving.stop",
    "TargetHypervolume": "solving.stop",
    "check_problem": "problem.check",
    "ReferenceFront": "result.reference",
    "true_front": "result.reference",
    "with_reference_front": "result.reference",
}

find_moved()

__all__ = [*_HOMES, "__version__"]
__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
