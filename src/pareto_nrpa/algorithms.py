"""All algorithms by name, for the command line and for experiments."""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .checks import did_you_mean
from .exceptions import ParetoNRPAError

if TYPE_CHECKING:
    from .solver import Algorithm

# Where each algorithm lives; loaded when it is asked for.
_HOMES = {
    "pareto-nrpa": ("nrpa.params", "ParetoNRPA"),
    "nsga-ii": ("baselines.evolutionary", "NSGA2"),
    "nsga-iii": ("baselines.nsga3", "NSGA3"),
    "sms-emoa": ("baselines.evolutionary", "SMSEMOA"),
    "moea-d": ("baselines.evolutionary", "MOEAD"),
    "pls": ("baselines.local_search", "ParetoLocalSearch"),
    "pareto-mcts": ("baselines.tree_search", "ParetoMCTS"),
    "nrpa": ("baselines.weighted_nrpa", "WeightedNRPA"),
    "nmcs": ("baselines.nested_search", "WeightedNMCS"),
    "random": ("baselines.random_search", "RandomSearch"),
}
NAMES = tuple(_HOMES)


def algorithm(name: str, parameters: dict[str, Any] | None = None) -> Algorithm:
    """Return an algorithm by its name; parameters not given have their defaults."""
    if name not in _HOMES:
        raise ParetoNRPAError(f"unknown algorithm {name!r}{did_you_mean(name, NAMES)}; there are: {', '.join(NAMES)}.")
    module, kind = _HOMES[name]
    build: Any = getattr(import_module(f".{module}", __package__), kind)
    known = [field.name for field in fields(build)]
    for key in parameters or {}:
        if key not in known:
            near = did_you_mean(key, known)
            raise ParetoNRPAError(f"{name} has no parameter {key!r}{near}; it takes: {', '.join(known)}.")
    made: Algorithm = build(**(parameters or {}))
    return made
