"""`pareto-nrpa certify`: what it proves, prints, saves, checks and refuses."""

import json

import pytest

from pareto_nrpa.routing import generate_tsptw
from pareto_nrpa.routing.exact import Certificate
from pareto_nrpa.routing.exact import certificate as certificates

from ..helpers.command_line import assert_refused, interrupted, read

pytestmark = pytest.mark.usefixtures("empty_machine")

TOY = "tsptw:n=8,seed=3"
# No short proof.
ENDLESS = "tsptw:n=45,seed=3,tightness=0"


@pytest.fixture
def saved(run):
    """A certificate of the toy instance."""
    assert run("certify", TOY, "--json", "c.json", "--quiet").code == 0
    return "c.json"


def test_it_proves_prints_and_saves(run):
    outcome = run("certify", TOY, "--json", "out/c.json", "--memory", 0.5)
    assert outcome.code == 0
    content = read("out/c.json")
    assert content["proved"] and content["status"] == certificates.PROVED
    assert {"objectives", "solutions", "open_boxes", "gap", "cpu_seconds"} <= content.keys()
    n = len(content["objectives"])
    assert f"proved complete. There are {n} efficient objective vectors and no others" in outcome.out
    assert "f1" in outcome.out and f"{content['objectives'][0][0]:.6g}" in outcome.out
    assert "saved to out/c.json" in outcome.out
    assert "below about 0.5 GB of memory" in outcome.err


def test_a_proof_that_is_not_finished_says_what_is_open(run):
    outcome = run("certify", ENDLESS, "--seconds", 1.5, "--json", "c.json")
    assert outcome.code == 0
    assert "not finished, stopped by the time limit" in outcome.out
    assert "still open" in outcome.out and "of the hypervolume is missing" in outcome.out
    content = read("c.json")
    assert not content["proved"]
    assert content["open_boxes"] and 0 < content["gap"] <= 1
    assert "Not verified: the lower bounds of what is open" in run("certify", ENDLESS, "--check", "c.json").out


def test_a_proof_continues_from_its_certificate(run):
    run("certify", ENDLESS, "--seconds", 1.5, "--json", "c.json", "--quiet")
    before = read("c.json")
    outcome = run("certify", ENDLESS, "--resume", "c.json", "--seconds", 1.5, "--json", "c.json")
    assert outcome.code == 0
    assert "not finished" in outcome.out
    assert read("c.json")["wall_seconds"] > before["wall_seconds"] + 1
    assert read("c.json")["gap"] <= before["gap"] + 1e-9


@pytest.mark.parametrize("damage, words", [
    (lambda r: r["objectives"][0].__setitem__(0, 1.0), r"tour 1 of the incumbent costs \(.*\), not \(1, "),
    (lambda r: r["solutions"][0].pop(), "tour 1 of the incumbent must visit each of the cities 1 to 7 once"),
    (lambda r: r.__setitem__("violations", [1] * len(r["violations"])), "the incumbent has no feasible tour"),
    (lambda r: r.pop("objectives"), "is not a result of pareto-nrpa, or is damaged"),
])  # fmt: skip
def test_a_wrong_incumbent_is_refused(run, damage, words):
    run("solve", TOY, "--evaluations", 300, "--json", "r.json", "--quiet")
    content = read("r.json")
    damage(content)
    with open("r.json", "w") as file:
        json.dump(content, file)
    assert_refused(run("certify", TOY, "--from", "r.json", "--quiet"), words)


@pytest.mark.parametrize("options, words", [
    (["--seconds", 0], "--seconds must be a number above 0, got 0"),
    (["--memory", 0.01], r"--memory must be at least 0\.1 \(gigabytes\), got 0\.01"),
    (["--workers", 0], "--workers must be at least 1, got 0"),
    (["--seed", -1], "seed must be a whole number of at least 0"),
    (["--from", "nothing.json"], "cannot read nothing.json"),
    (["--check", "c.json", "--resume", "c.json"], "--check only verifies"),
    (["--check", "c.json", "--json", "d.json"], "--check only verifies"),
])  # fmt: skip
def test_wrong_options_are_refused(run, options, words):
    assert_refused(run("certify", TOY, *options), words)


