"""What a user may name as books: files, folders, a library.xml."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiwiresearch.errors import BookNotFound, KiwiError, NotABook
from kiwiresearch.zim.sources import MAX_DEPTH, BookLocation, books_below, files_in, is_address

LIBRARY = '<?xml version="1.0" encoding="UTF-8"?>\n<library version="20110515">\n{books}\n</library>\n'


def _touch(folder: Path, *names: str) -> None:
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()


def _library(folder: Path, *paths: str) -> Path:
    file = folder / "library.xml"
    books = "\n".join(f'<book id="{number}" path="{path}"/>' for number, path in enumerate(paths))
    file.write_text(LIBRARY.format(books=books), encoding="utf-8")
    return file


def test_a_folder_means_all_books_below_it(tmp_path: Path) -> None:
    """All books of a folder and its folders are found, by name, and nothing else."""
    names = ("b.zim", "a.zim", "deep/er/c.zim", "split.zimaa", "split.zimab", "notes.txt", ".hidden/d.zim", "zim")
    _touch(tmp_path, *names)
    (tmp_path / "folder.zim").mkdir()
    found = [str(file.relative_to(tmp_path)) for file in files_in(tmp_path)]
    assert found == ["a.zim", "b.zim", "deep/er/c.zim", "split.zimaa"]


def test_folders_are_searched_to_a_limit(tmp_path: Path) -> None:
    """A book lies no deeper than a few folders, so that naming the whole disk ends."""
    near = "/".join(["down"] * MAX_DEPTH)
    _touch(tmp_path, f"{near}/near.zim", f"{near}/down/far.zim")
    assert [file.name for file in books_below(tmp_path)] == ["near.zim"]


def test_links_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    """A linked folder is not entered, so a link to its own parent does no harm; a linked book is a book."""
    _touch(tmp_path, "books/a.zim", "elsewhere/b.zim", "elsewhere/c.zim")
    (tmp_path / "books" / "round").symlink_to(tmp_path / "books")
    (tmp_path / "books" / "other").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "books" / "linked.zim").symlink_to(tmp_path / "elsewhere" / "c.zim")
    assert [file.name for file in books_below(tmp_path / "books")] == ["a.zim", "linked.zim"]


def test_what_cannot_be_looked_at_is_passed_over(tmp_path: Path) -> None:
    """A link that the system cannot follow is no book, and does not keep the others from being found."""
    _touch(tmp_path, "a.zim")
    (tmp_path / "odd").symlink_to("x" * 300)
    (tmp_path / "odd.zim").symlink_to("x" * 300)
    assert [file.name for file in books_below(tmp_path)] == ["a.zim"]


def test_folder_without_books_is_reported(tmp_path: Path) -> None:
    """A folder in which there is no book is an error that names it."""
    with pytest.raises(BookNotFound) as caught:
        files_in(tmp_path)
    assert caught.value.message == f"No .zim files in the folder {str(tmp_path)!r}."


def test_a_file_means_itself(tmp_path: Path) -> None:
    """Any other path is taken as it is; whether it is a book is seen when it is opened."""
    assert files_in(tmp_path / "x.zim") == [tmp_path / "x.zim"]


def test_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """'~' is understood where the shell did not replace it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    _touch(tmp_path, "books/a.zim")
    assert files_in(Path("~/books")) == [tmp_path / "books" / "a.zim"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a.zim", "a.zim"),
        ("sub/a.zim", "sub/a.zim"),
        ("../outside.zim", "../outside.zim"),
        ("with%20space.zim", "with space.zim"),
        ("Z%C3%BCrich.zim", "Zürich.zim"),
        ("Zürich &amp; more.zim", "Zürich & more.zim"),
        ("100%.zim", "100%.zim"),
    ],
)
def test_library_paths_start_from_its_folder(tmp_path: Path, written: str, meant: str) -> None:
    """A library.xml names files relative to itself, plain or percent-encoded."""
    folder = tmp_path / "library"
    folder.mkdir()
    _touch(folder, meant)
    assert files_in(_library(folder, written)) == [folder / meant]


def test_library_names_are_tried_unchanged_first(tmp_path: Path) -> None:
    """A file whose name has a percent sign is that file, not the decoded one."""
    _touch(tmp_path, "a%20b.zim", "a b.zim")
    assert files_in(_library(tmp_path, "a%20b.zim")) == [tmp_path / "a%20b.zim"]


def test_a_library_may_name_a_file_too_long_to_exist(tmp_path: Path) -> None:
    """It is listed as any other missing file, so that the error of opening it names it."""
    name = "9" * 3_000 + ".zim"
    assert files_in(_library(tmp_path, name)) == [tmp_path / name]


def test_library_with_absolute_paths_and_many_books(tmp_path: Path) -> None:
    """All books of a library are named, in its order, also those that are missing."""
    _touch(tmp_path, "books/b.zim")
    whole = str(tmp_path / "books" / "b.zim")
    library = _library(tmp_path, whole, "gone.zim", "")
    assert files_in(library) == [Path(whole), tmp_path / "gone.zim"]


BOMB = '<!DOCTYPE library [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (LIBRARY.format(books="<book path='a.zim'"), NotABook, "is not a Kiwix library: not well-formed"),
        ("", NotABook, "is not a Kiwix library: no element found"),
        ("just text", NotABook, "is not a Kiwix library: syntax error"),
        (
            BOMB + "<library>&b;</library>",
            NotABook,
            "is not a Kiwix library: it contains a DOCTYPE or ENTITY declaration.",
        ),
        (
            "<!DOCTYPE html><html></html>",
            NotABook,
            "is not a Kiwix library: it contains a DOCTYPE or ENTITY declaration.",
        ),
        (LIBRARY.format(books=""), BookNotFound, "lists no files."),
        (LIBRARY.format(books='<book id="1" url="http://x"/>'), BookNotFound, "lists no files."),
        ("<rss><channel/></rss>", BookNotFound, "lists no files."),
    ],
)
def test_broken_library_is_reported(tmp_path: Path, content: str, error: type[KiwiError], message: str) -> None:
    """A library.xml that is broken, dangerous or empty gives one sentence that names it."""
    file = tmp_path / "library.xml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(error) as caught:
        files_in(file)
    assert repr(str(file)) in caught.value.message
    assert message in caught.value.message


def test_missing_library_is_reported(tmp_path: Path) -> None:
    """A library.xml that is not there is reported as such."""
    with pytest.raises(BookNotFound, match=r"Could not read .*: No such file or directory"):
        files_in(tmp_path / "library.xml")


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("http://localhost:8080", True),
        ("https://wiki.example/kiwix", True),
        ("localhost:8080", False),
        ("/books/http.zim", False),
        ("ftp://host", False),
        ("", False),
    ],
)
def test_addresses_are_distinguished_from_paths(text: str, is_one: bool) -> None:
    """Only what begins with http:// or https:// is a server."""
    assert is_address(text) is is_one


@pytest.mark.parametrize(
    ("source", "shown", "served"),
    [
        (BookLocation("/books/a.zim"), "/books/a.zim", False),
        (BookLocation("http://host", "wiki"), "http://host#wiki", True),
        (BookLocation("http://host"), "http://host", True),
    ],
)
def test_source_names_a_place(source: BookLocation, shown: str, served: bool) -> None:
    """A source is shown as a user would write it."""
    assert (str(source), source.is_served) == (shown, served)
