"""What cannot have happened is doubted, and only that."""

from __future__ import annotations

import pytest

from kiwiresearch.kin.plausibility import find_implausible
from kiwiresearch.kin.tree import Fact, Person, RelationKind, Relationship, Tree
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.text.dates.ranges import DateRange


def when(words: str) -> DateRange | None:
    return dates_in(words)[0].when if words else None


def a_person(key: str, birth: str = "", death: str = "") -> Person:
    return Person(key, key.title(), birth=when(birth), death=when(death))


def a_tie(first: str, second: str, kind: RelationKind = "parent_of", start: str = "", end: str = "") -> Relationship:
    return Relationship(f"{first}-{second}", kind, first, second, start=when(start), end=when(end))


def kinds(*people: Person, ties: tuple[Relationship, ...] = (), facts: tuple[Fact, ...] = ()) -> list[str]:
    tree = Tree({person.id: person for person in people}, ties, facts)
    return [doubt.kind for doubt in find_implausible(tree)]


@pytest.mark.parametrize(
    ("birth", "death", "expected"),
    [
        ("1800", "1870", []),
        ("1800", "1790", ["died before birth"]),
        ("c. 1800", "1799", []),
        ("May 1800", "3 May 1800", []),
        ("1700", "1821", []),
        ("1700", "1823", ["too old"]),
        ("after 1700", "1850", []),
        ("before 1700", "1850", ["too old"]),
        ("100 BC", "44 BC", []),
        ("44 BC", "100 BC", ["died before birth"]),
    ],
)
def test_a_life(birth: str, death: str, expected: list[str]) -> None:
    """Nobody dies before birth or lives beyond 120 years; what is uncertain is not doubted."""
    assert kinds(a_person("ann", birth, death)) == expected


@pytest.mark.parametrize(
    ("parent", "child", "expected"),
    [
        ("1800", "1825", []),
        ("1800", "1812", []),
        ("1800", "1811", ["parent too young"]),
        ("1800", "1790", ["parent too young"]),
        ("1800", "1861", []),
        ("1800", "1863", ["parent too old"]),
        ("c. 1800", "1863", []),
        ("", "1862", []),
    ],
)
def test_the_age_of_a_parent(parent: str, child: str, expected: list[str]) -> None:
    """A parent is 12 to 60 years older, as far as the dates say."""
    assert kinds(a_person("ann", parent), a_person("bob", child), ties=(a_tie("ann", "bob"),)) == expected


def test_a_parent_who_was_dead() -> None:
    """A child is not born long after a parent's death."""
    people = (a_person("ann", "1800", "1830"), a_person("bob", "1835"))
    assert kinds(*people, ties=(a_tie("ann", "bob"),)) == ["parent dead"]


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("1820", "1840", []),
        ("1811", "", ["married too young"]),
        ("1795", "", ["married before birth"]),
        ("1880", "", ["married after death"]),
        ("1830", "1820", ["ended before it began"]),
    ],
)
def test_marriages(start: str, end: str, expected: list[str]) -> None:
    """People marry at 12 or later, alive, and a marriage ends after it began."""
    people = (a_person("ann", "1800", "1870"), a_person("bob"))
    assert kinds(*people, ties=(a_tie("ann", "bob", "spouse_of", start, end),)) == expected


def test_the_order_of_events() -> None:
    """Nobody is baptised before birth or buried before death."""
    ann = a_person("ann", "3 May 1800", "1 June 1870")
    facts = (
        Fact("f1", "ann", "baptism_date", "1800-05-01", when("1 May 1800")),
        Fact("f2", "ann", "burial_date", "1870-05-30", when("30 May 1870")),
        Fact("f3", "ann", "burial_date", "1870-06-04", when("4 June 1870")),
    )
    assert kinds(ann, facts=facts) == ["baptised before birth", "buried before death"]


def test_nobody_is_an_ancestor_of_their_own() -> None:
    """A loop of parents is reported once, wherever it is entered; a deep tree is not a problem."""
    people = tuple(a_person(key) for key in "abcd")
    loop = (a_tie("b", "c"), a_tie("c", "d"), a_tie("d", "b"), a_tie("a", "b"))
    tree = Tree({person.id: person for person in people}, loop)
    (doubt,) = find_implausible(tree)
    assert (doubt.kind, doubt.persons, doubt.relationships) == ("own ancestor", ("b", "c", "d"), ("b-c", "c-d", "d-b"))
    assert doubt.code == "HF_051"
    line = [a_tie(f"{n:05}", f"{n + 1:05}") for n in range(3000)]
    assert find_implausible(Tree({}, tuple(line))) == ()


def test_ties_that_were_rejected_do_not_count() -> None:
    """What nobody believes any more is not doubted again."""
    tie = Relationship("t", "parent_of", "ann", "bob", status="rejected")
    assert kinds(a_person("ann", "1800"), a_person("bob", "1790"), ties=(tie,)) == []
