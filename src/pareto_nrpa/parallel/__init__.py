"""Searches whose evaluations are expensive: made by worker processes, limited in time, written down one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._util.lazy import lazy_names

if TYPE_CHECKING:
    from .evaluations.solve_parallel import solve_parallel as solve_parallel

__getattr__ = lazy_names(__name__, {"solve_parallel": "evaluations.solve_parallel"})
