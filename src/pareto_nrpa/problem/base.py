"""Problems: solutions built move by move, evaluated by one or more objectives.

`Problem` is plain Python, five small methods. `CompiledProblem` has the same methods as Numba kernels and runs a
hundred times faster. All algorithms take both.
"""

from __future__ import annotations

import copy
import hashlib
import inspect
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.checks import is_number, shown
from ..errors import ProblemError
from .fingerprint import data_contents, problem_contents
from .segments import Segments, check_segments

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from ..result.reference import ReferenceFront
    from .genotype import Genotype

MAX_MOVES = 10_000
MAX_CODES = 2**32
_FUNCTIONS = ("all_moves", "bias", "identity", "evaluate_solution", "neighbours", "describe", "details")


class Problem(ABC):
    """A problem in plain Python.

    Attributes
    ----------
    n_objectives
        How many objectives `evaluate` returns, at least 1.
    maximise
        True, or one bool per objective, where more is better; objectives are minimised otherwise.
    constrained
        True if `evaluate` returns `(objectives, violations)` instead of objectives alone.
    max_moves
        A longer sequence is an error: it is taken for an endless one.
    preference
        The preference of the bias in the paper's setting, a weight per objective; the first objective by default.
    reference_point
        The reference point of hypervolumes, where one is known.
    genotype
        The type of solutions, `Permutation` or `Choices`, for algorithms that change whole solutions.
    name
        Name of the problem in results.
    objective_names
        Names of the objectives in results; f1, f2, ... by default.
    reference_front
        A `ReferenceFront` that results are compared with, where one is known: from a table of all solutions, from a
        proof or from a file. Results then report how much of it was found.
    context
        A dictionary of plain values that a result stores once, for the interpretation of `details`.
    version
        Any value that you change when the code or the data of the problem change. Checkpoints then compare it alone;
        without it, all code and data that can be read.
    """

    n_objectives: int = 2
    maximise: bool | Sequence[bool] = False
    constrained: bool = False
    max_moves: int = MAX_MOVES
    preference: Sequence[float] | None = None
    reference_point: Sequence[float] | None = None
    genotype: Genotype | None = None
    name: str = ""
    objective_names: Sequence[str] | None = None
    reference_front: ReferenceFront | None = None
    context: dict[str, Any] | None = None
    version: Any = None

    #: Optional: `all_moves(state)`, like `legal_moves` without pruning.
    all_moves: Callable[..., Iterable[Hashable]] | None = None

    #: Optional: `bias(state, move)` or `bias(state, move, preference)`, added to the learned weight of a move (GNRPA).
    bias: Callable[..., float] | None = None

    #: Optional: `identity(state)`, a whole number of at least 0 shared by equal solutions of different moves. It
    #: decides which evaluations are unique; otherwise the sequence of moves decides.
    identity: Callable[..., int] | None = None

    #: Optional: `evaluate_solution(moves)`, the result of `evaluate` computed from the list of all moves: faster.
    evaluate_solution: Callable[[list[Any]], Any] | None = None

    #: Optional, with a genotype: `neighbours(moves)`, complete solutions near one, as lists of moves; local search
    #: tries them besides its own neighbourhoods. The same list of moves must have the same neighbours each time.
    neighbours: Callable[[list[Any]], Iterable[Sequence[Any]]] | None = None

    #: Optional: `describe(moves)`, a short text for a solution.
    describe: Callable[[Sequence[Any]], str] | None = None

    #: Optional: `details(moves)`, a dictionary of plain values that a result stores of a solution. A text named
    #: `violated`, as in "late at Anna by 5", is shown where no feasible solution was found.
    details: Callable[[Sequence[Any]], dict[str, Any]] | None = None

    def __repr__(self) -> str:
        return short_repr(self)

    @abstractmethod
    def initial_state(self) -> Any:
        """Return the state before the first move."""

    @abstractmethod
    def legal_moves(self, state: Any) -> Iterable[Hashable]:
        """Return the legal moves, each once; an empty list means that the solution is complete.

        Moves that compare equal, such as 1 and True, count as the same move.
        """

    @abstractmethod
    def play(self, state: Any, move: Any) -> Any:
        """Return the state after a move, without changing `state`."""

    @abstractmethod
    def move_code(self, state: Any, move: Any) -> Hashable:
        """Return the key of the weight that a policy learns: moves with equal codes share one weight."""

    @abstractmethod
    def evaluate(self, state: Any) -> Any:
        """Return the objectives of a complete solution, and its violations if the problem is `constrained`."""

    @staticmethod
    def from_choices(
        function: Callable[[list[Any]], Any], choices: Iterable[Iterable[Hashable]], **declared: Any
    ) -> Problem:
        """Return a problem whose solutions make one independent choice per step.

        Parameters
        ----------
        function
            Takes a solution, the list of choices, and returns what `evaluate` returns. A function compiled by Numba
            takes an array of whole numbers.
        choices
            For each step, the list of choices; each choice of each step has a weight of its own.
        declared
            Attributes of the problem: n_objectives, maximise, constrained, name, objective_names, ...

        >>> problem = Problem.from_choices(lambda taken: (sum(taken), taken.count(0)), [(0, 1)] * 4, name="light")
        """
        from .builders import ChoicesProblem

        return ChoicesProblem(function, choices, **declared)

    @staticmethod
    def from_permutation(
        function: Callable[[list[Any]], Any],
        items: Iterable[Hashable] | int,
        *,
        code: str = "previous",
        repeats: bool = False,
        **declared: Any,
    ) -> Problem:
        """Return a problem whose solutions are orders of items.

        Parameters
        ----------
        function
            Takes an order, the list of items, and returns what `evaluate` returns. A function compiled by Numba takes
            an array of whole numbers.
        items
            The items to order; a number n stands for 0 to n - 1.
        repeats
            Whether items may occur several times, as the operations of a job in [0, 0, 1, 1, 1].
        code
            What is learned: "previous", which item follows which (tours), or "position", which item comes at which
            place (schedules).
        declared
            Attributes of the problem: n_objectives, maximise, constrained, name, objective_names, ...
        """
        from .builders import PermutationProblem

        return PermutationProblem(function, items, code=code, repeats=repeats, **declared)


