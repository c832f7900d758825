"""Bundles of arrays reach compiled code as one pointer, and compiled code sees what Python sees."""

import copy
import os
import pickle
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba import types

from pareto_nrpa.engine.jit.bundles import borrowed, bundle, keep, unpacked
from pareto_nrpa.engine.jit.kernels import compile_entry, engine_kernel

needs_jit = pytest.mark.skipif(
    bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="a bundle is its named tuple with JIT switched off"
)


@bundle
class Inner(NamedTuple):
    """Inside another bundle."""

    row: np.ndarray
    count: int


@bundle
class Outer(NamedTuple):
    """Arrays of several kinds, numbers of several kinds."""

    table: np.ndarray
    inner: Inner
    masks: np.ndarray
    factor: float
    is_on: bool
    turned: np.ndarray
    every_other: np.ndarray
    pair: tuple[np.ndarray, int]


def made():
    return Outer(
        table=np.arange(6.0).reshape(2, 3),
        inner=Inner(np.arange(3), 7),
        masks=np.array([2**63], dtype=np.uint64),
        factor=2.5,
        is_on=True,
        turned=np.arange(6).reshape(2, 3).T,
        every_other=np.arange(8)[::2],
        pair=(np.array([True, False]), -3),
    )


def look(outer, out):
    """Read every field, write to one array."""
    out[0] = outer.table[1, 2] + 10 * outer.inner.row[2] + 100 * outer.inner.count
    out[1] = outer.factor if outer.is_on else 0.0
    out[2] = outer.masks[0] >> np.uint64(60)
    out[3] = 10 * outer.turned[2, 0] + outer.every_other[3]
    out[4] = outer.pair[1] if outer.pair[0][0] else 0
    out[5] = outer.table.shape[0] + 10 * outer.turned.shape[0] + outer.table.sum()
    outer.inner.row[0] = 42


def test_compiled_code_reads_and_writes_what_a_bundle_holds():
    outer, out = made(), np.zeros(6)
    compile_entry(look, types.void(numba.typeof(outer), types.float64[::1]))(outer, out)
    expected, again = np.zeros(6), made()
    look(again, expected)
    np.testing.assert_array_equal(out, expected)
    assert outer.inner.row[0] == 42


@needs_jit
@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_copies_have_a_table_of_their_own(again):
    inner = made().inner
    assert inner.address > 0
    other = again(inner)
    assert "_pointer" not in vars(other)
    entry = compile_entry(fields, types.int64(numba.typeof(inner)))
    assert entry(other) == entry(inner) == 8
    assert other.address != inner.address


@needs_jit
def test_the_type_depends_on_names_and_kinds_of_the_fields_only():
    one, other = made(), made()
    assert numba.typeof(one) == numba.typeof(other)
    assert pickle.loads(pickle.dumps(numba.typeof(one))) == numba.typeof(one)
    assert numba.typeof(one._replace(factor=2)) != numba.typeof(one)
    assert numba.typeof(one._replace(table=np.zeros(3))) != numba.typeof(one)


@needs_jit
def test_what_is_neither_array_nor_number_is_refused():
    with pytest.raises(ValueError, match="a field is of type unicode_type"):
        numba.typeof(Inner("text", 1))


@engine_kernel
def _make(n):
    return Inner(np.full(n, 3), n)


def total(n):
    state = _make(n)
    view = borrowed(state)
    result = view.row.sum() + view.count
    keep(state)
    return result


def test_what_is_borrowed_lives_until_it_is_kept():
    entry = compile_entry(total, types.int64(types.int64))
    assert [entry(n) for n in (1, 10, 1000)] == [4, 40, 4000]


def fields(parts):
    """Make the plain tuple of all fields."""
    row, count = unpacked(parts)
    return row[1] + count


def test_a_bundle_can_be_unpacked():
    inner = Inner(np.arange(3), 7)
    assert compile_entry(fields, types.int64(numba.typeof(inner)))(inner) == 8
