"""Questions over a shelf, one at a time or as rows of a batch, with the user's settings, embedder and model."""

from __future__ import annotations

import functools
import json
import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kiwiresearch.ask.answer import Answer, AnswerCitation, AnswerText, Done, Event, EvidenceFound, Passage, Preview
from kiwiresearch.ask.by_rule import GatheredEvidence, RuleAnswer, gather_evidence
from kiwiresearch.ask.context import AskContext
from kiwiresearch.ask.page_units import PageCache
from kiwiresearch.ask.records import record_of
from kiwiresearch.ask.settings import MODES, AskOptions, AskSettings
from kiwiresearch.codec import plain
from kiwiresearch.errors import BadUsage, EmbedderError, KiwiError, PageNotFound, ReaderUnavailable
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.zim.archive import EntryRef
from kiwiresearch.zim.paths import find_path
from kiwiresearch.zim.policy import hidden_page_named

if TYPE_CHECKING:
    from kiwiresearch.embed.embedder import Embedder
    from kiwiresearch.llm.model import Model
    from kiwiresearch.reader.reader import Reader

DEFAULT_WISH = AskOptions()
MAX_PASSAGES = 20
MAX_QUESTION_CHARS = 4_000
"""Characters of a question; what is longer is no question."""


class Asker:
    """Answers questions over the books of one shelf; several threads may ask at once.

    Books and pages are read by one thread at a time; a model is waited for outside of that.
    """

    def __init__(
        self,
        finder: Finder,
        settings: AskSettings,
        reading: threading.RLock | None = None,
        *,
        model: Model | None = None,
    ) -> None:
        self._finder = finder
        self._settings = settings
        self._reading = reading or threading.RLock()
        self._model = model
        self._pages = PageCache(settings)
        self._made: AskContext | None = None

    def ask(self, question: str, wish: AskOptions = DEFAULT_WISH) -> Answer:
        """The whole answer."""
        answers = [event.answer for event in self.events(question, wish) if isinstance(event, Done)]
        return answers[0]

    def events(self, question: str, wish: AskOptions = DEFAULT_WISH) -> Iterator[Event]:
        """The answer as it comes: `Glance` or `Found` first, `Done` last. Errors are raised before the first event."""
        _check(question, wish)
        with self._reading:
            gathered, ruled = self._finder.with_reachable_hosts(lambda: self._gathered(question, wish))
            missing = self._finder.missing
        if gathered.is_readable:
            yield Preview(replace(ruled.answer, missing=missing) if missing else ruled.answer)
            gathered = gathered.rerank()
            with self._reading:
                ruled = gathered.answer()
        desk = gathered.context
        answer = replace(ruled.answer, missing=missing) if missing else ruled.answer
        model = self.model if wish.with_model and ruled.danger is None else None
        yield EvidenceFound(replace(answer, citations=ruled.offered) if model and ruled.offered else answer)
        if model is None:
            if answer.text:
                yield AnswerText(answer.text)
            yield Done(answer)
            return
        from kiwiresearch.ask.by_model import answer_by_model

        fetch = functools.partial(self._fetch, desk, answer.asked)
        reader = desk.reader if gathered.is_readable else None
        yield from answer_by_model(model, answer, fetch, self._settings, functools.partial(self._cited, desk), reader)

    def _gathered(self, question: str, wish: AskOptions) -> tuple[GatheredEvidence, RuleAnswer]:
        gathered = gather_evidence(
            self._desk(), question, wish, self._page(wish.page, wish.book) if wish.page else None
        )
        return gathered, gathered.answer()

    @property
    def model(self) -> Model | None:
        """The model that puts answers into words; None where none is set."""
        if self._model is not None:
            return self._model
        with self._reading:
            return self._finder.brief_model

    def _desk(self) -> AskContext:
        """The books as they are now; pages that were read stay at hand."""
        finder = self._finder
        if self._made is None or self._made.books is not finder.books:
            parts = (self._settings, self._pages, finder.advice, self._embedder, finder.max_books, self._reader)
            self._made = AskContext(finder.books, *parts)
        return self._made

    @functools.cached_property
    def _embedder(self) -> Embedder | None:
        """The embedder of the settings; one that cannot be had is told, and done without."""
        advice = self._finder.advice
        try:
            return advice.embedder() if advice.embedder else None
        except EmbedderError as problem:
            if advice.say:
                advice.say(f"Meanings are not compared: {problem}")
            return None

    @functools.cached_property
    def _reader(self) -> Reader | None:
        """The reading model, where the settings ask for it and it can be loaded."""
        if not self._settings.reader:
            return None
        from kiwiresearch.reader.reader import shared_reader

        try:
            return shared_reader()
        except ReaderUnavailable as problem:
            if self._finder.advice.say:
                self._finder.advice.say(f"Sentences are chosen by words alone: {problem}")
            return None

    def _page(self, words: str, wanted: str = "") -> EntryRef:
        """The page of this title or path, in the first book that has it."""
        for book in self._finder.books:
            if wanted not in ("", book.book.id):
                continue
            path = find_path(book.archive, words)
            if path:
                return EntryRef(book.book.id, path)
        archives = [book.archive for book in self._finder.books if wanted in ("", book.book.id)]
        raise hidden_page_named(archives, words) or PageNotFound(
            f"There is no page {words!r} in the books.", remedy="Look for it with a search first."
        )

    def _cited(self, desk: AskContext, passage: Passage, start: int, end: int) -> AnswerCitation:
        with self._reading:
            return desk.cite(passage, start, end)

    def _fetch(self, desk: AskContext, question: str, path: str) -> tuple[Passage, ...]:
        """What a model gets that asks for a page of the shelf; nothing where there is none."""
        with self._reading:
            try:
                return desk.passages_on(self._page(path), question, self._settings.passages)
            except KiwiError:
                return ()