@dataclass(frozen=True, eq=False, repr=False)
class CompiledProblem:
    """A problem as a bundle of kernels (functions marked with `pareto_nrpa.kernel`) over read-only data.

    Kernels: `initial_state(data)` returns a NamedTuple of arrays; `legal_moves(data, state, out)` fills `out` and
    returns how many; `play(data, state, move)` changes the state in place; `move_code(data, state, move)` returns an
    integer below `n_codes`; `evaluate(data, state, out)` fills the objectives and returns the number of violations;
    the optional `bias(data, state, move, preference)` returns a float; the optional `all_moves(data, state, out)` is
    `legal_moves` without pruning; the optional `identity(data, state)` returns a whole number of at least 0 shared by
    equal solutions of different moves; the optional `canonical(data, moves, n_moves)` rewrites a complete solution in
    place, where several lists of moves are the same solution, into the only one that `legal_moves` and `all_moves`
    allow; the optional
    `evaluate_solution(data, moves, out)` is `evaluate` for the moves of a complete solution, to the last bit.

    Attributes
    ----------
    data
        A NamedTuple of arrays and numbers.
    max_moves
        The length of the longest sequence.
    max_legal
        The largest number of legal moves at any step (default: `max_moves`).
    max_candidates
        The largest sum of legal moves over the steps of a sequence (default: `max_moves * max_legal`).
    distinct_codes
        True if no code is legal at two steps of one sequence, as when a code names the city that is left: long
        sequences are then learned from faster.
    bias_by_code
        True if moves of equal code have equal bias, which is then computed once per policy.
    genotype
        The type of solutions, `Permutation` or `Choices`, for algorithms that change whole solutions.
    objective_names, reference_front, context
        As in `Problem`.
    describe, details
        Plain functions from the moves of a solution to a short text, and to a dictionary of plain values.
    segments
        How stretches of a `Permutation` are evaluated: local search then evaluates millions of neighbours a second
        instead of playing each.
    known_by
        The given parts of the data, from which the others are computed: they alone identify the instance in proofs and
        stored runs, so that a version that computes further parts still recognises it.
    """

    data: Any
    initial_state: Callable[..., Any]
    legal_moves: Callable[..., Any]
    play: Callable[..., Any]
    move_code: Callable[..., Any]
    evaluate: Callable[..., Any]
    n_objectives: int
    n_codes: int
    max_moves: int
    bias: Callable[..., Any] | None = None
    all_moves: Callable[..., Any] | None = None
    max_legal: int | None = None
    max_candidates: int | None = None
    distinct_codes: bool = False
    bias_by_code: bool = False
    maximise: bool | Sequence[bool] = False
    preference: Sequence[float] | None = None
    reference_point: Sequence[float] | None = None
    genotype: Genotype | None = None
    name: str = ""
    identity: Callable[..., Any] | None = None
    canonical: Callable[..., Any] | None = None
    evaluate_solution: Callable[..., Any] | None = None
    objective_names: Sequence[str] | None = None
    reference_front: ReferenceFront | None = None
    describe: Callable[[Sequence[Any]], str] | None = None
    segments: Segments | None = None
    known_by: tuple[str, ...] = ()
    context: dict[str, Any] | None = None
    details: Callable[[Sequence[Any]], dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        from ..engine.jit.kernels import is_kernel

        if not 1 <= self.n_codes < MAX_CODES:
            raise ProblemError(f"n_codes must be between 1 and {MAX_CODES - 1}, got {self.n_codes}.")
        if self.max_moves < 1:
            raise ProblemError(f"max_moves must be at least 1, got {self.max_moves}.")
        others = {"all_moves": self.all_moves, "evaluate_solution": self.evaluate_solution}
        for word, function in {**self.kernels, **others}.items():
            if function is not None and not is_kernel(function):
                raise ProblemError(f"{word} is not a kernel; put @kernel before its definition.")
        if self.segments is not None:
            check_segments(self.segments, self)
        if self.max_legal is None:
            object.__setattr__(self, "max_legal", self.max_moves)
        if self.max_candidates is None:
            object.__setattr__(self, "max_candidates", self.max_moves * (self.max_legal or 1))
        check_declarations(self)

    def __repr__(self) -> str:
        return short_repr(self)

    @property
    def kernels(self) -> dict[str, Callable[..., Any]]:
        """The kernels of the problem by name, without absent ones."""
        words = ("initial_state", "legal_moves", "play", "move_code", "evaluate", "bias", "identity", "canonical")
        return {word: getattr(self, word) for word in words if getattr(self, word) is not None}

    def replay(self, moves: Sequence[int]) -> tuple[NDArray[np.float64], float]:
        """Play given moves in plain Python; returns objectives and violations."""
        from .stepper import replay

        return replay(self, moves)


AnyProblem = Problem | CompiledProblem


def without_pruning(problem: AnyProblem) -> AnyProblem:
    """Return a problem without pruning, if it distinguishes `all_moves` from `legal_moves`."""
    if problem.all_moves is None:
        return problem
    if isinstance(problem, CompiledProblem):
        return replace(problem, legal_moves=problem.all_moves, all_moves=None)
    free = copy.copy(problem)
    free.legal_moves = problem.all_moves  # type: ignore[method-assign]  # hides the method of the class, in this copy
    return free


def check_problem_type(problem: object) -> None:
    """Raise if something is not a problem."""
    if isinstance(problem, type) and issubclass(problem, Problem | CompiledProblem):
        name = problem.__name__
        raise TypeError(f"problem must be a Problem or a CompiledProblem, got the class {name}; call it: {name}(...).")
    if not isinstance(problem, Problem | CompiledProblem):
        raise TypeError(
            f"problem must be a Problem or a CompiledProblem, got {type(problem).__name__}; "
            'load("rc_204.3") gives one by name.'
        )


def problem_name(problem: AnyProblem) -> str:
    """Return the name of a problem, or of its class where it has none."""
    return problem.name or type(problem).__name__


def short_repr(problem: AnyProblem) -> str:
    """Return a problem as one line, without its data."""
    kind, m = type(problem).__name__, problem.n_objectives
    name = f" {problem.name}" if problem.name else ""
    return f"<{kind}{name}, {m} objective{'s' if m != 1 else ''}>"


def check_declarations(problem: AnyProblem) -> None:
    """Raise `ProblemError` if declared attributes are inconsistent."""
    name, m = problem_name(problem), problem.n_objectives
    if not isinstance(problem.max_moves, int | np.integer) or problem.max_moves < 1:
        raise ProblemError(f"max_moves of {name} must be a whole number of at least 1, got {problem.max_moves!r}.")
    for word in _FUNCTIONS:
        function = getattr(problem, word, None)
        if function is not None and not callable(function):
            raise ProblemError(f"{word} of {name} must be a function, got {shown(function)}.")
    n_genes = len(getattr(problem.genotype, "moves", ()))
    if problem.genotype is not None and not 1 <= n_genes <= problem.max_moves:
        raise ProblemError(
            f"genotype of {name} must be a Permutation or Choices with at most max_moves ({problem.max_moves}) moves, "
            f"got {problem.genotype!r:.80}."
        )
    if isinstance(m, bool) or not isinstance(m, int | np.integer) or m < 1:
        raise ProblemError(f"n_objectives of {name} must be a whole number of at least 1, got {m!r}.")
    for word in ("maximise", "preference", "reference_point", "objective_names"):
        value = getattr(problem, word)
        if value is None or (word == "maximise" and isinstance(value, bool | np.bool_)):
            continue
        if isinstance(value, str) or np.shape(value) != (m,):
            raise ProblemError(
                f"{word} of {name} must have one entry for each of the {m} objectives, got {shown(value)}."
            )
        if word == "maximise" and not all(isinstance(flag, bool | np.bool_) for flag in value):
            raise ProblemError(f"maximise of {name} must be true or false for each objective, got {shown(value)}.")
        if word == "objective_names" and len(set(value)) < m:
            raise ProblemError(f"objective_names of {name} must all differ, got {shown(value)}.")
        if word in ("preference", "reference_point") and not all(map(is_number, value)):
            raise ProblemError(f"{word} of {name} must be finite numbers, got {shown(value)}.")
    if getattr(problem, "neighbours", None) is not None and problem.genotype is None:
        raise ProblemError(f"neighbours of {name} require a genotype, Permutation or Choices.")
    front = problem.reference_front
    if front is not None and getattr(getattr(front, "points", None), "shape", ())[1:] != (m,):
        raise ProblemError(
            f"reference_front of {name} must be a ReferenceFront of {m} objectives, as ReferenceFront.of(objectives) "
            f"makes one, got {shown(front)}."
        )


def wrong_evaluation(problem: Problem, value: Any) -> str:
    """Return the message for an invalid result of `evaluate`."""
    expected = f"{problem.n_objectives} objectives"
    if problem.constrained:
        expected = f"({expected}, violations), because it is constrained"
    return f"evaluate() of {problem_name(problem)} must return {expected}, got {shown(value)}."


def checked_evaluation(problem: Problem, value: Any) -> tuple[float, list[float]]:
    """Return violations and objectives from the result of `evaluate`; they need not be finite."""
    m, violations, objectives = problem.n_objectives, 0.0, value
    try:
        if problem.constrained:
            objectives, violations = value
            violations = as_float(violations)
        if isinstance(objectives, set | frozenset):
            raise TypeError("the order of a set is not that of its objectives")
        values = [as_float(objectives)] if m == 1 and np.ndim(objectives) == 0 else list(map(as_float, objectives))
    except (TypeError, ValueError, OverflowError) as error:
        raise ProblemError(wrong_evaluation(problem, value)) from error
    if len(values) != m:
        raise ProblemError(
            f"evaluate() of {problem_name(problem)} must return {m} objectives (n_objectives), got {len(values)}."
        )
    return violations, values


def as_float(value: Any) -> float:
    """Return a number as a float; text is refused, also if it looks like a number."""
    if isinstance(value, str | bytes):
        raise TypeError("text is not a number")
    return float(value)


def checked_identity(problem: Problem, state: Any) -> int:
    """Return the `identity` of a state, or `NO_IDENTITY` if the problem has none."""
    if problem.identity is None:
        return -1
    return check_identity(problem_name(problem), problem.identity(state))


def check_identity(name: str, number: Any) -> int:
    """Return the result of `identity` as a whole number; raise if it is invalid."""
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or not 0 <= number < 2**62:
        raise ProblemError(
            f"identity() of {name} must be a whole number of at least 0, below 2^62, got {shown(number)}."
        )
    return int(number)


def objective_signs(problem: AnyProblem) -> NDArray[np.float64]:
    """Return +1 for each objective to minimise and -1 for each to maximise."""
    maximise = problem.maximise
    flags = np.broadcast_to(np.asarray(maximise, dtype=bool), problem.n_objectives)
    signs: NDArray[np.float64] = np.where(flags, -1.0, 1.0)
    return signs


def paper_preference(problem: AnyProblem) -> NDArray[np.float64]:
    """Return the preference of all policies in the paper's setting: the declared one, or the first objective."""
    if problem.preference is not None:
        return np.asarray(problem.preference, dtype=float)
    first: NDArray[np.float64] = np.eye(problem.n_objectives)[0]
    return first


def plain_bias(problem: Problem) -> Callable[..., float] | None:
    """Return the bias of a plain problem as a function of state, move and preference, or None."""
    bias = problem.bias
    if bias is None:
        return None
    if len(inspect.signature(bias).parameters) >= 3:
        return bias
    return lambda state, move, preference: bias(state, move)


def problem_fingerprint(problem: AnyProblem) -> str:
    """Return a hash of a problem: its code, declared attributes and data.

    The `version` of a plain problem, if set, replaces its code and data.
    """
    declared: list[Any] = [problem.n_objectives, objective_signs(problem), paper_preference(problem)]
    if isinstance(problem, CompiledProblem):
        from ..engine.jit.kernels import fingerprint

        judging = problem.segments.kernels.values() if problem.segments else ()
        code = fingerprint(*problem.kernels.values(), *([problem.all_moves] if problem.all_moves else []), *judging)
        declared += [problem.n_codes, problem.max_moves, problem.max_legal, problem.max_candidates]
        declared += [problem.distinct_codes, problem.bias_by_code, code, *problem.data]
        return data_contents(declared)
    declared += [type(problem).__qualname__, problem.constrained]
    if problem.version is not None:
        return data_contents([*declared, "version", problem.version])
    return problem_contents(problem, declared)


class FirstFingerprint:
    """The fingerprint of a problem at the start of a search: values cached during the search are not changes.

    A missing fingerprint is reported on first use, as only saved searches need one.
    """

    def __init__(self, problem: AnyProblem) -> None:
        self.first, self._problem = "", problem
        with suppress(ProblemError):
            self.first = problem_fingerprint(problem)

    def known_as(self) -> list[str]:
        """Return the fingerprints accepted when the search is resumed: at the start, and at present."""
        try:
            now = problem_fingerprint(self._problem)
        except ProblemError:
            if not self.first:
                raise
            now = self.first  # an unreadable value was added after the start
        return [self.first or now, now]


def data_fingerprint(problem: AnyProblem) -> str:
    """Return a hash of declared attributes and data, without code: equal in all versions of the package."""
    held: Any = vars(problem)
    if isinstance(problem, CompiledProblem):
        held = [getattr(problem.data, name) for name in problem.known_by] if problem.known_by else problem.data
    content = _canonical([problem.n_objectives, objective_signs(problem), problem.max_moves, held])
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _canonical(value: Any) -> str:
    """Write values so that equal contents give equal text; it identifies proofs and stored runs, so it is fixed."""
    if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
        return f"{value.dtype}{value.shape}{hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_canonical(item)}" for key, item in value.items()) + "}"
    if isinstance(value, set | frozenset):
        return "{" + ",".join(sorted(map(_canonical, value))) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(_canonical(item) for item in value) + "]"
    if isinstance(value, int | float | str | bytes | None):
        return repr(value)
    return data_contents(value)
