"""`kiwiresearch books index`: a title index for each book, whole or in part, and what it says of it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kiwiresearch.workspace.workspace import open_workspace
from kiwiresearch.zim.book_writer import NewPage, NewRedirect, write_book
from kiwiresearch.zim.shelf import listed_book

RunCommand = Callable[..., tuple[int, str, str]]
COUNT = 12


def write(target: Path, name: str, count: int = COUNT) -> None:
    pages = [NewPage(f"Stone_{n}", f"Stone {n}", f"<p>Stone number {n}.</p>".encode()) for n in range(count)]
    metadata = {"Name": name, "Title": f"Book {name}", "Language": "eng", "Date": "2026-01-01"}
    write_book(target, pages, [NewRedirect("Rock", "Rock", "Stone_1")], metadata=metadata)


@pytest.fixture(scope="module")
def prepared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("indexing")
    desk = open_workspace({"KIWIRESEARCH_HOME": str(folder / "home")})
    for name in ("first", "second"):
        write(folder / f"{name}.zim", name)
        desk.shelf_file.add([listed_book(*row) for row in desk.opener.look_up(str(folder / f"{name}.zim"))])
    return folder


@pytest.fixture
def shelf(prepared_home: Path, home: Path) -> Path:
    shutil.copytree(prepared_home / "home", home, ignore=shutil.ignore_patterns("state"))
    return prepared_home


def indexed_books(kiwi: RunCommand, *words: object) -> list[dict[str, Any]]:
    code, out, err = kiwi("books", "index", "--json", *words)
    assert (code, err) == (0, "")
    books: list[dict[str, Any]] = json.loads(out)["books"]
    return books


def test_all_books_are_indexed_if_none_is_named(shelf: Path, home: Path, kiwi: RunCommand) -> None:
    """Each book gets a SQLite file of its own in the cache folder, with titles and redirects (R237, R244)."""
    books = indexed_books(kiwi)
    assert [(b["name"], b["titles"], b["complete"], b["state"]) for b in books] == [
        ("first", COUNT + 1, True, "built"),
        ("second", COUNT + 1, True, "built"),
    ]
    for book in books:
        file = Path(book["file"])
        assert file.parent == home / "cache" / "titles"
        assert file.name == f"titles-{book['id']}.sqlite"
        with sqlite3.connect(file) as connection:
            (kind,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'held'").fetchone()
        connection.close()
        assert "fts5" in kind


def test_only_the_named_books_are_indexed(shelf: Path, kiwi: RunCommand) -> None:
    """A book may be named as everywhere else, more than one as well."""
    assert [book["name"] for book in indexed_books(kiwi, "second")] == ["second"]
    assert [book["name"] for book in indexed_books(kiwi, "second", "first")] == ["second", "first"]


def test_the_outcome_is_one_line(shelf: Path, kiwi: RunCommand) -> None:
    """How many titles there are and where, and whether the index already existed."""
    code, out, err = kiwi("books", "index", "first")
    assert (code, err) == (0, "")
    assert out.startswith("Book first now has an index of 13 titles (")
    assert kiwi("books", "index", "first")[1].startswith("Book first already has an index of 13 titles (")


def test_a_limit_gives_a_part_that_later_grows(shelf: Path, kiwi: RunCommand) -> None:
    """The first titles are indexed for a trial, more are added, and the rest without a limit (R244, R248)."""
    (book,) = indexed_books(kiwi, "first", "--limit", 3)
    assert (book["titles"], book["complete"], book["state"]) == (3, False, "built")
    (book,) = indexed_books(kiwi, "first", "--limit", 2)
    assert (book["titles"], book["state"]) == (3, "kept")
    (book,) = indexed_books(kiwi, "first", "--limit", 5)
    assert (book["titles"], book["complete"], book["state"]) == (5, False, "built")
    (book,) = indexed_books(kiwi, "first")
    assert (book["titles"], book["complete"], book["state"]) == (COUNT + 1, True, "built")


def test_a_partial_index_is_reported_as_partial(shelf: Path, kiwi: RunCommand) -> None:
    """The line says that the index has only the first titles (R248)."""
    assert "an index of 3 titles, not yet complete (" in kiwi("books", "index", "first", "--limit", 3)[1]


@pytest.mark.parametrize("limit", ["0", "-1", "many"])
def test_a_limit_that_makes_no_sense_is_refused(shelf: Path, home: Path, kiwi: RunCommand, limit: str) -> None:
    """Exit code 2, and nothing is written."""
    code, out, err = kiwi("books", "index", "first", "--limit", limit)
    assert (code, out) == (2, "")
    assert "--limit" in err
    assert not (home / "cache" / "titles").exists()


def test_a_search_completes_a_part(shelf: Path, kiwi: RunCommand) -> None:
    """A small book whose index is only a part gets the rest when it is searched."""
    indexed_books(kiwi, "first", "--limit", 3)
    assert kiwi("search", "rock", "-b", "first")[1].startswith(" 1. Stone 1, found as Rock")
    assert indexed_books(kiwi, "first")[0]["state"] == "kept"


def test_an_index_of_another_file_is_rebuilt(shelf: Path, home: Path, kiwi: RunCommand) -> None:
    """An index that does not fit its book is not used: it is built again, by the command and by a search."""
    (book,) = indexed_books(kiwi, "first")
    (other,) = indexed_books(kiwi, "second", "--limit", 2)
    shutil.copy(other["file"], book["file"])
    assert kiwi("search", "rock", "-b", "first")[0] == 0
    assert indexed_books(kiwi, "first")[0]["state"] == "kept"
    shutil.copy(other["file"], book["file"])
    (again,) = indexed_books(kiwi, "first")
    assert (again["titles"], again["state"]) == (COUNT + 1, "built")


def test_a_damaged_index_is_rebuilt(shelf: Path, kiwi: RunCommand) -> None:
    """A file that is cut or is not an index is replaced."""
    (book,) = indexed_books(kiwi, "first")
    for content in (b"", b"no index", Path(book["file"]).read_bytes()[:5000]):
        Path(book["file"]).write_bytes(content)
        assert kiwi("search", "rock", "-b", "first")[0] == 0
        assert indexed_books(kiwi, "first")[0]["titles"] == COUNT + 1


def test_a_folder_that_cannot_be_written_is_reported(shelf: Path, home: Path, kiwi: RunCommand) -> None:
    """If no index can be written, the command says so with a remedy, and a search works without."""
    (home / "cache" / "titles").write_text("in the way")
    code, out, err = kiwi("books", "index", "first")
    assert (code, out) == (1, "")
    assert "cannot be written" in err
    assert "kiwiresearch books index first" in err
    code, out, err = kiwi("search", "stone 7", "-b", "first")
    assert (code, err) == (0, "")
    assert out.startswith(" 1. Stone 7  ")
