"""Compiled loops of the verification of intervals. Sets of cities are two words of 62 bits."""

from __future__ import annotations

import numpy as np

from ...engine.jit.kernels import cached_kernel


@cached_kernel
def extend_paths(
    cities, sets, times, values, travel, steps, opens, closes, allowed, keep, bits, forbidden, reach,
    starts, c_sets, c_latest, c_values, corners, used, new_cities, new_sets, new_times, new_values,
):  # fmt: skip
    """Write all paths one city longer that a corner leaves, and the arcs that they use; returns their number.

    The last columns of the values are weighted sums, one for each column of `corners`. With `reach`, the least times
    between cities, a path is dropped that leaves a city behind.
    """
    n, n_columns, n_boxes, n_sums, count = travel.shape[0], values.shape[1], corners.shape[0], corners.shape[1], 0
    room = np.empty(n_boxes)
    for path in range(cities.size):
        city, low, high = cities[path], sets[path, 0], sets[path, 1]
        for to in range(1, n):
            if not allowed[city, to]:
                continue
            if low & (bits[to, 0] | forbidden[to, 0]) != 0 or high & (bits[to, 1] | forbidden[to, 1]) != 0:
                continue
            time = times[path] + travel[city, to]
            if time > closes[to]:
                continue
            time = max(time, opens[to])
            is_left = True
            for other in range(1, reach.shape[0]):
                is_left = (low | bits[to, 0]) & bits[other, 0] != 0 or (high | bits[to, 1]) & bits[other, 1] != 0
                is_left = is_left or time + reach[to, other] <= closes[other]
                if not is_left:
                    break
            if not is_left:
                continue
            room[:] = np.inf
            for s in range(n_sums):
                column = n_columns - n_sums + s
                value, most, completion = values[path, column] + steps[column, city, to], -np.inf, np.inf
                for box in range(n_boxes):
                    if room[box] > 0.0:
                        most = max(most, corners[box, s])
                for at in range(starts[s, to], starts[s, to + 1]):
                    if value + c_values[at] >= most:
                        break
                    if time <= c_latest[at] and c_sets[at, 0] & low == 0 and c_sets[at, 1] & high == 0:
                        completion = c_values[at]
                        break
                is_left = False
                for box in range(n_boxes):
                    room[box] = min(room[box], corners[box, s] - value - completion)
                    is_left = is_left or room[box] > 0.0
                if not is_left:
                    break
            if not is_left:
                continue
            used[city, to] = True
            new_cities[count] = to
            new_sets[count, 0] = low & keep[to, 0] | bits[to, 0]
            new_sets[count, 1] = high & keep[to, 1] | bits[to, 1]
            new_times[count] = time
            for column in range(n_columns):
                new_values[count, column] = values[path, column] + steps[column, city, to]
            count += 1
    return count


@cached_kernel
def best_of_each_state(keys, cities, sets, values, n_costs, kept):
    """Write the paths that no earlier one of the same state is as good as; they are in the order of keys and times."""
    begin, end = 0, 0
    for path in range(keys.size):
        if path and keys[path] != keys[path - 1]:
            begin = end
        is_dominated = False
        for place in range(begin, end):
            other = kept[place]
            is_dominated = (
                cities[other] == cities[path] and sets[other, 0] == sets[path, 0] and sets[other, 1] == sets[path, 1]
            )
            for k in range(n_costs):
                is_dominated = is_dominated and values[other, k] <= values[path, k]
            if is_dominated:
                break
        if not is_dominated:
            kept[end] = path
            end += 1
    return end


@cached_kernel
def best_of_each_city(cities, sets, times, kept):
    """Write the routes that no cheaper one is as early as and remembers no more; they are in the order of values."""
    begin, end = 0, 0
    for path in range(cities.size):
        if path and cities[path] != cities[path - 1]:
            begin = end
        is_dominated = False
        for place in range(begin, end):
            other = kept[place]
            is_dominated = times[other] <= times[path]
            for word in range(2):
                is_dominated = is_dominated and sets[other, word] & ~sets[path, word] == 0
            if is_dominated:
                break
        if not is_dominated:
            kept[end] = path
            end += 1
    return end
