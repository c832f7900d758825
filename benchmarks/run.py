"""Measure everything that is promised: `make bench`, or `python benchmarks/run.py speed startup`.

CPU time, one thread, compiling apart. Machines are noisy: the best of several repetitions is the machine's answer,
the median what one sees on a busy day; both are shown. Tables go to the pages in docs/results/.
"""

import sys

import certify
import costly
import plain
import rivals
import routing
import scaling
import speed
import startup
import workers

_ALL = (
    speed,
    scaling,
    startup,
    rivals,
    costly,
    certify,
    plain,
    routing,
    workers,
)
PARTS = {part.__name__.replace("_", "-"): part for part in _ALL}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"unknown part {unknown[0]!r}; there are: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    for name in names or PARTS:
        PARTS[name].main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
