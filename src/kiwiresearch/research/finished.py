"""The finished runs of a folder, whoever made them: what they are, their files and their claims."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.claims.claim import ClaimType
from kiwiresearch.errors import RunDamaged, RunError, RunNotFound
from kiwiresearch.research.manifest import MANIFEST, read_manifest
from kiwiresearch.research.remembered import Remembered, Stamp, stamp_of
from kiwiresearch.research.run import TIMINGS

if TYPE_CHECKING:
    from kiwiresearch.research.runs_kept import KeptRuns
    from kiwiresearch.store.notes import NoteLines

CLAIMS = "claims.jsonl"


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run as its manifest tells it."""

    id: str
    path: Path
    manifest: Mapping[str, Any]
    kept: KeptRuns | None = field(default=None, compare=False, repr=False)
    """Where its files are brought from, if it lives in the store."""

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the run that are there."""
        names = {*self.manifest["outputs"], MANIFEST, TIMINGS}
        in_store = self.kept.names(self.id) if self.kept is not None else ()
        return tuple(sorted(name for name in names if name in in_store or _is_plain(self.path / name)))

    @property
    def notes(self) -> NoteLines | None:
        """Where notes on it are written, if not beside it alone."""
        return self.kept.notes if self.kept is not None else None

    def file(self, name: str) -> Path:
        """Where a file of the run is; nothing else in the folder is one, and no link."""
        if name not in self.files:
            raise RunNotFound(
                f"The run {self.id!r} has no file {name[:200]!r}.", remedy=f"It has {_listed(self.files)}."
            )
        if self.kept is not None:
            self.kept.bring(self.id)
        return self.path / name


@dataclass(frozen=True, slots=True)
class ClaimWish:
    """Which claims are wanted; what is None or empty does not matter."""

    type: ClaimType | None = None
    page: str = ""
    """The title or the path of a page."""
    hedged: bool | None = None
    min_confidence: float = 0.0

    def fits(self, row: Mapping[str, Any]) -> bool:
        return (
            (self.type is None or row["claim_type"] == self.type)
            and (not self.page or self.page == row["path"] or self.page.casefold() == row["page_title"].casefold())
            and (self.hedged is None or bool(row["hedging"]) == self.hedged)
            and row["confidence"] >= self.min_confidence
        )


@dataclass(frozen=True, slots=True)
class ClaimRows:
    """Some of the claims that were wanted, and how many there are of them in all."""

    rows: tuple[Mapping[str, Any], ...]
    total: int


class FinishedRuns:
    """The runs in the folders right below one folder; those of a store are copied there as they are asked for."""

    def __init__(self, folder: Path, kept: KeptRuns | None = None) -> None:
        self._folder = folder
        self._kept = kept
        self._remembered: Remembered[FinishedRun | None] = Remembered()

    def all(self) -> list[FinishedRun]:
        """All finished runs by their names; what cannot be read as one is left out."""
        if self._kept is not None:
            self._kept.list_all()
        there = {name: stamp for name in self._names() if (stamp := self._stamp(name)) is not None}
        return [run for run in self._remembered.all(there, self._run).values() if run is not None]

    def get(self, run_id: str) -> FinishedRun:
        if self._kept is not None:
            self._kept.bring(run_id)
        # Compared with the names that are there, so that no id leads anywhere else.
        run = self._run(run_id) if run_id in self._names() else None
        if run is None:
            raise RunNotFound(f"There is no finished run {run_id[:200]!r}.", remedy="'GET /api/runs' lists them all.")
        return run

    def claims(self, run_id: str, wish: ClaimWish, *, limit: int, offset: int = 0) -> ClaimRows:
        """Claims of a run in the order of its pages."""
        run = self.get(run_id)
        fitting: list[Mapping[str, Any]] = []
        total = 0
        try:
            for row in _rows(run.file(CLAIMS)):
                if wish.fits(row):
                    if offset <= total < offset + limit:
                        fitting.append(row)
                    total += 1
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
            raise RunDamaged(
                f"The claims of the run {run_id!r} are not as they were written.", remedy="Do the run again."
            ) from problem
        return ClaimRows(tuple(fitting), total)

    def _names(self) -> list[str]:
        try:
            with os.scandir(self._folder) as entries:
                return sorted(
                    entry.name
                    for entry in entries
                    if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
                )
        except OSError:
            return []

    def _stamp(self, name: str) -> Stamp | None:
        try:
            return stamp_of((self._folder / name / MANIFEST).stat())
        except OSError:  # not finished
            return None

    def _run(self, name: str) -> FinishedRun | None:
        try:
            kept = self._kept if self._kept is not None and self._kept.names(name) else None
            return FinishedRun(name, self._folder / name, read_manifest(self._folder / name), kept)
        except RunError:
            return None


def _rows(file: Path) -> Iterator[Mapping[str, Any]]:
    with file.open(encoding="utf-8", newline="\n") as stream:
        for line in stream:
            yield json.loads(line)


def _is_plain(file: Path) -> bool:
    try:
        return file.is_file() and not file.is_symlink()
    except OSError:
        return False


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(map(repr, names)) or "none"
