from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.bulk.bulk_book import TABLES, id_of, number_of

from kiwiresearch.bulk import batch as rows_module
from kiwiresearch.bulk.batch import EntryReader, PageTimeout, time_limit
from kiwiresearch.bulk.tables import TABLES as COLUMNS
from kiwiresearch.bulk.tables import checked_tables
from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.claims.claim import claim_from_record
from kiwiresearch.errors import BadUsage, BookChanged
from kiwiresearch.ids import BookId
from kiwiresearch.page.parser import open_page
from kiwiresearch.zim.libzim import LibzimArchive


@pytest.fixture(scope="module")
def tables(harrow: Path) -> dict[str, list[dict[str, Any]]]:
    """All rows of the book, by their columns."""
    archive = LibzimArchive(harrow)
    found = archive.directory()
    archive.close()
    numbers = [*map(int, found.articles), *map(int, found.redirects)]
    result = EntryReader(harrow, id_of(harrow), TABLES).rows(numbers)
    names = {table: [column.name for column in columns] for table, columns in COLUMNS.items()}
    return {t: [dict(zip(names[t], row, strict=True)) for row in found] for t, found in result.items()}


RowsByTable = dict[str, list[dict[str, Any]]]


def test_titles_are_those_of_articles_and_of_redirects_to_them(tables: RowsByTable) -> None:
    """A redirect has the article at the end of its chain; style sheets and what leads to them have no title."""
    found = {row["path"]: (row["title"], row["redirect_to"]) for row in tables["titles"]}
    assert found["Harrowby"] == ("Harrowby", "")
    assert found["Harrow_city"] == ("Harrow city", "Harrowby")
    assert found.keys().isdisjoint({"style.css", "A_sheet", "Aside", "Map.pdf"})
    assert len(found) == 5 + 9 + 3


def test_pages_have_kind_size_and_signals(tables: RowsByTable) -> None:
    """A page's row says what it is and how much of what it has."""
    found = {row["path"]: row for row in tables["pages"]}
    town = found["Harrowby"]
    assert (town["kind"], town["sections"], town["infobox"], town["citation_needed"]) == ("article", 2, False, 1)
    assert town["lead"].startswith("Harrowby is a town on the river Elm. It was founded in 1204")
    assert town["text_sha"].startswith("sha256:")
    assert found["Elm_(disambiguation)"]["kind"] == "disambiguation"
    assert found["Bridge_of_Harrowby"]["kind"] == "redirect"
    assert found["Edmund_Wendover"]["infobox"] is True


def test_a_lead_is_whole_sentences_of_at_most_five_hundred_characters(tables: RowsByTable) -> None:
    """The lead of a long page ends with a sentence."""
    assert all(len(row["lead"]) <= 500 for row in tables["pages"])
    long = next(row for row in tables["pages"] if row["path"] == "Plain_8")
    assert 450 < len(long["lead"]) <= 500
    assert long["lead"].endswith("of 15 km.")


def test_links_are_one_row_for_each_target_after_redirects(tables: RowsByTable) -> None:
    """Two links to a page count as one row, a missing page has no target, and a page does not link to itself."""
    found = [row for row in tables["links"] if row["path"] == "Harrowby"]
    assert [(row["number"], row["target"], row["href_title"], row["place"], row["count"]) for row in found] == [
        (0, "Edmund_Wendover", "Edmund Wendover", "lead", 2),
        (1, "", "Missing page", "lead", 1),
        (2, "", "Elm", "see also", 1),
    ]
    father = next(row for row in tables["links"] if row["path"] == "Edmund_Wendover")
    assert (father["target"], father["href_title"], father["place"]) == ("Josiah_Wendover", "Old Josiah", "infobox")


def test_claims_come_back_whole_from_their_record(harrow: Path, tables: RowsByTable) -> None:
    """A record is the claim that the page makes, and the columns are taken from it."""
    archive = LibzimArchive(harrow)
    result = claims_of(open_page(archive, "Harrowby"), archive.book.name)
    archive.close()
    found = [row for row in tables["claims"] if row["path"] == "Harrowby"]
    assert [claim_from_record(json.loads(row["record"])) for row in found] == list(result)
    founded = next(row for row in found if "founded" in row["claim"])
    assert (founded["earliest"], founded["edtf"], founded["subject"]) == (2160819, "1204", "Harrowby")
    long = next(row for row in found if "120 metres" in row["claim"])
    assert (long["value"], long["unit"], long["section"], long["anchor"]) == (120.0, "m", "Bridge", "Bridge")
    assert founded["quote"] == founded["claim"] or founded["quote"] in founded["record"]


