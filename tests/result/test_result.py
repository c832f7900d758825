"""Results: saved, loaded, printed and turned into tables. All are made by hand: no search is needed."""

import csv
import json
import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pareto_nrpa import Front, ParetoNRPAError, Result

from ..helpers.results import knapsack, result_of


def make_result(n=2, violations=0.0, solutions=None, **changes):
    points = np.column_stack([np.arange(n), n - np.arange(n)]) + 0.1
    result = result_of(points, solutions or [[1, 2, 3 + i] for i in range(n)], **changes)
    return replace(result, front=replace(result.front, violations=np.full(n, violations)))


def infeasible():
    return make_result(violations=3.0, history=np.array([[1.0, 0.0]]), reference_point=None)


def empty():
    return make_result(0, history=np.zeros((0, 2)), reference_point=None, evaluations=0, cpu_seconds=0.0)


def round_trip(result, tmp_path):
    return Result.load(result.save(tmp_path / "result.json"))


@pytest.mark.parametrize("result", [make_result(), infeasible(), empty()], ids=["feasible", "infeasible", "empty"])
def test_what_is_saved_is_loaded(result, tmp_path):
    loaded = round_trip(result, tmp_path)
    assert loaded.to_dict() == result.to_dict()
    np.testing.assert_array_equal(loaded.front.objectives, result.front.objectives)
    np.testing.assert_array_equal(loaded.history, result.history)
    assert loaded.front.objectives.shape == result.front.objectives.shape
    assert loaded.front.policies.dtype == result.front.policies.dtype
    assert loaded.summary() == result.summary()


moves = st.recursive(st.integers() | st.text() | st.booleans() | st.none(), lambda inner: st.tuples(inner, inner))


@given(solution=st.lists(moves, max_size=5))
def test_moves_of_plain_problems_survive(solution, tmp_path_factory):
    result = make_result(1, solutions=[solution])
    assert round_trip(result, tmp_path_factory.getbasetemp()).front.solutions == [solution]


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_has_one_row_per_solution(tmp_path):
    rows = read_csv(make_result().save_csv(tmp_path / "r.csv"))
    assert rows == [
        {"f1": "0.1", "f2": "2.1", "violations": "0", "policy": "0", "solution": "1 2 3"},
        {"f1": "1.1", "f2": "1.1", "violations": "0", "policy": "0", "solution": "1 2 4"},
    ]


def test_a_data_frame_has_one_row_per_solution():
    pytest.importorskip("pandas", reason="to_dataframe() needs pandas, which is an extra")
    frame = make_result().to_dataframe()
    assert list(frame.columns) == ["f1", "f2", "violations", "policy", "solution"]
    assert frame["f1"].tolist() == [0.1, 1.1]
    assert frame["policy"].tolist() == [0, 0]
    assert frame["solution"].tolist() == [[1, 2, 3], [1, 2, 4]]


def test_without_pandas_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'needs pandas; install it with: pip install "pareto-nrpa\[dataframe\]"'):
        make_result().to_dataframe()


def test_the_summary_of_a_feasible_front_says_how_good_it_is():
    text = make_result().summary()
    assert "stops.csv: 2 trade-offs by pareto-nrpa, seed 7" in text
    assert "100,000 evaluations in 2.50 s of CPU time (40,000 a second), stopped by 100,000 evaluations" in text
    assert "hypervolume 440 up to the reference point (1, 1)" in text
    assert "1 2 4" in text
    assert "No feasible solution" not in text


def test_the_summary_of_an_infeasible_front_says_so():
    text = infeasible().summary()
    assert "No feasible solution was found; these solutions have the fewest violations, 3 each" in text
    assert "hypervolume" not in text


def test_the_summary_of_a_long_front_shows_some_rows_with_both_ends():
    text = make_result(500).summary()
    assert "(20 of 500 shown)" in text
    assert "1 2 3\n" in text
    assert "1 2 502\n" in text


def test_a_front_is_sorted_with_all_its_columns():
    front = Front.sorted(
        objectives=np.array([[3.0, 1.0], [1.0, 3.0], [1.0, 2.0]]),
        violations=np.zeros(3),
        solutions=[["a"], ["b"], ["c"]],
        policies=np.array([0, 1, 2]),
    )
    assert front.objectives.tolist() == [[1, 2], [1, 3], [3, 1]]
    assert front.solutions == [["c"], ["b"], ["a"]]
    assert front.policies.tolist() == [2, 1, 0]


def damaged(tmp_path, **changes):
    path = tmp_path / "r.json"
    path.write_text(json.dumps({**make_result().to_dict(), **changes}))
    return path


@pytest.mark.parametrize("call", [Result.load, lambda path: make_result().save(path)], ids=["load", "save"])
@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        (None, TypeError, "must be named by text or a path, got None"),
        ("a\0.json", ParetoNRPAError, "cannot contain the character"),
    ],
)
def test_what_names_no_file_is_a_sentence(call, path, error, message):
    with pytest.raises(error, match=message):
        call(path)


