"""Fronts and results of a search: frozen values that print, save, load and convert to a data frame."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.checks import printable
from .._util.csv_text import csv_text
from .._util.files import check_file_name, write_text
from .._util.lazy import needed
from .._util.text import aligned, cut, rows_to_show
from ..errors import ParetoNRPAError
from ..metrics import MANY_OBJECTIVES

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from .choose import Choice

_ENDINGS = (".json", ".csv")


@dataclass(frozen=True, eq=False, repr=False)
class Front:
    """Mutually non-dominated solutions, sorted by their first objective."""

    objectives: NDArray[np.float64]  # [n, m], in the sense in which the problem states them
    violations: NDArray[np.float64]  # [n], the same for all: 0, or the least found
    solutions: list[list[Any]]  # the moves of each solution
    policies: NDArray[np.int64]  # [n], the policy that sampled each
    found_at: NDArray[np.int64] | None = None  # [n], the evaluation at which each was found, from 1; None: not known

    def __post_init__(self) -> None:
        for name in ("objectives", "violations", "policies", *(["found_at"] if self.found_at is not None else [])):
            array = np.array(getattr(self, name))
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def sorted(
        cls,
        *,
        objectives: NDArray[np.float64],
        violations: NDArray[np.float64],
        solutions: list[list[Any]],
        policies: NDArray[np.int64],
        found_at: NDArray[np.int64] | None = None,
    ) -> Front:
        """Return a front in the order of its objectives."""
        order = np.lexsort(objectives.T[::-1])
        found_at = None if found_at is None else found_at[order]
        return cls(objectives[order], violations[order], [solutions[i] for i in order], policies[order], found_at)

    def __len__(self) -> int:
        return len(self.objectives)

    def __repr__(self) -> str:
        return f"<Front of {len(self)}, {self.objectives.shape[1]} objective(s)>"

    @property
    def is_feasible(self) -> bool:
        """Whether the front has feasible solutions."""
        return len(self) > 0 and not self.violations.any()


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A finished (or interrupted) search."""

    instance: str
    algorithm: str
    parameters: dict[str, Any]
    seed: int
    evaluations: int
    cpu_seconds: float  # of the search, without compiling
    wall_seconds: float
    stopped_by: str
    front: Front
    history: NDArray[np.float64]  # [k, 2]: evaluations, hypervolume
    reference_point: list[float] | None  # reference point of the hypervolume; None if nothing is feasible
    maximise: list[bool]
    versions: dict[str, str] = field(default_factory=dict)
    unique_evaluations: int | None = None  # of solutions not evaluated before; None if they were not counted
    objective_names: list[str] = field(default_factory=list)  # none: f1, f2, ...
    descriptions: list[str] = field(default_factory=list)  # a text for each solution of the front, or empty
    # Where the true front is known: its points, how many were found, share of its hypervolume, IGD+ to it.
    truth: dict[str, float] = field(default_factory=dict)
    # [n, 2 + m]: evaluation, violations and minimised objectives of all solutions that entered the front; not saved.
    log: NDArray[np.float64] | None = None
    failures: int = 0  # evaluations that failed
    approximated: bool = False  # whether hypervolumes are approximate, as exact ones would take longer than the search
    discarded: int = 0  # non-dominated solutions discarded by the limit of the archive
    context: dict[str, Any] = field(default_factory=dict)  # see `Problem.context`
    details: list[dict[str, Any]] = field(default_factory=list)  # `Problem.details` of each solution, or empty
    command: str = ""  # that wrote it, if any

    def __repr__(self) -> str:
        return f"<Result {self.headline()[0]}>"

    @property
    def hypervolume(self) -> float:
        """The hypervolume of the front: 0 if nothing feasible was found, NaN if it was not measured."""
        return float(self.history[-1, 1]) if len(self.history) else math.nan

    def summary(self) -> str:
        """Return the result in words and a table."""
        return "\n".join([*self.headline(), "", *_table(self)])

    def headline(self) -> list[str]:
        """Return the result in a few sentences."""
        n = len(self.front)
        rate = f" ({per_second(self.evaluations, self.cpu_seconds)} a second)" if self.cpu_seconds > 0 else ""
        unique = "" if self.unique_evaluations is None else f", {self.unique_evaluations:,} of them unique,"
        lines = [
            f"{self.instance}: {n} trade-off{'s' if n != 1 else ''} by {self.algorithm}, seed {self.seed}",
            f"{self.evaluations:,} evaluations{unique} in {self.cpu_seconds:.2f} s of CPU time{rate}, "
            f"stopped by {self.stopped_by}",
        ]
        if self.failures:
            lines.append(f"{self.failures:,} of the evaluations failed")
        if self.discarded:
            lines.append(f"{self.discarded:,} more were found and discarded by max_archive; history includes them")
        if n and not self.front.is_feasible:
            lines.append(_least_violated(self))
        elif n and len(self.history):
            point = ", ".join(f"{x:.6g}" for x in self.reference_point or ())
            about = "about " if self.approximated else ""
            lines.append(f"hypervolume {about}{self.hypervolume:.6g} up to the reference point ({point})")
        elif n and len(self.maximise) >= MANY_OBJECTIVES:
            lines.append(f"hypervolume not measured, as there are {len(self.maximise)} objectives")
        return [*map(printable, lines), *([beside_the_truth(self.truth)] if self.truth else [])]

    def to_dict(self) -> dict[str, object]:
        """Return the result as plain values, ready for JSON."""
        from .io import result_to_dict

        return result_to_dict(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the result and return the path: as a table if it ends in .csv, as JSON that `load` reads in .json."""
        check_file_name(path)
        ending = Path(path).suffix.lower()
        if ending not in _ENDINGS:
            raise ParetoNRPAError(f"the name of a result file must end in {' or '.join(_ENDINGS)}, got {path}.")
        return self.save_csv(path) if ending == ".csv" else self.save_json(path)

    def save_json(self, path: str | os.PathLike[str]) -> Path:
        """Write the result as JSON to a file of any name, and return the path."""
        from .io import write_result

        return write_result(path, self)

    def save_csv(self, path: str | os.PathLike[str]) -> Path:
        """Write the front as CSV and return the path."""
        front, words = self.front, self.words()
        rows = [
            [*values, _whole(float(front.violations[i])), front.policies[i], words[i]]
            for i, values in enumerate(front.objectives.tolist())
        ]
        return write_text(path, csv_text([[*self.columns(), "violations", "policy", "solution"], *rows]))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Read a result written by `save`; an invalid file is refused."""
        from .io import read_result

        return read_result(path)

    def to_dataframe(self) -> pd.DataFrame:
        """Return the front as a pandas data frame, one row per solution."""
        with needed("to_dataframe()", "pandas", "dataframe"):
            import pandas as pd
        frame = pd.DataFrame(self.front.objectives, columns=self.columns())
        frame["violations"] = self.front.violations
        frame["policy"] = self.front.policies
        frame["solution"] = self.front.solutions
        if self.descriptions:
            frame["description"] = self.words()
        return frame

    def columns(self) -> list[str]:
        """Return the names of the objectives: the problem's, or f1, f2, ..."""
        return list(self.objective_names) or [f"f{k + 1}" for k in range(len(self.maximise))]

    def words(self) -> list[str]:
        """Return each solution of the front in words: the problem's, or its moves."""
        if self.descriptions:
            return list(self.descriptions)
        return [" ".join(str(plain(move)) for move in solution) for solution in self.front.solutions]

    def knee(self) -> Choice:
        """Return the solution farthest before the straight line (or plane) between the ends of the front."""
        from .choose import choice, knee_index

        return choice(self, knee_index(self))

    def best(self, weights: Sequence[float] | Mapping[str, float] | None = None) -> Choice:
        """Return the best compromise: a weight for each objective, in order or by name; equal ones by default."""
        from .choose import best_index, choice

        return choice(self, best_index(self, weights))

    def within(self, limits: Mapping[str, float] | None = None, /, **more: float) -> Result:
        """Return a result with the solutions that keep to limits, as in `within(cost=950)`.

        A limit is the most, or the least of an objective that is maximised. Names that Python does not allow as
        keywords go into a dictionary: `within({"CO2 (kg)": 12})`.
        """
        from .choose import within

        return within(self, {**(limits or {}), **more})

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the page of trade-offs, one self-contained HTML file, and return the path."""
        from ..report import write_report

        check_file_name(path)
        return write_report([self], path)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the front by matplotlib: as points, or as lines across the axes of three objectives and more."""
        from ..report.picture import plot_front

        return plot_front(self, ax)

    def _repr_html_(self) -> str:
        from ..report.picture import front_as_html

        return f"<div>{front_as_html(self)}</div>"


def _least_violated(result: Result) -> str:
    """Return a sentence on the violations of an infeasible front, with the `violated` text of the first solution."""
    text = (
        "No feasible solution was found; these solutions have the fewest violations, "
        f"{result.front.violations[0]:g} each."
    )
    violated = result.details[0].get("violated") if result.details else None
    return f"{text} The first is {violated}." if isinstance(violated, str) and violated else text


def beside_the_truth(truth: dict[str, float]) -> str:
    """Return a sentence on how much of the true front was found."""
    share = truth.get("share_of_hypervolume")
    volume = "" if share is None else f"the front has {share:.2%} of its hypervolume, "
    front = "true front" if truth.get("complete", 1) else "reference front"
    found = f"{truth['found']} of the {truth['points']} points of the {front} were found"
    return f"{found}; {volume}IGD+ {truth['igd_plus']:.4f}."


def _whole(value: float) -> int | float:
    return int(value) if value == int(value) else value


def plain(value: Any) -> Any:
    """Return a value as plain JSON values: arrays and tuples become lists, numbers stay, the rest becomes text."""
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def per_second(count: int, seconds: float) -> str:
    """Return a rate with a suitable number of digits."""
    rate = count / seconds if seconds > 0 else 0.0
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def _table(result: Result) -> list[str]:
    front, rows = result.front, rows_to_show(len(result.front))
    words, longest = result.words(), 120 if result.descriptions else 60
    numbers = [
        [f"{x:.6g}" for x in (*front.objectives[i], front.violations[i])] + [str(front.policies[i])] for i in rows
    ]
    header = [*result.columns(), "violations", "policy", "solution"]
    lines = aligned(header, [[*numbers[k], cut(words[i], longest)] for k, i in enumerate(rows)])
    return lines if len(rows) == len(front) else [*lines, f"({len(rows)} of {len(front)} shown)"]
