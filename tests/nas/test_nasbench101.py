"""NAS-Bench-101: cells, the reader of the official file, and the problem made of its table."""

import base64
import functools
import io
import json
import struct

import numpy as np
import pytest

from pareto_nrpa import load
from pareto_nrpa.engine.jit.kernels import python_function
from pareto_nrpa.errors import DataError, InstanceError
from pareto_nrpa.nas import tables
from pareto_nrpa.nas.cells101 import (
    MAX_EDGES,
    MAX_VERTICES,
    OPERATIONS,
    bits_of,
    cell_keys,
    cell_text,
    matrix_of,
    parameters,
)
from pareto_nrpa.nas.convert101 import cell_hash, convert, masked_crc, read_records, read_training
from pareto_nrpa.nas.nasbench101 import decode, encode, initial_state, legal_moves, play

# The cell of the benchmark's own documentation, with its input, two branches and a pool.
INCEPTION = np.zeros((7, 7), dtype=np.int8)
for x, y in ((0, 1), (0, 2), (0, 3), (0, 5), (1, 6), (2, 6), (3, 4), (4, 6), (5, 6)):
    INCEPTION[x, y] = 1
INCEPTION_OPS = [1, 0, 0, 0, 2]


def random_game(rng):
    state, out, moves = python_function(initial_state)(None), np.zeros(3, np.int64), []
    while count := python_function(legal_moves)(None, state, out):
        moves.append(int(out[rng.integers(count)]))
        python_function(play)(None, state, moves[-1])
    return moves


def random_cells(n, seed=0):
    rng = np.random.default_rng(seed)
    return [decode(random_game(rng)) for _ in range(n)]


def columns(cells):
    """Return cells as the columns of a table."""
    ops = np.full((len(cells), MAX_VERTICES - 2), -1)
    for row, (_, operations) in zip(ops, cells, strict=True):
        row[: len(operations)] = operations
    return np.array([len(matrix) for matrix, _ in cells]), np.array([bits_of(matrix) for matrix, _ in cells]), ops


def is_valid(matrix):
    """Tell whether a cell belongs to the benchmark: upper triangular, all vertices on a way, few edges."""
    return (
        2 <= len(matrix) <= MAX_VERTICES
        and 1 <= matrix.sum() <= MAX_EDGES
        and not np.tril(matrix).any()
        and matrix[:-1].any(axis=1).all()
        and matrix[:, 1:].any(axis=0).all()
    )


def test_bits_hash_text_and_parameters():
    for matrix, _ in random_cells(30):
        np.testing.assert_array_equal(matrix_of(len(matrix), bits_of(matrix)), matrix)
    assert bits_of(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])) == 0b101
    direct = np.array([[0, 1], [0, 0]], dtype=np.int8)
    assert cell_hash(direct, []) == "043721b9c7fe8c5fad811d47d83132ec"  # as it is in the official file
    text = cell_text(INCEPTION, INCEPTION_OPS)
    assert text.startswith("0:input 1:conv1x1 2:conv3x3 3:conv3x3 4:conv3x3 5:maxpool3x3 6:output | 0>1 0>2 0>3 0>5")
    # Only a projection in each cell: stem, nine of these, last layer.
    channels = [128, 128, 128, 256, 256, 256, 512, 512, 512]
    pairs = zip([128, *channels[:-1]], channels, strict=True)
    assert parameters(direct, []) == 27 * 128 + 2 * 128 + sum(a * b + 2 * b for a, b in pairs) + 5130 == 882_570


