"""Answers questions over a shelf, one at a time or as rows of a batch, with the user's settings, embedder and model."""

from __future__ import annotations

import contextlib
import functools
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kiwiresearch.ask import (
    ASK_MODES,
    Answer,
    AnswerCitation,
    AnswerText,
    AskContext,
    AskOptions,
    AskSettings,
    Done,
    Event,
    EvidenceFound,
    GatheredEvidence,
    PageCache,
    Passage,
    Preview,
    RuleAnswer,
    answer_record,
    gather_evidence,
)
from kiwiresearch.codec import plain
from kiwiresearch.errors import BadUsage, EmbedderError, KiwiError, ReaderUnavailable
from kiwiresearch.text import is_searchable
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.workspace import locate_page
from kiwiresearch.zim import EntryRef

if TYPE_CHECKING:
    from kiwiresearch.embed import Embedder
    from kiwiresearch.llm import Model
    from kiwiresearch.reader import Reader

DEFAULT_OPTIONS = AskOptions()
MAX_PASSAGES = 20
MAX_QUESTION_CHARS = 4_000


READING_PATIENCE_S = 5.0


class QuestionTurns:
    """First the citations of all questions, then reading by meaning, which takes most of the time of an answer.

    One question at a time is read, on all cores. It waits for those that still have nothing to show, but not for long.
    """

    def __init__(self, patience_s: float = READING_PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._gathering = 0
        self._changed = threading.Condition()
        self._reading = threading.Lock()

    @contextlib.contextmanager
    def gathering(self) -> Iterator[None]:
        with self._changed:
            self._gathering += 1
        try:
            yield
        finally:
            with self._changed:
                self._gathering -= 1
                self._changed.notify_all()

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._gathering, self._patience_s)
        with self._reading:
            yield


class Asker:
    """Answers questions over the books of one shelf; several threads may ask at once.

    Books are read by one thread at a time, but no thread holds the lock while it waits for a model.
    """

    def __init__(
        self,
        finder: Finder,
        settings: AskSettings,
        book_lock: threading.RLock | None = None,
        *,
        model: Model | None = None,
    ) -> None:
        self._finder = finder
        self._settings = settings
        self._book_lock = book_lock or threading.RLock()
        self._model = model
        self._turns = QuestionTurns()
        self._pages = PageCache(settings)
        self._cached_context: AskContext | None = None

    def ask(self, question: str, options: AskOptions = DEFAULT_OPTIONS) -> Answer:
        """The complete answer."""
        (answer,) = (event.answer for event in self.events(question, options) if isinstance(event, Done))
        return answer

    def events(self, question: str, options: AskOptions = DEFAULT_OPTIONS) -> Iterator[Event]:
        """The answer step by step: `Preview` or `EvidenceFound` first, `Done` last.

        Errors are raised before the first event.
        """
        _check(question, options)
        with self._turns.gathering(), self._book_lock:
            gathered, ruled = self._finder.with_reachable_hosts(lambda: self._gather(question, options))
            missing = self._finder.missing
        if gathered.can_rerank:
            yield Preview(replace(ruled.answer, missing=missing) if missing else ruled.answer)
            with self._turns.reading():
                gathered = gathered.rerank()
            with self._book_lock:
                ruled = gathered.answer()
        context = gathered.context
        answer = replace(ruled.answer, missing=missing) if missing else ruled.answer
        model = self.model if options.with_model and ruled.danger is None else None
        yield EvidenceFound(replace(answer, citations=ruled.offered) if model and ruled.offered else answer)
        if model is None:
            if answer.text:
                yield AnswerText(answer.text)
            yield Done(answer)
            return
        from kiwiresearch.ask import answer_by_model

        fetch = functools.partial(self._fetch, context, answer.asked)
        cite = functools.partial(self._cite, context)
        reader = context.reader if gathered.can_rerank else None
        yield from answer_by_model(model, answer, fetch, self._settings, cite, reader)

    def _gather(self, question: str, options: AskOptions) -> tuple[GatheredEvidence, RuleAnswer]:
        page = self._page(options.page, book_id=options.book) if options.page else None
        gathered = gather_evidence(self._context(), question, options, page)
        return gathered, gathered.answer()

    @property
    def model(self) -> Model | None:
        """The model that words answers; None if none is configured."""
        if self._model is not None:
            return self._model
        with self._book_lock:
            return self._finder.brief_model

    def _context(self) -> AskContext:
        """The context for answers, with the current books; pages that were read stay cached."""
        finder = self._finder
        # Compared by identity: `Finder` makes a new list whenever books, models or title indexes have changed.
        if self._cached_context is None or self._cached_context.books is not finder.books:
            parts = (self._settings, self._pages, finder.helpers, self._embedder, finder.max_books, self._reader)
            self._cached_context = AskContext(finder.books, *parts)
        return self._cached_context

    @functools.cached_property
    def _embedder(self) -> Embedder | None:
        """The embedder of the settings; None, with a notice to the user, if it is unavailable."""
        helpers = self._finder.helpers
        try:
            return helpers.embedder() if helpers.embedder else None
        except EmbedderError as problem:
            if helpers.say:
                helpers.say(f"Comparing words only, not meanings: {problem}")
            return None

    @functools.cached_property
    def _reader(self) -> Reader | None:
        """The reading model, if the settings want it and it can be loaded."""
        if not self._settings.reader:
            return None
        from kiwiresearch.reader import shared_reader

        try:
            return shared_reader()
        except ReaderUnavailable as problem:
            if self._finder.helpers.say:
                self._finder.helpers.say(f"Choosing sentences by words only: {problem}")
            return None

    def _page(self, words: str, *, book_id: str = "") -> EntryRef:
        """The page with this title or path, in the first book that has it, or in one book."""
        archives = [book.archive for book in self._finder.books if book_id in ("", book.id)]
        archive, path = locate_page(archives, words, f"No page named {words!r} in your books.", "Search for it first.")
        return EntryRef(archive.book.id, path)

    def _cite(self, context: AskContext, passage: Passage, start: int, end: int) -> AnswerCitation:
        with self._book_lock:
            return context.cite(passage, start, end)

    def _fetch(self, context: AskContext, question: str, path: str) -> tuple[Passage, ...]:
        """The passages for a model that asks for a page of the shelf; none if the page does not exist."""
        with self._book_lock:
            try:
                return context.passages_on(self._page(path), question, self._settings.passages)
            except KiwiError:
                return ()


