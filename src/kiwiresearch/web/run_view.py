"""A finished run with the addresses of its pages and claims on the desk."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Container
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Self, TypeVar
from urllib.parse import quote as percent

from fastapi import Path as PathOf

from kiwiresearch.claims import Claim
from kiwiresearch.errors import RunDamaged, RunNotFound
from kiwiresearch.jobs import JobQueue
from kiwiresearch.runs import BRIEF, MANIFEST, PICTURES, Run, Runs, read_images
from kiwiresearch.text import capitalized
from kiwiresearch.web.addresses import page_address, run_address
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.problems import NotInRun
from kiwiresearch.zim import EntryRef, Shelf

T = TypeVar("T")

RunName = Annotated[str, PathOf(max_length=255)]
"""The id of a run within an address."""


@dataclass(frozen=True)
class RunView(Run):
    """A finished run with the addresses of its pages, its claims and itself on the desk."""

    here: Container[str] | None = None
    """The ids of the books that can be read on this server; None for all."""

    @classmethod
    def of(cls, run: Run, here: Container[str] | None) -> Self:
        return cls(run.id, run.path, run.manifest, run.stored_runs, here)

    @property
    def heading(self) -> str:
        """The topic, with a capital letter at the start."""
        return capitalized(self.topic)

    @property
    def made_at(self) -> str:
        """When it was finished or copied here, in UTC."""
        try:
            moment = (self.path / MANIFEST).stat().st_mtime
        except OSError:
            return ""
        return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")

    @property
    def was_stopped(self) -> bool:
        """Whether its brief was written before all pages were read."""
        return "stopped" in self.manifest.record

    def claim(self, claim_id: str) -> Claim:
        """One claim of the run."""
        found = next((claim for claim in self.claims if claim.id == claim_id), None)
        if found is None:
            raise NotInRun(
                f"The run {self.id!r} has no claim {claim_id[:100]!r}.", remedy="Choose one from the list of claims."
            )
        return found

    def image(self, sha256: str) -> bytes:
        """The bytes of a picture that the brief shows."""
        if all(picture.sha256 != sha256 for picture in self.brief.pictures):
            raise NotInRun(
                f"The run {self.id!r} has no picture {sha256[:100]!r}.", remedy="Reload the page of the brief."
            )
        found = self._read(PICTURES, read_images).get(sha256)
        if found is None:
            raise RunDamaged(
                f"The file {PICTURES!r} of the run {self.id!r} does not contain a picture that is used in {BRIEF!r}.",
                remedy="Restore it from a backup, or research the topic again.",
            )
        return found

    def _read(self, name: str, read: Callable[[Path], T]) -> T:
        """Read a file of the run; errors do not name the folder, which only concerns the server."""
        try:
            self.file(name)
            return super()._read(name, read)
        except (RunDamaged, RunNotFound) as problem:
            raise RunDamaged(
                f"The file {name!r} of the run {self.id!r} is missing or was changed.",
                remedy="Restore it from a backup, or research the topic again.",
            ) from problem

    def url(self, tab: str = "brief") -> str:
        """Where the run is shown, or one of its tabs."""
        return run_address(self.id, tab)

    def claim_url(self, claim_id: str) -> str:
        return f"{self.url('claims')}/{percent(claim_id, safe=':')}"

    def page_url(self, ref: EntryRef, start: int | None = None, end: int | None = None) -> str:
        """Where a page of the run can be read, with words marked; empty if its book is not on this server."""
        if self.here is not None and ref.book not in self.here:
            return ""
        return page_address(ref, run=self.id, mark=f"{start}-{end}" if start is not None and end is not None else "")


class ShelfBookIds:
    """The ids of the books that are on a shelf now."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def __contains__(self, book: object) -> bool:
        return any(listed_book.id == book for listed_book in self._shelf.current_books())


class RunViews:
    """The finished runs of a folder; several of these over one `Runs` share what it has read."""

    def __init__(self, folder: Path, here: Container[str] | None = None, runs: Runs | None = None) -> None:
        self._folder = folder
        self._runs = runs or Runs(folder)
        self._here = here

    def get(self, run_id: str) -> RunView:
        """A run by its id; RunNotFound if it does not exist, RunDamaged if its manifest is damaged."""
        try:
            return RunView.of(self._runs.get(run_id), self._here)
        except RunNotFound as problem:
            if self._is_damaged(run_id):
                raise RunDamaged(
                    f"The file {MANIFEST!r} of the run {run_id!r} is damaged or was changed.",
                    remedy="Restore it from a backup, or research the topic again.",
                ) from problem
            raise RunNotFound(
                f"No finished research has the ID {run_id[:200]!r}.",
                remedy="To see all research, open the Research page.",
            ) from problem

    def all(self) -> list[RunView]:
        """All runs, the newest first."""
        found = [RunView.of(run, self._here) for run in self._runs.all()]
        return sorted(found, key=lambda run: run.made_at, reverse=True)

    def _is_damaged(self, run_id: str) -> bool:
        with contextlib.suppress(OSError, RunNotFound):
            if run_id in {path.name for path in self._folder.iterdir()}:  # so that no id can lead out of the folder
                try:
                    Run.load(self._folder / run_id)
                except RunDamaged:
                    return True
        return False


def run_views(context: ServerContext, jobs: JobQueue) -> RunViews:
    """The runs of a server, with links only to pages of books on its shelf."""
    return RunViews(jobs.folder, ShelfBookIds(context.shelf), jobs.runs)
