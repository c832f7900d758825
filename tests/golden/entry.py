"""What is stored of a run, and how two of them are compared.

The only module of the golden runs that looks inside a search.
"""

import hashlib
import json
import platform
import sys
from itertools import zip_longest

import numpy as np

from pareto_nrpa import Front

#: Of a front that is longer than the first number, as many members are stored as the second says.
_LONG, _SHOWN = 5, 3
#: How much objectives may differ on another platform, where the library of mathematical functions is another one.
_ROUNDING = 1.5e-6


def random_state(search):
    """Return the state of the generator of a search."""
    search.player.settle()
    return search.rng.bit_generator.state


def entry_of_search(search, **others):
    """Return what is stored of a search at its end."""
    parts = {"log": digest(exact(search.log())), "random": digest(random_state(search)), **others}
    if search.unique_evaluations is not None:
        parts["unique"] = search.unique_evaluations
    return _entry(search.front(), search.evaluations, parts)


def entry_of_result(result, **others):
    """Return what is stored of a result, whose search is over."""
    counts = {"unique": result.unique_evaluations, "failures": result.failures, "discarded": result.discarded}
    parts = {"log": digest(exact(result.log)), **{name: n for name, n in counts.items() if n}, **others}
    return _entry(result.front, result.evaluations, parts)


def entry_of_points(objectives, solutions, evaluations, **others):
    """Return what is stored of points that another library holds, in its order."""
    return _entry(
        Front(objectives, np.zeros(len(objectives)), solutions, np.zeros(len(objectives))), evaluations, others
    )


def _entry(front, evaluations, parts):
    n = len(front.solutions)
    rows = range(n if n <= _LONG else _SHOWN)
    found_at = None if front.found_at is None else front.found_at.tolist()
    columns = exact(front.objectives), exact(front.violations), front.solutions, front.policies.tolist(), found_at
    return {
        "evaluations": evaluations,
        "size": n,
        "violations": exact(front.violations[:1]),
        "objectives": exact(front.objectives[rows]),
        "solutions": [_plain(front.solutions[i]) for i in rows],
        "front": digest(columns),
        **parts,
    }


def exact(numbers):
    """Return numbers bit for bit as text, in lists of the same shape."""
    if isinstance(numbers, np.ndarray | list | tuple):
        return [exact(number) for number in numbers]
    return float(numbers).hex()


def rounded(table):
    """Return a table of numbers that may be summed up in another order: nine digits are the same."""
    return [[f"{number:.9g}" for number in row] for row in table.tolist()]


def _plain(value):
    """Return a solution in plain values, as JSON knows them."""
    return json.loads(json.dumps(value, default=lambda one: one.tolist()))


def digest(value):
    """Return the SHA-256 of a value that JSON can hold."""
    text = json.dumps(value, sort_keys=True, default=lambda one: one.tolist())
    return hashlib.sha256(text.encode()).hexdigest()


def this_platform():
    """Return where results are the same bit for bit."""
    return f"{sys.platform} {platform.machine()}"


def differences(stored, found, *, bit_for_bit):
    """Return in lines what differs between two entries.

    On another platform the first members of the front are compared, their objectives up to rounding.
    """
    if bit_for_bit:
        names = [name for name in {**stored, **found} if stored.get(name) != found.get(name)]
    else:
        names = [name for name in ("evaluations", "size", "solutions") if stored[name] != found[name]]
        names += [name for name in ("violations", "objectives") if not _are_close(stored[name], found[name])]
    lines = []
    for name in names:
        if name in ("objectives", "solutions"):
            pairs = zip_longest(stored[name], found[name])
            lines += [
                f"{name}[{i}]: {_readable(a)} stored, {_readable(b)} found" for i, (a, b) in enumerate(pairs) if a != b
            ]
        else:
            lines.append(f"{name}: {_readable(stored.get(name))} stored, {_readable(found.get(name))} found")
    return lines


def _are_close(one, other):
    one, other = (np.vectorize(float.fromhex, otypes=[float])(values) for values in (one, other))
    return one.shape == other.shape and np.allclose(one, other, rtol=0, atol=_ROUNDING)


def _readable(value):
    """Return exact numbers with their decimals beside them, and anything else as it is."""
    if isinstance(value, str) and value.lstrip("-").startswith("0x"):
        return f"{float.fromhex(value)!r} ({value})"
    return f"[{', '.join(map(_readable, value))}]" if isinstance(value, list) else str(value)
