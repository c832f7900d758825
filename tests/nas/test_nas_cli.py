"""The benchmarks on the command line, in this process."""

import json
from pathlib import Path

import pytest

from pareto_nrpa.nas import convert101, nasbench201

from .conftest import cell_moves
from .test_nasbench101 import distinct_cells, write_official


@pytest.fixture
def run(run, empty_machine, monkeypatch):
    """Call the command line in an empty folder, where no package brings the table."""
    monkeypatch.setattr(nasbench201, "package_folder", lambda: None)
    return run


@pytest.mark.slow
def test_the_front_is_printed_as_architectures(run, table_201, write_table):
    folder = write_table(table_201)
    code, out, _ = run("solve", "nas-bench-201", "--evaluations", 500, "--data", folder, "--out", "x.json")
    assert code == 0
    assert " of the " in out and "points of the true front were found" in out
    assert "% of its hypervolume" in out
    saved = json.loads(Path("x.json").read_text())
    shown = [cell_moves(line.split()[-1]) for line in out.splitlines() if line.endswith("|")]
    assert shown and all(solution in saved["solutions"] for solution in shown)


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
