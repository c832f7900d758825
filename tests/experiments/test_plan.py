"""Plans: those that come with the package, files of one's own, and the mistakes in them."""

import inspect

import pytest

from pareto_nrpa import ParetoNRPA
from pareto_nrpa.algorithms import ParetoLocalSearch
from pareto_nrpa.errors import ParetoNRPAError
from pareto_nrpa.experiments.plan import PlanError, Run, load_plan, plan_names
from pareto_nrpa.experiments.runner import shard
from pareto_nrpa.routing.benchmarks import official_names

from .helpers import TINY, a_plan, save

# Plans with numbers in the paper, and others.
OF_THE_PAPER = {
    "adapt",
    "crowding",
    "emoa-bias",
    "equal-time",
    "grid",
    "level",
    "mo-tsp",
    "nas-101",
    "nas-201",
    "tsptw",
}
OTHERS = {"default-search", "nas-201-3", "nas-201-unique", "same-moves"}

HEAD = 'problems = ["mo-tsp:n=8"]\n'
BUDGET = "evaluations = 100\n"
RANDOM = '[[algorithm]]\nname = "random"\n'


def load_text(tmp_path, text):
    return load_plan(save(tmp_path, text, "own"))


# --- plans of the package


@pytest.mark.parametrize("name", sorted(OF_THE_PAPER | OTHERS))
def test_a_shipped_plan_loads_is_consistent_and_has_a_small_quick_version(name):
    plan = load_plan(name)
    assert (plan.name, plan.title != "") == (name, True)
    assert set(plan.published) <= set(plan.problems)
    assert len({run.key for run in plan.runs()}) == len(plan.problems) * len(plan.contenders) * plan.seeds
    for kind in plan.figures.__struct_fields__:
        assert set(getattr(plan.figures, kind)) <= set(plan.problems)
    for there in (True, False):
        quick = plan.small(lambda problem, there=there: there or ":" in problem)
        assert all(":" in problem or (there and problem in plan.problems) for problem in quick.problems)
        assert len(quick.runs()) <= 120
        assert (quick.evaluations or 0) <= 10_000 and (quick.cpu_seconds or 0) <= 1


def test_all_plans_are_there_and_the_main_table_is_the_papers():
    assert set(plan_names()) == OF_THE_PAPER | OTHERS
    plan = load_plan("tsptw")
    assert (plan.evaluations, plan.cpu_seconds, plan.seeds) == (100_000, None, 30)
    assert sorted(plan.problems) == sorted(official_names())
    assert plan.labels == ["NSGA-II", "SMS-EMOA", "Pareto-MCTS", "PLS", "MOEA/D", "Pareto-NRPA"]


# --- runs


def test_keys_stay_what_they_are():
    """Stored runs are found by them: a change makes all of them anew."""
    found = [load_plan(name).runs()[-1].key for name in ("tsptw", "equal-time", "nas-201-unique")]
    assert found == [
        "rc_201.3-pareto-nrpa-seed29-20d27ea0062a",
        "rc_204.1-pareto-nrpa-seed9-0283ac244aaa",
        "nas-bench-201-pareto-nrpa-seed29-e4dd6dafd01c",
    ]


def test_a_plan_of_ones_own_with_its_defaults(tmp_path):
    plan = load_text(tmp_path, HEAD + BUDGET + RANDOM + '[[algorithm]]\nname = "pls"\n')
    assert (plan.name, plan.title, plan.seeds, plan.layout) == ("own", "own", 30, "instances")
    assert (plan.labels, plan.reference) == (["random", "pls"], "pls")
    runs = load_text(tmp_path, TINY).runs()
    assert [run.seed for run in runs] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert len({(run.problem, run.algorithm) for run in runs[:4]}) == 4


def test_the_key_depends_on_everything_that_matters_and_is_a_file_name():
    usual = {"problem": "p", "algorithm": "pls", "parameters": {"a": 1, "b": 2}, "evaluations": 9, "cpu_seconds": None}
    others = {"problem": "q", "algorithm": "random", "parameters": {"a": 2}, "evaluations": 8, "cpu_seconds": 1.0}
    keys = {Run(**usual, seed=0).key, Run(**usual, seed=1).key, Run(**usual, seed=0, revision=2).key}
    keys |= {Run(**{**usual, name: value}, seed=0).key for name, value in others.items()}
    assert len(keys) == len(others) + 3
    assert Run(**{**usual, "parameters": {"b": 2, "a": 1}}, seed=0).key in keys
    key = Run("folder/with spaces/möbius:n=3,x=*?" + "x" * 300, "pls", {}, 9, None, 0).key
    assert len(key) < 120
    assert not set(key) & set('/\\:*?"<>| ,=')


def keys_of(tmp_path, name, parameters=""):
    text = f'[[algorithm]]\nname = "{name}"\nparameters = {{ {parameters} }}\n'
    return [run.key for run in load_text(tmp_path, HEAD + BUDGET + text).runs()]


