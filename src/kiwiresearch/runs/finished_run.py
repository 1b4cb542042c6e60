"""A finished run, read from its folder, and the collection of all finished runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from kiwiresearch.brief import Brief, BriefSource, DisputeView, Images, SourceBook
from kiwiresearch.claims import Claim, ClaimType
from kiwiresearch.errors import RunDamaged, RunError, RunNotFound
from kiwiresearch.runs.manifest import (
    BRIEF,
    CLAIMS,
    CORPUS,
    GRAPH,
    MANIFEST,
    PICTURES,
    TIMINGS,
    BookEdition,
    Manifest,
    read_manifest,
)
from kiwiresearch.runs.notes import Notes, read_notes
from kiwiresearch.runs.run_files import (
    RunGraph,
    damaged,
    page_text,
    read_brief,
    read_claims,
    read_graph,
    read_images,
)
from kiwiresearch.workspace import FileCache, FileStamp, RecentFiles, file_stamp
from kiwiresearch.zim import EntryRef

if TYPE_CHECKING:
    from kiwiresearch.runs.store_copy import StoredRuns
    from kiwiresearch.store import NoteLines

T = TypeVar("T")

RECENT_FILES = RecentFiles()
"""Shared by everything in this process that reads runs."""


@dataclass(frozen=True, slots=True)
class RunPage:
    """A page read by the run, with its claims."""

    number: int
    """Its 1-based position in the run."""
    source: BriefSource
    book: SourceBook
    claims: tuple[Claim, ...]
    links_to: tuple[int, ...]
    """The numbers of the pages that it links to."""

    @property
    def title(self) -> str:
        return " ".join(self.source.title.split()) or self.source.ref.path

    @property
    def book_title(self) -> str:
        return book_title(self.book)


def book_title(book: SourceBook) -> str:
    return book.title or book.name or str(book.id)


@dataclass(frozen=True)
class Run:
    """A finished run: its manifest and its parsed files; RunDamaged if a file was altered.

    A file is read when it is first needed, and again only if it has changed.
    """

    id: str
    path: Path
    manifest: Manifest
    stored_runs: StoredRuns | None = field(default=None, compare=False, repr=False)
    """Where its files are downloaded from, if it is in the store."""

    @classmethod
    def load(cls, path: Path) -> Self:
        """The finished run in a folder; RunNotFound if there is none."""
        return cls(path.name, path, read_manifest(path))

    @property
    def files(self) -> tuple[str, ...]:
        """The names of its files that exist."""
        names = {*self.manifest.outputs, MANIFEST, TIMINGS}
        in_store = self.stored_runs.names(self.id) if self.stored_runs is not None else ()
        return tuple(sorted(name for name in names if name in in_store or _is_plain(self.path / name)))

    @property
    def note_lines(self) -> NoteLines | None:
        """Where its notes are also stored, if not only in its folder."""
        return self.stored_runs.notes if self.stored_runs is not None else None

    def file(self, name: str) -> Path:
        """The path of one of its files; RunNotFound for other files in the folder, and for links."""
        if name not in self.files:
            raise RunNotFound(
                f"The run {self.id!r} has no file named {name[:200]!r}.",
                remedy=f"It has these files: {', '.join(map(repr, self.files)) or 'none'}.",
            )
        if self.stored_runs is not None:
            self.stored_runs.download(self.id)
        return self.path / name

    @property
    def topic(self) -> str:
        return self.manifest.topic

    @property
    def books(self) -> tuple[BookEdition, ...]:
        return self.manifest.books

    def language_of(self, book: str) -> str:
        return next((book_edition.language for book_edition in self.books if book_edition.id == book), "")

    @property
    def brief(self) -> Brief:
        """The brief, checked against its pages, books and claims."""
        return self._read(BRIEF, read_brief)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All claims, in the order of the run's pages."""
        return self._read(CLAIMS, read_claims)

    @property
    def graph(self) -> RunGraph:
        """All pages that were read or skipped, and the links between them."""
        return self._read(GRAPH, read_graph)

    @property
    def images(self) -> Images:
        """The pictures in the brief, by their hashes."""
        pictures = self.brief.pictures
        images = self._read(PICTURES, read_images) if pictures else {}
        if any(picture.sha256 not in images for picture in pictures):
            raise damaged(self.path / PICTURES, f"it lacks a picture that {BRIEF!r} names")
        return images

    @property
    def notes(self) -> Notes:
        """The current user notes on the run."""
        return read_notes(self.path)

    @property
    def pages(self) -> tuple[RunPage, ...]:
        """The pages that were read, in order."""
        sources = self.brief.sources
        books = {book.id: book for book in sources.books}
        claims: dict[EntryRef, list[Claim]] = {source.ref: [] for source in sources.pages}
        for number, claim in enumerate(self.claims, start=1):
            if claim.ref not in claims:
                raise damaged(self.path / CLAIMS, f"claim {number} is of a page that {BRIEF!r} does not list")
            claims[claim.ref].append(claim)
        links: dict[int, set[int]] = {}
        for start, end in sources.links:
            links.setdefault(start, set()).add(end)
        return tuple(
            RunPage(
                number=number,
                source=source,
                book=books[source.ref.book],
                claims=tuple(claims[source.ref]),
                links_to=tuple(end + 1 for end in sorted(links.get(number - 1, ()))),
            )
            for number, source in enumerate(sources.pages, start=1)
        )

    def text_of(self, ref: EntryRef) -> str:
        """The text of a page as the run read it; empty if it did not."""
        return page_text(self.path / CORPUS, ref)

    def _read(self, name: str, read: Callable[[Path], T]) -> T:
        if self.stored_runs is not None:
            self.stored_runs.download(self.id)
        file = self.path / name
        try:
            return RECENT_FILES.get(file, read)
        except OSError:
            return read(file)  # raises the error that says why


