"""Where snapshots are, told so that any process can open them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kiwiresearch import __version__
from kiwiresearch.errors import BadUsage, NotOffered
from kiwiresearch.research.desk import Desk
from kiwiresearch.research.snapshots_sides import BookSide, Side
from kiwiresearch.zim.policy import Policy, Titles, book_hidden

MANIFEST = "manifest.json"
EVERYTHING = Policy()


@dataclass(frozen=True, slots=True)
class Place:
    """A ZIM file and what may not be read in it, or a folder of claims and the index of its pages."""

    path: Path
    policy: Policy = EVERYTHING
    index: Path | None = None
    version: str = __version__
    """Of the program that read its claims."""


def opened(place: Place) -> Side:
    if place.index is None:
        from kiwiresearch.zim.libzim import LibzimArchive

        return BookSide(LibzimArchive(place.path), place.policy)
    from kiwiresearch.bulk.reading import open_folder
    from kiwiresearch.research.snapshots_folder import FolderSide

    return FolderSide(open_folder(place.path), place.index)


@contextmanager
def places_of(desk: Desk, old: str, new: str) -> Iterator[tuple[Place, Place]]:
    """What a user means by two names, for as long as they are compared."""
    with tempfile.TemporaryDirectory(prefix="kiwiresearch-diff-") as spare:
        before, after = (_place(desk, name, Path(spare) / which) for name, which in ((old, "old"), (new, "new")))
        check_versions(before, after)
        yield before, after


def check_versions(old: Place, new: Place) -> None:
    """Refuse claims that two versions of the program have read: they differ for that reason alone."""
    if old.version != new.version:
        older = old if old.version != __version__ else new
        raise BadUsage(
            f"The claims in {str(older.path)!r} were read by version {older.version}, the others by another.",
            remedy="Make its folder again with 'kiwiresearch bulk', or name the ZIM file.",
        )


def folder_place(folder: Path, policy: Policy, index: Path) -> Place:
    """A folder that `kiwiresearch bulk` has written, with a new index of its pages."""
    from kiwiresearch.bulk.reading import open_folder
    from kiwiresearch.research.snapshots_index import build_index

    found = open_folder(folder)
    book = found.manifest.book
    names = (book.id, book.name, book.title, book.file, book.file.removesuffix(".zim"))
    if not policy.allows(names):
        raise book_hidden(book.title or book.name, policy)
    hidden = policy.titles_of(names) if policy.hidden else Titles(())
    build_index(found, hidden, index)
    return Place(folder, policy, index, found.manifest.version)


def _place(desk: Desk, name: str, index: Path) -> Place:
    folder = _bulk_folder(name)
    if folder is not None:
        return folder_place(folder, desk.settings.policy, index)
    with desk.shelf([name]) as shelf:
        if len(shelf.books) != 1:
            raise BadUsage(
                f"{name!r} stands for {len(shelf.books)} books.", remedy="Name one file for each of the two snapshots."
            )
        book = shelf.books[0]
        if book.source.is_served:
            raise NotOffered(
                f"The book {book.title!r} is on a server, which does not list its pages.", remedy="Name its ZIM file."
            )
        shelf.open(book)  # whoever it is, it is looked at for damage first
    return Place(book.source.path, desk.settings.policy)


def _bulk_folder(name: str) -> Path | None:
    """The folder of this name, if it looks like one that `kiwiresearch bulk` has finished."""
    try:
        folder = Path(name).expanduser()
        return folder if name and (folder / MANIFEST).is_file() else None
    except (OSError, RuntimeError):  # a name too long for the system, or '~name' of nobody
        return None
