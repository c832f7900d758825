"""Plans: those that come with the package, files of one's own, and the mistakes in them."""

import json
from dataclasses import fields

import pytest

from pareto_nrpa import ParetoNRPA
from pareto_nrpa.algorithms import ParetoLocalSearch
from pareto_nrpa.algorithms.registry import NAMES, algorithm
from pareto_nrpa.errors import ParetoNRPAError
from pareto_nrpa.experiments.metric_table import METRICS
from pareto_nrpa.experiments.plan import Contender, PlanError, Run, load_plan, plan_names
from pareto_nrpa.experiments.published import all_published, published
from pareto_nrpa.experiments.runner import shard
from pareto_nrpa.routing.benchmarks import official_names
from pareto_nrpa.solving.stop import MaxCpuTime, MaxEvaluations

from .helpers import TINY, a_plan, save

SHIPPED = ["adapt", "crowding", "default-search", "emoa-bias", "equal-time", "grid", "level", "mo-tsp", "nas-101"]
SHIPPED += ["nas-201", "nas-201-3", "nas-201-unique", "same-moves", "tsptw"]
# Plans with numbers in the paper.
OF_THE_PAPER = ["adapt", "crowding", "emoa-bias", "equal-time", "grid", "level", "mo-tsp", "nas-101", "nas-201"]
OF_THE_PAPER += ["tsptw"]

HEAD = 'problems = ["mo-tsp:n=8"]\n'
BUDGET = "evaluations = 100\n"
RANDOM = '[[algorithm]]\nname = "random"\n'


def load_text(tmp_path, text):
    return load_plan(save(tmp_path, text, "own"))


def test_a_plan_may_count_each_solution_once(tmp_path):
    plan = load_text(tmp_path, 'count = "unique"\n' + HEAD + BUDGET + RANDOM)
    run = plan.runs()[0]
    assert plan.budget == "100 unique evaluations"
    assert (run.stop.evaluations, run.stop.count) == (100, "unique")
    assert run.key != load_text(tmp_path, HEAD + BUDGET + RANDOM).runs()[0].key
    assert plan.restricted(evaluations=50).runs()[0].stop.count == "unique"
    assert isinstance(plan.restricted(cpu_seconds=1.5).runs()[0].stop, MaxCpuTime)


# --- plans of the package


def test_all_plans_of_the_paper_are_there():
    assert set(SHIPPED) <= set(plan_names())


@pytest.mark.parametrize("name", plan_names())
def test_a_shipped_plan_loads_and_is_consistent(name):
    plan = load_plan(name)
    labels = [contender.label for contender in plan.contenders]
    assert plan.name == name
    assert plan.title
    assert plan.reference in labels
    assert set(plan.metrics) <= set(METRICS)
    assert set(plan.published) <= set(plan.problems)
    assert len(plan.runs()) == len(plan.problems) * len(plan.contenders) * plan.seeds
    assert set(plan.quick.get("algorithms", [])) <= set(labels)
    for problems in plan.figures.values():
        assert set(problems) <= set(plan.problems)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", plan_names())
def test_no_two_runs_of_a_shipped_plan_are_the_same(name):
    runs = load_plan(name).runs()
    assert len({run.key for run in runs}) == len(runs)


def test_the_plan_of_the_main_table_is_the_papers():
    plan = load_plan("tsptw")
    assert (plan.evaluations, plan.cpu_seconds, plan.seeds) == (100_000, None, 30)
    assert sorted(plan.problems) == sorted(official_names())
    assert len(plan.problems) == 31
    labels = [contender.label for contender in plan.contenders]
    assert labels == ["NSGA-II", "SMS-EMOA", "Pareto-MCTS", "PLS", "MOEA/D", "Pareto-NRPA"]


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_a_plan_finds_all_numbers_that_the_paper_prints_for_it(name):
    plan = load_plan(name)
    printed = [p for p in all_published() if p.plan == name]
    found = {
        (p.problem, p.algorithm, p.metric)
        for problem in plan.problems
        for contender in plan.contenders
        for metric in plan.metrics
        if (p := published(plan, problem, contender.label, metric)) is not None
    }
    assert printed, "the paper has numbers for this plan"
    assert {(p.problem, p.algorithm, p.metric) for p in printed} - found == set()


