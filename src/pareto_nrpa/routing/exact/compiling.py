"""The kernels of a proof: whether they are compiled, and compiling them before the clock starts."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ..generate import generate_tsptw
from . import labelling
from .layers import prepare
from .network import build_networks
from .proof import Proof
from .region import KnownFront

_ENTRIES = ("extend", "tabulate", "rebuild_chains")
_ROOM = 1e9


def proof_is_compiled() -> bool:
    """Whether `compile_proof` will be quick: done in this process, or stored on disk since the code last changed."""
    return all(_is_ready(name) for name in _ENTRIES)


def _is_ready(name: str) -> bool:
    function = getattr(labelling, name)
    if not hasattr(function, "stats") or function.signatures:  # compiling is switched off, or done
        return True
    changed, folder = Path(labelling.__file__).stat().st_mtime, function.stats.cache_path
    return folder is not None and any(
        path.stat().st_mtime >= changed for path in Path(folder).glob(f"labelling.{name}-*.nbi")
    )


@cache
def compile_proof(n_objectives: int) -> None:
    """Prove something tiny: whatever a proof calls is compiled after that, or found on disk."""
    networks = build_networks(generate_tsptw(5, seed=1, n_objectives=n_objectives).data)
    assert networks is not None
    Proof(networks, KnownFront(n_objectives), _ROOM, lambda progress: None).run()
    prepare(n_objectives)
