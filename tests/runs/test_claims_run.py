"""What a run claims: every quote is in its corpus, and a run that was stopped claims the same as one in one go."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from kiwiresearch.claims.claim import CLAIM_TYPES, claim_from_record, claim_record
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.crawl.step import VisitStep
from kiwiresearch.ids import canonical_json
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import open_page
from kiwiresearch.runs.research import Research, RunProgress
from kiwiresearch.runs.task import ResearchTask
from kiwiresearch.text.display import escaped_anywhere
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace
from kiwiresearch.zim.archive import Archive

TOPIC = "Bronze Age collapse"
PAGES = 6


@contextmanager
def research(place: Path, book: Path) -> Iterator[Research]:
    desk = open_workspace({"KIWIRESEARCH_HOME": str(place / "home")})
    with shelf_of(desk, [str(book)]) as shelf, Finder(desk, shelf, search_every_book=True) as finder:
        yield Research(finder, ResearchTask(TOPIC, settings=CrawlSettings(fast=True, max_pages=PAGES)))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("claims")


@pytest.fixture(scope="module")
def done(place: Path, sample_zim: Path) -> Path:
    """A finished run of six pages."""
    with research(place, sample_zim) as work:
        return work.run(place / "done").folder


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_bytes().splitlines()]


def texts(folder: Path) -> dict[tuple[str, str], str]:
    """The text of each page of the corpus, by book and path."""
    return {(page["book"], page["path"]): page["plain_text"] for page in lines(folder / "corpus.jsonl")}


def files(folder: Path) -> dict[str, bytes]:
    """All outputs of a run but the timings."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.name != "timings.json"
    }


def test_a_run_writes_its_claims(done: Path) -> None:
    """claims.jsonl has claims of every page and of several types, each once, and the manifest counts them.

    Each has its text, its type, its page and section, what makes it less certain, and quotes (R4, R26, R155).
    """
    rows = lines(done / "claims.jsonl")
    fields = {"claim", "claim_type", "page_title", "headings", "hedging", "confidence", "support_snippets"}
    assert all(fields <= row.keys() for row in rows)
    assert any(row["hedging"] for row in rows)
    assert json.loads((done / "manifest.json").read_text(encoding="utf-8"))["claims"] == len(rows)
    assert len({row["claim_id"] for row in rows}) == len(rows)
    assert {row["page_title"] for row in rows} == {page["title"] for page in lines(done / "corpus.jsonl")}
    types = {row["claim_type"] for row in rows}
    assert types <= set(CLAIM_TYPES)
    assert types >= {"definition", "causal", "numeric", "timeline"}


def test_every_quote_is_a_span_of_the_corpus(done: Path) -> None:
    """The words of every quote are in the page's text at the place that the claim names (R62, R155)."""
    pages = texts(done)
    rows = lines(done / "claims.jsonl")
    assert rows
    for row in rows:
        assert 1 <= len(row["support_snippets"]) == len(row["spans"]) <= 3
        for place, words in zip(row["spans"], row["support_snippets"], strict=True):
            assert pages[row["book"], row["path"]][place["start"] : place["end"]] == words


def test_claims_are_in_the_order_of_the_pages(done: Path) -> None:
    """Claims come page by page as the pages were taken."""
    order = [page["path"] for page in lines(done / "corpus.jsonl")]
    found = [row["path"] for row in lines(done / "claims.jsonl")]
    assert found == sorted(found, key=order.index)


def test_a_claim_is_read_back_as_it_was_written(done: Path) -> None:
    """A run that goes on has the very claims it had: each line gives the claim that gives the line."""
    for line in (done / "claims.jsonl").read_text(encoding="utf-8").splitlines():
        assert canonical_json(claim_record(claim_from_record(json.loads(line)))) == line


def text_of(statement: dict[str, Any]) -> str:
    return str(statement["text"])


