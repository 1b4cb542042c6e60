"""Searching a shelf: its books with their title indexes, kept open between queries."""

from __future__ import annotations

import contextlib
import functools
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from kiwiresearch.codec import OMIT_DEFAULT, Record
from kiwiresearch.errors import BadUsage, EmbedderError, HostAway, NothingFound
from kiwiresearch.ids import BookId
from kiwiresearch.messages.message import Message
from kiwiresearch.search.find import Findings, MergeOrder, SearchHelpers, SearchOptions, find, hidden_for
from kiwiresearch.search.interpretation import SenseRecord
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import HitRecord, parse_query
from kiwiresearch.workspace.search_aids import (
    TitleIndexes,
    caching_model,
    chat_model,
    configured_embedder,
    model_is_local,
)
from kiwiresearch.workspace.workspace import Workspace, shelf_label, similar_titles
from kiwiresearch.zim.archive import Archive, EntryRef
from kiwiresearch.zim.library import Shelf
from kiwiresearch.zim.peer import MissingBooks
from kiwiresearch.zim.policy import NONE_HIDDEN, HiddenRecord, Policy
from kiwiresearch.zim.sources import is_address

if TYPE_CHECKING:
    from kiwiresearch.ask.answer import AnswerCitation
    from kiwiresearch.embed.embedder import CachedEmbedder, Embedder
    from kiwiresearch.llm.model import Model
    from kiwiresearch.workspace.atlas import Authority

T = TypeVar("T")

MAX_HITS = 1_000
MAX_TRIES = 8
"""So many hosts may fail during one search, one after the other."""

MAX_NEAR = 10
SEARCH_PATIENCE_S = 10.0
"""A search waits no longer than this for a model, however patient other work is: a reader waits for its pages."""


