"""The shelf of a workspace: the books a user named, or all there are, on this host and others."""

from __future__ import annotations

from collections.abc import Sequence

from kiwiresearch.errors import BookHidden, BookNotFound, KiwiError
from kiwiresearch.ids import BookId
from kiwiresearch.system import expand_user
from kiwiresearch.workspace.file_cache import FileStamp, file_stamp
from kiwiresearch.workspace.policy import allowed_books, hidden_books
from kiwiresearch.workspace.workspace import Workspace
from kiwiresearch.zim import BookLocation, ListedBook, Shelf, ShelfFile, pick_books


class ListFollower:
    """The books in the list of a user, read again whenever the file has changed."""

    def __init__(self, file: ShelfFile) -> None:
        self._file = file
        self._stamp: FileStamp | None = None
        self._books: tuple[ListedBook, ...] = ()
        self._is_read = False

    def books(self) -> tuple[ListedBook, ...]:
        """The current books; while the file cannot be read, those that it had before."""
        stamp = self._current_stamp()
        if not self._is_read or stamp != self._stamp:
            try:
                self._books = self._file.books()
            except KiwiError:
                if not self._is_read:
                    raise
            self._stamp, self._is_read = stamp, True
        return self._books

    def _current_stamp(self) -> FileStamp | None:
        try:
            return file_stamp(self._file.path.stat())
        except OSError:
            return None


class LibraryShelf(Shelf):
    """All books of a user, or the sample book while there is none; a changed list counts from the next `refresh`.

    So a server uses a book that was added a moment ago, in the browser or at a terminal, without a restart.
    """

    follows_library = True

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._list = ListFollower(workspace.shelf_file)
        self._listed = self._list.books()
        super().__init__(self._chosen(self._listed), workspace.opener, is_sample=not self._listed)

    def current_books(self) -> tuple[ListedBook, ...]:
        listed = self._list.books()
        return self.books if listed == self._listed or not listed else tuple(self._chosen(listed))

    def refresh(self) -> bool:
        listed = self._list.books()
        if listed == self._listed:
            return False
        self._listed, self.is_sample = listed, not listed
        try:
            before, self.books = self.books, tuple(self._chosen(listed))
        # A server that runs goes on without books; only opening such a library is an error.
        except BookHidden:
            before, self.books = self.books, ()
        for gone in self._archives.keys() - set(self.books):
            self._archives.pop(gone).close()
        return before != self.books

    def _chosen(self, listed: Sequence[ListedBook]) -> Sequence[ListedBook]:
        """The books that the policy allows; where it allows none, opening the shelf raises the error."""
        if not listed:
            return [self._workspace.sample()]
        return allowed_books(listed, self._workspace.settings.policy)


def shelf_of(workspace: Workspace, wanted: Sequence[str] = (), *, skip_open_check: bool = False) -> Shelf:
    """The books a user named, else all on the shelf, else the sample book.

    `skip_open_check` accepts a file as a book without opening it, for a check that is about to do so.
    """
    books = workspace.shelf_file.books()
    if workspace.settings.is_shared_store:
        return _shared_shelf(workspace, books, wanted, skip_open_check=skip_open_check)
    if wanted:
        chosen = [book for name in wanted for book in _pick(workspace, books, name, skip_open_check=skip_open_check)]
        return Shelf(list(dict.fromkeys(chosen)), workspace.opener)
    return LibraryShelf(workspace)


def _shared_shelf(
    workspace: Workspace, own: Sequence[ListedBook], wanted: Sequence[str], *, skip_open_check: bool
) -> Shelf:
    """The shelf over all hosts of the store that the settings name."""
    from kiwiresearch.workspace import hosts  # rarely needed, and slow to import

    if not wanted:
        listed = ListFollower(workspace.shelf_file)

        def allowed() -> list[ListedBook]:
            hidden = set(hidden_books(listed.books(), workspace.settings.policy))
            return [book for book in listed.books() if book not in hidden]

        return hosts.full_shared_shelf(workspace, allowed)
    known = hosts.all_shared_books(workspace, own)
    chosen: list[ListedBook] = []
    for name in wanted:
        try:
            chosen += _pick(workspace, known, name, skip_open_check=skip_open_check)
        except BookNotFound as problem:
            raise hosts.away_or_hidden_error(workspace, name) or problem from None
    return hosts.chosen_shared_shelf(workspace, chosen)


def _pick(workspace: Workspace, books: Sequence[ListedBook], name: str, *, skip_open_check: bool) -> list[ListedBook]:
    if name.casefold() == "sample":
        return [workspace.sample()]
    path = expand_user(name)
    if skip_open_check and path.is_file():
        known = [book for book in books if book.matches(name)]
        return known or [ListedBook(BookId(""), path.stem, path.name, BookLocation(str(path.absolute())))]
    return pick_books(books, name, workspace.opener)
