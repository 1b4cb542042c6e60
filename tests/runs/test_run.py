"""A whole run over the sample book: which files it writes, what they say, and when it says no."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.crawl.step import EndStep, StartStep, VisitStep
from kiwiresearch.runs.research import Research, RunProgress
from kiwiresearch.runs.task import ResearchTask
from kiwiresearch.version import __version__
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace

OUTPUTS = {"brief.json", "claims.jsonl", "corpus.jsonl", "graph.json", "report.html", "report.md", "run.log"}
TOPIC = "causes of the Bronze Age collapse"


@contextmanager
def research(home: Path, task: ResearchTask, *books: Path) -> Iterator[Research]:
    desk = open_workspace({"KIWIRESEARCH_HOME": str(home)})
    with shelf_of(desk, [str(book) for book in books]) as shelf, Finder(desk, shelf, search_every_book=True) as finder:
        yield Research(finder, task)


def quick(topic: str, *, focus: str = "", **settings: Any) -> ResearchTask:
    """A task without vectors, which take longest to load."""
    return ResearchTask(topic, focus, CrawlSettings(**{"fast": True, "max_pages": 8} | settings))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def progress_reports() -> list[RunProgress]:
    return []


@pytest.fixture(scope="module")
def done(place: Path, progress_reports: list[RunProgress], sample_zim: Path) -> Path:
    """A finished run of twelve pages, with vectors."""
    task = ResearchTask(TOPIC, settings=CrawlSettings(max_pages=12))
    with research(place / "home", task, sample_zim) as work:
        outcome = work.run(place / "done", progress_reports.append)
    assert (outcome.how, outcome.pages, outcome.resumed_pages, outcome.topic) == ("done", 12, 0, TOPIC)
    assert outcome.report == place / "done" / "report.md"
    return outcome.folder


def corpus(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "corpus.jsonl").read_bytes().splitlines()]


def titles(folder: Path) -> list[str]:
    return [page["title"] for page in corpus(folder)]


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return found


def graph(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "graph.json").read_text(encoding="utf-8"))
    return found


def test_a_run_leaves_its_files_and_nothing_else(done: Path) -> None:
    """Corpus, claims, graph and log are saved, with the brief, the manifest and the timings (R154)."""
    assert {entry.name for entry in done.iterdir()} == OUTPUTS | {"manifest.json", "timings.json"}


def test_the_manifest_says_what_the_run_was_made_from(done: Path) -> None:
    """Settings, version, and each book with its UUID, date and flavour are in the manifest."""
    found = manifest(done)
    assert (found["topic"], found["focus"], found["version"], found["pages"]) == (TOPIC, "", __version__, 12)
    assert found["fingerprint"].startswith("sha256:")
    assert found["embedder"].startswith("kiwiresearch-static")
    assert (found["settings"]["max_pages"], found["settings"]["strategy"]) == (12, "priority")
    assert found["settings"]["weights"].keys() >= {"relevance", "novelty", "authority"}
    assert found["settings"]["filters"]["exclude"] == ["ISBN", "Help:"]
    (book,) = found["books"]
    assert book.pop("opens_at") == f"zim://{book['id']}/"
    assert book.pop("title_index") is True
    assert book == {
        "articles": book["articles"],
        "date": "2025-07-01",
        "flavour": "",
        "id": book["id"],
        "language": "eng",
        "name": "kiwiresearch_en_sample",
        "title": "kiwiresearch sample book",
    }
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", book["id"])


def test_the_manifest_has_the_hash_of_every_output(done: Path) -> None:
    """Each output is named with the SHA-256 and the size of its bytes; the timings, never the same twice, are not."""
    named = manifest(done)["outputs"]
    assert named.keys() == OUTPUTS
    for name, output in named.items():
        content = (done / name).read_bytes()
        assert output == {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}, name


def test_the_corpus_has_a_line_for_each_page(done: Path) -> None:
    """Each line has title, url, plain text, links, sections and metadata of a page (R25)."""
    book = manifest(done)["books"][0]["id"]
    for order, page in enumerate(corpus(done), start=1):
        assert page["url"] == f"zim://{book}/{page['path']}"
        assert page["title"] == page["path"].replace("_", " ")
        assert page["plain_text"].startswith(page["lead"][:100])
        assert len(page["plain_text"]) > 300
        assert page["sections"][0].keys() >= {"heading", "level", "start_offset", "end_offset"}
        assert page["links"][0].keys() >= {"target_path", "target_title", "anchor_text", "section", "context_snippet"}
        metadata = page["metadata"]
        assert (metadata["order"], metadata["depth"] <= 2) == (order, True)
        assert 0 <= metadata["relevance"] <= 1
        assert Decimal(str(metadata["priority_score"])) == sum(
            Decimal(str(line["points"])) for line in metadata["lines"]
        )
        assert metadata["reason"]


def test_a_topic_that_is_not_a_title_begins_with_the_page_it_means(done: Path) -> None:
    """From a phrase the run finds the best-matching article and begins there (R1, R2, R9)."""
    assert corpus(done)[0]["title"] == "Late Bronze Age collapse"
    assert corpus(done)[0]["metadata"]["depth"] == 0


def test_the_graph_has_the_pages_of_the_corpus(done: Path) -> None:
    """Nodes are pages with their scores and their relevance; those visited are the corpus, in its order (R27, R126)."""
    visited = [node for node in graph(done)["nodes"] if node["state"] == "visited"]
    pages = corpus(done)
    assert [node["page_id"] for node in visited] == [page["id"] for page in pages]
    for node, page in zip(visited, pages, strict=True):
        metadata = page["metadata"]
        for key in ("order", "depth", "priority_score", "relevance", "lines", "reason", "cluster"):
            assert node[key] == metadata[key]
    left = [node for node in graph(done)["nodes"] if node["state"] == "left"]
    assert left
    assert len(left) <= 12
    assert [node["priority_score"] for node in left] == sorted((node["priority_score"] for node in left), reverse=True)
    assert {node["order"] for node in left} == {None}


def test_edges_are_the_links_between_the_pages(done: Path) -> None:
    """Both ends of each edge are nodes, and its weight is how often and in which context they link (R5, R127)."""
    found = graph(done)
    nodes = {node["ref"]: node for node in found["nodes"]}
    anchors = {page["url"]: {link["anchor_text"] for link in page["links"]} for page in corpus(done)}
    assert len(found["edges"]) > 50
    for edge in found["edges"]:
        start, end = nodes[edge["from"]], nodes[edge["to"]]
        assert (edge["from_page_id"], edge["to_page_id"]) == (start["page_id"], end["page_id"])
        assert start["state"] == "visited"
        assert edge["anchor_text"] in anchors[start["url"]]
        assert Decimal(str(edge["weight"])) == edge["count"] + Decimal(str(edge["context"]))
        assert edge["count"] >= 1
    assert any(edge["context"] > 0 for edge in found["edges"])


def test_the_log_says_why_each_page_was_chosen(done: Path) -> None:
    """For each page there is a reason and a score, whose terms add up to the points in its heading (R8, R28)."""
    log = (done / "run.log").read_text(encoding="utf-8")
    rows = re.findall(r"^(\d+)\. (.+) \(depth (\d), ([\d.]+) points\)\n   Chosen: (.+)\n   Score: (.+)\n", log, re.M)
    assert [row[1] for row in rows] == titles(done)
    for number, (order, title, depth, points, chosen, terms) in enumerate(rows, start=1):
        assert int(order) == number
        assert chosen == corpus(done)[number - 1]["metadata"]["reason"], title
        assert int(depth) == corpus(done)[number - 1]["metadata"]["depth"]
        assert Decimal(points) == sum(Decimal(found) for found in re.findall(r" ([+-][\d.]+)(?:,|$)", terms)), title


def test_the_log_ends_with_a_search_statement(done: Path) -> None:
    """The last part says what was looked for, where, with which words, and why it stopped."""
    statement = (done / "run.log").read_text(encoding="utf-8").partition("## Search statement\n")[2].splitlines()
    assert statement[0] == f"Topic: {TOPIC!r}."
    assert statement[1].startswith("Searched the titles and full text of 'kiwiresearch sample book' for ")
    assert re.fullmatch(r"Stopped because the limit of 12 pages was reached; \d+ candidates not read\.", statement[-2])
    assert statement[-1].startswith("Only these books were searched")


def test_the_brief_lists_all_pages_and_the_settings(done: Path) -> None:
    """report.md has the run's story, all visited pages, the cited ones first, and the snapshot it was made of.

    Its parts are the consensus, disputes, numbers, timeline, open questions and a bibliography (R6, R24).
    """
    text = (done / "report.md").read_text(encoding="utf-8")
    assert text.startswith(f"# Research Brief: {TOPIC}\n")
    brief = json.loads((done / "brief.json").read_text(encoding="utf-8"))
    # These are listed if the pages have some.
    optional = {"Findings": "body", "Timeline / Historical Development": "timeline", "Key Actors": "actors"}
    parts = (
        "Executive Summary", "Findings", "Key Concepts & Definitions", "Timeline / Historical Development",
        "Mechanisms / Explanations", "Key Actors", "Competing Views & Disputes", "Numbers & Quantitative Claims",
        "What Wikipedia Doesn’t Settle Yet", "How to read this brief", "Bibliography",
        "How the sources were found", "Run Metadata",
    )  # fmt: skip
    assert re.findall(r"^## (.+)$", text, re.M) == [
        part for part in parts if part not in optional or brief[optional[part]]
    ]
    listed = text.partition("## Bibliography")[2].partition("## ")[0]
    used = {claim["path"] for claim in brief["claims"]}
    for is_cited, pattern in ((True, r"^\d+\. \[(.+?)\]\((.+?)\)"), (False, r"^- \[(.+?)\]\((.+?)\)")):
        pages = [page for page in corpus(done) if (page["path"] in used) == is_cited]
        assert re.findall(pattern, listed, re.M) == [(page["title"], page["url"]) for page in pages]
    left = sum(page["path"] not in used for page in corpus(done))
    assert left == 0 or re.search(rf"^{left} pages? read but not cited$", listed, re.M)
    assert manifest(done)["fingerprint"] in text
    assert manifest(done)["books"][0]["id"] in text


class Links(HTMLParser):
    """The addresses that a page links to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for key, value in attrs if tag == "a" and key == "href"]


