"""Every file is opened once, and what is no instance is reported as what it is."""

import os
import sys

import numpy as np
import pytest

from pareto_nrpa import load, read_stops
from pareto_nrpa.catalogue import open_problem
from pareto_nrpa.errors import InstanceError

from .test_formats import MATRIX, SOLOMON, TSPLIB, VRPLIB, vroom

ROWS = "3\n0 0 0 0 0 100 0\n1 3 4 0 0 100 10\n2 6 8 0 0 100 10\n"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("offer.pdf", b"%PDF-1.7\n\xff", r"offer\.pdf is a PDF document; CSV, Excel .* VROOM files are read\."),
        ("page.csv", b"\x89PNG\r\n", r"page\.csv is a picture; CSV, Excel"),
        ("stops.csv", b"\0\xff\xfe", r"stops\.csv is a binary file; CSV, Excel"),
        ("stops.csv", "name;x".encode("utf-16"), r"is not UTF-8 text; save it as 'CSV UTF-8' in the spreadsheet\."),
        ("v.json", b"\x80\xff", r"v\.json is not UTF-8 text; give a text file\."),
        ("v.json", b'{"type": "FeatureCollection"}', "v.json is a JSON file without jobs and vehicles; CSV, Excel"),
        ("v.json", b'{"type": 1, "jobs": []}', "v.json is not a VROOM file .*: type is not a known field"),
        ("v.txt", b'[{"a": 1}]', "v.txt is not a VROOM file of jobs"),
        ("page.html", b"<html></html>", r"page\.html, line 1: expected the number of cities .*; CSV, Excel"),
    ],
)
def test_a_file_that_is_no_instance_is_reported_as_what_it_is(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    for read_it in (load, read_stops):
        with pytest.raises(InstanceError, match=words):
            read_it(tmp_path / name)


def test_a_folder_is_reported_with_what_is_read(tmp_path):
    with pytest.raises(InstanceError, match="is a folder; give a file in it: CSV, Excel"):
        read_stops(tmp_path)


EVERY_FORMAT = {
    "c101.txt": SOLOMON,
    "toy.vrp": VRPLIB,
    "m.tw": MATRIX,
    "a.tsp": TSPLIB.format(kind="EUC_2D"),
    "v.json": vroom(),
    "stops.csv": "name,x,y\nHub,0,0\nAnna,1,5\n",
    "columns.txt": "name;x;y\nHub;0;0\nAnna;1;5\n",
    "rows.txt": ROWS,
    "book.xlsx": None,
}


@pytest.mark.parametrize("name", EVERY_FORMAT)
@pytest.mark.parametrize("how", ["load", "read_stops", "the command line"])
def test_a_file_is_opened_once(name, how, tmp_path, opened):
    path = tmp_path / name
    if EVERY_FORMAT[name] is None:
        pytest.importorskip("python_calamine")
        from .test_workbook import TABLE, write_workbook

        write_workbook(path, {"Tour": TABLE})
    else:
        path.write_text(EVERY_FORMAT[name])
    np.save(tmp_path / "rows.npy", np.ones((3, 3)))
    (tmp_path / "nadirs.json").write_text('{"rows": [1, 2]}')
    opened.clear()
    if how == "the command line":
        open_problem([str(path)])
    else:
        {"load": load, "read_stops": read_stops}[how](path)
    beside = [tmp_path / "nadirs.json", tmp_path / "rows.npy"] if name == "rows.txt" else []
    assert sorted(map(str, opened)) == sorted(map(str, [path, *beside]))


_OPENED = None


@pytest.fixture
def opened(tmp_path):
    """The files below the folder of the test that are opened, each as often as it is."""
    global _OPENED
    if _OPENED is None:  # a hook stays for as long as the process lives
        sys.addaudithook(lambda event, details: _OPENED is not None and event == "open" and _note(details[0]))
    _OPENED = (tmp_path, [])
    yield _OPENED[1]
    _OPENED = (tmp_path, [])


def _note(path):
    if isinstance(path, str | bytes | os.PathLike) and os.fsdecode(path).startswith(str(_OPENED[0])):
        _OPENED[1].append(os.fsdecode(path))
