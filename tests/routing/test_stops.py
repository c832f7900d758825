"""Stops in spreadsheets and data frames: what is read, and what is refused with line and column."""

import datetime
import math
import sys
import zipfile
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

from pareto_nrpa import load, read_stops
from pareto_nrpa._util.text import minutes, shown_time
from pareto_nrpa.errors import InstanceError
from pareto_nrpa.routing.itinerary import Itinerary, Route

PLAIN = """\
name,x,y,opens,closes,service,demand,phone
Hub,0,0,08:00,18:00,,,
Anna,3.5,0,09:00,12:00,10,3,555-1
Bob,4,4,,,10,4,
Cleo,0,4,10:00,11:00,00:15,2,555-3
"""


@pytest.fixture
def file(tmp_path):
    def write(text, name="stops.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
        return path

    return write


def test_a_spreadsheet_becomes_a_problem(file):
    problem = read_stops(file(PLAIN), speed=30)
    assert problem.name == "stops"
    assert tuple(problem.objective_names) == ("distance", "finish")
    depot, anna, bob, cleo = problem.context["stops"]
    assert depot == {
        "name": "Hub",
        "x": 0,
        "y": 0,
        "service": 0,
        "demand": 0,
        "phone": "",
        "opens": 480,
        "closes": 1080,
    }
    assert anna["phone"] == "555-1"
    assert (bob["opens"], bob["closes"]) == (0, None)
    assert cleo["service"] == 15
    assert problem.context["clock"]
    assert problem.details.__self__.travel[0, 1] == 7  # 3.5 at 30 an hour, in minutes


def semicolons(text):
    return "\n".join(line.replace(",", ";").replace(".", ",") for line in text.splitlines())


def shuffled(text):
    lines = [line.split(",") for line in text.splitlines()]
    return "\n".join(",".join(cells[i] for i in (7, 5, 3, 1, 0, 2, 6, 4)) for cells in lines)


SPREADSHEETS = {
    "semicolons": (semicolons(PLAIN), "utf-8"),
    "windows": (semicolons(PLAIN).replace("\n", "\r\n"), "utf-8-sig"),
    "tabs": (PLAIN.replace(",", "\t"), "utf-8"),
    "announced": (f"sep=;\r\n{semicolons(PLAIN)}", "utf-8"),
    "columns shuffled": (shuffled(PLAIN), "utf-8-sig"),
    "quotes and empty rows": (PLAIN.replace("Anna", '"Anna"') + "\n\n,,,,,,,\n", "utf-8"),
    "capitals": (PLAIN.replace("name,x", " Name , X").replace("opens", "OPENS"), "utf-8"),
    "nameless column": ("\n".join(f"{line}," for line in PLAIN.splitlines()), "utf-8"),
}


@pytest.mark.parametrize("kind", SPREADSHEETS)
def test_spreadsheets_of_all_kinds_say_the_same(file, kind):
    text, encoding = SPREADSHEETS[kind]
    plain, other = (read_stops(path, speed=30) for path in (file(PLAIN, "a.csv"), file(text, "b.csv", encoding)))
    assert plain.context["stops"] == other.context["stops"]
    assert (plain.details.__self__.travel == other.details.__self__.travel).all()


def test_a_data_frame_says_the_same(file):
    frame = pd.read_csv(file(PLAIN)).astype({"opens": object})
    frame.loc[3, "opens"] = datetime.time(10, 0)
    problem = read_stops(frame, speed=30)
    assert problem.context["stops"][3] == read_stops(file(PLAIN), speed=30).context["stops"][3]
    assert problem.context["stops"][2]["closes"] is None
    with pytest.raises(InstanceError, match="row 2, column 'x': expected a number, got 'far'"):
        read_stops(frame.assign(x=[0, "far", 1, 2]), speed=30)
    with pytest.raises(InstanceError, match=r"'closes': expected a time, .*, got '2024-01-01 08:00:00"):
        read_stops(frame.assign(closes=pd.Timestamp("2024-01-01 08:00", tz="UTC")), speed=30)


def test_the_depot_may_stand_anywhere(file):
    lines = PLAIN.splitlines()
    rows = [f"{lines[0]},kind", *(f"{line},{'Depot' if i == 1 else ''}" for i, line in enumerate(lines[1:], 1))]
    text = "\n".join([rows[0], rows[3], rows[1], rows[2], rows[4]])
    cost = np.arange(16.0).reshape(4, 4)
    problem = read_stops(file(text), speed=30, costs={"euros": cost})
    assert [stop["name"] for stop in problem.context["stops"]] == ["Hub", "Bob", "Anna", "Cleo"]
    # The matrix is in the order of the file: Bob, Hub, Anna, Cleo.
    assert problem.data.costs[1][0].tolist() == [0, 4, 6, 7]


def test_places_on_the_globe(file):
    text = "name,lat,lon\nParis,48.8566,2.3522\nLondon,51.5074,-0.1278\n"
    with pytest.raises(InstanceError, match="needs a speed, in km per unit of time"):
        read_stops(file(text))
    problem = read_stops(file(text), speed=1)
    assert "lat" in problem.context["stops"][0]
    assert problem.details.__self__.travel[0, 1] == pytest.approx(343.6, abs=0.5)
    assert tuple(problem.objective_names) == ("distance",)


def test_matrices_by_name_and_by_order(file):
    names = ["Bob", "Hub", "Cleo", "Anna"]
    cost = np.arange(16).reshape(4, 4)
    rows = [f"{name};{';'.join(map(str, row))}" for name, row in zip(names, cost, strict=True)]
    named = file("\n".join([";".join(["", *names]), *rows]), "named.csv")
    order = [names.index(name) for name in ("Hub", "Anna", "Bob", "Cleo")]
    plain = cost[np.ix_(order, order)]
    unnamed = file("\n".join(",".join(map(str, row)) for row in plain), "plain.csv")
    frame = pd.DataFrame(cost, index=names, columns=names)
    expected = plain - np.diag(np.diag(plain))
    for value in (named, unnamed, plain, frame):
        problem = read_stops(file(PLAIN), speed=30, costs={"euros": value})
        assert tuple(problem.objective_names) == ("time", "euros")
        assert (problem.data.costs[1] == expected).all()


def test_vehicles_capacity_and_lateness(file):
    problem = read_stops(file(PLAIN), speed=30, vehicles=2, capacity=6)
    assert tuple(problem.objective_names) == ("distance", "vehicles")
    assert problem.replay([1, 4, 2, 3])[1] == 0
    assert problem.replay([1, 2, 4, 3])[1] == 1  # 7 on the first
    soft = read_stops(file(PLAIN.replace("12:00", "09:01")), speed=5, late_costs=True)
    assert tuple(soft.objective_names) == ("distance", "lateness")
    objectives, violations = soft.replay([2, 3, 1])
    assert objectives[1] > 0
    assert violations == 0


def test_times_of_day():
    assert minutes("08:30") == 510
    assert minutes("26:00:30") == 1560.5
    assert [minutes(text) for text in ("8h30", "08:60", "48:00", "", "-1:00")] == [None] * 5


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (510, "08:30"),
        (510 + 20 / 60, "08:30:20"),
        (510 + 40 / 60, "08:30:40"),
        (510 - 1e-9, "08:30"),
        (1560.5, "26:00:30"),
        (0.001, "00:00"),
        (-0.001, "00:00"),
        (-0.5, "-00:00:30"),
        (math.inf, "inf"),
    ],
)
def test_a_time_between_two_minutes_is_shown_with_its_seconds(value, text):
    assert shown_time(value, clock=True) == text