class Finder:
    """Answers queries over the books of one shelf."""

    def __init__(self, desk: Workspace, shelf: Shelf, *, all_books: bool = False) -> None:
        self._desk = desk
        self._shelf = shelf
        self._all_books = all_books
        self._books: list[OpenBook] | None = None
        self._is_old = False
        """Whether the shelf has other books by now."""
        self._open = contextlib.ExitStack()
        self.advice = _advice(desk, self._open)

    @property
    def books(self) -> Sequence[OpenBook]:
        """The shelf's books, opened when the first query comes."""
        if self._books is None:
            self._books = self._opened({})
        return self._books

    def _opened(self, before: Mapping[Archive, OpenBook]) -> list[OpenBook]:
        indexes = TitleIndexes(self._desk.folders.cache / "titles")
        archives = self._shelf.archives()
        return [before.get(one) or OpenBook(one, indexes.open(one)) for one in archives]

    def refresh(self) -> None:
        """Take the books as they are now: of a shelf that hosts share, some come and some go."""
        self._is_old = self._shelf.refresh() or self._is_old
        if self._is_old and self._books is not None:
            before = {book.archive: book for book in self._books}
            self._books = self._opened(before)
            self._is_old = False
            for gone in before.keys() - {book.archive for book in self._books}:
                if (titles := before[gone].titles) is not None:
                    titles.close()

    @property
    def missing(self) -> tuple[MissingBooks, ...]:
        """Books that could not be asked, with the hosts that have them and are away."""
        return self._shelf.missing

    def unreachable_book(self, wanted: str) -> HostAway | None:
        """What to say of a book of this title or UUID that cannot be asked; None where none of them is meant."""
        folded = wanted.casefold().strip()
        for one in self.missing:
            if any(folded in (book.id, book.title.casefold()) for book in one.books):
                return HostAway(one.sentence(), remedy="Try again when that host is there.")
        return None

    def with_reachable_hosts(self, work: Callable[[], T]) -> T:
        """What `work` makes of the books, done again without those of a host that failed on the way.

        A host that fails is left out at once, so that nobody waits for it twice.
        """
        for _ in range(MAX_TRIES):
            failures = self._shelf.failures
            try:
                self.refresh()
                if not self.books and self.missing:
                    break
                found = work()
            except HostAway:
                if failures == self._shelf.failures:
                    raise
            else:
                if failures == self._shelf.failures:
                    return found
        raise HostAway(
            " ".join(one.sentence() for one in self.missing) or "The hosts of the store come and go.",
            remedy="'kiwiresearch hosts' shows who is there; try again when they are.",
        )

    @contextlib.contextmanager
    def requiring_all_books(self) -> Iterator[None]:
        """Work that must have all its books to the end: HostAway if one could not be asked on the way."""
        failures = self._shelf.failures
        yield
        if failures != self._shelf.failures:
            self.refresh()
            raise HostAway(
                " ".join(one.sentence() for one in self.missing) or "A host went away and came back.",
                remedy="What was done is kept: go on when the host is there again.",
            )

    def find(self, text: str, wish: SearchOptions | None = None) -> Findings:
        """The pages that answer a query; an empty query and an impossible limit are refused."""
        wish = wish or SearchOptions()
        if not any(unicodedata.category(char)[0] in "LNS" for char in text):
            raise BadUsage("The query has no words.", remedy="Ask for something, such as 'Bronze Age collapse'.")
        self.check(wish)
        return self.search_reachable_hosts(
            lambda: find(self.books, text, replace(wish, max_books=self.max_books), self.advice)
        )

    def search_reachable_hosts(self, work: Callable[[], Findings]) -> Findings:
        """What a search gives, with the books that could not be asked."""
        found = self.with_reachable_hosts(work)
        return replace(found, missing=self.missing) if self.missing else found

    @property
    def max_books(self) -> int:
        """How many books are searched in full for one query."""
        return max(1, len(self.books) if self._all_books else self._desk.settings.search_books)

    def check(self, wish: SearchOptions) -> None:
        """Refuse a wish that cannot be met."""
        if not 1 <= wish.limit <= MAX_HITS:
            raise BadUsage(f"{wish.limit} results cannot be shown.", remedy=f"Ask for 1 to {MAX_HITS}.")

    def nothing_found(self, text: str) -> NothingFound:
        """What to say when nothing was found."""
        near = similar_titles([book.archive for book in self.books], text)
        hidden = sum((hidden_for(one, parse_query(text, one.language), MAX_NEAR) for one in self.books), NONE_HIDDEN)
        words = f"There is nothing about {text!r} in {shelf_label(self._shelf)}."
        books = self._shelf.books
        nothing = (
            Message(words, "search.nothing_in", sought=text, book=books[0].title)
            if len(books) == 1
            else Message(words, "search.nothing", sought=text, n=len(books))
        )
        if hidden.pages:
            left_out = Message(
                hidden.sentence("page"), "policy.pages_hidden", n=hidden.pages, policy=hidden.policy_name
            )
            nothing = Message(f"{nothing} {left_out}", "search.nothing_and_hidden", nothing=nothing, hidden=left_out)
        return NothingFound(
            nothing,
            remedy=near or Message("Try fewer or other words, or add a book that has it.", "remedy.other_words"),
        )

    @property
    def policy(self) -> Policy:
        """What is left out of the books."""
        return self._desk.settings.policy

    @property
    def model_name(self) -> str:
        """Which model helps with the search; empty if none does."""
        return self._desk.settings.model_name or "the first" if self.advice.model is not None else ""

    @property
    def model_pages(self) -> int:
        """How many pages of a run a model reads; none where there is no model."""
        return self._desk.settings.model_pages if self.brief_model is not None else 0

    @functools.cached_property
    def brief_model(self) -> Model | None:
        """The model that reads pages and words briefs, if one is set."""
        return self._kept_model(self._desk.settings.model_name)

    @functools.cached_property
    def critic_model(self) -> Model | None:
        """The model that looks at what the other wrote."""
        return self._kept_model(self._desk.settings.critic_model or self._desk.settings.model_name)

    @property
    def critic_name(self) -> str:
        return self._desk.settings.critic_model or self.model_name

    def _kept_model(self, name: str) -> Model | None:
        """A model whose replies are kept, so that a run repeats itself and goes on where it stopped."""
        desk = self._desk
        settings = replace(desk.settings, model_name=name)
        return self._open.enter_context(caching_model(settings, desk.folders.cache, desk.opener.say))

    @property
    def model_is_local(self) -> bool:
        """Whether what the model is told stays on this machine."""
        return model_is_local(self._desk.settings)

    @functools.cached_property
    def authority(self) -> Authority | None:
        """What whole books make of their pages, where the setting `atlas` names their shards."""
        folders = self._desk.settings.atlas
        if not folders:
            return None
        from kiwiresearch.workspace.atlas import load_authority

        return load_authority(folders, self._desk.folders.cache, [book.book.id for book in self.books])

    def embedder_for_crawls(self) -> Embedder | None:
        """The embedder of the settings, else the one that comes with the program; None if it cannot be had."""
        try:
            if self.advice.embedder is not None:
                embedder = self.advice.embedder()
                embedder.embed(["Is anybody there?"])  # a server that is away is noticed before the run, not in it
                return embedder
            from kiwiresearch.embed.static import StaticEmbedder

            return StaticEmbedder()
        except EmbedderError as problem:
            self._desk.opener.say(f"Meanings are not compared: {problem}")
            return None

    def book(self, book_id: BookId) -> OpenBook:
        return next(book for book in self.books if book.book.id == book_id)

    def citation_url(self, cited: AnswerCitation) -> str:
        """Where a citation is read: at the user's kiwix-serve, else by book and path."""
        at = functools.partial(self.page_url, kiwix_url=self._desk.settings.kiwix_url)
        return cited.citation.url(at, highlight=True)

    def page_url(self, ref: EntryRef, kiwix_url: str) -> str:
        """Where a reader opens a page: the user's kiwix-serve if one is set, else what the book itself says."""
        book = self.book(ref.book)
        source = book.book.source
        if is_address(source):
            return book.archive.url(ref.path)
        start = f"{kiwix_url}/content/{quote(Path(source).stem)}" if kiwix_url else f"zim://{ref.book}"
        return f"{start}/{quote(ref.path, errors='replace')}"

    def book_name(self, book_id: str) -> str:
        return next((book.book.name for book in self.books if book.book.id == book_id), book_id)

    def close(self) -> None:
        for book in self._books or ():
            if book.titles is not None:
                book.titles.close()
        self._books = None
        self._open.close()

    def __enter__(self) -> Finder:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class SearchedBook(Record):
    """A book that hits were taken from."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class SearchRecord(Record):
    """The pages that a search found, best first."""

    query: str
    corrected: str
    """The query as it was understood, where words were mistyped."""
    order: MergeOrder
    books: tuple[SearchedBook, ...]
    hits: tuple[HitRecord, ...]
    senses: tuple[SenseRecord, ...]
    hidden: HiddenRecord | None = field(default=None, metadata=OMIT_DEFAULT)
    """There only where the policy of the server hides pages."""
    missing: tuple[MissingBooks, ...] | None = field(default=None, metadata=OMIT_DEFAULT)
    """There only where a host that has books is away."""


def search_record(findings: Findings, finder: Finder) -> SearchRecord:
    """What `--json` shows of a search; what is hidden or missing only where there is any."""
    return SearchRecord(
        findings.query,
        findings.corrected,
        findings.order,
        tuple(SearchedBook(book, finder.book_name(book)) for book in findings.books),
        tuple(hit.record(finder.book_name(hit.ref.book)) for hit in findings.hits),
        tuple(sense.record() for sense in findings.senses),
        hidden=findings.hidden.record() if findings.hidden.pages else None,
        missing=findings.missing or None,
    )


def _advice(desk: Workspace, opened: contextlib.ExitStack) -> SearchHelpers:
    """What the settings offer: a model, an embedder, or neither; whatever is opened closes with the stack."""
    settings, cache = desk.settings, desk.folders.cache
    advice = SearchHelpers(say=desk.opener.say)
    if settings.embedder.strip():

        @functools.cache
        def embedder() -> CachedEmbedder:
            made = configured_embedder(settings, cache)
            opened.callback(made.close)
            return made

        advice = replace(advice, embedder=embedder)
    if settings.model_url.strip():
        from kiwiresearch.search.ambiguity import PhraseCache

        patience = min(settings.model_timeout_s, SEARCH_PATIENCE_S)
        model = opened.enter_context(chat_model(replace(settings, model_timeout_s=patience)))
        # What a model said is kept for a time, so this is one of the places that look at the clock.
        routing = PhraseCache(time.time, cache / "routing", ttl_s=settings.routing_ttl_s)  # noqa: TID251
        advice = replace(advice, model=model, cache=routing)
    return advice
