"""Several searches that look like one: advanced in turns that depend on evaluations alone, merged whenever asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import moocore
import numpy as np

from ..checks import check_whole
from ..kernels.archive import far_apart
from ..kernels.bundles import VIOLATIONS
from ..problem import CompiledProblem, objective_signs
from ..result import Front
from .work import Newcomer

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from ..nrpa.search import Search
    from ..problem import AnyProblem
    from .crews import Crew
    from .work import Found

#: Slices of evaluations between two exchanges; more often was worse, see docs/parallel.md.
SLICES_PER_ROUND, _PLAIN_ROUND = 50, 1_000
# Of the evaluations of a round, at most this share is spent on what others have found.
_MOST_ADOPTED = 0.1


class Common(NamedTuple):
    """The front of all searches, in the order of discovery."""

    scores: NDArray[np.float64]  # [A, 1 + M]
    found_at: NDArray[np.int64]  # [A], counting the evaluations of all
    owners: NDArray[np.int64]  # [A], the search that was first
    places: NDArray[np.int64]  # [A], where it is in the archive of that search


class CooperatingSearch:
    """K searches of one algorithm at work on one problem.

    The evaluations of all are counted in turns: the first of each search, the second of each, and so on. When each has
    made `round_size` of them, every search is sent what it lacks of its stretch of the front. So who does what, when,
    follows from the number of evaluations alone, whoever carries the searches on. All that is shown is merged from the
    searches when it is asked for; there is no other state than theirs, and what they have not taken in yet.
    """

    # Each slice waits for the slowest search: long ones wait less, and are still short for whoever presses Ctrl-C.
    slice_seconds = (0.1, 0.4)

    def __init__(self, problem: AnyProblem, searches: list[Search], *, seed: int, crew: Crew) -> None:
        self.problem, self.seed, self.crew = problem, seed, crew
        self.wall_seconds = 0.0
        self._first = first = searches[0]
        is_compiled = isinstance(problem, CompiledProblem)
        self.round_size = SLICES_PER_ROUND * first.slice_size if is_compiled else _PLAIN_ROUND
        self._signs = objective_signs(problem)
        self._cpu_seconds = 0.0
        self._merged: tuple[list[int], Common, list[Found]] | None = None

    @property
    def n_searches(self) -> int:
        """How many searches work together."""
        return len(self.crew.searches)

    @property
    def cpu_seconds(self) -> float:
        """CPU time of all searches."""
        return self._cpu_seconds + self.crew.cpu_seconds

    @cpu_seconds.setter
    def cpu_seconds(self, seconds: float) -> None:
        self._cpu_seconds = seconds - self.crew.cpu_seconds

    @property
    def evaluations(self) -> int:
        """How many evaluations all searches have made, what they took over from each other included."""
        return sum(self.crew.evaluations())

    @property
    def unique_evaluations(self) -> int | None:
        """How many of them were of a solution that no search had evaluated before; None unless they are counted."""
        if self._first.unique_evaluations is None:
            return None
        return int(np.unique(np.concatenate([found.keys for found in self._found()])).size)

    @property
    def max_archive(self) -> int | None:
        """The most that the front may hold, and the archive of each search; None if there is no limit."""
        return self._first.max_archive

    @property
    def discarded(self) -> int:
        """How many solutions that nothing dominated were discarded, to keep to that limit."""
        return sum(found.discarded for found in self._found()) + len(self._common().scores) - len(self._shown())

    @property
    def last_improvement(self) -> int:
        """The evaluation at which the common front last changed."""
        return int(self._common().found_at.max(initial=0))

    @property
    def slice_size(self) -> int:
        """As many evaluations for each search as it says itself."""
        return self._first.slice_size * self.n_searches

    @property
    def is_compiled(self) -> bool:
        """Whether all machine code is there."""
        return self._first.is_compiled

    def count_unique(self) -> None:
        """Count every solution once, from the start on."""
        for search in self.crew.searches:
            search.count_unique()

    def limit_archive(self, size: int) -> None:
        """Let no archive ever hold more than so many solutions, from the start on."""
        for search in self.crew.searches:
            search.limit_archive(size)

    def compile(self) -> None:
        """Compile what is needed, here and where the work is done."""
        for search in self.crew.searches:
            search.compile()
        self.crew.start()

    def advance(self, n: int) -> None:
        """Make n evaluations in all."""
        check_whole("n", n, 0)
        size = self.round_size * self.n_searches
        begin = self.evaluations
        end = begin + n
        while begin < end:
            stretch = min(end, (begin // size + 1) * size)
            done = self.crew.evaluations()
            self.crew.advance([self._share(stretch, k) - done[k] for k in range(self.n_searches)])
            if stretch % size == 0:
                self._exchange()
            begin = stretch

    def _share(self, total: int, k: int) -> int:
        """Return how many evaluations search k has made when all have made so many."""
        return (total + self.n_searches - 1 - k) // self.n_searches

    def _numbers(self, evaluations: NDArray[Any], k: int) -> NDArray[np.int64]:
        """Return which evaluations of all those of search k are."""
        return ((evaluations - 1) * self.n_searches + k + 1).astype(np.int64)

    def _exchange(self) -> None:
        """Send each search what it lacks of its own stretch of the common front.

        Not of all of it: searches that know the same do the same, and at equal evaluations found less.
        """
        common, found = self._common(), self._found()
        order = np.lexsort(common.scores.T[::-1])
        stretches = np.empty(len(order), dtype=np.int64)
        stretches[order] = np.arange(len(order)) * self.n_searches // max(1, len(order))
        most = max(1, int(_MOST_ADOPTED * self.round_size))
        for k, inbox in enumerate(self.crew.inboxes):
            known = {row.tobytes() for row in found[k].scores}
            lacking = [i for i in np.flatnonzero(stretches == k) if common.scores[i].tobytes() not in known]
            inbox[:] = [
                Newcomer(
                    found[common.owners[i]].solution(int(common.places[i])),
                    int(found[common.owners[i]].policies[common.places[i]]),
                )
                for i in lacking[::-1][:most]  # the newest first; what is left comes with the next round
            ]

    def _found(self) -> list[Found]:
        return self._merge()[1]

    def _common(self) -> Common:
        return self._merge()[0]

    def _merge(self) -> tuple[Common, list[Found]]:
        """Return the common front, and what it is made of."""
        now = self.crew.evaluations()
        if self._merged is None or self._merged[0] != now:
            found = self.crew.found()
            self._merged = now, self._merged_front(found), found
        return self._merged[1:]

    def _merged_front(self, found: list[Found]) -> Common:
        scores = np.concatenate([one.scores for one in found])
        found_at = np.concatenate([self._numbers(one.found_at, k) for k, one in enumerate(found)])
        owners = np.repeat(np.arange(len(found)), [len(one.scores) for one in found])
        places = np.concatenate([np.arange(len(one.scores)) for one in found])
        order = np.argsort(found_at)
        # Of equals the first, who may have sent it to the others.
        _, first = np.unique(scores[order], axis=0, return_index=True)
        rows = order[np.sort(first)]
        rows = rows[scores[rows, VIOLATIONS] == scores[:, VIOLATIONS].min(initial=np.inf)]
        if len(rows):
            rows = rows[moocore.is_nondominated(scores[rows, 1:])]
        return Common(scores[rows], found_at[rows], owners[rows], places[rows])

    def _shown(self) -> NDArray[np.int64]:
        """Return which members of the common front are shown: all, or as many as there may be."""
        scores, limit = self._common().scores, self.max_archive
        if limit is None or len(scores) <= limit:
            return np.arange(len(scores))
        return np.sort(far_apart(scores[:, 1:], limit))  # type: ignore[no-untyped-call]

    def front(self) -> Front:
        """Return the best of all that was evaluated, in the sense in which the problem states its objectives."""
        (common, found), rows = self._merge(), self._shown()
        members = [(found[common.owners[i]], int(common.places[i])) for i in rows]
        return Front.sorted(
            objectives=common.scores[rows, 1:] * self._signs,
            violations=common.scores[rows, VIOLATIONS],
            solutions=[one.solution(place) for one, place in members],
            policies=np.array([one.policies[place] for one, place in members], dtype=np.int64),
        )

    def log(self) -> NDArray[np.float64]:
        """Return evaluation, violations and (minimised) objectives of all that ever was in the common front."""
        lines = np.concatenate(
            [np.column_stack([self._numbers(one.log[:, 0], k), one.log[:, 1:]]) for k, one in enumerate(self._found())]
        )
        lines = lines[np.argsort(lines[:, 0])]
        kept, front = [], lines[:0]
        for i, line in enumerate(lines):
            least = front[0, 1] if len(front) else np.inf
            if line[1] > least or (line[1] == least and (front[:, 2:] <= line[2:]).all(axis=1).any()):
                continue
            stays = (front[:, 1] == line[1]) & ~(line[2:] <= front[:, 2:]).all(axis=1)
            front = np.vstack([front[stays], line])
            kept.append(i)
        return lines[kept]

    def best(self) -> tuple[NDArray[np.float64], float]:
        """Return the (minimised) objectives of the common front and their common number of violations."""
        scores = self._common().scores[self._shown()]
        return scores[:, 1:], float(scores[0, VIOLATIONS]) if len(scores) else float("nan")

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of each search, and how many there are."""
        return {**self._first.parameters(), "searches": self.n_searches}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a checkpoint from which all searches go on to the very same result."""
        from .checkpoint import save_team

        save_team(self, path)