def test_a_time_has_one_text_in_errors_and_plans(file):
    """A closing time of 08:30:20 was 08:31 in an error and 08:30 in the plan."""
    refused = PLAIN.replace("09:00", "08:31").replace("12:00", "08:30:20")
    with pytest.raises(InstanceError, match=r"closes at 08:30:20, before it opens at 08:31 "):
        read_stops(file(refused), speed=30)
    route = Route([0], [510 + 1 / 3], [510 + 1 / 3], [520.5])
    itinerary = Itinerary([{"name": "Anna", "closes": 510.0}], True, [route])
    assert itinerary.lines()[-1].split() == ["08:30:20", "00:00:20", "08:40:30", "Anna"]


def changed(old, new):
    assert old in PLAIN
    return PLAIN.replace(old, new)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        (changed("closes", "close"), r"stops.csv, line 1, column 'close': did you mean 'closes'\?"),
        (changed("name,x,y", "name,x,why"), "line 1: there is a column x and none named y"),
        (changed("service", "00:10"), "line 1, column 6: expected the name of a column, got '00:10'"),
        (changed("phone", "lat").replace(",demand", ",lon"), "both x, y and lat, lon"),
        (changed("Bob,4,4", "Bob,4"), "line 4: expected 8 cells, one for each column, got 7"),
        (changed("Anna,3.5", "Anna,3,5"), "line 3: expected 8 cells.*got 9; text or numbers with a comma need quotes"),
        (changed("3.5", "far"), "line 3, column 'x': expected a number, got 'far'"),
        (changed("3.5", '"3,5"'), "a decimal comma needs ; between columns"),
        (semicolons(PLAIN).replace("Bob;4;", "Bob;4.0;"), "expected a decimal comma as in"),
        (changed("09:00", "9 o'clock"), "line 3, column 'opens': expected a time, such as 08:30 or 510"),
        (changed("09:00", "540"), "line 3, column 'opens': expected a time such as 08:30, as in line 2, got '540'"),
        (changed("12:00", "08:59"), r"stop 'Anna' \(line 3\) closes at 08:59, before it opens at 09:00"),
        (changed("10,3,", "-10,3,"), "line 3, column 'service': expected a time of at least 0"),
        (changed("Anna", ""), "line 3, column 'name': expected a name"),
        (changed("Anna", "An\x00na"), "which is invisible"),
        (changed("Anna", '"Anna'), "is a quote missing"),
        ("name,x,y\nHub,0,0\n", r"a row for the depot and one for each stop, got 1 row\(s\)"),
        (changed("phone", "kind").replace("555-1", "depto"), "no row has 'depot' there .but 'depto'"),
        (changed("18:00,,,", "18:00,,5,"), "the depot 'Hub' .line 2. must have no demand"),
        (changed("x,y", "lat,lon").replace("3.5", "93.5"), "column 'lat': expected degrees from -90 to 90"),
    ],
)
def test_mistakes_in_a_file_are_told_with_line_and_column(file, text, words):
    with pytest.raises(InstanceError, match=words) as caught:
        read_stops(file(text), speed=30)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (PLAIN, {"speed": 1}, "stop 'Cleo' .line 5. cannot be reached in time: it closes at 11:00, .* at 08:00"),
        (changed("18:00", "10:10"), {"speed": 30}, "from stop 'Cleo' .line 5. no vehicle is back .* closes at 10:10"),
        (changed("12:00", "10:30").replace("09:00", "10:25"), {"speed": 8}, "both stop 'Anna' .* and stop 'Cleo'"),
        (PLAIN, {"speed": 30, "capacity": 3}, "stop 'Bob' .line 4. has demand 4, above the capacity"),
        (PLAIN.replace("demand", "asks"), {"speed": 30, "capacity": 4}, "has no demand.*, or leave out --capa"),
        (PLAIN, {"speed": 30, "objectives": ["euro"]}, "objectives must be among distance, time"),
        (PLAIN, {}, "needs a speed, in units of x and y per hour"),
        (PLAIN, {"speed": 30, "window_end": "end"}, "window_end must be one of start, end-of-service"),
        (PLAIN, {"speed": 30, "costs": {"time": np.ones((4, 4))}}, "a cost must have a name, other than time"),
        (PLAIN, {"speed": 30, "costs": {"euros": np.ones((3, 3))}}, "euros must be a matrix for 4 stops"),
        (PLAIN, {"speed": 30, "costs": {"euros": [[0, 1], [1]]}}, "euros must be a square matrix of numbers"),
        (PLAIN, {"speed": 30, "costs": [np.ones((4, 4))]}, "costs must be matrices by name, {'euros': matrix}, got"),
        (PLAIN, {"speed": 30, "costs": {1: np.ones((4, 4))}}, "a cost must have a name, .*, got 1"),
        (PLAIN, {"speed": 30, "objectives": []}, r"objectives must be a list of at least one name, got \[\]"),
        (PLAIN, {"speed": 30, "objectives": "distance"}, "objectives must be a list .*, got 'distance'"),
    ],
)
def test_what_cannot_be_is_told_before_the_search(file, text, options, words):
    with pytest.raises(ValueError, match=words):
        read_stops(file(text), **options)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["1,2,3"] * 3, "cost.csv must have 4 x 4 numbers .* with names 5 x 5 cells; it has 3 rows of 3"),
        (["0,1,2,3", "1,0,1,x", "1,1,0,1", "1,1,1,0"], "cost.csv, line 2, column 4: expected a number, got 'x'"),
        (["0,1,2,3", "1,0,1,-1", "1,1,0,1", "1,1,1,0"], "line 2, column 4: expected a number of at least 0"),
        ([",Hub,Ana,Bob,Cleo"] + ["Hub,1,1,1,1"] * 4, r"column 1: expected each stop once|did you mean 'Anna'"),
    ],
)
def test_mistakes_in_a_matrix_are_told(file, rows, words):
    with pytest.raises(InstanceError, match=words):
        read_stops(file(PLAIN), speed=30, costs={"euros": file("\n".join(rows), "cost.csv")})


