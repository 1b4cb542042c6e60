"""Creates the atlas of a book in a process of its own: the tables of the whole book, then what is calculated from them.

The folder saves what is done after every batch, so that a build that was stopped or killed resumes there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kiwiresearch.errors import CannotWrite, FolderInUse, FolderTaken, KiwiError
from kiwiresearch.ids import BookId
from kiwiresearch.version import __version__
from kiwiresearch.workspace.output_folders import server_folder
from kiwiresearch.workspace.workspace import Workspace
from kiwiresearch.zim import LibzimArchive

if TYPE_CHECKING:
    from kiwiresearch.bulk import BulkProgress

MODULE = "kiwiresearch.workspace.atlas_build"
MANIFEST = "manifest.json"
WANTED_SUFFIX = ".wanted"
"""A file with this suffix says that the folder of the same name is to be finished, also after a restart."""
STEPS = 100
"""About how many batches a small book has, so that its progress can be seen."""
MIN_BATCH, MAX_BATCH = 20, 500
PAGES_PER_SECOND = 19.0
"""What one process did with all tables of 4,655 long articles: see docs/design/scale.md."""
BYTES_PER_PAGE = 15_000


@dataclass(frozen=True, slots=True)
class AtlasEstimate:
    """Roughly how long an atlas takes and how large it becomes, from the number of articles."""

    articles: int
    seconds: float
    size_bytes: int


def estimate(articles: int) -> AtlasEstimate:
    return AtlasEstimate(articles, articles / (PAGES_PER_SECOND * workers()), articles * BYTES_PER_PAGE)


def workers() -> int:
    """How many processes read a book: one core is left to the server."""
    from kiwiresearch.system import available_cores

    return max(available_cores() - 1, 1)


class AtlasFolders:
    """The folders in which a server creates atlases, one for each book and version of the program."""

    def __init__(self, workspace: Workspace) -> None:
        self._root = server_folder(workspace, "atlas", "")

    def of(self, book: BookId) -> Path:
        """Where this version of the program creates the atlas of a book."""
        return self._root / f"{book}-{__version__}"

    def finished(self) -> tuple[Path, ...]:
        """The finished atlases, those of this version first."""
        found = [file.parent for file in self._root.glob(f"*/{MANIFEST}")]
        return tuple(sorted(found, key=lambda folder: (not folder.name.endswith(f"-{__version__}"), folder.name)))

    def progress(self, book: BookId) -> BulkProgress | None:
        """How far an unfinished atlas is; None if there is none."""
        from kiwiresearch.bulk import unfinished_progress

        return unfinished_progress(self.of(book))

    def set_wanted(self, book: BookId, *, wanted: bool) -> None:
        """Note that an atlas is to be finished, also after a restart, or is not."""
        mark = self._mark(book)
        with self._translated_errors():
            if wanted:
                mark.parent.mkdir(parents=True, exist_ok=True)
                mark.touch()
            else:
                mark.unlink(missing_ok=True)

    def is_wanted(self, book: BookId) -> bool:
        return self._mark(book).exists()

    def delete(self, book: BookId) -> None:
        """Delete the atlas of a book, finished or not, of every version."""
        with self._translated_errors():
            for folder in self._root.glob(f"{book}-*"):
                if folder.is_dir():
                    shutil.rmtree(folder)
                else:
                    folder.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            remedy = "Free up disk space, or make the folder writable."
            raise CannotWrite.to(self._root, problem, remedy=remedy) from problem

    def _mark(self, book: BookId) -> Path:
        folder = self.of(book)
        return folder.with_name(folder.name + WANTED_SUFFIX)


def main(arguments: list[str]) -> None:
    """`python -m kiwiresearch.workspace.atlas_build FILE FOLDER CACHE`.

    Prints lines with the number of pages done, of all pages, and of those that could not be read; then 'analysing'.
    An error ends it with code 1.
    """
    from kiwiresearch.atlas import CONTRADICTIONS, DAYS, FAMILIES, GRAPH, SUBJECTS, open_atlas

    file, folder, cache = map(Path, arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the processes that read end too
    with contextlib.suppress(AttributeError, OSError):
        os.nice(10)
    try:
        _write(file, folder)
        print("analysing", flush=True)
        atlas = open_atlas(folder, cache)
        for recipe in (SUBJECTS, DAYS, GRAPH, CONTRADICTIONS, FAMILIES):
            atlas.files(recipe)
        _remove_other_versions(folder)
    except KiwiError as problem:
        sys.exit(str(problem))


def _write(file: Path, folder: Path) -> None:
    from kiwiresearch.bulk import CHOICES, write_book

    archive = LibzimArchive(file)
    articles = archive.book.articles
    archive.close()
    batch = min(max(articles // STEPS, MIN_BATCH), MAX_BATCH)

    def write() -> None:
        write_book(file, CHOICES, folder, version=__version__, workers=workers(), batch=batch, tell=_print_progress)

    try:
        write()
    except FolderInUse:
        raise
    except FolderTaken:  # half an atlas of another file of the same book: of no use to this one
        shutil.rmtree(folder)
        write()


def _print_progress(progress: BulkProgress) -> None:
    print(progress.done, progress.total, progress.errors, flush=True)


def _remove_other_versions(folder: Path) -> None:
    book = folder.name.removesuffix(f"-{__version__}")
    for other in folder.parent.glob(f"{book}-*"):
        if other != folder and other.is_dir():
            shutil.rmtree(other, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:])
