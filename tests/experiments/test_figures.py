"""What the figures show is what the runs say; how they look has to be looked at."""

import sys
from xml.etree import ElementTree

import moocore
import msgspec
import numpy as np
import pytest

from pareto_nrpa.experiments import figures
from pareto_nrpa.experiments.drawing import COLOURS, save_figure
from pareto_nrpa.experiments.metrics import Box, Scale
from pareto_nrpa.experiments.plan import Run
from pareto_nrpa.experiments.runs import Record
from pareto_nrpa.experiments.statistics import compare_means
from pareto_nrpa.experiments.worker import make_run
from pareto_nrpa.metrics import hypervolume

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
        return [msgspec.json.decode(line, type=Record) for line in lines]

    return {"one policy": runs(n_policies=1), "Pareto-NRPA": runs()}


@pytest.fixture
def infeasible():
    return record([[1, 2]], violations=3.0)


def texts(figure):
    return [text.get_text() for text in figure.findobj(matplotlib.text.Text) if text.get_text()]


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def svg_texts(figure, folder):
    _, svg = save_figure(figure, folder / "figure")
    return ["".join(node.itertext()) for node in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")]


def box(records):
    """Return the reference point and the largest hypervolume of the final fronts."""
    fronts = [run.feasible for runs in records.values() for run in runs]
    reference = np.vstack(fronts).max(axis=0)
    return reference, max(hypervolume(front, reference_point=reference) for front in fronts)


#: The figures of runs, with a title and names that are hard to show.
OF_RUNS = {
    "fronts": lambda records: figures.aggregated_fronts(records, NASTY, (NASTY, NASTY)),
    "history": lambda records: figures.hypervolume_history(records, NASTY, Scale(np.array(REFERENCE), 1.0)),
    "policies": lambda records: figures.policy_distribution([run for runs in records.values() for run in runs], NASTY),
    "attainment": lambda records: figures.attainment(records, NASTY),
}


# --- aggregated fronts


def test_a_front_is_the_nondominated_union_of_all_runs(real):
    figure = figures.aggregated_fronts(real, "title")
    for line, runs in zip(figure.axes[0].lines, real.values(), strict=True):
        union = np.unique(np.vstack([run.feasible for run in runs]), axis=0)
        np.testing.assert_array_equal(line.get_xydata(), union[moocore.is_nondominated(union)])


def test_the_true_front_is_a_staircase_behind_the_fronts(real):
    figure = figures.aggregated_fronts(real, "title", true_front=np.array([[3.0, 1.0], [1.0, 3.0]]))
    line = figure.axes[0].lines[-1]
    assert line.get_xydata().tolist() == [[1, 3], [3, 1]]
    assert line.get_drawstyle() == "steps-post"
    assert all(line.get_zorder() < other.get_zorder() for other in figure.axes[0].lines[:-1])
    assert [text.get_text() for text in figure.legends[0].get_texts()][-1] == "true front (2 points)"


def test_labels_say_how_many_runs_there_are(infeasible):
    good = record([[1, 2]])
    records = {"a": [good], "b": [good, good], "c": [good, infeasible], "d": [infeasible], "e": []}
    figure = figures.aggregated_fronts(records, "title")
    expected = ["a (1 run)", "b (2 runs)", "c (1 of 2 runs feasible)", "d (no feasible run)", "e (no feasible run)"]
    assert legend(figure) == expected
    assert [len(line.get_xdata()) for line in figure.axes[0].lines] == [1, 1, 1, 0, 0]


def test_no_two_of_many_labels_look_alike():
    figure = figures.aggregated_fronts({f"label {i}": [record([[i, i]])] for i in range(40)}, "title")
    looks = {(line.get_color(), line.get_marker()) for line in figure.axes[0].lines}
    assert len(looks) == 40


def test_a_long_legend_fits_into_the_figure():
    records = {f"a label of some forty letters, number {i}": [record([[i, i]])] for i in range(40)}
    figure = figures.aggregated_fronts(records, "title")
    figure.canvas.draw()
    extent = figure.legends[0].get_window_extent()
    assert figure.bbox.containsx(extent.x0)
    assert figure.bbox.containsx(extent.x1)
    assert figure.bbox.containsy(extent.y0)
    assert extent.x0 > figure.axes[0].get_window_extent().x1


# --- hypervolume history


def test_a_history_ends_with_the_hypervolume_of_the_final_fronts(real):
    reference, largest = box(real)
    figure = figures.hypervolume_history(real, "title", Scale(reference, largest))
    for line, runs in zip(figure.axes[0].lines, real.values(), strict=True):
        final = [hypervolume(run.feasible, reference_point=reference) / largest for run in runs]
        evaluations, values = line.get_data()
        assert values[-1] == pytest.approx(np.mean(final), rel=1e-6)
        assert (np.diff(values) >= 0).all()
        assert (evaluations[0], evaluations[-1]) == (100, 2_000)
    assert figure.axes[0].get_xscale() == "log"


def test_a_history_counts_what_is_feasible_and_found_by_then():
    log = [(10, 1, 0, 0), (50, 0, 9, 9), (400, 0, 5, 5)]  # the first is better than all, and not feasible
    run = record([[5, 5]], log=log, evaluations=1_000)
    line = figures.hypervolume_history({"a": [run]}, "title", Scale(np.array(REFERENCE), 25.0)).axes[0].lines[0]
    evaluations, values = line.get_data()
    np.testing.assert_allclose(values, np.where(evaluations < 400, 1 / 25, 1.0))


def test_a_run_without_feasible_points_counts_as_nothing(infeasible):
    figure = figures.hypervolume_history(
        {"a": [record([[5, 5]]), infeasible]}, "title", Scale(np.array(REFERENCE), 25.0)
    )
    assert figure.axes[0].lines[0].get_ydata()[-1] == pytest.approx(0.5)


def band_heights(runs):
    figure = figures.hypervolume_history({"a": runs}, "title", Scale(np.array(REFERENCE), 100.0))
    heights = figure.axes[0].collections[0].get_paths()[0].vertices[:, 1]
    return heights.min(), heights.max()


def test_the_band_is_the_95_percent_interval():
    volumes = np.array([0.25, 0.36, 0.49])
    low, high = band_heights([record([[x, x]]) for x in (5, 4, 3)])
    half_width = 1.96 * volumes.std(ddof=1) / np.sqrt(3)
    assert (low, high) == pytest.approx((volumes.mean() - half_width, volumes.mean() + half_width))


@pytest.mark.parametrize("n", [1, 3])
def test_equal_runs_have_a_band_without_width(n):
    assert band_heights([record([[5, 5]])] * n) == pytest.approx((0.25, 0.25))


def test_the_band_does_not_reach_below_zero(infeasible):
    low, _ = band_heights([record([[1, 1]]), infeasible, infeasible])
    assert low == 0


def test_where_one_point_is_all_there_is_it_counts_fully():
    run = record([[5, 5]])
    figure = figures.hypervolume_history({"a": [run]}, "title", Box([run], None).paper)
    assert figure.axes[0].lines[0].get_ydata()[-1] == 1


def test_many_objectives_are_not_measured_and_the_figure_says_so():
    figure = figures.hypervolume_history({"a": [record([[1] * 9])]}, "title", Scale(np.array([2] * 9), 1.0))
    assert "not measured from 8 objectives on; there are 9" in texts(figure)


# --- policies


def test_points_are_grouped_by_policy():
    run = record([[1, 3], [2, 2], [3, 1]], policies=[2, 0, 2], seed=7)
    figure = figures.policy_distribution([run], "title")
    zero, two = figure.axes[0].lines
    assert zero.get_xydata().tolist() == [[2, 2]]
    assert two.get_xydata().tolist() == [[1, 3], [3, 1]]
    assert legend(figure) == ["policy 0", "policy 2"]
    assert figure.axes[0].get_title() == "seed 7"


def test_two_runs_stand_side_by_side_and_a_policy_looks_the_same_in_both(real):
    figure = figures.policy_distribution(real["Pareto-NRPA"], "title")
    assert [axes.get_title() for axes in figure.axes] == ["seed 0", "seed 1"]
    for axes, run in zip(figure.axes, real["Pareto-NRPA"], strict=False):
        assert sum(len(line.get_xdata()) for line in axes.lines) == len(run.feasible)
        assert [line.get_color() for line in axes.lines] == [COLOURS[p] for p in sorted(set(run.policies))]


# --- cost matrices


@pytest.mark.parametrize(
    ("m", "names"), [(1, ["cost 1"]), (2, ["primary cost", "secondary cost"]), (3, ["cost 1", "cost 2", "cost 3"])]
)
def test_each_cost_matrix_is_a_heat_map(rng, m, names):
    costs = rng.random((m, 4, 4))
    costs[0, 0, 0] = np.inf
    images = [axes for axes in figures.cost_matrices(costs, "title").axes if axes.images]
    assert [axes.get_title() for axes in images] == names
    for axes, matrix in zip(images, costs, strict=True):
        shown = axes.images[0].get_array()
        np.testing.assert_array_equal(shown.filled(np.inf), matrix)


# --- attainment surfaces


def test_surfaces_are_what_that_share_of_runs_attains():
    runs = [record([[x, x]]) for x in (1, 2, 3, 4)]
    lines = figures.attainment({"a": runs}, "title").axes[0].lines
    corners = [line.get_xydata()[1:-1].tolist() for line in lines]
    assert corners == [[[1, 1]], [[2, 2]], [[3, 3]]]
    assert {line.get_drawstyle() for line in lines} == {"steps-post"}


def test_runs_without_feasible_points_attain_nothing(infeasible):
    runs = [record([[1, 1]]), record([[2, 2]]), infeasible, infeasible]
    lines = figures.attainment({"a": runs}, "title").axes[0].lines
    # Half of all runs attain (2, 2); three quarters attain nothing.
    assert [line.get_xydata()[1:-1].tolist() for line in lines] == [[[1, 1]], [[2, 2]]]


def test_staircases_reach_the_edges_and_panels_share_them(real):
    figure = figures.attainment(real, "title")
    first, second = figure.axes
    assert first.get_xlim() == second.get_xlim()
    for axes in figure.axes:
        for line in axes.lines:
            data = line.get_xydata()
            assert data[0, 1] == axes.get_ylim()[1]
            assert data[-1, 0] == axes.get_xlim()[1]
            assert (np.diff(data[:, 0]) >= 0).all()
            assert (np.diff(data[:, 1]) <= 0).all()


def test_a_panel_without_feasible_runs_says_so(infeasible):
    good, bad = figures.attainment({"good": [record([[1, 1]])], "bad": [infeasible]}, "title").axes
    assert [text.get_text() for text in bad.texts] == ["no feasible run"]
    assert not good.texts
    assert good.xaxis.get_ticklabels()[0].get_visible()


def test_at_most_six_panels_and_the_title_says_how_many_there_are():
    figure = figures.attainment({str(i): [record([[i, i]])] for i in range(8)}, "title")
    assert len(figure.axes) == 6
    assert figure.get_suptitle() == "title (the first 6 of 8)"


# --- average ranks


def ranks_of(table, labels):
    return compare_means(
        {i: dict(zip(labels, np.reshape(row, (-1, 1)), strict=True)) for i, row in enumerate(table)},
        more_is_better=False,
    )


def test_bars_join_ranks_that_are_not_told_apart():
    found = ranks_of([[3, 1, 2]] * 8 + [[3, 2, 1]] * 4, ["bad", "best", NASTY])
    figure = figures.average_ranks(found, "title")
    bars = [line.get_xdata() for line in figure.axes[0].lines if line.get_linewidth() > 3]
    assert [sorted(bar) for bar in bars] == [pytest.approx([4 / 3, 5 / 3])]
    shown = {text.strip() for text in texts(figure)}
    assert {"best (1.33)", "bad (3.00)", f"title (critical difference {found.difference:.2f})"} <= shown


def test_long_names_stay_inside_the_figure():
    figure = figures.average_ranks(ranks_of([[1, 2], [2, 1]], ["n" * 60, "m" * 60]), "title")
    figure.canvas.draw()
    extents = [text.get_window_extent() for text in figure.axes[0].texts]
    assert all(figure.bbox.x0 <= extent.x0 and extent.x1 <= figure.bbox.x1 for extent in extents)


# --- all figures


@pytest.mark.parametrize("name", OF_RUNS)
def test_without_data_a_figure_says_so(infeasible, name):
    for labels in ("", "ab"):
        assert "no feasible run" in texts(OF_RUNS[name]({label: [infeasible] for label in labels}))
    assert "no costs" in texts(figures.cost_matrices(np.zeros((0, 0, 0)), "title"))


def test_three_objectives_are_not_drawn_and_the_figure_says_so():
    records = {"a": [record([[1, 2, 3], [3, 2, 1]])]}
    for figure in (
        figures.aggregated_fronts(records, "title"),
        figures.policy_distribution(records["a"], "title"),
        figures.attainment(records, "title"),
    ):
        assert "drawn for 2 objectives only, not for 3" in texts(figure)
    history = figures.hypervolume_history(records, "title", Scale(np.array((4, 4, 4)), 20.0)).axes[0].lines[0]
    assert history.get_ydata()[-1] == pytest.approx((6 + 6 - 2) / 20)  # two boxes and what they share


def test_special_characters_are_shown_as_they_are(tmp_path):
    records = {NASTY: [record([[1, 2], [2, 1]])]}
    drawn = {name: draw(records) for name, draw in OF_RUNS.items()}
    drawn["costs"] = figures.cost_matrices(np.eye(3)[None], NASTY)
    drawn["ranks"] = figures.average_ranks(ranks_of([[1, 2], [1, 2]], [NASTY, "b"]), "title")
    shown = {name: svg_texts(figure, tmp_path) for name, figure in drawn.items()}
    assert all(NASTY in found for name, found in shown.items() if name != "ranks")  # the title
    assert shown["fronts"].count(NASTY) == 3  # and the names of both axes
    assert f"{NASTY} (1 run)" in shown["fronts"]
    assert f"{NASTY} (1 run)" in shown["history"]
    assert shown["attainment"].count(NASTY) == 2
    assert f"{NASTY} (1.00)" in [text.strip() for text in shown["ranks"]]


def test_a_long_title_is_broken_into_lines():
    figure = figures.aggregated_fronts({"a": [record([[1, 1]])]}, "many words " * 20)
    assert figure.get_suptitle().count("\n") >= 2


def test_settings_of_the_user_neither_matter_nor_change(tmp_path):
    def saved(folder):
        return save_figure(figures.aggregated_fronts({"a": [record([[1, 2]])]}, "title"), folder / "x")[1]

    usual = saved(tmp_path / "usual").read_bytes()
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.hashsalt": None}):
        before = dict(matplotlib.rcParams)
        assert saved(tmp_path / "other").read_bytes() == usual
        assert dict(matplotlib.rcParams) == before


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"^figures need matplotlib; install it with: pip install \"pareto-nrpa\[exp"):
        figures.cost_matrices([[[0, 1], [1, 0]]], "title")


# --- files


def test_both_files_are_written_beside_each_other(tmp_path):
    # The name of an instance has a dot, which is not where a suffix begins.
    figure = figures.cost_matrices(np.eye(3)[None], "title")
    paths = save_figure(figure, tmp_path / "new" / "costs-rc_204.2")
    assert paths == [tmp_path / "new" / "costs-rc_204.2.png", tmp_path / "new" / "costs-rc_204.2.svg"]
    assert sorted(path.name for path in paths[0].parent.iterdir()) == ["costs-rc_204.2.png", "costs-rc_204.2.svg"]
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    width = int.from_bytes(paths[0].read_bytes()[16:20], "big")
    assert width == pytest.approx(150 * figure.get_figwidth(), abs=1)


def test_equal_figures_are_equal_files(tmp_path, real):
    reference, largest = box(real)
    draw = [
        lambda: figures.hypervolume_history(real, "title", Scale(reference, largest)),
        lambda: figures.attainment(real, "title"),
        lambda: figures.cost_matrices(np.eye(3)[None], "title"),
    ]
    for make in draw:
        first = [path.read_bytes() for path in save_figure(make(), tmp_path / "first")]
        assert first == [path.read_bytes() for path in save_figure(make(), tmp_path / "second")]
