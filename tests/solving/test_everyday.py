"""Small things of every day: certificates as tables and as the truth, a bar that ends at 100 %."""

import pytest

from pareto_nrpa import MaxEvaluations, ParetoNRPAError, ProgressBar, certify, solve
from pareto_nrpa.result.reference import with_reference_front
from pareto_nrpa.routing import generate_tsptw

from ..helpers.problems import Knapsack


@pytest.fixture(scope="module")
def proved():
    problem = generate_tsptw(7, seed=1, tightness=0.4)
    return problem, certify(problem)


def test_a_certificate_is_a_table_and_the_truth_of_later_searches(proved):
    problem, certificate = proved
    frame = certificate.to_dataframe()
    assert list(frame.columns) == ["f1", "f2", "solution"]
    assert frame[["f1", "f2"]].to_numpy().tolist() == certificate.objectives.tolist()
    result = solve(with_reference_front(problem, certificate), stop=MaxEvaluations(2_000), seed=1)
    assert result.truth["points"] == len(certificate.objectives)
    assert 0.8 < result.truth["share_of_hypervolume"] <= 1.0
    with pytest.raises(ParetoNRPAError, match="or for other data than"):
        with_reference_front(generate_tsptw(7, seed=2), certificate)


def test_problems_proofs_and_fronts_are_shown_in_a_line(proved):
    problem, certificate = proved
    assert repr(problem) == "<CompiledProblem tsptw:n=7,seed=1,tightness=0.4,objectives=2, 2 objectives>"
    assert (
        repr(certificate) == f"<Certificate {problem.name}: {certificate.status}, {len(certificate.solutions)} tour(s)>"
    )
    known = with_reference_front(problem, certificate).reference_front
    assert repr(known) == f"<ReferenceFront of {len(certificate.objectives)}, complete>"
    assert repr(Knapsack()) == "<Knapsack, 2 objectives>"


def test_the_bar_in_a_notebook_ends_at_100_percent(proved, monkeypatch):
    display = pytest.importorskip("IPython.display", reason="needs IPython: pip install ipython")
    shown = []

    class Handle:
        def update(self, html):
            shown.append(html.data)

    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr(display, "display", lambda html, display_id: shown.append(html.data) or Handle())
    problem, _ = proved
    solve(problem, stop=MaxEvaluations(200), callbacks=ProgressBar(problem, evaluations=1_000), seed=1)
    assert "value='0.000'" in shown[0]
    assert "value='1.000'" in shown[-1]
    assert "100%, 0 s | front" in shown[-1]