MIXED = "name,x,y\n3,0,0\n1,1,0\n0,2,0\n2,3,0\n"  # names that are numbers, though not those of the rows
BY_NUMBER = np.array([[0, 1, 2, 3], [4, 0, 5, 6], [7, 8, 0, 9], [10, 11, 12, 0]])  # from and to 0, 1, 2, 3
NAMED = ",0,1,2,3\n" + "\n".join(f"{i},{','.join(map(str, row))}" for i, row in enumerate(BY_NUMBER))


def cost_by_name(problem):
    names = [stop["name"] for stop in problem.context["stops"]]
    return {(a, b): problem.data.costs[1][i, j] for i, a in enumerate(names) for j, b in enumerate(names) if i != j}


def read_costs(stops, cost):
    return cost_by_name(read_stops(stops, speed=30, costs={"euros": cost}))


@pytest.mark.parametrize(
    "frame_of",
    [
        lambda path: pd.DataFrame(BY_NUMBER, index=[0, 1, 2, 3], columns=[0, 1, 2, 3]),
        lambda path: pd.DataFrame(BY_NUMBER, index=list("0123"), columns=list("0123")),
        pd.read_csv,
        lambda path: pd.read_csv(path, header=None),
        lambda path: pd.read_csv(path, index_col=0).loc[[2, 0, 3, 1], ["1", "3", "2", "0"]],
    ],
    ids=["numbers", "texts", "read_csv", "header", "shuffled"],
)
def test_labels_of_a_frame_are_names_as_in_the_same_file(file, frame_of):
    path = file(NAMED, "cost.csv")
    expected = read_costs(file(MIXED), path)
    assert expected["0", "1"] == 1
    assert read_costs(file(MIXED), frame_of(path)) == expected


