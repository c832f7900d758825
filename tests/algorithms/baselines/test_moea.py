"""The evolutionary baselines against pymoo itself: same seed, same first population, same population ever after."""

import itertools

import numpy as np
import pytest

from pareto_nrpa.algorithms.baselines.moea import MOEAD, NSGA2, SMSEMOA
from pareto_nrpa.algorithms.baselines.nsga3 import NSGA3
from pareto_nrpa.algorithms.baselines.variation import shuffle, two_of
from pareto_nrpa.engine.jit.kernels import njit, python_function
from pareto_nrpa.routing import generate_tsp, generate_tsptw

pytest.importorskip("pymoo", reason="compares with pymoo; ends with: pip install pareto-nrpa[baselines]")

from pymoo.algorithms.moo import moead, nsga2, nsga3, sms
from pymoo.core.duplicate import NoDuplicateElimination
from pymoo.core.problem import Problem as PymooProblem
from pymoo.core.termination import NoTermination
from pymoo.operators.crossover.ox import OrderCrossover
from pymoo.operators.mutation.inversion import InversionMutation
from pymoo.operators.sampling.rnd import PermutationRandomSampling
from pymoo.optimize import minimize
from pymoo.util.ref_dirs import get_reference_directions

SMALL_NSGA2 = NSGA2(population=60, offspring=15, bias=0.0)
SMALL_SMSEMOA = SMSEMOA(population=40, bias=0.0)
SMALL_MOEAD = MOEAD(subproblems=50, neighbours=10, bias=0.0)
SMALL_NSGA3 = NSGA3(population=60, offspring=15, bias=0.0)
BASELINES = [SMALL_NSGA2, SMALL_NSGA3, SMALL_SMSEMOA, SMALL_MOEAD]


class Tours(PymooProblem):
    """Tours in pymoo's terms: objectives penalised, no constraints."""

    def __init__(self, problem):
        n = len(problem.genotype.moves)
        super().__init__(n_var=n, n_obj=problem.n_objectives, xl=0, xu=n - 1, vtype=int)
        self.data = problem.data._asdict()

    def _evaluate(self, x, out, *args, **kwargs):
        cities = np.pad(np.asarray(x).astype(int) + 1, ((0, 0), (1, 1)))
        costs = self.data["costs"]
        sums = np.array([sum(cost[a, b] for a, b in zip(cities.T, cities.T[1:], strict=False)) for cost in costs]).T
        # Rounded as in our own tours: the same tour the other way round must not be better in the last bit.
        out["F"] = np.round(sums, 9) + 1e6 * self.violations(cities)[:, None]

    def violations(self, cities):
        late = np.zeros(len(cities))
        if "closes" in self.data:
            time = np.full(len(cities), self.data["opens"][0])
            for a, b in zip(cities.T, cities.T[1:-1], strict=False):
                time = time + self.data["costs"][0][a, b]
                late += time > self.data["closes"][b]
                time = np.maximum(time, self.data["opens"][b])
        return late


def operators(sampling):
    return {"crossover": OrderCrossover(), "mutation": InversionMutation(), "sampling": sampling}


def pymoo_algorithm(baseline, n_objectives, **operators):
    if isinstance(baseline, NSGA2):
        return nsga2.NSGA2(pop_size=baseline.population, n_offsprings=baseline.offspring, **operators)
    if isinstance(baseline, NSGA3):
        partitions = {2: baseline.population - 1, 3: 9}[n_objectives]
        directions = get_reference_directions("das-dennis", n_objectives, n_partitions=partitions)
        return nsga3.NSGA3(directions, baseline.population, n_offsprings=baseline.offspring, **operators)
    if isinstance(baseline, SMSEMOA):
        return sms.SMSEMOA(pop_size=baseline.population, **operators)
    partitions = {2: baseline.subproblems - 1, 3: 8}[n_objectives]
    directions = get_reference_directions("das-dennis", n_objectives, n_partitions=partitions)
    return moead.MOEAD(directions, n_neighbors=baseline.neighbours, **operators)


