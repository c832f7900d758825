"""Files are written whole or not at all. Tests may run as root, whom permissions do not bind: below a regular file
nothing can be written.
"""

import os
import stat
import subprocess
import sys

import pytest

from pareto_nrpa import ParetoNRPAError
from pareto_nrpa._util.files import check_writable, locked, try_lock, write_atomically, write_text
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
    path = write_atomically(tmp_path / "a", text("x"))
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
    for write in (check_writable, lambda path: write_atomically(path, lambda file: None)):
        with pytest.raises(ParetoNRPAError, match="it is not a regular file"):
            write(tmp_path / "pipe")
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
