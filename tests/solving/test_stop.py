"""Stopping criteria, one by one and combined. Progress values are made by hand: no search is needed."""

import math
import re
import time

import numpy as np
import pytest
from pareto_nrpa.stop import AllOf, AnyOf, Progress

from pareto_nrpa import MaxCpuTime, MaxEvaluations, MaxRuntime, NoImprovement, TargetHypervolume
from pareto_nrpa.solving.stop import budget_of, check_stop, fired_by


def progress(**changes):
    values = {
        "evaluations": 100,
        "seconds": 2.0,
        "cpu_seconds": 1.0,
        "last_improvement": 60,
        "objectives": np.array([[1.0, 3.0], [3.0, 1.0]]),
        "violations": 0.0,
        "signs": np.ones(2),
    }
    return Progress(**{**values, **changes})


def words(value):
    """Say a parameter without the address of a function, which differs between the processes of a test run."""
    return re.sub(r" at 0x\w+", "", str(value))


def always(_):
    return True


def never(_):
    return False


@pytest.mark.parametrize(
    ("stop", "fires"),
    [
        (MaxEvaluations(100), True),
        (MaxEvaluations(101), False),
        (MaxRuntime(2), True),
        (MaxRuntime(2.5), False),
        (MaxCpuTime(1), True),
        (MaxCpuTime(1.5), False),
        (NoImprovement(40), True),
        (NoImprovement(41), False),
        (TargetHypervolume(5, reference_point=[4, 4]), True),
        (TargetHypervolume(5.1, reference_point=[4, 4]), False),
        (MaxEvaluations(1000) | MaxRuntime(1), True),
        (MaxEvaluations(50) & MaxRuntime(10), False),
        (MaxEvaluations(1000) | always, True),
        (never & MaxEvaluations(1), False),
    ],
    ids=words,
)
def test_a_criterion_fires_when_its_limit_is_reached(stop, fires):
    assert stop(progress()) is fires


@pytest.mark.parametrize(
    "changes",
    [{"violations": 2.0}, {"evaluations": 0, "objectives": np.zeros((0, 2)), "violations": math.nan}],
    ids=["infeasible", "empty"],
)
def test_a_front_without_feasible_points_reaches_no_hypervolume(changes):
    assert not TargetHypervolume(1, reference_point=[4, 4])(progress(**changes))


def test_the_reference_point_is_in_the_sense_of_the_problem():
    maximising = progress(objectives=np.array([[-3.0, -3.0]]), signs=-np.ones(2))
    assert maximising.hypervolume([1, 1]) == 4


def test_combinations_nest():
    stop = (MaxEvaluations(50) & NoImprovement(1000)) | MaxRuntime(1)
    assert stop(progress())
    assert str(stop) == "50 evaluations and 1,000 evaluations without improvement or 1 s"


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        (MaxEvaluations(70), 70),
        (MaxRuntime(1), None),
        (MaxCpuTime(1), None),
        (NoImprovement(70), None),
        (MaxEvaluations(70) | MaxRuntime(1), 70),
        (MaxEvaluations(70) | MaxEvaluations(30), 30),
        (MaxEvaluations(70) & MaxEvaluations(30), 70),
        (MaxEvaluations(70) & MaxRuntime(1), None),
        (MaxRuntime(1) | MaxCpuTime(1), None),
        ((MaxEvaluations(70) & MaxRuntime(1)) | MaxEvaluations(90), 90),
        (always, None),
        (MaxEvaluations(70) | always, 70),
    ],
    ids=words,
)
def test_the_budget_is_the_number_of_evaluations_that_is_sure_to_end_it(stop, expected):
    assert budget_of(stop) == expected


@pytest.mark.parametrize(
    ("stop", "words"),
    [
        (MaxEvaluations(1000) | MaxRuntime(1), "1 s"),
        (MaxRuntime(100) | (MaxEvaluations(1000) | NoImprovement(10)), "10 evaluations without improvement"),
        (MaxEvaluations(10) & MaxCpuTime(1), "10 evaluations and 1 s of CPU time"),
        (TargetHypervolume(5, reference_point=[4, 4]), "a hypervolume of 5"),
        (MaxEvaluations(1000) | always, "always"),
    ],
    ids=words,
)
def test_the_criterion_that_fired_is_named(stop, words):
    assert fired_by(stop, progress()) == words


@pytest.mark.parametrize(
    "stop",
    [
        TargetHypervolume(5, reference_point=[4, 4]),
        MaxEvaluations(5) & TargetHypervolume(5, reference_point=[4, 4]),
        TargetHypervolume(5, reference_point=[4, 4]) | TargetHypervolume(6, reference_point=[4, 4]),
    ],
    ids=words,
)
def test_a_stop_that_might_never_fire_is_refused(stop):
    with pytest.raises(ValueError, match=r"stop might never fire: .*a hypervolume of 5.*; add a limit"):
        check_stop(stop)


def test_the_hypervolume_of_many_objectives_takes_a_moment():
    points = np.abs(np.random.default_rng(1).normal(size=(2_000, 7)))
    many = progress(objectives=points / points.sum(axis=1, keepdims=True), signs=np.ones(7))
    begin = time.process_time()
    assert not TargetHypervolume(1.0, reference_point=[1] * 7)(many)
    assert time.process_time() - begin < 5, "an exact one takes minutes"


COUNT = "evaluations must be a whole number of at least 1, got"
SECONDS = r"seconds must be a finite number above 0, got"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: MaxEvaluations(0), ValueError, COUNT),
        (lambda: MaxEvaluations("10"), ValueError, COUNT),
        (lambda: NoImprovement(math.nan), ValueError, COUNT),
        (lambda: MaxEvaluations(10**25), ValueError, "evaluations must be at most 4,611,686,018,427,387,904, got 1000"),
        (lambda: MaxRuntime(0), ValueError, SECONDS),
        (lambda: MaxCpuTime(math.inf), ValueError, SECONDS),
        (lambda: MaxRuntime("10"), ValueError, "seconds must be a finite number above 0, got"),
        (lambda: TargetHypervolume(0, reference_point=[4, 4]), ValueError, "value must be a finite number above 0"),
        (lambda: TargetHypervolume(1, reference_point=[4, math.inf]), ValueError, "reference_point must be finite"),
        (
            lambda: TargetHypervolume(1, reference_point=[4])(progress()),
            ValueError,
            "reference_point must be 2 finite numbers",
        ),
        (lambda: AllOf(), ValueError, "AllOf needs at least one criterion"),
        (lambda: AnyOf(MaxEvaluations(5), 1000), TypeError, "AnyOf takes stopping criteria, got 1000"),
        (lambda: None | MaxRuntime(1), TypeError, "AnyOf takes stopping criteria, got None"),
        (lambda: check_stop(1000), TypeError, "stop must be a stopping criterion such as MaxEvaluations"),
        (lambda: check_stop(MaxEvaluations), TypeError, r"got the class MaxEvaluations; call it, as in MaxEval"),
    ],
)
def test_a_wrong_criterion_is_named(make, error, message):
    with pytest.raises(error, match=message) as caught:
        make()
    assert len(str(caught.value)) < 200
