"""Workbooks, written by the tests as small archives: no library that writes them is needed."""

import sys
import zipfile

import pytest

from pareto_nrpa import load, read_stops
from pareto_nrpa.errors import InstanceError

pytest.importorskip("python_calamine", reason="needs the extra excel")

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


def test_a_workbook_is_read_as_the_same_csv(tmp_path):
    book = write_workbook(tmp_path / "stops.xlsx", {"Tour": TABLE})
    text = "\n".join(",".join("" if cell is None else str(cell) for cell in row) for row in TABLE)
    (tmp_path / "stops.csv").write_text(text)
    same = read_stops(tmp_path / "stops.csv")
    for problem in (read_stops(book), load(book)):
        assert problem.name == "stops"
        assert problem.context["stops"] == same.context["stops"]
        assert (problem.data.costs == same.data.costs).all()


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


def test_a_workbook_without_the_extra_or_that_is_none_is_told(tmp_path, monkeypatch):
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04 no workbook")
    with pytest.raises(InstanceError, match=r"a\.xlsx is not a workbook, or is damaged or protected: "):
        load(tmp_path / "a.xlsx")
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(
        ImportError, match=r'needs python-calamine; install it with: pip install "pareto-nrpa\[excel\]"'
    ):
        load(tmp_path / "a.xlsx")


def test_a_cell_far_from_the_table_does_not_end_the_process(tmp_path):
    """Empty cells up to there would need 400 GB, and calamine aborts."""
    path = write_workbook(tmp_path / "far.xlsx", {"stops": TABLE})
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    far = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content.replace(b"</sheetData>", far))
    with pytest.raises(
        InstanceError, match=r"^far\.xlsx has a sheet of 1,048,576 rows and 16,384 columns; delete cells"
    ):
        load(path)
