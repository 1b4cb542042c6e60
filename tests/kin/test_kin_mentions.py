"""Relatives that one record, or several, name in different ways."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.kin.loop_family import (
    PAGES,
    a_case,
    linked,
    named,
    open_family,
    person_page,
    researcher,
    run,
    waiting,
    write_family,
)

from kiwiresearch.kin.loop.evaluation import resolve
from kiwiresearch.kin.loop.record_match import group_mentions
from kiwiresearch.kin.loop.source_records import CheckedFact
from kiwiresearch.kin.resolve.pairs import are_different_pages
from kiwiresearch.kin.source_facts import ExtractedFact, Snippet
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.tree import FieldName, row_id

FactWords = tuple[FieldName, str, str]


def mentions(*result: FactWords) -> tuple[list[list[str]], list[str]]:
    """The people of some mentions (field, name, address), and the names that may be of several of them."""
    targets = {}
    checked = []
    for at, (field, name, address) in enumerate(result):
        one = CheckedFact(ExtractedFact(field, name, Snippet(at, at + 1, "x"), "prose", 0.6), "verified", 0.4, 0.6)
        checked.append(one)
        targets[id(one)] = address
    found = group_mentions(checked, lambda one: targets[id(one)])
    people = [sorted(mention.checked.fact.value for mention in person.mentions) for person in found.people]
    return sorted(people), [one.fact.value for one in found.unclear]


@pytest.mark.parametrize(
    ("expected", "people", "unclear"),
    [
        (
            (("spouse", "Anne Moor", ""), ("spouse", "Anne Moor, Marchioness of Wex", "")),
            [["Anne Moor", "Anne Moor, Marchioness of Wex"]],
            [],
        ),
        ((("child", "Tom Lee", "a"), ("child", "Tom Lee", "b")), [["Tom Lee"], ["Tom Lee"]], []),
        ((("child", "Tom Lee", "a"), ("child", "Tom", "")), [["Tom", "Tom Lee"]], []),
        (
            (("child", "Tom Lee", ""), ("child", "Tom Moor", ""), ("child", "Tom", "")),
            [["Tom Lee"], ["Tom Moor"]],
            ["Tom"],
        ),
        ((("spouse", "Ann Lee", ""), ("partner", "Ann Lee", "")), [["Ann Lee", "Ann Lee"]], []),
        ((("spouse", "Ann Lee", ""), ("child", "Ann Lee", "")), [["Ann Lee"], ["Ann Lee"]], []),
        (
            (
                ("spouse", "Catherine of Aragon", ""),
                ("spouse", "Catherine Howard", ""),
                ("spouse", "Catherine Parr", ""),
                ("spouse", "Catherine", ""),
            ),
            [["Catherine Howard"], ["Catherine Parr"], ["Catherine of Aragon"]],
            ["Catherine"],
        ),
        ((("father", "Yesugei", ""), ("father", "Yesükhei", "")), [["Yesugei", "Yesükhei"]], []),
        ((("parent", "Francis Lee", ""), ("parent", "Frances Lee", "")), [["Frances Lee"], ["Francis Lee"]], []),
        ((("spouse", "Khadija", ""), ("spouse", "Khadijah", "")), [["Khadija", "Khadijah"]], []),
        ((("child", "Jane", ""), ("child", "Janet", "")), [["Jane"], ["Janet"]], []),
        ((("father", "Henry VII", ""), ("father", "Henry VIII", "")), [["Henry VII"], ["Henry VIII"]], []),
        ((("father", "John", ""), ("father", "John Lee", "")), [["John", "John Lee"]], []),
    ],
)
def test_mentions_of_one_relative_are_one_person(
    expected: tuple[FactWords, ...], people: list[list[str]], unclear: list[str]
) -> None:
    """A shorter form is the same relative, another page, role or number is not, and what fits several is left aside."""
    assert mentions(*expected) == (people, unclear)


def test_the_order_of_mentions_does_not_matter() -> None:
    """Whichever mention comes first, the people are the same."""
    rows: list[FactWords] = [("child", "Tom", ""), ("child", "Tom Lee", "a"), ("child", "Ann Lee", "")]
    assert mentions(*rows) == mentions(*reversed(rows))


def test_a_wife_and_a_mother_of_one_name_are_one(tmp_path: Path) -> None:
    """A man's wife and his child's mother of one name, without a page of her own, become one person (R279)."""
    father = person_page(
        "Aldous Penhallow",
        "3 May 1801 – 9 June 1870",
        {
            "Born": "3 May 1801",
            "Died": "9 June 1870",
            "Spouse": "Josephine Underhill",
            "Children": linked("Edwin Penhallow"),
        },
        "was a maker of clocks.",
    )
    child = person_page(
        "Edwin Penhallow",
        "1 January 1830 – 2 February 1899",
        {"Born": "1 January 1830", "Father": linked("Aldous Penhallow"), "Mother": "Josephine Underhill"},
        "was a sailor.",
    )
    pages = {"Aldous Penhallow": father, "Edwin Penhallow": child, "Clocks": PAGES["Clocks"]}
    book = open_family(write_family(tmp_path / "two.zim", pages))
    with a_case(tmp_path) as store:
        run(researcher(store, book))
        tree = store.tree()
        josephine = named(tree, "Josephine Underhill")
        assert [tree.persons[one].name for one in tree.spouses(josephine.id)] == ["Aldous Penhallow"]
        assert [tree.persons[one].name for one in tree.children(josephine.id)] == ["Edwin Penhallow"]
        (merge,) = store.merges.all()
        assert merge.is_reversible
        assert merge.why_not_merge


def test_one_person_is_searched_for_once(tmp_path: Path) -> None:
    """A person whom three records name without a link, and the resolver takes for one, is searched for once (R275)."""
    mother = {"Mother": "Josephine Underhill", "Father": linked("Aldous Penhallow")}
    pages = {
        "Aldous Penhallow": person_page(
            "Aldous Penhallow",
            "3 May 1801 – 9 June 1870",
            {
                "Born": "3 May 1801",
                "Died": "9 June 1870",
                "Spouse": "Josephine Underhill",
                "Children": f"{linked('Edwin Penhallow')}<br>{linked('Osric Penhallow')}",
            },
            "was a maker of clocks.",
        ),
        "Edwin Penhallow": person_page("Edwin Penhallow", "1830 – 1899", {"Born": "1830", **mother}, "was a sailor."),
        "Osric Penhallow": person_page("Osric Penhallow", "1832 – 1890", {"Born": "1832", **mother}, "was a baker."),
    }
    book = open_family(write_family(tmp_path / "three.zim", pages))
    with a_case(tmp_path) as store:
        one = researcher(store, book)
        one.start()
        while any("://" in item.query_string for item in waiting(store)):
            one.step()
        with store.step("test"):
            resolve(store)
        run(one)
        assert [row.query for row in store.queries() if row.negative] == ["Josephine Underhill"]
        dropped = store.queues.items("frontier", "dropped")
        assert [item.query_string for item in dropped].count("Josephine Underhill") == 2  # type: ignore[union-attr]


def test_two_pages_of_a_book_are_two_people(tmp_path: Path) -> None:
    """Twins of nearly one name, who were born and died on the same days, stay two where each has a page."""
    parents = {"Born": "1 January 1830", "Died": "2 February 1899", "Father": linked("Aldous Penhallow")}
    twins = ("Edwin Penhallow", "Edwina Penhallow")
    pages = {
        "Aldous Penhallow": person_page(
            "Aldous Penhallow",
            "3 May 1801 – 9 June 1870",
            {"Born": "3 May 1801", "Died": "9 June 1870", "Children": "<br>".join(map(linked, twins))},
            "was a maker of clocks.",
        ),
        **{
            name: person_page(name, "1 January 1830 – 2 February 1899", parents, "went to sea. Nobody knew why.")
            for name in twins
        },
    }
    book = open_family(write_family(tmp_path / "twins.zim", pages))
    with a_case(tmp_path) as store:
        run(researcher(store, book))
        assert {one.name for one in store.tree().persons.values()} == {"Aldous Penhallow", *twins}
        assert store.merges.all() == ()


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("zim://a/Tom", "zim://a/Ann", True),
        ("zim://a/Tom", "zim://a/Tom", False),
        ("zim://a/Tom", "zim://b/Tom", False),
        ("zim://a/Tom", "https://www.wikidata.org/wiki/Q1", False),
        ("https://www.wikidata.org/wiki/Q1", "https://www.wikidata.org/wiki/Q2", True),
        ("zim://a/Tom", "", False),
        ("", "", False),
    ],
)
def test_pages_of_one_book_or_site_are_two_people(one: str, other: str, *, apart: bool) -> None:
    """Two addresses of one place are two people; those of two places may be one."""
    assert are_different_pages(one, other) is apart


TWO_MAXES = (
    "<h2>Issue</h2><table><tr><th>Name</th><th>Birth</th><th>Death</th></tr>"
    "<tr><td>Max Penhallow</td><td>1 January 1830</td><td>22 February 1830</td></tr>"
    "<tr><td>Flora Penhallow</td><td>4 May 1832</td><td>1899</td></tr>"
    "<tr><td>Max Penhallow</td><td>9 December 1834</td><td>12 December 1834</td></tr></table>"
)


def one_page_case(tmp_path: Path, rows: dict[str, str], below: str) -> CaseStore:
    """A case of one page, with the rows of its box and what stands below its introduction."""
    page = person_page(
        "Aldous Penhallow", "3 May 1801 – 9 June 1870", {"Born": "3 May 1801", **rows}, "was a maker of clocks."
    )
    page = page.replace("</body>", f"{below}</body>")
    store = a_case(tmp_path)
    pages = {"Aldous Penhallow": page, "Clocks": PAGES["Clocks"]}
    run(researcher(store, open_family(write_family(tmp_path / "one.zim", pages))))
    return store


def test_children_of_one_name_are_two_people(tmp_path: Path) -> None:
    """A child named after one who died is a person of its own, with the dates of its own row."""
    with one_page_case(tmp_path, {}, TWO_MAXES) as store:
        found = [one for one in store.tree().persons.values() if one.name == "Max Penhallow"]
        lives = sorted((one.birth.edtf(), one.death.edtf()) for one in found if one.birth and one.death)
        assert lives == [("1830-01-01", "1830-02-22"), ("1834-12-09", "1834-12-12")]
        address = store.person(store.seeds[0]).external["record"]
        assert row_id("person", address, "child", "max penhallow") in {one.id for one in found}
        assert len(store.tree().children(store.seeds[0])) == 3


def test_a_name_that_fits_two_wives_is_no_fact(tmp_path: Path) -> None:
    """Whom 'Catherine' means beside two wives of that name is a guess, which the tree does not have."""
    told = "<p>Penhallow married Catherine. He was merry.</p>"
    with one_page_case(tmp_path, {"Spouse": "Catherine Moor<br>Catherine Lee"}, told) as store:
        seed = store.seeds[0]
        assert [fact.value for fact in store.tree().facts_of(seed) if fact.field == "spouse"] == []
        every = store.tree(with_discarded=True).facts_of(seed)
        assert [(fact.value, fact.status) for fact in every if fact.field == "spouse"] == [("Catherine", "hypothesis")]
