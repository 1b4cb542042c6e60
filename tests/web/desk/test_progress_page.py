"""The page of a job: what it does in plain words, its pages with their reasons, stop and resume; nothing is lost."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.jobs.job_tools import TOPIC, Gate, job_row, put_row
from tests.llm.servers import ModelServer, serving
from tests.web.desk.conftest import first_of
from tests.web.servers import NO_RATE_LIMIT, browser_client, running_server, server_context, stream_events

from kiwiresearch.jobs.job import FamilyRequest, Job, JobRequest, ResearchRequest
from kiwiresearch.store.store import Store
from kiwiresearch.web.app import make_app
from kiwiresearch.workspace.output_folders import runs_folder
from kiwiresearch.workspace.workspace import store_of

pytestmark = pytest.mark.skipif(os.name != "posix", reason="this system has no signals")


@contextlib.contextmanager
def a_server(place: Path, model_server: ModelServer, **more: str) -> Iterator[tuple[httpx2.Client, Path]]:
    settings = {"KIWIRESEARCH_MODEL_URL": model_server.address, **NO_RATE_LIMIT, **more}
    with (
        server_context(place, "sample", **settings) as context,
        running_server(context, make_app) as at,
        browser_client(at) as browser,
    ):
        yield browser, runs_folder(context.workspace)


def listed(page: str) -> list[str]:
    return [" ".join(node.text().split()) for node in LexborHTMLParser(page).css(".taken li")]


def text(page: str, selector: str) -> str:
    return " ".join(" ".join(node.text().split()) for node in LexborHTMLParser(page).css(selector))


def last_event(browser: httpx2.Client, address: str) -> str:
    with browser.stream("GET", f"/api{address}/events") as stream:
        return list(stream_events(stream.iter_lines()))[-1].name


def test_a_run_is_followed_stopped_left_and_resumed(tmp_path: Path) -> None:
    """Its page shows the pages taken so far with their reasons, with and without a script, also after a restart."""
    gate = Gate(holds=2)
    with serving(gate) as model_server:
        with a_server(tmp_path, model_server) as (browser, _):
            address = browser.post("/research", data={"topic": TOPIC, "max_pages": "4"}).headers["location"]
            assert gate.reached.wait(60)
            page = browser.get(address).text
            assert "Reading pages" in text(page, ".stage")
            assert "1 page read (4 at most)" in text(page, ".status")
            (row,) = listed(page)
            assert row.startswith("Late Bronze Age collapse")
            assert "“Bronze Age collapse” is another name for it and matches the topic" in row
            assert '<noscript><meta http-equiv="refresh" content="4"></noscript>' in page
            assert "refresh" not in browser.get(f"{address}?still=1").text.partition("</head>")[0]
            news = browser.get(f"{address}/news?after=0").json()
            assert (news["open"], news["last"], listed(f"<ol class=taken>{news['pages']}</ol>")) == (True, 1, [row])
            assert listed(f"<ol class=taken>{browser.get(f'{address}/news?after=1').json()['pages']}</ol>") == []
            assert "in progress" in text(browser.get("/research").text, ".cards")
            stopped = browser.post(f"{address}/stop")
            assert stopped.headers["location"] == f"{address}?stopping=1"
            assert "Stopping after the current step" in text(browser.get(stopped.headers["location"]).text, ".note")
            gate.opened.set()
            assert last_event(browser, address) == "cancelled"
            page = browser.get(f"{address}?stopping=1").text
            assert text(page, ".note") == "Progress is saved."
            taken = listed(page)
            assert len(taken) == 2
        with a_server(tmp_path, model_server) as (browser, _):
            page = browser.get(address).text
            assert listed(page) == taken
            assert "stopped" in text(browser.get("/research").text, ".cards")
            assert browser.post(f"{address}/resume").headers["location"] == address
            assert last_event(browser, address) == "done"
            assert browser.get(address).headers["location"] == address.replace("/research/", "/runs/")
            for again in ("resume", "stop"):
                assert browser.post(f"{address}/{again}").headers["location"] == address


@pytest.mark.parametrize("is_api", [False, True])
def test_the_brief_of_a_stopped_run_is_written(request: pytest.FixtureRequest, tmp_path: Path, is_api: bool) -> None:
    """From the pages read so far: after a restart by button, or on another host that shares a store by API."""
    gate = Gate(holds=2)
    more = {"KIWIRESEARCH_STORE": request.getfixturevalue("postgres_server")()} if is_api else {}
    with serving(gate) as model_server:
        with a_server(tmp_path / "home", model_server, **more) as (browser, _):
            address = browser.post("/research", data={"topic": TOPIC, "max_pages": "5"}).headers["location"]
            assert gate.reached.wait(60)
            assert "/finish" not in browser.get(address).text
            browser.post(f"{address}/stop")
            gate.opened.set()
            assert last_event(browser, address) == "cancelled"
        with a_server(tmp_path / ("other" if is_api else "home"), model_server, **more) as (browser, _):
            page = browser.get(address).text
            read = len(listed(page))
            assert f"Write a brief from the {read} pages read so far" in text(page, ".actions")
            assert text(page, "#finish-hint").endswith("After that, this research is finished.")
            assert "at any time" not in page
            assert page.count("Stopped.") == 1
            if is_api:
                assert browser.post(f"/api{address}/finish").status_code == 202
            else:
                assert browser.post(f"{address}/finish").headers["location"] == address
            assert last_event(browser, address) == "done"
            run = browser.get(address).headers["location"]
            note = text(browser.get(run).text, ".brief > .note")
            (row,) = (one for one in LexborHTMLParser(browser.get("/research").text).css(".run-row"))
            assert "stopped early" in row.text()
            assert f"stopped after {read} of at most 5 pages" in note
            assert "The next would have been:" in note
            french = text(browser.get(run, headers={"accept-language": "fr"}).text, ".brief > .note")
            assert f"arrêtée après {read} pages" in french
            assert browser.get(f"{run}/export/markdown").status_code == 200
            assert browser.post(f"{address}/finish").headers["location"] == address
            assert "/finish" not in browser.get(run).text


def test_a_run_without_the_model_does_not_ask_it(tmp_path: Path) -> None:
    """With rules alone chosen, no model is used, even if one is set."""
    gate = Gate(holds=0)
    with serving(gate) as model_server, a_server(tmp_path, model_server) as (browser, runs):
        address = browser.post("/research", data={"topic": TOPIC, "max_pages": "2", "model": "without"}).headers[
            "location"
        ]
        assert last_event(browser, address) == "done"
        assert '"model": ""' in (runs / address.rpartition("/")[2] / "manifest.json").read_text()
    assert gate.asked == []


@pytest.fixture
def before(tmp_path: Path) -> Iterator[tuple[httpx2.Client, Store]]:
    """A server that finds jobs of before in its store."""
    settings = {"KIWIRESEARCH_SERVE_RUNS": str(tmp_path / "runs"), **NO_RATE_LIMIT}
    with (
        server_context(tmp_path / "home", **settings) as here,
        running_server(here, make_app) as at,
        browser_client(at) as client,
    ):
        yield client, store_of(here.workspace)


def test_work_on_a_family_leads_to_its_case(before: tuple[httpx2.Client, Store]) -> None:
    """It has no pages of its own: its page shows its state and links to the family."""
    browser, store = before
    job = Job("family-1", FamilyRequest("5f0c9a3be812"), state="failed", turn=1, pages=3)
    put_row(store, job_row(replace(job, problem="The disk '/srv/x/disk' is <full>.", remedy="Make room.")))
    page = browser.get("/research/family-1").text
    assert "3 steps" in text(page, ".status")
    assert text(page, ".problem") == "The disk 'disk' is <full>. Make room."
    assert first_of(LexborHTMLParser(page), ".actions a").attributes["href"] == "/family/5f0c9a3be812"
    assert "failed" in text(browser.get("/research").text, ".cards")


def test_work_on_a_family_has_a_bar(before: tuple[httpx2.Client, Store]) -> None:
    """While a family is researched, its page shows what was done last and how many searches are left so far."""
    browser, store = before
    put_row(store, job_row(Job("family-1", FamilyRequest("5f0c9a3be812"), state="queued", turn=1)))
    leased = store.leases.lease_next("w", ["kin"], lease_s=600)
    assert leased is not None
    store.jobs.report_progress(leased.holder, leased.id, {"pages": 6})
    step = {"event": "step", "order": 6, "waiting": 18, "what": "fetch", "words": "Read a page: 12 new facts."}
    store.jobs.add_events(leased.holder, leased.id, leased.attempt, [step])
    page = browser.get("/research/family-1").text
    bar = first_of(LexborHTMLParser(page), ".status progress").attributes
    assert (bar["value"], bar["max"]) == ("6", "24")
    assert "6 steps · 18 searches left so far" in text(page, ".status")
    assert "Read a page: 12 new facts." in text(page, ".status")


def test_a_topic_that_no_book_knows_says_what_to_do(before: tuple[httpx2.Client, Store]) -> None:
    """A run that found nothing failed with a reason and a remedy, and the topic can be tried again."""
    browser, _ = before
    address = browser.post(
        "/research", data={"topic": "Xyzzyplugh qwortfen", "max_pages": "7", "depth": "0", "strategy": "bfs"}
    ).headers["location"]
    assert last_event(browser, address) == "failed"
    page = browser.get(address).text
    assert "Failed" in text(page, ".stage")
    assert "Xyzzyplugh" in text(page, ".problem")
    assert "Resume" in text(page, ".actions")
    assert "Pages read, newest first" not in page, "none will come"
    again = str(first_of(LexborHTMLParser(page), ".actions a").attributes["href"])
    form = LexborHTMLParser(browser.get(again).text)
    filled = {name: first_of(form, f"#{name}").attributes["value"] for name in ("topic", "max_pages", "depth")}
    assert filled == {"topic": "Xyzzyplugh qwortfen", "max_pages": "7", "depth": "0"}
    assert first_of(form, "input[name=strategy][value=bfs]").attributes.keys() >= {"checked"}
    output = browser.get(address, headers={"Accept-Language": "fr"}).text
    assert "Aucun résultat pour «" in text(output, ".problem")
    lists = browser.get("/research").text
    assert "No results" in text(lists, "h2")
    assert "Stopped before finishing" not in text(lists, "h2")
    cards = LexborHTMLParser(lists).css(".cards a.button")
    assert again in [node.attributes["href"] for node in cards]
    assert f"{address}/resume" not in lists
    assert browser.post(f"{address}/remove").headers["location"] == "/research"
    assert browser.get(address).status_code == 404
    assert "Xyzzyplugh" not in browser.get("/research").text
    assert browser.post(f"{address}/remove").status_code == 404


def test_work_that_took_pages_is_not_removed(before: tuple[httpx2.Client, Store]) -> None:
    """Nor is a family's: what was done is kept, and its page is shown."""
    browser, store = before
    requests: tuple[tuple[JobRequest, int], ...] = ((ResearchRequest("Ugarit"), 2), (FamilyRequest("5f0c9a3be813"), 0))
    for request, pages in requests:
        job = Job(f"{request.kind}-1", request, state="failed", turn=1, problem="The disk is full.", pages=pages)
        put_row(store, job_row(job))
        address = f"/research/{job.id}"
        assert "remove" not in browser.get(address).text
        assert browser.post(f"{address}/remove").headers["location"] == address
        assert browser.get(address).status_code == 200


def test_an_unknown_job_is_not_found(browser: httpx2.Client) -> None:
    """No id leads anywhere else."""
    for name in ("nowhere-1", "..%2F..%2Fetc", "x" * 150):
        assert browser.get(f"/research/{name}").status_code == 404
        assert browser.post(f"/research/{name}/stop").status_code == 404