@pytest.mark.parametrize("kind", [ParetoNRPA, ParetoLocalSearch])
def test_a_default_that_changes_changes_the_key(tmp_path, monkeypatch, kind):
    """Keys held what differs from the defaults: with other defaults, runs of the old ones were taken for new."""
    before = keys_of(tmp_path, kind.name)
    positional = [p for p in inspect.signature(kind).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    names = [p.name for p in positional if p.default is not p.empty]
    defaults, in_words = list(kind.__init__.__defaults__), dict(kind.__init__.__kwdefaults__ or {})
    if "pruning" in in_words:
        monkeypatch.setitem(kind.__init__.__kwdefaults__, "pruning", not in_words["pruning"])
    else:
        place = names.index("pruning")
        defaults[place] = not defaults[place]
        monkeypatch.setattr(kind.__init__, "__defaults__", tuple(defaults))
    assert not set(before) & set(keys_of(tmp_path, kind.name))


# --- parts of a plan


def test_restricted_plans():
    plan = a_plan(labels=("A", "B", "C"))
    assert plan.restricted() == plan
    assert plan.restricted(seeds=7).seeds == 7
    assert plan.restricted(labels=["C", "A"]).labels == ["A", "C"]
    assert plan.restricted(labels=["A"]).reference == "A"
    assert plan.restricted(problems=["third"]).problems == ("third",)
    by_time = plan.restricted(cpu_seconds=2.0)
    assert (by_time.evaluations, by_time.cpu_seconds) == (None, 2.0)
    with pytest.raises(PlanError, match=r"no algorithm labelled 'D'; it has: A, B, C\."):
        plan.restricted(labels=["D"])
    for others, words in (
        ({"seeds": 0}, "seeds must be a whole number of at least 1, got 0"),
        ({"evaluations": -5}, "evaluations must be a whole number of at least 1, got -5"),
        ({"cpu_seconds": 0.0}, "cpu_seconds must be a finite number above 0, got 0.0"),
        ({"evaluations": 5, "cpu_seconds": 1.0}, "budget must be either evaluations or cpu_seconds, got both"),
    ):
        with pytest.raises(ValueError, match=words):
            plan.restricted(**others)


@pytest.mark.parametrize("text", ["0/3", "4/3", "1/0", "1", "1/2/3", "a/b", "", "1.5/3"])
def test_wrong_shards(text):
    with pytest.raises(ParetoNRPAError, match="--shard must be i/n with i from 1 to n"):
        shard([], text)
    assert (shard([1, 2], None), shard([1, 2], "1/1"), shard([1, 2], "9/9")) == ([1, 2], [1, 2], [])


# --- mistakes

NSGA = HEAD + BUDGET + '[[algorithm]]\nname = "nsga-ii"\nparameters = '
MISTAKES = {
    "misspelt key": ("evalutions = 100\n" + HEAD + RANDOM, "not a known field .did you mean 'evaluations'"),
    "a name": ('name = "x"\n' + HEAD + BUDGET + RANDOM, "must not have the key name"),
    "algorithm": (HEAD + BUDGET + '[[algorithm]]\nname = "nsga-i"\n', r"algorithm\[0\]: unknown algorithm 'nsga-i' .*"),
    "parameter": (NSGA + "{ populaton = 10 }\n", "nsga-ii has no parameter 'populaton' .*'population'"),
    "value of a parameter": (NSGA + "{ population = 0 }\n", "population must be"),
    "no budget": (HEAD + RANDOM, "either evaluations or cpu_seconds, got neither"),
    "equal labels": (HEAD + BUDGET + RANDOM + RANDOM, "labels of algorithms must differ, got random, random"),
    "layout": ('layout = "circle"\n' + HEAD + BUDGET + RANDOM, "one of instances, metrics, grid, got 'circle'"),
    "a count": ('count = "some"\n' + HEAD + BUDGET + RANDOM, "count must be one of all, unique, got 'some'"),
    "unique by time": ('count = "unique"\ncpu_seconds = 3\n' + HEAD + RANDOM, 'count = "unique" needs evaluations'),
    "unique and a curve": ('count = "unique"\ncurve = [10]\n' + HEAD + BUDGET + RANDOM, "needs .* no curve"),
    "misspelt metric": ('metrics = ["hypervolum"]\n' + HEAD + BUDGET + RANDOM, "'hypervolume'.*, got 'hypervolum'"),
    "misspelt reference": ('reference = "randon"\n' + HEAD + BUDGET + RANDOM, "reference must be .*'random'.*'randon'"),
    "a problem twice": ('problems = ["a", "a"]\n' + BUDGET + RANDOM, "problems must differ, got one twice"),
    "a curve that falls": ("curve = [500, 200]\n" + HEAD + BUDGET + RANDOM, "curve must be rising numbers"),
    "a grid of others": ('layout = "grid"\n' + HEAD + BUDGET + RANDOM, "needs n_policies and alpha, got random"),
    "not TOML": ("problems = [", "own.toml is not a plan"),
    "labels of quick": (HEAD + BUDGET + '[quick]\nalgorithms = ["randon"]\n' + RANDOM, "quick .*'randon'"),
    "budget of quick": (HEAD + BUDGET + "[quick]\nevaluations = 5\ncpu_seconds = 3\n" + RANDOM, "quick: .*both"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_plan_file_is_named(tmp_path, mistake):
    text, words = MISTAKES[mistake]
    with pytest.raises(PlanError, match=words) as caught:
        load_text(tmp_path, text)
    assert "own.toml" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) <= 600


def test_a_plan_that_cannot_be_read(tmp_path):
    with pytest.raises(PlanError, match=r"there are: adapt, .*tsptw; or give a TOML file"):
        load_plan("no-such-plan-at-all")
    with pytest.raises(PlanError, match="did you mean 'crowding'"):
        load_plan("crowdin")
    path = tmp_path / "own.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PlanError, match=r"own\.toml is not a plan"):
        load_plan(str(path))
