"""Looking titles up: exact, joined, by beginning, by words; and refusing an index that does not fit."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.zim.memory import MemoryArchive

from kiwiresearch.errors import IndexStale
from kiwiresearch.ids import BookId
from kiwiresearch.search.alphabetical_titles import TitleRow
from kiwiresearch.search.title_index_builder import build_titles, titles_file
from kiwiresearch.search.titles import MAX_ALL_ROWS, TitleIndex, open_titles
from kiwiresearch.zim.archive import Book, TitleEntry
from kiwiresearch.zim.libzim import LibzimArchive

PAGES = (
    "Galaxy", "Galaxy (chocolate)", "Galaxy cluster", "Milky Way", "Samsung Galaxy", "OpenAI", "Open air museum",
    "C", "C++", "C Sharp", "AT&T", "U.S. Navy", "Łódź", "O'Brien", "Sunset", "Sunset Boulevard", "Sky", "Orange",
    "Orange sky at sunset", "History of France", "History of the sky", "The The", "!!!", "Москва", "東京",
    "Theory of relativity", "Albert Einstein", "AC/DC", "New York", "Newyork Peak",
)  # fmt: skip
ALIASES = {"Galaxies": "Galaxy", "GALAXY": "Galaxy", "Heavens": "Sky", "Sky blue": "Sky", "C#": "C_Sharp"}


def a_book(titles: tuple[str, ...], aliases: dict[str, str] | None = None) -> MemoryArchive:
    """A book of pages that have nothing but their titles."""
    pages = {title.replace(" ", "_"): "<p></p>" for title in titles}
    return MemoryArchive(pages, {alias.replace(" ", "_"): to for alias, to in (aliases or {}).items()})


@pytest.fixture(scope="module")
def book() -> Book:
    return a_book(PAGES, ALIASES).book


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory, book: Book) -> Path:
    target = titles_file(tmp_path_factory.mktemp("titles"), book)
    build_titles(a_book(PAGES, ALIASES), target)
    return target


@pytest.fixture(scope="module")
def index(file: Path, book: Book) -> Iterator[TitleIndex]:
    opened = open_titles(file, book)
    assert opened
    yield opened
    opened.close()


def titles(rows: tuple[TitleRow, ...]) -> list[str]:
    return [row.title for row in rows]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("Galaxy", [TitleRow("Galaxy", "Galaxy")]),
        ("galaxies", [TitleRow("Galaxy", "Galaxies", alias=True)]),
        ("sky BLUE", [TitleRow("Sky", "Sky blue", alias=True)]),
        ("lodz", [TitleRow("Łódź", "Łódź")]),
        ("us navy", [TitleRow("U.S._Navy", "U.S. Navy")]),
        ("obrien", [TitleRow("O'Brien", "O'Brien")]),
        ("at t", [TitleRow("AT&T", "AT&T")]),
        ("c", [TitleRow("C", "C")]),
        ("c++", [TitleRow("C++", "C++")]),
        ("c#", [TitleRow("C_Sharp", "C#", alias=True)]),
        ("!!!", [TitleRow("!!!", "!!!")]),
        ("МОСКВА", [TitleRow("Москва", "Москва")]),
        ("open ai", []),
        ("Galax", []),
        ("", []),
        ("\ud800\x00", []),
    ],
)
def test_exact_title(index: TitleIndex, asked: str, found: list[TitleRow]) -> None:
    """A title is found however it is spelled; a redirect's title gives the page it leads to, once (R218, R220)."""
    assert list(index.exact(asked)) == found


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("open ai", ["OpenAI"]),
        ("Open A.I.", ["OpenAI"]),
        ("openair museum", ["Open air museum"]),
        ("milkyway", ["Milky Way"]),
        ("att", ["AT&T"]),
        ("acdc", ["AC/DC"]),
        ("nothing", []),
        ("", []),
    ],
)
def test_joined_and_split_spellings(index: TitleIndex, asked: str, found: list[str]) -> None:
    """Where the spaces are does not matter."""
    assert titles(index.ignoring_spaces(asked)) == found


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("gal", ["Galaxy", "Galaxy cluster", "Galaxy (chocolate)"]),
        ("Galaxy c", ["Galaxy cluster", "Galaxy (chocolate)"]),
        ("new y", ["New York", "Newyork Peak"]),
        ("newy", ["Newyork Peak", "New York"]),
        ("heav", ["Heavens"]),
        ("東", ["東京"]),
        ("zzz", []),
        ("", []),
    ],
)
def test_beginning_of_a_title(index: TitleIndex, asked: str, found: list[str]) -> None:
    """Titles that begin so: those spelled the same first, then the shorter, each page once."""
    assert titles(index.prefix(asked, 10)) == found
    assert titles(index.prefix(asked, 1)) == found[:1]
    assert index.prefix(asked, 0) == ()


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        (["sunset", "sky", "orange"], ["Orange sky at sunset", "Orange", "Sunset"]),
        (["sunset", "zeppelin"], ["Sunset", "Sunset Boulevard", "Orange sky at sunset"]),
        (["history", "of", "france"], ["History of France", "History of the sky"]),
        (["Einstein's", "theory", "of", "relativity"], ["Theory of relativity"]),
        (["AT&T"], ["AT&T"]),
        (["C++"], ["C++"]),
        (["москва"], ["Москва"]),
        (["zeppelin"], []),
        (['"', "*", "NEAR(a)", "!!!", "\ud800", ""], []),
        ([], []),
    ],
)
def test_any_of_the_words(index: TitleIndex, asked: list[str], first: list[str]) -> None:
    """Titles that have any of the words, best the one that has most and little else (R232)."""
    assert titles(index.by_words(asked, 20))[: max(len(first), 1)] == first
    assert index.by_words(asked, 0) == ()


