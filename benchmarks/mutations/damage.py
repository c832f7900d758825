"""What becomes of files: the bytes of a good one and random numbers make those of a bad one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np

    Change = Callable[[bytes, np.random.Generator], bytes]

TOKENS = [
    b"NaN", b"-Infinity", b"1e999", b"-1", b"0", b"1e-320", b"1e308", b"0x10", b"null", b"true", b"{}", b"[]", b'""',
    b"'", b'"', b"(", b"\\", b"\n", b"\x00", b"\xff\xfe", b"9" * 5000, b"[" * 100_000, b"(" * 5000, b"9" * 20,
    b"18446744073709551615", b"-9223372036854775809", "\u0661\u2028\U0001f600".encode(), b"True", b",)", b"<f8", b"|O",
]  # fmt: skip
VALUES = [
    None, True, False, 0, -1, 1.5, 10**30, 10**400, 1e308, -1e308, 5e-324, float("nan"), float("inf"), "", "x" * 10_000,
    "NaN", [], [[]], {}, [None], {"from": [0, 0], "to": [None, None]}, [1, 2, 3], [[1, 2], [3]], "proved complete",
    "not finished", "proved infeasible", list(range(1000)),
]  # fmt: skip


def text(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a file with one to four things changed in its bytes."""
    return _some(content, rng, change_bytes)


def json_text(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a file of JSON with one to four things changed, in its values or in its bytes."""
    return _some(content, rng, _change_json)


def table(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a table with one to four things changed, in its cells or in its bytes."""
    return _some(
        content, rng, lambda content, rng: (_change_table if rng.random() < 0.7 else change_bytes)(content, rng)
    )


def _some(content: bytes, rng: np.random.Generator, change: Change) -> bytes:
    for _ in range(rng.integers(1, 5)):
        content = change(content, rng)
    return content


def _change_json(content: bytes, rng: np.random.Generator) -> bytes:
    try:
        tree = json.loads(content) if rng.random() < 0.5 else None
    except (ValueError, RecursionError):
        tree = None
    return change_bytes(content, rng) if tree is None else json.dumps(change_tree(tree, rng)).encode()


def change_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """Change something as a bad disk or a bad hand does: bits, parts, words."""
    begin, end = sorted(rng.integers(0, len(content) + 1, 2).tolist())
    end = min(end, begin + int(rng.integers(1, 40)))
    match rng.integers(7):
        case 0:  # bits
            changed = bytearray(content)
            for at in rng.integers(0, max(1, len(content)), rng.integers(1, 9)):
                if len(changed):
                    changed[at] ^= 1 << int(rng.integers(8))
            return bytes(changed)
        case 1:
            return content[:begin]
        case 2:
            return content[:begin] + content[end:]
        case 3:  # said twice
            return content[:end] + content[begin:end] * int(rng.integers(1, 50)) + content[end:]
        case 4:
            return content[:begin] + rng.bytes(int(rng.integers(1, 20))) + content[end:]
        case 5:
            return content[:begin] + TOKENS[rng.integers(len(TOKENS))] + content[end:]
        case _:  # a word for another
            mark = b";" if b";" in content else b" "
            words = content.split(mark)
            words[rng.integers(len(words))] = TOKENS[rng.integers(len(TOKENS))]
            return mark.join(words)


CELLS = [
    b"", b" ", b"0", b"-1", b"3.5", b"3,5", b"1.234,5", b"1,234", b"1e3", b"nan", b"inf", b"08:30", b"8:5", b"25:61",
    b"-08:30", b"08:30:30", b"8.30", b"noon", b"Anna", b"depot", b"<b>", b"=1+1", b"2026-11-17 08:30", b"1 000",
    b"00:00", b"47:59", b"lat", b"x", b"closes", b"open", b"kind", "\u0663".encode(), b"9" * 30, b'"a;b"', b'"',
    b"\xc3\x84",
]  # fmt: skip


def _change_table(content: bytes, rng: np.random.Generator) -> bytes:
    """Change something as people at a spreadsheet do: a cell, a row, a column, the kind of file."""
    rows = [line.split(b";") for line in content.split(b"\n")]
    row, other = rng.integers(0, len(rows), 2)
    cell, place = int(rng.integers(len(rows[row]))), int(rng.integers(len(rows[row])))
    match rng.integers(8):
        case 0 | 1 | 2:
            rows[row][cell] = CELLS[rng.integers(len(CELLS))]
        case 3:
            rows[row][cell], rows[row][place] = rows[row][place], rows[row][cell]
        case 4:
            rows[row], rows[other] = rows[other], rows[row]
        case 5:
            rows.insert(row, list(rows[other]))
        case 6:  # a column moves
            for line in rows:
                if max(cell, place) < len(line):
                    line.insert(place, line.pop(cell))
        case _:
            return content.replace(*[(b";", b","), (b",", b"."), (b"\n", b"\r\n"), (b";", b"\t")][rng.integers(4)])
    return b"\n".join(b";".join(line) for line in rows)


def change_tree(tree: Any, rng: np.random.Generator) -> Any:
    """Change a value somewhere in what a JSON file holds."""
    places = list(_places(tree))
    if not places:
        return VALUES[rng.integers(len(VALUES))]
    holder, key = places[rng.integers(len(places))]
    match rng.integers(4):
        case 0:
            del holder[key]
        case 1:
            other, there = places[rng.integers(len(places))]
            holder[key] = json.loads(json.dumps(other[there]))
        case _:
            holder[key] = VALUES[rng.integers(len(VALUES))]
    return tree


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield where values are: a list or an object, and the index or key in it."""
    pending = [tree]
    while pending:
        holder = pending.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        for key in keys:
            yield holder, key
            pending.append(holder[key])
