"""Record golden runs anew: python -m tests.golden.record [beginning of a name ...]; all of them without a name."""

import json
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from .entry import this_platform

FILE = Path(__file__).parent / "golden.json"
#: The entry that says where the others were recorded.
WHERE = "recorded on"


def stored():
    """Return all entries by name."""
    return json.loads(FILE.read_text())


def made(run, way):
    """Return the entry of a run that is made in one of its ways, as JSON gives it back."""
    with tempfile.TemporaryDirectory() as folder:
        return json.loads(json.dumps(run.ways[way](Path(folder))))


def recorded(names):
    """Return the entries of these runs."""
    from .runs import RUNS

    return {name: made(RUNS[name], next(iter(RUNS[name].ways))) for name in names}


def where():
    """Return what the results depend on besides the code."""
    return {"platform": this_platform(), "pymoo": version("pymoo")}


def main(beginnings):
    """Record the runs whose names begin so; those that are no more are left out."""
    from .runs import RUNS

    chosen = [name for name in RUNS if not beginnings or name.startswith(tuple(beginnings))]
    if not chosen:
        sys.exit(f"no run begins with {' or '.join(beginnings)}; there are: {'; '.join(RUNS)}.")
    before = stored() if FILE.exists() else {}
    if beginnings and before and before[WHERE] != where():
        sys.exit(f"the others were recorded on {before[WHERE]}, this is {where()}; record all, or none.")
    after = dict(before)
    for name in chosen:
        began = time.perf_counter()
        after |= recorded([name])
        state = "new" if name not in before else "equal" if before[name] == after[name] else "DIFFERS"
        print(f"{state:8} {time.perf_counter() - began:6.2f} s  {name}", flush=True)
    entries = {WHERE: where(), **{name: after[name] for name in RUNS if name in after}}
    lines = (f"{json.dumps(name)}: {json.dumps(entry, separators=(',', ':'))}" for name, entry in entries.items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
