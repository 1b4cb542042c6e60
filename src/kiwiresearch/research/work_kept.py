"""The work of a job in the store: what it has done so far, step by step, and what it made in the end."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kiwiresearch.disk import write_pieces
from kiwiresearch.errors import StoreUnreachable
from kiwiresearch.research.job_stops import Stopped
from kiwiresearch.research.manifest import HIDDEN, MANIFEST, digest
from kiwiresearch.research.part import writing

if TYPE_CHECKING:
    from kiwiresearch.store.open import Store

T = TypeVar("T")

AGAIN_S = 1.0
"""How long somebody waits for a store that is away before asking again."""


class KeptWork:
    """The files of an unfinished job: they grow in a folder of this host, and every step is copied into the store.

    Only whoever holds the job can copy: a worker that was given up for dead gets
    LeaseLost, and nothing of what it does afterwards is kept.
    """

    def __init__(self, store: Store, holder: str, job_id: str, folder: Path, names: Sequence[str]) -> None:
        self._store, self._holder, self._job = store, holder, job_id
        self._folder = folder
        self._names = names
        self._sizes: dict[str, int] = {}
        self.stop = threading.Event()
        """When it is set, a store that is away is no longer waited for."""

    def bring(self) -> bool:
        """Make the folder as the last whole step left it, wherever that was; what was here before is replaced.

        True if nothing is left to do: a worker before us had made everything, and ended before it could say so.
        """
        if self._patiently(lambda: self._store.files.names(self._job)):
            self._patiently(lambda: bring_files(self._store, self._job, self._folder))
            self._patiently(lambda: self._store.parts.drop(self._job))
            return True
        hidden = self._folder / HIDDEN
        self._sizes = self._patiently(lambda: self._store.parts.sizes(self._job))
        with writing(self._folder):
            shutil.rmtree(hidden, ignore_errors=True)
            for name in self._names:
                if name in self._sizes:
                    hidden.mkdir(parents=True, exist_ok=True)
                    self._patiently(partial(self._bring_part, name))
        return False

    def _bring_part(self, name: str) -> None:
        _write(self._folder / HIDDEN / name, self._store.parts.read(self._job, name))

    def copy(self) -> None:
        """Copy what was added since the last time; the step is done when this returns."""
        pieces = {}
        for name in self._names:
            file, before = self._folder / HIDDEN / name, self._sizes.get(name, 0)
            size = file.stat().st_size if file.exists() else 0
            if size != before:
                start = min(before, size)
                pieces[name] = (start, _read(file, start, size))
                self._sizes[name] = size
        if pieces:
            # Asked again with the same start after a break, it puts the same bytes into the same place.
            self._patiently(lambda: self._store.parts.append(self._holder, self._job, pieces))

    def finish(self, names: Iterable[str]) -> None:
        """Put what was made into the store, all or nothing."""
        files = {name: self._folder / name for name in names}
        self._patiently(lambda: self._store.files.put(self._holder, self._job, files))
        self._patiently(lambda: self._store.parts.drop(self._job))

    def _patiently(self, ask: Callable[[], T]) -> T:
        """Ask a store that may be away for a while."""
        while True:
            try:
                return ask()
            except StoreUnreachable as problem:
                if self.stop.wait(AGAIN_S):
                    raise Stopped from problem


def bring_files(store: Store, run_id: str, folder: Path, names: Mapping[str, str] | None = None) -> None:
    """Make the files of a finished run in a folder; those that are there already, byte for byte, stay."""
    wanted = store.files.names(run_id) if names is None else names
    plain = {name: sha for name, sha in wanted.items() if name not in ("", ".", "..") and Path(name).name == name}
    with writing(folder):
        for name, sha in sorted(plain.items(), key=lambda row: (row[0] == MANIFEST, row)):
            if digest(folder / name) != sha:
                write_pieces(folder / name, store.files.pieces(run_id, name))
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(folder / HIDDEN)  # what an attempt of this host had left


def _write(file: Path, chunks: Iterable[bytes]) -> None:
    with file.open("wb") as stream:
        for chunk in chunks:
            stream.write(chunk)


def _read(file: Path, start: int, end: int) -> bytes:
    if end <= start:
        return b""
    with file.open("rb") as stream:
        stream.seek(start)
        return stream.read(end - start)