def test_weights_of_words_decide(index: TitleIndex) -> None:
    """A word that matters more to the query matters more to the rank."""
    assert titles(index.by_words({"sunset": 5.0, "orange": 1.0}, 3))[0] == "Sunset"
    assert titles(index.by_words({"sunset": 1.0, "orange": 5.0}, 3))[0] == "Orange"
    assert index.by_words({"sunset": 0.0, "orange": -1.0}, 3) == ()


def test_a_page_is_found_once(index: TitleIndex) -> None:
    """Redirects and pages that lead to one page are one candidate (R220)."""
    paths = [row.path for row in index.by_words(["sky", "blue", "heavens", "galaxy", "galaxies"], 50)]
    assert len(paths) == len(set(paths)) > 3


@pytest.mark.parametrize(("word", "count"), [("galaxy", 5), ("Sky", 4), ("c++", 1), ("zeppelin", 0), ("at t", 0)])
def test_frequency_counts_titles(index: TitleIndex, word: str, count: int) -> None:
    """A word is as frequent as there are titles with it, redirects' titles too."""
    assert index.frequency(word) == count


def test_threads_may_share_an_index(index: TitleIndex) -> None:
    """What several threads ask at once is answered as if asked in turn."""
    questions = [["sunset", "sky"], ["galaxy"], ["history", "france"], ["theory"]] * 20
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda asked: index.by_words(asked, 5), questions))
    assert answers == [index.by_words(asked, 5) for asked in questions]


class AlphasAndBetas(MemoryArchive):
    """Titles of two words that never occur together."""

    EACH = 24_000

    def titles(self, start: int = 0) -> Iterator[TitleEntry]:
        for number in range(start, 2 * self.EACH):
            word = ("Alpha", "Beta")[number % 2]
            yield TitleEntry(number, f"{word} {number // 2}", f"{word}_{number // 2}")


@pytest.mark.parametrize(("allowed", "together"), [(20_000.0, 1), (1_000.0, 0)])
def test_common_words_do_not_walk_through_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: float, together: int
) -> None:
    """Words that many titles have are looked for together only if that costs no more than is allowed."""
    monkeypatch.setattr("kiwiresearch.search.titles.MAX_COST_US", allowed)
    archive = AlphasAndBetas({})
    build_titles(archive, tmp_path / "titles.sqlite")
    index = open_titles(tmp_path / "titles.sqlite", archive.book)
    assert index
    asked: list[str] = []
    index._connection.set_trace_callback(asked.append)
    assert titles(index.by_words(["alpha", "beta"], 2)) == ["Alpha 0", "Alpha 1"]
    assert sum('" AND "' in sql for sql in asked) == together
    searches = [sql for sql in asked if "MATCH" in sql]
    assert all(int(sql.rpartition("LIMIT ")[2]) <= MAX_ALL_ROWS for sql in searches)
    index.close()