def plain(baseline, problem, seed, n_generations, sampling=None):
    """Return pymoo's last population, and how many evaluations led there."""
    sampling = PermutationRandomSampling() if sampling is None else sampling
    algorithm = pymoo_algorithm(baseline, problem.n_objectives, **operators(sampling))
    result = minimize(Tours(problem), algorithm, ("n_gen", n_generations), seed=seed)
    return result.pop, result.algorithm.evaluator.n_eval


def population(search):
    if isinstance(search.baseline, MOEAD):
        return search.subproblems.genes, search.subproblems.objectives
    return search.generations.genes, search.generations.objectives


def assert_same(search, pop):
    genes, objectives = population(search)
    np.testing.assert_array_equal(genes, np.array(pop.get("X")).astype(int))
    np.testing.assert_allclose(objectives, pop.get("F"), rtol=0, atol=1e-6)


def n_generations(baseline):
    return {NSGA2: 80, NSGA3: 40, SMSEMOA: 35, MOEAD: 25}[type(baseline)]


PROBLEMS = {
    "windows": generate_tsptw(12, seed=1, tightness=0.5),
    "tight windows": generate_tsptw(20, seed=2, tightness=0.8),
    "tsp": generate_tsp(15, seed=3),
    "three objectives": generate_tsp(10, seed=4, n_objectives=3),
}
# Tours without windows compile for this alone.
PAIRS = [
    pytest.param(where, baseline, id=f"{where}-{baseline.name}", marks=[pytest.mark.slow] * ("windows" not in where))
    for where, baseline in itertools.product(PROBLEMS, BASELINES)
]


@pytest.mark.parametrize(("where", "baseline"), PAIRS)
def test_the_population_is_that_of_pymoo(where, baseline):
    problem = PROBLEMS[where]
    pop, evaluations = plain(baseline, problem, 11, n_generations(baseline))
    search = baseline.start(problem, seed=11)
    search.advance(evaluations)
    assert_same(search, pop)


@pytest.mark.parametrize(
    "baseline",
    [NSGA2(population=40, offspring=9), SMSEMOA(population=30), MOEAD(subproblems=40)],
    ids=lambda baseline: baseline.name,
)
def test_playouts_as_first_population(baseline):
    problem = generate_tsptw(12, seed=6, tightness=0.7)
    playouts = baseline.start(problem, seed=2)._sampling()
    pop, evaluations = plain(baseline, problem, 2, 20, sampling=playouts)
    search = baseline.start(problem, seed=2)
    search.advance(evaluations)
    assert_same(search, pop)


@pytest.mark.parametrize(
    "baseline", [NSGA2(population=30, offspring=9, bias=0.0), SMSEMOA(population=24, bias=0.0)], ids=lambda b: b.name
)
def test_when_mating_finds_nothing_new_it_may_repeat_itself(baseline):
    problem = generate_tsptw(5, seed=1, tightness=0.3)
    algorithm = pymoo_algorithm(baseline, 2, **operators(PermutationRandomSampling()))
    algorithm.setup(Tours(problem), termination=NoTermination(), seed=4)
    search = baseline.start(problem, seed=4)
    was_exhausted = False
    for _ in range(20):
        asked = algorithm.ask()
        if asked is None:
            was_exhausted = True
            algorithm.mating.eliminate_duplicates = NoDuplicateElimination()
            asked = algorithm.ask()
        algorithm.evaluator.eval(algorithm.problem, asked)
        algorithm.tell(infills=asked)
        search.advance(len(asked))
        assert_same(search, algorithm.pop)
    assert was_exhausted


choose, mix = (njit(python_function(kernel)) for kernel in (two_of, shuffle))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 20, 30, 31, 64, 1000, 20_000])
def test_draws_are_those_of_numpy(n):
    ours, numpys = np.random.default_rng(n), np.random.default_rng(n)
    for _ in range(200):
        assert choose(ours, n) == tuple(numpys.choice(n, 2, replace=False))
        assert ours.random() == numpys.random()
    order = np.zeros(min(n, 1000), dtype=np.int64)
    for _ in range(2):
        mix(ours, order)
        assert order.tolist() == numpys.permutation(order.size).tolist()
    assert ours.bit_generator.state == numpys.bit_generator.state
