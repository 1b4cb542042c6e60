"""The shelf: books are added, named in many ways, picked, opened and removed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kiwiresearch.errors import BadSettings, BadUsage, BookNotFound, KiwiError, NotABook
from kiwiresearch.ids import BookId
from kiwiresearch.zim.integrity import FileChecks
from kiwiresearch.zim.shelf import ListedBook, Opener, Shelf, ShelfFile, listed_book, pick_books
from kiwiresearch.zim.sources import BookLocation

if TYPE_CHECKING:
    from tests.conftest import BookMaker

UUID_A = "11111111-2222-3333-4444-555555555555"
UUID_B = "99999999-2222-3333-4444-555555555555"

RAY_FILE = "/books/wikipedia_en_ray_charles_maxi_2023-09.zim"
RAY = ListedBook(BookId(UUID_A), "wikipedia_en_ray_charles", "Ray Charles", BookLocation(RAY_FILE))
DOCS = ListedBook(
    BookId(UUID_B), "devdocs_en_sqlite", "SQLite Docs", BookLocation("http://host:8080", "sqlite_2025-04")
)
BOOKS = (RAY, DOCS)


@pytest.fixture
def opener(tmp_path: Path) -> Opener:
    return Opener(FileChecks(tmp_path / "checks"))


@pytest.fixture
def shelf_file(tmp_path: Path) -> ShelfFile:
    return ShelfFile(tmp_path / "config" / "shelf.json")


@pytest.mark.parametrize(
    ("wanted", "book"),
    [
        ("wikipedia_en_ray_charles", RAY),
        ("Ray Charles", RAY),
        ("ray charles", RAY),
        ("  RAY CHARLES ", RAY),
        (UUID_A, RAY),
        (UUID_A.upper(), RAY),
        (RAY_FILE, RAY),
        ("wikipedia_en_ray_charles_maxi_2023-09.zim", RAY),
        ("wikipedia_en_ray_charles_maxi_2023-09", RAY),
        ("SQLite Docs", DOCS),
        ("sqlite_2025-04", DOCS),
        ("http://host:8080#sqlite_2025-04", DOCS),
        (UUID_B, DOCS),
    ],
)
def test_books_are_picked_by_any_of_their_names(opener: Opener, wanted: str, book: ListedBook) -> None:
    """Name, title, UUID, path, file name and stem all mean the book, in any case."""
    assert pick_books(BOOKS, wanted, opener) == [book]


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [
        ("Ray Charls", "Did you mean 'Ray Charles'? "),
        ("sqlite", "Did you mean 'SQLite Docs'? "),
        ("wikipedia_en_ray_charle", "Did you mean 'wikipedia_en_ray_charles'? "),
        ("charles", "Did you mean 'Ray Charles'? "),
        ("zzzzzz", ""),
    ],
)
def test_unknown_name_gets_a_guess(opener: Opener, wanted: str, hint: str) -> None:
    """A name that no book has is reported, with the nearest name there is."""
    with pytest.raises(BookNotFound) as caught:
        pick_books(BOOKS, wanted, opener)
    assert caught.value.message == f"No book named {wanted!r} in your library."
    assert caught.value.remedy == f"{hint}To list your books, run 'kiwiresearch books list'."


@pytest.mark.parametrize("wanted", ["", "   "])
def test_empty_name_means_no_book(opener: Opener, wanted: str) -> None:
    """An empty name is reported as such: it is neither a book nor the folder the user is in."""
    with pytest.raises(BadUsage, match="The book name is empty"):
        pick_books(BOOKS, wanted, opener)


def test_two_books_of_one_name_are_both_meant(opener: Opener) -> None:
    """A name that two books share picks both; the UUID picks one."""
    newer = ListedBook(BookId(UUID_B), RAY.name, RAY.title, BookLocation("/books/newer.zim"))
    assert pick_books((RAY, newer), "Ray Charles", opener) == [RAY, newer]
    assert pick_books((RAY, newer), UUID_B, opener) == [newer]


def test_a_file_that_is_not_on_the_shelf_is_picked_by_its_path(opener: Opener, a_book: BookMaker) -> None:
    """A path to a book is enough, on the shelf or not."""
    file = a_book({"Sky": "<p>blue</p>"})
    (found,) = pick_books(BOOKS, str(file), opener)
    assert (found.title, found.source) == ("Test book", BookLocation(str(file)))


def test_a_relative_path_is_the_book_on_the_shelf(
    opener: Opener, a_book: BookMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A book on the shelf is known by a path relative to where the user is."""
    file = a_book({"Sky": "<p>blue</p>"})
    monkeypatch.chdir(file.parent.parent)
    here = ListedBook(BookId(UUID_A), "name", "title", BookLocation(str(file)))
    assert pick_books([here], f"{file.parent.name}/{file.name}", opener) == [here]


@pytest.mark.parametrize("wanted", ["missing.zim", "./missing.zim", "/nowhere/book.zim", "folder/book"])
def test_a_path_to_nothing_is_a_missing_file(opener: Opener, wanted: str) -> None:
    """What looks like a path is reported as a missing file, not as an unknown name."""
    with pytest.raises(BookNotFound, match="does not exist"):
        pick_books(BOOKS, wanted, opener)


def test_shelf_starts_empty_and_keeps_books(shelf_file: ShelfFile) -> None:
    """Books added are there the next time, in the order they came."""
    assert shelf_file.books() == ()
    assert shelf_file.add([RAY]) == (RAY,)
    assert shelf_file.add([DOCS]) == (DOCS,)
    assert ShelfFile(shelf_file.path).books() == (RAY, DOCS)


