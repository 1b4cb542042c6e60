"""Research over HTTP: jobs on a real server and real processes on the sample book, and the runs they leave."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from tests.jobs.job_tools import TOPIC, Gate, put_row
from tests.llm.servers import ModelServer, serving
from tests.web.servers import NO_RATE_LIMIT, http_client, running_server, server_context, stream_events

from kiwiresearch.codec import plain
from kiwiresearch.jobs.job import Job, ResearchRequest
from kiwiresearch.jobs.queue import JobQueue, QueueLimits
from kiwiresearch.store.job_row import JobRow
from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.workspace.workspace import open_workspace, store_of

pytestmark = pytest.mark.skipif(os.name != "posix", reason="this system has no signals")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("desk")


@pytest.fixture(scope="module")
def client(place: Path, sample_zim: Path) -> Iterator[httpx2.Client]:
    """A client of a server on the sample book."""
    settings = {"KIWIRESEARCH_SERVE_RUNS": str(place / "runs")}
    with (
        server_context(place / "home", str(sample_zim), **settings, **NO_RATE_LIMIT) as context,
        running_server(context, make_app) as address,
        http_client(address) as client,
    ):
        yield client


def streamed(client: httpx2.Client, url: str, **headers: str) -> list[str]:
    """The lines of a stream that ends by itself."""
    with client.stream("GET", url, headers={name.replace("_", "-"): value for name, value in headers.items()}) as reply:
        assert reply.status_code == 200
        assert reply.headers["content-type"].startswith("text/event-stream")
        return list(reply.iter_lines())


def ids_in(lines: list[str]) -> list[str]:
    return [line.removeprefix("id: ") for line in lines if line.startswith("id: ")]


@pytest.fixture(scope="module")
def run(client: httpx2.Client) -> dict[str, Any]:
    """A job that is done."""
    reply = client.post("/api/research", json={"topic": TOPIC, "max_pages": 6, "books": ["sample"]})
    assert reply.status_code == 202, reply.text
    job = reply.json()
    assert reply.headers["location"] == job["url"] == "/api/research/bronze-age-collapse-1"
    assert (job["state"], job["topic"], job["max_pages"], job["depth"]) == ("running", TOPIC, 6, None)
    job["lines"] = streamed(client, job["events"])
    return dict(job)


def test_the_stream_of_a_run_has_its_steps_and_its_end(client: httpx2.Client, run: dict[str, Any]) -> None:
    """The stream has each page with its reason and score, and ends with the job; a client can continue where it was."""
    result = list(stream_events(run["lines"]))
    assert {event.name for event in result[:-1]} == {"progress"}
    pages = [event.data for event in result[:-1] if event.data["event"] == "page"]
    assert [page["order"] for page in pages] == [1, 2, 3, 4, 5, 6]
    assert all(page["reason"] and page["score"] for page in pages)
    done = client.get(run["url"]).json()
    assert result[-1] == ("done", done)
    assert (done["state"], done["pages"], done["resumable"], done["problem"]) == ("done", 6, False, "")
    assert client.get("/api/research").json() == {"jobs": [done], "total": 1}
    ids = ids_in(run["lines"])
    assert ids == [f"1.{number}" for number in range(1, len(result))]
    again = streamed(client, run["events"], Last_Event_ID=ids[4])
    assert (ids_in(again), list(stream_events(again))[-1]) == (ids[5:], result[-1])
    assert list(stream_events(streamed(client, run["events"], Last_Event_ID=ids[-1]))) == [result[-1]]


def test_a_finished_run_is_read_file_by_file(client: httpx2.Client, run: dict[str, Any], place: Path) -> None:
    """Each file comes byte for byte with its type, also of a run that others put there; reports can do nothing."""
    shutil.copytree(place / "runs" / run["id"], place / "runs" / "my ünusual run")
    names = [one["id"] for one in client.get("/api/runs").json()["runs"]]
    assert names == [run["id"], "my ünusual run"]
    for name in names:
        found = client.get(f"/api/runs/{quote(name)}").json()
        assert (found["topic"], found["pages"], found["claims"] > 6) == (TOPIC, 6, True)
        assert len(found["files"]) == 9
        for file, url in found["files"].items():
            reply = client.get(url)
            assert reply.content == (place / "runs" / name / file).read_bytes()
            assert "sandbox" in reply.headers["content-security-policy"]
            assert "script" not in reply.headers["content-security-policy"]
    types = {file: client.get(url).headers["content-type"] for file, url in found["files"].items()}
    assert types == {
        "brief.json": "application/json",
        "claims.jsonl": "application/jsonl",
        "corpus.jsonl": "application/jsonl",
        "graph.json": "application/json",
        "manifest.json": "application/json",
        "report.html": "text/html; charset=utf-8",
        "report.md": "text/markdown; charset=utf-8",
        "run.log": "text/plain; charset=utf-8",
        "timings.json": "application/json",
    }
    shutil.rmtree(place / "runs" / "my ünusual run")


def test_the_side_of_a_topic_is_asked_for(client: httpx2.Client, run: dict[str, Any], tmp_path: Path) -> None:
    """The job and its run say which side was wanted, and the brief is about it; without one both say that."""
    assert client.get(run["url"]).json()["aspect"] == client.get(f"/api/runs/{run['id']}").json()["aspect"] == ""
    asked = {"topic": TOPIC, "aspect": "  drought ", "max_pages": 2}
    assert client.post("/api/research", json=asked | {"aspect": "x" * 501}).status_code == 422
    settings = {"KIWIRESEARCH_SERVE_RUNS": str(tmp_path / "runs")}
    with (
        server_context(tmp_path / "home", "sample", **settings, **NO_RATE_LIMIT) as context,
        running_server(context, make_app) as address,
        http_client(address) as other,
    ):
        job = other.post("/api/research", json=asked).json()
        (*_, last) = stream_events(streamed(other, job["events"]))
        assert (last.name, last.data["aspect"]) == ("done", "drought")
        found = other.get(job["url"].replace("/research/", "/runs/")).json()
        brief = other.get(found["files"]["brief.json"]).json()
    assert (found["aspect"], brief["head"], brief["aspect"]) == ("drought", "Late Bronze Age collapse", "drought")


def test_claims_are_filtered(client: httpx2.Client, run: dict[str, Any], place: Path) -> None:
    """By type, page, hedging and confidence, some at a time, in their order."""
    lines = (place / "runs" / run["id"] / "claims.jsonl").read_text(encoding="utf-8").splitlines()
    every = [json.loads(line) for line in lines]
    url = f"/api/runs/{run['id']}/claims"

    def asked(**query: Any) -> list[dict[str, Any]]:
        found = client.get(url, params={"limit": 1000, **query}).json()
        assert found["total"] == len(found["claims"])
        return list(found["claims"])

    assert asked() == every
    assert asked(type="causal") == [row for row in every if row["claim_type"] == "causal"] != []
    assert asked(hedged="true") == [row for row in every if row["hedging"]] != []
    assert asked(min_confidence=0.6) == [row for row in every if row["confidence"] >= 0.6] != []
    title = every[0]["page_title"]
    assert asked(page=title.upper()) == asked(page=every[0]["path"]) == [r for r in every if r["page_title"] == title]
    assert asked(page="Nowhere") == []
    some = client.get(url, params={"limit": 2, "offset": 3}).json()
    assert (some["claims"], some["total"], some["offset"], some["limit"]) == (every[3:5], len(every), 3, 2)
    for query in ("type=poem", "min_confidence=2", "min_confidence=nan", "limit=0", "offset=-1", "hedged=perhaps"):
        assert client.get(f"{url}?{query}").status_code == 422


@pytest.mark.parametrize(
    "path",
    [
        "/api/runs/..", "/api/runs/%2e%2e", "/api/runs/..%2fhome", "/api/runs/.%00", "/api/runs/linked",
        "/api/runs/%2e%2e/files/manifest.json", "/api/runs/linked/files/report.md", "/api/runs/linked/claims",
        "/api/runs/{run}/files/secret.md", "/api/runs/{run}/files/linked.md", "/api/runs/{run}/files/..",
        "/api/runs/{run}/files/%2e%2e%2f{run}.job.json", "/api/runs/{run}.job.json", "/api/runs/nobody",
        "/api/research/nobody-1", "/api/research/%2e%2e", "/api/research/nobody-1/events", "/api/research/linked-1",
    ],
)  # fmt: skip
def test_nothing_outside_the_runs_is_served(client: httpx2.Client, run: dict[str, Any], place: Path, path: str) -> None:
    """No id and no name leads out of the folder, neither by dots nor by links, nor to files that are not outputs."""
    runs = place / "runs"
    with contextlib.suppress(FileExistsError):
        shutil.copytree(runs / run["id"], place / "elsewhere")
        (runs / "linked").symlink_to(place / "elsewhere")
        (runs / run["id"] / "linked.md").symlink_to(place / "elsewhere" / "report.md")
        (runs / run["id"] / "secret.md").write_text("no output of the run")
    with contextlib.closing(HTTPConnection(client.base_url.host, client.base_url.port or 0)) as line:
        line.request("GET", path.replace("{run}", run["id"]))  # unchanged: other clients remove the dots
        reply = line.getresponse()
        assert (reply.status, reply.headers["content-type"]) == (404, "application/problem+json")
        assert str(place) not in reply.read().decode()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("{", 422), ("[]", 422), ("{}", 422), ('{"topic": 5}', 422), ('{"topic": ""}', 422), ('{"topic": " "}', 400),
        ('{"topic": "\\u0000"}', 400), ('{"topic": "?!"}', 400), ('{"topic": "Rome", "depth": true}', 422),
        ('{"topic": "Rome", "depth": 1e9}', 422), ('{"topic": "Rome", "max_pages": 0}', 422),
        ('{"topic": "Rome", "strategy": "dfs"}', 422), ('{"topic": "Rome", "out": "/tmp/x"}', 422),
        ('{"topic": "Rome", "books": ["/etc/passwd"]}', 404), ('{"topic": "Rome", "books": ["\\ud800"]}', 404),
        ('{"topic": "Rome", "books": "sample"}', 422), ('{"topic": "' + "x" * 501 + '"}', 422),
        ('{"topic": "Rome", "max_links": 123456789012345678901234567890}', 422),
    ],
)  # fmt: skip
def test_a_request_that_makes_no_sense_is_refused(client: httpx2.Client, body: str, status: int) -> None:
    """Bad input is refused at once, with what to do about it, and starts nothing."""
    reply = client.post("/api/research", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "application/problem+json"


def test_a_problem_of_a_run_names_no_place_of_the_machine(client: httpx2.Client, place: Path) -> None:
    """A run that fails says why in words, and where the folder is stays the server's own business."""
    (place / "runs" / "rome-1").mkdir(parents=True)
    (place / "runs" / "rome-1" / "letter.txt").write_text("dear reader")
    store = store_of(open_workspace({"KIWIRESEARCH_HOME": str(place / "home")}))
    put_row(store, JobRow("rome-1", "research", plain(ResearchRequest("Rome")), state="failed"))
    url = "/api/research/rome-1"
    assert client.post(f"{url}/resume").status_code == 202
    lines = streamed(client, f"{url}/events")
    (*_, last) = stream_events(lines)
    assert (last.name, last.data["resumable"]) == ("failed", True)
    assert "contains files that do not belong to a run, such as 'letter.txt'" in last.data["problem"]
    assert str(place) not in "\n".join(lines)
    shutil.rmtree(place / "runs" / "rome-1")
    store.jobs.remove("rome-1")


