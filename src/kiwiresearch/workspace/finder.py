"""Searches a shelf: its books and their title indexes stay open between queries."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from kiwiresearch.codec import OMIT_DEFAULT, Record
from kiwiresearch.errors import BadUsage, EmbedderError, HostUnreachable, NothingFound
from kiwiresearch.ids import BookId
from kiwiresearch.messages import Message
from kiwiresearch.search import (
    HitRecord,
    MergeOrder,
    OpenBook,
    SearchHelpers,
    SearchOptions,
    SearchResult,
    SenseRecord,
    hidden_for,
    parse_query,
    search_books,
)
from kiwiresearch.text import is_searchable
from kiwiresearch.workspace.models import TitleIndexes, caching_model, chat_model, configured_embedder, model_is_local
from kiwiresearch.workspace.workspace import Workspace, no_books_error, shelf_label, similar_titles_hint
from kiwiresearch.zim import NONE_HIDDEN, Archive, EntryRef, HiddenRecord, MissingBooks, Policy, Shelf, is_address

if TYPE_CHECKING:
    from kiwiresearch.ask import AnswerCitation
    from kiwiresearch.embed import CachedEmbedder, Embedder
    from kiwiresearch.llm import Model
    from kiwiresearch.workspace.atlas import LinkRanks

T = TypeVar("T")

MAX_HITS = 1_000
MAX_TRIES = 8
"""How many hosts may fail during one search, one after the other."""

MAX_NEAR = 10
MAX_SEARCH_MODEL_S = 10.0
"""The longest a search waits for a model, whatever the setting, since a user is waiting for the results."""


class Finder:
    """The open books of one shelf, to search them, and the models that help with it.

    `search_every_book` searches each book in full, as users expect of books that they named; else a setting limits how
    many are.
    """

    def __init__(self, workspace: Workspace, shelf: Shelf, *, search_every_book: bool = False) -> None:
        self._workspace = workspace
        self._shelf = shelf
        self._search_every_book = search_every_book
        self._books: list[OpenBook] | None = None
        self._is_stale = False
        """Whether the shelf has changed since the books were opened."""
        self._resources = contextlib.ExitStack()
        self.helpers = _helpers(workspace, self._resources)

    @property
    def books(self) -> Sequence[OpenBook]:
        """The shelf's books, opened at the first query."""
        if self._books is None:
            self._books = self._opened({})
        return self._books

    def _opened(self, before: Mapping[Archive, OpenBook]) -> list[OpenBook]:
        indexes = TitleIndexes(self._workspace.folders.cache / "titles")
        archives = self._shelf.archives()
        return [before.get(archive) or OpenBook(archive, indexes.open(archive)) for archive in archives]

    def note_books_read(self) -> None:
        """Note where these books are, for a later verification."""
        if not self._shelf.is_sample:
            self._workspace.note_books_read(self._shelf.books)

    def refresh(self) -> None:
        """Reopen the books if the shelf has changed, as shelves that hosts share do."""
        self._is_stale = self._shelf.refresh() or self._is_stale
        if self._is_stale and self._books is not None:
            # Books that are still there stay open, with their caches and title indexes.
            before = {book.archive: book for book in self._books}
            self._books = self._opened(before)
            self._is_stale = False
            for gone in before.keys() - {book.archive for book in self._books}:
                if (titles := before[gone].titles) is not None:
                    titles.close()

    def reload_models(self) -> None:
        """Use the model and embedder of settings that have changed; work that uses the old ones may finish."""
        for name in ("brief_model", "critic_model", "link_ranks"):
            self.__dict__.pop(name, None)
        # The old models are closed with the finder, since a stream may still be reading from one.
        self.helpers = _helpers(self._workspace, self._resources)
        if self._books is not None:
            self._books = list(self._books)  # a new list object, so caches keyed by identity are invalidated

    def reload_titles(self, book_id: BookId) -> None:
        """Use the title index of a book that was built meanwhile."""
        indexes = TitleIndexes(self._workspace.folders.cache / "titles")
        before = [book for book in self._books or () if book.id == book_id]
        if self._books is None or not before:
            return
        # A new list object, so caches keyed by identity are invalidated.
        self._books = [
            OpenBook(book.archive, indexes.open_existing(book.archive)) if book in before else book
            for book in self._books
        ]
        for book in before:
            if book.titles is not None:
                book.titles.close()

    @property
    def missing(self) -> tuple[MissingBooks, ...]:
        """Unavailable books, with their unreachable hosts."""
        return self._shelf.missing

    def missing_book_error(self, wanted: str) -> HostUnreachable | None:
        """The error for an unavailable book with this title or UUID; None if it is not one of them."""
        folded = wanted.casefold().strip()
        for missing_books in self.missing:
            if any(folded in (book.id, book.title.casefold()) for book in missing_books.books):
                return HostUnreachable(missing_books.sentence(), remedy="Try again when that host is online.")
        return None

    def with_reachable_hosts(self, work: Callable[[], T]) -> T:
        """The result of `work` on the books; it is repeated without the books of a host that fails meanwhile.

        A failing host is left out at once, so that a search waits for it only once.
        """
        for _ in range(MAX_TRIES):
            failures = self._shelf.failures
            try:
                self.refresh()
                if not self.books and self.missing:
                    break
                found = work()
            except HostUnreachable:
                if failures == self._shelf.failures:
                    raise
            else:
                if failures == self._shelf.failures:
                    return found
        raise HostUnreachable(
            " ".join(missing_books.sentence() for missing_books in self.missing)
            or "The connection to other hosts is unstable.",
            remedy="Check with 'kiwiresearch hosts' which hosts are online, then try again.",
        )

    @contextlib.contextmanager
    def requiring_all_books(self) -> Iterator[None]:
        """For work that needs all books to the end: HostUnreachable if one became unavailable meanwhile."""
        failures = self._shelf.failures
        yield
        if failures != self._shelf.failures:
            self.refresh()
            raise HostUnreachable(
                " ".join(missing_books.sentence() for missing_books in self.missing)
                or "A host was temporarily offline.",
                remedy="Your progress is saved. Resume when the host is online again.",
            )

    def find(self, text: str, options: SearchOptions | None = None) -> SearchResult:
        """The pages that answer a query; BadUsage for an empty query or an impossible limit."""
        options = options or SearchOptions()
        if not is_searchable(text):
            raise BadUsage(
                "The search is empty.", remedy="Enter something to search for, for example 'Bronze Age collapse'."
            )
        self.check(options)
        return self.search_reachable_hosts(
            lambda: search_books(self.books, text, replace(options, max_books=self.max_books), self.helpers)
        )

    def search_reachable_hosts(self, work: Callable[[], SearchResult]) -> SearchResult:
        """The findings of a search over the hosts that can be reached, with the books that are unavailable."""
        found = self.with_reachable_hosts(work)
        return replace(found, missing=self.missing) if self.missing else found

    @property
    def max_books(self) -> int:
        """How many books are searched in full for one query."""
        return max(1, len(self.books) if self._search_every_book else self._workspace.settings.search_books)

    def check(self, options: SearchOptions) -> None:
        """Raise BadUsage for options that cannot be met."""
        if not 1 <= options.limit <= MAX_HITS:
            raise BadUsage(f"Cannot show {options.limit} results.", remedy=f"Use 1 to {MAX_HITS}.")

    def nothing_found_error(self, text: str) -> NothingFound:
        """The error for a query without results, with similar titles; without books it says so."""
        if not self.books:
            return no_books_error()
        near = similar_titles_hint([book.archive for book in self.books], text)
        hidden = sum(
            (hidden_for(open_book, parse_query(text, open_book.language), MAX_NEAR) for open_book in self.books),
            NONE_HIDDEN,
        )
        words = f"No results for {text!r} in {shelf_label(self._shelf)}."
        books = self._shelf.books
        nothing = (
            Message(words, "search.nothing_in", sought=text, book=books[0].title)
            if len(books) == 1
            else Message(words, "search.nothing", sought=text, n=len(books))
        )
        if hidden.pages:
            left_out = Message(
                hidden.sentence("page"), "policy.pages_hidden", n=hidden.pages, policy=hidden.policy_label
            )
            nothing = Message(f"{nothing} {left_out}", "search.nothing_and_hidden", nothing=nothing, hidden=left_out)
        return NothingFound(
            nothing,
            remedy=near or Message("Try fewer or different words, or add a book about it.", "remedy.other_words"),
        )

    @property
    def policy(self) -> Policy:
        """The policy that hides books and pages."""
        return self._workspace.settings.policy

    @property
    def model_name(self) -> str:
        """The setting for the model that helps with the search, or "the first" if the server chooses.

        Empty without a model.
        """
        return self._workspace.settings.model_name or "the first" if self.helpers.model is not None else ""

    @property
    def model_pages(self) -> int:
        """How many pages of a run a model reads; 0 without a model."""
        return self._workspace.settings.model_pages if self.brief_model is not None else 0

    @functools.cached_property
    def brief_model(self) -> Model | None:
        """The model that reads pages and words briefs, if one is configured."""
        return self._caching_model(self._workspace.settings.model_name)

    @functools.cached_property
    def critic_model(self) -> Model | None:
        """The model that reviews what the other one wrote."""
        return self._caching_model(self._workspace.settings.critic_model or self._workspace.settings.model_name)

    @property
    def critic_name(self) -> str:
        return self._workspace.settings.critic_model or self.model_name

    def _caching_model(self, name: str) -> Model | None:
        """A model whose replies are cached, so that a run can be repeated and resumed."""
        workspace = self._workspace
        settings = replace(workspace.settings, model_name=name)
        return self._resources.enter_context(caching_model(settings, workspace.folders.cache, workspace.opener.say))

    @property
    def model_is_local(self) -> bool:
        """Whether what is sent to the model stays on this machine."""
        return model_is_local(self._workspace.settings)

    @functools.cached_property
    def link_ranks(self) -> LinkRanks | None:
        """The link ranks of pages in their books, if the setting `atlas` names folders with their links."""
        folders = self._workspace.settings.atlas
        if not folders:
            return None
        from kiwiresearch.workspace.atlas import load_link_ranks

        return load_link_ranks(folders, self._workspace.folders.cache, [book.id for book in self.books])

    def embedder_for_crawls(self) -> Embedder | None:
        """The embedder of the settings, else the one that comes with the program; None if it is unavailable."""
        try:
            if self.helpers.embedder is not None:
                embedder = self.helpers.embedder()
                embedder.embed(["Is anybody there?"])  # to notice an unreachable server before the run begins
                return embedder
            from kiwiresearch.embed import StaticEmbedder

            return StaticEmbedder()
        except EmbedderError as problem:
            self._workspace.opener.say(f"Comparing words only, not meanings: {problem}")
            return None

    def book(self, book_id: BookId) -> OpenBook:
        return next(book for book in self.books if book.id == book_id)

    def citation_url(self, cited: AnswerCitation) -> str:
        """The address of a citation: at the user's kiwix-serve, else by book and path."""
        url_of = functools.partial(self.page_url, kiwix_url=self._workspace.settings.kiwix_url)
        return cited.citation.url(url_of, highlight=True)

    def page_url(self, ref: EntryRef, kiwix_url: str) -> str:
        """The address of a page: at the user's kiwix-serve if one is set, else the book's own address."""
        book = self.book(ref.book)
        source = book.book.source
        if is_address(source):
            return book.archive.url(ref.path)
        start = f"{kiwix_url}/content/{quote(Path(source).stem)}" if kiwix_url else f"zim://{ref.book}"
        return address_in_book(f"{start}/", ref.path)

    def book_name(self, book_id: str) -> str:
        return next((book.book.name for book in self.books if book.id == book_id), book_id)

    def close(self) -> None:
        for book in self._books or ():
            if book.titles is not None:
                book.titles.close()
        self._books = None
        self._resources.close()

    def __enter__(self) -> Finder:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self.close()


