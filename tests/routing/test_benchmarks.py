"""Downloading the official files, here from a server of our own on this machine."""

import hashlib
import os
import sys
from pathlib import Path

import pytest

from pareto_nrpa import load
from pareto_nrpa.errors import DataError
from pareto_nrpa.routing.benchmarks import (
    cache_folder,
    data_folders,
    fetch,
    find_instance,
    instance_names,
    registry,
)

from ..helpers.local_server import FILES, official_server

pytest.importorskip("pooch", reason="downloading needs pooch, which is an extra")


@pytest.fixture
def server(tmp_path, monkeypatch):
    with official_server(tmp_path / "served", monkeypatch) as running:
        yield running


def kept(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_all_files_arrive(server, tmp_path):
    folder = fetch(url=server.url, folder=tmp_path / "data")
    assert folder == tmp_path / "data" / "mo-tsptw"
    assert {name: (folder / name).read_bytes() for name in kept(folder)} == FILES


def test_what_was_downloaded_loads_by_name(server, tmp_path):
    fetch(url=server.url, folder=tmp_path / "data")
    assert load("toy.1", data=tmp_path / "data").data.costs[0, 0, 1] == 5


def test_the_slash_at_the_end_of_the_address_may_be_left_out(server, tmp_path):
    assert kept(fetch(url=server.url.rstrip("/"), folder=tmp_path / "data")) == set(FILES)


def test_without_a_folder_the_cache_of_the_user_is_filled(server, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("PARETO_NRPA_DATA", raising=False)
    assert fetch(url=server.url) == tmp_path / "cache" / "pareto-nrpa" / "data" / "mo-tsptw"
    assert instance_names() == ["toy.1", "toy.2"]


def test_the_second_time_nothing_is_downloaded(server, tmp_path):
    fetch(url=server.url, folder=tmp_path / "data")
    server.requests.clear()
    fetch(url=server.url, folder=tmp_path / "data")
    assert server.requests == []


def test_a_file_that_was_lost_is_downloaded_again(server, tmp_path):
    folder = fetch(url=server.url, folder=tmp_path / "data")
    (folder / "SolomonTSPTW" / "toy.2.txt").unlink()
    server.requests.clear()
    fetch(url=server.url, folder=tmp_path / "data")
    assert server.requests == ["/SolomonTSPTW/toy.2.txt"]
    assert kept(folder) == set(FILES)


def test_a_file_that_was_changed_is_downloaded_again(server, tmp_path):
    folder = fetch(url=server.url, folder=tmp_path / "data")
    (folder / "SolomonTSPTW" / "toy.2.txt").write_text("spoilt")
    fetch(url=server.url, folder=tmp_path / "data")
    assert (folder / "SolomonTSPTW" / "toy.2.txt").read_bytes() == FILES["SolomonTSPTW/toy.2.txt"]


def test_progress_is_told_up_to_the_last_file(server, tmp_path):
    told = []
    fetch(url=server.url, folder=tmp_path / "data", progress=lambda done, total: told.append((done, total)))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_file_with_another_sum_is_refused_and_not_kept(server, tmp_path):
    (server.folder / "SolomonTSPTW" / "toy.2.txt").write_text("something else")
    with pytest.raises(
        DataError, match=r"SolomonTSPTW/toy\.2\.txt from http.* is not the official file \(its SHA-256 sum differs\)"
    ):
        fetch(url=server.url, folder=tmp_path / "data")
    assert kept(tmp_path / "data") == {"mo-tsptw/SolomonTSPTW/toy.1.txt"}


def test_a_file_that_is_not_on_the_server_is_named(server, tmp_path):
    (server.folder / "SolomonTSPTW" / "toy.2.txt").unlink()
    with pytest.raises(DataError, match=r"cannot download SolomonTSPTW/toy\.2\.txt from http.*; check the network"):
        fetch(url=server.url, folder=tmp_path / "data")


def test_a_refused_connection_is_one_sentence(server, tmp_path):
    server.close()
    with pytest.raises(
        DataError, match=r"\Acannot download \S+ from http\S+: [^\n]*; check the network, then try again\.\Z"
    ):
        fetch(url=server.url, folder=tmp_path / "data")


@pytest.mark.parametrize("url", ["nonsense", "ftps://127.0.0.1/", "http://"])
def test_an_address_that_is_none_is_not_blamed_on_the_file(url, server, tmp_path):
    with pytest.raises(DataError, match=r"\A(?!.*SHA-256)[^\n]*\Z") as caught:
        fetch(url=url, folder=tmp_path / "data")
    assert url in str(caught.value)


def test_a_folder_that_cannot_be_written_is_not_blamed_on_the_network(server, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(DataError, match=r"cannot write .*file.*; choose another folder with --to"):
        fetch(url=server.url, folder=tmp_path / "file")


def test_without_pooch_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r'needs pooch; install it with: pip install "pareto-nrpa\[data\]"'):
        fetch(folder=tmp_path)


def test_the_registry_has_all_official_files():
    files = registry()
    assert len(files) == 63
    assert sum(name.endswith(".txt") for name in files) == 31
    assert sum(name.endswith(".npy") for name in files) == 31
    assert "SolomonTSPTW/nadirs.json" in files
    assert all(len(digest) == 64 and set(digest) <= set("0123456789abcdef") for digest in files.values())


def test_every_official_sum_matches_its_file():
    windows = find_instance("rc_204.3")
    if windows is None:
        pytest.skip("needs the official instances: set PARETO_NRPA_DATA or run pareto-nrpa data get")
    root = windows.parent.parent
    sums = {name: hashlib.sha256((root / name).read_bytes()).hexdigest() for name in registry()}
    assert sums == registry()


def test_folders_are_looked_in_from_the_nearest_to_the_farthest(monkeypatch, tmp_path):
    monkeypatch.setenv("PARETO_NRPA_DATA", str(tmp_path / "named"))
    assert data_folders() == [tmp_path / "named", cache_folder()]
    assert data_folders(tmp_path) == [tmp_path]
    monkeypatch.delenv("PARETO_NRPA_DATA")
    assert data_folders() == [cache_folder()]


def test_the_cache_is_where_the_system_wants_it(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "pareto-nrpa" / "data"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", os.sep + "home")
    assert cache_folder() == Path("/home/.cache/pareto-nrpa/data")