def test_a_book_is_added_once(shelf_file: ShelfFile) -> None:
    """The same book at the same place stays once; a copy elsewhere is a second book."""
    copy = ListedBook(RAY.id, RAY.name, RAY.title, BookLocation("/copy/ray.zim"))
    renamed = ListedBook(RAY.id, RAY.name, "Another title", RAY.source)
    assert shelf_file.add([RAY, RAY]) == (RAY,)
    assert shelf_file.add([RAY, renamed]) == ()
    assert shelf_file.add([copy]) == (copy,)
    assert shelf_file.books() == (RAY, copy)


def test_books_are_removed(shelf_file: ShelfFile) -> None:
    """A book that is removed is gone, and the others stay."""
    shelf_file.add(BOOKS)
    shelf_file.remove([RAY])
    assert shelf_file.books() == (DOCS,)
    shelf_file.remove([DOCS])
    assert shelf_file.books() == ()


def test_shelf_file_can_be_read_by_people(shelf_file: ShelfFile) -> None:
    """The list of books is indented JSON with real letters, and the same books give the same bytes."""
    book = ListedBook(BookId(UUID_A), "zürich", "Zürich", BookLocation("/books/zürich.zim"))
    shelf_file.add([book])
    text = shelf_file.path.read_text(encoding="utf-8")
    assert '      "title": "Zürich"' in text.splitlines()
    shelf_file.remove([])
    assert shelf_file.path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"books": 3}',
        b'{"books": [{}]}',
        b'{"books": ["a"]}',
        b'{"version": 1}',
        b"\x00",
        b"\xff",
    ],
)
def test_damaged_shelf_file_is_reported_and_kept(shelf_file: ShelfFile, content: bytes) -> None:
    """A list of books that was damaged gives one sentence, and is not written over."""
    shelf_file.path.parent.mkdir()
    shelf_file.path.write_bytes(content)
    with pytest.raises(BadSettings, match="is damaged") as caught:
        shelf_file.books()
    assert repr(str(shelf_file.path)) in caught.value.message
    with pytest.raises(BadSettings):
        shelf_file.add([RAY])
    assert shelf_file.path.read_bytes() == content


def test_shelf_file_that_is_a_folder_is_reported(shelf_file: ShelfFile) -> None:
    """A list of books that cannot be read is reported with the system's reason."""
    shelf_file.path.mkdir(parents=True)
    with pytest.raises(BadSettings, match=r"Could not read .*: Is a directory"):
        shelf_file.books()


def test_shelf_file_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    """A shelf in a place that cannot be written says so, and how to choose another."""
    (tmp_path / "file").touch()
    shelf_file = ShelfFile(tmp_path / "file" / "shelf.json")
    with pytest.raises(KiwiError) as caught:
        shelf_file.add([RAY])
    assert isinstance(caught.value, BadSettings)


def test_look_up_a_folder_gives_all_its_books(opener: Opener, a_book: BookMaker) -> None:
    """A folder is looked up book by book, and each is known by its own data."""
    file = a_book({"Sky": "<p>blue</p>"}, name="a.zim", Title="First")
    a_book({"Sky": "<p>grey</p>"}, name="b.zim", Title="Second")
    found = opener.look_up(str(file.parent))
    assert [(book.title, source.path.name) for book, source in found] == [("First", "a.zim"), ("Second", "b.zim")]


def test_shelf_opens_a_book_once(opener: Opener, a_book: BookMaker) -> None:
    """A shelf keeps its books open, and closes them all at its end."""
    file = a_book({"Sky": "<p>blue</p>"})
    ((book, source),) = opener.look_up(str(file))
    with Shelf([listed_book(book, source)], opener) as shelf:
        first = shelf.open(shelf.books[0])
        assert shelf.open(shelf.books[0]) is first
        assert shelf.archives() == [first]
        assert first.read("Sky").content == b"<p>blue</p>"


def test_one_bad_book_does_not_close_the_shelf(opener: Opener, a_book: BookMaker, tmp_path: Path) -> None:
    """A book that cannot be opened is an error only where there is no other."""
    bad_file = tmp_path / "bad.zim"
    bad_file.write_bytes(b"no book")
    bad = ListedBook(BookId(UUID_A), "bad", "Bad", BookLocation(str(bad_file)))
    ((book, source),) = opener.look_up(str(a_book({"Sky": "<p>blue</p>"})))
    with Shelf([bad, listed_book(book, source)], opener) as shelf:
        assert [archive.book.title for archive in shelf.archives()] == ["Test book"]
    with Shelf([bad], opener) as shelf, pytest.raises(NotABook):
        shelf.archives()


def test_books_of_a_real_server_are_looked_up_and_opened(
    opener: Opener, a_book: BookMaker, kiwix_serve: Callable[..., str]
) -> None:
    """All books of a kiwix-serve can be put on the shelf, and each is opened by its name there (R31)."""
    one = a_book({"Sky": "<p>blue</p>"}, name="One_2024-01.zim", Title="One", Name="one")
    two = a_book({"Sky": "<p>grey</p>"}, name="two.zim", Title="Two", Name="two")
    address = kiwix_serve(one, two)
    found = {book.title: source for book, source in opener.look_up(address)}
    assert sorted(map(str, found.values())) == [f"{address}#one_2024-01", f"{address}#two"]
    archive = opener.open(found["Two"])
    assert archive.read("Sky").content == b"<p>grey</p>"
    archive.close()
    assert [source for _, source in opener.look_up(f"{address}#two")] == [found["Two"]]
