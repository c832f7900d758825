import numpy as np
import pytest

from pareto_nrpa.engine.jit.kernels import python_function
from pareto_nrpa.nas.cells101 import (
    MAX_EDGES,
    MAX_VERTICES,
    bits_of,
    cell_keys,
    cell_text,
    matrix_of,
    parameters,
)
from pareto_nrpa.nas.convert101 import cell_hash
from pareto_nrpa.nas.nasbench101 import CHOICES, N_STEPS, decode, encode, initial_state, legal_moves, play

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


def test_keys_tell_cells_apart_exactly_as_the_official_hash_does():
    cells = random_cells(1000, seed=2)
    by_hash = {}
    for key, cell in zip(cell_keys(*columns(cells)).tolist(), cells, strict=True):
        by_hash.setdefault(cell_hash(*cell), set()).add(key)
    assert all(len(keys) == 1 for keys in by_hash.values())
    assert len(set.union(*by_hash.values())) == len(by_hash)


def test_every_game_and_every_choice_of_genes_is_a_valid_cell():
    rng = np.random.default_rng(0)
    games = [random_game(rng) for _ in range(500)]
    assert {len(moves) for moves in games} == {N_STEPS}
    genes = [[int(rng.integers(n)) for n in CHOICES] for _ in range(500)]
    assert all(is_valid(decode(moves)[0]) for moves in [*games, *genes, [0] * N_STEPS, [1] * N_STEPS])


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