@dataclass(frozen=True, slots=True)
class ClaimFilter:
    """Which claims are wanted; None and empty values match all."""

    type: ClaimType | None = None
    page: str = ""
    """The title or the path of a page."""
    hedged: bool | None = None
    min_confidence: float = 0.0

    def matches(self, claim: Claim) -> bool:
        return (
            (self.type is None or claim.type == self.type)
            and (not self.page or self.page == claim.ref.path or self.page.casefold() == claim.page_title.casefold())
            and (self.hedged is None or bool(claim.hedges) == self.hedged)
            and claim.confidence >= self.min_confidence
        )


@dataclass(frozen=True, slots=True)
class ClaimBatch:
    """One batch of matching claims, and the number of all matches."""

    claims: tuple[Claim, ...]
    total: int


class Runs:
    """The runs in the subfolders of a folder; those in a store are downloaded there when they are needed."""

    def __init__(self, folder: Path, stored: StoredRuns | None = None) -> None:
        self._folder = folder
        self._stored = stored
        self._cache: FileCache[Run | None] = FileCache()

    def all(self) -> list[Run]:
        """All finished runs by name; unreadable ones are skipped."""
        if self._stored is not None:
            self._stored.download_manifests()
        stamps = {name: stamp for name in self._shown() if (stamp := self._stamp(name)) is not None}
        return [run for run in self._cache.read_all(stamps, self._run).values() if run is not None]

    def get(self, run_id: str) -> Run:
        if self._stored is not None:
            self._stored.download(run_id)
        # Checked against existing names, so that an id cannot escape the folder.
        run = self._run(run_id) if run_id in self._shown() else None
        if run is None:
            raise RunNotFound(
                f"No finished run named {run_id[:200]!r} was found.", remedy="'GET /api/runs' lists all runs."
            )
        return run

    def claims(self, run_id: str, claim_filter: ClaimFilter, *, limit: int, offset: int = 0) -> ClaimBatch:
        """Claims of a run, in the order of its pages."""
        run = self.get(run_id)
        run.file(CLAIMS)
        try:
            matching = [claim for claim in run.claims if claim_filter.matches(claim)]
        except RunDamaged as problem:
            raise RunDamaged(
                f"The claims of the run {run_id!r} are damaged or were changed.", remedy="Research the topic again."
            ) from problem
        return ClaimBatch(tuple(matching[offset : offset + limit]), len(matching))

    def _shown(self) -> list[str]:
        """The folders of runs, without those in the trash of the store; a folder's own trash is elsewhere."""
        deleted = self._stored.deleted() if self._stored is not None else frozenset()
        return [name for name in self._names() if name not in deleted]

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
            stored = self._stored if self._stored is not None and self._stored.names(name) else None
            return Run(name, self._folder / name, read_manifest(self._folder / name), stored)
        except RunError:
            return None


def _is_plain(file: Path) -> bool:
    try:
        return file.is_file() and not file.is_symlink()
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class ContradictionSide:
    """One side of a contradiction: its wording, the quote and where it is."""

    text: str
    quote: str
    place: str
    claim: str


@dataclass(frozen=True, slots=True)
class RunContradiction:
    """Statements that disagree about the same thing."""

    about: str
    kind: str
    why: str
    sides: tuple[ContradictionSide, ...]


def contradictions_of(run: Run) -> tuple[RunContradiction, ...]:
    """The contradictions of a run, in the order of its brief."""
    try:
        brief = run.brief
    except RunDamaged as problem:
        raise RunDamaged(
            f"The file {str(run.path / BRIEF)!r} cannot be read: {problem.problem}.",
            remedy="Research the topic again in another folder.",
        ) from problem
    found = []
    for dispute in brief.disputes:
        if dispute.difference:
            sides = tuple(_side(view, brief) for view in dispute.views)
            found.append(RunContradiction(dispute.about, dispute.difference.kind, dispute.difference.why, sides))
    return tuple(found)


def _side(view: DisputeView, brief: Brief) -> ContradictionSide:
    claim = brief.claims[view.statement.claims[0]]
    return ContradictionSide(view.statement.text, claim.quotes[0].text, claim.citation.words, claim.id)
