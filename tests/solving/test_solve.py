"""One call of `solve`: what it returns, what ends it, and what an error, a signal or a callback leaves of it."""

import itertools
import os
import signal
import threading
import time

import numpy as np
import pytest

from pareto_nrpa import (
    Callbacks,
    MaxCpuTime,
    MaxEvaluations,
    MaxRuntime,
    NoImprovement,
    ParetoNRPA,
    ParetoNRPAError,
    Result,
    TargetHypervolume,
    solve,
)
from pareto_nrpa.errors import ProblemError
from pareto_nrpa.metrics import hypervolume
from pareto_nrpa.result.reference import ReferenceFront
from pareto_nrpa.routing import generate_tsptw

from ..helpers.problems import Knapsack, Word


def test_a_result_says_what_was_done(small_tsptw):
    result = solve(small_tsptw, ParetoNRPA(level=2, n_policies=3), stop=MaxEvaluations(500), seed=4)
    assert result.instance == small_tsptw.name
    assert (result.algorithm, result.seed, result.evaluations) == ("pareto-nrpa", 4, 500)
    assert result.parameters["level"] == 2
    assert result.parameters["iterations"] == 23
    assert result.stopped_by == "500 evaluations"
    assert result.cpu_seconds > 0
    assert set(result.versions) >= {"python", "numpy", "numba", "moocore"}


def test_history_rises_and_ends_at_the_front_s_hypervolume(small_tsptw):
    result = solve(small_tsptw, stop=MaxEvaluations(1_500), seed=1, reference_point=(900, 900))
    evaluations, values = result.history.T
    assert (np.diff(values) >= 0).all()
    assert (np.diff(evaluations) >= 0).all()
    assert evaluations[-1] == 1_500
    assert result.hypervolume == pytest.approx(hypervolume(result.front.objectives, reference_point=(900, 900)))


def test_no_improvement_and_target_stop_at_the_same_evaluation_each_time(small_tsptw):
    stop = NoImprovement(2_000) | MaxEvaluations(10**7)
    results = [solve(small_tsptw, stop=stop, seed=1) for _ in range(2)]
    assert results[0].evaluations == results[1].evaluations < 10**7
    assert results[0].stopped_by == "2,000 evaluations without improvement"
    goal = TargetHypervolume(results[0].hypervolume * 0.9, reference_point=results[0].reference_point)
    reached = solve(small_tsptw, stop=goal | MaxEvaluations(10**6), seed=1)
    assert reached.stopped_by.startswith("a hypervolume of")
    assert reached.evaluations % 20 == 0
    assert reached.evaluations < results[0].evaluations


@pytest.mark.parametrize("stop", [MaxRuntime(0.1), MaxCpuTime(0.1)])
def test_time_limits(small_tsptw, stop):
    result = solve(small_tsptw, stop=stop, seed=1)
    spent = result.wall_seconds if isinstance(stop, MaxRuntime) else result.cpu_seconds
    assert spent >= 0.1
    assert result.stopped_by == str(stop)
    assert solve(small_tsptw, ParetoNRPA(), stop=stop).parameters["iterations"] == 18


def test_any_callable_is_a_stop_and_callbacks_hear_of_everything(small_tsptw):
    class Diary(Callbacks):
        def __init__(self):
            self.events = []

        def on_start(self, progress):
            self.events.append(("start", progress.evaluations))

        def on_progress(self, progress):
            self.events.append(("progress", progress.evaluations))

        def on_end(self, result):
            self.events.append(("end", result.evaluations))

    diary = Diary()

    def enough(progress):
        return progress.evaluations >= 2_500

    result = solve(small_tsptw, ParetoNRPA(), stop=enough, callbacks=[diary], seed=1)
    assert result.stopped_by == "enough"
    assert diary.events == [("start", 0), ("progress", 1000), ("progress", 2000), ("progress", 3000), ("end", 3000)]


def test_nothing_feasible_is_said_and_the_least_violated_come_back():
    class Hopeless(Word):
        def evaluate(self, state):
            objectives, _ = super().evaluate(state)
            return objectives, 1 + state.count("a")

    result = solve(Hopeless(), ParetoNRPA(level=3), stop=MaxEvaluations(300), seed=1)
    assert set(result.front.violations) == {1}
    assert result.hypervolume == 0
    assert result.reference_point is None
    assert "No feasible solution was found" in result.summary()


