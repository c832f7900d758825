"""Parallel searches: cooperating ones (islands), and one with expensive evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._util.lazy import lazy_names

if TYPE_CHECKING:
    from .evaluations.evaluators import FromExecutor as FromExecutor
    from .evaluations.evaluators import Processes as Processes
    from .evaluations.solve_expensive import solve_expensive as solve_expensive
    from .evaluations.solve_expensive import solve_parallel as solve_parallel

__getattr__ = lazy_names(
    __name__,
    {
        **dict.fromkeys(("solve_expensive", "solve_parallel"), "evaluations.solve_expensive"),
        **dict.fromkeys(("FromExecutor", "Processes"), "evaluations.evaluators"),
    },
)
