"""Plans of experiments: problems, algorithms, budget and seeds, read from a TOML file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, Struct, structs

from .._util.checks import check_choice, check_positive, check_whole, did_you_mean, shown
from .._util.files import file_name
from .._util.structs import read
from ..algorithms.registry import algorithm
from ..errors import ParetoNRPAError
from ..solving.stop import MaxCpuTime, MaxEvaluations, StopCriterion
from .metrics import METRICS, USUAL_METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LAYOUTS = ("instances", "metrics", "grid")
_PLANS = Path(__file__).parent / "plans"
_LONGEST_MESSAGE = 600  # characters

# Upper limits catch typing errors that would exhaust the memory.
_MOST_SEEDS, _MOST_EVALUATIONS = 10_000, 10**15
Seeds = Annotated[int, Meta(ge=1, le=_MOST_SEEDS)]
Evaluations = Annotated[int, Meta(ge=1, le=_MOST_EVALUATIONS)]
CpuSeconds = Annotated[float, Meta(gt=0, le=1e9)]
Names = Annotated[tuple[str, ...], Meta(min_length=1)]


class PlanError(ParetoNRPAError):
    """A plan is unknown, or its file does not have the required content; the message is one line."""

    def __init__(self, message: str) -> None:
        line = " ".join(message.split())
        super().__init__(line if len(line) <= _LONGEST_MESSAGE else f"{line[: _LONGEST_MESSAGE - 4]} ...")


def _check_budget(evaluations: int | None, cpu_seconds: float | None) -> None:
    if (evaluations is None) == (cpu_seconds is None):
        got = "both" if evaluations is not None else "neither"
        raise ValueError(f"the budget must be either evaluations or cpu_seconds, got {got}")


def _check_names(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ValueError(f"{what} must be among {', '.join(known)}{hint}, got {shown(name)}")


class Contender(Struct, frozen=True, forbid_unknown_fields=True):
    """An algorithm with its parameters, under the label that tables show."""

    name: str
    label: str = ""
    parameters: dict[str, Any] = {}
    revision: int = 0  # always that of the installed algorithm

    def __post_init__(self) -> None:
        try:
            made: Any = algorithm(self.name, self.parameters)
        except OverflowError as error:
            raise ValueError(f"{error}, got {shown(self.parameters)}") from error
        # All parameters, including defaults, as these may change between versions.
        structs.force_setattr(self, "parameters", made.to_dict())
        structs.force_setattr(self, "revision", made.revision)
        structs.force_setattr(self, "label", self.label or self.name)


class Run(Struct, frozen=True):
    """One run as a value: equal runs of different plans have equal keys."""

    problem: str
    algorithm: str
    parameters: dict[str, Any]
    evaluations: int | None
    cpu_seconds: float | None
    seed: int
    count: str = "all"  # which evaluations use up the budget
    revision: int = 1  # of the algorithm: results differ between revisions

    @property
    def key(self) -> str:
        """A name for the run: readable, and different for different runs."""
        content = json.dumps(_plain_numbers(structs.asdict(self)), sort_keys=True)
        digest = hashlib.sha256(content.encode()).hexdigest()[:12]
        readable = file_name(f"{self.problem}-{self.algorithm}")
        return f"{readable[:60]}-seed{self.seed}-{digest}"

    @property
    def stop(self) -> StopCriterion:
        """When the run ends."""
        if self.evaluations is None:
            return MaxCpuTime(self.cpu_seconds or 0)
        return MaxEvaluations(self.evaluations, count=self.count)  # type: ignore[arg-type]  # checks its argument


def _plain_numbers(value: Any) -> Any:
    """Return values with whole numbers as such: 60 and 60.0 seconds are the same run."""
    if isinstance(value, dict):
        return {key: _plain_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


class Figures(Struct, frozen=True, forbid_unknown_fields=True):
    """The problems of each kind of figure."""

    fronts: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    attainment: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    matrices: tuple[str, ...] = ()


class Quick(Struct, frozen=True, forbid_unknown_fields=True):
    """The quick version of a plan; `stand_ins` are its problems where data are not on this machine."""

    problems: Names | None = None
    stand_ins: Names | None = None
    seeds: Seeds = 2
    evaluations: Evaluations | None = None
    cpu_seconds: CpuSeconds | None = None
    algorithms: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.evaluations is None and self.cpu_seconds is None:
            structs.force_setattr(self, "evaluations", 2_000)
        _check_budget(self.evaluations, self.cpu_seconds)


class Plan(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"contenders": "algorithm"}):
    """An experiment: each of its algorithms on each of its problems, with each seed."""

    problems: Names
    contenders: Annotated[tuple[Contender, ...], Meta(min_length=1)]
    evaluations: Evaluations | None = None
    cpu_seconds: CpuSeconds | None = None
    seeds: Seeds = 30
    count: str = "all"  # which evaluations use up the budget: all, or unique
    name: str = ""
    title: str = ""
    paper: str = ""
    layout: str = "instances"
    reference: str = ""  # the label to compare others with
    metrics: tuple[str, ...] = USUAL_METRICS
    curve: tuple[Evaluations, ...] = ()  # evaluations after which the hypervolume is tabulated
    figures: Figures = Figures()
    published: dict[str, str] = {}  # the name of a problem in the paper
    quick: Quick = Quick()

    def __post_init__(self) -> None:
        _check_budget(self.evaluations, self.cpu_seconds)
        check_choice("count", self.count, ("all", "unique"))
        check_choice("layout", self.layout, LAYOUTS)
        if self.count == "unique" and (self.evaluations is None or self.curve):
            got = "a curve" if self.curve else "cpu_seconds"
            raise ValueError(f'count = "unique" needs evaluations as its budget and no curve, got {got}')
        if len(set(self.problems)) < len(self.problems):
            raise ValueError(f"problems must differ, got one twice in {shown(list(self.problems))}")
        if list(self.curve) != sorted(set(self.curve)):
            raise ValueError(f"curve must be rising numbers of evaluations, got {list(self.curve)}")
        if len(set(self.labels)) < len(self.labels):
            raise ValueError(f"the labels of algorithms must differ, got {', '.join(self.labels)}")
        structs.force_setattr(self, "reference", self.reference or self.labels[-1])
        _check_names("reference", [self.reference], self.labels)
        _check_names("metrics", self.metrics, METRICS)
        _check_names("algorithms of quick", self.quick.algorithms, self.labels)
        for contender in self.contenders:
            if self.layout == "grid" and not {"n_policies", "alpha"} <= contender.parameters.keys():
                raise ValueError(f'layout = "grid" needs n_policies and alpha, got {contender.name} without them')

    @property
    def labels(self) -> list[str]:
        """The labels of the algorithms."""
        return [contender.label for contender in self.contenders]

    @property
    def budget(self) -> str:
        """The budget of a run, in words."""
        return str(self.run(self.problems[0], self.contenders[0], 0).stop)

    def run(self, problem: str, contender: Contender, seed: int) -> Run:
        """Return one run of the plan."""
        budget = self.evaluations, self.cpu_seconds
        return Run(problem, contender.name, contender.parameters, *budget, seed, self.count, contender.revision)

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
        """Return the plan with other seeds, another budget, other problems or fewer algorithms."""
        wanted, problems = set(labels), tuple(problems)
        if unknown := wanted - set(self.labels):
            known = ", ".join(self.labels)
            raise PlanError(f"plan {self.name} has no algorithm labelled {min(unknown)!r}; it has: {known}.")
        changes: dict[str, Any] = {}
        if wanted:
            chosen = tuple(contender for contender in self.contenders if contender.label in wanted)
            reference = self.reference if self.reference in wanted else chosen[-1].label
            quick = structs.replace(self.quick, algorithms=())
            changes |= {"contenders": chosen, "reference": reference, "quick": quick}
        if problems:
            changes["problems"] = problems
        if not set(problems) <= set(self.problems):
            # Names of the paper's problems do not apply to others.
            title = f"{', '.join(problems)} instead of the plan's problems: {self.title}"
            changes |= {"title": title, "paper": ""}
        if seeds is not None:
            check_whole("seeds", seeds, 1, _MOST_SEEDS)
            changes["seeds"] = seeds
        if evaluations is not None:
            check_whole("evaluations", evaluations, 1, _MOST_EVALUATIONS)
        if cpu_seconds is not None:
            check_positive("cpu_seconds", cpu_seconds)
        if evaluations is not None or cpu_seconds is not None:
            count = self.count if cpu_seconds is None else "all"
            changes |= {"evaluations": evaluations, "cpu_seconds": cpu_seconds, "count": count}
        try:
            return structs.replace(self, **changes)
        except ValueError as error:
            raise PlanError(f"{error}.") from error

    def small(self, has_problem: Callable[[str], bool]) -> Plan:
        """Return the quick version of the plan: few problems, few seeds, a small budget.

        Problems missing on this machine are replaced by stand-ins, as its title states.
        """
        quick = self.quick
        problems = quick.problems or self.problems[:2]
        if not all(map(has_problem, problems)):
            problems = quick.stand_ins or problems
        return self.restricted(
            seeds=quick.seeds,
            evaluations=quick.evaluations,
            cpu_seconds=quick.cpu_seconds,
            problems=problems,
            labels=quick.algorithms,
        )


def plan_names() -> list[str]:
    """Return the names of the plans of the package."""
    return sorted(path.stem for path in _PLANS.glob("*.toml"))


def load_plan(name_or_path: str) -> Plan:
    """Return a plan by its name, or from a TOML file of the same form."""
    shipped = name_or_path in plan_names()
    path = _PLANS / f"{name_or_path}.toml" if shipped else Path(name_or_path)
    if not path.is_file():
        hint, there = did_you_mean(name_or_path, plan_names()), ", ".join(plan_names())
        raise PlanError(f"unknown plan {name_or_path!r}{hint}; there are: {there}; or give a TOML file.")
    plan = read(path, Plan, what="a plan", error=PlanError)
    if plan.name:
        raise PlanError(f"{path} must not have the key name, got {shown(plan.name)}: a plan has the name of its file.")
    name = file_name(path.stem)
    return structs.replace(plan, name=name, title=plan.title or name)
