"""Probabilities of moves: exp of learned weight plus bias, with a fast path and a safe one."""

from __future__ import annotations

import math

import numpy as np

from .jit.kernels import engine_kernel, fused_kernel, small_kernel

_LOG2_E = 1.4426950408889634
_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it leaves the nearest integer in the low bits of the mantissa
_LIMIT = 1000.0

#: Number of candidates that fit the first-level cache together with their weights.
MAX_BLOCK = 1024

#: Number of spare places behind the candidates in the working memory of `powers`.
PADDING = 3

# The polynomial of degree 9 that is nearest to 2^r for -1/2 <= r <= 1/2 (Remez), relative error 1.4e-14.
_C0, _C1, _C2, _C3 = 1.0000000000000127, 0.693147180559871, 0.24022650695649653, 0.055504108668685596
_C4, _C5, _C6 = 0.009618129192067186, 0.0013333557617605549, 0.00015403434948106932
_C7, _C8, _C9 = 1.5252984838598189e-05, 1.3259405602739707e-06, 1.015033664460012e-07
_SHIFT = np.int64(52)
# Unsigned: signed indices are tested for being negative, and signed plus unsigned would be a float.
_1, _2, _3, _4 = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)

# Outside these bounds a sum of exponentials has lost digits, or overflowed, and the safe path is taken.
SMALLEST_SUM = 1e-250
LARGEST_SUM = 1e250


@fused_kernel
def fast_exp2(x):
    """Return 2^x for x clipped to [-1000, 1000], relative error below 2e-14, NaN for NaN; loops over it vectorise."""
    x = min(max(x, -_LIMIT), _LIMIT)
    shifted = x + _ROUND
    r = x - (shifted - _ROUND)
    # In pairs (Estrin), so that one product need not wait for the last.
    r2 = r * r
    r4 = r2 * r2
    low = (_C0 + _C1 * r) + r2 * (_C2 + _C3 * r)
    high = (_C4 + _C5 * r) + r2 * (_C6 + _C7 * r) + r4 * (_C8 + _C9 * r)
    power = low + r4 * high
    exponent = np.float64(shifted).view(np.int64) << _SHIFT
    return np.int64(np.float64(power).view(np.int64) + exponent).view(np.float64)


@small_kernel
def power_scale(inverse_temperature):
    """Return the factor from weight plus bias to an exponent of 2."""
    return inverse_temperature * _LOG2_E


@fused_kernel
def powers(values, count):
    """Replace values[:count] by the powers of 2 with these exponents.

    Values up to the next multiple of four are computed too, which avoids a loop over the remainder: `values` must have
    room for them. Unsigned counters avoid the test for negative indices.
    """
    for i in range(np.uint64((count + PADDING) // 4 * 4)):
        values[i] = fast_exp2(values[i])


@fused_kernel
def exponentials(weights, codes, biases, has_bias, inverse_temperature, out):
    """Fill `out` with exp((weight + bias) / temperature) of each code.

    Two plain loops instead of one: the first gathers, the second vectorises.
    """
    scale = power_scale(inverse_temperature)
    n = np.uint64(codes.size)
    if has_bias:
        for i in range(n):
            out[i] = (weights[codes[i]] + biases[i]) * scale
    else:
        for i in range(n):
            out[i] = weights[codes[i]] * scale
    powers(out, codes.size)


@small_kernel
def add_up(values, start, stop):
    """Return the sum of values[start:stop] in four running sums, so that additions need not wait for each other."""
    a = 0.0
    b = 0.0
    c = 0.0
    d = 0.0
    i = np.uint64(start)
    end = np.uint64(stop)
    while i + _4 <= end:
        a += values[i]
        b += values[i + _1]
        c += values[i + _2]
        d += values[i + _3]
        i += _4
    if i + _2 <= end:
        a += values[i]
        b += values[i + _1]
        i += _2
    if i < end:
        c += values[i]
    return (a + b) + (c + d)


@small_kernel
def is_safe(total):
    """Tell whether a sum of plain exponentials can be divided by (also false for NaN)."""
    return SMALLEST_SUM < total < LARGEST_SUM


@engine_kernel
def safe_exponentials(weights, codes, biases, has_bias, inverse_temperature, start, stop, out):
    """Fill out[start:stop] like `exponentials`, divided by the largest; returns their sum, at least 1."""
    largest = -np.inf
    for i in range(start, stop):
        x = weights[codes[i]]
        if has_bias:
            x += biases[i]
        out[i] = x * inverse_temperature
        largest = max(largest, out[i])
    for i in range(start, stop):
        out[i] = math.exp(out[i] - largest)
    return add_up(out, start, stop)


@small_kernel
def pick(values, count, threshold):
    """Return the first position at which the running sum of values[:count] exceeds `threshold`, or the last one.

    Four at a time at first: a running sum waits for each addition before the next.
    """
    reached = 0.0
    i = np.uint64(0)
    last = np.uint64(count - 1)
    while i + _4 <= last:
        four = (values[i] + values[i + _1]) + (values[i + _2] + values[i + _3])
        if reached + four > threshold:
            break
        reached += four
        i += _4
    while i < last:
        reached += values[i]
        if reached > threshold:
            break
        i += _1
    return np.int64(i)


def tabulate(weights, policy, inverse_temperature, out):
    """Fill `out` with exp(weight / temperature) of the first codes of a policy of level 1."""
    scale = power_scale(inverse_temperature)
    for i in range(min(out.size, weights.shape[2])):
        out[i] = fast_exp2(weights[0, policy, i] * scale)
