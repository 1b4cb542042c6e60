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

RunCommand = Callable[..., tuple[int, str, str]]
RUN = "bronze-age-collapse-1"
SAMPLE = "kiwiresearch sample book"
TABLES = "bulk-kiwiresearch-sample-book-1"


@pytest.fixture(autouse=True)
def _stores_are_closed() -> Iterator[None]:
    yield
    workspace.close_stores()


def a_worker() -> subprocess.Popen[str]:
    """A worker in a process of its own, with the home of the test."""
    return subprocess.Popen([sys.executable, "-m", "kiwiresearch", "worker"], stderr=subprocess.PIPE, text=True)


def test_jobs_are_put_in_line_and_done_by_a_worker(home: Path, kiwi: RunCommand, tmp_path: Path) -> None:
    """A run, questions and tables wait until a worker comes, are done in their order, and can be looked at."""
    (tmp_path / "asked.jsonl").write_text('{"question": "When was Ugarit destroyed?"}\n\n{"query": 1}\n')
    added = kiwi("jobs", "add", "research", TOPIC, "--aspect", "drought", "--max-pages", 2, "--user", "ada", "--json")
    job = json.loads(added[1])
    assert (added[0], job["id"], job["state"], job["user"], job["kind"]) == (0, RUN, "queued", "ada", "research")
    assert job["request"]["aspect"] == "drought"
    assert kiwi("jobs", "add", "ask", tmp_path / "asked.jsonl", "--priority", 3)[:2] == (
        0,
        "questions-1: queued; ask (priority 3)\n",
    )
    assert kiwi("jobs", "add", "bulk", "--book", SAMPLE, "--what", "titles")[0] == 0
    listed = json.loads(kiwi("jobs", "list", "--json")[1])
    assert ([job["id"] for job in listed["jobs"]], listed["total"]) == ([TABLES, "questions-1", RUN], 3)
    code, _, result = kiwi("worker", "--once", "--at-once", "1")
    assert code == 0, result
    ends = [line for line in result.splitlines() if ": done" in line]
    assert ends == ["questions-1: done.", f"{RUN}: done.", f"{TABLES}: done."]
    assert kiwi("jobs", "wait", RUN, "questions-1", TABLES)[0] == 0
    code, shown, _ = kiwi("jobs", "show", RUN)
    assert (code, shown.splitlines()[0]) == (0, f"{RUN}: done, 2 pages; research for ada")
    brief = home / "state" / "runs" / RUN / "report.md"
    assert shown.splitlines()[-1] == f"Brief: {brief}"
    assert "Late Bronze Age collapse › drought" in brief.read_text(encoding="utf-8")
    assert kiwi("jobs", "show", TABLES)[1].splitlines()[-1] == f"Tables: {home / 'state' / 'bulk' / TABLES}"
    assert kiwi("jobs", "show", "questions-1")[1].splitlines()[1:] == [
        "1 of 2 questions were answered. For the others, see 'error'.",
        "Answers: kiwiresearch jobs answers questions-1",
    ]
    assert kiwi("jobs", "cancel", RUN)[2] == "This job had already ended. Nothing changed.\n"
    answers = kiwi("jobs", "answers", "questions-1")[1]
    assert answers == kiwi("ask", "--batch", tmp_path / "asked.jsonl")[1]
    rows = [json.loads(line) for line in answers.splitlines()]
    assert [row.get("error", "") for row in rows] == [
        "",
        "Line 3 has no question or query. Add one of these keys: question, query, claim.",
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
        f"This folder was not deleted: {home / 'state' / 'bulk' / TABLES}",
    ]
    assert (home / "state" / "bulk" / TABLES / "manifest.json").is_file()
    assert kiwi("jobs", "list", "--state", "queued")[1] == "No matching jobs.\n"


