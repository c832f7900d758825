"""Stopping criteria, one by one and combined. Progress values are made by hand: no search is needed."""

import math
import re
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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


@pytest.mark.parametrize(("limit", "fires"), [(99, True), (100, True), (101, False)])
def test_evaluations_run_out(limit, fires):
    assert MaxEvaluations(limit)(progress(evaluations=100)) is fires


@pytest.mark.parametrize(("limit", "fires"), [(1.5, True), (2, True), (2.5, False)])
def test_wall_time_runs_out(limit, fires):
    assert MaxRuntime(limit)(progress(seconds=2.0, cpu_seconds=99)) is fires


@pytest.mark.parametrize(("limit", "fires"), [(0.5, True), (1, True), (1.5, False)])
def test_cpu_time_runs_out(limit, fires):
    assert MaxCpuTime(limit)(progress(cpu_seconds=1.0, seconds=99)) is fires


@pytest.mark.parametrize(("patience", "fires"), [(39, True), (40, True), (41, False)])
def test_patience_runs_out(patience, fires):
    assert NoImprovement(patience)(progress(evaluations=100, last_improvement=60)) is fires


@pytest.mark.parametrize(("value", "fires"), [(4.9, True), (5, True), (5.1, False)])
def test_a_hypervolume_is_reached(value, fires):
    assert TargetHypervolume(value, reference_point=[4, 4])(progress()) is fires


def test_an_infeasible_front_reaches_no_hypervolume():
    assert not TargetHypervolume(1, reference_point=[4, 4])(progress(violations=2.0))


def test_before_the_first_evaluation_no_hypervolume_is_reached():
    nothing = progress(evaluations=0, objectives=np.zeros((0, 2)), violations=math.nan)
    assert not TargetHypervolume(1, reference_point=[4, 4])(nothing)


def test_the_reference_point_is_in_the_sense_of_the_problem():
    maximising = progress(objectives=np.array([[-3.0, -3.0]]), signs=-np.ones(2))
    assert maximising.hypervolume([1, 1]) == 4


@pytest.mark.parametrize("point", [[4], [4, 4, 4]])
def test_the_reference_point_has_one_entry_per_objective(point):
    with pytest.raises(ValueError, match="reference_point must be 2 finite numbers, got"):
        TargetHypervolume(1, reference_point=point)(progress())


def test_any_of_fires_with_the_first():
    assert (MaxEvaluations(1000) | MaxRuntime(1))(progress())
    assert not (MaxEvaluations(1000) | MaxRuntime(10))(progress())


def test_all_of_waits_for_the_last():
    assert (MaxEvaluations(50) & MaxRuntime(1))(progress())
    assert not (MaxEvaluations(50) & MaxRuntime(10))(progress())


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=5))
def test_combinations_are_any_and_all(answers):
    criteria = [always if answer else never for answer in answers]
    assert AnyOf(*criteria)(progress()) is any(answers)
    assert AllOf(*criteria)(progress()) is all(answers)


def test_combinations_nest():
    stop = (MaxEvaluations(50) & NoImprovement(1000)) | MaxRuntime(1)
    assert stop(progress())
    assert str(stop) == "50 evaluations and 1,000 evaluations without improvement or 1 s"


def test_any_callable_will_do():
    assert (MaxEvaluations(1000) | always)(progress())
    assert not (MaxEvaluations(1) & never)(progress())


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
        (MaxEvaluations(1000), "1,000 evaluations"),
        (MaxRuntime(1.5), "1.5 s"),
        (MaxCpuTime(2), "2 s of CPU time"),
        (NoImprovement(40), "40 evaluations without improvement"),
        (TargetHypervolume(5, reference_point=[4, 4]), "a hypervolume of 5"),
        (MaxEvaluations(1000) | MaxRuntime(1), "1 s"),
        (MaxRuntime(100) | (MaxEvaluations(1000) | NoImprovement(10)), "10 evaluations without improvement"),
        (MaxEvaluations(10) & MaxRuntime(1), "10 evaluations and 1 s"),
        (MaxEvaluations(1000) | always, "always"),
        (always, "always"),
    ],
    ids=words,
)
def test_what_fired_is_said_in_words(stop, words):
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