def test_the_html_brief_links_to_local_pages(done: Path) -> None:
    """report.html lists the same pages, each linked to its place in the local book (R29)."""
    links = Links((done / "report.html").read_text(encoding="utf-8")).found
    assert links[-12:] == [page["url"] for page in corpus(done)]


def test_timings_are_in_a_file_of_their_own(done: Path) -> None:
    """timings.json says how long the run took, by page."""
    found = json.loads((done / "timings.json").read_text(encoding="utf-8"))
    assert (found["pages_kept"], len(found["seconds_by_page"])) == (0, 12)
    assert found["seconds"] == pytest.approx(sum(found["seconds_by_page"]), abs=0.001)


def test_each_step_is_reported_as_it_is_made(done: Path, progress_reports: list[RunProgress]) -> None:
    """A listener gets the start, each page in its order, and the end."""
    steps = [progress.step for progress in progress_reports]
    assert isinstance(steps[0], StartStep)
    assert isinstance(steps[-1], EndStep)
    assert [step.title for step in steps if isinstance(step, VisitStep)] == titles(done)


def test_fast_compares_no_meanings(done: Path, place: Path, tmp_path: Path, sample_zim: Path) -> None:
    """A fast run loads no embedder and scores by words and links alone (R149)."""
    with research(place / "home", quick(TOPIC), sample_zim) as work:
        folder = work.run(tmp_path / "run").folder
    assert manifest(folder)["embedder"] == ""
    meant = {line["signal"] for page in corpus(folder) for line in page["metadata"]["lines"]}
    assert "meaning" not in meant
    assert "meaning" in {line["signal"] for page in corpus(done) for line in page["metadata"]["lines"]}


