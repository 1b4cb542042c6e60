"""What sixty pages state about families: the labels are as their page says, and what is read is judged by them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from evals import family_pages
from evals.data import ROOT
from evals.family_pages import DATES, RELATIVES, FamilyPage, Half, agrees, count_page
from evals.kin import Tally

from kiwiresearch.ids import BookId
from kiwiresearch.kin.source_facts import ExtractedFact, PersonReading, Snippet
from kiwiresearch.kin.tree import FieldName
from kiwiresearch.text.dates import dates_in
from kiwiresearch.zim import EntryRef

README = ROOT / "evals" / "labels" / "README.md"
PAGES = tuple(family_pages.family_pages())


def test_each_page_is_labelled_once_and_in_the_half_its_hash_gives() -> None:
    """Sixty pages by path; ordered by hash they are in both halves by turns."""
    paths = [page.path for page in PAGES]
    assert paths == sorted(set(paths))
    assert len(paths) == 60
    by_hash = sorted(PAGES, key=lambda page: hashlib.sha256(page.path.encode()).hexdigest())
    assert [page.half for page in by_hash] == ["tune", "held"] * 30


def test_pages_are_not_those_of_the_family_trees(shared_data: Path) -> None:
    """No page is one that the reading of families was fitted to."""
    rows = (shared_data / "kin" / "schools-families.jsonl").read_text(encoding="utf-8").splitlines()
    assert not {json.loads(row)["path"] for row in rows} & {page.path for page in PAGES}


def test_labels_are_counted_as_documented() -> None:
    """The table of the labels' page has the pages, dates, people and unsure values of both halves."""
    text = README.read_text(encoding="utf-8").partition("\n## Families\n")[2]
    for kind in ("pages", *DATES, *RELATIVES, "unsure"):
        found = re.search(rf"^\| {kind} \| (\d+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
        assert found, f"the page has no counts of {kind!r}"
        tune, held = labels_of("tune", kind), labels_of("held", kind)
        assert tuple(map(int, found.groups())) == (tune + held, tune, held), kind


def labels_of(half: Half, kind: str) -> int:
    pages = [page for page in PAGES if page.half == half]
    if kind == "pages":
        return len(pages)
    if kind == "unsure":
        rows = map(json.loads, family_pages.LABELS.read_text(encoding="utf-8").splitlines())
        return sum(len(row["unsure"]) for row in rows if row["half"] == half)
    if kind in DATES:
        return sum(bool(page.dates[kind]) for page in pages)
    return sum(len(page.relatives[kind]) for page in pages)


@pytest.mark.parametrize(
    ("words", "date", "agreeing", "exact"),
    [
        ("24 July 1840", "1840-07-24", True, True),
        ("1840", "1840-07-24", True, False),
        ("July 1840", "1840-07-24", True, False),
        ("25 July 1840", "1840-07-24", False, False),
        ("24 July 1840", "1840", False, False),
        ("c. 586", "0586", True, True),
        ("325 BC", "-0325", True, True),
        ("325 BC", "0325", False, False),
    ],
)
def test_a_date_agrees_if_it_claims_no_more_than_the_page(words: str, date: str, agreeing: bool, exact: bool) -> None:
    """A coarser date agrees but is not exact; another day, or a day where the page has a year, does not agree."""
    when = dates_in(words)[0].when
    assert (agrees(when, date), agrees(when, date, exactly=True)) == (agreeing, exact)


def a_fact(field: FieldName, value: str, *, of_relative: Sequence[ExtractedFact] = ()) -> ExtractedFact:
    when = dates_in(value)[0].when if field.endswith("_date") else None
    return ExtractedFact(field, value, Snippet(0, 0, ""), "prose", 1.0, when, relative_facts=tuple(of_relative))


def counted(*facts: ExtractedFact, **labels: Sequence[Sequence[str]]) -> dict[str, Tally]:
    """The tallies of one page about Ada Grey, with these labels, of which those called unsure are about children."""
    page = FamilyPage(
        "Ada_Grey",
        "tune",
        {"birth": ("1815-12-10",), "death": ()},
        {kind: tuple(map(tuple, labels.get(kind, ()))) for kind in RELATIVES},
        {"children": tuple(name for names in labels.get("unsure", ()) for name in names)},
    )
    tallies = {kind: Tally() for kind in (*DATES, *RELATIVES)}
    ref = EntryRef(BookId("book"), "Ada_Grey")
    person = PersonReading(ref, "Ada Grey", is_person=True, why="", name="Ada Grey", facts=facts)
    count_page(page, person, tallies)
    return tallies


def test_a_person_is_found_by_any_name_of_the_page_and_others_are_wrong() -> None:
    """One of two sons is found by his nickname, the other is missed, and a stranger is wrong."""
    children = [["Ralph Grey", "Tom Grey"], ["Byron Grey"]]
    one = counted(a_fact("child", "Tom Grey"), a_fact("child", "Hugo White"), children=children)["children"]
    assert (one.right, len(one.wrong), one.stated, len(one.missed)) == (1, 1, 2, 1)
    assert (one.precision, one.recall) == (0.5, 0.5)


def test_what_is_unsure_is_neither_right_nor_wrong() -> None:
    """A child whom the page doubts changes no figure, read or not."""
    read = counted(a_fact("child", "Medora Leigh"), unsure=[["Medora Leigh"]])["children"]
    assert (read.right, read.wrong, read.stated, read.missed) == (0, [], 0, [])


def test_grandparents_are_the_parents_of_a_parent() -> None:
    """They are read where a passage gives a parent's parent, not from the subject's own parents."""
    father = a_fact("father", "John Grey", of_relative=[a_fact("father", "Adam Grey")])
    tallies = counted(father, parents=[["John Grey"]], grandparents=[["Adam Grey"]])
    assert (tallies["grandparents"].recall, tallies["parents"].recall) == (1.0, 1.0)
    assert tallies["parents"].wrong == []


def test_a_year_does_not_find_a_day() -> None:
    """A year is right where the page has the day, but the date counts as missed until the day is read."""
    coarse = counted(a_fact("birth_date", "1815"))["birth"]
    assert (coarse.precision, coarse.recall) == (1.0, 0.0)
    assert counted(a_fact("birth_date", "1815"), a_fact("birth_date", "10 December 1815"))["birth"].recall == 1.0


def test_mistakes_on_the_held_half_are_not_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the held half only the figures are printed."""
    monkeypatch.setattr(family_pages, "tally", lambda half: {"birth": Tally(0, [f"w-{half}"], 1, [f"m-{half}"])})
    family_pages.main()
    printed = capsys.readouterr().out
    assert "held birth" in printed
    assert ("m-tune" in printed, "w-tune" in printed) == (True, True)
    assert "m-held" not in printed
    assert "w-held" not in printed
