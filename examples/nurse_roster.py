"""Roster of ten nurses for a week: denied preferences against wages, under rules on shifts."""

import numpy as np

from pareto_nrpa import MaxEvaluations, ParetoNRPA, Problem, solve

NEEDED = {"early": 2, "late": 2, "night": 1}
SHIFTS, DAYS, MOST_SHIFTS = tuple(NEEDED), 7, 5  # at most five shifts of a nurse in the week
# A move assigns a nurse to the next duty, in the order of the week.
DUTIES = [(day, shift) for day in range(DAYS) for shift in SHIFTS for _ in range(NEEDED[shift])]


class NurseRoster(Problem):
    objective_names = ("preferences denied", "wages")
    constrained = True  # violations are duties without a nurse

    def __init__(self, wishes, wages):
        self.wishes, self.wages = wishes, wages  # [nurse, day, shift]: how unwelcome, 0 to 3; [nurse]: of a shift

    def costs(self, duty, nurse):
        day, shift = DUTIES[duty]
        return self.wishes[nurse][day][SHIFTS.index(shift)], self.wages[nurse] * (1.5 if shift == "night" else 1)

    def initial_state(self):
        return ()  # the nurse of each duty so far

    def legal_moves(self, state):
        if len(state) == len(DUTIES):
            return ()
        free = [nurse for nurse in range(len(self.wages)) if self.is_free(state, nurse)]
        return free or (None,)  # a duty without a nurse is a violation

    def is_free(self, state, nurse):  # one duty a day, no duty after a night, five a week
        day, theirs = DUTIES[len(state)][0], [DUTIES[i] for i, other in enumerate(state) if other == nurse]
        return len(theirs) < MOST_SHIFTS and not any(d == day or (d, s) == (day - 1, "night") for d, s in theirs)

    def play(self, state, nurse):
        return (*state, nurse)

    def move_code(self, state, nurse):
        return (*DUTIES[len(state)], nurse)  # duties of the same shift share a weight

    def bias(self, state, nurse, preference):
        rather_not, pay = (0, 0) if nurse is None else self.costs(len(state), nurse)
        return -preference[0] * rather_not - preference[1] * 5 * pay / max(self.wages)

    def evaluate(self, state):
        costs = (self.costs(duty, nurse) for duty, nurse in enumerate(state) if nurse is not None)
        return tuple(map(sum, zip(*costs, strict=True))), state.count(None)


def make(n_nurses=10, seed=1):
    rng = np.random.default_rng(seed)
    wishes = rng.choice(4, (n_nurses, DAYS, len(SHIFTS)), p=(0.4, 0.2, 0.2, 0.2)).tolist()
    return NurseRoster(wishes, rng.integers(160, 280, n_nurses).tolist())


if __name__ == "__main__":
    result = solve(make(), ParetoNRPA(level=3, preferences="spread"), stop=MaxEvaluations(3_000), seed=1)
    print(result.summary())
