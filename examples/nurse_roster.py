"""A week of shifts for ten nurses: few wishes denied against low wages, and rules that must hold."""

import numpy as np

from pareto_nrpa import MaxEvaluations, ParetoNRPA, Problem, solve

SHIFTS = ("early", "late", "night")
NEEDED = {"early": 2, "late": 2, "night": 1}
DAYS = 7
MOST_SHIFTS = 5  # of a nurse in the week
# One duty after the other, in the order of the week: what a move assigns somebody to.
DUTIES = [(day, shift) for day in range(DAYS) for shift in SHIFTS for _ in range(NEEDED[shift])]


class NurseRoster(Problem):
    """Who takes the next duty?"""

    n_objectives = 2
    objective_names = ("wishes denied", "wages")
    constrained = True  # evaluate returns violations too: duties that nobody can take

    def __init__(self, wishes, wages):
        self.wishes = wishes  # [nurse, day, shift]: how much the nurse would rather not, 0 to 3
        self.wages = wages  # [nurse], of a shift; a night is half as much again

    def initial_state(self):
        return ()  # who has the first, the second ... duty

    def legal_moves(self, state):
        if len(state) == len(DUTIES):
            return ()
        free = [nurse for nurse in range(len(self.wishes)) if self.is_free(state, nurse)]
        return free or (None,)  # nobody: a violation, but a roster all the same

    def is_free(self, state, nurse):
        """One duty a day, nothing on the day after a night, and not too many in all."""
        day, _ = DUTIES[len(state)]
        theirs = [DUTIES[i] for i, other in enumerate(state) if other == nurse]
        return len(theirs) < MOST_SHIFTS and not any(d == day or (d, s) == (day - 1, "night") for d, s in theirs)

    def play(self, state, nurse):
        return (*state, nurse)

    def move_code(self, state, nurse):
        return (*DUTIES[len(state)], nurse)  # two duties of a shift are alike, so they share what is learned

    def bias(self, state, nurse, preference):
        if nurse is None:
            return 0.0
        rather_not, pay = self.costs(len(state), nurse)
        return -preference[0] * rather_not - preference[1] * 5 * pay / max(self.wages)

    def costs(self, duty, nurse):
        day, shift = DUTIES[duty]
        return self.wishes[nurse][day][SHIFTS.index(shift)], self.wages[nurse] * (1.5 if shift == "night" else 1)

    def evaluate(self, state):
        costs = [self.costs(duty, nurse) for duty, nurse in enumerate(state) if nurse is not None]
        denied, wages = map(sum, zip(*costs, strict=True))
        return (denied, wages), state.count(None)

    def describe(self, moves):
        """Return who is on duty, day by day, as early/late/night."""
        days = []
        for day in range(DAYS):
            on_duty = [
                "".join(
                    "-" if n is None else "ABCDEFGHIJ"[n] for n, duty in zip(moves, DUTIES, strict=True) if duty == key
                )
                for key in ((day, shift) for shift in SHIFTS)
            ]
            days.append("/".join(on_duty))
        return " ".join(days)


def make(n_nurses=10, seed=1):
    rng = np.random.default_rng(seed)
    wishes = rng.choice(4, (n_nurses, DAYS, len(SHIFTS)), p=(0.4, 0.2, 0.2, 0.2))
    return NurseRoster(wishes.tolist(), rng.integers(160, 280, n_nurses).tolist())


if __name__ == "__main__":
    # Some policies lean to wishes, some to wages.
    algorithm = ParetoNRPA(level=3, preferences="spread")
    result = solve(make(), algorithm, stop=MaxEvaluations(3_000), seed=1)
    print(result.summary())
