"""A finished run, read from its folder, and the collection of all finished runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.brief.brief import Brief, DisputeView, brief_from_record
from kiwiresearch.claims.claim import ClaimType
from kiwiresearch.errors import KiwiError, RunDamaged, RunError, RunNotFound
from kiwiresearch.runs.folder import MANIFEST, read_manifest
from kiwiresearch.runs.research import TIMINGS
from kiwiresearch.workspace.file_cache import FileCache, FileStamp, file_stamp

if TYPE_CHECKING:
    from kiwiresearch.runs.store_copy import StoredRuns
    from kiwiresearch.store.runs import NoteLines

CLAIMS = "claims.jsonl"


@dataclass(frozen=True, slots=True)
class Run:
    """A run as its manifest tells it."""

    id: str
    path: Path
    manifest: Mapping[str, Any]
    stored: StoredRuns | None = field(default=None, compare=False, repr=False)
    """Where its files are brought from, if it lives in the store."""

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the run that are there."""
        names = {*self.manifest["outputs"], MANIFEST, TIMINGS}
        in_store = self.stored.names(self.id) if self.stored is not None else ()
        return tuple(sorted(name for name in names if name in in_store or _is_plain(self.path / name)))

    @property
    def note_lines(self) -> NoteLines | None:
        """Where notes on it are written, if not beside it alone."""
        return self.stored.notes if self.stored is not None else None

    def file(self, name: str) -> Path:
        """Where a file of the run is; nothing else in the folder is one, and no link."""
        if name not in self.files:
            raise RunNotFound(
                f"The run {self.id!r} has no file {name[:200]!r}.", remedy=f"It has {_listed(self.files)}."
            )
        if self.stored is not None:
            self.stored.download(self.id)
        return self.path / name


@dataclass(frozen=True, slots=True)
class ClaimFilter:
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
class ClaimsPage:
    """Some of the claims that were wanted, and how many there are of them in all."""

    rows: tuple[Mapping[str, Any], ...]
    total: int


class Runs:
    """The runs in the folders right below one folder; those of a store are copied there as they are asked for."""

    def __init__(self, folder: Path, kept: StoredRuns | None = None) -> None:
        self._folder = folder
        self._kept = kept
        self._remembered: FileCache[Run | None] = FileCache()

    def all(self) -> list[Run]:
        """All finished runs by their names; what cannot be read as one is left out."""
        if self._kept is not None:
            self._kept.download_manifests()
        there = {name: stamp for name in self._names() if (stamp := self._stamp(name)) is not None}
        return [run for run in self._remembered.read_all(there, self._run).values() if run is not None]

    def get(self, run_id: str) -> Run:
        if self._kept is not None:
            self._kept.download(run_id)
        # Compared with the names that are there, so that no id leads anywhere else.
        run = self._run(run_id) if run_id in self._names() else None
        if run is None:
            raise RunNotFound(f"There is no finished run {run_id[:200]!r}.", remedy="'GET /api/runs' lists them all.")
        return run

    def claims(self, run_id: str, wish: ClaimFilter, *, limit: int, offset: int = 0) -> ClaimsPage:
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
        return ClaimsPage(tuple(fitting), total)

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

    def _stamp(self, name: str) -> FileStamp | None:
        try:
            return file_stamp((self._folder / name / MANIFEST).stat())
        except OSError:  # not finished
            return None

    def _run(self, name: str) -> Run | None:
        try:
            kept = self._kept if self._kept is not None and self._kept.names(name) else None
            return Run(name, self._folder / name, read_manifest(self._folder / name), kept)
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


BRIEF = "brief.json"
MAX_BYTES = 2**29


@dataclass(frozen=True, slots=True)
class ContradictionSide:
    """One side: what it says, in the page's words too, and where."""

    text: str
    quote: str
    place: str
    claim: str


@dataclass(frozen=True, slots=True)
class RunContradiction:
    """Sides that do not say the same of one thing."""

    about: str
    kind: str
    why: str
    sides: tuple[ContradictionSide, ...]

    def record(self) -> dict[str, Any]:
        sides = [{"text": s.text, "quote": s.quote, "place": s.place, "claim": s.claim} for s in self.sides]
        return {"about": self.about, "kind": self.kind, "why": self.why, "sides": sides}


def contradictions_of(folder: Path) -> tuple[RunContradiction, ...]:
    """The disagreements of a run, in the order of its brief."""
    brief = _brief(folder)
    found = []
    for dispute in brief.disputes:
        if dispute.difference:
            sides = tuple(_side(view, brief) for view in dispute.views)
            found.append(RunContradiction(dispute.about, dispute.difference.kind, dispute.difference.why, sides))
    return tuple(found)


def _side(view: DisputeView, brief: Brief) -> ContradictionSide:
    claim = brief.claims[view.statement.claims[0]]
    return ContradictionSide(view.statement.text, claim.quotes[0].text, claim.citation.words, claim.id)


def _brief(folder: Path) -> Brief:
    read_manifest(folder)
    file = folder / BRIEF
    try:
        if file.is_file() and file.stat().st_size <= MAX_BYTES:
            return brief_from_record(json.loads(file.read_text(encoding="utf-8")))
        problem = "there is no such file, or it is too large"
    except OSError as trouble:
        problem = str(trouble.strerror)
    except (KiwiError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        problem = "it is not as a run writes it"
    raise RunDamaged(f"The file {str(file)!r} cannot be read: {problem}.", remedy="Do the run again in another folder.")
