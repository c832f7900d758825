"""What is on disk: every result at once, nothing lost by a kill, nothing of another search taken for ours."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pareto_nrpa import MaxEvaluations, ParetoNRPA, ParetoNRPAError
from pareto_nrpa.errors import CheckpointError
from pareto_nrpa.parallel.evaluations.journal import Journal, line_sum

from ...helpers.command_line import wait_until
from . import problems
from .problems import Here
from .test_solve_expensive import expensive, found, solved

ROOT = Path(__file__).parent.parent.parent.parent


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.jsonl"


def without_sums(path):
    """Return the lines of a journal, to be changed and written with other sums."""
    return [{k: v for k, v in json.loads(line).items() if k != "sum"} for line in path.read_text().splitlines()]


def write(path, lines):
    """Write lines, with a sum where they have none."""
    path.write_text("".join(json.dumps({**line, "sum": line.get("sum", line_sum(line))}) + "\n" for line in lines))


def results_in(path):
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]


def test_a_journal_has_what_the_search_is_and_a_line_per_evaluation(path):
    result = solved(problems.Raises(), journal=path)
    header = json.loads(path.read_text().splitlines()[0])
    assert (header["instance"], header["seed"], header["lookahead"], header["budget"]) == ("Raises", 3, 8, 50)
    lines = results_in(path)
    assert len(lines) == len({tuple(line["solution"]) for line in lines}) == 50
    assert sum("error" in line for line in lines) == result.failures
    for line in lines:
        if "error" not in line:
            assert tuple(line["objectives"]) == problems.Row().objectives(tuple(line["solution"]))


@pytest.mark.parametrize(("n_lines", "rest"), [(1, "\x00\x00\x00"), (20, '{"solution": [1, 2'), (50, ""), (51, "")])
def test_whatever_was_written_before_a_crash_the_result_is_that_of_one_run(path, n_lines, rest):
    expected = found(solved(problems.Raises(), journal=path))
    whole = path.read_text().splitlines(keepends=True)
    path.write_text("".join(whole[:n_lines]) + rest)
    here = Here()
    assert found(solved(problems.Raises(), journal=path, resume=True, executor=here)) == expected
    assert len(here.submitted) == 51 - n_lines
    assert {json.dumps(line["solution"]) for line in results_in(path)} == {
        json.dumps(json.loads(line)["solution"]) for line in whole[1:]
    }


def test_after_a_fix_the_results_can_be_kept_and_the_failures_tried_again(path):
    solved(problems.Raises(), journal=path)
    problem = problems.Row()  # Raises, corrected
    with pytest.raises(CheckpointError, match=r"is of another problem \(Raises\), or the code or data .* same_problem"):
        solved(problem, journal=path, resume=True)
    options = {"journal": path, "resume": True, "retry_failed": True, "same_problem": True}
    assert found(solved(problem, **options)) == found(solved(problem))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"seed": 4}, "was made with seed=3, not 4; use that, or another file"),
        ({"lookahead": 9}, "was made with lookahead=8, not 9"),
        ({"algorithm": ParetoNRPA(level=3)}, "was made with level=2, not 3"),
        ({"algorithm": ParetoNRPA(level=2, alpha=1)}, "was made with alpha=0.5, not 1.0"),
    ],
)
def test_the_journal_of_another_search_is_refused(path, options, sentence):
    solved(problems.Row(), journal=path)
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=sentence):
        solved(problems.Row(), journal=path, resume=True, **options)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"important\nnotes\n", b"PK\x03\x04 no line at all", b"{}\n", b"[1]\n", b"7\n"])
def test_a_file_that_is_no_journal_stays_as_it_is(path, content):
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"is not (a|one of a) journal of pareto-nrpa"):
        solved(problems.Row(), journal=path, resume=True)
    assert path.read_bytes() == content


@pytest.mark.parametrize("line", ["nonsense", '{"solution": [1]}', '{"solution": [1], "seconds": 1}', "[]"])
def test_a_damaged_line_is_named(path, line):
    solved(problems.Row(), journal=path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:5], line, *lines[5:]]) + "\n")
    with pytest.raises(CheckpointError, match=r"line 6 of the journal .* take it out, or name another file"):
        solved(problems.Row(), journal=path, resume=True)


@pytest.mark.parametrize(
    "change",
    [
        {"objectives": [1.0]},
        {"objectives": [1.0, float("nan")]},
        {"violations": -1},
        {"error": ""},
        {"seconds": -1},
        {"elapsed": float("inf")},
        {"solution": [{"a": 1}]},
    ],
    ids=str,
)
def test_a_line_that_says_what_cannot_be_is_refused(path, change):
    solved(problems.Row(), journal=path)
    lines = without_sums(path)
    write(path, [*lines[:3], {**lines[3], **change}, *lines[4:]])
    with pytest.raises(CheckpointError, match=r"(line 4 of the journal|has 1 objectives, not 2).*name another file"):
        solved(problems.Row(), journal=path, resume=True)


@pytest.mark.parametrize("number", [0, 3])
def test_a_changed_line_is_noticed_by_its_sum(path, number):
    solved(problems.Row(), journal=path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0]["seed"] += number == 0
    lines[3]["objectives"][0] += number == 3
    write(path, lines)
    with pytest.raises(CheckpointError, match=f"line {number + 1} of the journal .* was changed; take it out"):
        solved(problems.Row(), journal=path, resume=True)


def test_two_processes_do_not_write_to_one_journal(path):
    first = Journal(path)
    with pytest.raises(CheckpointError, match="another process is writing to the checkpoint"):
        Journal(path)
    first.close()
    Journal(path).close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full, as on Linux")
def test_a_full_disk_is_a_sentence_with_the_front_so_far(path, monkeypatch):
    real, calls = os.fsync, []

    def full(number):
        calls.append(number)
        if len(calls) > 20:
            raise OSError(28, "No space left on device")
        real(number)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ParetoNRPAError, match="No space left on device") as caught:
        solved(problems.Row(), journal=path)
    assert caught.value.result.evaluations >= 10


def test_moves_of_tuples_texts_and_none_come_back(path, monkeypatch):
    monkeypatch.setattr("pareto_nrpa.parallel.evaluations.search.MAX_REPEATS", 500)
    expected = found(solved(problems.Hints(), journal=path))
    here = Here()
    assert found(solved(problems.Hints(), journal=path, resume=True, executor=here)) == expected
    assert here.submitted == []


SCRIPT = """
from pareto_nrpa import MaxEvaluations
from pareto_nrpa.parallel import Processes, solve_expensive
from tests.parallel.evaluations.problems import Row