def test_the_report_is_made_of_the_claims(done: Path) -> None:
    """Every statement of report.md is in brief.json and rests on lines of claims.jsonl (R138, R156)."""
    brief = json.loads((done / "brief.json").read_text(encoding="utf-8"))
    written = {row["claim_id"]: row for row in lines(done / "claims.jsonl")}
    assert brief["claims"] == [written[row["claim_id"]] for row in brief["claims"]]
    kept = {row["claim_id"] for row in brief["claims"]}
    report = (done / "report.md").read_text(encoding="utf-8")
    summary = report.partition("## Executive Summary")[2].partition("\n## ")[0]
    findings = report.partition("\n## Findings")[2].partition("\n## ")[0]
    result = dict.fromkeys(map(text_of, brief["summary"]), summary)
    result |= {text_of(one): findings for group in brief["body"] for one in group["statements"]}
    assert len(brief["summary"]) >= 6
    assert "\n- " not in summary + findings  # running text, no lists
    for text, part in result.items():
        assert part.count(escaped_anywhere(text)) == 1
    for statement in (*brief["summary"], *(one for group in brief["body"] for one in group["statements"])):
        assert statement["claims"]
        assert set(statement["claims"]) <= kept
        assert any(statement["text"] in written[one]["claim"] for one in statement["claims"])


def test_pages_linked_in_vain_are_gaps_of_the_book(place: Path, tmp_path: Path, a_book: Any) -> None:
    """A run says which pages its own pages link to and the book does not have, and how many do (R71, N9)."""
    page = '<p>Salt is a mineral that people dig.</p><h2>Use</h2><p>Salt goes to <a href="Varn">Varn</a>.</p>'
    book = a_book({"Salt": page, "Salt_mine": page, "Salt_road": page})
    desk = open_workspace({"KIWIRESEARCH_HOME": str(place / "home")})
    with shelf_of(desk, [str(book)]) as shelf, Finder(desk, shelf, search_every_book=True) as finder:
        folder = Research(finder, ResearchTask("salt", settings=CrawlSettings(fast=True))).run(tmp_path / "run").folder
    gaps = json.loads((folder / "brief.json").read_text(encoding="utf-8"))["gaps"]
    assert [gap["text"] for gap in gaps if "Varn (3)" in gap["text"] and gap["kind"] == "missing page"]


class Reads:
    """Counts how often each page is read, in all runs together."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.counts: Counter[str] = Counter()

        def counted(archive: Archive, path: str) -> PageDoc:
            self.counts[path] += 1
            return open_page(archive, path)

        monkeypatch.setattr("kiwiresearch.search.open_book.open_page", counted)


def stopped(place: Path, book: Path, out: Path, after: int) -> None:
    """A run that is interrupted when it has taken so many pages."""

    def stop(progress: RunProgress) -> None:
        if isinstance(progress.step, VisitStep) and len(progress.state.visited) == after:
            raise KeyboardInterrupt

    with research(place, book) as work, pytest.raises(KeyboardInterrupt):
        work.run(out, stop)


def test_a_run_stopped_at_any_step_claims_the_same(
    done: Path, place: Path, sample_zim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted after each of its steps, a run ends with the same bytes, and reads no page twice (R155)."""
    reads = Reads(monkeypatch)
    with research(place, sample_zim) as work:
        work.run(tmp_path / "whole")
    whole = dict(reads.counts)
    reads.counts.clear()
    interrupted = 0

    def stop(_: RunProgress) -> None:
        nonlocal interrupted
        interrupted += 1
        raise KeyboardInterrupt

    outcome = None
    while outcome is None and interrupted < 60:
        with research(place, sample_zim) as work, suppress(KeyboardInterrupt):
            outcome = work.run(tmp_path / "run", stop)
    assert outcome is not None
    assert (outcome.how, outcome.resumed_pages) == ("resumed", PAGES)
    assert interrupted > PAGES
    assert files(tmp_path / "run") == files(tmp_path / "whole") == files(done)
    taken = {page["path"] for page in lines(done / "corpus.jsonl")}
    assert taken <= whole.keys()
    # A page that was only looked at may be wanted later, and is then read again by a process that knows nothing of it.
    assert {path: count for path, count in reads.counts.items() if path in taken and count > 1} == {}


@pytest.mark.parametrize(
    ("part", "kept"),
    [("claims", 0.0), ("claims", 0.5), ("claims", 0.99), ("corpus", 0.5), ("steps", 0.5), ("steps", 0.99)],
)
def test_whatever_was_lost_is_claimed_again(
    done: Path, place: Path, sample_zim: Path, tmp_path: Path, part: str, kept: float
) -> None:
    """A power cut that takes the end of claims, corpus or journal costs pages, and changes no byte (R156)."""
    stopped(place, sample_zim, tmp_path / "run", 4)
    file = tmp_path / "run" / ".journal" / part
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * kept)])
    with research(place, sample_zim) as work:
        outcome = work.run(tmp_path / "run")
    assert outcome.resumed_pages < 4
    assert files(tmp_path / "run") == files(done)
