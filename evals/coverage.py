"""Coverage: when the title of an article is researched in its book, how much of the article is in claims and brief?

The names that the article links in its text are counted, and the quantities and dates in it. Forty articles are
researched by rules alone, with 16 pages each.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

from evals.briefs import RunFiles, finder_for, run_research
from evals.crawl import MIN_LINKS, links_of
from evals.data import SHARED_DATA, digest_of
from kiwiresearch.page.doc import BlockKind, PageDoc
from kiwiresearch.page.parser import open_page
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.text.dates.ranges import DateRange
from kiwiresearch.text.languages import language_words
from kiwiresearch.text.quantity import Quantity
from kiwiresearch.text.quantity_mentions import quantities_in
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.libzim import LibzimArchive

BOOK = SHARED_DATA / "zims" / "schools-2007.zim"
ARTICLES = 40
PAGES = 16
COUNTED_BLOCKS: frozenset[BlockKind] = frozenset({"paragraph", "item", "quote", "row"})
COUNTED_PLACES = frozenset({"lead", "body", "list", "table"})
MIN_WITHOUT_UNIT = 13
"""A number without a unit is not counted below this, because small numbers are found in any text."""
DIGIT = re.compile(r"\d")
NON_WORD = re.compile(r"\W+")

Number = tuple[str, float, float]
"""The unit and both ends of a quantity or date."""


@dataclass(frozen=True, slots=True)
class Content:
    """The names and numbers of a text."""

    names: frozenset[str]
    numbers: frozenset[Number]


@dataclass(frozen=True, slots=True)
class Coverage:
    """The names and numbers of an article, and which of them are in the claims and in the brief."""

    article: Content
    claims: Content
    brief: Content


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """The mean shares of an article's names and numbers in the claims and in the brief."""
    if not BOOK.is_file():
        return None
    archive = LibzimArchive(BOOK)
    paths = choose_articles(archive)
    archive.close()
    cores = max(1, min(os.cpu_count() or 1, 8))
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        parts = pool.map(partial(research_articles, BOOK), [paths[number::cores] for number in range(cores)])
    return digest_of(BOOK), *figures_of([one for part in parts for one in part])


def choose_articles(archive: Archive) -> list[str]:
    """The articles with enough links that come first by the hash of their paths, as in `evals.crawl`."""
    found: list[str] = []
    for path in sorted(archive.articles(), key=lambda path: hashlib.sha256(path.encode()).digest()):
        if path != archive.book.main_page and len(links_of(archive, path)) >= MIN_LINKS:
            found.append(path)
        if len(found) == ARTICLES:
            break
    return found


def research_articles(file: Path, paths: Sequence[str]) -> list[Coverage]:
    archive = LibzimArchive(file)
    coverages = []
    with finder_for(file) as (finder, folder):
        for number, path in enumerate(paths):
            page = open_page(archive, path)
            run = run_research(finder, page.title, folder / str(number), pages=PAGES)
            coverages.append(coverage_of(article_content(page), run))
    archive.close()
    return coverages


def article_content(page: PageDoc) -> Content:
    """The names that an article links in its text, and the numbers in it, without its lists of sources."""
    names = {
        link.text
        for link in page.links
        if link.place in COUNTED_PLACES and link.in_text and not DIGIT.search(link.text)
    }
    source_headings = language_words(page.language).references
    spans = [
        (section.start, section.end) for section in page.sections if section.heading.casefold() not in source_headings
    ]
    texts = [
        page.text[block.start : block.end]
        for block in page.blocks
        if block.kind in COUNTED_BLOCKS and any(start <= block.start < end for start, end in spans)
    ]
    return Content(frozenset(filter(None, map(fold_words, names))), numbers_of(texts, page.language))


def numbers_of(texts: Iterable[str], language: str = "eng") -> frozenset[Number]:
    """The quantities and dates of some texts; a quantity given in two units counts once."""
    numbers: set[Number] = set()
    for text in texts:
        if not DIGIT.search(text):
            continue
        dates = dates_in(text, language)
        quantities = quantities_in(text, language, not_in=[(mention.start, mention.end) for mention in dates])
        numbers |= _counted_numbers((mention.when for mention in dates), quantities)
    return frozenset(numbers)


def _counted_numbers(dates: Iterable[DateRange], quantities: Iterable[Quantity]) -> set[Number]:
    counted = (
        quantity
        for quantity in quantities
        if not quantity.converted and (quantity.unit or quantity.high >= MIN_WITHOUT_UNIT)
    )
    return {("date", float(date.earliest), float(date.latest)) for date in dates} | {
        (quantity.unit, float(f"{quantity.low:.6g}"), float(f"{quantity.high:.6g}")) for quantity in counted
    }


def fold_words(text: str) -> str:
    """The words of a text, with a space before and after each; empty if there are none."""
    words = NON_WORD.sub(" ", text.casefold()).strip()
    return f" {words} " if words else ""


def coverage_of(article: Content, run: RunFiles) -> Coverage:
    claims = run.claims
    numbers = _counted_numbers(
        (mention.when for claim in claims for mention in claim.dates),
        (measure.quantity for claim in claims for measure in claim.measures),
    )
    statements = [statement.text for statement in run.brief.statements()]
    in_claims = Content(_names_in(article.names, (claim.text for claim in claims)), frozenset(numbers))
    return Coverage(article, in_claims, Content(_names_in(article.names, statements), numbers_of(statements)))


def _names_in(names: Iterable[str], texts: Iterable[str]) -> frozenset[str]:
    """The names that occur in some texts."""
    joined = "|".join(map(fold_words, texts))
    return frozenset(name for name in names if name in joined)


def figures_of(rows: Sequence[Coverage]) -> tuple[dict[str, float], dict[str, float]]:
    """The pinned figures, and those that are not pinned."""
    figures = {}
    for output in ("claims", "brief"):
        pairs = [(row.article, getattr(row, output)) for row in rows]
        figures[f"names_in_{output}"] = fmean(_share(article.names, covered.names) for article, covered in pairs)
        figures[f"numbers_in_{output}"] = fmean(_share(article.numbers, covered.numbers) for article, covered in pairs)
    unpinned = {
        "names_an_article": fmean(len(row.article.names) for row in rows),
        "numbers_an_article": fmean(len(row.article.numbers) for row in rows),
    }
    return figures, unpinned


def _share(wanted: frozenset[object], found: frozenset[object]) -> float:
    """The share of what is wanted that was found; 1 if nothing is wanted."""
    return len(wanted & found) / len(wanted) if wanted else 1.0
