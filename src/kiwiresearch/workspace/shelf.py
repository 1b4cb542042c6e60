"""The shelf of a workspace: the books a user named, or all there are, on this host and others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kiwiresearch.errors import BookNotFound
from kiwiresearch.ids import BookId
from kiwiresearch.workspace.policy import allowed_books, hidden_books
from kiwiresearch.workspace.workspace import Workspace
from kiwiresearch.zim import ListedBook, Shelf, Source, pick_books


def shelf_of(workspace: Workspace, wanted: Sequence[str] = (), *, trusting: bool = False) -> Shelf:
    """The books a user named, else all on the shelf, else the sample book.

    `trusting` accepts a file as a book without opening it, for a check that is about to do so.
    """
    books = workspace.shelf_file.books()
    if workspace.settings.store.strip():
        return _shared_shelf(workspace, books, wanted, trusting=trusting)
    if wanted:
        chosen = [book for name in wanted for book in _pick(workspace, books, name, trusting=trusting)]
        return Shelf(list(dict.fromkeys(chosen)), workspace.opener)
    if books:
        return Shelf(allowed_books(books, workspace.settings.policy), workspace.opener)
    return Shelf([workspace.sample()], workspace.opener, is_sample=True)


def _shared_shelf(workspace: Workspace, own: Sequence[ListedBook], wanted: Sequence[str], *, trusting: bool) -> Shelf:
    """The shelf over all hosts of the store that the settings name."""
    from kiwiresearch.workspace import hosts  # rarely needed, and slow to import

    if not wanted:
        hidden = set(hidden_books(own, workspace.settings.policy))
        return hosts.full_shared_shelf(workspace, [book for book in own if book not in hidden])
    known = hosts.all_shared_books(workspace, own)
    chosen: list[ListedBook] = []
    for name in wanted:
        try:
            chosen += _pick(workspace, known, name, trusting=trusting)
        except BookNotFound as problem:
            raise hosts.unreachable_book(workspace, name) or problem from None
    return hosts.chosen_shared_shelf(workspace, chosen)


def _pick(workspace: Workspace, books: Sequence[ListedBook], name: str, *, trusting: bool) -> list[ListedBook]:
    if name.casefold() == "sample":
        return [workspace.sample()]
    path = Path(name).expanduser()
    if trusting and path.is_file():
        known = [book for book in books if book.matches(name)]
        return known or [ListedBook(BookId(""), path.stem, path.name, Source(str(path.absolute())))]
    return pick_books(books, name, workspace.opener)