def test_every_cell_can_be_built_by_legal_moves():
    """All full cells of up to five vertices, with some operations, and many larger ones."""
    rng = np.random.default_rng(2)
    small = []
    for n in range(2, 6):
        for bits in range(1 << (n * (n - 1) // 2)):
            matrix = matrix_of(n, bits)
            if is_valid(matrix):
                small.append((matrix, rng.integers(0, 3, n - 2).tolist()))
    assert len(small) > 100
    for matrix, operations in [*small, *random_cells(100, seed=4), (INCEPTION, INCEPTION_OPS)]:
        moves = encode(matrix, operations)
        state, out = python_function(initial_state)(None), np.zeros(3, np.int64)
        for move in moves:
            count = python_function(legal_moves)(None, state, out)
            assert move in out[:count].tolist()
            python_function(play)(None, state, move)
        built, kinds = decode(moves)
        np.testing.assert_array_equal(built, matrix)
        assert kinds == list(operations)


@pytest.mark.slow
def test_the_real_cells(real_data):
    """Hash and parameters of cells all over the space are those of the benchmark."""
    with np.load(real_data("nasbench101_cells.npz")) as file:
        table = {name: file[name] for name in file.files}
    n, bits, ops = (table[name] for name in ("n_vertices", "adj_bits", "ops"))
    assert len(np.unique(cell_keys(n, bits, ops))) == len(n) == 423_624
    for row in np.random.default_rng(0).integers(0, len(n), 1000):
        cell = matrix_of(int(n[row]), int(bits[row])), ops[row, : n[row] - 2].tolist()
        assert is_valid(cell[0])
        assert cell_hash(*cell) == table["hash"][row].tobytes().hex()
        assert parameters(*cell) == table["params"][row]


# --- the reader of the official file, on records that are encoded here


def naive_crc(data):
    """Return the CRC-32C, bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = naive_crc(data)
    return ((crc >> 15 | crc << 17 & 0xFFFFFFFF) + 0xA282EAD8) & 0xFFFFFFFF


def framed(data):
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked(length)) + data + struct.pack("<I", masked(data))


def varint(number):
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def double(field, value):
    return varint(field << 3 | 1) + struct.pack("<d", value)


def evaluation(seconds, validation, test):
    """Return EvaluationData as the official file has it, with a path of a checkpoint, which is not read."""
    body = double(1, 108.0) + double(2, seconds) + double(3, 0.999) + double(4, validation) + double(5, test)
    return body + varint(6 << 3 | 2) + varint(4) + b"path"


def message(params, evaluations):
    parts = b"".join(varint(1 << 3 | 2) + varint(len(e)) + e for e in evaluations)
    return parts + varint(2 << 3) + varint(params) + double(3, 4321.0)


def record(cell, validation, test=0.9, *, epochs=108, seconds=1000.0, params=None, digest=None):
    matrix, operations = cell
    halfway = evaluation(seconds / 2, validation / 2, test / 2)
    final = evaluation(seconds, validation, test)
    metrics = message(parameters(*cell) if params is None else params, [evaluation(0.0, 0.1, 0.1), halfway, final])
    names = ["input", *(OPERATIONS[operation] for operation in operations), "output"]
    content = [
        cell_hash(*cell) if digest is None else digest,
        epochs,
        "".join(map(str, matrix.ravel().tolist())),
        ",".join(names),
        base64.b64encode(metrics).decode(),
    ]
    return json.dumps(content).encode()


CELL = INCEPTION, INCEPTION_OPS


@functools.cache
def distinct_cells(n):
    return list({cell_hash(*cell): cell for cell in random_cells(3 * n, seed=9)}.values())[:n]


def test_records_are_read_and_their_checksums_are_right():
    assert naive_crc(b"123456789") == 0xE3069283  # the published check value
    data = [b"one", b"", bytes(range(256))]
    assert [masked_crc(record) for record in data] == [masked(record) for record in data]
    assert list(read_records(io.BytesIO(b"".join(map(framed, data))), "x")) == data


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[: len(framed(b"one")) + 5], "record 2 of x is cut off"),
        (lambda data: data[:-5] + b"!" + data[-4:], "record 2 of x is damaged"),
        (lambda data: b"\xff" + data[1:], "record 1 of x is damaged, or this is not a TFRecord file"),
        (lambda data: b"{'json': 'no TFRecord'}", "not a TFRecord file"),
    ],
)
def test_a_damaged_file_is_noticed(change, message):
    with pytest.raises(DataError, match=message):
        list(read_records(io.BytesIO(change(framed(b"one") + framed(b"two"))), "x"))


def changed(place, value):
    content = json.loads(record(CELL, 0.9))
    content[place] = value
    return json.dumps(content).encode()


@pytest.mark.parametrize(
    "bad",
    [
        changed(2, "01"),
        changed(2, "0" * 64),
        changed(3, "input,conv5x5,output"),
        changed(4, "no base 64!"),
        changed(4, base64.b64encode(message(5, [evaluation(1.0, 0.5, 0.5)])[:20]).decode()),
        record(CELL, 1.5),
        record(CELL, 0.5, digest="short"),
    ],
)
def test_a_record_that_says_something_else_is_refused(bad):
    with pytest.raises(DataError, match="record"):
        read_training(bad)


def write_official(path, cells, runs=3):
    """Write a file as the official one is: three trainings of each cell, and some of fewer epochs."""
    rng = np.random.default_rng(4)
    accuracies = rng.uniform(0.8, 0.95, (len(cells), runs))
    with open(path, "wb") as file:
        for cell, row in zip(cells, accuracies, strict=True):
            file.write(framed(record(cell, 0.2, epochs=4)))
            for accuracy in row:
                file.write(framed(record(cell, accuracy, accuracy - 0.01)))
    return accuracies


def test_conversion_makes_a_table_of_means(tmp_path):
    cells = distinct_cells(20)
    accuracies = write_official(tmp_path / "official.tfrecord", cells)
    path = convert(tmp_path / "official.tfrecord", tmp_path / "data", expected=20)
    assert path == tmp_path / "data" / "nasbench101.npz"
    with np.load(path, allow_pickle=False) as table:
        order = np.argsort([cell_hash(*cell) for cell in cells])
        np.testing.assert_allclose(table["valid108"], accuracies.mean(axis=1)[order], rtol=1e-6)
        np.testing.assert_allclose(table["test108"], accuracies.mean(axis=1)[order] - 0.01, rtol=1e-6)
        assert table["n_runs"].tolist() == [3] * 20
        assert table["params"].tolist() == [parameters(*cells[i]) for i in order]
        assert [row.tobytes().hex() for row in table["hash"]] == sorted(cell_hash(*cell) for cell in cells)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (framed(record(CELL, 0.9)), "must have 423,624 cells, it has 1"),
        (framed(record(CELL, 0.9, epochs=36)), "has no training of 108 epochs"),
        (framed(record(CELL, 0.9, digest="0" * 32)), "has another hash than its cell"),
        (framed(record(CELL, 0.9, params=7)), "another number of parameters"),
        (framed(b"[]"), "not a record of NAS-Bench-101"),
    ],
)
def test_a_file_that_is_not_the_official_one(tmp_path, content, message):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(DataError, match=message):
        convert(tmp_path / "file", tmp_path)
    assert not (tmp_path / "nasbench101.npz").exists()
    with pytest.raises(DataError, match=r"cannot read .*nothing"):
        convert(tmp_path / "nothing", tmp_path)


@pytest.fixture
def official(tmp_path, monkeypatch):
    """A data folder with a converted table of all cells that 300 games build, and these cells."""
    cells = distinct_cells(300)
    monkeypatch.setattr(tables, "N_CELLS_101", len(cells))
    write_official(tmp_path / "official.tfrecord", cells, runs=1)
    convert(tmp_path / "official.tfrecord", tmp_path / "nas", expected=len(cells))
    return tmp_path, cells


def test_other_objectives_unknown_ones_and_no_table(official, tmp_path):
    folder, _ = official
    assert load("nas-bench-101:objectives=test_error+train_time", data=folder).n_objectives == 2
    with pytest.raises(InstanceError, match=r"no objective 'latency'; there are: error, test_error, params, train_"):
        load("nas-bench-101:objectives=latency", data=folder)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InstanceError, match=r"nasbench_only108.tfrecord .*data convert-nasbench101"):
        load("nas-bench-101", data=tmp_path / "empty")
    with pytest.raises(InstanceError, match=r"needs nasbench101_cells.npz in the folder nas"):
        load("nas-bench-101-surrogate", data=tmp_path / "empty")


@pytest.fixture
def surrogate(tmp_path, monkeypatch):
    """Tables for the surrogate, made up: the more convolutions, the better."""
    pytest.importorskip("sklearn", reason="fits a surrogate; ends with: pip install pareto-nrpa[nas]")
    cells = distinct_cells(400)
    monkeypatch.setattr(tables, "N_CELLS_101", len(cells))
    n, bits, ops = columns(cells)
    table = {"n_vertices": n, "adj_bits": bits, "ops": ops, "params": np.array([parameters(*cell) for cell in cells])}
    (tmp_path / "nas").mkdir()
    np.savez(tmp_path / "nas" / "nasbench101_cells.npz", **table)
    accuracies = 0.8 + 0.02 * (ops == 0).sum(axis=1)
    accuracies[300:] = np.nan
    np.savez(tmp_path / "nas" / "nasbench101_subset.npz", valid108=accuracies.astype(np.float32), **table)
    return tmp_path


def test_the_surrogate_says_that_it_is_one_and_is_fitted_once(surrogate, caplog):
    problem = load("nas-bench-101-surrogate", data=surrogate)
    assert "fitting the surrogate" in caplog.text
    assert problem.name == "nas-bench-101-surrogate"
    assert problem.objective_names == ("surrogate_error", "params")
    assert np.ptp(problem.reference_front.points[:, 0]) > 1
    caplog.clear()
    again = load("nas-bench-101-surrogate", data=surrogate)
    assert not caplog.text
    np.testing.assert_array_equal(problem.data.values, again.data.values)