@pytest.mark.parametrize(
    ("number", "words", "usual"),
    [(signal.SIGINT, "Ctrl-C", signal.default_int_handler), (signal.SIGTERM, "SIGTERM", signal.SIG_DFL)],
)
def test_a_signal_keeps_the_best_front(small_tsptw, number, words, usual):
    class Impatient(Callbacks):
        def on_progress(self, progress):
            self.seen = progress.evaluations
            if self.seen >= 3_000:  # on a busy machine slices are of any length
                os.kill(os.getpid(), number)

    impatient = Impatient()
    result = solve(small_tsptw, stop=MaxEvaluations(10**8), callbacks=impatient, seed=1)
    assert (result.stopped_by, result.evaluations) == (words, impatient.seen)
    assert len(result.front) > 0
    assert signal.getsignal(number) is usual


def test_a_second_ctrl_c_does_not_wait_for_the_evaluation_in_hand(tmp_path):
    class Slow(Knapsack):
        n = 0

        def evaluate(self, state):
            self.n += 1
            if self.n == 5:
                os.kill(os.getpid(), signal.SIGINT)
                os.kill(os.getpid(), signal.SIGINT)
                threading.Event().wait(60)
            return super().evaluate(state)

    path = tmp_path / "search.npz"
    result = solve(Slow(), ParetoNRPA(level=1), stop=MaxEvaluations(100), seed=1, checkpoint=path)
    assert (result.stopped_by, result.evaluations) == ("Ctrl-C", 4)
    assert not path.exists(), "a search stopped in mid-playout would not end in the same result"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"stop": None}, TypeError, "stop must be a stopping criterion"),
        ({"stop": TargetHypervolume(1, reference_point=(1, 1))}, ValueError, "stop might never fire"),
        ({"seed": -1}, ValueError, "seed must be a whole number of at least 0, got -1"),
        ({"resume": True}, ValueError, "resume requires the file to continue from"),
        ({"reference_point": (1, 2, 3)}, ValueError, "reference_point must be 2 finite numbers"),
        ({"problem": "rc_204.3"}, TypeError, "problem must be a Problem or a CompiledProblem, got str"),
        ({"problem": Knapsack}, TypeError, r"got the class Knapsack; call it: Knapsack\(\.\.\.\)"),
        ({"checkpoint": 3}, TypeError, "a file must be named by text or a path, got 3"),
        ({"algorithm": "nsga-2"}, ParetoNRPAError, r"unknown algorithm 'nsga-2' \(did you mean 'nsga-ii'\?\)"),
        ({"algorithm": int}, TypeError, "algorithm must be an Algorithm such as ParetoNRPA.*got <class 'int'>"),
        ({"callbacks": [Callbacks(), "x"]}, TypeError, "callbacks must be objects .* got 'x'"),
        ({"callbacks": Callbacks}, TypeError, "callbacks must be objects .* got <class"),
    ],
)
def test_bad_arguments_are_named(small_tsptw, arguments, error, message):
    arguments = {"problem": small_tsptw, "stop": MaxEvaluations(10), **arguments}
    with pytest.raises(error, match=message):
        solve(arguments.pop("problem"), **arguments)


def test_a_checkpoint_is_written_at_the_end_and_resuming_a_finished_run_adds_nothing(tmp_path):
    problem, path = generate_tsptw(8, seed=1), tmp_path / "search.npz"
    first = solve(problem, stop=MaxEvaluations(400), seed=1, checkpoint=path)
    again = solve(problem, stop=MaxEvaluations(400), seed=1, checkpoint=path, resume=True)
    longer = solve(problem, stop=MaxEvaluations(800), seed=1, checkpoint=path, resume=True)
    assert again.evaluations == 400
    assert again.front.solutions == first.front.solutions
    assert longer.evaluations == 800
    assert longer.parameters["iterations"] == first.parameters["iterations"]


@pytest.mark.parametrize("word", ["on_progress", "on_end"])
def test_a_callback_that_raises_costs_no_result(small_tsptw, word):
    def oops(self, told):
        raise RuntimeError("oops")

    clumsy = type("Clumsy", (Callbacks,), {word: oops})()
    with pytest.raises(RuntimeError, match="oops") as caught:
        solve(small_tsptw, stop=MaxEvaluations(5_000), callbacks=clumsy, seed=1)
    assert caught.value.result.evaluations > 0


