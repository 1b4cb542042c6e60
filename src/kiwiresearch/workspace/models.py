"""The models that the settings name, a language model with its timeouts and an embedder, and the indexes of titles."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kiwiresearch import system
from kiwiresearch.errors import BadSettings, IndexStale, KiwiError
from kiwiresearch.search import (
    IndexBuild,
    ReportProgress,
    TitleIndex,
    TitleLookup,
    build_titles,
    open_titles,
    peer_titles,
    titles_file,
)
from kiwiresearch.system import FileLock, expand_user
from kiwiresearch.workspace.settings import Settings
from kiwiresearch.zim import Archive, Book, PeerArchive, PolicyArchive, is_address, without_policy

if TYPE_CHECKING:
    from kiwiresearch.embed import CachedEmbedder, Embedder
    from kiwiresearch.llm import ChatModel, Model, Timeouts

MAX_ENTRIES_TO_INDEX_NOW = 100_000
"""The index of a book with up to this many entries is built in about a second, so it is not left to the background."""


class TitleIndexes:
    """The title indexes of a user's books, in the cache folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def file(self, archive: Archive) -> Path:
        """Where the title index of a book is, or will be."""
        return titles_file(self._folder, archive.book)

    def open(self, archive: Archive) -> TitleLookup | None:
        """The title index of a book, without hidden titles; None if it has none, and search uses the book's own."""
        return _filtered(self._open(archive), archive)

    def open_existing(self, archive: Archive) -> TitleLookup | None:
        """The existing title index; nothing is built."""
        return _filtered(self._valid(archive.book), archive)

    def _open(self, archive: Archive) -> TitleLookup | None:
        if isinstance(on_peer := without_policy(archive), PeerArchive):
            return peer_titles(on_peer)
        if is_address(archive.book.source):
            return None
        index = self._valid(archive.book)
        if index is not None and index.complete:
            return index
        if archive.book.entries > MAX_ENTRIES_TO_INDEX_NOW:
            self._build_in_background(archive)
            return index
        with contextlib.suppress(KiwiError):  # without a writable folder there is no index, but search still works
            if build_titles(archive, self.file(archive)).state != "busy":
                return self._valid(archive.book) or index
        return index

    def title_count(self, book: Book) -> int:
        """How many titles of a book are indexed."""
        index = self._valid(book)
        if index is None:
            return 0
        rows = index.rows
        index.close()
        return rows

    def build(
        self, archive: Archive, *, limit: int | None = None, progress: ReportProgress | None = None
    ) -> IndexBuild:
        """Build the title index of a book, or continue building it."""
        return build_titles(archive, self.file(archive), limit=limit, progress=progress)

    def _valid(self, book: Book) -> TitleIndex | None:
        """The index on disk, unless it was built from another version of the file."""
        try:
            return open_titles(titles_file(self._folder, book), book)
        except IndexStale:
            return None

    def _build_in_background(self, archive: Archive) -> None:
        file = self.file(archive)
        lock = FileLock(file.with_name(f"{file.name}.lock"))
        with contextlib.suppress(OSError):
            # The program that is started takes the lock itself: this only avoids starting it for nothing.
            if lock.acquire():  # else it is being built
                lock.release()
                system.start_detached("kiwiresearch.search.title_index_builder", archive.book.source, str(self._folder))


def _filtered(index: TitleLookup | None, archive: Archive) -> TitleLookup | None:
    if index is not None and isinstance(archive, PolicyArchive):
        index.set_filter(archive.hides_title)
    return index


def chat_model(settings: Settings) -> ChatModel:
    """The model at the addresses in the settings; it is not called yet. For searches, `Finder` limits its time."""
    from kiwiresearch.llm import ChatModel

    return ChatModel(
        *model_addresses(settings),
        model=settings.model_name,
        key=settings.model_key,
        context_tokens=settings.model_context_tokens or None,
        timeouts=model_timeouts(settings),
    )


def model_timeouts(settings: Settings) -> Timeouts:
    """How long to wait for the model: if it may take longer than the default, it may also be silent for longer."""
    from kiwiresearch.llm import DEFAULT_TIMEOUTS

    longer = max(1.0, settings.model_timeout_s / DEFAULT_TIMEOUTS.total_s)
    return replace(DEFAULT_TIMEOUTS, total_s=settings.model_timeout_s, read_s=DEFAULT_TIMEOUTS.read_s * longer)


@contextlib.contextmanager
def caching_model(settings: Settings, cache: Path, say: Callable[[str], None]) -> Iterator[Model | None]:
    """The model with its replies cached, so that work can be repeated and resumed; None if no setting names one."""
    if not settings.model_url.strip():
        yield None
        return
    from kiwiresearch.llm import ReplayModel

    with chat_model(settings) as model:
        yield ReplayModel(model, cache / "replies", say=say)


def model_addresses(settings: Settings) -> list[str]:
    return re.split(r"[,\s]+", settings.model_url.strip(", "))


def model_is_local(settings: Settings) -> bool:
    """Whether what is sent to the model stays on this machine: all of its addresses are loopback ones."""
    from kiwiresearch.llm import is_on_this_machine

    return bool(settings.model_url.strip()) and all(map(is_on_this_machine, model_addresses(settings)))


def configured_embedder(settings: Settings, cache: Path) -> CachedEmbedder:
    """The embedder named in the settings, with its vectors cached on disk."""
    from kiwiresearch.embed import CachedEmbedder

    return CachedEmbedder(_embedder(settings), cache / "vectors.sqlite")


def _embedder(settings: Settings) -> Embedder:
    name = settings.embedder.strip()
    if name == "static":
        from kiwiresearch.embed import StaticEmbedder

        return StaticEmbedder()
    if is_address(name):
        from kiwiresearch.embed import ServerEmbedder

        return ServerEmbedder(name, settings.embedder_model, settings.embedder_key)
    folder = expand_user(name)
    if folder.is_dir():
        from kiwiresearch.embed import OnnxEmbedder

        models = sorted(folder.glob("*.onnx"))
        if models and (folder / "tokenizer.json").is_file():
            return OnnxEmbedder(models[0], folder / "tokenizer.json")
    raise BadSettings(
        f"The embedder {name!r} must be 'static', an address or a folder with a model.",
        remedy="A folder needs one .onnx file and a tokenizer.json. "
        "Leave the setting empty to work without an embedder.",
    )
