"""Damaged files of results, certificates and routes: each is read, or refused in one sentence."""

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pareto_nrpa import ParetoNRPAError, Result, load
from pareto_nrpa.result.reference import with_reference_front
from pareto_nrpa.routing import generate_tsptw, itineraries
from pareto_nrpa.routing.exact import Certificate
from pareto_nrpa.routing.exact.proofs import PROOFS, read_proofs

from .helpers.results import make_plan, tours
from .routing.exact.instances import CtrlC, answer, brute_force, instance
from .routing.test_formats import vroom

DEEP = "[" * 100_000 + "]" * 100_000
VALUES = ["null", "true", "-1", "NaN", "1e400", "-Infinity", "9" * 5_000, DEEP, '""', '"x"', "[]", "{}", "[[1]]"]
BYTES = [b"", b"\x00", b"\xff\xfe", b'"', b"[", b"}", b",", b"9" * 20, b"NaN", b"1e400", b"\n", "\u0661\u2028".encode()]
PLACE = st.integers(0, 10**9)  # in something of any length
PROVED = PROOFS.read_bytes().splitlines()[0]


@cache
def saved_result():
    return json.dumps(tours(make_plan(6), vehicles=2, n_solutions=4).to_dict()).encode()


@cache
def open_certificate():
    problem = instance("loose", 3, 8)
    interrupted = answer(problem, brute_force(problem), n_tours=1, on_progress=CtrlC(30))
    assert not interrupted.proved
    return json.dumps(interrupted.to_dict()).encode()


def read_front(path):
    return with_reference_front(generate_tsptw(6, seed=1), path)


#: What a good file has, and what reads it.
KINDS = {
    "result": (saved_result, Result.load),
    "proved certificate": (lambda: PROVED, Certificate.load),
    "open certificate": (open_certificate, Certificate.load),
    "line of proofs": (lambda: PROVED, read_proofs),
    "reference front": (saved_result, read_front),
    "routes": (saved_result, lambda path: itineraries(Result.load(path))),
    "VROOM": (lambda: vroom().encode(), load),
}


def refusal(read, content):
    """Return the sentence with which a file is refused, none if it is read."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "file.json")
        path.write_bytes(content)
        try:
            read(path)
        except ParetoNRPAError as error:
            assert str(error).endswith(".") and "\n" not in str(error) and len(str(error)) < 500, str(error)[:500]
            return str(error)
        return ""


def replaced(content, places, value):
    """Return JSON in which the value at the end of a way of places is another text."""
    tree = json.loads(content)
    holder, key = {"tree": tree}, "tree"
    for place in places:
        inner = holder[key]
        if not isinstance(inner, dict | list) or not inner:
            break
        holder, key = inner, sorted(inner)[place % len(inner)] if isinstance(inner, dict) else place % len(inner)
    holder[key] = "another value"
    return json.dumps(tree).replace('"another value"', value).encode()


@pytest.mark.parametrize("kind", KINDS)
@given(places=st.lists(PLACE, min_size=1, max_size=5), value=st.sampled_from(VALUES))
def test_a_file_with_a_wrong_value_is_read_or_refused(kind, places, value):
    make, read = KINDS[kind]
    refusal(read, replaced(make(), places, value))


@pytest.mark.parametrize("kind", KINDS)
@given(begin=PLACE, length=st.integers(0, 40) | st.none(), other=st.sampled_from(BYTES))
def test_a_file_with_wrong_bytes_or_a_cut_one_is_read_or_refused(kind, begin, length, other):
    make, read = KINDS[kind]
    content = make()
    begin %= len(content)
    refusal(read, content[:begin] + other + (b"" if length is None else content[begin + length :]))


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"VROOM"}))
def test_a_file_without_a_front_is_refused(kind):
    make, read = KINDS[kind]
    assert refusal(read, make()) == ""
    place = sorted(json.loads(make())).index("objectives")
    assert all(refusal(read, replaced(make(), [place], value)) for value in VALUES)
    assert all(refusal(read, make()[:length]) for length in range(1, len(make()) - 1, 997))