@pytest.mark.parametrize("name", ["r.xlsx", "r", "r.json.gz", ".csv"])
def test_an_ending_that_says_nothing_is_refused(name, tmp_path):
    with pytest.raises(ParetoNRPAError, match=r"name of a result file must end in \.json or \.csv, got .*"):
        make_result().save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"objectives": [[math.nan, 1], [1, 0]]}, "JSON is malformed"),
        ({"objectives": [["1", "2"], [1, 2]]}, r"objectives\[0\]\[0\]: expected float, got str"),
        ({"objectives": [[1, 2], [1, 3]]}, "a solution of the front is dominated by another one"),
        ({"violations": [-1, -1]}, r"violations\[0\]: expected float >= 0.0, got -1"),
        ({"violations": [0, 1]}, "the solutions of a front have equal violations"),
        ({"solutions": [[{"a": 1}], [2]]}, "solutions must be lists of moves"),
        ({"history": [[5, 1.0], [1, 2.0]]}, "evaluations of history must not decrease"),
        ({"reference_point": [1]}, "reference_point must have 2 entries, got 1"),
        ({"objective_names": ["a"]}, "objective_names must have 2 entries"),
        ({"truth": {"points": 3}}, "truth must have points, found and igd_plus"),
        ({"details": [{}]}, "details must have 2 entries, got 1"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_file_that_says_what_cannot_be_is_refused(changes, reason, tmp_path):
    with pytest.raises(ParetoNRPAError, match=f"is not a result of pareto-nrpa, or is damaged: .*{reason}") as caught:
        Result.load(damaged(tmp_path, **changes))
    assert len(str(caught.value)) < 500


def test_an_approximated_hypervolume_says_so(tmp_path):
    result = make_result(approximated=True)
    assert "hypervolume about 440 up to" in result.summary()
    assert round_trip(result, tmp_path).approximated
    assert "approximated" not in make_result().to_dict()


# --- knee, weights and limits; report/test_page.py compares those of the page with them


def front(*points, **changes):
    return result_of(points, [[i] for i in range(len(points))], **{"objective_names": ["cost", "CO2 (kg)"], **changes})


BULGING = front((0, 10), (1, 4), (2, 1), (6, 0.5), (10, 0))  # the third is nearest to the best of both
HOLLOW = front((0, 10), (6, 9), (8.5, 8.5), (9, 6), (10, 0))  # behind the line between its ends


def test_the_knee_lies_farthest_before_the_line_between_the_ends():
    knee = BULGING.knee()
    assert knee.number == 3
    assert knee.objectives == {"cost": 2.0, "CO2 (kg)": 1.0}
    assert repr(knee) == "<Solution 3: cost 2, CO2 (kg) 1>"


def test_a_front_that_bulges_nowhere_has_the_even_compromise_for_a_knee():
    assert HOLLOW.knee().number == HOLLOW.best().number == 3


def test_knee_and_weights_know_what_is_maximised():
    result = knapsack()
    assert result.knee().objectives == {"load": 20.0, "profit": 9.0}
    assert result.best({"profit": 1}).objectives["profit"] == 10
    assert result.best([1, 0]).objectives["load"] == 10
    with pytest.raises(ParetoNRPAError, match=r"weights must be a number of at least 0 .* got 3"):
        result.best(3)


@pytest.mark.parametrize("index", range(5))
def test_weights_reach_every_solution_of_a_front(index):
    for result in (BULGING, HOLLOW):
        values = result.front.objectives / 10
        weights = (1 / np.maximum(values[index], 1e-9)).tolist()
        assert result.best(weights).index == index


@pytest.mark.parametrize("factor", [1e-300, 1.0, 1.7e307])
def test_the_choice_does_not_depend_on_units(factor):
    scaled = front(*(BULGING.front.objectives * [factor, -factor] + [0, 0]).tolist(), maximise=[False, True])
    assert scaled.knee().index == BULGING.knee().index


def test_limits_by_keyword_and_by_name():
    assert len(BULGING.within(cost=2).front) == 3
    kept = BULGING.within({"CO2 (kg)": 4}, cost=2)
    np.testing.assert_array_equal(kept.front.objectives, [[1, 4], [2, 1]])
    assert kept.front.solutions == [[1], [2]]
    assert len(kept.history) == 0  # its hypervolume would be that of the whole front
    assert len(knapsack().within(profit=7).front) == 3  # at least, as more is better
    assert knapsack().within(profit=7).descriptions[0] == "items of 15 kg"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.within(costs=3), r"no objective 'costs' \(did you mean 'cost'\?\); there are: cost, CO2 \(kg\)"),
        (lambda r: r.within(cost="3"), "the limit of cost must be a finite number, got '3'"),
        (lambda r: r.within(cost=float("nan")), "must be a finite number, got nan"),
        (lambda r: r.best([1]), r"a number of at least 0 for each of cost, CO2 \(kg\), not all 0, got \[1\]"),
        (lambda r: r.best([0, 0]), "not all 0"),
        (lambda r: r.best([-1, 1]), "at least 0"),
        (lambda r: r.best({"price": 1}), "no objective 'price'"),
        (lambda r: r.best("ab"), "got 'ab'"),
        (lambda r: r.within(cost=-1).knee(), "no solution to choose from"),
    ],
)
def test_mistakes_are_told(call, message):
    with pytest.raises(ParetoNRPAError, match=message):
        call(BULGING)
