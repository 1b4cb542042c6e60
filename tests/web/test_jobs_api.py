"""Jobs that are not research, over HTTP and in the web interface."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.jobs.job_tools import put_row
from tests.store.stores import opened
from tests.web.servers import NO_RATE_LIMIT, browser_client, http_client, running_server, server_context, stream_events

from kiwiresearch.store.job_row import JobRow
from kiwiresearch.web.app import make_app
from kiwiresearch.web.desk.browser import BROWSER_COOKIE, browser_key

BROWSER = "b" * 22
"""The id of a browser."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("jobs")


@pytest.fixture(scope="module")
def client(place: Path, sample_zim: Path) -> Iterator[httpx2.Client]:
    with (
        server_context(place / "home", str(sample_zim), **NO_RATE_LIMIT) as context,
        running_server(context, make_app) as address,
        http_client(address) as client,
    ):
        yield client


def wait_for_end(client: httpx2.Client, job: dict[str, str]) -> str:
    """How a job ended, once its stream has."""
    with client.stream("GET", job["events"]) as reply:
        return list(stream_events(reply.iter_lines()))[-1].name


def test_questions_are_answered_as_a_job(client: httpx2.Client) -> None:
    """A batch is queued, reports its progress, is listed among jobs and shown, and its answers can be read."""
    questions = ["When was Ugarit destroyed?", "Who dug at Pylos?"]
    reply = client.post("/api/jobs", json={"kind": "ask", "questions": questions, "model": False})
    assert reply.status_code == 202, reply.text
    job = reply.json()
    assert (job["id"], job["kind"], job["topic"], job["run"]) == ("questions-1", "ask", "", "")
    assert wait_for_end(client, job) == "done"
    answers = client.get("/api/jobs/questions-1/answers")
    assert answers.headers["content-type"] == "application/jsonl"
    assert [json.loads(line)["question"] for line in answers.text.splitlines()] == questions
    done = client.get(job["url"]).json()
    assert (done["pages"], done["story"], done["run"]) == (2, "2 questions were answered.", "")
    assert done in client.get("/api/research").json()["jobs"]
    assert client.get("/api/runs").json()["runs"] == []
    page = client.get("/research/questions-1")
    assert (page.status_code, "questions" in page.text) == (200, True)
    for path in ("/", "/research"):
        assert client.get(path).status_code == 200


def test_a_book_becomes_tables_as_a_job(client: httpx2.Client) -> None:
    """The tables of a book are made in a folder of the server, and the job says what they have."""
    job = client.post("/api/jobs", json={"kind": "bulk", "book": "sample", "what": ["titles"]}).json()
    assert (wait_for_end(client, job), client.get(job["url"]).json()["kind"]) == ("done", "bulk")
    assert "titles" in client.get(job["url"]).json()["story"]
    assert client.get(f"/research/{job['id']}").status_code == 200
    assert client.get(f"/api/jobs/{job['id']}/answers").status_code == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"kind": "poem"}, 422),
        ({"kind": "ask", "questions": []}, 422),
        ({"kind": "ask", "questions": ["x" * 3000]}, 422),
        ({"kind": "ask", "questions": ["What?"], "mode": "rude"}, 422),
        ({"kind": "ask", "questions": ["What?"], "books": ["/etc/passwd"]}, 404),
        ({"kind": "bulk", "book": "sample", "what": ["poems"]}, 422),
        ({"kind": "bulk", "book": "nowhere", "what": ["titles"]}, 404),
        ({"kind": "bulk", "book": "sample", "what": ["titles"], "out": "/tmp"}, 422),
    ],
)
def test_a_job_that_makes_no_sense_is_refused(client: httpx2.Client, body: dict[str, object], status: int) -> None:
    """Bad input is refused at once, and starts nothing."""
    before = client.get("/api/research").json()["total"]
    reply = client.post("/api/jobs", json=body)
    assert (reply.status_code, reply.headers["content-type"]) == (status, "application/problem+json")
    assert client.get("/api/research").json()["total"] == before


def test_a_damaged_job_is_reported_and_removed(client: httpx2.Client, place: Path) -> None:
    """It is listed for programs and people with what is wrong and what to do; resuming it says so again."""
    [file] = place.rglob("store.sqlite")
    with opened(f"sqlite:///{file}", is_shared_store=False) as store:
        put_row(store, JobRow("torn-1", "research", {"browser": browser_key(BROWSER)}, state="failed", turn=1_000))
    jobs = {job["id"]: job for job in client.get("/api/research").json()["jobs"]}
    job = jobs["torn-1"]
    assert (job["kind"], job["state"], job["resumable"]) == ("damaged", "failed", False)
    assert job["problem"].endswith("damaged: its 'request' was changed.")
    assert job["remedy"].endswith("kiwiresearch jobs remove torn-1")
    own = {"Cookie": f"{BROWSER_COOKIE}={BROWSER}"}
    for path in ("/", "/research"):
        assert "torn-1" in client.get(path, headers=own).text
    assert "torn-1" not in client.get("/").text, "the first page lists what its own browser started"
    assert "torn-1" in client.get("/research").text
    page = client.get("/research/torn-1").text
    assert "was changed" in page
    assert "/research/torn-1/resume" not in page
    assert client.post("/api/research/torn-1/resume").status_code >= 400
    with browser_client(str(client.base_url).rstrip("/")) as browser:
        assert browser.post("/research/torn-1/remove").status_code == 303
    assert "torn-1" not in client.get("/api/research").text