def test_a_number_of_the_paper_as_it_is_printed():
    assert published(load_plan("tsptw"), "rc_204.3", "NSGA-II", "spread").mean == 0.37
    assert published(load_plan("tsptw"), "rc_204.3", "nobody", "spread") is None


def test_a_number_that_two_tables_print_is_taken_with_its_interval():
    plan = load_plan("tsptw")
    both = [p for p in all_published() if (p.plan, p.problem, p.algorithm) == ("tsptw", "rc_204.3", "NSGA-II")]
    both = [p for p in both if p.metric == "hypervolume"]
    assert len(both) > 1
    assert published(plan, "rc_204.3", "NSGA-II", "hypervolume").interval >= 0  # not NaN


# --- what a plan comes to


def test_runs_come_seed_by_seed(tmp_path):
    runs = load_text(tmp_path, TINY).runs()
    assert [run.seed for run in runs] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert len({(run.problem, run.algorithm) for run in runs[:4]}) == 4


def test_defaults_of_a_plan(tmp_path):
    plan = load_text(tmp_path, HEAD + BUDGET + RANDOM + '[[algorithm]]\nname = "pls"\n')
    assert (plan.name, plan.title, plan.seeds, plan.layout) == ("own", "own", 30, "instances")
    assert [contender.label for contender in plan.contenders] == ["random", "pls"]
    assert plan.reference == "pls"


def test_the_stop_of_a_run():
    by_count = Run("p", "random", {}, 100, None, 0)
    by_time = Run("p", "random", {}, None, 2.5, 0)
    assert (type(by_count.stop), by_count.stop.evaluations) == (MaxEvaluations, 100)
    assert (type(by_time.stop), by_time.stop.seconds) == (MaxCpuTime, 2.5)


def test_the_key_depends_on_everything_that_matters():
    usual = {
        "problem": "p", "algorithm": "pls", "parameters": {"x": 1}, "evaluations": 9, "cpu_seconds": None, "seed": 0
    }  # fmt: skip
    others = {
        "problem": "q", "algorithm": "random", "parameters": {"x": 2}, "evaluations": 8, "cpu_seconds": 1.0, "seed": 1
    }  # fmt: skip
    keys = {Run(**usual).key, *(Run(**{**usual, name: value}).key for name, value in others.items())}
    assert len(keys) == len(others) + 1


def test_the_key_does_not_depend_on_the_order_of_parameters():
    one, two = ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert Run("p", "pls", one, 9, None, 0).key == Run("p", "pls", two, 9, None, 0).key


def test_the_key_is_a_file_name():
    key = Run("folder/with spaces/möbius:n=3,x=*?" + "x" * 300, "pls", {}, 9, None, 0).key
    assert len(key) < 120
    assert not set(key) & set('/\\:*?"<>| ,=')


def test_labels_titles_and_defaults_do_not_change_a_key(tmp_path):
    plain = load_text(tmp_path, HEAD + BUDGET + '[[algorithm]]\nname = "pareto-nrpa"\n')
    decorated = load_text(
        tmp_path,
        'title = "T"\nseeds = 3\n' + HEAD + BUDGET + '[[algorithm]]\nlabel = "L"\nname = "pareto-nrpa"\n'
        "parameters = { level = 4, alpha = 0.5, n_policies = 4 }\n",
    )
    assert decorated.contenders == (Contender("L", "pareto-nrpa", ParetoNRPA().to_dict()),)
    assert [run.key for run in plain.runs()[:3]] == [run.key for run in decorated.runs()]


def keys_of(tmp_path, name):
    return [run.key for run in load_text(tmp_path, HEAD + BUDGET + f'[[algorithm]]\nname = "{name}"\n').runs()]


