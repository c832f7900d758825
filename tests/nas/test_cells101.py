import itertools

import numpy as np
import pytest

from pareto_nrpa.engine.jit.kernels import python_function
from pareto_nrpa.nas.building101 import CHOICES, N_STEPS, initial_state, legal_moves, play
from pareto_nrpa.nas.cells101 import (
    MAX_EDGES,
    MAX_VERTICES,
    bits_of,
    cell_hash,
    cell_text,
    matrix_of,
    parameters,
)
from pareto_nrpa.nas.graphs101 import N_PATHS, cell_keys, path_counts
from pareto_nrpa.nas.nasbench101 import decode, encode

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


def relabelled(matrix, operations, rng):
    """Return an isomorphic cell: the inner vertices in another order that keeps the edges upwards, if there is one."""
    n = len(matrix)
    for _ in range(50):
        order = np.concatenate([[0], 1 + rng.permutation(n - 2), [n - 1]])
        moved = matrix[np.ix_(order, order)]
        if not np.tril(moved).any():
            return moved, [operations[v - 1] for v in order[1:-1]]
    return matrix, operations


def test_bits_and_matrices():
    for matrix, _ in random_cells(30):
        np.testing.assert_array_equal(matrix_of(len(matrix), bits_of(matrix)), matrix)
    assert bits_of(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])) == 0b101


def test_the_hash_is_the_official_one():
    """Input to output, as it stands in the official file."""
    assert cell_hash(np.array([[0, 1], [0, 0]], dtype=np.int8), []) == "043721b9c7fe8c5fad811d47d83132ec"


def test_isomorphic_cells_share_hash_and_key():
    rng = np.random.default_rng(5)
    cells = random_cells(60, seed=1)
    others = [relabelled(*cell, rng) for cell in cells]
    assert any(bits_of(a) != bits_of(b) for (a, _), (b, _) in zip(cells, others, strict=True))
    assert [cell_hash(*cell) for cell in cells] == [cell_hash(*cell) for cell in others]
    np.testing.assert_array_equal(cell_keys(*columns(cells)), cell_keys(*columns(others)))


def test_keys_tell_cells_apart_exactly_as_the_official_hash_does():
    cells = random_cells(1000, seed=2)
    by_hash = {}
    for key, cell in zip(cell_keys(*columns(cells)).tolist(), cells, strict=True):
        by_hash.setdefault(cell_hash(*cell), set()).add(key)
    assert all(len(keys) == 1 for keys in by_hash.values())
    assert len(set.union(*by_hash.values())) == len(by_hash)


def test_parameters_of_a_network_counted_by_hand():
    """Only a projection in each cell: stem, nine of these, last layer."""
    direct = np.array([[0, 1], [0, 0]], dtype=np.int8)
    channels = [128, 128, 128, 256, 256, 256, 512, 512, 512]
    sources = [128, *channels[:-1]]
    by_hand = 27 * 128 + 2 * 128 + sum(a * b + 2 * b for a, b in zip(sources, channels, strict=True)) + 5130
    assert parameters(direct, []) == by_hand == 882_570


def test_a_cell_in_a_line():
    text = cell_text(INCEPTION, INCEPTION_OPS)
    assert text.startswith("0:input 1:conv1x1 2:conv3x3 3:conv3x3 4:conv3x3 5:maxpool3x3 6:output | 0>1 0>2 0>3 0>5")


def naive_paths(matrix, operations):
    """Return all paths from input to output as tuples of operations."""
    last = len(matrix) - 1

    def walk(v, taken):
        if v == last:
            return [tuple(taken)]
        return [
            path
            for w in range(v + 1, last + 1)
            if matrix[v, w]
            for path in walk(w, [*taken, operations[w - 1]] if w < last else taken)
        ]

    return walk(0, [])


def test_paths_are_counted_by_their_operations():
    kinds = [path for length in range(6) for path in itertools.product(range(3), repeat=length)]
    assert len(kinds) == N_PATHS
    cells = random_cells(40, seed=3)
    for counts, cell in zip(path_counts(*columns(cells)), cells, strict=True):
        found = naive_paths(*cell)
        assert counts.tolist() == [found.count(kind) for kind in kinds]


def test_every_game_builds_a_valid_cell():
    rng = np.random.default_rng(0)
    for _ in range(500):
        moves = random_game(rng)
        assert len(moves) == N_STEPS
        assert is_valid(decode(moves)[0])


def test_every_choice_of_genes_is_a_valid_cell_too():
    rng = np.random.default_rng(1)
    for _ in range(500):
        assert is_valid(decode([int(rng.integers(n)) for n in CHOICES])[0])
    for fill in (0, 1):
        assert is_valid(decode([fill] * N_STEPS)[0])


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


@pytest.mark.long
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
