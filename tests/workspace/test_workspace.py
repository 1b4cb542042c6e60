from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kiwiresearch.api import open_shelf
from kiwiresearch.errors import BookNotFound, NotABook, PageNotFound
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import Workspace, find_page, open_workspace
from kiwiresearch.zim.book_writer import NewPage, NewRedirect, write_book
from kiwiresearch.zim.shelf import listed_book

BOOKS = {
    "shared.zim": ("First book", {"Moon": "the first moon", "Red_sun": "a red sun"}),
    "second.zim": ("Second book", {"Moon": "the second moon", "Morning_star": "a star"}),
}


def _write(target: Path, title: str, pages: dict[str, str]) -> None:
    write_book(
        target,
        [NewPage(p, p.replace("_", " "), f"<p>{text}</p>".encode()) for p, text in pages.items()],
        [NewRedirect("Luna", "Luna", "Moon")],
        metadata={"Name": target.stem, "Title": title, "Language": "eng", "Date": "2026-01-01"},
    )


@pytest.fixture(scope="module")
def prepared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two books, and a home where both are on the shelf and known to be sound."""
    folder = tmp_path_factory.mktemp("furnished")
    for name, (title, pages) in BOOKS.items():
        _write(folder / "books" / name, title, pages)
    ready = tmp_path_factory.getbasetemp() / "ready"  # the sample book is built there once for all tests
    open_workspace({"KIWIRESEARCH_HOME": str(ready)}).sample()
    shutil.copytree(ready / "cache", folder / "home" / "cache")
    desk = open_workspace({"KIWIRESEARCH_HOME": str(folder / "home")})
    found = [row for name in BOOKS for row in desk.opener.look_up(str(folder / "books" / name))]
    desk.shelf_file.add([listed_book(book, source) for book, source in found])
    return folder


@pytest.fixture
def books(prepared_home: Path, home: Path) -> Path:
    """The folder of the two books, which the user has on the shelf."""
    shutil.copytree(prepared_home / "home", home, ignore=shutil.ignore_patterns("state"))
    return prepared_home / "books"


@pytest.fixture
def no_books(books: Path, home: Path) -> Path:
    """A user who has seen the same books, but has none on the shelf."""
    (home / "shelf.json").unlink()
    return books


def _titles(desk: Workspace, *wanted: str) -> list[str]:
    return [book.title for book in shelf_of(desk, wanted).books]


def test_an_empty_shelf_is_the_sample_book(no_books: Path, home: Path) -> None:
    """A user without books works with the sample book, which is kept in the cache folder."""
    shelf = shelf_of(open_workspace())
    assert shelf.is_sample
    assert [book.title for book in shelf.books] == ["kiwiresearch sample book"]
    assert shelf.books[0].source.path.parent == home / "cache"


def test_the_sample_book_is_built_once(no_books: Path, home: Path) -> None:
    """A second start uses the file that the first one built."""
    file = open_workspace().sample().source.path
    before = file.stat()
    assert open_workspace().sample().source.path.stat() == before


def test_a_shelf_with_books_leaves_the_sample_out(books: Path) -> None:
    """The sample book is for an empty shelf; else it must be asked for by name."""
    desk = open_workspace()
    assert not shelf_of(desk).is_sample
    assert _titles(desk) == ["First book", "Second book"]
    assert _titles(desk, "sample") == ["kiwiresearch sample book"]


def test_a_book_named_twice_is_there_once(books: Path) -> None:
    """Two names of one book do not make two books; the order is the user's."""
    assert _titles(open_workspace(), "second", "Second book", "shared") == ["Second book", "First book"]


def test_a_book_need_not_be_on_the_shelf(no_books: Path) -> None:
    """A path of a file or folder means its books without adding them."""
    desk = open_workspace()
    assert _titles(desk, str(no_books / "second.zim")) == ["Second book"]
    assert _titles(desk, str(no_books)) == ["Second book", "First book"]
    assert desk.shelf_file.books() == ()


def test_a_program_opens_the_shelf_of_its_user(books: Path) -> None:
    """open_shelf without arguments is the user's own shelf."""
    with open_shelf() as shelf:
        assert [archive.book.title for archive in shelf.archives()] == ["First book", "Second book"]


def test_a_program_without_books_gets_the_sample(no_books: Path) -> None:
    """open_shelf of a user without books is the sample book."""
    with open_shelf() as shelf:
        assert find_page(shelf, "Sunset").book.name == "kiwiresearch_en_sample"


def test_a_program_opens_what_it_names(no_books: Path) -> None:
    """open_shelf takes files and folders, as text or path, and adds nothing to the shelf."""
    with open_shelf([no_books / "second.zim"]) as shelf:
        assert find_page(shelf, "Moon").page.text == "the second moon"
    with open_shelf([str(no_books)]) as shelf:
        assert len(shelf.books) == 2
    for one in (no_books / "second.zim", str(no_books / "second.zim")):
        with open_shelf(one) as shelf:
            assert len(shelf.books) == 1
    assert open_workspace().shelf_file.books() == ()


def test_a_program_opens_a_server(no_books: Path, kiwix_serve: Callable[..., str]) -> None:
    """open_shelf takes the address of a kiwix-serve, and its pages are read from there (R31)."""
    with open_shelf([kiwix_serve(no_books / "second.zim")]) as shelf:
        assert find_page(shelf, "Morning star").page.text == "a star"


def test_a_missing_book_is_reported_to_a_program(home: Path, tmp_path: Path) -> None:
    """open_shelf refuses a missing file and a file that is not a book."""
    with pytest.raises(BookNotFound, match="does not exist"):
        open_shelf([tmp_path / "missing.zim"])
    (tmp_path / "notes.zim").write_text("notes")
    with pytest.raises(NotABook, match="is not a ZIM file"):
        open_shelf([tmp_path / "notes.zim"])


@pytest.mark.parametrize(
    ("words", "book", "text"),
    [
        ("Moon", "First book", "the first moon"),
        ("moon", "First book", "the first moon"),
        ("MOON", "First book", "the first moon"),
        ("Luna", "First book", "the first moon"),
        ("luna", "First book", "the first moon"),
        ("  Red sun ", "First book", "a red sun"),
        ("Red_sun", "First book", "a red sun"),
        ("red sun", "First book", "a red sun"),
        ("Morning star", "Second book", "a star"),
        ("morning_star", "Second book", "a star"),
        ("MORNING STAR", "Second book", "a star"),
    ],
)
def test_a_page_is_found_in_the_first_book_that_has_it(books: Path, words: str, book: str, text: str) -> None:
    """Books are asked in the order of the shelf; case, underscores and redirects do not matter."""
    with open_shelf() as shelf:
        found = find_page(shelf, words)
        assert (found.book.title, found.page.text) == (book, text)
        assert found.archive.book is found.book


def test_a_page_that_no_book_has(books: Path) -> None:
    """The error says where was looked and names near titles of all books."""
    with open_shelf() as shelf, pytest.raises(PageNotFound) as caught:
        find_page(shelf, "Morning sun")
    message = str(caught.value)
    assert message.startswith("No page named 'Morning sun' in your 2 books. Similar titles: ")
    assert "'Morning star'" in message
    assert "'Red sun'" in message


def test_a_page_that_one_book_lacks(books: Path) -> None:
    """With one book, the error names it; with nothing near, it says so."""
    with open_shelf([books / "second.zim"]) as shelf, pytest.raises(PageNotFound) as caught:
        find_page(shelf, "Qqqq")
    assert str(caught.value) == "No page named 'Qqqq' in 'Second book'. Try another title."