def _check(question: str, options: AskOptions) -> None:
    if not is_searchable(question):
        raise BadUsage(
            "The question is empty.", remedy="Enter a question, for example 'Why is the sky orange at sunset?'"
        )
    if len(question) > MAX_QUESTION_CHARS:
        raise BadUsage(f"The question has {len(question):,} characters.", remedy=f"Use at most {MAX_QUESTION_CHARS:,}.")
    if options.mode not in ASK_MODES:
        raise BadUsage(f"Unknown mode {options.mode!r}.", remedy=f"Choose one of: {', '.join(ASK_MODES)}.")
    if not 0 <= options.passages <= MAX_PASSAGES:
        raise BadUsage(f"Cannot show {options.passages} passages.", remedy=f"Use 1 to {MAX_PASSAGES}.")


QUESTION_KEYS = ("question", "query", "claim")


@dataclass(frozen=True, slots=True)
class AnsweredRow:
    """The output for a row, and whether the row failed."""

    record: dict[str, Any]
    failed: bool = False


def answer_row(
    line: str, number: int, asker: Asker, link: Callable[[AnswerCitation], str], options: AskOptions
) -> AnsweredRow:
    """The answer to the question of a row; an error is reported in its output line."""
    text = ""
    try:
        text = query_in_row(line, number, QUESTION_KEYS)
        return AnsweredRow(plain(answer_record(asker.ask(text, options), link)))
    except KiwiError as problem:
        empty: dict[str, Any] = {name: [] for name in ("citations", "passages", "pages", "conflicts")}
        failure = {"question": text, "route": "none", "grounded": False, "answer": "", "error": str(problem)}
        return AnsweredRow(failure | empty, failed=True)


def query_in_row(line: str, number: int, keys: Sequence[str]) -> str:
    """The query of a row: the value of the first of the keys that it has."""
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise BadUsage(f"Line {number} is not JSON: {problem}.", remedy="Write one JSON object per line.") from problem
    for key in keys:
        if isinstance(row, dict) and isinstance(row.get(key), str) and row[key].strip():
            return str(row[key])
    raise BadUsage(f"Line {number} has no question or query.", remedy=f"Add one of these keys: {', '.join(keys)}.")
