"""Files are written whole or not at all. Tests may run as root, whom permissions do not bind: a path below a regular
file is what nobody can write to.
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


def test_the_content_arrives(tmp_path):
    path = write_atomically(tmp_path / "a.json", text("hello"))
    assert path == tmp_path / "a.json"
    assert path.read_text() == "hello"


def test_missing_folders_are_made(tmp_path):
    assert write_atomically(tmp_path / "a" / "b" / "c.json", text("x")).read_text() == "x"


def test_a_path_may_be_text(tmp_path):
    assert write_atomically(str(tmp_path / "a"), text("x")).read_text() == "x"


def test_an_earlier_file_is_replaced(tmp_path):
    (tmp_path / "a").write_text("a much longer text from before")
    assert write_atomically(tmp_path / "a", text("new")).read_text() == "new"


def test_nothing_else_is_left_in_the_folder(tmp_path):
    write_atomically(tmp_path / "a", text("x"))
    assert os.listdir(tmp_path) == ["a"]


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


def test_an_unwritable_folder_is_one_sentence(unwritable):
    with pytest.raises(
        ParetoNRPAError, match=r"cannot write .*result\.json: .*; choose a folder that you may write to"
    ):
        write_atomically(unwritable / "result.json", text("x"))


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(ParetoNRPAError, match=r"cannot write .*folder"):
        write_atomically(tmp_path / "folder", text("x"))
    assert os.listdir(tmp_path) == ["folder"]


def test_the_longest_name_that_the_system_allows_can_be_written(tmp_path):
    name = "x" * os.pathconf(tmp_path, "PC_NAME_MAX")
    assert write_atomically(tmp_path / name, text("x")).read_text() == "x"


def test_checking_says_early_that_a_folder_is_unwritable(unwritable):
    with pytest.raises(
        ParetoNRPAError, match=r"cannot write .*result\.json: .*; choose a folder that you may write to"
    ):
        check_writable(unwritable / "result.json")


def test_checking_says_early_that_a_name_is_too_long(tmp_path):
    with pytest.raises(ParetoNRPAError, match=r"cannot write .*: File name too long"):
        check_writable(tmp_path / ("x" * 300))


def test_checking_says_that_a_folder_is_no_file(tmp_path):
    with pytest.raises(ParetoNRPAError, match="it is a folder; give the name of a file"):
        check_writable(tmp_path)


def test_checking_leaves_no_file_behind(tmp_path):
    check_writable(tmp_path / "a.json")
    assert os.listdir(tmp_path) == []


def test_checking_keeps_an_earlier_file(tmp_path):
    (tmp_path / "a.json").write_text("earlier")
    check_writable(tmp_path / "a.json")
    assert (tmp_path / "a.json").read_text() == "earlier"


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


def test_a_text_ends_its_last_line(tmp_path):
    assert write_text(tmp_path / "a", "x\ny").read_text() == "x\ny\n"
    assert write_text(tmp_path / "a", "x\n").read_text() == "x\n"


def test_the_umask_of_the_process_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("other threads would see it"))
    write_text(tmp_path / "a", "x")


def test_what_a_killed_writer_left_is_removed_by_the_next_one(tmp_path):
    code = (
        "import os, sys; from pareto_nrpa._util.files import write_atomically\n"
        "write_atomically(sys.argv[1], lambda file: os._exit(9))"
    )
    path = tmp_path / "a"
    assert subprocess.run([sys.executable, "-c", code, path], check=False).returncode == 9
    (part,) = os.listdir(tmp_path)
    write_text(tmp_path / "b", "x")
    assert part in os.listdir(tmp_path), "another file is nobody's business"
    write_text(path, "x")
    assert part in os.listdir(tmp_path), "its writer may be about to lock it"
    os.utime(tmp_path / part, (0, 0))
    with open(tmp_path / part, "rb") as file:
        assert try_lock(file)
        write_text(path, "x")
        assert part in os.listdir(tmp_path), "somebody is writing"
    write_text(path, "x")
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_a_locked_place_is_refused_until_it_is_free(tmp_path):
    path = tmp_path / "search.npz"
    with locked(path):
        refused = pytest.raises(
            CheckpointError, match=r"another process is writing to the checkpoint .*search\.npz; wait"
        )
        with refused, locked(path):
            pass
        with locked(tmp_path / "other.npz"):
            write_text(path, "x")
    assert os.listdir(tmp_path) == ["search.npz"]
    with locked(path):
        pass
