"""Crowding distance (Deb et al. 2002), clipped as in the paper, as the weight of updates."""

from __future__ import annotations

from ...engine.jit.kernels import engine_kernel

MAX_DISTANCE = 2.0
_RUN = 32


@engine_kernel
def crowding_distances(scores, front, n_front, order, spare, out):
    """Fill out[:n_front] with the crowding distance of each member of a front.

    Per objective the gap between the two neighbours, divided by the range of the front; summed, and divided by the
    number of objectives. The ends of each objective have infinite distance, which the paper clips to 2. With a single
    objective all weights are 1, and the algorithm is NRPA.
    """
    n_objectives = scores.shape[1] - 1
    if n_objectives == 1:
        for i in range(n_front):
            out[i] = 1.0
        return
    if n_front <= 2:
        for i in range(n_front):
            out[i] = MAX_DISTANCE
        return
    for i in range(n_front):
        out[i] = 0.0
    for k in range(1, 1 + n_objectives):
        _sort_positions(scores, front, n_front, k, order, spare)
        out[order[0]] = MAX_DISTANCE
        out[order[n_front - 1]] = MAX_DISTANCE
        # Halves, which are exact: the difference of two huge numbers could be infinite.
        span = 0.5 * scores[front[order[n_front - 1]], k] - 0.5 * scores[front[order[0]], k]
        if span > 0.0:
            for i in range(1, n_front - 1):
                gap = 0.5 * scores[front[order[i + 1]], k] - 0.5 * scores[front[order[i - 1]], k]
                out[order[i]] += gap / (span * n_objectives)
    for i in range(n_front):
        out[i] = min(out[i], MAX_DISTANCE)


@engine_kernel
def _sort_positions(scores, front, n_front, k, order, spare):
    """Fill `order` with positions in `front`, by rising score k, ties by position.

    Insertion sort for short fronts, the common case; longer ones are merged from sorted runs.
    """
    for begin in range(0, n_front, _RUN):
        for i in range(begin, min(begin + _RUN, n_front)):
            value = scores[front[i], k]
            j = i
            while j > begin and scores[front[order[j - 1]], k] > value:
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
    length = _RUN
    while length < n_front:
        for begin in range(0, n_front, 2 * length):
            _merge(
                scores, front, k, order, begin, min(begin + length, n_front), min(begin + 2 * length, n_front), spare
            )
        length *= 2


@engine_kernel
def _merge(scores, front, k, order, begin, middle, end, spare):
    """Merge two consecutive sorted runs."""
    for i in range(begin, middle):
        spare[i] = order[i]
    left = begin
    right = middle
    for to in range(begin, end):
        if left == middle:
            return
        if right < end and scores[front[order[right]], k] < scores[front[spare[left]], k]:
            order[to] = order[right]
            right += 1
        else:
            order[to] = spare[left]
            left += 1