if __name__ == "__main__":
    problem, evaluator = Row({log!r}, pause=0.03), Processes(2)
    result = solve_expensive(
        problem, stop=MaxEvaluations(60), seed=3, evaluator=evaluator, journal={path!r}, resume=True
    )
    print(result.stopped_by, result.evaluations, result.front.objectives.tolist())
"""


def n_lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def started(tmp_path, path, **options):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(log=str(tmp_path / "log"), path=str(path)))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    return subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True, env=environment, **options)


@pytest.mark.parametrize("kills", [(15,), pytest.param((10, 35), marks=pytest.mark.slow)])
def test_killed_and_resumed_nothing_is_lost_or_repeated(tmp_path, path, kills):
    log = tmp_path / "log"
    kept, repeatable = b"", 0
    for n in kills:
        process = started(tmp_path, path)
        wait_until(lambda n=n: n_lines(path) >= n)
        process.kill()
        process.communicate()
        time.sleep(1.0)  # workers notice that they are alone
        assert path.read_bytes().startswith(kept)
        kept = path.read_bytes()[: path.read_bytes().rfind(b"\n") + 1]
        # What a worker finishes while the process that wants it is dying is not in the journal: one each at most.
        repeatable = len(log.read_text().splitlines()) - (kept.count(b"\n") - 1)
        assert kept.count(b"\n") < 61
    result = expensive(
        problems.Row(str(log), pause=0.03), stop=MaxEvaluations(60), seed=3, workers=2, journal=path, resume=True
    )
    assert found(result) == found(solved(problems.Row(), stop=MaxEvaluations(60)))
    assert path.read_bytes().startswith(kept)
    evaluated = log.read_text().splitlines()
    written = [str(tuple(line["solution"])) for line in results_in(path)]
    assert sorted(set(evaluated)) == sorted(written)
    assert len(written) == 60
    assert len(evaluated) == 60 + repeatable <= 64


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_keeps_the_best_front_so_far(tmp_path, path, number):
    process = started(tmp_path, path, start_new_session=True)
    wait_until(lambda: n_lines(path) >= 20)
    os.killpg(process.pid, number)  # as a terminal does: the whole group
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    stopped_by, evaluations, *_ = out.split()
    assert stopped_by == {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}[number]
    assert int(evaluations) == len(results_in(path)) < 60  # all that is finished, in whatever order it came
    assert "[[" in out
