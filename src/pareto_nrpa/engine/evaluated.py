"""Known solutions: a hash table of keys with open addressing, and the scores of each.

It is empty unless unique evaluations are counted. The key of a solution is the `identity` given by its problem, else a
hash of its moves: 62 bits, so that among a million solutions two share one with a probability of one in ten million.
"""

from __future__ import annotations

import numpy as np

from .arrays import KEY, N_MOVES, N_UNIQUE, NO_IDENTITY
from .jit.kernels import bundle_kernel, engine_kernel, python_function, small_kernel, stored
from .state import need

_FIRST_KEYS = 1024
_NO_KEY = 0
# Two polynomials modulo two primes below 2^31: no product overflows, in compiled code as in plain Python.
_PRIME, _OTHER_PRIME = 2_147_483_647, 2_147_483_629
_BASE, _OTHER_BASE = 1_103_515_245, 1_654_615_998
_SHIFT = 2**31


def no_keys(n_objectives):
    """Return the arrays of an unused table."""
    return np.zeros(0, dtype=np.int64), np.zeros((0, 1 + n_objectives))


def larger_keys(keys, scores):
    """Return a table twice the size, or the first one, with the same contents."""
    return _placed(keys, scores, max(_FIRST_KEYS, 2 * keys.size))


def check_keys(keys, counters):
    """Raise unless a restored table has free places, and all its keys are found."""
    n = np.count_nonzero(keys)
    need(n == counters[N_UNIQUE] and 2 * n <= keys.size, "as many unique solutions as it counts")
    need(keys.size == 0 or keys.size & (keys.size - 1) == 0, "a table of solutions whose size is a power of two")


def _placed(keys, scores, size):
    grown, grown_scores = np.zeros(size, dtype=np.int64), np.zeros((size, scores.shape[1]))
    left = np.flatnonzero(keys != _NO_KEY)
    places = python_function(_first_place)(keys[left], size)
    while left.size:
        # Of keys with the same place the first gets it if it is free; the others try the next.
        wanted, first = np.unique(places, return_index=True)
        first = first[grown[wanted] == _NO_KEY]
        grown[places[first]] = keys[left[first]]
        grown_scores[places[first]] = scores[left[first]]
        others = np.setdiff1d(np.arange(left.size), first)
        left, places = left[others], (places[others] + 1) & (size - 1)
    return grown, grown_scores


@small_kernel
def no_identity(data, state):
    """Identity of a problem without one."""
    return NO_IDENTITY


@bundle_kernel
def needs_more_keys(keys, counters):
    """Tell whether a table in use is half full."""
    return 0 < keys.size <= 2 * counters[N_UNIQUE]


@engine_kernel
def solution_key(identity, moves, n_moves):
    """Return the key of a solution, at least 1."""
    if identity != NO_IDENTITY:
        return identity + 1
    one = np.int64(1)
    other = np.int64(1)
    for i in range(n_moves):
        one = (one * _BASE + moves[i] + 1) % _PRIME
        other = (other * _OTHER_BASE + moves[i] + 1) % _OTHER_PRIME
    return one * _SHIFT + other + 1


@small_kernel
def _first_place(key, size):
    """Return the first place of a key; all bits count, as identities may differ in the high ones only."""
    return ((key & (_SHIFT - 1)) * _BASE + (key >> 31) * _OTHER_BASE) % _PRIME & (size - 1)


@engine_kernel
def place_of(keys, key):
    """Return the place of a key in the table, or the free place for it."""
    place = _first_place(key, keys.size)
    while keys[place] != _NO_KEY and keys[place] != key:
        place = (place + 1) & (keys.size - 1)
    return place


@engine_kernel
def count_once(keys, key_scores, heads, moves, scores, slot, counters):
    """Count a solution unless it was evaluated before, and store its scores."""
    key = solution_key(heads[slot, KEY], moves[slot], heads[slot, N_MOVES])
    place = place_of(keys, key)
    if keys[place] == _NO_KEY:
        keys[place] = key
        counters[N_UNIQUE] += 1
        for k in range(scores.shape[1]):
            key_scores[place, k] = scores[slot, k]


def known_scores(keys, key_scores, identity, moves, n_moves):
    """Return the scores of a solution that was evaluated before, or None."""
    if keys.size == 0:
        return None
    key = int(stored(solution_key)(identity, moves, n_moves))
    place = stored(place_of)(keys, key)
    return key_scores[place] if keys[place] == key else None
