"""Downloading the official files, here from a server of our own on this machine."""

import hashlib
import sys

import pytest

from pareto_nrpa import load
from pareto_nrpa.errors import DataError
from pareto_nrpa.routing.benchmarks import fetch, find_instance, registry


def kept(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_all_files_arrive(server, tmp_path):
    folder = fetch(url=server.url, folder=tmp_path / "data")
    assert folder == tmp_path / "data" / "mo-tsptw"
    assert {name: (folder / name).read_bytes() for name in kept(folder)} == server.files
    assert load("toy.1", data=tmp_path / "data").data.costs[0, 0, 1] == 5


def test_only_what_is_missing_is_downloaded(server, tmp_path):
    folder = fetch(url=server.url, folder=tmp_path / "data")
    server.requests.clear()
    fetch(url=server.url, folder=tmp_path / "data")
    assert server.requests == []
    (folder / "SolomonTSPTW" / "toy.2.txt").unlink()
    server.requests.clear()
    fetch(url=server.url, folder=tmp_path / "data")
    assert server.requests == ["GET /SolomonTSPTW/toy.2.txt HTTP/1.1"]
    assert kept(folder) == set(server.files)


def test_a_file_with_another_sum_is_refused_and_not_kept(server, tmp_path):
    (server.folder / "SolomonTSPTW" / "toy.2.txt").write_text("something else")
    with pytest.raises(
        DataError, match=r"toy\.2\.txt from http.* is not the official file \(its SHA-256 sum differs\)"
    ):
        fetch(url=server.url, folder=tmp_path / "data")
    assert kept(tmp_path / "data") == {"mo-tsptw/SolomonTSPTW/toy.1.txt"}


def test_a_refused_connection_is_one_sentence(server, tmp_path):
    server.close()
    with pytest.raises(DataError, match=r"\Acannot download \S+ from http\S+: [^\n]*; check the network, then"):
        fetch(url=server.url, folder=tmp_path / "data")


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
