"""The versions that a result depends on."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def versions() -> dict[str, str]:
    """Return the versions of Python and of the installed libraries."""

    def installed() -> Iterator[tuple[str, str]]:
        for name in ("pareto-nrpa", "numpy", "numba", "moocore", "pymoo"):
            try:
                yield name, version(name)
            except PackageNotFoundError:
                continue

    return {"python": platform.python_version(), **dict(installed())}
