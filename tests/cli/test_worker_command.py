"""Jobs from the command line: put in line, done by a worker, looked after, and refused where they make no sense."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.jobs.job_tools import TOPIC, Gate
from tests.llm.servers import serving

from kiwiresearch.workspace import workspace

pytestmark = pytest.mark.skipif(os.name != "posix", reason="this system has no signals")

Told = Callable[..., tuple[int, str, str]]
RUN = "bronze-age-collapse-1"
SAMPLE = "kiwiresearch sample book"
TABLES = "bulk-kiwiresearch-sample-book-1"


@pytest.fixture(autouse=True)
def _stores_are_closed() -> Iterator[None]:
    yield
    workspace.close_stores()


def a_worker(*options: str, **environment: str) -> subprocess.Popen[str]:
    """A worker in a process of its own, with the home of the test."""
    command = [sys.executable, "-m", "kiwiresearch", "worker", *options]
    return subprocess.Popen(command, env=os.environ | environment, stderr=subprocess.PIPE, text=True)


def test_jobs_are_put_in_line_and_done_by_a_worker(home: Path, kiwi: Told, tmp_path: Path) -> None:
    """A run, questions and tables wait until a worker comes, are done in their order, and can be looked at."""
    (tmp_path / "asked.jsonl").write_text('{"question": "When was Ugarit destroyed?"}\n\n{"query": 1}\n')
    added = kiwi("jobs", "add", "research", TOPIC, "--aspect", "drought", "--max-pages", 2, "--user", "ada", "--json")
    job = json.loads(added[1])
    assert (added[0], job["id"], job["state"], job["user"], job["kind"]) == (0, RUN, "queued", "ada", "research")
    assert job["wish"]["aspect"] == "drought"
    assert kiwi("jobs", "add", "ask", tmp_path / "asked.jsonl", "--priority", 3)[:2] == (
        0,
        "questions-1: queued; ask (priority 3)\n",
    )
    assert kiwi("jobs", "add", "bulk", "--book", SAMPLE, "--what", "titles")[0] == 0
    listed = json.loads(kiwi("jobs", "list", "--json")[1])
    assert ([job["id"] for job in listed["jobs"]], listed["total"]) == ([TABLES, "questions-1", RUN], 3)
    with a_worker("--once", "--at-once", "1") as worker:
        said = worker.communicate(timeout=120)[1]
    assert worker.returncode == 0, said
    ends = [line for line in said.splitlines() if ": done" in line]
    assert ends == ["questions-1: done.", f"{RUN}: done.", f"{TABLES}: done."]
    assert kiwi("jobs", "wait", RUN, "questions-1", TABLES)[0] == 0
    code, shown, _ = kiwi("jobs", "show", RUN)
    assert (code, shown.splitlines()[0]) == (0, f"{RUN}: done, 2 pages; research for ada")
    brief = home / "state" / "runs" / RUN / "report.md"
    assert shown.splitlines()[-1] == f"Brief: {brief}"
    assert "Late Bronze Age collapse › drought" in brief.read_text(encoding="utf-8")
    assert kiwi("jobs", "show", TABLES)[1].splitlines()[-1] == f"Tables: {home / 'state' / 'bulk' / TABLES}"
    assert kiwi("jobs", "show", "questions-1")[1].splitlines()[1:] == [
        "1 of 2 questions were answered; 'error' says what is wrong with the others.",
        "Answers: kiwiresearch jobs answers questions-1",
    ]
    assert kiwi("jobs", "cancel", RUN)[2] == "It had ended before, and is as it was.\n"
    answers = kiwi("jobs", "answers", "questions-1")[1]
    assert answers == kiwi("ask", "--batch", tmp_path / "asked.jsonl")[1]
    rows = [json.loads(line) for line in answers.splitlines()]
    assert [row.get("error", "") for row in rows] == [
        "",
        "Line 3 has no query. Give it one of the keys question, query, claim.",
    ]
    assert rows[0]["answer"].endswith("about 1185 BC")
    assert (home / "state" / "bulk" / TABLES / "manifest.json").is_file()
    code, _, complaint = kiwi("jobs", "remove", RUN)
    assert (code, f"kiwiresearch jobs remove {RUN} --yes" in complaint) == (1, True)
    assert kiwi("jobs", "remove", RUN, "--yes")[:2] == (0, f"{RUN}: removed\n")
    assert json.loads(kiwi("jobs", "remove", "questions-1", "--yes", "--json")[1]) == {
        "removed": "questions-1",
        "left": "",
    }
    assert list((home / "state" / "runs").iterdir()) == []
    assert kiwi("jobs", "remove", TABLES, "--yes")[1].splitlines() == [
        f"{TABLES}: removed",
        f"What is in this folder stays: {home / 'state' / 'bulk' / TABLES}",
    ]
    assert (home / "state" / "bulk" / TABLES / "manifest.json").is_file()
    assert kiwi("jobs", "list", "--state", "queued")[1] == "There are no such jobs.\n"


def test_a_worker_that_is_stopped_gives_its_job_back(home: Path, kiwi: Told) -> None:
    """On SIGTERM the step under way is ended and kept, the job waits, and the next worker goes on with it."""
    gate = Gate(holds=2)
    gate.beyond.clear()
    with serving(gate) as told:
        model = {"KIWIRESEARCH_MODEL_URL": told.address, "KIWIRESEARCH_MODEL_PAGES": "3"}
        kiwi("jobs", "add", "research", TOPIC, "--max-pages", 3)
        with a_worker(**model) as worker:
            assert gate.reached.wait(60)
            assert kiwi("jobs", "show", RUN)[1].startswith(f"{RUN}: running")
            worker.send_signal(signal.SIGTERM)
            gate.opened.set()
            said = worker.communicate(timeout=60)[1]
        gate.beyond.set()
        assert (worker.returncode, f"{RUN}: waits for another worker" in said) == (0, True)
        waiting = json.loads(kiwi("jobs", "show", RUN, "--json")[1])
        assert (waiting["state"], waiting["losses"], waiting["pages"]) == ("queued", ["its worker was stopped"], 2)
        with a_worker("--once", **model) as worker:
            assert f"{RUN}: goes on" in worker.communicate(timeout=120)[1]
    done = json.loads(kiwi("jobs", "show", RUN, "--json")[1])
    assert (done["state"], done["pages"], done["kept"], done["attempt"]) == ("done", 3, 2, 2)


def test_ctrl_c_ends_a_worker_in_order(home: Path) -> None:
    """A worker that has nothing to do ends at once with the code of an interruption, and leaves no trace."""
    with a_worker() as worker:
        assert worker.stderr
        while "Working on jobs" not in worker.stderr.readline():
            assert worker.poll() is None
        worker.send_signal(signal.SIGINT)
        said = worker.communicate(timeout=60)[1]
    assert (worker.returncode, "Traceback" in said) == (130, False)
    assert list((home / "state" / "workers").iterdir()) == []


def test_jobs_are_cancelled_put_in_line_again_and_removed(home: Path, kiwi: Told) -> None:
    """What waits ends at once; what ended without a page can be begun again, or forgotten."""
    kiwi("jobs", "add", "research", TOPIC)
    assert kiwi("jobs", "cancel", RUN)[:2] == (0, f"{RUN}: cancelled; research\n")
    assert kiwi("jobs", "wait", RUN)[0] == 1
    assert json.loads(kiwi("jobs", "again", RUN, "--json")[1])["state"] == "queued"
    code, _, complaint = kiwi("jobs", "again", RUN)
    assert (code, "is in line already" in complaint) == (1, True)
    code, _, complaint = kiwi("jobs", "wait", RUN, "--timeout", "0.01")
    assert (code, f"Not done yet: {RUN}." in complaint) == (2, True)
    kiwi("jobs", "cancel", RUN)
    assert kiwi("jobs", "remove", RUN)[:2] == (0, f"{RUN}: removed\n")
    assert kiwi("jobs", "list")[1] == "There are no jobs.\n"


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (("worker", "--at-once", "0"), 2, "0 jobs cannot be worked on at once."),
        (("worker", "--kinds", "poem"), 2, "There is no kind of job 'poem'."),
        (("worker", "--once", "--store", "mysql://x"), 2, "mysql"),
        (("worker", "--once", "--store", "postgresql://127.0.0.1:1/x"), 1, "127.0.0.1"),
        (("worker", "--once", "--store", "the.db"), 2, "The store is no URL. Write sqlite:///"),
        (("jobs", "list", "--limit", "0"), 2, "0 jobs cannot be shown."),
        (("jobs", "list", "--state", "lost"), 2, "There is no state 'lost'."),
        (("jobs", "show", "nobody-1"), 1, "There is no job 'nobody-1'. 'kiwiresearch jobs list' shows"),
        (("jobs", "show", "../x-1"), 1, "There is no job '../x-1'."),
        (("jobs", "cancel", "nobody-1"), 1, "There is no job 'nobody-1'."),
        (("jobs", "answers", "nobody-1"), 1, "There is no job 'nobody-1'."),
        (("jobs", "add", "research", " "), 2, "The topic has no words."),
        (("jobs", "add", "research", "Rome", "--book", "/etc/passwd"), 1, "/etc/passwd"),
        (("jobs", "add", "ask", "/no/such/file"), 2, "The file '/no/such/file' cannot be read"),
        (("jobs", "add", "ask", "/dev/null"), 2, "There is no question."),
        (("jobs", "add", "ask", __file__, "-k", "-1"), 2, "-1 passages make no answer."),
        (("jobs", "add", "bulk", "--book", "sample", "--what", "poems"), 2, "There is no table 'poems'."),
        (("jobs", "add", "bulk", "--book", "sample", "--what", ","), 2, "No table is named."),
        (("jobs", "add", "kin", "nobody"), 2, "The server has no case 'nobody'. Its cases are those in '"),
        (("jobs", "add", "kin", "nobody", "--steps", "-1"), 2, "-1 steps cannot be taken."),
    ],
)
def test_what_makes_no_sense_is_refused(
    home: Path, kiwi: Told, words: tuple[str, ...], code: int, complaint: str
) -> None:
    """Each refusal is one line that names the thing and says what to do, and nothing is put in line."""
    got, shown, said = kiwi(*words)
    assert (got, shown) == (code, ""), said
    assert complaint in said.splitlines()[-1]
    assert json.loads(kiwi("jobs", "list", "--json")[1])["total"] == 0
