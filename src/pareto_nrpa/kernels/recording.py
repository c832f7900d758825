"""What a search over a plain problem needs of compiled code: one call per evaluation, cheap to make from Python.

Numba takes microseconds to look at a nested bundle, far less at a flat tuple of arrays.
"""

from __future__ import annotations

import numpy as np

from ._jit import engine_kernel
from .bundles import N_BRANCHINGS, N_MOVES, POLICY, Archive, Machine, Pool, Selection, Settings
from .softmax import fast_exp
from .stack_machine import tell

_N_POOL = len(Pool._fields)
_N_ARCHIVE = len(Archive._fields)
_N_SELECTION = len(Selection._fields)
_POOL_END = _N_POOL
_ARCHIVE_END = _POOL_END + _N_ARCHIVE
_SELECTION_END = _ARCHIVE_END + _N_SELECTION


def flatten(machine: Machine) -> tuple[np.ndarray, ...]:
    """Return all arrays of a machine in one tuple: pool, archive, selection, then the others."""
    others = [getattr(machine, name) for name in Machine._fields if name not in ("pool", "archive", "selection")]
    return (*machine.pool, *machine.archive, *machine.selection, *others)