@pytest.mark.parametrize(
    ("stops", "frame", "words"),
    [
        (MIXED, pd.DataFrame(BY_NUMBER), "euros is labelled 0 to 3, which may be names of stops or positions"),
        (PLAIN, pd.DataFrame(BY_NUMBER[1:], columns=list("0123")), "has 4 rows of 4.* give it header=None"),
        (PLAIN, pd.DataFrame(BY_NUMBER, index=list("abcd")), "euros, row 1, column 1: expected the name of a stop"),
        (PLAIN, pd.DataFrame(), "euros is empty"),
    ],
)
def test_labels_that_may_mean_two_things_are_refused(file, stops, frame, words):
    with pytest.raises(InstanceError, match=words) as caught:
        read_costs(file(stops), frame)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name,lat,lon\nHub,50,8\nAnna,51,8\n", "km per unit of time.*50 mixed where that is an hour, 0.5 and"),
        ("name,lat,lon,opens\nHub,50,8,08:00\nAnna,51,8,\n", r"km per hour.*\(usual: 30 in town, 50 mixed\)"),
        ("name,x,y,opens\nHub,0,8,08:00\nAnna,1,8,\n", r"units of x and y per hour.*mixed, where they are km\)"),
    ],
)
def test_a_missing_speed_is_told_first_with_usual_values_and_the_other_way(file, text, words):
    with pytest.raises(InstanceError, match=f"{words}.*or a matrix of travel times: --time"):
        read_stops(file(text), costs={"euros": "not-there.csv"})


