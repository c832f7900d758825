"""Names of version 0.2, for one release: modules, and what the package itself exported."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from importlib.abc import Loader
    from types import ModuleType

_PACKAGE = __package__.partition(".")[0]
#: Names that the package exported, with their new modules.
NAMES = {
    **dict.fromkeys(("NSGA2", "NSGA3", "SMSEMOA", "MOEAD", "ParetoLocalSearch", "ParetoMCTS"), "algorithms"),
    **dict.fromkeys(("WeightedNRPA", "WeightedNMCS", "RandomSearch", "DrivenProblem"), "algorithms"),
    **dict.fromkeys(("mo_tsp", "mo_tsptw", "generate_tsp", "generate_tsptw", "generate_vrptw"), "routing"),
    "vrptw": "routing",
    **dict.fromkeys(("Certificate", "CertificateError", "check_certificate"), "routing.exact"),
    **dict.fromkeys(("CheckpointError", "DataError", "InstanceError", "ProblemError"), "errors"),
    **dict.fromkeys(("START", "END"), "problem"),
    **dict.fromkeys(("AllOf", "AnyOf", "Progress"), "stop"),
    **dict.fromkeys(("true_front", "with_reference_front"), "result.reference"),
    "solve_parallel": "parallel",
}
_MOVED = {
    "exact": "routing.exact",
    "exceptions": "errors",
    "genotype": "problem.genotype",
    "optuna": "integrations.optuna",
    "planning": "routing",
    "problems": "catalogue",
    "pymoo": "integrations.pymoo",
    "reference_front": "result.reference",
    "testing": "problem.check",
}
#: A second name that stays.
_ALIASES = {"stop": "solving.stop"}
_MODULES = {f"{_PACKAGE}.{name}" for name in (*_MOVED, *_ALIASES)}


class _Finder:
    """Finder and loader in one; not derived from those of `importlib.abc`, which takes 30 ms to import."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return a spec for a name in the tables."""
        return ModuleSpec(fullname, cast("Loader", self)) if fullname in _MODULES else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module of the new name itself, so that its classes exist once."""
        name = spec.name.removeprefix(f"{_PACKAGE}.")
        new = f"{_PACKAGE}.{(_MOVED | _ALIASES)[name]}"
        if name in _MOVED:
            message = f"{spec.name} is deprecated and will be removed in the next release; import {new} instead."
            warnings.warn(message, DeprecationWarning, stacklevel=2)
        module = import_module(new)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module back its own spec, which the import system has replaced."""
        if module.__spec__ is not None:
            module.__spec__ = module.__spec__.loader_state


def find_moved() -> None:
    """Let `import` find the old names."""
    if not any(type(finder).__name__ == _Finder.__name__ for finder in sys.meta_path):
        # First in the list: a folder with old bytecode would be found as a package of the old name.
        sys.meta_path.insert(0, _Finder())
