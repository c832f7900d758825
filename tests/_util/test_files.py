"""Files are written whole or not at all. Tests may run as root, whom permissions do not bind: below a regular file
nothing can be written.
"""

import json
import os
import stat
import subprocess
import sys
from typing import Annotated, Literal

import msgspec
import numpy as np
import pytest

from pareto_nrpa import ParetoNRPAError
from pareto_nrpa._util.files import check_writable, locked, try_lock, write_atomically, write_text
from pareto_nrpa._util.structs import decode, encode, read, write
from pareto_nrpa.errors import CheckpointError


def text(content):
    return lambda file: file.write(content.encode())


def test_a_file_is_written_in_missing_folders_and_replaces_an_earlier_one(tmp_path):
    path = tmp_path / "a" / "b.json"
    for content in ("a much longer text", "new"):
        assert write_atomically(str(path), text(content)) == path
        assert path.read_text() == content
    assert os.listdir(path.parent) == ["b.json"]


def test_the_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "ordinary").write_text("x")
    path = write_text(tmp_path / "a", "x")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "ordinary").stat().st_mode)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failure_keeps_the_earlier_file_and_leaves_nothing_behind(tmp_path, error):
    (tmp_path / "a").write_text("earlier")

    def fail(file):
        file.write(b"half")
        raise error("in the middle")

    with pytest.raises(error, match="in the middle"):
        write_atomically(tmp_path / "a", fail)
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "earlier"


def test_a_full_disk_is_one_sentence_and_leaves_nothing_behind(tmp_path):
    def fail(file):
        raise OSError(28, "No space left on device")

    with pytest.raises(ParetoNRPAError, match=r"cannot write .*a\.json: No space left on device; choose a folder"):
        write_atomically(tmp_path / "a.json", fail)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("file/result.json", r"cannot write .*result\.json: .*; choose a folder that you may write to"),
        ("x" * 300, "cannot write .*: File name too long"),
        ("folder", "it is a folder; give the name of a file"),
    ],
)
def test_what_cannot_be_written_is_said_before_and_when_it_is_written(tmp_path, name, words):
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ParetoNRPAError, match=words):
        check_writable(tmp_path / name)
    with pytest.raises(ParetoNRPAError, match="cannot write"):
        write_atomically(tmp_path / name, text("x"))
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


def test_a_pipe_is_not_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for act in (check_writable, lambda path: write_atomically(path, lambda file: None)):
        with pytest.raises(ParetoNRPAError, match="it is not a regular file"):
            act(tmp_path / "pipe")
    assert not (tmp_path / "pipe").is_file()


def test_a_link_is_followed(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_atomically(tmp_path / "link", lambda file: file.write(b"x"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"x"


def test_what_a_killed_writer_left_is_removed_by_the_next_one(tmp_path):
    code = (
        "import os, sys; from pareto_nrpa._util.files import write_atomically\n"
        "write_atomically(sys.argv[1], lambda file: os._exit(9))"
    )
    path = tmp_path / "a"
    assert subprocess.run([sys.executable, "-c", code, path], check=False).returncode == 9
    (part,) = os.listdir(tmp_path)
    write_text(tmp_path / "b", "x")
    assert part in os.listdir(tmp_path), "only the same file is cleaned up"
    write_text(path, "x")
    assert part in os.listdir(tmp_path), "its writer may be about to lock it"
    os.utime(tmp_path / part, (0, 0))
    with open(tmp_path / part, "rb") as file:
        assert try_lock(file)
        write_text(path, "x")
        assert part in os.listdir(tmp_path), "another process is writing"
    write_text(path, "x")
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_a_locked_place_is_refused_until_it_is_free(tmp_path):
    path = tmp_path / "search.npz"
    with locked(path):
        refused = pytest.raises(CheckpointError, match=r"another process is writing to .*search\.npz; wait")
        with refused, locked(path):
            pass
        with locked(tmp_path / "other.npz"):
            write_text(path, "x")
    assert os.listdir(tmp_path) == ["search.npz"]
    with locked(path):
        pass


# --- files of JSON and TOML as typed values


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