def test_a_focus_moves_its_pages_forward(place: Path, tmp_path: Path, sample_zim: Path) -> None:
    """With a focus, pages about it come earlier than without (R151)."""
    orders = []
    for number, focus in enumerate(("", "earthquakes, drought")):
        with research(place / "home", quick("Bronze Age collapse", focus=focus, max_pages=12), sample_zim) as work:
            orders.append(titles(work.run(tmp_path / str(number)).folder))
    plain, focused = orders
    about = {"Drought", "Earthquake", "Earthquake storm", "Climate and the Late Bronze Age collapse"}
    assert len(about & set(plain[:6])) < len(about & set(focused[:6]))
    assert manifest(tmp_path / "1")["focus"] == "earthquakes, drought"


def test_a_run_goes_no_deeper_than_it_may(place: Path, tmp_path: Path, sample_zim: Path) -> None:
    """At depth 0 only the seeds are taken; the crawl is limited by depth (R3, R11)."""
    depths = []
    for depth in (0, 1):
        with research(place / "home", quick("Sunset", max_depth=depth, max_pages=40), sample_zim) as work:
            folder = work.run(tmp_path / str(depth)).folder
        depths.append({page["metadata"]["depth"] for page in corpus(folder)})
    assert depths == [{0}, {0, 1}]
