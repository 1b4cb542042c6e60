"""Whether the server, its books and its model are available; the check is cheap and never waits long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from kiwiresearch.codec import OMIT_DEFAULT, Record, extend, plain
from kiwiresearch.errors import KiwiError
from kiwiresearch.ids import BookId
from kiwiresearch.version import __version__
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard import RoleRouter
from kiwiresearch.workspace import Settings, chat_model

TIMEOUT_S = 2.0
"""How long one request waits for a lookup."""

FRESH_S = 10.0
"""How long the result of a lookup counts."""

T = TypeVar("T")


class PolledValue(Generic[T]):
    """A value that is slow to look up: one thread at a time does so, and only when the last result is old."""

    def __init__(self, look_up: Callable[[], T], *, fresh_s: float = FRESH_S) -> None:
        self._look_up = look_up
        self._fresh_s = fresh_s
        self._lock = threading.Lock()
        self._value: T | None = None
        self._check_done: threading.Event | None = None
        self._stale_at = 0.0

    def refresh(self) -> threading.Event:
        """Start a lookup if the value is old and none is running; the event is set when the value is known."""
        with self._lock:
            if self._check_done is None or (self._check_done.is_set() and time.monotonic() >= self._stale_at):
                self._check_done = threading.Event()
                threading.Thread(target=self._refresh, args=(self._check_done,), name="health", daemon=True).start()
            return self._check_done

    def expire(self) -> None:
        """Look the value up again at the next request, since what it depends on has changed."""
        with self._lock:
            self._stale_at = 0.0

    def latest(self, *, timeout_s: float) -> T | None:
        """The last value, after waiting up to `timeout_s` for a fresh one; None if there never was one."""
        self.refresh().wait(timeout_s)
        return self._value

    def _refresh(self, done: threading.Event) -> None:
        try:
            self._value = self._look_up()
        except KiwiError:
            self._value = None
        finally:
            self._stale_at = time.monotonic() + self._fresh_s
            done.set()


@dataclass(frozen=True, slots=True)
class ModelHealth(Record):
    """The language model, which is optional."""

    set: bool
    """Whether the settings name one."""
    reachable: bool | None
    """Whether it is responding; null while this is being checked."""
    models: tuple[str, ...]
    """What is available there."""


@dataclass(frozen=True, slots=True)
class TitleHealth(Record):
    """The title index of a book, which makes search better."""

    titles: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Indices(Record):
    """What has been built for the books."""

    titles: dict[BookId, TitleHealth]
    """Title indexes by the UUID of the book."""


@dataclass(frozen=True, slots=True)
class BookHealth(Record):
    """A book that is open."""

    id: str
    name: str
    title: str
    date: str
    flavour: str
    language: str
    articles: int


@dataclass(frozen=True, slots=True)
class Health(Record):
    """The state of the server. Without a token where one is needed, only the status."""

    status: str
    """'ok', or 'busy' while the books cannot be checked."""
    version: str | None = field(default=None, metadata=OMIT_DEFAULT)
    wan: bool | None = field(default=None, metadata=OMIT_DEFAULT)
    """Always false: the server never uses the internet."""
    model_name: str | None = field(default=None, metadata=OMIT_DEFAULT)
    """The model that writes answers; empty if there is none."""
    model: ModelHealth | None = field(default=None, metadata=OMIT_DEFAULT)
    indices: Indices | None = field(default=None, metadata=OMIT_DEFAULT)
    books: tuple[BookHealth, ...] | None = field(default=None, metadata=OMIT_DEFAULT)


def router(context: ServerContext) -> APIRouter:
    """The route for monitors."""
    routes = RoleRouter("stranger", tags=["server"])
    shelf = PolledValue(lambda: _shelf(context))
    models = PolledValue(lambda: offered_models(context.workspace.settings))

    @routes.get("/api/health", response_model=Health)
    def health(request: Request) -> JSONResponse:
        """Show whether books and model are available."""
        if getattr(request.state, "is_stranger", False):
            return JSONResponse(plain(Health("ok")))
        settings = context.workspace.settings
        until = time.monotonic() + TIMEOUT_S
        # Both are looked up at the same time.
        shelf.refresh()
        offered = models.latest(timeout_s=TIMEOUT_S)
        found = shelf.latest(timeout_s=max(0.0, until - time.monotonic()))
        model = _model_health(settings, offered)
        name = settings.model_name or next(iter(model.models), "")
        indices, books = found or (Indices({}), ())
        known = Health("ok" if found else "busy", __version__, False, name, model, indices, books)  # noqa: FBT003
        return JSONResponse(plain(known))

    return routes


def _shelf(context: ServerContext) -> tuple[Indices, tuple[BookHealth, ...]]:
    with context.locked_finder() as finder:
        opened = [(book.book, book.titles) for book in finder.books]
    indices = {
        book.id: TitleHealth(titles.rows if titles else 0, bool(titles and titles.complete)) for book, titles in opened
    }
    return Indices(indices), tuple(extend(BookHealth, book) for book, _ in opened)


def offered_models(settings: Settings) -> tuple[str, ...] | KiwiError:
    """The models that the server offers, or why it cannot be asked."""
    if not settings.model_url.strip():
        return ()
    try:
        with chat_model(settings) as model:
            return model.models()
    except KiwiError as problem:
        return problem


def _model_health(settings: Settings, offered: tuple[str, ...] | KiwiError | None) -> ModelHealth:
    is_set = bool(settings.model_url.strip())
    if isinstance(offered, tuple):
        return ModelHealth(is_set, is_set, offered)
    return ModelHealth(is_set, None if offered is None else False, ())
