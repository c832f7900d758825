"""Compare the package with brute force and count: `python -m tests.differential --instances 1000`."""

import argparse
import itertools
import sys
import time
from collections import Counter

from .brute_force import truth_of
from .compare import BUDGET, construction_differences, search_differences
from .instances import FAMILIES, KINDS, instance


def mixture(n_instances, most_stops, first_seed=0, families=FAMILIES, kinds=KINDS):
    """Yield instances, families and kinds in turn."""
    for i, seed in zip(range(n_instances), itertools.count(first_seed)):
        family, kind = families[i % len(families)], kinds[i // len(families) % len(kinds)]
        yield instance(family, kind, seed, most_stops)


def main():
    """Print the smallest instance of every kind of difference, then the counts."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__.partition(":")[0])
    parser.add_argument("--instances", type=int, default=1000)
    parser.add_argument("--most-stops", type=int, default=5, help="stops to visit")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--family", choices=FAMILIES, action="append", help="may be given several times")
    parser.add_argument("--kind", choices=KINDS, action="append", help="may be given several times")
    parser.add_argument("--budget", type=int, default=BUDGET, help="evaluations of the default search")
    parser.add_argument("--build", type=int, default=3, help="build all solutions of instances up to so many stops")
    parser.add_argument("--no-search", action="store_true", help="only build solutions")
    options = parser.parse_args()
    counts, tried, smallest, began = Counter(), Counter(), {}, time.perf_counter()
    families, kinds = options.family or FAMILIES, options.kind or KINDS
    for chosen in mixture(options.instances, options.most_stops, options.first_seed, families, kinds):
        truth = truth_of(chosen)
        tried["feasible" if truth.least == 0 else "infeasible"] += 1
        found = [] if options.no_search else list(search_differences(chosen, truth, options.budget))
        if chosen.n - 1 <= options.build:
            found += construction_differences(chosen, truth)
        for kind, difference in {difference.kind: difference for difference in found}.items():
            name = f"{chosen.family}: {kind}"
            counts[name] += 1
            size = chosen.n + chosen.vehicles + len(chosen.objectives)
            if name not in smallest or size < smallest[name][0]:
                smallest[name] = size, chosen, difference
    for name, (_, chosen, difference) in sorted(smallest.items()):
        print(f"\n{name}\n{chosen}\n{difference}")
    of_each = ", ".join(f"{count} {name}" for name, count in sorted(tried.items()))
    print(f"\n{options.instances} instances ({of_each}) in {time.perf_counter() - began:.1f} s")
    print(f"{sum(counts.values())} differences")
    for name, count in sorted(counts.items()):
        print(f"  {name}: {count}")
    return 1 if counts else 0


if __name__ == "__main__":
    sys.exit(main())