def test_rare_words_are_looked_up_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a rare word in the query, common ones are looked for only in its titles."""
    monkeypatch.setattr("kiwiresearch.search.titles.MAX_COST_US", 1_000.0)
    archive = AlphasAndBetas({})
    build_titles(archive, tmp_path / "titles.sqlite")
    index = open_titles(tmp_path / "titles.sqlite", archive.book)
    assert index
    asked: list[str] = []
    index._connection.set_trace_callback(asked.append)
    assert titles(index.by_words(["alpha", "beta", "7"], 2)) == ["Alpha 7", "Beta 7"]
    together = [sql.split("'")[1] for sql in asked if '" AND "' in sql]
    assert together == ['"7" AND "alpha" AND "beta"', '"7" AND "alpha"', '"7" AND "beta"']
    index.close()


@settings(max_examples=15)
@given(st.lists(st.text(alphabet="aBc é.+'-#!1ß東", min_size=1, max_size=8), min_size=1, max_size=12, unique=True))
def test_every_title_is_found_by_its_own_name(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    """Whatever a page is called, its title finds it: exactly, joined and by its beginning."""
    archive = MemoryArchive({f"P{number}": f"<title>{name}</title>" for number, name in enumerate(names)})
    file = tmp_path_factory.mktemp("law") / "titles.sqlite"
    build_titles(archive, file)
    index = open_titles(file, archive.book)
    assert index
    for entry in archive.titles():
        row = TitleRow(entry.path, entry.title)
        if entry.title:
            assert row in index.exact(entry.title)
            assert row in index.ignoring_spaces(entry.title)
            assert row in index.prefix(entry.title, 20)
    index.close()


def test_a_real_book_finds_each_of_its_titles(shared_data: Path, tmp_path: Path) -> None:
    """Every title and redirect of a published book leads to its page (R218)."""
    archive = LibzimArchive(shared_data / "zims" / "real" / "wikipedia_en_100_mini_2022-10.zim")
    build_titles(archive, tmp_path / "titles.sqlite")
    index = open_titles(tmp_path / "titles.sqlite", archive.book)
    assert index
    assert (index.rows, index.complete) == (3_986, True)
    missing = [
        entry.title for entry in archive.titles() if entry.path not in {row.path for row in index.exact(entry.title)}
    ]
    assert missing == []
    index.close()
    archive.close()


def test_without_a_file_there_is_no_index(tmp_path: Path, book: Book) -> None:
    """Before an index is built there is none, which is not an error (R247)."""
    assert open_titles(tmp_path / "titles.sqlite", book) is None


@pytest.mark.parametrize(
    "other",
    [lambda book: replace(book, id=BookId("another")), lambda book: replace(book, entries=book.entries + 1)],
    ids=["uuid", "entries"],
)
def test_index_of_another_file_is_refused(file: Path, book: Book, other: Callable[[Book], Book]) -> None:
    """An index made from another file says so, and how to build it again."""
    with pytest.raises(IndexStale, match="was built from a different file than 'memory'") as caught:
        open_titles(file, other(book))
    assert caught.value.remedy == "Rebuild it with 'kiwiresearch books index memory'."


def test_index_of_another_version_is_refused(file: Path, book: Book, tmp_path: Path) -> None:
    """An index of an earlier program is not half understood."""
    copy = tmp_path / "titles.sqlite"
    copy.write_bytes(file.read_bytes())
    with sqlite3.connect(copy) as connection:
        connection.execute("UPDATE stamp SET value = '0' WHERE name = 'version'")
    connection.close()
    with pytest.raises(IndexStale, match="or by another version"):
        open_titles(copy, book)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: b"no database at all" * 100,
        lambda data: data[:-4096],
        lambda data: data[: len(data) // 2],
        lambda data: data[:4096] + bytes(len(data) - 4096),
    ],
    ids=["empty", "text", "a page short", "half", "zeros"],
)
def test_damaged_index_is_refused(file: Path, book: Book, tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    """A file that is cut or overwritten is reported, with the command that builds it again."""
    copy = tmp_path / "titles.sqlite"
    copy.write_bytes(spoil(file.read_bytes()))
    with pytest.raises(IndexStale, match="'Memory' is damaged") as caught:
        open_titles(copy, book)
    assert "books index memory" in caught.value.remedy


def test_damage_found_in_a_query_is_reported(file: Path, book: Book, tmp_path: Path) -> None:
    """If the first pages are sound and later ones are not, the query says so."""
    copy = tmp_path / "titles.sqlite"
    data = file.read_bytes()
    with sqlite3.connect(file) as connection:
        ((root,),) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'names'")
    connection.close()
    copy.write_bytes(data[: (root - 1) * 4096] + b"\xff" * 4096 + data[root * 4096 :])
    index = open_titles(copy, book)
    assert index
    with pytest.raises(IndexStale, match="is damaged"):
        index.exact("Galaxy")
    index.close()
