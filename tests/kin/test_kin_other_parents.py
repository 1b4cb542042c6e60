"""The other parent of listed children: by the words over them, by the dates, or as the only husband or wife."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.kin.loop_family import a_case, named, open_family, person_page, researcher, run, write_family
from tests.kin.test_kin_extract_lists import listed

from kiwiresearch.ids import BookId
from kiwiresearch.kin.firewall.two_quotes import OtherParentProof, check_other_parent
from kiwiresearch.kin.loop.other_parents import other_parents
from kiwiresearch.kin.loop.record_match import group_mentions
from kiwiresearch.kin.loop.source_records import CheckedRecord, check_record
from kiwiresearch.kin.sources import FetchedRecord
from kiwiresearch.kin.tree import Source
from kiwiresearch.page.parser import read_page
from kiwiresearch.text.dates import DateRange, dates_in
from kiwiresearch.zim.archive import Entry, EntryRef

LEAD = "<p><b>John Carter</b> (1 May 1801 – 3 June 1870) was an English miller. He owned two mills.</p>"
TWO_WIVES = "<p>Carter married Ruth Hay in 1830. In 1850 Carter married Eve Stone.</p>"


def record(html: str) -> CheckedRecord:
    entry = Entry(EntryRef(BookId("book"), "John_Carter"), "John Carter", "text/html", (LEAD + html).encode())
    page = read_page(entry)
    checked = check_record(FetchedRecord(Source("s", "zim://book/John_Carter", "book"), page.text, page=page))
    assert checked is not None
    return checked


def concluded(html: str) -> dict[str, tuple[str, str, int]]:
    """The other parent of each child, with the status and how many quotes show it."""
    checked = record(html)
    people = group_mentions([fact for fact in checked.accepted if fact.fact.field in ("child", "spouse")], lambda _: "")
    return {
        found.child.name: (found.parent.name, found.statements[0].status, len(found.statements))
        for found in other_parents(checked, people.people)
    }


def test_a_heading_names_the_other_parent() -> None:
    """Below 'By Ruth Hay' stand her children, and three quotes show it: theirs, the heading's and the wedding's."""
    lists = f"<h2>Children</h2>{listed('By Ruth Hay', 'Max Carter (1831–1850)', 'By Eve Stone', 'Tom Carter')}"
    assert concluded(TWO_WIVES + lists) == {
        "Max Carter": ("Ruth Hay", "verified", 3),
        "Tom Carter": ("Eve Stone", "verified", 3),
    }


INTRODUCED = [
    ("<p>Carter had two sons by Ruth Hay:</p>", "verified"),
    ("<p>Carter and Ruth Hay had two sons:</p>", "verified"),
]


@pytest.mark.parametrize(("lead_in", "status"), INTRODUCED)
def test_the_sentence_over_a_list_names_the_other_parent(lead_in: str, status: str) -> None:
    """'He had two sons by Ruth Hay:' introduces their children."""
    found = concluded(f"{TWO_WIVES}<h2>Children</h2>{lead_in}{listed('Max Carter', 'Tom Carter')}")
    assert found == dict.fromkeys(("Max Carter", "Tom Carter"), ("Ruth Hay", status, 3))


@pytest.mark.parametrize(
    ("prose", "expected"),
    [
        ("Carter married Ruth Hay in 1830.", {"Max Carter": "Ruth Hay"}),
        ("Carter married Ruth Hay in 1840.", {}),
        ("Carter married Ruth Hay in 1830. His second wife was rich.", {}),
        ("Carter's wife was Ruth Hay.", {"Max Carter": "Ruth Hay"}),
        ("Carter's wife was Ruth Hay. He had a mistress.", {"Max Carter": "Ruth Hay"}),
        ("Carter married Ruth Hay in 1820. In 1830 Carter married Eve Stone.", {}),
    ],
)
def test_a_list_follows_from_the_only_marriage(prose: str, expected: dict[str, str]) -> None:
    """The only wife is the mother if she married before the birth, and the page tells of no other union."""
    found = concluded(f"<p>{prose}</p><h2>Children</h2>{listed('Max Carter (5 May 1831 – 1850)')}")
    assert {child: parent for child, (parent, *_) in found.items()} == expected
    assert all(told[1:] == ("unverified", 2) for told in found.values())


MISTRESSES = [
    "<h2>Children</h2><p>Some are of a mistress.</p>{}",
    "<h2>Life</h2><p>He had a mistress, and one son:</p>{}",
    "<h2>Children</h2><ul><li>By unknown mother. She may have been a cook.</li></ul>{}",
    "<h2>Children</h2><ul><li>By Ruth Hay or Eve Stone.</li></ul>{}",
]


@pytest.mark.parametrize("below", MISTRESSES)
def test_no_mother_follows_where_the_children_may_be_of_another(below: str) -> None:
    """Where the section of the children tells of mistresses or of another mother, the wife is not concluded."""
    assert concluded("<p>Carter's wife was Ruth Hay.</p>" + below.format(listed("Max Carter"))) == {}


@pytest.mark.parametrize("lead_in", ["John and Ruth's children are:", "John and Ruth Hay's surviving children were:"])
def test_the_children_of_a_couple_in_a_table_are_of_both(lead_in: str) -> None:
    """'John and Ruth's children are:' names the mother of everybody in the table below it, and of nobody else."""
    rows = "".join(f"<tr><td>{name}</td><td>1831</td><td>1850</td></tr>" for name in ("Max Carter", "Ida Carter"))
    table = f"<table><tr><th>Name</th><th>Birth</th><th>Death</th></tr>{rows}</table>"
    found = concluded(f"{TWO_WIVES}<h2>Children</h2><p>{lead_in}</p>{table}")
    assert found == dict.fromkeys(("Max Carter", "Ida Carter"), ("Ruth Hay", "verified", 3))