def _check(question: str, wish: AskOptions) -> None:
    if not any(unicodedata.category(char)[0] in "LNS" for char in question):
        raise BadUsage("The question has no words.", remedy="Ask something, such as 'Why is the sky orange at sunset?'")
    if len(question) > MAX_QUESTION_CHARS:
        raise BadUsage(
            f"The question has {len(question):,} characters.", remedy=f"Ask in at most {MAX_QUESTION_CHARS:,}."
        )
    if wish.mode not in MODES:
        raise BadUsage(f"There is no mode {wish.mode!r}.", remedy=f"Use one of: {', '.join(MODES)}.")
    if not 0 <= wish.passages <= MAX_PASSAGES:
        raise BadUsage(f"{wish.passages} passages cannot be shown.", remedy=f"Ask for 1 to {MAX_PASSAGES}.")


QUESTION_KEYS = ("question", "query", "claim")


@dataclass(frozen=True, slots=True)
class AnsweredRow:
    """What is written for a row, and whether it could be used."""

    record: dict[str, Any]
    failed: bool = False


def answer_row(
    line: str, number: int, asker: Asker, link: Callable[[AnswerCitation], str], wish: AskOptions
) -> AnsweredRow:
    """The answer to the question of a row; what is wrong with a row is told in its line."""
    text = ""
    try:
        text = query_in_row(line, number, QUESTION_KEYS)
        return AnsweredRow(plain(record_of(asker.ask(text, wish), link)))
    except KiwiError as problem:
        nothing: dict[str, Any] = {name: [] for name in ("citations", "passages", "pages", "conflicts")}
        told = {"question": text, "route": "none", "grounded": False, "answer": "", "error": str(problem)}
        return AnsweredRow(told | nothing, failed=True)


def query_in_row(line: str, number: int, keys: Sequence[str]) -> str:
    """What a row asks, under the first of the keys that it has."""
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise BadUsage(f"Line {number} is no JSON: {problem}.", remedy="Write one JSON object a line.") from problem
    for key in keys:
        if isinstance(row, dict) and isinstance(row.get(key), str) and row[key].strip():
            return str(row[key])
    raise BadUsage(f"Line {number} has no query.", remedy=f"Give it one of the keys {', '.join(keys)}.")
