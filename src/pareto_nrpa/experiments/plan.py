"""What an experiment consists of: problems, algorithms, a budget and seeds, read from a TOML file."""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import asdict, dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .._util.checks import did_you_mean
from .._util.files import file_name
from ..algorithms.registry import algorithm
from ..solving.stop import MaxCpuTime, MaxEvaluations, StopCriterion
from .metric_table import METRICS, USUAL_METRICS
from .plan_checks import (
    ALGORITHM_KEYS,
    FIGURES,
    LAYOUTS,
    PLAN_KEYS,
    PlanError,
    check_budget,
    check_grid,
    check_keys,
    check_names,
    check_quick,
    check_seeds,
    check_unique,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Contender:
    """An algorithm with its parameters, under the label that tables call it by."""

    label: str
    name: str
    parameters: dict[str, Any]  # all of them
    revision: int = 1  # of the algorithm


def _plain_numbers(value: Any) -> Any:
    """Return values with whole numbers as such: 60 and 60.0 seconds are the same run."""
    if isinstance(value, dict):
        return {key: _plain_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@dataclass(frozen=True)
class Run:
    """One run as a value: equal runs have equal keys, whatever plan they belong to."""

    problem: str
    algorithm: str
    parameters: dict[str, Any]
    evaluations: int | None
    cpu_seconds: float | None
    seed: int
    count: Literal["all", "unique"] = "all"  # which evaluations use up the budget
    revision: int = 1  # of the algorithm: another one finds something else with the same parameters and seed

    @property
    def key(self) -> str:
        """A name for the run: readable, and different for different runs."""
        content = json.dumps(_plain_numbers(self.to_dict()), sort_keys=True)
        digest = hashlib.sha256(content.encode()).hexdigest()[:12]
        readable = file_name(f"{self.problem}-{self.algorithm}")
        return f"{readable[:60]}-seed{self.seed}-{digest}"

    def to_dict(self) -> dict[str, Any]:
        """Return the run as plain values."""
        return asdict(self)

    @property
    def stop(self) -> StopCriterion:
        """When the run ends."""
        if self.evaluations is None:
            return MaxCpuTime(self.cpu_seconds or 0)
        return MaxEvaluations(self.evaluations, count=self.count)


@dataclass(frozen=True)
class Plan:
    """An experiment."""

    name: str
    title: str
    problems: tuple[str, ...]
    contenders: tuple[Contender, ...]
    seeds: int
    evaluations: int | None
    cpu_seconds: float | None
    count: Literal["all", "unique"] = "all"  # which evaluations use up the budget
    paper: str = ""
    layout: str = "instances"
    reference: str = ""  # the label that others are compared with
    metrics: tuple[str, ...] = USUAL_METRICS
    curve: tuple[int, ...] = ()  # evaluations after which the hypervolume is tabulated
    figures: dict[str, Any] = field(default_factory=dict)
    published: dict[str, str] = field(default_factory=dict)  # how the paper calls a problem
    quick: dict[str, Any] = field(default_factory=dict)

    def run(self, problem: str, contender: Contender, seed: int) -> Run:
        """Return one run of the plan."""
        budget = self.evaluations, self.cpu_seconds
        return Run(problem, contender.name, contender.parameters, *budget, seed, self.count, contender.revision)

    @property
    def budget(self) -> str:
        """The budget of a run, in words."""
        if self.evaluations is None:
            return f"{self.cpu_seconds:g} s of CPU time"
        return str(MaxEvaluations(self.evaluations, count=self.count))

    def runs(self) -> list[Run]:
        """Return all runs, first seeds first, so that an unfinished experiment is balanced."""
        runs = [
            self.run(problem, contender, seed)
            for seed in range(self.seeds)
            for problem in self.problems
            for contender in self.contenders
        ]
        return list({run.key: run for run in runs}.values())  # two labels may name the same run

    def restricted(
        self,
        *,
        seeds: int | None = None,
        evaluations: int | None = None,
        cpu_seconds: float | None = None,
        problems: Iterable[str] = (),
        labels: Iterable[str] = (),
    ) -> Plan:
        """Return the plan with fewer (or other) seeds, another budget, some of its problems or algorithms only."""
        contenders = self.contenders
        for label in labels:
            if label not in [contender.label for contender in contenders]:
                known = ", ".join(contender.label for contender in contenders)
                raise PlanError(f"plan {self.name} has no algorithm labelled {label!r}; it has: {known}.")
        if labels := set(labels):
            contenders = tuple(contender for contender in contenders if contender.label in labels)
        names = [contender.label for contender in contenders]
        reference = self.reference if self.reference in names else names[-1]
        plan = replace(self, contenders=contenders, reference=reference)
        if problems := tuple(problems):
            plan = replace(plan, problems=problems)
            if not set(problems) <= set(self.problems):
                # Nothing that is said of one problem may stand under the name of another.
                title = f"{', '.join(problems)} instead of the plan's problems: {self.title}"
                plan = replace(plan, title=title, paper="")
        if seeds is not None:
            check_seeds(seeds)
            plan = replace(plan, seeds=seeds)
        if evaluations is not None or cpu_seconds is not None:
            check_budget(evaluations, cpu_seconds)
            count = plan.count if cpu_seconds is None else "all"
            plan = replace(plan, evaluations=evaluations, cpu_seconds=cpu_seconds, count=count)
        return plan

    def small(self, has_problem: Any) -> Plan:
        """Return the quick version of the plan: few problems, few seeds, a small budget.

        Where its problems are not to be had, it is on stand-ins, and its title says so.
        """
        quick = self.quick
        problems = quick.get("problems", self.problems[:2])
        if not all(map(has_problem, problems)):
            problems = quick.get("stand_ins", problems)
        return self.restricted(
            seeds=quick.get("seeds", 2),
            evaluations=quick.get("evaluations", 2_000 if "cpu_seconds" not in quick else None),
            cpu_seconds=quick.get("cpu_seconds"),
            problems=problems,
            labels=quick.get("algorithms", ()),
        )


def plan_names() -> list[str]:
    """Return the names of the plans that come with the package."""
    return sorted(path.name.removesuffix(".toml") for path in _folder().iterdir() if path.name.endswith(".toml"))


def load_plan(name_or_path: str) -> Plan:
    """Return a plan by its name, or from a TOML file of the same form."""
    if name_or_path in plan_names():
        text = (_folder() / f"{name_or_path}.toml").read_text(encoding="utf-8")
        return _read(name_or_path, f"plan {name_or_path}", text)
    path = Path(name_or_path)
    if path.is_file():
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise PlanError(f"cannot read the plan {path}: {error}.") from error
        return _read(file_name(path.stem), f"plan {name_or_path}", text)
    hint, there = did_you_mean(name_or_path, plan_names()), ", ".join(plan_names())
    raise PlanError(f"unknown plan {name_or_path!r}{hint}; there are: {there}; or give a TOML file.")


def _folder() -> Any:
    return files(__package__) / "plans"


def _read(name: str, where: str, text: str) -> Plan:
    try:
        content = tomllib.loads(text)
    except RecursionError as error:
        raise PlanError(f"{where} is not a plan: its lists are nested too deep.") from error
    except ValueError as error:  # TOMLDecodeError, and numbers of thousands of digits
        raise PlanError(f"{where} is not TOML: {error}.") from error
    _check(where, content)
    contenders = tuple(_contender(where, entry) for entry in content["algorithm"])
    labels = [contender.label for contender in contenders]
    if len(set(labels)) < len(labels):
        raise PlanError(f"{where} has two algorithms with the same label: {', '.join(labels)}.")
    if content.get("layout") == "grid":
        check_grid(where, contenders)
    reference = content.get("reference", labels[-1])
    check_names(f"reference of {where}", [reference], labels)
    return Plan(
        name=name,
        title=content.get("title", name),
        paper=content.get("paper", ""),
        layout=content.get("layout", "instances"),
        reference=reference,
        problems=tuple(content["problems"]),
        contenders=contenders,
        seeds=content.get("seeds", 30),
        evaluations=content.get("evaluations"),
        cpu_seconds=content.get("cpu_seconds"),
        count=content.get("count", "all"),
        metrics=tuple(content.get("metrics", Plan.metrics)),
        curve=tuple(content.get("curve", ())),
        figures=content.get("figures", {}),
        published=content.get("published", {}),
        quick=content.get("quick", {}),
    )


def _check(where: str, content: dict[str, Any]) -> None:
    """Raise unless a file says what it should, as far as that can be seen without building the algorithms."""
    check_keys(where, content, PLAN_KEYS)
    for key in ("problems", "algorithm"):
        if not content.get(key):
            raise PlanError(f"{where} needs {key}: a list with at least one entry.")
    check_budget(content.get("evaluations"), content.get("cpu_seconds"))
    check_quick(where, content.get("quick", {}))
    if content.get("count", "all") == "unique":
        check_unique(where, content)
    check_seeds(content.get("seeds", 30))
    check_names(f"metrics of {where}", content.get("metrics", ()), METRICS)
    check_names(f"figures of {where}", content.get("figures", {}), FIGURES)
    if len(set(content["problems"])) < len(content["problems"]):
        raise PlanError(f"{where} lists a problem twice.")
    layout = content.get("layout", "instances")
    if layout not in LAYOUTS:
        raise PlanError(f"layout of {where} must be one of {', '.join(LAYOUTS)}, got {layout!r}.")


def _contender(where: str, entry: dict[str, Any]) -> Contender:
    check_keys(f"algorithm of {where}", entry, ALGORITHM_KEYS)
    if "name" not in entry:
        raise PlanError(f"an algorithm of {where} has no name.")
    try:
        made: Any = algorithm(entry["name"], entry.get("parameters"))
    except (ValueError, TypeError, OverflowError) as error:  # whatever a value of another kind leads to
        raise PlanError(f"algorithm of {where}: {error}") from error
    # All of them, defaults too: a default that a later version changes must not pass for the one that was run.
    return Contender(entry.get("label", entry["name"]), entry["name"], made.to_dict(), made.revision)
