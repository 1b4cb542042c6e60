"""How replies are sent as JSON, and the replies about books and pages."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fastapi.routing import APIRoute
from starlette.responses import JSONResponse, Response

from kiwiresearch.claims import PageClaimsRecord
from kiwiresearch.codec import Record, plain
from kiwiresearch.ids import canonical_json
from kiwiresearch.page import PageRecord
from kiwiresearch.search import HitRecord, SenseRecord
from kiwiresearch.workspace import BookRecord, SearchRecord


class Json(JSONResponse):
    """JSON as the program writes it everywhere; lone surrogates become question marks."""

    def render(self, content: Any) -> bytes:
        return canonical_json(plain(content)).encode("utf-8", "replace")


class JsonRoute(APIRoute):
    """A route whose endpoint returns a value of its return type, which is sent as our JSON.

    FastAPI would pass it through pydantic, which changes numbers and does not know OMIT_DEFAULT.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        # Coroutines already return responses.
        sends = endpoint if inspect.iscoroutinefunction(endpoint) else _sending(endpoint, options.get("status_code"))
        super().__init__(path, sends, **options | {"response_model": None})


def _sending(endpoint: Callable[..., Any], status: int | None) -> Callable[..., Response]:
    @functools.wraps(endpoint)
    def respond(*given: Any, **named: Any) -> Response:
        reply = endpoint(*given, **named)
        return reply if isinstance(reply, Response) else Json(reply, status or 200)

    return respond


@dataclass(frozen=True, slots=True)
class HitReply(HitRecord):
    """A page that a search found."""

    url: str
    """Opens the page."""


@dataclass(frozen=True, slots=True)
class SenseReply(SenseRecord):
    """One of several meanings of the query."""

    url: str


@dataclass(frozen=True, slots=True)
class SearchReply(SearchRecord):
    """The pages that a search found, best first."""

    hits: tuple[HitReply, ...]
    senses: tuple[SenseReply, ...]


@dataclass(frozen=True, slots=True)
class SuggestionReply(Record):
    """A page whose title starts with or contains the text typed."""

    title: str
    alias: str
    """The other name of the page that matched; empty if its title did."""
    book: str
    book_id: str
    book_title: str
    path: str
    url: str


@dataclass(frozen=True, slots=True)
class SuggestReply(Record):
    """Titles for a box with suggestions."""

    query: str
    suggestions: tuple[SuggestionReply, ...]


@dataclass(frozen=True, slots=True)
class BooksReply(Record):
    """The library."""

    sample: bool
    """Whether this is the sample book, because the library is empty."""
    books: tuple[BookRecord, ...]


@dataclass(frozen=True, slots=True)
class ClaimsReply(PageClaimsRecord):
    """The claims of a page or a text, in its order."""

    url: str
    """Opens the page; empty for a text."""


@dataclass(frozen=True, slots=True)
class PageReply(PageRecord):
    """A page of a book."""

    is_cut: bool
    """Whether this is only its beginning, because the page is too large."""