@pytest.mark.parametrize(
    "stop",
    [
        MaxEvaluations(5),
        TargetHypervolume(5, reference_point=[4, 4]) | MaxEvaluations(5),
        (MaxEvaluations(5) & TargetHypervolume(5, reference_point=[4, 4])) | MaxRuntime(5),
        always,
    ],
    ids=words,
)
def test_a_stop_that_is_sure_to_fire_passes(stop):
    assert check_stop(stop) is None


@pytest.mark.parametrize("stop", [None, 1000, "1000 evaluations"])
def test_what_is_no_stop_is_refused(stop):
    with pytest.raises(TypeError, match="stop must be a stopping criterion such as MaxEvaluations"):
        check_stop(stop)


@pytest.mark.parametrize("use", [check_stop, AllOf, lambda stop: stop | MaxRuntime(1)])
def test_a_class_is_no_stop(use):
    with pytest.raises(TypeError, match=r"got the class MaxEvaluations; call it, as in MaxEvaluations\(\.\.\.\)"):
        use(MaxEvaluations)


@pytest.mark.parametrize("criterion", [MaxEvaluations, NoImprovement])
@pytest.mark.parametrize("value", [0, -1, 1.5, "10", True, None, math.nan])
def test_counts_must_be_whole_and_positive(criterion, value):
    with pytest.raises(ValueError, match="evaluations must be a whole number of at least 1, got"):
        criterion(value)


@pytest.mark.parametrize("criterion", [MaxRuntime, MaxCpuTime])
@pytest.mark.parametrize("value", [0, -1, math.inf, math.nan])
def test_times_must_be_finite_and_positive(criterion, value):
    with pytest.raises(ValueError, match=r"seconds must be a finite number above 0, got"):
        criterion(value)


@pytest.mark.parametrize("criterion", [MaxRuntime, MaxCpuTime])
@pytest.mark.parametrize("value", ["10", None, True])
def test_times_must_be_numbers(criterion, value):
    with pytest.raises(ValueError, match="seconds must be a finite number above 0, got"):
        criterion(value)


def test_a_target_must_be_above_zero():
    with pytest.raises(ValueError, match="value must be a finite number above 0"):
        TargetHypervolume(0, reference_point=[4, 4])


def test_the_reference_point_of_a_target_must_be_finite():
    with pytest.raises(ValueError, match=r"reference_point must be finite numbers, got \[4.0, inf\]"):
        TargetHypervolume(1, reference_point=[4, math.inf])


@pytest.mark.parametrize("combination", [AnyOf, AllOf])
def test_a_combination_of_nothing_is_refused(combination):
    with pytest.raises(ValueError, match=f"{combination.__name__} needs at least one criterion"):
        combination()


@pytest.mark.parametrize("combination", [AnyOf, AllOf])
def test_a_combination_with_what_is_no_criterion_is_refused_when_built(combination):
    with pytest.raises(TypeError, match=f"{combination.__name__} takes stopping criteria, got 1000"):
        combination(MaxEvaluations(5), 1000)


def test_a_callable_may_come_first():
    assert (always | MaxEvaluations(1000))(progress())
    assert not (never & MaxEvaluations(1))(progress())
    assert str(never | MaxRuntime(1)) == "never or 1 s"
    with pytest.raises(TypeError, match="AnyOf takes stopping criteria, got None"):
        None | MaxRuntime(1)


def test_more_evaluations_than_can_be_counted_are_refused():
    with pytest.raises(ValueError, match="evaluations must be at most 4,611,686,018,427,387,904, got 1000"):
        MaxEvaluations(10**25)


def test_a_long_value_is_cut_in_a_message():
    with pytest.raises(ValueError, match="got") as caught:
        MaxEvaluations("x" * 10**6)
    assert len(str(caught.value)) < 200


def test_the_hypervolume_of_many_objectives_takes_a_moment():
    points = np.abs(np.random.default_rng(1).normal(size=(2_000, 7)))
    many = progress(objectives=points / points.sum(axis=1, keepdims=True), signs=np.ones(7))
    begin = time.process_time()
    assert not TargetHypervolume(1.0, reference_point=[1] * 7)(many)
    assert time.process_time() - begin < 5, "an exact one takes minutes"
