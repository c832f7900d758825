"""What the figures show is what the runs say; how they look has to be looked at."""

import moocore
import msgspec
import numpy as np
import pytest

from pareto_nrpa.experiments import figures
from pareto_nrpa.experiments.drawing import COLOURS, save_figure
from pareto_nrpa.experiments.metrics import Scale
from pareto_nrpa.experiments.plan import Run
from pareto_nrpa.experiments.runs import RunRecord
from pareto_nrpa.experiments.worker import make_run

from .helpers import a_record

matplotlib = pytest.importorskip("matplotlib", reason="needs matplotlib: pip install pareto-nrpa[experiments]")

NASTY = "_a$b$ <i>&_{x}^2 $"
REFERENCE = (10.0, 10.0)


def record(points, *, seed=0, violations=0.0, log=None, evaluations=1000, **others):
    """Return the record of a run that ended with these points, all found at its first evaluation unless told."""
    run = Run("p", "random", {}, evaluations, None, seed)
    log = [[1, violations, *point] for point in points] if log is None else log
    return a_record(run, points, violations=violations, log=log, evaluations=evaluations, **others)


@pytest.fixture(scope="module")
def real():
    """Return real runs, with logs and policies as they are; of one algorithm, which then is compiled once."""
    problem = "tsptw:n=12,seed=1,tightness=0.4"

    def runs(**parameters):
        lines = [make_run(Run(problem, "pareto-nrpa", parameters, 2_000, None, seed), None)[0] for seed in range(3)]
        return [msgspec.json.decode(line, type=RunRecord) for line in lines]

    return {"one policy": runs(n_policies=1), "Pareto-NRPA": runs()}


@pytest.fixture
def infeasible():
    return record([[1, 2]], violations=3.0)


def texts(figure):
    return [text.get_text() for text in figure.findobj(matplotlib.text.Text) if text.get_text()]


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


#: The figures of runs, with a title and names that are hard to show.
OF_RUNS = {
    "fronts": lambda records: figures.aggregated_fronts(records, NASTY, (NASTY, NASTY)),
    "history": lambda records: figures.hypervolume_history(records, NASTY, Scale(np.array(REFERENCE), 1.0)),
    "policies": lambda records: figures.policy_distribution([run for runs in records.values() for run in runs], NASTY),
    "attainment": lambda records: figures.attainment(records, NASTY),
}


# --- fronts


def test_a_front_is_the_nondominated_union_of_all_runs_before_the_true_front(real):
    figure = figures.aggregated_fronts(real, "title", true_front=np.array([[3.0, 1.0], [1.0, 3.0]]))
    *lines, truth = figure.axes[0].lines
    for line, runs in zip(lines, real.values(), strict=True):
        union = np.unique(np.vstack([run.feasible for run in runs]), axis=0)
        np.testing.assert_array_equal(line.get_xydata(), union[moocore.is_nondominated(union)])
    assert (truth.get_xydata().tolist(), truth.get_drawstyle()) == ([[1, 3], [3, 1]], "steps-post")
    assert all(truth.get_zorder() < line.get_zorder() for line in lines)
    assert legend(figure)[-1] == "true front (2 points)"


def test_labels_say_how_many_runs_there_are(infeasible):
    good = record([[1, 2]])
    records = {"a": [good], "b": [good, good], "c": [good, infeasible], "d": [infeasible], "e": []}
    figure = figures.aggregated_fronts(records, "title")
    expected = ["a (1 run)", "b (2 runs)", "c (1 of 2 runs feasible)", "d (no feasible run)", "e (no feasible run)"]
    assert legend(figure) == expected
    assert [len(line.get_xdata()) for line in figure.axes[0].lines] == [1, 1, 1, 0, 0]


# --- history


def test_a_history_counts_what_is_feasible_and_found_by_then(infeasible):
    log = [(10, 1, 0, 0), (50, 0, 9, 9), (400, 0, 5, 5)]  # the first is better than all, and not feasible
    runs = [record([[5, 5]], log=log, evaluations=1_000), infeasible]
    line = figures.hypervolume_history({"a": runs}, "title", Scale(np.array(REFERENCE), 25.0)).axes[0].lines[0]
    evaluations, values = line.get_data()
    np.testing.assert_allclose(values, np.where(evaluations < 400, 1 / 25, 1.0) / 2)


# --- policies and costs


def test_points_are_grouped_by_policy(real):
    run = record([[1, 3], [2, 2], [3, 1]], policies=[2, 0, 2], seed=7)
    figure = figures.policy_distribution([run], "title")
    zero, two = figure.axes[0].lines
    assert (zero.get_xydata().tolist(), two.get_xydata().tolist()) == ([[2, 2]], [[1, 3], [3, 1]])
    assert (legend(figure), figure.axes[0].get_title()) == (["policy 0", "policy 2"], "seed 7")
    figure = figures.policy_distribution(real["Pareto-NRPA"], "title")
    assert [axes.get_title() for axes in figure.axes] == ["seed 0", "seed 1"]
    for axes, run in zip(figure.axes, real["Pareto-NRPA"], strict=False):
        assert sum(len(line.get_xdata()) for line in axes.lines) == len(run.feasible)
        assert [line.get_color() for line in axes.lines] == [COLOURS[p] for p in sorted(set(run.policies))]


# --- attainment surfaces


def corners_of(runs):
    lines = figures.attainment({"a": runs}, "title").axes[0].lines
    assert {line.get_drawstyle() for line in lines} == {"steps-post"}
    return [line.get_xydata()[1:-1].tolist() for line in lines]


def test_surfaces_are_what_that_share_of_runs_attains(infeasible):
    assert corners_of([record([[x, x]]) for x in (1, 2, 3, 4)]) == [[[1, 1]], [[2, 2]], [[3, 3]]]
    # Half of all runs attain (2, 2); three quarters attain nothing.
    assert corners_of([record([[1, 1]]), record([[2, 2]]), infeasible, infeasible]) == [[[1, 1]], [[2, 2]]]


# --- all figures


@pytest.mark.parametrize("name", OF_RUNS)
def test_without_data_a_figure_says_so(infeasible, name):
    for labels in ("", "ab"):
        assert "no feasible run" in texts(OF_RUNS[name]({label: [infeasible] for label in labels}))
    assert "no costs" in texts(figures.cost_matrices(np.zeros((0, 0, 0)), "title"))


def test_figures_are_equal_files_whatever_the_settings_of_the_user(tmp_path, real):
    def saved(folder):
        # The name of an instance has a dot, which is not where a suffix begins.
        return save_figure(figures.attainment(real, "title"), tmp_path / folder / "costs-rc_204.2")

    usual = saved("usual")
    assert [path.name for path in usual] == ["costs-rc_204.2.png", "costs-rc_204.2.svg"]
    assert sorted(usual[0].parent.iterdir()) == usual
    assert usual[0].read_bytes().startswith(b"\x89PNG")
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.hashsalt": None}):
        before = dict(matplotlib.rcParams)
        assert [path.read_bytes() for path in saved("other")] == [path.read_bytes() for path in usual]
        assert dict(matplotlib.rcParams) == before