def address_in_book(start: str, path: str) -> str:
    """The address of a page below the address of its book."""
    return f"{start}{quote(path, errors='replace')}"


@dataclass(frozen=True, slots=True)
class ResultBook(Record):
    """A book that results come from."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class SearchRecord(Record):
    """The pages that a search found, best first."""

    query: str
    corrected: str
    """The query as it was understood, if it had typing errors."""
    order: MergeOrder
    books: tuple[ResultBook, ...]
    hits: tuple[HitRecord, ...]
    senses: tuple[SenseRecord, ...]
    hidden: HiddenRecord | None = field(default=None, metadata=OMIT_DEFAULT)
    """Present only if the server's policy hides pages."""
    missing: tuple[MissingBooks, ...] | None = field(default=None, metadata=OMIT_DEFAULT)
    """Present only if a host with books is offline."""


def search_record(findings: SearchResult, finder: Finder) -> SearchRecord:
    """A search as JSON; hidden and missing pages are mentioned only if there are any."""
    return SearchRecord(
        findings.query,
        findings.corrected,
        findings.order,
        tuple(ResultBook(book, finder.book_name(book)) for book in findings.books),
        tuple(hit.record(finder.book_name(hit.ref.book)) for hit in findings.hits),
        tuple(sense.record() for sense in findings.senses),
        hidden=findings.hidden.record() if findings.hidden.pages else None,
        missing=findings.missing or None,
    )


def _helpers(workspace: Workspace, opened: contextlib.ExitStack) -> SearchHelpers:
    """The model and embedder of the settings, if any; both are closed with the stack."""
    settings, cache = workspace.settings, workspace.folders.cache
    helpers = SearchHelpers(say=workspace.opener.say)
    if settings.embedder.strip():

        @functools.cache
        def embedder() -> CachedEmbedder:
            made = configured_embedder(settings, cache)
            opened.callback(made.close)
            return made

        helpers = replace(helpers, embedder=embedder)
    if settings.model_url.strip():
        from kiwiresearch.search import PhraseCache

        timeout_s = min(settings.model_timeout_s, MAX_SEARCH_MODEL_S)
        model = opened.enter_context(chat_model(replace(settings, model_timeout_s=timeout_s)))
        # Replies of a model are cached for some time, so this is one of the places that read the clock.
        routing = PhraseCache(time.time, cache / "routing", ttl_s=settings.routing_ttl_s)  # noqa: TID251
        helpers = replace(helpers, model=model, cache=routing)
    return helpers
