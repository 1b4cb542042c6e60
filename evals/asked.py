"""Questions asked of a book without a model, in one process a core, and what each answer was worth."""

from __future__ import annotations

import functools
import multiprocessing
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from evals.golds import Row, holds, holds_normal, normal, tokens
from kiwiresearch.ask.answer import Answer, Route
from kiwiresearch.ask.by_rule import RuleAnswer, gather_evidence
from kiwiresearch.ask.context import AskContext
from kiwiresearch.ask.page_units import PageCache
from kiwiresearch.ask.settings import AskOptions, AskSettings
from kiwiresearch.page.html import bare_text
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.title_index_builder import build_titles, titles_file
from kiwiresearch.search.titles import open_titles
from kiwiresearch.zim.archive import EntryRef
from kiwiresearch.zim.libzim import LibzimArchive

T = TypeVar("T")
WAYS = ("titles", "bare")
"""With a title index, and without."""
DEFAULTS = AskSettings()
PASSAGES = 6
TOKENS = 2_700
PART = 25
"""Questions that a process takes at a time."""


def answer_by_rule(context: AskContext, question: str, options: AskOptions, page: EntryRef | None = None) -> RuleAnswer:
    """Answer from all books, or from one page, in one call; `Asker` shows a preview in between."""
    return gather_evidence(context, question, options, page).rerank().answer()


@dataclass(frozen=True, slots=True)
class Seen:
    """One answer, judged by its gold."""

    answerable: bool
    """A gold answer stands on the gold page of this book."""
    route: Route
    answered: bool
    """In words of the book, not refused."""
    within: bool
    """The passages shown are as few and as short as was promised."""
    held: bool
    """A gold answer stands in a passage shown."""
    at_3: bool
    """The gold page is among the first three."""
    text_holds: bool
    first_holds: bool
    short_marked: bool
    short_right: bool
    short_f1: float
    """How much of the short answer and of the gold one is the same, word by word: SQuAD's measure."""
    cited: bool
    cited_wrong: bool
    """A citation is of another page than the gold one."""
    first_cited_right: bool
    sure: float
    text: str
    short: str
    pages: tuple[str, ...]


def ask_all(
    file: Path,
    rows: Mapping[str, Sequence[Row]],
    meanwhile: Callable[[], T],
    settings: AskSettings = DEFAULTS,
) -> tuple[dict[str, list[Seen]], T]:
    """The answers to the questions of each way, judged, in their order; and what was done here meanwhile."""
    parts = [(way, some[start : start + PART]) for way, some in rows.items() for start in range(0, len(some), PART)]
    cores = max(1, min(os.cpu_count() or 1, 8))
    found: dict[str, list[Seen]] = {way: [] for way in rows}
    with tempfile.TemporaryDirectory() as folder:
        archive = LibzimArchive(file)
        index = titles_file(Path(folder), archive.book)
        build_titles(archive, index)
        with multiprocessing.get_context("spawn").Pool(cores, _open, (file, index)) as pool:
            coming = pool.imap(_ask_part, [(way, part, settings) for way, part in parts])
            done = meanwhile()
            for (way, _), seen in zip(parts, coming, strict=True):
                found[way] += seen
    return found, done


def overlap(one: str, other: str) -> float:
    """The F1 of the words of two normalised texts."""
    words, gold = Counter(one.split()), Counter(other.split())
    shared = (words & gold).total()
    return 2 * shared / (words.total() + gold.total()) if shared else 0.0


def judge(row: Row, answer: Answer, page_text: str) -> Seen:
    """What an answer is worth to who knows the right one; `page_text` is the gold page's, normalised."""
    texts = [passage.text for passage in answer.passages]
    within = len(texts) <= PASSAGES and tokens(texts) <= TOKENS
    paths = [cited.citation.quote.ref.path for cited in answer.citations]
    order = list(dict.fromkeys(page.ref.path for page in answer.pages))
    short = normal(answer.short)
    has = partial(holds, answers=row.answers)
    return Seen(
        answerable=not row.yes_or_no and holds_normal(page_text, row.answers),
        route=answer.route,
        answered=answer.grounded,
        within=within,
        held=within and any(map(has, texts)),
        at_3=row.path in order[:3],
        text_holds=answer.grounded and has(answer.text),
        first_holds=answer.grounded and bool(answer.lines) and has(answer.lines[0].text),
        short_marked=answer.grounded and bool(short),
        short_right=answer.grounded and holds_normal(short, row.answers),
        short_f1=max((overlap(short, gold) for gold in row.answers), default=0.0) if answer.grounded else 0.0,
        cited=bool(paths),
        cited_wrong=any(path != row.path for path in paths),
        first_cited_right=paths[:1] == [row.path],
        sure=answer.confidence,
        text=answer.text,
        short=answer.short,
        pages=tuple(order[:3]),
    )


_books: dict[str, OpenBook] = {}
"""The book as this process asks it, each way; opened once."""


def _open(file: Path, index: Path) -> None:
    archive = LibzimArchive(file)
    _books["titles"] = OpenBook(archive, open_titles(index, archive.book))
    _books["bare"] = OpenBook(archive)


def _ask_part(part: tuple[str, Sequence[Row], AskSettings]) -> list[Seen]:
    way, rows, settings = part
    wish = AskOptions(with_model=False)
    desk = AskContext((_books[way],), settings, PageCache(settings))
    return [judge(row, answer_by_rule(desk, row.question, wish).answer, _page_text(row.path)) for row in rows]


@functools.lru_cache(maxsize=64)
def _page_text(path: str) -> str:
    """A page's words, all of them, whatever our reader leaves out; normalised."""
    return normal(bare_text(_books["bare"].archive.read(path).content).text) if path else ""
