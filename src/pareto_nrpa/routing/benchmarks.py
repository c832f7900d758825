"""Benchmark files: search paths, accompanying files, download.

Folders in order: the one given, `$PARETO_NRPA_DATA`, the user's cache that `fetch` fills.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from .._util.files import read_bytes
from .._util.lazy import needed
from ..errors import DataError, InstanceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from .instance import Instance

WINDOWS_FOLDER, SECONDARY_FOLDER = "SolomonTSPTW", "SecondaryCost"

VARIABLE = "PARETO_NRPA_DATA"
FAMILY = "mo-tsptw"
#: The public repository of the paper's authors, at the commit whose files were checked.
SOURCE = (
    "https://raw.githubusercontent.com/pareto-nrpa/pareto-nrpa/3b162e24aa4588c470232988568dc62c661116e5/"
    "search_spaces/mo_tsptw/data/"
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def cache_folder() -> Path:
    """Return the folder in the user's cache that `fetch` fills."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "pareto-nrpa" / "data"


def data_folders(given: str | os.PathLike[str] | None = None) -> list[Path]:
    """Return the folders to search, in order; a given one must exist."""
    if given is not None:
        if not Path(given).is_dir():
            raise InstanceError(f"the data folder {given} does not exist.")
        return [Path(given)]
    named = os.environ.get(VARIABLE)
    return [*([Path(named)] if named else []), cache_folder()]


def find_instance(name: str, folder: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the file of an instance by its name, or None; a path is not a name."""
    if not _NAME.fullmatch(name):
        return None
    for windows in _window_folders(folder):
        path = windows / f"{name}.txt"
        if path.is_file():
            return path
    return None


def find_secondary(path: Path) -> Path | None:
    """Return the file with the secondary cost of an instance, if there is one."""
    for candidate in (path.parent.parent / SECONDARY_FOLDER / f"{path.stem}.npy", path.with_name(f"{path.stem}.npy")):
        if candidate.is_file():
            return candidate
    return None


def with_secondary(instance: Instance, path: Path) -> Instance:
    """Return the instance of a file with the secondary cost and the reference point beside it, if any.

    The cost is a square matrix: `SecondaryCost/NAME.npy` beside the folder of the file, or `NAME.npy` beside the file.
    The reference point is that of NAME in `nadirs.json` beside the file.
    """
    place = find_secondary(path)
    costs = instance.costs if place is None else instance.costs | {"cost": _matrix(place, len(instance.stops))}
    return replace(instance, costs=costs, reference_point=_reference_point(path, len(costs)))


def _matrix(path: Path, n: int) -> NDArray[np.float64]:
    import numpy as np

    try:
        matrix = np.load(io.BytesIO(read_bytes(path, error=InstanceError)), allow_pickle=False)
    except InstanceError:
        raise
    except Exception as error:  # parsing a header may raise many types of errors
        message = f"the secondary cost {path} is not an .npy file of numbers, or is cut off."
        raise InstanceError(message) from error
    if not isinstance(matrix, np.ndarray) or matrix.dtype.kind not in "iuf":
        raise InstanceError(f"the secondary cost {path} must be a matrix of numbers in an .npy file.")
    if matrix.shape != (n, n):
        shape = str(matrix.shape)[:40]
        raise InstanceError(f"the secondary cost {path} must be a matrix [{n}, {n}] for {n} cities, got shape {shape}.")
    return matrix.astype(float)


def _reference_point(path: Path, n_objectives: int) -> list[float] | None:
    """Return the fixed reference point of a public instance; one of another length does not apply."""
    try:
        points = json.loads((path.parent / "nadirs.json").read_text(encoding="utf-8"))
        point = [float(x) for x in points[path.stem]]
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return point if len(point) == n_objectives and all(map(math.isfinite, point)) else None


def instance_names(folder: str | os.PathLike[str] | None = None) -> list[str]:
    """Return the names of all installed instances."""
    return sorted({path.stem for windows in _window_folders(folder) for path in windows.glob("*.txt")})


def _window_folders(folder: str | os.PathLike[str] | None) -> Iterator[Path]:
    for base in data_folders(folder):
        # A collection of families, or the folder of this one.
        for root in (base / FAMILY, base):
            if (root / WINDOWS_FOLDER).is_dir():
                yield root / WINDOWS_FOLDER
                break


def registry() -> dict[str, str]:
    """Return the official files, each with its SHA-256 sum."""
    text = resources.files(__package__).joinpath("registry.txt").read_text(encoding="utf-8")
    pairs = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {name: digest for digest, name in pairs}


def official_names() -> list[str]:
    """Return the names of the public instances, downloaded or not."""
    return sorted(
        Path(name).stem for name in registry() if name.startswith(f"{WINDOWS_FOLDER}/") and name.endswith(".txt")
    )


def fetch(
    *,
    url: str = SOURCE,
    folder: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Path:
    """Download missing official files, checking the sum of each; returns the folder."""
    with needed("downloading data", "pooch", "data"):
        import pooch
    if not re.match(r"https?://[^/]", url):
        raise DataError(f"the address to download from must begin with http:// or https:// and a host, got {url!r}.")
    target = (cache_folder() if folder is None else Path(folder)) / FAMILY
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror}; choose another folder with --to.") from error
    files = registry()
    pooch.get_logger().setLevel("ERROR")
    store = pooch.create(
        path=target, base_url=url if url.endswith("/") else url + "/", registry=files, retry_if_failed=2
    )
    for done, name in enumerate(files):
        progress(done, len(files))
        try:
            store.fetch(name)
        except ValueError as error:
            message = f"{name} from {url} is not the official file (its SHA-256 sum differs); it was discarded."
            raise DataError(message) from error
        except PermissionError as error:
            message = f"cannot write {error.filename}: {error.strerror}; choose another folder with --to."
            raise DataError(message) from error
        except OSError as error:  # errors of requests without network, server or file
            message = f"cannot download {name} from {url}: {_reason(error)}; check the network, then try again."
            raise DataError(message) from error
    progress(len(files), len(files))
    return target


def _reason(error: OSError) -> str:
    text = str(error) or type(error).__name__
    return text if len(text) < 120 else type(error).__name__
