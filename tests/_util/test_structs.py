"""Files of JSON and TOML as typed values: round trips, refusals that name the field, damaged files."""

import json
from typing import Annotated, Literal

import msgspec
import numpy as np
import pytest

from pareto_nrpa import ParetoNRPAError
from pareto_nrpa._util.structs import decode, encode, read, write

NESTED = "[" * 100_000 + "]" * 100_000


class Part(msgspec.Struct):
    names: list[str]


class Sample(msgspec.Struct, forbid_unknown_fields=True):
    format: Literal["sample 1"]
    count: Annotated[int, msgspec.Meta(ge=0)]
    rows: list[list[float]]
    part: Part


GOOD = Sample("sample 1", 3, [[1.0, 0.1], [2.5, -1e-300]], Part(["a", "ü"]))


def refusal(content):
    with pytest.raises(ParetoNRPAError) as caught:
        decode(content, Sample, source="a.json", what="a sample")
    sentence = str(caught.value)
    assert sentence.startswith("a.json is not a sample, or is damaged: ") and sentence.endswith(".")
    assert "\n" not in sentence and len(sentence) < 500
    return sentence


def test_what_is_written_is_read(tmp_path):
    path = write(tmp_path / "a.json", GOOD)
    assert read(path, Sample, what="a sample") == GOOD
    assert path.read_bytes().endswith(b"}\n")


def test_toml_is_read_by_its_ending(tmp_path):
    (tmp_path / "a.toml").write_text('names = ["a"]')
    assert read(tmp_path / "a.toml", Part, what="a part") == Part(["a"])
    (tmp_path / "a.toml").write_text("names = 3")
    with pytest.raises(ParetoNRPAError, match="damaged: names: expected array, got int"):
        read(tmp_path / "a.toml", Part, what="a part")


def test_arrays_become_lists_and_infinity_null():
    assert json.loads(encode({"a": np.array([[1.5, np.inf]]), "b": np.int64(3)})) == {"a": [[1.5, None]], "b": 3}
    with pytest.raises(TypeError, match="cannot write <object"):
        encode(object())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"rows": [[1, 2], [3, "4"]]}, "rows[1][1]: expected float, got str"),
        ({"count": -5}, "count: expected int >= 0, got -5"),
        ({"format": "sample 2"}, "format: unknown value, got 'sample 2'"),
        ({"part": {}}, "names of part is missing"),
        ({"other": 1}, "other is not a known field"),
    ],
)
def test_a_refusal_names_the_field(changes, reason):
    assert reason in refusal(encode(msgspec.to_builtins(GOOD) | changes))


@pytest.mark.parametrize(
    ("content", "reason"), [(b"", "cut off"), (b"\xff\xfe", "JSON"), (NESTED.encode(), "array"), (b"[]", "object")]
)
def test_a_foreign_file_is_refused(content, reason):
    assert reason in refusal(content)


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path):
    with pytest.raises(LookupError, match=r"cannot read .*none\.json: No such file"):
        read(tmp_path / "none.json", Sample, what="a sample", error=LookupError)
    write(tmp_path / "a.json", GOOD)
    with pytest.raises(ParetoNRPAError, match="more than 10 bytes"):
        read(tmp_path / "a.json", Sample, what="a sample", most_bytes=10)
