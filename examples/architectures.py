"""Neural architectures, looked up in NAS-Bench-201: few mistakes on CIFAR-10 against few parameters.

The true front is known there, so the result says how much of it was found.
"""

from pareto_nrpa import MaxEvaluations, ParetoNRPA, load, solve

if __name__ == "__main__":
    problem = load("nas-bench-201:objectives=c10_error+params")
    # Cells that come up again are looked up and do not count: one would not train a network twice either.
    stop = MaxEvaluations(1_000, count="unique")
    result = solve(problem, ParetoNRPA(weighting="none"), stop=stop, seed=1)
    print(result.summary())
