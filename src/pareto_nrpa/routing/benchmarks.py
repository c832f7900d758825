"""Where benchmark files are, and how they get there.

Looked for in this order: the folder given, `$PARETO_NRPA_DATA`, the user's cache that `fetch` fills.
"""

from __future__ import annotations

import os
import re
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataError, InstanceError
from .tsptw_files import SECONDARY_FOLDER, WINDOWS_FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
    """Return the folders to look in, the first first; one that is given must exist."""
    if given is not None:
        if not Path(given).is_dir():
            raise InstanceError(f"the data folder {given} does not exist.")
        return [Path(given)]
    named = os.environ.get(VARIABLE)
    return [*([Path(named)] if named else []), cache_folder()]


def find_instance(name: str, folder: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the file of an instance by its name, or None; a name with a path in it is no name."""
    if not _NAME.fullmatch(name):
        return None
    for windows in _window_folders(folder):
        path = windows / f"{name}.txt"
        if path.is_file():
            return path
    return None


def instance_names(folder: str | os.PathLike[str] | None = None) -> list[str]:
    """Return the names of all instances that are there."""
    return sorted({path.stem for windows in _window_folders(folder) for path in windows.glob("*.txt")})


def _window_folders(folder: str | os.PathLike[str] | None) -> Iterator[Path]:
    for base in data_folders(folder):
        # Both a collection of families and the folder of this one will do.
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
    """Download the official files that are not there yet, checking the sum of each; returns the folder."""
    try:
        import pooch
    except ImportError as error:
        message = 'downloading data needs pooch; install it with: pip install "pareto-nrpa[data]".'
        raise ImportError(message) from error
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
        _fetch_one(store, name, url)
    progress(len(files), len(files))
    return target


def _fetch_one(store: Any, name: str, url: str) -> None:
    try:
        store.fetch(name)
    except ValueError as error:
        raise DataError(
            f"{name} from {url} is not the official file (its SHA-256 sum differs); it was not kept."
        ) from error
    except PermissionError as error:
        raise DataError(f"cannot write {error.filename}: {error.strerror}; choose another folder with --to.") from error
    except OSError as error:  # what requests raises when there is no network, no server or no file
        raise DataError(
            f"cannot download {name} from {url}: {_reason(error)}; check the network, then try again."
        ) from error


def _reason(error: OSError) -> str:
    text = str(error) or type(error).__name__
    return text if len(text) < 120 else type(error).__name__


__all__ = [
    "FAMILY",
    "SECONDARY_FOLDER",
    "SOURCE",
    "VARIABLE",
    "cache_folder",
    "data_folders",
    "fetch",
    "find_instance",
    "instance_names",
    "official_names",
    "registry",
]
