"""What becomes of changed files: read in a process apart, which may crash, hang and swallow memory."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pareto_nrpa.exceptions import ParetoNRPAError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mutations.kinds import Kind, Source

SECONDS, BYTES = 10, 10**9
_LONGEST_MESSAGE = 500


class Outcome(NamedTuple):
    """What reading one file came to."""

    number: int
    word: str  # "read", "refused", or what is wrong
    seconds: float = 0.0
    megabytes: int = 0  # the most that the process has had so far

    @property
    def is_good(self) -> bool:
        return self.word in ("read", "refused")


class Mutations:
    """Good files of a kind, and what becomes of each mutation of them."""

    def __init__(self, kind: Kind, folder: Path, seed: int) -> None:
        self._seed, self._damage = seed, kind.damage
        self._sources: list[tuple[Source, Path, bytes]] = []
        for number, source in enumerate(kind.sources):
            place = folder / str(number)
            place.mkdir(parents=True, exist_ok=True)
            path = source.make(place)
            source.read(path)  # good as it is; and all that is needed is compiled now
            self._sources.append((source, path, path.read_bytes()))

    def examine(self, numbers: range) -> Iterator[Outcome]:
        """Yield the outcome of each."""
        for number in numbers:
            source, path, good = self._sources[number % len(self._sources)]
            path.write_bytes(self._damage(good, np.random.default_rng([self._seed, number])))
            begin = time.process_time()
            word = outcome(source, path)
            yield Outcome(number, word, time.process_time() - begin, _peak())

    def examine_apart(self, numbers: range) -> Iterator[Outcome]:
        """Yield the same from a process of its own, and go on in another one if it crashes or hangs."""
        context = multiprocessing.get_context("fork")
        while numbers:
            ours, theirs = context.Pipe(duplex=False)
            child = context.Process(target=self._send, args=(numbers, theirs))
            child.start()
            theirs.close()
            what = f"a hang: more than {SECONDS} s"
            try:
                while _answers(child.pid, ours):  # compiled code hears no signal: only from here is all seen that hangs
                    found = ours.recv()
                    numbers = range(found.number + 1, numbers.stop)
                    yield found
                child.kill()
                child.join()
            except EOFError:
                child.join()
                what = f"a crash: exit code {child.exitcode}"
            if numbers:
                yield Outcome(numbers.start, what)
                numbers = numbers[1:]

    def _send(self, numbers: range, pipe: Any) -> None:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + BYTES, used + BYTES))
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever counts
        for found in self.examine(numbers):
            pipe.send(found)
        pipe.close()


def _answers(pid: int, pipe: Any) -> bool:
    """Wait for an answer; False if the process has worked for too long without one, or waits for something itself.

    Its own time counts, not that of a machine on which others work as well.
    """
    begin, n_idle = _working(pid)[0], 0
    while not pipe.poll(1.0):
        seconds, is_idle = _working(pid)
        n_idle = n_idle + 1 if is_idle else 0
        if seconds - begin > SECONDS or n_idle > SECONDS:
            return False
    return True


def _working(pid: int) -> tuple[float, bool]:
    """Return for how long a process has worked, and whether all of its threads wait."""
    process = Path(f"/proc/{pid}")
    states = [_fields(path)[0] for path in process.glob("task/*/stat")]
    _, *numbers = _fields(process / "stat")
    ticks = sum(map(int, numbers[10:12]))
    return ticks / os.sysconf("SC_CLK_TCK"), "R" not in states


def _fields(stat: Path) -> list[str]:
    """Return what is said of a process or a thread behind its name: first its state, which is Z if it has gone."""
    try:
        return stat.read_text().rpartition(")")[2].split()
    except OSError:
        return ["Z"]


def outcome(source: Source, path: Path) -> str:
    """Return what reading a file leads to: "read", "refused", or what is wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            source.read(path)
        return "read"
    except ParetoNRPAError as error:
        message = str(error).replace(str(path.parent), "")
        is_sentence = message and "\n" not in message and len(message) <= _LONGEST_MESSAGE
        return "refused" if is_sentence else f"a message of {len(message)} letters: {message[:80]!r}"
    except Exception as error:
        return f"a leak: {type(error).__name__}: {str(error)[:80]!r}"


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