@pytest.mark.parametrize("kind", [ParetoNRPA, ParetoLocalSearch])
def test_a_default_that_changes_changes_the_key(tmp_path, monkeypatch, kind):
    """Keys held what differs from the defaults: with other defaults, runs of the old ones were taken for new."""
    before = keys_of(tmp_path, kind.name)
    defaults = list(kind.__init__.__defaults__)
    place = [field.name for field in fields(kind)].index("pruning")
    defaults[place] = not defaults[place]
    monkeypatch.setattr(kind.__init__, "__defaults__", tuple(defaults))
    assert not set(before) & set(keys_of(tmp_path, kind.name))


def test_a_new_revision_of_an_algorithm_changes_the_key(tmp_path, monkeypatch):
    before = keys_of(tmp_path, "pls"), keys_of(tmp_path, "random")
    monkeypatch.setattr(ParetoLocalSearch, "revision", 2)
    assert not set(before[0]) & set(keys_of(tmp_path, "pls"))
    assert before[1] == keys_of(tmp_path, "random")


@pytest.mark.parametrize("name", NAMES)
def test_every_algorithm_has_a_revision(name):
    assert isinstance(algorithm(name).revision, int)


def test_a_parameter_that_differs_changes_the_key(tmp_path):
    keys = set()
    for level in (3, 4, 5):
        text = HEAD + BUDGET + f'[[algorithm]]\nname = "pareto-nrpa"\nparameters = {{ level = {level} }}\n'
        keys.add(load_text(tmp_path, text).runs()[0].key)
    assert len(keys) == 3


def test_a_whole_number_is_the_same_parameter_as_the_number_with_a_point(tmp_path):
    keys = set()
    for alpha in ("1", "1.0"):
        text = HEAD + BUDGET + f'[[algorithm]]\nname = "pareto-nrpa"\nparameters = {{ alpha = {alpha} }}\n'
        keys.add(load_text(tmp_path, text).runs()[0].key)
    assert len(keys) == 1


def test_whole_seconds_are_the_same_budget_as_seconds_with_a_point(tmp_path):
    """The command line gives --cpu-seconds as 60.0, a plan has it as 60: no run is made twice for that."""
    plan = load_text(tmp_path, HEAD + "cpu_seconds = 60\n" + RANDOM)
    assert plan.runs()[0].key == plan.restricted(cpu_seconds=60.0).runs()[0].key


# --- parts of a plan


def test_restricted_plans():
    plan = a_plan()
    assert plan.restricted() == plan
    assert plan.restricted(seeds=7).seeds == 7
    assert [c.label for c in plan.restricted(labels=["B"]).contenders] == ["B"]
    assert plan.restricted(problems=["third"]).problems == ("third",)
    by_time = plan.restricted(cpu_seconds=2.0)
    assert (by_time.evaluations, by_time.cpu_seconds) == (None, 2.0)


def test_a_restricted_plan_keeps_its_labels_in_the_plans_order():
    plan = a_plan(labels=("A", "B", "C"))
    assert [c.label for c in plan.restricted(labels=["C", "A"]).contenders] == ["A", "C"]


def test_restricted_plans_check_what_they_are_given():
    plan = a_plan()
    with pytest.raises(PlanError, match=r"no algorithm labelled 'C'; it has: A, B\."):
        plan.restricted(labels=["C"])
    with pytest.raises(PlanError, match="seeds must be a whole number of at least 1, got 0"):
        plan.restricted(seeds=0)
    with pytest.raises(PlanError, match="evaluations must be a whole number of at least 1, got -5"):
        plan.restricted(evaluations=-5)
    with pytest.raises(PlanError, match="cpu_seconds must be a number above 0, got nan"):
        plan.restricted(cpu_seconds=float("nan"))
    with pytest.raises(PlanError, match="not both and not neither"):
        plan.restricted(evaluations=5, cpu_seconds=1.0)


@pytest.mark.parametrize("name", plan_names())
@pytest.mark.parametrize("there", [True, False])
def test_the_quick_version_of_a_shipped_plan_is_small(name, there):
    plan = load_plan(name)
    quick = plan.small(lambda problem: there or ":" in problem)
    if there:
        assert all(problem in plan.problems or ":" in problem for problem in quick.problems)
    else:  # nothing to download
        assert all(":" in problem for problem in quick.problems)
    assert len(quick.runs()) <= 120
    assert (quick.evaluations or 0) <= 10_000
    assert (quick.cpu_seconds or 0) <= 1


