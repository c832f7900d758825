"""Polished NRPA: a search that evaluates what its proposers propose, and reports the scores to them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._util.checks import check_whole
from ...engine.arrays import N_MOVES, POLICY
from ...engine.compiled import CompiledPlayer
from ...engine.plain import PlainPlayer
from ...problem.base import CompiledProblem
from ...problem.builders import BuiltProblem
from ...problem.genotype import check_genotype
from ..nrpa.search import AskTellSearch
from .blackbox_search import BlackBoxSearch
from .members import Members, member_code
from .proposer import PLAYOUT, Proposal, Proposer
from .segment_search import SegmentSearch
from .solution_search import SolutionSearch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...problem.base import AnyProblem
    from ..nrpa.params import ParetoNRPA
    from .params import PolishedNRPA


_SLICE = 20
#: Number of evaluations after which a search without a feasible solution ignores pruning: on the paper's instances the
#: first feasible tour takes 50 at most.
_PATIENCE = 300
#: Number of playouts that a genotype is compared with before use.
_PLAYOUTS = 10
# Bytes for the codes of recorded playouts, which grow with the square of the moves of a solution.
_MOST_RECORDED = 2**27


def _affordable(params: PolishedNRPA, problem: AnyProblem) -> ParetoNRPA:
    """Return the parameters of learning, with fewer iterations where their sequences would take too much memory."""
    iterations = params.iterations
    if isinstance(problem, CompiledProblem):
        has_bias = problem.bias is not None and not problem.bias_by_code
        most = _MOST_RECORDED // ((12 if has_bias else 4) * (problem.max_candidates or 1))
        while iterations > 2 and sum(iterations**level for level in range(1, params.level + 1)) > most:
            iterations -= 1
    return replace(params.learning(), iterations=iterations)


class PolishedSearch(AskTellSearch):
    """A search of Polished NRPA on one problem."""

    # Searches that exchange solutions repeat each other on a small front and share work on a large one: parallel.md.
    alone_below = 200
    STATE: ClassVar[dict[str, Any]] = {
        "_screened": "component",
        "_played": "component",
        "_kinds": {"int < R": "int < 0:"},
    }

    def __init__(self, problem: AnyProblem, params: PolishedNRPA, *, seed: int) -> None:
        super().__init__(problem, _affordable(params, problem), algorithm=params, seed=seed, budget=None)
        self.polish = params
        self._members = Members(problem.n_objectives)
        self._members_at = -1  # the last improvement that they include
        self._is_checked = False
        self.player.expect_follow()
        screens = isinstance(self.player, CompiledPlayer) and self.player.problem.segments is not None
        self._screened = SegmentSearch(self) if screens else None
        self._kinds: dict[int, int] = {}  # of pending proposals, by slot
        if not screens:
            self._played  # noqa: B018 - made now, as it gives moves their numbers

    @cached_property
    def _played(self) -> SolutionSearch | BlackBoxSearch:
        """Local search without segments; for problems with segments created on demand."""
        is_plain = isinstance(self.player, PlainPlayer)
        kind = SolutionSearch if is_plain and SolutionSearch.is_possible(self.player.problem) else BlackBoxSearch
        return kind(self)

    @property
    def is_stuck(self) -> bool:
        """Whether nothing feasible was found for long: pruning may then exclude the least violated solution."""
        return self.evaluations >= _PATIENCE and self.members().violations > 0

    @property
    def local(self) -> Proposer:
        """The proposer whose turn it is.

        Segments reduce lateness, which differs from the number of violations: an infeasible search alternates with a
        local search that counts violations.
        """
        if self._screened is not None and not (self.is_stuck and self.evaluations % 2):
            return self._screened
        if "_played" not in vars(self):
            self._played.compile()
        return self._played

    @property
    def n_refused(self) -> int:
        """Number of proposed solutions that could not be played; 0 with segments of a consistent problem."""
        proposers = [vars(self).get(name) for name in ("_screened", "_played")]
        return sum(proposer.n_refused for proposer in proposers if proposer is not None)

    @property
    def slice_size(self) -> int:
        """A small number, as thousands of neighbours may be judged between two evaluations."""
        return min(_SLICE, super().slice_size)

    def compile(self) -> None:
        """Compile, or load from disk, what `advance` needs."""
        self.player.entries += [entry for entry in member_code() if entry not in self.player.entries]
        super().compile()
        if not self._is_checked:
            self.local.compile()
            self._check_genotype()
            self._is_checked = True

    @property
    def state_sizes(self) -> dict[str, int | str | None]:
        """The values of the names in the forms of the state."""
        genotype = self.problem.genotype
        return super().state_sizes | ({} if genotype is None else {"n": len(genotype.moves)})

    def _check_genotype(self) -> None:
        """Check the genotype by some playouts, made apart from the search; the package's own genotypes are right."""
        if self.problem.genotype is not None and not isinstance(self.problem, BuiltProblem):
            apart = AskTellSearch(self.problem, replace(self.params, level=1), seed=self.seed, budget=None)
            playouts = [candidate.solution for candidate in apart.ask(_PLAYOUTS)]
            check_genotype(self.problem, playouts)
            if isinstance(self.local, SolutionSearch):
                self.local.look_at(playouts)

    def advance(self, n: int) -> None:
        """Make n evaluations."""
        check_whole("n", n, 0)
        self.compile()
        end = self.evaluations + n
        while (left := end - self.evaluations) > 0:
            local = self.local
            if n_playouts := min(1 if self.is_stuck else left, local.n_playouts):
                self.learner.advance(n_playouts)
                local.n_playouts -= n_playouts
            else:
                local.advance(left)

    def propose(self) -> tuple[int, Any]:
        """Play a sequence to evaluate; returns its slot, and the final state of a plain problem."""
        local = self.local
        if local.n_playouts == 0:
            proposal = local.propose()
        else:
            local.n_playouts -= 1
            proposal = Proposal(*super().propose())
        self._kinds[proposal.slot] = proposal.kind
        return proposal.slot, proposal.state

    def learn(self, slot: int) -> None:
        """Learn from a slot that was proposed and whose scores are known."""
        self.learn_from(slot, self._kinds.pop(slot, PLAYOUT))

    def learn_from(self, slot: int, kind: int) -> None:
        """Learn from a slot whose scores are known, or only count it, as its proposer decides."""
        if self.local.judged(slot, kind):
            self.learner.learn(slot)
        else:
            self.learner.count(slot)

    def welcome(self, slot: int) -> None:
        """Count a received solution; the search that found it has learned from it."""
        self.local.adopted(slot)
        self.learner.count(slot)

    def close_slot(self, slot: int) -> None:
        """Release a slot whose sequence is not evaluated."""
        self._kinds.pop(slot, None)
        super().close_slot(slot)

    def members(self) -> Members:
        """Return the current archive."""
        if self._members_at != (last := self.last_improvement):
            self._members.update(self.machine.archive, self.machine.counters)
            self._members_at = last
        return self._members

    def member(self, i: int) -> tuple[NDArray[np.int64], int]:
        """Return the moves of a member of the archive, and its policy."""
        archive, row = self.machine.archive, self.members().rows[i]
        return archive.moves[row, : archive.heads[row, N_MOVES]].copy(), int(archive.heads[row, POLICY])

    def draw(self, n: int) -> int:
        """Return a random number below n."""
        return int(self.player.draw() * n)

    def draw_many(self, n: int, count: int) -> NDArray[np.int64]:
        """Return so many random numbers below n, at once."""
        drawn: NDArray[np.int64] = (self.rng.random(count) * n).astype(np.int64)
        return drawn
