"""The registry of algorithms, for the package, the command line, plans and pages.

A new algorithm is a subclass of `Algorithm` and an entry here.
"""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from .._util.checks import did_you_mean, shown
from ..errors import ParetoNRPAError

if TYPE_CHECKING:
    from .algorithm import Algorithm


class AlgorithmEntry(NamedTuple):
    """An algorithm: its name, its class (loaded on demand), and a description."""

    name: str
    module: str
    kind: str
    about: str
    needs: str = "any problem"


_WHOLE = "a `genotype`"
_PYMOO = f'{_WHOLE}; `pip install "pareto-nrpa[baselines]"`'
ENTRIES = (
    AlgorithmEntry("polished-nrpa", "polished.params", "PolishedNRPA", "Pareto-NRPA combined with local search"),
    AlgorithmEntry("pareto-nrpa", "nrpa.params", "ParetoNRPA", "the paper's algorithm"),
    AlgorithmEntry("nsga-ii", "baselines.moea", "NSGA2", "pymoo's, the same population after every generation", _PYMOO),
    AlgorithmEntry("nsga-iii", "baselines.nsga3", "NSGA3", "likewise, for three objectives and more", _PYMOO),
    AlgorithmEntry("sms-emoa", "baselines.moea", "SMSEMOA", "likewise, by contributions to the hypervolume", _PYMOO),
    AlgorithmEntry("moea-d", "baselines.moea", "MOEAD", "likewise, a subproblem for each direction", _PYMOO),
    AlgorithmEntry(
        "pls",
        "baselines.pls",
        "ParetoLocalSearch",
        "Pareto Local Search: 2-opt and or-opt, or one choice changed",
        _WHOLE,
    ),
    AlgorithmEntry("pareto-mcts", "baselines.mcts", "ParetoMCTS", "tree search by dominance of confidence bounds"),
    AlgorithmEntry("nrpa", "baselines.weighted_nrpa", "WeightedNRPA", "NRPA for one weighted sum after the other"),
    AlgorithmEntry("nmcs", "baselines.nmcs", "WeightedNMCS", "nested Monte-Carlo search, likewise"),
    AlgorithmEntry("random", "baselines.random_search", "RandomSearch", "random playouts, the lowest baseline"),
)


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


# Other spellings of a name: its class, hyphens and capitals.
_MEANT = {_letters(written): entry.name for entry in ENTRIES for written in (entry.name, entry.kind)}
_BY_NAME = {entry.name: entry for entry in ENTRIES}
NAMES = tuple(_BY_NAME)
#: The default algorithm.
DEFAULT = NAMES[0]


def _kind(name: str) -> Any:
    """Return the class of an algorithm by its name."""
    if name not in _BY_NAME:
        near = did_you_mean(_MEANT.get(_letters(name), name.lower()), NAMES)
        raise ParetoNRPAError(f"unknown algorithm {name!r}{near}; there are: {', '.join(NAMES)}.")
    entry = _BY_NAME[name]
    return getattr(import_module(f".{entry.module}", __package__), entry.kind)


def parameters(name: str) -> list[str]:
    """Return the names of the parameters of an algorithm."""
    return [field.name for field in sorted(fields(_kind(name)), key=lambda field: bool(field.kw_only))]


def algorithm(name: str, given: dict[str, Any] | None = None) -> Algorithm:
    """Return an algorithm by its name; parameters not given have their defaults."""
    known = parameters(name)
    for key in given or {}:
        if key not in known:
            near = did_you_mean(key, known)
            raise ParetoNRPAError(f"{name} has no parameter {shown(key)}{near}; it takes: {', '.join(known)}.")
    made: Algorithm = _kind(name)(**(given or {}))
    return made
