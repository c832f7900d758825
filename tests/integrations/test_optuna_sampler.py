"""The sampler for Optuna: what is learned, repeated, resumed, constrained and played."""

import pickle
from importlib.util import find_spec

import pytest

optuna = pytest.importorskip("optuna", reason='needs Optuna: pip install "pareto-nrpa[optuna]"')

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution  # noqa: E402

from pareto_nrpa import ParetoNRPA, ParetoNRPAError, Problem  # noqa: E402
from pareto_nrpa.integrations.optuna import ParetoNRPASampler, play  # noqa: E402
from pareto_nrpa.integrations.optuna.changes import ONE, TWO, Origin  # noqa: E402
from pareto_nrpa.integrations.optuna.encoding import Dial  # noqa: E402
from pareto_nrpa.integrations.optuna.study import ORIGIN_KEY, POLICY_KEY  # noqa: E402

from ..helpers.problems import Knapsack, Word  # noqa: E402

DISTRIBUTIONS = [
    FloatDistribution(-3, 5),
    FloatDistribution(1e-4, 10, log=True),
    FloatDistribution(-1, 0.8, step=0.3),
    IntDistribution(-7, 900),
    IntDistribution(1, 900, log=True),
    IntDistribution(0, 91, step=7),
    CategoricalDistribution(["a", None, 3]),
]
IS_5 = int(optuna.__version__.split(".")[0]) >= 5


@pytest.fixture(autouse=True)
def quiet():
    optuna.logging.set_verbosity(optuna.logging.ERROR)


def study_of(seed=1, *, storage=None, name="test", n_objectives=2, **options):
    return optuna.create_study(
        directions=["minimize"] * n_objectives,
        sampler=ParetoNRPASampler(seed=seed, **options),
        storage=storage,
        study_name=name,
        load_if_exists=True,
    )


def conditional(trial):
    """Kinds with parameters of their own, of all sorts."""
    x = trial.suggest_float("x", -1, 1)
    n = trial.suggest_int("n", 1, 5_000, log=True)
    if trial.suggest_categorical("kind", ["plain", "fancy"]) == "fancy":
        return abs(x) + trial.suggest_int("depth", 0, 40), n
    return abs(x) + trial.suggest_float("rate", 0, 10, step=0.5), n


