"""What every brief guarantees, checked on real ones: quotes are spans, statements are based on claims, IDs are stable.

The titles of 30 articles of a real book are researched by rules alone, and the files of each run are compared with the
book, which is opened again for that.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations
from pathlib import Path

from evals.crawl import links_of
from evals.data import SHARED_DATA, digest_of
from kiwiresearch.brief.brief import Brief, Statement, brief_from_record
from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.claims.claim import Claim, claim_from_record
from kiwiresearch.claims.plain_claims import all_sentences
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.evidence import Quote, is_on_page
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import open_page
from kiwiresearch.runs.research import Research
from kiwiresearch.runs.task import ResearchTask
from kiwiresearch.text import roots_of
from kiwiresearch.text.similarity import jaccard
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.libzim import LibzimArchive

BOOK = SHARED_DATA / "zims" / "schools-2007.zim"
TOPICS = 30
MIN_LINKS = 20
PAGES = 8
SUMMARY_LENGTHS = range(3, 13)
ENOUGH_CLAIMS = 30
"""With fewer claims, there may not be enough different things to say in a summary."""
PAGES_EXTRACTED_AGAIN = 3
"""For this many pages of each run, the claims are extracted again, which takes as long as the first time."""
MIN_SIMILARITY = 0.5
"""Two statements of a summary with this share of common words say nearly the same."""


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files of a run: its claims, the IDs written for them in the same order, and its brief."""

    claims: tuple[Claim, ...]
    ids: tuple[str, ...]
    brief: Brief


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts of one run, or of several together."""

    counts: Counter[str]

    def share(self, part: str, whole: str) -> float:
        """One count divided by another; 1 if there was nothing to count."""
        return self.counts[part] / self.counts[whole] if self.counts[whole] else 1.0


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """The shares that must be 1; averages and other shares are not pinned."""
    if not BOOK.is_file():
        return None
    archive = LibzimArchive(BOOK)
    topics = choose_titles(archive)
    archive.close()
    cores = max(1, min(os.cpu_count() or 1, 8))
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        tallies = pool.map(partial(tally_topics, BOOK), [topics[number::cores] for number in range(cores)])
    return digest_of(BOOK), *figures_of(sum((tally.counts for tally in tallies), Counter()))


def choose_titles(archive: Archive) -> list[str]:
    """The titles of the articles with enough links that come first by the hash of their titles."""
    titles = {archive.title(path): path for path in archive.articles() if path != archive.book.main_page}
    found: list[str] = []
    for title in sorted(titles, key=lambda title: hashlib.sha256(title.encode()).digest()):
        if len(links_of(archive, titles[title])) >= MIN_LINKS:
            found.append(title)
        if len(found) == TOPICS:
            break
    return found


@contextmanager
def finder_for(file: Path) -> Iterator[tuple[Finder, Path]]:
    """A finder for one book and a folder for runs, which are removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = open_workspace({"KIWIRESEARCH_HOME": str(Path(folder) / "home")})
        with shelf_of(workspace, [str(file)]) as shelf, Finder(workspace, shelf, search_every_book=True) as finder:
            yield finder, Path(folder)


def run_research(finder: Finder, topic: str, out: Path, *, pages: int) -> RunFiles:
    """Research a topic by rules alone, and read the files that were written."""
    Research(finder, ResearchTask(topic, settings=CrawlSettings(max_pages=pages, fast=True))).run(out)
    rows = [json.loads(line) for line in (out / "claims.jsonl").read_bytes().splitlines()]
    brief = brief_from_record(json.loads((out / "brief.json").read_bytes()))
    return RunFiles(tuple(map(claim_from_record, rows)), tuple(row["claim_id"] for row in rows), brief)


def tally_topics(file: Path, topics: Sequence[str]) -> Tally:
    archive = LibzimArchive(file)
    counts: Counter[str] = Counter()
    with finder_for(file) as (finder, folder):
        for number, topic in enumerate(topics):
            counts += tally_run(run_research(finder, topic, folder / str(number), pages=PAGES), archive)
    archive.close()
    return Tally(counts)


def tally_run(run: RunFiles, archive: Archive) -> Counter[str]:
    """Count what a run has and how much of it is right; its pages are read again."""
    paths = dict.fromkeys(claim.ref.path for claim in chain(run.claims, run.brief.claims.values()))
    pages = {path: open_page(archive, path) for path in paths}
    paths_again = list(pages)[:PAGES_EXTRACTED_AGAIN]
    ids_again: set[str] = {
        claim.id for path in paths_again for claim in claims_of(pages[path], archive.book.name, all_sentences)
    }
    id_pairs = [
        (claim.id, written) for claim, written in zip(run.claims, run.ids, strict=True) if claim.ref.path in paths_again
    ]
    quotes = [quote for claim in chain(run.claims, run.brief.claims.values()) for quote in claim.quotes]
    run_ids = set(run.ids)
    statements = run.brief.statements()
    return Counter(
        {
            "runs": 1,
            "pages": len(run.brief.sources.pages),
            "claims": len(run.claims),
            "quotes": len(quotes),
            "quotes that are spans": sum(_is_span(quote, pages) for quote in quotes),
            "ids": len(id_pairs),
            "ids that come again": sum(claim_id == written and written in ids_again for claim_id, written in id_pairs),
            "statements": len(statements),
            "statements on claims": sum(_is_based_on(statement, run_ids) for statement in statements),
            "statements of two pages": sum(statement.pages > 1 for statement in statements),
            "statements said before": len(statements) - len({statement.text for statement in statements}),
        }
    ) + _tally_summary(run)


def _is_span(quote: Quote, pages: dict[str, PageDoc]) -> bool:
    page = pages.get(quote.ref.path)
    return page is not None and quote.ref == page.ref and is_on_page(quote, page)


def _is_based_on(statement: Statement, run_ids: set[str]) -> bool:
    return bool(statement.claims) and run_ids.issuperset(statement.claims)


def _tally_summary(run: RunFiles) -> Counter[str]:
    summary = run.brief.summary
    has_enough_claims = len(run.claims) >= ENOUGH_CLAIMS
    pairs = list(combinations([roots_of(statement.text, "eng") for statement in summary], 2))
    return Counter(
        {
            "summaries to be long enough": int(has_enough_claims),
            "summaries long enough": int(has_enough_claims and len(summary) in SUMMARY_LENGTHS),
            "summary statements": len(summary),
            "summary pairs": len(pairs),
            "summary pairs alike": sum(jaccard(*pair) >= MIN_SIMILARITY for pair in pairs),
        }
    )


def figures_of(counts: Counter[str]) -> tuple[dict[str, float], dict[str, float]]:
    """The pinned figures, and those that are not pinned."""
    share = Tally(counts).share
    figures = {
        "quotes_are_spans": share("quotes that are spans", "quotes"),
        "statements_rest_on_claims": share("statements on claims", "statements"),
        "ids_are_stable": share("ids that come again", "ids"),
        "summaries_long_enough": share("summaries long enough", "summaries to be long enough"),
    }
    unpinned = {
        "claims_a_page": counts["claims"] / max(counts["pages"], 1),
        "statements_a_brief": counts["statements"] / max(counts["runs"], 1),
        "summary_statements": counts["summary statements"] / max(counts["runs"], 1),
        "statements_of_two_pages": share("statements of two pages", "statements"),
        "statements_said_before": share("statements said before", "statements"),
        "summary_pairs_alike": share("summary pairs alike", "summary pairs"),
    }
    return figures, unpinned
