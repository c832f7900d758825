"""Damaged and forged files of every kind: `python benchmarks/mutate.py --each 10000 [KIND ...]`.

Each file must be read, or refused in one sentence. What is not: another error or a warning (a leak), more than ten
seconds of its own time (a hang), the end of the process (a crash), more than a gigabyte (a MemoryError, as the limit is
set). Counts are kept in results/mutations.json after every few seconds: the same command looks again at what was wrong
and goes on where it was stopped, `--again` begins anew. A mutation is known by its number: `--only 123 --keep FOLDER`
makes it again and leaves the file there.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mutations.examine import BYTES, SECONDS, Mutations
from mutations.kinds import KINDS
from report import RESULTS, write

if TYPE_CHECKING:
    from mutations.examine import Outcome

_COUNTS = RESULTS / "mutations.json"
_MOST_SHOWN, _SAVED_EVERY = 20, 5


@dataclass
class Count:
    """What became of the files of a kind so far."""

    seed: int
    files: int = 0
    refused: int = 0
    read: int = 0
    wrong: list[str] = field(default_factory=list)
    slowest: float = 0.0
    megabytes: int = 0

    def add(self, found: Outcome) -> None:
        self.files += 1
        self.refused += found.word == "refused"
        self.read += found.word == "read"
        if not found.is_good:
            self.wrong.append(f"{found.number}: {found.word}")
        self.slowest = max(self.slowest, round(found.seconds, 2))
        self.megabytes = max(self.megabytes, found.megabytes)

    def numbers_wrong(self) -> list[int]:
        return [int(line.partition(":")[0]) for line in self.wrong]

    def look_again(self, found: Outcome) -> None:
        """Count what was wrong anew."""
        del self.wrong[self.numbers_wrong().index(found.number)]
        self.files -= 1
        self.add(found)

    def cells(self) -> list[str]:
        numbers = self.files, self.refused, self.read, len(self.wrong)
        return [*(f"{number:,}" for number in numbers), f"{self.slowest:.2f}", str(self.megabytes)]

    def __str__(self) -> str:
        return (
            f"{self.files:,} files, {self.refused:,} refused, {self.read:,} read, {len(self.wrong)} wrong; slowest "
            f"{self.slowest:.2f} s, {self.megabytes} MB"
        )


class Counts:
    """What became of all kinds, in a file."""

    def __init__(self) -> None:
        stored = json.loads(_COUNTS.read_text()) if _COUNTS.exists() else {}
        self._counts = {name: Count(**count) for name, count in stored.items()}

    def of(self, kind: str, seed: int, *, again: bool) -> Count:
        """Return the count of a kind to go on with."""
        count = self._counts.get(kind)
        if count is None or count.seed != seed or again:
            count = self._counts[kind] = Count(seed)
        return count

    def save(self) -> None:
        RESULTS.mkdir(exist_ok=True)
        counts = {name: asdict(self._counts[name]) for name in KINDS if name in self._counts}
        _COUNTS.write_text(json.dumps(counts, indent=1) + "\n")

    def write(self) -> None:
        rows = [
            [name, *count.cells()]
            for name, count in ((name, self._counts[name]) for name in KINDS if name in self._counts)
        ]
        write(
            "mutations",
            "Damaged and forged files",
            ["kind", "files", "refused", "read", "wrong", "slowest, s", "MB"],
            rows,
            "Files changed at random and read as the program does, each in one to four places; sums that files have of "
            "their own are made to fit in nine of ten. Wrong: any error but one sentence, any warning, more than "
            f"{SECONDS} s of its own time, the end of the process, or more than {BYTES / 1e9:.0f} GB. A checkpoint "
            "that is read goes on for some evaluations. Slowest: no more than that; waiting for other "
            "programs is in it for kinds that were counted on a busy machine. MB: the most that the process had, Numba "
            "and all that it imports included.",
            command="python benchmarks/mutate.py --each 10000",
        )


def examine(kind: str, count: Count, each: int, counts: Counts, folder: Path) -> None:
    """Look again at what was wrong, then count until there are so many, and say how it goes."""
    if count.files >= each and not count.wrong:
        return
    mutations, saved = Mutations(KINDS[kind], folder, count.seed), time.monotonic()
    for number in count.numbers_wrong():
        for found in mutations.examine_apart(range(number, number + 1)):
            count.look_again(found)
    for found in mutations.examine_apart(range(count.files, each)):
        count.add(found)
        if not found.is_good and len(count.wrong) <= _MOST_SHOWN:
            print(f"{kind} {found.number}: {found.word}", flush=True)
        if time.monotonic() - saved > _SAVED_EVERY:
            counts.save()
            print(f"{kind}: {count}", end="\r" if sys.stdout.isatty() else "\n", flush=True)
            saved = time.monotonic()
    counts.save()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"all by default: {', '.join(KINDS)}")
    parser.add_argument("--each", type=int, default=10_000, help="files of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", action="store_true", help="forget what was counted before")
    parser.add_argument("--only", type=int, help="this mutation alone, in this process")
    parser.add_argument("--keep", type=Path, help="a folder to make the files in")
    options = parser.parse_args(arguments)
    for unknown in set(options.kinds) - set(KINDS):
        parser.error(f"{unknown} is no kind; there are {', '.join(KINDS)}")
    counts, n_wrong = Counts(), 0
    for kind in options.kinds or KINDS:
        with tempfile.TemporaryDirectory() as temporary:
            folder = (options.keep or Path(temporary)) / kind
            if options.only is not None:
                for found in Mutations(KINDS[kind], folder, options.seed).examine(
                    range(options.only, options.only + 1)
                ):
                    print(f"{kind} {found.number}: {found.word}")
                continue
            count = counts.of(kind, options.seed, again=options.again)
            examine(kind, count, options.each, counts, folder)
            print(f"{kind}: {count}", flush=True)
            n_wrong += len(count.wrong)
    if options.only is None:
        counts.write()
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
