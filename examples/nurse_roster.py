"""A week of shifts for ten nurses: few wishes denied against low wages, and rules that must hold."""

import numpy as np

from pareto_nrpa import MaxEvaluations, ParetoNRPA, Problem, solve

NEEDED = {"early": 2, "late": 2, "night": 1}
SHIFTS, DAYS, MOST_SHIFTS = tuple(NEEDED), 7, 5  # at most five shifts of a nurse in the week
# One duty after the other, in the order of the week: what a move assigns a nurse to.
DUTIES = [(day, shift) for day in range(DAYS) for shift in SHIFTS for _ in range(NEEDED[shift])]


class NurseRoster(Problem):  # who takes the next duty?
    objective_names = ("wishes denied", "wages")
    constrained = True  # evaluate returns violations too: duties that no nurse can take

    def __init__(self, wishes, wages):
        self.wishes, self.wages = wishes, wages  # [nurse, day, shift]: how unwelcome, 0 to 3; [nurse]: of a shift

    def costs(self, duty, nurse):
        day, shift = DUTIES[duty]
        return self.wishes[nurse][day][SHIFTS.index(shift)], self.wages[nurse] * (1.5 if shift == "night" else 1)

    def initial_state(self):
        return ()  # who has the first, the second ... duty

    def legal_moves(self, state):
        if len(state) == len(DUTIES):
            return ()
        free = [nurse for nurse in range(len(self.wages)) if self.is_free(state, nurse)]
        return free or (None,)  # a duty without a nurse: a violation, but a roster all the same

    def is_free(self, state, nurse):  # one duty a day, nothing on the day after a night, and not too many in all
        day, theirs = DUTIES[len(state)][0], [DUTIES[i] for i, other in enumerate(state) if other == nurse]
        return len(theirs) < MOST_SHIFTS and not any(d == day or (d, s) == (day - 1, "night") for d, s in theirs)

    def play(self, state, nurse):
        return (*state, nurse)

    def move_code(self, state, nurse):
        return (*DUTIES[len(state)], nurse)  # two duties of a shift are alike, so they share what is learned

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