@pytest.fixture
def gated() -> Iterator[tuple[Gate, ModelServer]]:
    """A model that keeps the run waiting in the middle of its second page."""
    gate = Gate(holds=2)
    with serving(gate) as model_server:
        yield gate, model_server
        gate.opened.set()


def test_a_run_is_cancelled_and_the_line_is_bounded(
    gated: tuple[Gate, ModelServer], sample_zim: Path, tmp_path: Path
) -> None:
    """Resuming a running job is a conflict, too many jobs are refused for now, and a listener gets the end."""
    gate, result = gated
    settings = {"KIWIRESEARCH_SERVE_RUNS": str(tmp_path / "runs"), "KIWIRESEARCH_MODEL_URL": result.address}
    with server_context(tmp_path / "home", str(sample_zim), **settings, **NO_RATE_LIMIT) as context:
        jobs = JobQueue(context.workspace, context.shelf.books, now=str, limits=QueueLimits(running=1, queued=1))
        with (
            running_server(context, lambda context: make_app(context, jobs=jobs)) as address,
            http_client(address) as client,
        ):
            first = client.post("/api/research", json={"topic": TOPIC}).json()
            assert gate.reached.wait(60)
            second = client.post("/api/research", json={"topic": TOPIC}).json()
            assert (second["state"], second["run"]) == ("queued", "")
            full = client.post("/api/research", json={"topic": TOPIC})
            assert (full.status_code, full.headers["retry-after"]) == (429, "60")
            assert client.post(f"{second['url']}/cancel").json()["state"] == "cancelled"
            conflict = client.post(f"{first['url']}/resume")
            assert (conflict.status_code, conflict.headers["content-type"]) == (409, "application/problem+json")
            with client.stream("GET", first["events"]) as reply:
                told_events = stream_events(reply.iter_lines())
                assert next(event for event in told_events if event.data["event"] == "page").data["order"] == 1
                assert client.post(f"{first['url']}/cancel").status_code == 202
                gate.opened.set()
                (*_, last) = told_events
            assert (last.name, last.data["pages"], last.data["resumable"]) == ("cancelled", 2, True)
        jobs.close()


def jobs_there(context: ServerContext) -> list[Job]:
    """The jobs that the next server finds."""
    later = JobQueue(context.workspace, context.shelf.books, now=str, limits=QueueLimits(running=0))
    later.close()
    return later.all()


def test_jobs_end_with_the_app(gated: tuple[Gate, ModelServer], sample_zim: Path, tmp_path: Path) -> None:
    """A server that is stopped leaves no process behind, and its runs are in line for the next one."""
    gate, result = gated
    settings = {"KIWIRESEARCH_SERVE_RUNS": str(tmp_path / "runs"), "KIWIRESEARCH_MODEL_URL": result.address}
    with server_context(tmp_path / "home", str(sample_zim), **settings, **NO_RATE_LIMIT) as context:
        with running_server(context, make_app) as address, http_client(address) as client:
            job = client.post("/api/research", json={"topic": TOPIC}).json()
            assert gate.reached.wait(60)
            gate.opened.set()
        (left,) = jobs_there(context)
    assert (left.id, left.state, left.losses) == (job["id"], "queued", ("its worker was stopped",))