def test_other_problems_are_named_in_the_title():
    """`nas-201-3 --quick` without its table ran mo-tsp under the title of NAS-Bench-201."""
    plan = load_plan("nas-201-3")
    there, missing = plan.small(lambda problem: True), plan.small(lambda problem: False)
    assert there.title == plan.title
    assert missing.title == f"mo-tsp:n=8,seed=1,objectives=3 instead of the plan's problems: {plan.title}"
    paper = load_plan("tsptw")
    assert paper.restricted(problems=["rc_204.3"]).title == paper.title
    other = paper.restricted(problems=["rc_204.3", "mo-tsp:n=9"])
    assert other.title.startswith("rc_204.3, mo-tsp:n=9 instead of the plan's problems: ")
    assert (paper.paper != "", other.paper) == (True, "")


def test_shards_are_a_partition(tmp_path):
    runs = load_text(tmp_path, TINY).runs()
    parts = [shard(runs, f"{i}/3") for i in (1, 2, 3)]
    assert sorted(run.key for part in parts for run in part) == sorted(run.key for run in runs)
    assert {len(part) for part in parts} == {2, 3}
    assert shard(runs, None) == runs
    assert shard(runs, "1/1") == runs
    assert shard(runs, "100/100") == []


@pytest.mark.parametrize("text", ["0/3", "4/3", "-1/3", "1/0", "1", "1/2/3", "a/b", "", "1.5/3"])
def test_wrong_shards(text):
    with pytest.raises(ParetoNRPAError, match="--shard must be i/n with i from 1 to n"):
        shard([], text)


# --- mistakes


def test_an_unknown_plan_lists_those_that_there_are():
    with pytest.raises(PlanError) as caught:
        load_plan("no-such-plan-at-all")
    assert all(name in str(caught.value) for name in SHIPPED)


def test_an_unknown_plan_names_the_nearest():
    with pytest.raises(PlanError, match="did you mean 'crowding'"):
        load_plan("crowdin")


