"""What a result depends on besides its arguments."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def versions() -> dict[str, str]:
    """Return what a result depends on: Python and the libraries that are installed."""

    def installed() -> Iterator[tuple[str, str]]:
        for name in ("pareto-nrpa", "numpy", "numba", "moocore", "pymoo"):
            try:
                yield name, version(name)
            except PackageNotFoundError:
                continue

    return {"python": platform.python_version(), **dict(installed())}
