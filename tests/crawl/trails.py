"""Books for the crawl's tests, written as plain text, and short ways to look at a crawl."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import groupby
from typing import Any

import numpy as np
from evals.walking import walk
from tests.zim.memory import MemoryArchive

from kiwiresearch.crawl.settings import CrawlSettings, LinkFilters, ScoringWeights
from kiwiresearch.crawl.state import CrawlPlan, CrawlState
from kiwiresearch.crawl.step import CrawlStep, EndStep, SkipStep, StartStep, VisitStep
from kiwiresearch.embed.embedder import Vectors, unit_rows
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import Score
from kiwiresearch.zim.archive import Book, BookKind, Entry

LINK = re.compile(r"\[\[([^]|]+)\|?([^]]*)\]\]")
PLAIN = "== History ==\nMuch is told of it."
"""A page without any section would be taken for a stub."""

TEXT = f"{PLAIN} So it was with the salts' roads."
"""The same, on a page that has to do with a salt road.

A book in memory is searched for words as they are, so such a page is not found
by search: it has to be reached by a link, and shows what it is when it is read.
"""


def html(text: str) -> str:
    """A page from lines as wikis write them.

    `[[Page]]`, `[[Page|words]]`, `== Heading ==`, `* item`, `box: Label = value`,
    `categories: One, Two`; any other line is a paragraph.
    """
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return "".join(_block(kind, list(some)) for kind, some in groupby(lines, _kind))


def _kind(line: str) -> str:
    return next((kind for kind in ("==", "* ", "box:", "categories:", "<") if line.startswith(kind)), "")


def _block(kind: str, lines: list[str]) -> str:
    if kind == "==":
        return "".join(f"<h2>{line.strip('= ')}</h2>" for line in lines)
    if kind == "* ":
        return f"<ul>{''.join(f'<li>{_linked(line[2:])}</li>' for line in lines)}</ul>"
    if kind == "box:":
        rows = [line.removeprefix("box:").partition("=") for line in lines]
        cells = "".join(f"<tr><th>{label}</th><td>{_linked(value)}</td></tr>" for label, _, value in rows)
        return f'<table class="infobox">{cells}</table>'
    if kind == "categories:":
        names = [name.strip() for line in lines for name in line.removeprefix("categories:").split(",")]
        inside = "".join(f'<a href="Category:{name}">{name}</a>' for name in names)
        return f'<div id="catlinks">{inside}</div>'
    return "".join(line if kind == "<" else f"<p>{_linked(line)}</p>" for line in lines)


def _linked(text: str) -> str:
    return LINK.sub(lambda found: _link(found[1], found[2]), text)


def _link(title: str, words: str) -> str:
    return f'<a href="./{escape(path_of(title))}">{words or title}</a>'


def path_of(title: str) -> str:
    return title.replace(" ", "_")


class ShelfArchive(MemoryArchive):
    """A book of titles and what their pages say, of some kind, which notes the pages read."""

    def __init__(
        self,
        pages: Mapping[str, str],
        aliases: Mapping[str, str] | None = None,
        *,
        name: str = "Memory",
        language: str = "eng",
        main_page: str = "",
        kind: BookKind = "other",
    ) -> None:
        paths = {path_of(title): html(text) for title, text in pages.items()}
        leading = {path_of(alias): path_of(title) for alias, title in (aliases or {}).items()}
        super().__init__(paths, leading, title=name, language=language, main_page=main_page)
        self._sheet = replace(super().book, kind=kind)
        self.pages_read: list[str] = []

    @property
    def book(self) -> Book:
        return self._sheet

    def read(self, path: str) -> Entry:
        self.pages_read.append(path)
        return super().read(path)


def a_shelf_book(pages: Mapping[str, str], aliases: Mapping[str, str] | None = None, **options: Any) -> OpenBook:
    """A book of titles and what their pages say, and of other names and the titles they lead to."""
    return OpenBook(ShelfArchive(pages, aliases, **options))


def settings(
    *,
    filters: Mapping[str, object] | None = None,
    weights: Mapping[str, float] | None = None,
    **options: Any,
) -> CrawlSettings:
    """Settings with some things changed."""
    changed = replace(CrawlSettings(), **options)
    changed = replace(changed, filters=replace(LinkFilters(), **(filters or {})))  # type: ignore[arg-type]
    return replace(changed, weights=replace(ScoringWeights(), **(weights or {})))


def steps_of(crawl: CrawlPlan, past: Iterable[CrawlStep] = ()) -> list[CrawlStep]:
    return [result.step for result in walk(crawl, past)]


def state_after(crawl: CrawlPlan, steps: Iterable[CrawlStep]) -> CrawlState:
    """The state of a crawl after some of its steps."""
    state = CrawlState(crawl.settings, {book.id: book.language for book in crawl.books})
    state.replay(steps)
    return state


def visits(steps: Iterable[CrawlStep]) -> list[VisitStep]:
    return [step for step in steps if isinstance(step, VisitStep)]


def taken(steps: Iterable[CrawlStep]) -> list[str]:
    """Titles of the pages taken, in their order."""
    return [step.title for step in visits(steps)]


def visit(steps: Iterable[CrawlStep], title: str) -> VisitStep:
    return next(step for step in visits(steps) if step.title == title)


def lines(step: VisitStep) -> dict[str, float]:
    """What speaks for and against a page that was taken."""
    return {term.signal: term.points for term in step.terms}


def total(step: VisitStep) -> float:
    return Score(step.terms).total


def looks(steps: Iterable[CrawlStep]) -> Iterator[SkipStep]:
    return (step for step in steps if isinstance(step, SkipStep))


def start_step(steps: Sequence[CrawlStep]) -> StartStep:
    assert isinstance(steps[0], StartStep)
    return steps[0]


def end_step(steps: Sequence[CrawlStep]) -> EndStep:
    assert isinstance(steps[-1], EndStep)
    return steps[-1]


class Directions:
    """An embedder that knows a few words, each a direction of its own; texts with none of them mean nothing."""

    id = "directions"

    def __init__(self, *words: str) -> None:
        self.words = words
        self.dimensions = len(words)

    def embed(self, texts: Sequence[str]) -> Vectors:
        counts = [[text.casefold().count(word) for word in self.words] for text in texts]
        return unit_rows(np.array(counts, dtype=float).reshape(len(texts), len(self.words)))