def test_a_problem_that_cannot_describe_costs_no_result():
    class Mute(Knapsack):
        def describe(self, moves):
            raise RuntimeError("no words")

    with pytest.raises(ProblemError, match=r"describe\(\) of Mute raised RuntimeError: 'no words'") as caught:
        solve(Mute(), ParetoNRPA(level=2), stop=MaxEvaluations(50), seed=1)
    expected = solve(Knapsack(), ParetoNRPA(level=2), stop=MaxEvaluations(50), seed=1)
    assert caught.value.result.front.solutions == expected.front.solutions
    assert caught.value.result.hypervolume == expected.hypervolume


class Packed(Knapsack):
    """Says what a result keeps once, and of each solution."""

    def __init__(self):
        super().__init__()
        self.context = {"weights": np.array([3, 1])}

    def details(self, moves):
        return {"taken": np.flatnonzero(moves), "violated": "nothing"}


def test_a_result_keeps_what_a_problem_says_of_its_solutions(tmp_path):
    result = solve(Packed(), ParetoNRPA(level=2), stop=MaxEvaluations(50), seed=1)
    loaded = Result.load(result.save(tmp_path / "r.json"))
    assert loaded.context == result.context == {"weights": [3, 1]}
    expected = [{"taken": np.flatnonzero(s).tolist(), "violated": "nothing"} for s in result.front.solutions]
    assert loaded.details == result.details == expected
    assert loaded.knee().details == expected[result.knee().index]
    assert loaded.within({"f1": 30}).details == expected[: len(loaded.within({"f1": 30}).front)]
    assert "nothing" not in result.summary()  # the front is feasible


@pytest.mark.parametrize("front", [np.ones((1, 2)), ReferenceFront.of(np.ones((1, 3))), "front.csv"])
def test_a_reference_front_that_does_not_fit_is_refused_before_the_search(front):
    with pytest.raises(ProblemError, match="reference_front of Odd must be a ReferenceFront of 2 objectives"):
        solve(type("Odd", (Knapsack,), {"reference_front": front})(), stop=MaxEvaluations(5))


def test_signals_during_the_last_measurement_cost_no_result(small_tsptw, monkeypatch):
    from pareto_nrpa.solving import build_result as outcome

    measure = outcome.hypervolume_history

    def interrupted(*arguments):
        for number in (signal.SIGINT, signal.SIGINT, signal.SIGTERM):
            os.kill(os.getpid(), number)
        return measure(*arguments)

    monkeypatch.setattr(outcome, "hypervolume_history", interrupted)
    result = solve(small_tsptw, stop=MaxEvaluations(1_000), seed=1)
    assert (result.evaluations, result.stopped_by) == (1_000, "1,000 evaluations")
    assert result.hypervolume > 0


@pytest.mark.parametrize("numbers", list(itertools.product([signal.SIGINT, signal.SIGTERM], repeat=2)))
def test_a_second_signal_soon_after_the_first_never_reaches_the_caller(small_tsptw, numbers):
    def send():
        os.kill(os.getpid(), numbers[0])
        os.kill(os.getpid(), numbers[1])

    sender = threading.Thread(target=send)

    class Impatient(Callbacks):
        def on_progress(self, progress):
            if not sender.ident:
                sender.start()

    result = solve(small_tsptw, stop=MaxEvaluations(10**9), callbacks=Impatient(), seed=1)
    sender.join()
    assert result.stopped_by in ("Ctrl-C", "SIGTERM")
    assert len(result.front) > 0


def test_a_second_ctrl_c_leaves_a_callback_with_the_result(small_tsptw, monkeypatch):
    from pareto_nrpa.solving import run

    monkeypatch.setattr(run, "_PATIENCE_AT_THE_END", 0.1)

    class Endless(Callbacks):
        def on_end(self, result):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(60)

    with pytest.raises(KeyboardInterrupt) as caught:
        solve(small_tsptw, stop=MaxEvaluations(100), callbacks=Endless(), seed=1)
    assert caught.value.result.evaluations == 100
