"""Whether the server, its books and its model are at hand; asking costs little and never waits long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from kiwiresearch.errors import KiwiError
from kiwiresearch.version import __version__
from kiwiresearch.web.context import ServerContext
from kiwiresearch.workspace.search_aids import chat_model
from kiwiresearch.workspace.settings import Settings

TIMEOUT_S = 2.0
"""How long one request waits for what is being looked up."""

FRESH_S = 10.0
"""How long what was seen counts."""

T = TypeVar("T")


class PolledValue(Generic[T]):
    """A fact that takes a while to look up: looked up by one thread at a time, and only when it is old."""

    def __init__(self, look: Callable[[], T], *, fresh_s: float = FRESH_S) -> None:
        self._look = look
        self._fresh_s = fresh_s
        self._lock = threading.Lock()
        self._seen: T | None = None
        self._done: threading.Event | None = None
        self._old_at = 0.0

    def refresh(self) -> threading.Event:
        """See to it that the fact is fresh, or being looked up; returns what is set when it is known."""
        with self._lock:
            if self._done is None or (self._done.is_set() and time.monotonic() >= self._old_at):
                self._done = threading.Event()
                threading.Thread(target=self._refresh, args=(self._done,), name="health", daemon=True).start()
            return self._done

    def latest(self, *, patience_s: float) -> T | None:
        """What was last seen, waiting a little for fresh news; None where nothing was ever seen."""
        self.refresh().wait(patience_s)
        return self._seen

    def _refresh(self, done: threading.Event) -> None:
        try:
            self._seen = self._look()
        except KiwiError:
            self._seen = None
        finally:
            self._old_at = time.monotonic() + self._fresh_s
            done.set()


class ModelHealth(BaseModel):
    """The language model, which nothing depends on."""

    set: bool = Field(description="Whether the settings name one.")
    reachable: bool | None = Field(description="Whether it answers; null while that is being found out.")
    models: list[str] = Field(description="What can be asked for there.")


class TitleHealth(BaseModel):
    """The title index of a book, which makes search better."""

    titles: int
    complete: bool


class Indices(BaseModel):
    """What has been built beside the books."""

    titles: dict[str, TitleHealth] = Field(description="Title indexes by the UUID of the book.")


class BookHealth(BaseModel):
    """A book that is open."""

    id: str
    name: str
    title: str
    date: str
    flavour: str
    language: str
    articles: int


class Health(BaseModel):
    """The state of the server. Who shows no token where one is needed learns the status only."""

    status: str = Field(description="'ok', or 'busy' while the books cannot be looked at.")
    version: str | None = None
    wan: bool | None = Field(None, description="Always false: the server never uses the internet.")
    model_name: str | None = Field(None, description="The model that words answers; empty where there is none.")
    model: ModelHealth | None = None
    indices: Indices | None = None
    books: list[BookHealth] | None = None


def router(room: ServerContext) -> APIRouter:
    """The one route that monitors ask."""
    routes = APIRouter(tags=["server"])
    settings = room.desk.settings
    shelf = PolledValue(lambda: _shelf(room))
    models = PolledValue(lambda: offered_models(settings))

    @routes.get("/api/health", response_model=Health, response_model_exclude_unset=True)
    def health(request: Request) -> dict[str, Any]:
        """Tell whether books and model are at hand."""
        if getattr(request.state, "is_stranger", False):
            return {"status": "ok"}
        until = time.monotonic() + TIMEOUT_S
        shelf.refresh()
        offered = models.latest(patience_s=TIMEOUT_S)
        seen = shelf.latest(patience_s=max(0.0, until - time.monotonic()))
        model = _model_record(settings, offered)
        name = settings.model_name or next(iter(model["models"]), "")
        about: dict[str, Any] = {"version": __version__, "wan": False, "model_name": name, "model": model}
        return {"status": "ok" if seen else "busy"} | about | (seen or {"indices": {"titles": {}}, "books": []})

    return routes


def _shelf(room: ServerContext) -> dict[str, Any]:
    with room.locked_finder() as finder:
        opened = [(book.book, book.titles) for book in finder.books]
    return {
        "indices": {
            "titles": {
                book.id: {"titles": titles.rows if titles else 0, "complete": bool(titles and titles.complete)}
                for book, titles in opened
            }
        },
        "books": [
            {
                "id": book.id,
                "name": book.name,
                "title": book.title,
                "date": book.date,
                "flavour": book.flavour,
                "language": book.language,
                "articles": book.articles,
            }
            for book, _ in opened
        ],
    }


def offered_models(settings: Settings) -> tuple[str, ...] | KiwiError:
    """What the model server offers, or why it cannot be asked."""
    if not settings.model_url.strip():
        return ()
    try:
        with chat_model(settings) as model:
            return model.models()
    except KiwiError as problem:
        return problem


def _model_record(settings: Settings, offered: tuple[str, ...] | KiwiError | None) -> dict[str, Any]:
    is_set = bool(settings.model_url.strip())
    if isinstance(offered, tuple):
        return {"set": is_set, "reachable": is_set, "models": list(offered)}
    return {"set": is_set, "reachable": None if offered is None else False, "models": []}
