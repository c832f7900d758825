"""Operators of pymoo on whole solutions, with the same random numbers in the same order.

pymoo crosses all pairs before it mutates the first child, so kernels take all pairs at once: parents [2, n, width] and
children [2 n, width], first the n first children, then the n second ones; `marks` [2 n + width] is working memory.
Random numbers are those of NumPy's stream.
"""

from __future__ import annotations

from ...engine.jit.kernels import bundle_kernel

#: Probability that a pair of parents is crossed (pymoo's default).
CROSSED = 0.9
#: Below this, a number is drawn from 32 bits.
WORD = 1 << 32


@bundle_kernel
def below(rng, n):
    """Return a number below n. A separate kernel, as Numba allocates an array for it; others allocate none."""
    return rng.integers(0, n)


@bundle_kernel
def up_to(rng, n):
    """Return a number up to n as in NumPy's shuffle: from the bits needed, repeated if too large."""
    mask = 1
    while mask < n:
        mask = 2 * mask + 1
    number = below(rng, WORD) & mask
    while number > n:
        number = below(rng, WORD) & mask
    return number


@bundle_kernel
def shuffle(rng, order):
    """Fill in `rng.permutation(order.size)`; Numba has it too, but takes six seconds to compile it."""
    for i in range(order.size):
        order[i] = i
    for i in range(order.size - 1, 0, -1):
        j = up_to(rng, i)
        order[i], order[j] = order[j], order[i]


@bundle_kernel
def two_of(rng, n):
    """Return two different numbers below n: `rng.choice(n, 2, replace=False)`, Floyd's algorithm and a shuffle."""
    if n < 2:
        return 0, 0
    first = below(rng, n - 1)
    second = below(rng, n)
    if second == first:
        second = n - 1
    if below(rng, 2) == 0:
        return second, first
    return first, second


@bundle_kernel
def stretch_of(rng, n):
    """Return the first and last place of a random stretch of n places."""
    a, b = two_of(rng, n)
    return min(a, b), max(a, b)


@bundle_kernel
def copy_row(row, to):
    """Copy numbers."""
    for k in range(row.size):
        to[k] = row[k]


@bundle_kernel
def copy_parents(rng, parents, children, crossed):
    """Copy parents to children, and draw which pairs are crossed; returns their number."""
    n = parents.shape[1]
    n_crossed = 0
    for i in range(n):
        crossed[i] = rng.random() < CROSSED
        n_crossed += crossed[i]
        copy_row(parents[0, i], children[i])
        copy_row(parents[1, i], children[n + i])
    return n_crossed


@bundle_kernel
def skip_draws(rng, n):
    """Draw the numbers by which pymoo decides whether mutated children are accepted; they always are."""
    for _ in range(n):
        rng.random()


@bundle_kernel
def cross_in_order(receiver, donor, begin, end, child, given):
    """Order crossover: a child has a stretch of one parent in its place and the rest in the order of the other.

    Parents must be permutations of their places; for other input, nothing is written outside of the child.
    """
    given[:] = False
    for i in range(begin, end + 1):
        child[i] = donor[i]
        given[donor[i]] = True
    place = 0
    for k in range(receiver.size):
        if not given[receiver[k]]:
            if place == begin:
                place = end + 1
            if place == child.size:
                return
            child[place] = receiver[k]
            place += 1


@bundle_kernel
def reverse(genes, begin, end):
    """Reverse a stretch: inversion mutation."""
    while begin < end:
        genes[begin], genes[end] = genes[end], genes[begin]
        begin += 1
        end -= 1


@bundle_kernel
def vary_permutations(rng, parents, children, sizes, marks):
    """Order crossover, then inversion mutation."""
    n, width = parents.shape[1], parents.shape[2]
    crossed, given = marks[: 2 * n], marks[2 * n :]
    if copy_parents(rng, parents, children, crossed) > 0:
        for i in range(n):
            begin, end = stretch_of(rng, width)  # also drawn for pairs that are not crossed
            if crossed[i]:
                cross_in_order(parents[0, i], parents[1, i], begin, end, children[i], given)
                cross_in_order(parents[1, i], parents[0, i], begin, end, children[n + i], given)
    for i in range(2 * n):
        rng.random()  # whether to mutate: always
        begin, end = stretch_of(rng, width)
        reverse(children[i], begin, end)
    skip_draws(rng, 2 * n)


@bundle_kernel
def vary_choices(rng, parents, children, sizes, marks):
    """Uniform crossover, then a new choice in one step on average, out of `sizes[k]` in step k."""
    n, width = parents.shape[1], parents.shape[2]
    if copy_parents(rng, parents, children, marks) > 0:
        for i in range(n):
            for k in range(width):
                if rng.random() < 0.5 and marks[i]:
                    children[i, k], children[n + i, k] = parents[1, i, k], parents[0, i, k]
    rate = min(0.5, 1.0 / width)
    for k in range(width):
        for i in range(2 * n):
            marks[i] = rng.random() < rate
        for i in range(2 * n):
            if marks[i]:
                children[i, k] = below(rng, sizes[k])
    skip_draws(rng, 2 * n)