def test_they_are_the_couple_that_was_just_named() -> None:
    """'He married Ruth Hay. They had two sons' gives both a mother, though he married again."""
    prose = "<p>In 1830 Carter married Ruth Hay. They had two sons, Max and Tom.</p>"
    prose += "<p>In 1850 Carter married Eve Stone.</p>"
    assert {child: told[0] for child, told in concluded(prose).items()} == {"Max": "Ruth Hay", "Tom": "Ruth Hay"}


def proof(html: str) -> tuple[OtherParentProof, str]:
    checked = record(html)
    child, spouse = (
        next(one.fact for one in checked.accepted if one.fact.field == field) for field in ("child", "spouse")
    )
    return OtherParentProof(child, spouse), checked.fetched.text


def day(text: str) -> DateRange:
    return dates_in(text)[0].when


def violations(one: OtherParentProof, text: str) -> list[str]:
    return [found.code for found in check_other_parent(one, text, "John Carter", "male", ())]


def test_both_quotes_are_checked() -> None:
    """The firewall reads the child and the marriage again from their own quotes, and compares their dates."""
    good, text = proof("<p>Carter married Ruth Hay in 1830. He had one son, Max Carter.</p>")
    assert violations(good, text) == []
    assert violations(replace(good, child=replace(good.child, value="Ruth Hay")), text)
    assert violations(replace(good, spouse=replace(good.spouse, value="Max Carter")), text)
    assert violations(replace(good, spouse=replace(good.spouse, qualifier="disputed")), text) == ["HF_042"]
    assert violations(replace(good, child=replace(good.child, qualifier="step")), text) == ["HF_041"]
    assert violations(replace(good, born=day("3 May 1829")), text) == ["HF_051"]
    assert violations(replace(good, born=day("3 May 1831")), text) == []
    assert "HF_016" in violations(replace(good, named_by=good.child.snippet), text)


def test_the_tree_has_both_parents(tmp_path: Path) -> None:
    """A child that a page lists gets the wife as a mother, with both quotes as indirect evidence."""
    page = person_page(
        "Aldous Penhallow",
        "3 May 1801 – 9 June 1870",
        {"Born": "3 May 1801", "Died": "9 June 1870", "Spouse": "Josephine Underhill", "Children": "Edwin Penhallow"},
        "was a maker of clocks. He made many.",
    )
    with a_case(tmp_path) as store:
        run(
            researcher(
                store, open_family(write_family(tmp_path / "one.zim", {"Aldous Penhallow": page, "Clocks": page}))
            )
        )
        tree = store.tree()
        edwin = named(tree, "Edwin Penhallow")
        assert {tree.persons[one].name for one in tree.parents(edwin.id)} == {"Aldous Penhallow", "Josephine Underhill"}
        josephine = named(tree, "Josephine Underhill")
        (tie,) = (tie for tie in tree.relationships if tie.kind == "parent_of" and tie.first == josephine.id)
        assert tie.status == "unverified"
        assert {one.directness for one in tie.evidence} == {"indirect"}
        assert len(tie.evidence) == 2
