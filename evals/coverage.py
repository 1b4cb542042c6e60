"""Coverage: how much of an article reaches the claims and the brief when its title is researched in its book?

What is counted are the names that the article links in its text, and the
quantities and dates that stand there: 40 articles, 16 pages each, by rules alone.
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

from evals.briefs import Ran, desk_with, ran
from evals.crawl import FEWEST_LINKS, links_of
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
KINDS: frozenset[BlockKind] = frozenset({"paragraph", "item", "quote", "row"})
PLACES = frozenset({"lead", "body", "list", "table"})
SMALL = 13
"""A bare number below this is found anywhere, so that finding it says nothing."""
DIGIT = re.compile(r"\d")
NO_WORD = re.compile(r"\W+")

Number = tuple[str, float, float]
"""The unit and both ends of a quantity or date."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a text says, as far as it can be counted."""

    names: frozenset[str]
    numbers: frozenset[Number]


@dataclass(frozen=True, slots=True)
class Reached:
    """What of one article reaches the claims, and what the brief."""

    article: Told
    claims: Told
    brief: Told


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """The mean share of an article's names and numbers that is found again."""
    if not BOOK.is_file():
        return None
    archive = LibzimArchive(BOOK)
    paths = drawn(archive)
    archive.close()
    cores = max(1, min(os.cpu_count() or 1, 8))
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        parts = pool.map(partial(reached, BOOK), [paths[number::cores] for number in range(cores)])
    return digest_of(BOOK), *figures_of([one for part in parts for one in part])


def drawn(archive: Archive) -> list[str]:
    """The first articles of the evaluation of the crawl: those with enough links, by the hash of their paths."""
    found: list[str] = []
    for path in sorted(archive.articles(), key=lambda path: hashlib.sha256(path.encode()).digest()):
        if path != archive.book.main_page and len(links_of(archive, path)) >= FEWEST_LINKS:
            found.append(path)
        if len(found) == ARTICLES:
            break
    return found


def reached(file: Path, paths: Sequence[str]) -> list[Reached]:
    archive = LibzimArchive(file)
    done = []
    with desk_with(file) as (finder, folder):
        for number, path in enumerate(paths):
            page = open_page(archive, path)
            run = ran(finder, page.title, folder / str(number), pages=PAGES)
            done.append(reached_of(article_of(page), run))
    archive.close()
    return done


def article_of(page: PageDoc) -> Told:
    """The names that an article links in its text, and the numbers that stand there; lists of sources are left out."""
    names = {link.text for link in page.links if link.place in PLACES and link.in_text and not DIGIT.search(link.text)}
    aside = language_words(page.language).references
    spans = [(one.start, one.end) for one in page.sections if one.heading.casefold() not in aside]
    texts = [
        page.text[block.start : block.end]
        for block in page.blocks
        if block.kind in KINDS and any(start <= block.start < end for start, end in spans)
    ]
    return Told(frozenset(filter(None, map(folded, names))), numbers_of(texts, page.language))


def numbers_of(texts: Iterable[str], language: str = "eng") -> frozenset[Number]:
    """The quantities and dates of some texts; what is said twice in two units counts once."""
    found: set[Number] = set()
    for text in texts:
        if not DIGIT.search(text):
            continue
        dates = dates_in(text, language)
        quantities = quantities_in(text, language, not_in=[(one.start, one.end) for one in dates])
        found |= _numbers((one.when for one in dates), quantities)
    return frozenset(found)


def _numbers(dates: Iterable[DateRange], quantities: Iterable[Quantity]) -> set[Number]:
    telling = (one for one in quantities if not one.converted and (one.unit or one.high >= SMALL))
    return {("date", float(one.earliest), float(one.latest)) for one in dates} | {
        (one.unit, float(f"{one.low:.6g}"), float(f"{one.high:.6g}")) for one in telling
    }


def folded(text: str) -> str:
    """The words of a text in a row, with a space before and behind each; empty if there are none."""
    words = NO_WORD.sub(" ", text.casefold()).strip()
    return f" {words} " if words else ""


def reached_of(article: Told, run: Ran) -> Reached:
    claims = run.claims
    numbers = _numbers(
        (dated.when for claim in claims for dated in claim.dates),
        (measure.quantity for claim in claims for measure in claim.measures),
    )
    statements = [statement.text for statement in run.brief.statements()]
    said = Told(_named(article.names, (claim.text for claim in claims)), frozenset(numbers))
    return Reached(article, said, Told(_named(article.names, statements), numbers_of(statements)))


def _named(names: Iterable[str], texts: Iterable[str]) -> frozenset[str]:
    """The names that occur in some texts."""
    all_of_them = "|".join(map(folded, texts))
    return frozenset(name for name in names if name in all_of_them)


def figures_of(rows: Sequence[Reached]) -> tuple[dict[str, float], dict[str, float]]:
    """The figures that have floors, and those beside them."""
    figures = {}
    for what in ("claims", "brief"):
        told = [(row.article, getattr(row, what)) for row in rows]
        figures[f"names_in_{what}"] = fmean(_share(article.names, found.names) for article, found in told)
        figures[f"numbers_in_{what}"] = fmean(_share(article.numbers, found.numbers) for article, found in told)
    beside = {
        "names_an_article": fmean(len(row.article.names) for row in rows),
        "numbers_an_article": fmean(len(row.article.numbers) for row in rows),
    }
    return figures, beside


def _share(wanted: frozenset[object], found: frozenset[object]) -> float:
    """1 where nothing is wanted."""
    return len(wanted & found) / len(wanted) if wanted else 1.0
