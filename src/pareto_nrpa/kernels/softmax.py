"""Probabilities of moves: exp of learned weight plus bias, fast where it can be, safe where it must."""

from __future__ import annotations

import math

import numpy as np

from ._jit import engine_kernel, fused_kernel, small_kernel

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it leaves the nearest integer in the low bits of the mantissa
_LIMIT = 700.0

#: How many candidates fit the first-level cache together with their weights.
MAX_BLOCK = 1024

#: How many places more than there are candidates the working memory of `exponentials` must have.
PADDING = 3
_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11 = (1.0 / math.factorial(k) for k in range(2, 12))
_SHIFT = np.int64(52)

# Outside these bounds a sum of exponentials has lost digits, or overflowed, and the safe way is taken.
_SMALLEST_SUM = 1e-250
_LARGEST_SUM = 1e250


@fused_kernel
def fast_exp(x):
    """Return exp(x) for x clipped to [-700, 700], relative error below 2e-14; loops over it vectorise."""
    x = min(max(x, -_LIMIT), _LIMIT)
    shifted = x * _LOG2_E + _ROUND
    k = shifted - _ROUND
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    # Taylor's polynomial in pairs (Estrin), so that one product need not wait for the last.
    r2 = r * r
    r4 = r2 * r2
    low = (1.0 + r) + r2 * (_C2 + _C3 * r)
    middle = (_C4 + _C5 * r) + r2 * (_C6 + _C7 * r)
    high = (_C8 + _C9 * r) + r2 * (_C10 + _C11 * r)
    power = low + r4 * (middle + r4 * high)
    exponent = np.float64(shifted).view(np.int64) << _SHIFT
    return np.int64(np.float64(power).view(np.int64) + exponent).view(np.float64)


@fused_kernel
def exponentials(weights, codes, biases, has_bias, inverse_temperature, out):
    """Fill `out` with exp((weight + bias) / temperature) of each code.

    Two plain loops instead of one: the first gathers, the second vectorises. The second also works on what lies
    between the last code and a multiple of four, so that nothing is left to do one by one: `out` must have room for
    that. Unsigned counters spare the test for negative indices.
    """
    n = np.uint64(codes.size)
    if has_bias:
        for i in range(n):
            out[i] = (weights[codes[i]] + biases[i]) * inverse_temperature
    else:
        for i in range(n):
            out[i] = weights[codes[i]] * inverse_temperature
    for i in range(np.uint64((codes.size + PADDING) // 4 * 4)):
        out[i] = fast_exp(out[i])


@small_kernel
def add_up(values, start, stop):
    """Return the sum of values[start:stop] in four running sums, so that additions need not wait for each other."""
    a = 0.0
    b = 0.0
    c = 0.0
    d = 0.0
    i = start
    while i + 4 <= stop:
        a += values[i]
        b += values[i + 1]
        c += values[i + 2]
        d += values[i + 3]
        i += 4
    while i < stop:
        a += values[i]
        i += 1
    return (a + b) + (c + d)


@small_kernel
def is_safe(total):
    """Tell whether a sum of plain exponentials can be divided by (also false for NaN)."""
    return _SMALLEST_SUM < total < _LARGEST_SUM


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
    """Return the first position at which the running sum of values[:count] exceeds `threshold`."""
    reached = 0.0
    for i in range(count - 1):
        reached += values[i]
        if reached > threshold:
            return i
    return count - 1
