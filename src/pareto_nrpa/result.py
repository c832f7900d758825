"""What a search leaves behind: frozen values that print, save, load and turn into a data frame."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from .exceptions import ParetoNRPAError
from .files import write_atomically

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

_FORMAT = "pareto-nrpa result 1"
_ROWS_SHOWN = 20
# What results have only sometimes.
_EXTRAS = ("unique_evaluations", "objective_names", "descriptions", "truth", "failures", "discarded")


@dataclass(frozen=True, eq=False)
class Front:
    """Mutually non-dominated solutions, sorted by their first objective."""

    objectives: NDArray[np.float64]  # [n, m], in the sense in which the problem states them
    violations: NDArray[np.float64]  # [n], the same for all: 0, or the least that was found
    solutions: list[list[Any]]  # the moves of each solution
    policies: NDArray[np.int64]  # [n], the policy that sampled each

    def __post_init__(self) -> None:
        for name in ("objectives", "violations", "policies"):
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
    ) -> Front:
        """Return a front in the order of its objectives."""
        order = np.lexsort(objectives.T[::-1])
        return cls(objectives[order], violations[order], [solutions[i] for i in order], policies[order])

    def __len__(self) -> int:
        return len(self.objectives)

    @property
    def is_feasible(self) -> bool:
        """Whether the front has solutions, and they violate nothing."""
        return len(self) > 0 and not self.violations.any()


@dataclass(frozen=True, eq=False)
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
    reference_point: list[float] | None  # what the hypervolume is measured against; None if nothing is feasible
    maximise: list[bool]
    versions: dict[str, str] = field(default_factory=dict)
    unique_evaluations: int | None = None  # of solutions not evaluated before; None if they were not counted
    objective_names: list[str] = field(default_factory=list)  # none: f1, f2, ...
    descriptions: list[str] = field(default_factory=list)  # a word for each solution of the front, or none at all
    # Where the true front is known: its points, how many were found, share of its hypervolume, IGD+ to it.
    truth: dict[str, Any] = field(default_factory=dict)
    # [n, 2 + m]: evaluation, violations and minimised objectives of all that ever was in the front; not saved.
    log: NDArray[np.float64] | None = field(default=None, repr=False)
    failures: int = 0  # of the evaluations, those that failed and were survived
    discarded: int = 0  # solutions that nothing dominated when they had to go, as the archive was limited

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
            lines.append(f"{self.discarded:,} more were found and discarded, as max_archive says; history counts them")
        if n and not self.front.is_feasible:
            lines.append(
                f"No feasible solution was found; these are the least violated, {self.front.violations[0]:g} "
                "violation(s) each. More evaluations may help."
            )
        elif n and len(self.history):
            point = ", ".join(f"{x:.6g}" for x in self.reference_point or ())
            lines.append(f"hypervolume {self.hypervolume:.6g} up to the reference point ({point})")
        return lines + ([_beside_the_truth(self.truth)] if self.truth else [])

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values, ready for JSON."""
        # Written where there is something to say: a file without them says the same.
        extras = {name: value for name in _EXTRAS if (value := getattr(self, name))}
        return {
            "format": _FORMAT,
            "instance": self.instance,
            "algorithm": self.algorithm,
            "parameters": {name: plain(value) for name, value in self.parameters.items()},
            "seed": self.seed,
            "evaluations": self.evaluations,
            "cpu_seconds": self.cpu_seconds,
            "wall_seconds": self.wall_seconds,
            "stopped_by": self.stopped_by,
            "reference_point": self.reference_point,
            "maximise": self.maximise,
            "objectives": self.front.objectives.tolist(),
            "violations": [_whole(v) for v in self.front.violations.tolist()],
            "solutions": [[plain(move) for move in solution] for solution in self.front.solutions],
            "policies": self.front.policies.tolist(),
            "history": [[int(n), value] for n, value in self.history.tolist()],
            "versions": self.versions,
            **extras,
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the result, as a table if the name ends in .csv, else as JSON that `load` reads; returns the path."""
        return self.save_csv(path) if os.fspath(path).endswith(".csv") else self.save_json(path)

    def save_json(self, path: str | os.PathLike[str]) -> Path:
        """Write the result as JSON and return the path."""
        text = json.dumps(self.to_dict(), indent=1, allow_nan=False)
        return write_atomically(path, lambda file: _write(file, text))

    def save_csv(self, path: str | os.PathLike[str]) -> Path:
        """Write the front as a table that spreadsheets open and return the path."""
        lines = [",".join([*self.columns(), "violations", "policy", "solution"])]
        front = self.front
        for values, violations, policy, words in zip(
            front.objectives.tolist(), front.violations.tolist(), front.policies.tolist(), self.words(), strict=True
        ):
            quoted = words.replace('"', '""')
            lines.append(",".join([*map(repr, values), f"{_whole(violations)}", str(policy), f'"{quoted}"']))
        return write_atomically(path, lambda file: _write(file, "\n".join(lines)))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Read a result written by `save`."""
        try:
            with open(path, encoding="utf-8") as file:
                content = json.load(file)
            return cls._from_dict(content)
        except OSError as error:
            raise ParetoNRPAError(f"cannot read {path}: {error.strerror or error}.") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ParetoNRPAError(f"{path} is not a result of pareto-nrpa, or is damaged.") from error

    @classmethod
    def _from_dict(cls, content: dict[str, Any]) -> Result:
        if content.get("format") != _FORMAT:
            raise ValueError("unknown format")
        m = len(content["maximise"])
        front = Front(
            objectives=np.asarray(content["objectives"], dtype=float).reshape(len(content["objectives"]), m),
            violations=np.asarray(content["violations"], dtype=float),
            solutions=[[_hashable(move) for move in solution] for solution in content["solutions"]],
            policies=np.asarray(content["policies"], dtype=np.int64),
        )
        if not len(front.objectives) == len(front.violations) == len(front.solutions) == len(front.policies):
            raise ValueError("parts of different lengths")
        history = np.asarray(content["history"], dtype=float).reshape(-1, 2)
        names = [field.name for field in fields(cls) if field.name not in ("front", "history", "log", *_EXTRAS)]
        extras = {name: content[name] for name in _EXTRAS if name in content}
        return cls(front=front, history=history, **{name: content[name] for name in names}, **extras)

    def to_dataframe(self) -> pd.DataFrame:
        """Return the front as a pandas data frame, one row per solution."""
        try:
            import pandas as pd
        except ImportError as error:
            message = 'to_dataframe() needs pandas; install it with: pip install "pareto-nrpa[dataframe]".'
            raise ImportError(message) from error
        frame = pd.DataFrame(self.front.objectives, columns=self.columns())
        frame["violations"] = self.front.violations
        frame["policy"] = self.front.policies
        frame["solution"] = self.front.solutions
        if self.descriptions:
            frame["description"] = self.descriptions
        return frame

    def columns(self) -> list[str]:
        """Return the names of the objectives: the problem's, or f1, f2, ..."""
        return list(self.objective_names) or [f"f{k + 1}" for k in range(len(self.maximise))]

    def words(self) -> list[str]:
        """Return each solution of the front in words: the problem's, or its moves."""
        moves = [" ".join(str(plain(move)) for move in solution) for solution in self.front.solutions]
        return list(self.descriptions) or moves


def _beside_the_truth(truth: dict[str, Any]) -> str:
    share = truth.get("share_of_hypervolume")
    volume = "" if share is None else f"the front has {share:.2%} of the true one's hypervolume, "
    found = f"{truth['found']} of the {truth['points']} points of the true front were found"
    return f"{found}; {volume}IGD+ {truth['igd_plus']:.4f}."


def _write(file: Any, text: str) -> None:
    file.write(text.encode() + b"\n")


def _whole(value: float) -> int | float:
    return int(value) if value == int(value) else value


def plain(value: Any) -> Any:
    """Return a move as something that JSON can say: tuples become lists, numbers stay, the rest becomes text."""
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def _hashable(value: Any) -> Any:
    """Return a move as it was: moves are hashable, so that a list in the file was a tuple."""
    return tuple(_hashable(item) for item in value) if isinstance(value, list) else value


def per_second(count: int, seconds: float) -> str:
    """Return a rate in as many digits as mean something."""
    rate = count / seconds if seconds > 0 else 0.0
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def rows_to_show(n: int) -> list[int]:
    """Return which rows of a long front to print: all of a short one, else evenly spaced ones with both ends."""
    return sorted(set(np.linspace(0, n - 1, min(n, _ROWS_SHOWN)).round().astype(int).tolist())) if n else []


def _table(result: Result) -> list[str]:
    front, rows = result.front, rows_to_show(len(result.front))
    words, longest = result.words(), 120 if result.descriptions else 60
    lines = ["".join(f"{name:>14}" for name in [*result.columns(), "violations", "policy"]) + "  solution"]
    for i in rows:
        moves = words[i] if len(words[i]) <= longest else words[i][: longest - 3] + "..."
        numbers = "".join(f"{value:14.6g}" for value in (*front.objectives[i], front.violations[i]))
        lines.append(f"{numbers}{front.policies[i]:14d}  {moves}")
    if len(rows) < len(front):
        lines.append(f"({len(rows)} of {len(front)} shown)")
    return lines