def test_a_worker_that_is_stopped_gives_its_job_back(
    home: Path, kiwi: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On SIGTERM the step under way is ended and kept, the job waits, and the next worker goes on with it."""
    gate = Gate(holds=2)
    gate.beyond.clear()
    with serving(gate) as model_server:
        monkeypatch.setenv("KIWIRESEARCH_MODEL_URL", model_server.address)
        monkeypatch.setenv("KIWIRESEARCH_MODEL_PAGES", "3")
        kiwi("jobs", "add", "research", TOPIC, "--max-pages", 3)
        with a_worker() as worker:
            assert gate.reached.wait(60)
            assert kiwi("jobs", "show", RUN)[1].startswith(f"{RUN}: running")
            worker.send_signal(signal.SIGTERM)
            gate.opened.set()
            result = worker.communicate(timeout=60)[1]
        gate.beyond.set()
        assert (worker.returncode, f"{RUN}: waiting for another worker" in result) == (0, True)
        waiting = json.loads(kiwi("jobs", "show", RUN, "--json")[1])
        assert (waiting["state"], waiting["losses"], waiting["pages"]) == ("queued", ["its worker was stopped"], 2)
        assert f"{RUN}: resumed" in kiwi("worker", "--once")[2]
    done = json.loads(kiwi("jobs", "show", RUN, "--json")[1])
    assert (done["state"], done["pages"], done["kept"], done["attempt"]) == ("done", 3, 2, 2)


def test_ctrl_c_ends_a_worker_in_order(home: Path) -> None:
    """A worker that has nothing to do ends at once with the code of an interruption, and leaves no trace."""
    with a_worker() as worker:
        assert worker.stderr
        while "Running jobs" not in worker.stderr.readline():
            assert worker.poll() is None
        worker.send_signal(signal.SIGINT)
        result = worker.communicate(timeout=60)[1]
    assert (worker.returncode, "Traceback" in result) == (130, False)
    assert list((home / "state" / "workers").iterdir()) == []


def test_jobs_are_cancelled_put_in_line_again_and_removed(home: Path, kiwi: RunCommand) -> None:
    """A waiting job ends at once; a job that ended without a page can be started again, or removed."""
    kiwi("jobs", "add", "research", TOPIC)
    assert kiwi("jobs", "cancel", RUN)[:2] == (0, f"{RUN}: cancelled; research\n")
    assert kiwi("jobs", "wait", RUN)[0] == 1
    assert json.loads(kiwi("jobs", "again", RUN, "--json")[1])["state"] == "queued"
    code, _, complaint = kiwi("jobs", "again", RUN)
    assert (code, "is already queued" in complaint) == (1, True)
    code, _, complaint = kiwi("jobs", "wait", RUN, "--timeout", "0.01")
    assert (code, f"Not done yet: {RUN}." in complaint) == (2, True)
    kiwi("jobs", "cancel", RUN)
    assert kiwi("jobs", "remove", RUN)[:2] == (0, f"{RUN}: removed\n")
    assert kiwi("jobs", "list")[1] == "No jobs.\n"


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (("worker", "--at-once", "0"), 2, "--at-once cannot be 0."),
        (("worker", "--kinds", "poem"), 2, "Unknown kind of job 'poem'."),
        (("worker", "--once", "--store", "mysql://x"), 2, "mysql"),
        (("worker", "--once", "--store", "postgresql://127.0.0.1:1/x"), 1, "127.0.0.1"),
        (("worker", "--once", "--store", "the.db"), 2, "The address of the store is not a URL. Use sqlite:///"),
        (("jobs", "list", "--limit", "0"), 2, "--limit cannot be 0."),
        (("jobs", "list", "--state", "lost"), 2, "Unknown state 'lost'."),
        (("jobs", "show", "nobody-1"), 1, "No job has the ID 'nobody-1'. To list all jobs"),
        (("jobs", "show", "../x-1"), 1, "No job has the ID '../x-1'."),
        (("jobs", "cancel", "nobody-1"), 1, "No job has the ID 'nobody-1'."),
        (("jobs", "answers", "nobody-1"), 1, "No job has the ID 'nobody-1'."),
        (("jobs", "add", "research", " "), 2, "The topic is empty."),
        (("jobs", "add", "research", "Rome", "--book", "/etc/passwd"), 1, "/etc/passwd"),
        (("jobs", "add", "ask", "/no/such/file"), 2, "Could not read the file '/no/such/file'"),
        (("jobs", "add", "ask", "/dev/null"), 2, "The file has no questions."),
        (("jobs", "add", "ask", __file__, "-k", "-1"), 2, "An answer cannot use -1 passages."),
        (("jobs", "add", "bulk", "--book", "sample", "--what", "poems"), 2, "Unknown table 'poems'."),
        (("jobs", "add", "bulk", "--book", "sample", "--what", ","), 2, "No tables chosen."),
        (
            ("jobs", "add", "kin", "nobody"),
            2,
            "The case 'nobody' was not found on this server. The server uses the cases in '",
        ),
        (("jobs", "add", "kin", "nobody", "--steps", "-1"), 2, "--steps cannot be -1."),
    ],
)
def test_invalid_arguments_are_refused(
    home: Path, kiwi: RunCommand, words: tuple[str, ...], code: int, complaint: str
) -> None:
    """Each refusal is one line that names the thing and says what to do, and no job is queued."""
    got, shown, out = kiwi(*words)
    assert (got, shown) == (code, ""), out
    assert complaint in out.splitlines()[-1]
    assert json.loads(kiwi("jobs", "list", "--json")[1])["total"] == 0
