"""Real pages of real books, from 2007 to 2025, by what is known of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import open_page, read_page
from kiwiresearch.zim.libzim import LibzimArchive

BOX_OF_A_SONG = ("Released", "Recorded", "Genre", "Length", "Label", "Songwriter(s)", "Producer(s)")


@pytest.mark.parametrize(
    ("book", "path", "headings", "anchor", "keys", "references", "revision", "edited"),
    [
        (
            "schools-2007.zim", "Kofi_Annan", 10, "Early_years_and_family",
            ("Preceded by", "Succeeded by", "Born", "Spouse"), 0, None, "",
        ),
        (
            "real/wikipedia_en_ray_charles_2015-06.zim", "A/Betty_Carter.html", 8, "mwQA",
            ("Birth name", "Born", "Died", "Genres", "Occupation(s)", "Instruments", "Years active", "Labels"),
            32, 662842565, "2015-05-18",
        ),
        (
            "real/wikipedia_en_ray_charles_mini_2020-03.zim", "A/A_Portrait_of_Ray", 0, None,
            ("Released", "Genre", "Length", "Label", "Producer"), 0, 869681328, "2018-11-20",
        ),
        (
            "real/wikipedia_en_ray_charles_maxi_2023-09.zim", "A/A_Fool_for_You", 3, "Personnel", BOX_OF_A_SONG,
            3, 1161245708, "2023-06-21",
        ),
        ("real/devdocs_en_sqlite_2025-04.zim", "aff_short", 1, "", (), 0, None, ""),
        ("real/meta.esperanto.stackexchange.com_eng_all_2017-05.zim", "A/question/1.html", 2, "", (), 0, None, ""),
    ],
)  # fmt: skip
def test_page_of_a_book(
    shared_data: Path,
    book: str,
    path: str,
    headings: int,
    anchor: str | None,
    keys: tuple[str, ...],
    references: int,
    revision: int | None,
    edited: str,
) -> None:
    """Pages of every age give their headings, box, references and revision (R39, R40, R41)."""
    page = open_page(LibzimArchive(shared_data / "zims" / book), path)
    assert len(page.sections) == headings + 1
    assert next((section.anchor for section in page.sections[1:]), None) == anchor
    assert tuple(row.key for box in page.infoboxes for row in box.rows) == keys
    assert page.signals.references == references
    assert (page.provenance.revision, page.provenance.edited) == (revision, edited)


@pytest.mark.parametrize(
    "name",
    [
        "wikipedia_en_ray_charles_2015-06.zim",
        "wikipedia_en_ray_charles_maxi_2023-09.zim",
        "wikipedia_en_100_mini_2022-10.zim",
        "meta.esperanto.stackexchange.com_eng_all_2017-05.zim",
        "wikibooks_be_all_nopic_2017-02.withns.zim",
    ],
)
def test_every_article_of_a_book_is_read(shared_data: Path, name: str) -> None:
    """All articles of a book are read, and every offset points at its own words (R152)."""
    archive = LibzimArchive(shared_data / "zims" / "real" / name)
    pages = [read_page(archive.read(path), language=archive.book.language) for path in archive.articles()]
    assert pages
    assert [page.title for page in pages if not offsets_are_right(page)] == []


def offsets_are_right(page: PageDoc) -> bool:
    """Whether links, headings and rows are where the page says."""
    text = page.text
    links = all(text[link.start : link.end] == link.text for link in page.links if link.in_text)
    heads = all(text[part.heading_start : part.start].strip() == part.heading for part in page.sections)
    rows = all(text[row.start : row.end] == row.value for box in page.infoboxes for row in box.rows)
    return links and heads and rows
