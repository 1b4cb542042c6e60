"""The user's own books as the first source: pages of people by name and years, never the network."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.zim.memory import MemoryArchive

from kiwiresearch.errors import PageNotFound
from kiwiresearch.kin.sources.books import BookSource, likeness
from kiwiresearch.kin.sources.source import EvidenceSource, FetchedRecord, PersonQuery
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.title_index_builder import build_titles, titles_file
from kiwiresearch.search.titles import open_titles
from kiwiresearch.zim.libzim import LibzimArchive

PAGES = {
    "Osric_Vane": "<h1>Osric Vane</h1><p><b>Osric Vane</b> (1703 – 1791) was a maker of clocks.</p>",
    "Osric_Vane_(sailor)": "<h1>Osric Vane (sailor)</h1><p><b>Osric Vane</b> (1880 – 1950) was a sailor.</p>",
    "Harold_VII": "<h1>Harold VII</h1><p><b>Harold VII</b> (1400 – 1460) was a king.</p>",
    "Harold_VIII": "<h1>Harold VIII</h1><p><b>Harold VIII</b> (1440 – 1500) was a king.</p>",
    "Clocks": "<h1>Clocks</h1><p>Osric Vane made clocks of the finest kind.</p>",
}
OTHER_NAMES = {"Osric_the_Elder": "Osric_Vane"}


def memory_books() -> BookSource:
    return BookSource([OpenBook(MemoryArchive(PAGES, OTHER_NAMES))], accessed_at="2026-01-01T00:00:00Z")


def titles(found: Sequence[FetchedRecord]) -> list[str]:
    return [one.source.title for one in found]


def test_page_of_a_person_is_found_by_name() -> None:
    """The page with the very name comes first, and pages that only mention it are left out (R283, R293)."""
    source: EvidenceSource = memory_books()
    found = source.search(PersonQuery("Osric Vane"))
    assert titles(found) == ["Osric Vane", "Osric Vane (sailor)"]
    first = found[0]
    assert first.page is not None
    assert first.text == first.page.text
    assert first.source.url == f"zim://{first.page.ref.book}/Osric_Vane"
    assert (first.source.tier, first.source.accessed_at) == (0, "2026-01-01T00:00:00Z")


def test_years_choose_between_namesakes() -> None:
    """Of two people of one name, the one whose years are on the page comes first."""
    found = memory_books().search(PersonQuery("Osric Vane", birth_year=1880))
    assert titles(found)[0] == "Osric Vane (sailor)"


def test_other_names_lead_to_the_page() -> None:
    """A redirect of the book is another name of the person."""
    assert titles(memory_books().search(PersonQuery("Osric the Elder")))[0] == "Osric Vane"


def test_regnal_numbers_are_not_mixed_up() -> None:
    """Harold VIII is not Harold VII."""
    assert titles(memory_books().search(PersonQuery("Harold VIII"))) == ["Harold VIII"]
    assert memory_books().search(PersonQuery("Harold IX")) == []


def test_nobody_is_found_for_no_name() -> None:
    """No name and an unknown name find nobody, which is not an error."""
    for name in ("", "   ", "Zebulon Quatermass"):
        assert memory_books().search(PersonQuery(name)) == []


def test_fetch_follows_paths_and_addresses() -> None:
    """A page is fetched by its path, by a redirect, and by its address; a missing page is an error."""
    source = memory_books()
    whole = source.fetch("Osric_Vane")
    assert source.fetch("Osric_the_Elder").source == whole.source
    assert source.fetch(whole.source.url) == whole
    for locator in ("Nobody", "zim://00000000-0000-0000-0000-000000000000/Osric_Vane", "", "zim://"):
        with pytest.raises(PageNotFound):
            source.fetch(locator)


def test_books_need_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Finding and reading in the books opens no connection."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert memory_books().search(PersonQuery("Osric Vane", living="living"))


@pytest.mark.parametrize(
    ("name", "other", "fits"),
    [
        ("Charles Darwin", "Charles Darwin", 3),
        ("Charles Darwin", "Charles Robert Darwin", 2),
        ("Charles Robert Darwin", "Charles Darwin", 2),
        ("Charles R. Darwin", "Charles Robert Darwin", 1),
        ("Charles Darwin", "Darwin, Australia", 0),
        ("Charles Darwin", "Charles Dickens", 0),
        ("Henry VII", "Henry VIII", 0),
        ("John Smith Jr.", "John Smith", 0),
        ("John Smith", "John Smith Jr.", 2),
    ],
)
def test_names_are_compared_by_their_words(name: str, other: str, fits: int) -> None:
    """Names fit by shared words; a number or 'junior' that is wanted has to be there."""
    assert likeness(name, [other]) == fits


def test_years_make_up_for_another_name() -> None:
    """Somebody whom the tree calls otherwise is found by one name and both years, and not by the name alone."""
    assert memory_books().search(PersonQuery("Osric Harrow")) == []
    found = memory_books().search(PersonQuery("Osric Harrow", birth_year=1703, death_year=1791))
    assert titles(found) == ["Osric Vane"]


def test_people_of_a_real_book_are_found(shared_data: Path, tmp_path: Path) -> None:
    """People of known trees that have a page are found by its title, and most by the name the tree has."""
    archive = LibzimArchive(shared_data / "zims" / "schools-2007.zim")
    index = titles_file(tmp_path, archive.book)
    build_titles(archive, index)
    names = open_titles(index, archive.book)
    source = BookSource([OpenBook(archive, names)])
    rows = [json.loads(line) for line in (shared_data / "kin" / "schools-families.jsonl").read_text().splitlines()][::3]
    by_title = by_tree = 0
    for row in rows:
        page = source.fetch(row["path"])
        by_title += titles(source.search(PersonQuery(page.source.title)))[:1] == [page.source.title]
        query = PersonQuery(row["name"].replace("_", " "), birth_year=year(row["birth"]), death_year=year(row["death"]))
        by_tree += titles(source.search(query))[:1] == [page.source.title]
    archive.close()
    assert names is not None
    names.close()
    assert by_title == len(rows)
    assert by_tree >= 0.75 * len(rows)


def year(text: str) -> int | None:
    found = re.search(r"\d{4}", text or "")
    return int(found[0]) if found else None