# --- workbooks, written by the tests as small archives: no library that writes them is needed


needs_calamine = pytest.mark.skipif(find_spec("python_calamine") is None, reason="needs the extra excel")
TABLE = [["name", "x", "y", "opens"], ["Hub", 0, 0, 0], ["Anna", 3, 4, 10.5], ["Bob", 6, 8, None]]


def write_workbook(path, sheets):
    """Write a small workbook as spreadsheets do: numbers, and text in its cell; a pair has a number and its style."""

    def cell(value):
        if value is None:
            return "<c/>"
        if isinstance(value, tuple):
            return f'<c s="{value[1]}"><v>{value[0]}</v></c>'
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
        return f"<c><v>{value}</v></c>"

    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    base = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
    numbers = range(1, len(sheets) + 1)
    names = "".join(
        f'<sheet name="{name}" sheetId="{i}" r:id="r{i}"/>' for i, name in zip(numbers, sheets, strict=True)
    )
    links = "".join(f'<Relationship Id="r{i}" Type="{base}/worksheet" Target="sheet{i}.xml"/>' for i in numbers)
    links += f'<Relationship Id="r0" Type="{base}/styles" Target="styles.xml"/>'
    book = f'<Relationship Id="r1" Type="{base}/officeDocument" Target="xl/workbook.xml"/>'
    formats = '<xf numFmtId="0"/><xf numFmtId="20"/><xf numFmtId="46"/><xf numFmtId="14"/>'  # h:mm, [h]:mm:ss, a date
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_rels/.rels", f"<Relationships {package}>{book}</Relationships>")
        archive.writestr("xl/workbook.xml", f'<workbook {main} xmlns:r="{base}"><sheets>{names}</sheets></workbook>')
        archive.writestr("xl/_rels/workbook.xml.rels", f"<Relationships {package}>{links}</Relationships>")
        archive.writestr("xl/styles.xml", f"<styleSheet {main}><cellXfs>{formats}</cellXfs></styleSheet>")
        for i, rows in zip(numbers, sheets.values(), strict=True):
            body = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
            archive.writestr(f"xl/sheet{i}.xml", f"<worksheet {main}><sheetData>{body}</sheetData></worksheet>")
    return path


@needs_calamine
def test_a_workbook_is_read_as_the_same_csv(tmp_path):
    book = write_workbook(tmp_path / "stops.xlsx", {"Tour": TABLE})
    text = "\n".join(",".join("" if cell is None else str(cell) for cell in row) for row in TABLE)
    (tmp_path / "stops.csv").write_text(text)
    same = read_stops(tmp_path / "stops.csv")
    for problem in (read_stops(book), load(book)):
        assert problem.name == "stops"
        assert problem.context["stops"] == same.context["stops"]
        assert (problem.data.costs == same.data.costs).all()