def test_people_have_rows_only_where_a_page_is_about_one(tables: RowsByTable) -> None:
    """A relative's row leads to the relative's page, after redirects."""
    assert {row["path"] for row in tables["people"]} == {"Edmund_Wendover", "Josiah_Wendover"}
    born = next(row for row in tables["people"] if row["path"] == "Edmund_Wendover" and row["field"] == "birth_date")
    assert (born["name"], born["value"], born["earliest"], born["latest"]) == (
        "Edmund Wendover", "1850-05-12", 2396890, 2396890,
    )  # fmt: skip
    father = next(row for row in tables["people"] if row["field"] == "father")
    assert (father["value"], father["target"]) == ("Josiah Wendover", "Josiah_Wendover")


def test_pages_that_cannot_be_read_are_rows_in_errors(tables: RowsByTable) -> None:
    """A page with a damaged entry and an article that is not a page are reported, and nothing else is."""
    assert [(row["path"], row["what"]) for row in tables["errors"]] == [("Map.pdf", "read"), ("Wound", "read")]
    assert tables["errors"][0]["problem"] == "It is not a page but a file of type 'application/pdf'."
    assert tables["errors"][1]["problem"].startswith("It cannot be read: ")


def test_rows_are_sorted_by_entry_and_number(tables: RowsByTable) -> None:
    """Whatever the order of the entries was, the rows have their own."""
    for table, entry in tables.items():
        keys = [(row["entry"], row.get("number", 0), row.get("what", "")) for row in entry]
        assert keys == sorted(keys), table


def test_a_page_that_one_table_cannot_take_is_in_the_others(harrow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever one table raises becomes a row in errors, without what differs between machines."""

    def broken(*_: object) -> None:
        raise RuntimeError(f"broken {object()}\nmore")

    monkeypatch.setattr(rows_module, "link_rows", broken)
    number = number_of(harrow, "Harrowby")
    result = EntryReader(harrow, id_of(harrow), ("pages", "links")).rows([number])
    assert [row[:3] for row in result["pages"]] == [(number, "Harrowby", "Harrowby")]
    assert result["links"] == []
    assert result["errors"] == [(number, "Harrowby", "links", "RuntimeError: broken <object object> more.")]


def test_a_page_that_takes_endlessly_is_given_up() -> None:
    """The work on one page ends when its time is over."""

    def endless() -> None:
        while True:
            pass

    with pytest.raises(PageTimeout), time_limit(0.05):
        endless()


def test_patience_that_was_not_needed_ends_nothing_later() -> None:
    """After the block nobody is interrupted any more."""
    with time_limit(60):
        pass
    with time_limit(0.01), pytest.raises(PageTimeout):
        for _ in iter(int, 1):
            pass


def test_half_a_character_is_replaced(harrow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text that no file can have is repaired, and the page is kept."""
    monkeypatch.setattr(rows_module, "link_rows", lambda *_: [(0, "a\ud800b", "", "", "", 1)])
    number = number_of(harrow, "Harrowby")
    result = EntryReader(harrow, id_of(harrow), ("links",)).rows([number])
    assert result["links"][0][3] == "a?b"


def test_a_number_that_no_column_has_is_an_error(harrow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes its page out of that table, not the batch."""
    monkeypatch.setattr(rows_module, "link_rows", lambda *_: [(2**63, "", "", "", "", 1)])
    number = number_of(harrow, "Harrowby")
    result = EntryReader(harrow, id_of(harrow), ("links",)).rows([number])
    assert [row[2:] for row in result["errors"]] == [
        ("links", "OverflowError: 9223372036854775808 is too large a number.")
    ]


def test_another_book_at_the_same_place_is_refused(harrow: Path) -> None:
    """Rows of two books are never mixed, on whatever machine they are made."""
    with pytest.raises(BookChanged, match="is not the book that the work was started with"):
        EntryReader(harrow, BookId("another"), ("titles",)).rows([0])


def test_only_tables_that_exist_can_be_asked_for() -> None:
    """Each table is wanted once, in one order."""
    assert checked_tables(["links", " Pages ", "links"]) == ("pages", "links")
    with pytest.raises(BadUsage, match="Unknown table 'errors'"):
        checked_tables(["errors"])
    with pytest.raises(BadUsage, match="No table"):
        checked_tables([""])
