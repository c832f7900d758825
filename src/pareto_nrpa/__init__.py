"""Pareto-NRPA: trade-offs in discrete multi-objective problems by Monte-Carlo search.

from pareto_nrpa import solve, ParetoNRPA, MaxEvaluations, load
result = solve(load("rc_204.3"), ParetoNRPA(), stop=MaxEvaluations(100_000), seed=7)
print(result.summary())
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .algorithms import ENTRIES as _ALGORITHMS

if TYPE_CHECKING:
    from .baselines.evolutionary import MOEAD as MOEAD
    from .baselines.evolutionary import NSGA2 as NSGA2
    from .baselines.evolutionary import SMSEMOA as SMSEMOA
    from .baselines.local_search import ParetoLocalSearch as ParetoLocalSearch
    from .baselines.nested_search import WeightedNMCS as WeightedNMCS
    from .baselines.nsga3 import NSGA3 as NSGA3
    from .baselines.random_search import RandomSearch as RandomSearch
    from .baselines.tree_search import ParetoMCTS as ParetoMCTS
    from .baselines.weighted_nrpa import WeightedNRPA as WeightedNRPA
    from .callbacks import Callbacks as Callbacks
    from .exact import Certificate as Certificate
    from .exact import CertificateError as CertificateError
    from .exact import certify as certify
    from .exact import check_certificate as check_certificate
    from .exceptions import CheckpointError as CheckpointError
    from .exceptions import DataError as DataError
    from .exceptions import InstanceError as InstanceError
    from .exceptions import ParetoNRPAError as ParetoNRPAError
    from .exceptions import ProblemError as ProblemError
    from .genotype import Choices as Choices
    from .genotype import Permutation as Permutation
    from .kernels import kernel as kernel
    from .nrpa.params import ParetoNRPA as ParetoNRPA
    from .nrpa.playout import DrivenProblem as DrivenProblem
    from .parallel.solve import solve_parallel as solve_parallel
    from .planning import read_stops as read_stops
    from .polish.params import PolishedNRPA as PolishedNRPA
    from .problem import CompiledProblem as CompiledProblem
    from .problem import Problem as Problem
    from .problems import load as load
    from .problems.generate import generate_tsp as generate_tsp
    from .problems.generate import generate_tsptw as generate_tsptw
    from .problems.generate import generate_vrptw as generate_vrptw
    from .problems.mo_tsp import mo_tsp as mo_tsp
    from .problems.mo_tsptw import mo_tsptw as mo_tsptw
    from .problems.vrptw import vrptw as vrptw
    from .progress import ProgressBar as ProgressBar
    from .reference_front import ReferenceFront as ReferenceFront
    from .reference_front import true_front as true_front
    from .reference_front import with_reference_front as with_reference_front
    from .result import Front as Front
    from .result import Result as Result
    from .segments import END as END
    from .segments import START as START
    from .segments import Segments as Segments
    from .solver import solve as solve
    from .stop import AllOf as AllOf
    from .stop import AnyOf as AnyOf
    from .stop import MaxCpuTime as MaxCpuTime
    from .stop import MaxEvaluations as MaxEvaluations
    from .stop import MaxRuntime as MaxRuntime
    from .stop import NoImprovement as NoImprovement
    from .stop import Progress as Progress
    from .stop import TargetHypervolume as TargetHypervolume
    from .testing import check_problem as check_problem

# Where each public name lives. Loaded when first used: the command line answers --help without importing Numba.
_HOMES = {
    **{entry.kind: entry.module for entry in _ALGORITHMS},
    "Callbacks": "callbacks",
    "Certificate": "exact",
    "CertificateError": "exact",
    "certify": "exact",
    "check_certificate": "exact",
    "CheckpointError": "exceptions",
    "DataError": "exceptions",
    "InstanceError": "exceptions",
    "ParetoNRPAError": "exceptions",
    "ProblemError": "exceptions",
    "Choices": "genotype",
    "Permutation": "genotype",
    "kernel": "kernels",
    "DrivenProblem": "nrpa.playout",
    "solve_parallel": "parallel.solve",
    "read_stops": "planning",
    "PolishedNRPA": "polish.params",
    "CompiledProblem": "problem",
    "Problem": "problem",
    "load": "problems",
    "mo_tsp": "problems.mo_tsp",
    "mo_tsptw": "problems.mo_tsptw",
    "vrptw": "problems.vrptw",
    "generate_tsp": "problems.generate",
    "generate_tsptw": "problems.generate",
    "generate_vrptw": "problems.generate",
    "ProgressBar": "progress",
    "Front": "result",
    "Result": "result",
    "END": "segments",
    "START": "segments",
    "Segments": "segments",
    "solve": "solver",
    "AllOf": "stop",
    "AnyOf": "stop",
    "MaxCpuTime": "stop",
    "MaxEvaluations": "stop",
    "MaxRuntime": "stop",
    "NoImprovement": "stop",
    "Progress": "stop",
    "TargetHypervolume": "stop",
    "check_problem": "testing",
    "ReferenceFront": "reference_front",
    "true_front": "reference_front",
    "with_reference_front": "reference_front",
}

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