@needs_calamine
def test_matrices_may_be_workbooks_and_stops_an_open_document(tmp_path):
    times = [["", "Hub", "Anna", "Bob"], ["Hub", 0, 5, 7.5], ["Anna", 5, 0, 4], ["Bob", 7.5, 4, 0]]
    book = write_workbook(tmp_path / "minutes.xlsx", {"any name": times})
    names = {"office": "office", "table": "table", "text": "text"}
    spaces = " ".join(f'xmlns:{key}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for key, name in names.items())

    def cell(value):
        kind = "string" if isinstance(value, str) else f'float" office:value="{value}'
        return f'<table:table-cell office:value-type="{kind}"><text:p>{value}</text:p></table:table-cell>'

    rows = "".join(f"<table:table-row>{''.join(map(cell, row[:3]))}</table:table-row>" for row in TABLE)
    sheet = f'<table:table table:name="a">{rows}</table:table>'
    body = f"<office:body><office:spreadsheet>{sheet}</office:spreadsheet></office:body>"
    with zipfile.ZipFile(tmp_path / "stops.ods", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        manifest = 'manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"'
        archive.writestr("META-INF/manifest.xml", f"<manifest:{manifest}/>")
        archive.writestr("content.xml", f"<office:document-content {spaces}>{body}</office:document-content>")
    problem = read_stops(tmp_path / "stops.ods", time=book, objectives=["time"])
    assert [stop["name"] for stop in problem.context["stops"]] == ["Hub", "Anna", "Bob"]
    assert problem.data.costs[0].tolist() == [[0, 5, 7.5], [5, 0, 4], [7.5, 4, 0]]


@needs_calamine
def test_a_workbook_has_times_as_spreadsheets_keep_them_and_travel_times_in_a_sheet(tmp_path):
    clock, hours, date = 1, 2, 3
    stops = [
        ["name", "opens", "closes", "day"],
        ["Hub", (7.5 / 24, clock), (26 / 24, hours), None],
        ["Anna", (8.25 / 24, clock), (25.5 / 24, clock), (46000, date)],
    ]
    times = [["", "Anna", "Hub"], ["Hub", 12, 0], ["Anna", 0, (0.5 / 24, clock)]]
    problem = read_stops(write_workbook(tmp_path / "s.xlsx", {"stops": stops, "Time": times}))
    hub, anna = problem.context["stops"]
    assert (hub["opens"], hub["closes"]) == (450, 26 * 60)
    assert (anna["opens"], anna["closes"], anna["day"]) == (495, 25.5 * 60, "2025-12-09")
    assert problem.context["clock"]
    assert problem.details.__self__.travel.tolist() == [[0, 12], [30, 0]]
    with pytest.raises(InstanceError, match=r"bad\.xlsx, row 2, column 'opens': expected a time, .* got '2025-12-09'"):
        read_stops(write_workbook(tmp_path / "bad.xlsx", {"a": [["name", "opens"], ["Hub", (46000, date)], ["B", 1]]}))


@needs_calamine
def test_a_workbook_without_the_extra_or_that_is_none_is_told(tmp_path, monkeypatch):
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04 no workbook")
    with pytest.raises(InstanceError, match=r"a\.xlsx is not a workbook, or is damaged or protected: "):
        load(tmp_path / "a.xlsx")
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(ImportError, match=r'install it with: pip install "pareto-nrpa\[excel\]"'):
        load(tmp_path / "a.xlsx")


@needs_calamine
def test_a_cell_far_from_the_table_does_not_end_the_process(tmp_path):
    """Empty cells up to there would need 400 GB, and calamine aborts."""
    path = write_workbook(tmp_path / "far.xlsx", {"stops": TABLE})
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    far = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content.replace(b"</sheetData>", far))
    with pytest.raises(InstanceError, match=r"^far\.xlsx has a sheet of 1,048,576 rows and 16,384 columns"):
        load(path)