def params_of(study):
    return [trial.params for trial in study.trials]


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=str)
def test_every_value_of_a_parameter_has_one_way_to_it(distribution):
    dial = Dial("x", distribution)
    for cell in range(0, dial.n_cells, max(1, dial.n_cells // 97)):
        value = dial.value(dial.whole()._replace(begin=cell, end=cell + 1), 0.5)
        assert distribution._contains(distribution.to_internal_repr(value))
        assert dial.cell_of(value) == cell
        chosen = None
        for turn, position in dial.turns(value):
            assert [a.end for a in turn.parts[:-1]] == [b.begin for b in turn.parts[1:]]
            chosen = turn.parts[position]
        assert tuple(chosen) == (cell, cell + 1)


def test_a_changed_trial_is_its_parent_but_for_what_was_changed():
    study = study_of()
    study.optimize(lambda trial: tuple(map(float, digits_of(trial))), n_trials=120)
    numbers = {ONE: 1, TWO: 2}
    seen = set()
    for trial in study.trials:
        origin = Origin.read(trial.system_attrs.get(ORIGIN_KEY))
        if origin is not None and origin.kind in numbers:
            parent = study.trials[origin.parent]
            changes = sum(trial.params[name] != value for name, value in parent.params.items())
            assert changes == numbers[origin.kind]
            assert trial.system_attrs[POLICY_KEY] == parent.system_attrs[POLICY_KEY]
            seen.add(origin.kind)
    assert seen == {ONE, TWO}


def digits_of(trial):
    x = [trial.suggest_float(f"x{k}", 0, 1) for k in range(5)] + [trial.suggest_int("n", 0, 99)]
    return sum(x), sum((1 - value) ** 2 for value in x)


def test_a_resumed_study_continues_as_if_it_had_never_stopped(tmp_path):
    whole = study_of()
    whole.optimize(conditional, n_trials=24)
    storage = f"sqlite:///{tmp_path}/study.db"
    study_of(storage=storage).optimize(conditional, n_trials=12)
    resumed = study_of(storage=storage)
    resumed.optimize(conditional, n_trials=6)
    resumed.sampler = pickle.loads(pickle.dumps(resumed.sampler))
    resumed.optimize(conditional, n_trials=6)
    assert params_of(resumed) == params_of(whole)
    ours = {key for trial in resumed.trials for key in trial.system_attrs if key.startswith("pareto_nrpa")}
    assert ours == {POLICY_KEY, ORIGIN_KEY}


def test_it_learns():
    study = study_of(n_objectives=1)
    study.optimize(lambda trial: sum(trial.suggest_int(f"d{k}", 0, 9) for k in range(8)), n_trials=200)
    early, late = (sum(trial.value for trial in trials) for trials in (study.trials[:40], study.trials[-40:]))
    assert late < 0.7 * early


def test_repeats_are_avoided_until_there_is_nothing_else():
    def objective(trial):
        a = trial.suggest_categorical("a", ["x", "y"])
        b = trial.suggest_int("b", 0, 3) if a == "x" else trial.suggest_int("c", 0, 6)
        return float(b), -float(b)

    study = study_of()
    study.optimize(objective, n_trials=11)
    assert len({tuple(p.items()) for p in params_of(study)}) == 11
    study.optimize(objective, n_trials=3)  # all were seen: one must be repeated
    repeating = study_of(avoid_repeats=False)
    repeating.optimize(objective, n_trials=11)
    assert len({tuple(p.items()) for p in params_of(repeating)}) < 11


def test_failed_pruned_and_infinite_trials_teach_nothing_and_enqueued_ones_do():
    def objective(trial):
        x = trial.suggest_int("x", 0, 7)
        if trial.number == 1:
            raise ValueError
        if trial.number == 2:
            raise optuna.TrialPruned
        return float("inf") if trial.number == 3 else float(x)

    study = study_of(n_objectives=1)
    study.enqueue_trial({"x": 6})
    study.optimize(objective, n_trials=12, catch=ValueError)
    assert study.trials[0].params == {"x": 6}
    assert POLICY_KEY not in study.trials[0].system_attrs
    learned = study.sampler._memory.search
    assert learned.evaluations == 11 - 3  # the last one is learned from when the next begins
    assert learned.front().objectives.min() == min(t.value for t in study.trials[:-1] if t.state.name == "COMPLETE")


@pytest.mark.parametrize("way", ["set_constraint", "constraints_func"])
def test_constraints_come_first(way):
    if way == "set_constraint" and not IS_5:
        pytest.skip("trial.set_constraint came with Optuna 5")

    def objective(trial):
        x = [trial.suggest_int(f"x{k}", 0, 9) for k in range(4)]
        if way == "set_constraint":
            trial.set_constraint("at least 18", 18 - sum(x))
        return float(sum(x))

    function = (lambda trial: [18 - sum(trial.params.values())]) if way == "constraints_func" else None
    study = study_of(n_objectives=1, constraints_func=function)
    study.optimize(objective, n_trials=120)
    front = study.sampler._memory.search.front()
    assert front.is_feasible
    assert 18 <= front.objectives[0, 0] <= 20


@pytest.mark.parametrize("problem", [Knapsack(), Word()], ids=["knapsack", "word"])
def test_a_problem_is_played_in_a_trial(problem):
    study = study_of(n_objectives=problem.n_objectives)
    study.optimize(lambda trial: play(trial, problem), n_trials=15)
    resumed = study_of(n_objectives=problem.n_objectives)
    resumed.add_trials(study.trials[:10])
    resumed.optimize(lambda trial: play(trial, problem), n_trials=5)
    assert params_of(resumed) == params_of(study)
    for trial in study.trials:
        search = ParetoNRPA().start(problem, seed=0)
        search.add(trial.user_attrs["solution"])  # legal to the end
        assert search.front().objectives[0].tolist() == pytest.approx(trial.values)
        if IS_5 and problem.n_objectives == 3:
            assert trial.constraints == {"violations of move": search.front().violations[0]}
    codes = set(study.sampler._memory.search.player.codes)
    assert not any(isinstance(code, tuple) and str(code[0]).startswith("move") for code in codes)


class TrialOfOptuna4(optuna.trial.Trial):
    @property
    def set_constraint(self):
        raise AttributeError


@pytest.mark.parametrize("kind", [TrialOfOptuna4, optuna.trial.Trial])
def test_two_problems_in_a_trial_have_violations_of_their_own(kind):
    # Optuna 4 has one list for them, of which only those of the last problem were left.
    study = study_of()
    trial = kind(study, study.ask()._trial_id)
    for name, violations in (("first", 3.0), ("second", 0.0), ("third", 7.0)):
        late = Problem.from_choices(lambda taken, v=violations: ((*taken,), v), [(0, 1)] * 2, constrained=True)
        play(trial, late, name=name)
    play(trial, Knapsack())  # which has no constraints
    stored = study.trials[-1]
    is_old = not hasattr(trial, "set_constraint")
    values = stored.system_attrs["constraints"] if is_old else [*stored.constraints.values()]
    assert values == [3.0, 0.0, 7.0]


def test_a_name_is_played_once_in_a_trial():
    study = study_of()
    trial = study.ask()
    play(trial, Knapsack())
    with pytest.raises(ParetoNRPAError, match=r"name must differ .* got 'move' twice.* give each its own name="):
        play(trial, Knapsack())
    play(trial, Knapsack(), name="other")
    # What a failed trial has stored is no reason to refuse it when it is tried again.
    study.add_trial(optuna.trial.create_trial(state=optuna.trial.TrialState.WAITING, user_attrs=trial.user_attrs))
    again = study.ask()
    assert "solution" in again.user_attrs
    play(again, Knapsack())


def test_mistakes_are_said():
    with pytest.raises(TypeError, match="algorithm must be a ParetoNRPA, got 'nsga-ii'"):
        ParetoNRPASampler("nsga-ii")
    with pytest.raises(ValueError, match="seed must be a whole number"):
        ParetoNRPASampler(seed=-1)
    with pytest.raises(TypeError, match=r"constraints_func must be a function .* got 5"):
        ParetoNRPASampler(constraints_func=5)
    with pytest.raises(TypeError, match="problem must be a Problem or a CompiledProblem, got int"):
        play(study_of().ask(), 5)
    with pytest.raises(ParetoNRPAError, match="trial must be a trial of Optuna, got 5"):
        play(5, Knapsack())


# --- Optuna's own test cases for samplers, which 4.5 does not have yet


if find_spec("optuna.testing.pytest_samplers"):
    from optuna.testing import pytest_samplers as cases

    @pytest.mark.slow
    class TestParetoNRPASampler(
        cases.BasicSamplerTestCase, cases.RelativeSamplerTestCase, cases.MultiObjectiveSamplerTestCase
    ):
        @pytest.fixture
        def sampler(self):
            return ParetoNRPASampler
