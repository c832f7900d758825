"""Pareto-NRPA as an algorithm of pymoo: which items to pack, at a limited weight, for two profits at once.

The problem is written as for any other algorithm of pymoo; compare with `NSGA2` by changing one word.
"""

import numpy as np
from pymoo.core.problem import ElementwiseProblem
from pymoo.optimize import minimize

from pareto_nrpa.integrations.pymoo import PolishedNRPAForPymoo


class Packing(ElementwiseProblem):
    def __init__(self, n_items=30):
        super().__init__(n_var=n_items, n_obj=2, n_ieq_constr=1, xl=0, xu=1, vtype=bool)
        self.weights, *self.profits = np.random.default_rng(1).integers(10, 100, (3, n_items))

    def _evaluate(self, x, out, *args, **kwargs):
        out["F"] = [-(profit @ x) for profit in self.profits]  # pymoo minimises
        out["G"] = [self.weights @ x - self.weights.sum() / 2]


if __name__ == "__main__":
    res = minimize(Packing(), PolishedNRPAForPymoo(), ("n_eval", 2_000), seed=1)
    print(f"{len(res.F)} trade-offs by pareto-nrpa in {res.algorithm.evaluator.n_eval:,} evaluations")
    for profits in -res.F[np.argsort(res.F[:, 0])]:
        print(*profits.astype(int))
