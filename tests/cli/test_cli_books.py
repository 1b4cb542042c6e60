from __future__ import annotations

import json
import os
import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kiwiresearch.workspace.workspace import open_workspace
from kiwiresearch.zim.book_writer import NewPage, write_book

RunCommand = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def prepared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two books, and a home that knows both to be sound but has none on its shelf."""
    folder = tmp_path_factory.mktemp("furnished")
    desk = open_workspace({"KIWIRESEARCH_HOME": str(folder / "home")})
    for name, title in (("first", "First book"), ("second", "Second book")):
        target = folder / "books" / f"{name}.zim"
        pages = [NewPage(page, page, f"<p>{title}</p>".encode()) for page in ("Moon", "Sun")]
        metadata = {"Name": f"{name}_en", "Title": title, "Language": "eng", "Date": "2026-01-01"}
        metadata |= {"Description": f"The {name} of two", "Creator": "Ada"}
        write_book(target, pages, metadata=metadata, main_path="Moon")
        desk.opener.look_up(str(target))
    return folder


@pytest.fixture
def books(prepared_home: Path, home: Path) -> Path:
    """The folder of the two books, none of which is on the shelf."""
    shutil.copytree(prepared_home / "home", home, ignore=shutil.ignore_patterns("state"))
    return prepared_home / "books"


def _shelf(home: Path) -> list[str]:
    """The titles in the file of the shelf."""
    return [book["title"] for book in json.loads((home / "shelf.json").read_text("utf-8"))["books"]]


def test_a_file_is_added(kiwi: RunCommand, books: Path, home: Path) -> None:
    """`books add FILE` says what it added, and the next command has it."""
    added = kiwi("books", "add", books / "first.zim")
    assert added == (0, "Added First book (2 articles, 2026-01-01, eng)\n", "")
    assert _shelf(home) == ["First book"]
    assert "First book" in kiwi("page", "Moon")[1]


def test_a_book_is_added_once(kiwi: RunCommand, books: Path, home: Path) -> None:
    """The same file again changes nothing, and the command says so."""
    kiwi("books", "add", books / "first.zim", books / "first.zim")
    again = kiwi("books", "add", books / "first.zim")
    assert again == (0, "Nothing to add: your library already has these books.\n", "")
    assert _shelf(home) == ["First book"]


def test_a_folder_is_added(kiwi: RunCommand, books: Path, home: Path, tmp_path: Path) -> None:
    """`books add FOLDER` adds the books in it and below it, and passes over other files."""
    shutil.copytree(books, tmp_path / "top" / "deep")
    (tmp_path / "top" / "notes.txt").write_text("notes")
    assert kiwi("books", "add", tmp_path / "top")[0] == 0
    assert _shelf(home) == ["First book", "Second book"]


def test_a_library_of_kiwix_is_added(kiwi: RunCommand, books: Path, home: Path, tmp_path: Path) -> None:
    """`books add library.xml` adds the books it lists, with relative paths from its own folder."""
    shutil.copy2(books / "second.zim", tmp_path / "near.zim")
    library = tmp_path / "library.xml"
    rows = f'<book path="{books / "first.zim"}"/><book path="near.zim"/>'
    library.write_text(f"<library>{rows}</library>", encoding="utf-8")
    assert kiwi("books", "add", library)[0] == 0
    assert _shelf(home) == ["First book", "Second book"]


def test_a_split_book_is_added(kiwi: RunCommand, home: Path, shared_data: Path) -> None:
    """A book in parts is one book, named by its first part."""
    (first,) = (shared_data / "zims" / "split").glob("*.zimaa")
    code, out, _ = kiwi("books", "add", first, "--json")
    assert code == 0
    assert [row["source"] for row in json.loads(out)["added"]] == [str(first)]
    assert kiwi("page", "Ray Charles")[0] == 0


def test_a_server_is_added(kiwi: RunCommand, books: Path, home: Path, kiwix_serve: Callable[..., str]) -> None:
    """`books add URL` adds the books of a kiwix-serve, whose pages are read like any other (R31)."""
    address = kiwix_serve(books / "first.zim", books / "second.zim")
    assert kiwi("books", "add", address)[0] == 0
    assert sorted(_shelf(home)) == ["First book", "Second book"]
    assert "Second book" in kiwi("page", "Sun", "--book", "second_en")[1]
    code, out, _ = kiwi("books", "check", "--json")
    assert (code, {row["state"] for row in json.loads(out)["books"]}) == (0, {"served"})


def test_one_bad_file_does_not_stop_the_good_ones(kiwi: RunCommand, books: Path, home: Path, tmp_path: Path) -> None:
    """Of several files the good are added and each bad one is named; the exit code says it was not all."""
    bad, gone = tmp_path / "bad.zim", tmp_path / "gone.zim"
    bad.write_text("no book")
    code, out, err = kiwi("books", "add", bad, books / "first.zim", gone)
    assert code == 1
    assert out == "Added First book (2 articles, 2026-01-01, eng)\n"
    assert [line.partition("Enter")[0].partition("Check")[0].strip() for line in err.splitlines()] == [
        f"kiwiresearch: The file {str(bad)!r} is not a ZIM file.",
        f"kiwiresearch: The file {str(gone)!r} does not exist.",
    ]
    assert _shelf(home) == ["First book"]


def test_the_same_as_json(kiwi: RunCommand, books: Path, home: Path, tmp_path: Path) -> None:
    """`books add --json` lists what was added and what was not, in one document."""
    (tmp_path / "bad.zim").touch()
    code, out, _ = kiwi("books", "add", tmp_path / "bad.zim", books / "first.zim", "--json")
    data = json.loads(out)
    assert code == 1
    assert [(row["name"], row["title"]) for row in data["added"]] == [("first_en", "First book")]
    (problem,) = data["problems"]
    assert "is empty" in problem


def test_nothing_good_leaves_no_shelf(kiwi: RunCommand, home: Path, tmp_path: Path) -> None:
    """If nothing could be added, no file of a shelf appears."""
    assert kiwi("books", "add", tmp_path / "gone.zim")[0] == 1
    assert not (home / "shelf.json").exists()


def test_a_full_disk_leaves_the_old_shelf(kiwi: RunCommand, books: Path, home: Path) -> None:
    """If the new list of books does not fit on the disk, the old one stays whole and nothing is left behind."""
    kiwi("books", "add", books / "first.zim")
    before = (home / "shelf.json").read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limits[1]))
    try:
        code, out, err = kiwi("books", "add", books / "second.zim")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (code, out) == (1, "")
    assert err.startswith(f"kiwiresearch: Could not write the list of books {str(home / 'shelf.json')!r}: ")
    assert (home / "shelf.json").read_bytes() == before
    assert list(home.glob(".*")) == []


@pytest.mark.parametrize("name", ["first_en", "FIRST BOOK", "first", "first.zim", "{id}", "{path}"])
def test_a_book_is_removed_by_any_name(kiwi: RunCommand, books: Path, home: Path, name: str) -> None:
    """`books remove` takes one book off the shelf and leaves its file."""
    rows = json.loads(kiwi("books", "add", books, "--json")[1])["added"]
    file = books / "first.zim"
    code, out, err = kiwi("books", "remove", name.format(id=rows[0]["id"], path=file))
    assert (code, err) == (0, "")
    assert out == f"Removed from your library: First book. The file was not deleted: {file}\n"
    assert _shelf(home) == ["Second book"]
    assert file.is_file()


def test_removing_is_all_or_nothing(kiwi: RunCommand, books: Path, home: Path) -> None:
    """If one of the named books is unknown, none is removed."""
    kiwi("books", "add", books)
    code, out, err = kiwi("books", "remove", "First book", "Secnd book")
    assert (code, out) == (1, "")
    assert "No book named 'Secnd book' in your library. Did you mean 'Second book'?" in err
    assert _shelf(home) == ["First book", "Second book"]


def test_a_lost_book_can_be_removed(kiwi: RunCommand, books: Path, home: Path, tmp_path: Path) -> None:
    """A book whose file is gone still goes by its path."""
    shutil.copy2(books / "first.zim", tmp_path / "lost.zim")
    kiwi("books", "add", tmp_path / "lost.zim")
    (tmp_path / "lost.zim").unlink()
    assert kiwi("books", "remove", tmp_path / "lost.zim")[0] == 0
    assert _shelf(home) == []


def test_the_list(kiwi: RunCommand, books: Path) -> None:
    """`books list` shows each book with its name, date, language, size, search, check and place."""
    kiwi("books", "add", books)
    code, out, err = kiwi("books", "list")
    assert (code, err) == (0, "")
    assert out.splitlines()[:3] == [
        "First book  first_en",
        "  2026-01-01 · eng · 2 articles · full-text search · no damage found",
        f"  {books / 'first.zim'}",
    ]
    assert "Second book  second_en" in out


def test_the_list_shows_what_is_broken(kiwi: RunCommand, books: Path, tmp_path: Path) -> None:
    """A book that cannot be opened is listed as broken, with the reason, beside the others."""
    shutil.copy2(books / "first.zim", tmp_path / "lost.zim")
    kiwi("books", "add", tmp_path / "lost.zim", books / "second.zim")
    (tmp_path / "lost.zim").unlink()
    code, out, _ = kiwi("books", "list")
    assert code == 0
    assert out.startswith("First book  cannot be opened\n  The file ")
    assert "Second book  second_en" in out
    lost, sound = json.loads(kiwi("books", "list", "--json")[1])["books"]
    assert (lost["check"], sound["check"], sound["problem"]) == ("broken", "sound", None)
    assert lost["problem"].startswith("The file ")


def test_the_data_sheet(kiwi: RunCommand, books: Path) -> None:
    """`books info` shows all that is known of a book, by any of its names."""
    kiwi("books", "add", books)
    code, out, _ = kiwi("books", "info", "second_en")
    assert code == 0
    cells = [[part.strip() for part in line.split("│")[1:3]] for line in out.splitlines() if "│" in line]
    sheet = {key: value for key, value in cells if key}
    expected = {"Name": "second_en", "Date": "2026-01-01", "Language": "eng", "Creator": "Ada",
                "Wikipedia": "no", "Articles": "2", "Indexes": "full text, titles", "Main page": "Moon",
                "Paths": "new", "Check": "no damage found"}  # fmt: skip
    assert {key: sheet.get(key) for key in expected} == expected
    assert "First book" not in out


def test_the_data_sheet_as_json(kiwi: RunCommand, books: Path) -> None:
    """`books info --json` has the same under stable names; without a name it lists all books."""
    kiwi("books", "add", books)
    rows: list[dict[str, Any]] = json.loads(kiwi("books", "info", "--json")[1])["books"]
    assert [row["title"] for row in rows] == ["First book", "Second book"]
    values = {"name": "first_en", "languages": ["eng"], "articles": 2, "kind": "other", "tags": [],
            "is_wikipedia": False, "lead_only": False, "main_page": "Moon", "flavour": "",
            "indexes": {"full_text": True, "titles": True}, "check": "sound",
            "source": str(books / "first.zim"), "size_bytes": (books / "first.zim").stat().st_size}  # fmt: skip
    assert {key: rows[0][key] for key in values} == values


def test_a_sound_book_passes_its_check(kiwi: RunCommand, books: Path) -> None:
    """`books check` compares each book on the shelf with its checksum."""
    kiwi("books", "add", books / "first.zim")
    assert kiwi("books", "check") == (0, "First book: no damage found.\n", "")


def test_damage_is_found(kiwi: RunCommand, books: Path, tmp_path: Path) -> None:
    """One flipped byte, or a lost end, fails the check: exit code 1, and each book has its own verdict."""
    flipped, cut = tmp_path / "flipped.zim", tmp_path / "cut.zim"
    content = bytearray((books / "first.zim").read_bytes())
    content[-1] ^= 1
    flipped.write_bytes(content)
    shutil.copy2(books / "first.zim", cut)
    os.truncate(cut, 5000)
    code, out, _ = kiwi("books", "check", flipped, books / "first.zim", cut, "--json")
    assert code == 1
    states = [row["state"] for row in json.loads(out)["books"]]
    assert states == ["damaged", "sound", "unopenable"]
    code, out, _ = kiwi("books", "check", flipped)
    assert code == 1
    assert out == f"flipped.zim: damaged, its bytes do not match its checksum ({flipped}).\n"
