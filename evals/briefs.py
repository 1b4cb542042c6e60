"""What every brief promises, checked on real ones: quotes are spans, statements rest on claims, ids are stable.

30 articles of a real book with enough links are researched by rules alone, each
into a folder, and what stands in the files is held against the book, opened anew.
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
FEWEST_LINKS = 20
PAGES = 8
SUMMARY = range(3, 13)
ENOUGH_CLAIMS = 30
"""With fewer claims there may not be six different things to say."""
PAGES_AGAIN = 3
"""Of so many pages of each run the claims are made again, since that takes as long as the first time."""
ALIKE = 0.5
"""Two statements of a summary with this share of common words say nearly the same."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What the files of a run hold: its claims, each with the id written beside it, and its brief."""

    claims: tuple[Claim, ...]
    ids: tuple[str, ...]
    brief: Brief


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over one run, or over all."""

    counts: Counter[str]

    def share(self, part: str, whole: str) -> float:
        """1 where there is nothing to be wrong about."""
        return self.counts[part] / self.counts[whole] if self.counts[whole] else 1.0


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """The shares that must be 1, and what is worth knowing beside them."""
    if not BOOK.is_file():
        return None
    archive = LibzimArchive(BOOK)
    topics = drawn(archive)
    archive.close()
    cores = max(1, min(os.cpu_count() or 1, 8))
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        tallies = pool.map(partial(tallied, BOOK), [topics[number::cores] for number in range(cores)])
    return digest_of(BOOK), *figures_of(sum((one.counts for one in tallies), Counter()))


def drawn(archive: Archive) -> list[str]:
    """The titles of the articles with enough links that come first by the hash of their titles."""
    titles = {archive.title(path): path for path in archive.articles() if path != archive.book.main_page}
    found: list[str] = []
    for title in sorted(titles, key=lambda title: hashlib.sha256(title.encode()).digest()):
        if len(links_of(archive, titles[title])) >= FEWEST_LINKS:
            found.append(title)
        if len(found) == TOPICS:
            break
    return found


@contextmanager
def desk_with(file: Path) -> Iterator[tuple[Finder, Path]]:
    """A finder over one book, and a folder for runs; all is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        desk = open_workspace({"KIWIRESEARCH_HOME": str(Path(folder) / "home")})
        with shelf_of(desk, [str(file)]) as shelf, Finder(desk, shelf, search_every_book=True) as finder:
            yield finder, Path(folder)


def ran(finder: Finder, topic: str, out: Path, *, pages: int) -> Ran:
    """Research a topic by rules alone, and read back what was written."""
    Research(finder, ResearchTask(topic, settings=CrawlSettings(max_pages=pages, fast=True))).run(out)
    rows = [json.loads(line) for line in (out / "claims.jsonl").read_bytes().splitlines()]
    brief = brief_from_record(json.loads((out / "brief.json").read_bytes()))
    return Ran(tuple(map(claim_from_record, rows)), tuple(row["claim_id"] for row in rows), brief)


def tallied(file: Path, topics: Sequence[str]) -> Tally:
    archive = LibzimArchive(file)
    counts: Counter[str] = Counter()
    with desk_with(file) as (finder, folder):
        for number, topic in enumerate(topics):
            counts += tally(ran(finder, topic, folder / str(number), pages=PAGES), archive)
    archive.close()
    return Tally(counts)


def tally(run: Ran, archive: Archive) -> Counter[str]:
    """What is right about a run, and of how much; pages are read anew."""
    paths = dict.fromkeys(claim.ref.path for claim in chain(run.claims, run.brief.claims.values()))
    pages = {path: open_page(archive, path) for path in paths}
    some = list(pages)[:PAGES_AGAIN]
    again: set[str] = {claim.id for path in some for claim in claims_of(pages[path], archive.book.name, all_sentences)}
    ids = [(claim.id, written) for claim, written in zip(run.claims, run.ids, strict=True) if claim.ref.path in some]
    quotes = [quote for claim in chain(run.claims, run.brief.claims.values()) for quote in claim.quotes]
    made = set(run.ids)
    statements = run.brief.statements()
    return Counter(
        {
            "runs": 1,
            "pages": len(run.brief.sources.pages),
            "claims": len(run.claims),
            "quotes": len(quotes),
            "quotes that are spans": sum(_is_span(quote, pages) for quote in quotes),
            "ids": len(ids),
            "ids that come again": sum(one == written and written in again for one, written in ids),
            "statements": len(statements),
            "statements on claims": sum(_rests(one, made) for one in statements),
            "statements of two pages": sum(one.pages > 1 for one in statements),
            "statements said before": len(statements) - len({one.text for one in statements}),
        }
    ) + _of_summary(run)


def _is_span(quote: Quote, pages: dict[str, PageDoc]) -> bool:
    page = pages.get(quote.ref.path)
    return page is not None and quote.ref == page.ref and is_on_page(quote, page)


def _rests(statement: Statement, made: set[str]) -> bool:
    return bool(statement.claims) and made.issuperset(statement.claims)


def _of_summary(run: Ran) -> Counter[str]:
    summary = run.brief.summary
    enough = len(run.claims) >= ENOUGH_CLAIMS
    pairs = list(combinations([roots_of(one.text, "eng") for one in summary], 2))
    return Counter(
        {
            "summaries to be long enough": int(enough),
            "summaries long enough": int(enough and len(summary) in SUMMARY),
            "summary statements": len(summary),
            "summary pairs": len(pairs),
            "summary pairs alike": sum(jaccard(*pair) >= ALIKE for pair in pairs),
        }
    )


def figures_of(counts: Counter[str]) -> tuple[dict[str, float], dict[str, float]]:
    """The figures that have floors, and those beside them."""
    all_of = Tally(counts).share
    figures = {
        "quotes_are_spans": all_of("quotes that are spans", "quotes"),
        "statements_rest_on_claims": all_of("statements on claims", "statements"),
        "ids_are_stable": all_of("ids that come again", "ids"),
        "summaries_long_enough": all_of("summaries long enough", "summaries to be long enough"),
    }
    beside = {
        "claims_a_page": counts["claims"] / max(counts["pages"], 1),
        "statements_a_brief": counts["statements"] / max(counts["runs"], 1),
        "summary_statements": counts["summary statements"] / max(counts["runs"], 1),
        "statements_of_two_pages": all_of("statements of two pages", "statements"),
        "statements_said_before": all_of("statements said before", "statements"),
        "summary_pairs_alike": all_of("summary pairs alike", "summary pairs"),
    }
    return figures, beside