MISTAKES = {
    "misspelt key": ("evalutions = 100\n" + HEAD + RANDOM, "unknown key 'evalutions' \\(did you mean 'evaluations'"),
    "foreign key": ("zzz = 100\n" + HEAD + BUDGET + RANDOM, "unknown key 'zzz'; it knows: .*problems"),
    "a key as long as a page": ("z" * 5000 + " = 1\n" + HEAD + BUDGET + RANDOM, "key 'zz.{,40}'; it knows: .*problems"),
    "a parameter as long as a page": (
        HEAD + BUDGET + '[[algorithm]]\nname = "nsga-ii"\nparameters = { ' + "z" * 5000 + " = 1 }\n",
        "nsga-ii has no parameter 'z.{,100}; it takes: bias",
    ),
    "misspelt key of an algorithm": (
        HEAD + BUDGET + RANDOM + "parametres = { bias = 1.0 }\n",
        "unknown key 'parametres' \\(did you mean 'parameters'",
    ),
    "misspelt key of quick": (
        HEAD + BUDGET + "[quick]\nseds = 3\n" + RANDOM,
        "quick of plan .*own.toml has an unknown key 'seds' \\(did you mean 'seeds'",
    ),
    "misspelt algorithm": (
        HEAD + BUDGET + '[[algorithm]]\nname = "nsga-i"\n',
        "unknown algorithm 'nsga-i' .*'nsga-ii'.*there are: polished-nrpa",
    ),
    "misspelt parameter": (
        HEAD + BUDGET + '[[algorithm]]\nname = "nsga-ii"\nparameters = { populaton = 10 }\n',
        "nsga-ii has no parameter 'populaton' .*'population'",
    ),
    "value of a parameter": (
        HEAD + BUDGET + '[[algorithm]]\nname = "nsga-ii"\nparameters = { population = 0 }\n',
        "population must be",
    ),
    "no name": (HEAD + BUDGET + '[[algorithm]]\nlabel = "x"\n', "has no name"),
    "no budget": (HEAD + RANDOM, "either evaluations or cpu_seconds"),
    "two budgets": ("cpu_seconds = 3\n" + HEAD + BUDGET + RANDOM, "either evaluations or cpu_seconds"),
    "no problems": (BUDGET + RANDOM, "needs problems"),
    "an empty list of problems": ("problems = []\n" + BUDGET + RANDOM, "needs problems"),
    "problems that are no list": ('problems = "rc_204.3"\n' + BUDGET + RANDOM, "problems of .* must be a list"),
    "no algorithm": (HEAD + BUDGET, "needs algorithm"),
    "algorithms that are names": (
        'algorithm = ["random"]\n' + HEAD + BUDGET,
        "algorithm of plan .*own.toml must be a list of tables",
    ),
    "one pair of brackets": (HEAD + BUDGET + '[algorithm]\nname = "random"\n', "algorithm of .* must be a list"),
    "equal labels": (HEAD + BUDGET + RANDOM + RANDOM, "two algorithms with the same label: random, random"),
    "layout": ('layout = "circle"\n' + HEAD + BUDGET + RANDOM, "layout of plan .*own.toml must be one of instances"),
    "a count of something else": (
        'count = "some"\n' + HEAD + BUDGET + RANDOM,
        """count of plan .*own.toml must be "all" or "unique", got 'some'""",
    ),
    "unique evaluations in some time": (
        'count = "unique"\ncpu_seconds = 3\n' + HEAD + RANDOM,
        "needs evaluations as its budget, not cpu_seconds",
    ),
    "unique evaluations and a curve": (
        'count = "unique"\ncurve = [10]\n' + HEAD + BUDGET + RANDOM,
        "curve of plan .*own.toml is by all evaluations",
    ),
    "seeds as text": ('seeds = "3"\n' + HEAD + BUDGET + RANDOM, "seeds must be a whole number of at least 1, got '3'"),
    "no seeds": ("seeds = 0\n" + HEAD + BUDGET + RANDOM, "seeds must be a whole number of at least 1, got 0"),
    "true seeds": ("seeds = true\n" + HEAD + BUDGET + RANDOM, "seeds must be .*got True"),
    "fractional budget": ("evaluations = 1.5\n" + HEAD + RANDOM, "evaluations must be .*got 1.5"),
    "no time": ("cpu_seconds = 0\n" + HEAD + RANDOM, "cpu_seconds must be a number above 0, got 0"),
    "misspelt metric": ('metrics = ["hypervolum"]\n' + HEAD + BUDGET + RANDOM, "'hypervolum' .*'hypervolume'"),
    "misspelt reference": ('reference = "randon"\n' + HEAD + BUDGET + RANDOM, "'randon' .*'random'"),
    "misspelt figure": (HEAD + BUDGET + '[figures]\nfrontz = ["mo-tsp:n=8"]\n' + RANDOM, "'frontz' .*'fronts'"),
    "the same problem twice": ('problems = ["mo-tsp:n=8", "mo-tsp:n=8"]\n' + BUDGET + RANDOM, "lists a problem twice"),
    "a curve that falls": ("curve = [500, 200]\n" + HEAD + BUDGET + RANDOM, "curve of plan .*own.toml must be rising"),
    "a curve of text": (
        'curve = ["all"]\n' + HEAD + BUDGET + RANDOM,
        "curve of plan .* must be rising",
    ),
    "too many seeds": ("seeds = 100_000\n" + HEAD + BUDGET + RANDOM, "seeds must be at most 10,000, got 100000"),
    "endless evaluations": (f"evaluations = {10**25}\n" + HEAD + RANDOM, "evaluations must be at most 1,000,000"),
    "endless seconds": ("cpu_seconds = inf\n" + HEAD + RANDOM, "cpu_seconds must be at most .*, got inf"),
    "a number of too many digits": ("seeds = " + "9" * 5000 + "\n" + HEAD + BUDGET + RANDOM, "is not TOML"),
    "lists in lists": ("x = " + "[" * 5000 + "\n" + HEAD + BUDGET + RANDOM, "nested too deep"),
    "a grid of others": (
        'layout = "grid"\n' + HEAD + BUDGET + RANDOM,
        'is "grid", of n_policies by alpha; random has no such parameters',
    ),
    "a long list": (
        "problems = [" + "1, " * 9999 + "]\n" + BUDGET + RANDOM,
        "must be a list of texts.*, got .*[.][.][.]",
    ),
    "not TOML": ("problems = [", "plan .*own.toml is not TOML"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_plan_file_is_named(tmp_path, mistake):
    text, words = MISTAKES[mistake]
    with pytest.raises(ValueError, match=words) as caught:
        load_text(tmp_path, text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) <= 600


# Values of the wrong kind.
WRONG_KINDS = {
    "figures that are no table": ("figures = 3\n" + HEAD + BUDGET + RANDOM, "figures of .* must be a table .*got 3"),
    "figures that are no lists": (
        HEAD + BUDGET + '[figures]\nfronts = "mo-tsp:n=8"\n' + RANDOM,
        "figures of .* lists of texts, got {'fronts': 'mo-tsp:n=8'}",
    ),
    "quick that is no table": ("quick = 3\n" + HEAD + BUDGET + RANDOM, "quick of .* must be a table, got 3"),
    "quick problems that are no list": (
        HEAD + BUDGET + '[quick]\nproblems = "mo-tsp:n=8"\n' + RANDOM,
        "problems of quick of .* must be a list .*got 'mo-tsp:n=8'",
    ),
    "problems that are numbers": ("problems = [3]\n" + BUDGET + RANDOM, r"problems of .* texts in quotes, got \[3\]"),
    "metrics that are no list": ('metrics = "spread"\n' + HEAD + BUDGET + RANDOM, "metrics of .* list .*'spread'"),
    "a title that is a number": ("title = 3\n" + HEAD + BUDGET + RANDOM, "title of .* must be a text .*got 3"),
    "a layout that is a list": ("layout = []\n" + HEAD + BUDGET + RANDOM, r"layout of .* must be a text .*got \[\]"),
    "a name that is a number": (HEAD + BUDGET + "[[algorithm]]\nname = 3\n", "name of algorithm of .*got 3"),
    "parameters that are no table": (
        HEAD + BUDGET + RANDOM + "parameters = 3\n",
        "parameters of algorithm of .* must be a table, got 3",
    ),
    "a label that is a number": (HEAD + BUDGET + RANDOM + "label = 3\n", "label of algorithm of .*got 3"),
    "published that is no table": ("published = 3\n" + HEAD + BUDGET + RANDOM, "published of .* table .*got 3"),
}


@pytest.mark.parametrize("mistake", WRONG_KINDS)
def test_a_value_of_the_wrong_kind_is_named_when_the_plan_is_read(tmp_path, mistake):
    text, words = WRONG_KINDS[mistake]
    with pytest.raises(PlanError, match=words) as caught:
        load_text(tmp_path, text)
    assert "own.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


QUICK_MISTAKES = ['algorithms = ["randon"]', 'seeds = "few"', "evaluations = 0", "problems = []"]
QUICK_MISTAKES += ["evaluations = 5\ncpu_seconds = 3"]


@pytest.mark.parametrize("quick", QUICK_MISTAKES)
def test_a_mistake_in_the_quick_version_is_named(tmp_path, quick):
    with pytest.raises(PlanError, match=r"randon|few|evaluations must be|at least one entry|not both"):
        load_text(tmp_path, HEAD + BUDGET + f"[quick]\n{quick}\n" + RANDOM).small(lambda problem: True)


def test_a_plan_file_that_is_no_text(tmp_path):
    path = tmp_path / "own.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PlanError, match="cannot read the plan"):
        load_plan(str(path))


def test_runs_are_plain_values(tmp_path):
    run = load_text(tmp_path, TINY).runs()[0]
    assert Run(**json.loads(json.dumps(run.to_dict()))) == run
