"""Asking a book questions without a model, with one process per core, and judging the answers by their golds."""

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

from evals.golds import Row, has_answer, max_tokens, normalize, normalized_has_answer
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
"""The ways to ask: with a title index, and without one."""
DEFAULTS = AskSettings()
MAX_PASSAGES = 6
MAX_TOKENS = 2_700
"""The limits on what an answer shows. Passages beyond them count as if none were shown."""
BATCH = 25
"""How many questions a process takes at a time."""


def answer_by_rule(context: AskContext, question: str, options: AskOptions, page: EntryRef | None = None) -> RuleAnswer:
    """Answer from all books or from one page, in one call; unlike `Asker`, without a preview."""
    return gather_evidence(context, question, options, page).rerank().answer()


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """An answer, judged by its gold."""

    answerable: bool
    """Whether the gold page has a gold answer in this book."""
    route: Route
    answered: bool
    """Whether the answer is in words of the book, not a refusal."""
    within_limits: bool
    """Whether the passages shown are within the limits."""
    gold_in_passages: bool
    """Whether a passage shown has a gold answer."""
    gold_page_in_top_3: bool
    """Whether the gold page is among the first three."""
    gold_in_answer: bool
    gold_in_first_sentence: bool
    has_short_answer: bool
    short_answer_is_right: bool
    short_answer_f1: float
    """How many words the short answer shares with the best gold answer, as SQuAD measures it."""
    has_citations: bool
    cites_other_page: bool
    """Whether a page other than the gold page is cited."""
    first_citation_is_right: bool
    confidence: float
    text: str
    short_answer: str
    top_pages: tuple[str, ...]


def ask_all(
    file: Path,
    rows: Mapping[str, Sequence[Row]],
    meanwhile: Callable[[], T],
    settings: AskSettings = DEFAULTS,
) -> tuple[dict[str, list[JudgedAnswer]], T]:
    """Ask the questions of each way in other processes, and do something else in this one in the meantime.

    Returns the judged answers by way, in the order of the questions, and the result of `meanwhile`.
    """
    batches = [
        (way, way_rows[start : start + BATCH])
        for way, way_rows in rows.items()
        for start in range(0, len(way_rows), BATCH)
    ]
    cores = max(1, min(os.cpu_count() or 1, 8))
    answers_by_way: dict[str, list[JudgedAnswer]] = {way: [] for way in rows}
    with tempfile.TemporaryDirectory() as folder:
        archive = LibzimArchive(file)
        index = titles_file(Path(folder), archive.book)
        build_titles(archive, index)
        with multiprocessing.get_context("spawn").Pool(cores, _open_book, (file, index)) as pool:
            results = pool.imap(_ask_batch, [(way, batch, settings) for way, batch in batches])
            meanwhile_result = meanwhile()
            for (way, _), answers in zip(batches, results, strict=True):
                answers_by_way[way] += answers
    return answers_by_way, meanwhile_result


def overlap(text: str, gold: str) -> float:
    """The F1 score of the words of two normalised texts."""
    words, gold_words = Counter(text.split()), Counter(gold.split())
    shared = (words & gold_words).total()
    return 2 * shared / (words.total() + gold_words.total()) if shared else 0.0


def judge(row: Row, answer: Answer, page_text: str) -> JudgedAnswer:
    """Compare an answer with the gold; `page_text` is the normalised text of the gold page."""
    texts = [passage.text for passage in answer.passages]
    within_limits = len(texts) <= MAX_PASSAGES and max_tokens(texts) <= MAX_TOKENS
    cited_paths = [cited.citation.quote.ref.path for cited in answer.citations]
    page_order = list(dict.fromkeys(page.ref.path for page in answer.pages))
    short_answer = normalize(answer.short)
    text_has_gold = partial(has_answer, answers=row.answers)
    return JudgedAnswer(
        answerable=not row.yes_or_no and normalized_has_answer(page_text, row.answers),
        route=answer.route,
        answered=answer.grounded,
        within_limits=within_limits,
        gold_in_passages=within_limits and any(map(text_has_gold, texts)),
        gold_page_in_top_3=row.path in page_order[:3],
        gold_in_answer=answer.grounded and text_has_gold(answer.text),
        gold_in_first_sentence=answer.grounded and bool(answer.lines) and text_has_gold(answer.lines[0].text),
        has_short_answer=answer.grounded and bool(short_answer),
        short_answer_is_right=answer.grounded and normalized_has_answer(short_answer, row.answers),
        short_answer_f1=max((overlap(short_answer, gold) for gold in row.answers), default=0.0)
        if answer.grounded
        else 0.0,
        has_citations=bool(cited_paths),
        cites_other_page=any(path != row.path for path in cited_paths),
        first_citation_is_right=cited_paths[:1] == [row.path],
        confidence=answer.confidence,
        text=answer.text,
        short_answer=answer.short,
        top_pages=tuple(page_order[:3]),
    )


_book_by_way: dict[str, OpenBook] = {}
"""By way, the book as it is opened in this process."""


def _open_book(file: Path, index: Path) -> None:
    archive = LibzimArchive(file)
    _book_by_way["titles"] = OpenBook(archive, open_titles(index, archive.book))
    _book_by_way["bare"] = OpenBook(archive)


def _ask_batch(batch: tuple[str, Sequence[Row], AskSettings]) -> list[JudgedAnswer]:
    way, rows, settings = batch
    options = AskOptions(with_model=False)
    context = AskContext((_book_by_way[way],), settings, PageCache(settings))
    return [judge(row, answer_by_rule(context, row.question, options).answer, _page_text(row.path)) for row in rows]


@functools.lru_cache(maxsize=64)
def _page_text(path: str) -> str:
    """The normalised text of a whole page, including what our own reader leaves out; empty without a path."""
    return normalize(bare_text(_book_by_way["bare"].archive.read(path).content).text) if path else ""