def test_other_problems_are_refused(run):
    assert_refused(run("certify", "mo-tsp:n=8,seed=1"), "certify proves travelling salesman problems with time windows")
    assert_refused(
        run("certify", "tsptw:n=60,seed=1,tightness=0"), "certify takes at most 57 cities that can be visited"
    )
    assert_refused(run("certify", "tsptw:n=8,seed=1,objectives=3"), "certify takes one or two costs")


def test_a_certificate_is_checked(run, saved):
    outcome = run("certify", TOY, "--check", saved)
    assert outcome.code == 0
    says, verified, rest = outcome.out.splitlines()
    assert says.startswith("It states: ") and "proved complete" in says
    assert "feasible" in verified and "none is as good as another" in verified
    assert "there is no other efficient tour in any of its" in verified
    assert rest == "Not verified: nothing: the intervals are all that there is."
    assert run("certify", TOY, "--check", saved, "--quiet").out == ""


def test_a_certificate_without_intervals_says_that_they_are_missing(run, saved):
    Certificate.load(saved).without_groups().save(saved)
    assert "no other efficient tours, as the file has no intervals" in run("certify", TOY, "--check", saved).out


def test_a_certificate_that_misses_a_tour_or_an_interval_is_refused(run, saved):
    content = read(saved)
    for lines, words in (
        ("objectives solutions", "there is a tour with"),
        ("groups", "no interval of the certificate"),
    ):
        with open("wrong.json", "w") as file:
            json.dump({**content, **{name: content[name][1:] for name in lines.split()}}, file)
        assert_refused(run("certify", TOY, "--check", "wrong.json", "--quiet"), words)


def test_workers_give_the_same_certificate_and_verify_it(run, saved):
    assert run("certify", TOY, "--workers", 2, "--json", "w.json", "--quiet").code == 0
    one, two = read(saved), read("w.json")
    assert {name for name in one if one[name] != two[name]} <= {"cpu_seconds", "wall_seconds"}
    assert "Not verified: nothing" in run("certify", TOY, "--check", "w.json", "--workers", 2).out


def test_a_certificate_of_other_data_is_refused(run, saved):
    assert_refused(run("certify", "tsptw:n=8,seed=4", "--check", saved), "the certificate is for other data")


def test_a_false_certificate_is_refused(run, saved):
    content = read(saved)
    content["objectives"][0][1] -= 0.5
    with open(saved, "w") as file:
        json.dump(content, file)
    assert_refused(run("certify", TOY, "--check", saved), "tour 1 of the certificate costs")


def test_ctrl_c_ends_early_and_keeps_what_is_proved():
    # The limit of a minute is only there so that a broken test ends.
    out = interrupted("certify", ENDLESS, "--seconds", 60, "--json", "c.json", sign=b" labels, ")
    assert b"stopped by Ctrl-C" in out
    certificate = Certificate.load("c.json")
    assert certificate.stopped_by == "Ctrl-C"
    assert not certificate.proved
    assert certificate.instance == generate_tsptw(45, seed=3, tightness=0).name


def test_solve_tells_how_much_can_be_missing(run):
    assert "and no others" in run("solve", TOY, "--evaluations", 200, "--bound", 60).out
    assert "of the hypervolume is missing" in run("solve", ENDLESS, "--evaluations", 200, "--bound", 1).out


def test_a_bound_that_cannot_be_proved_is_refused_before_the_search(run):
    words = "certify proves travelling salesman problems with time windows"
    assert_refused(run("solve", "mo-tsp:n=8,seed=1", "--bound", 5), words)
    assert_refused(run("solve", TOY, "--bound", 0), "time_limit must be a number of seconds above 0")
