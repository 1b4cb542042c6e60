"""What is written as GEDCOM is read back, but for what GEDCOM cannot say."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kin.families import RealFamily
from tests.kin.gedcom_structure import problems

from kiwiresearch.kin.gedcom.dates import Version
from kiwiresearch.kin.gedcom.reader import read_gedcom
from kiwiresearch.kin.gedcom.tags import SOURCE_WITHOUT_TEXT, quality_mark
from kiwiresearch.kin.gedcom.writer import tree_gedcom
from kiwiresearch.kin.privacy.redaction import redact
from kiwiresearch.kin.tree import (
    Evidence,
    Fact,
    FieldName,
    Person,
    Qualifier,
    RelationKind,
    Relationship,
    Sex,
    Source,
    Tree,
)
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.text.dates.ranges import DateRange

VERSIONS: tuple[Version, ...] = get_args(Version)
DATES = (
    "5 June 1944",
    "June 1944",
    "1944",
    "c. 1250",
    "c. 1250–1260",
    "before 1700",
    "after 3 May 1702",
    "between 1200 and 1150 BC",
    "44 BC",
    "15 March 44 BC",
    "the 12th century",
    "the 1890s",
    "spring 1850",
    "from 1914 to 1918",
    "since 1960",
    "until 1801",
    "11 February 1731/32",
    "1731/32",
    "4 October 1582",
    "24 May 1819 (O.S.)",
    "66 million years ago",
)
NAMES = ("Ada Byron", "Anne of Cleves", "Edward VII", "Ludwig van Beethoven", "Martin King Jr.", "曹雪芹", "Zoë")
SOURCES = {
    number: Source(number, f"zim://book/{number}", "A book", f"Page {number}", accessed_at="2026-11-15")
    for number in ("a", "b", "c")
}
LONG = ("word @ " * 60, "@ " * 200, "a@b.c" * 120, "x" * 700, "one\n\n  two " * 40)
WORDS = st.text(st.sampled_from("ab é@/#\n\t.,曹-"), min_size=1, max_size=9).filter(str.strip) | st.sampled_from(LONG)
LINES = WORDS.map(lambda text: " ".join(text.split()))


def when(text: str) -> DateRange:
    found = dates_in(text)
    assert len(found) == 1, text
    return found[0].when


@st.composite
def evidence(draw: st.DrawFn) -> tuple[Evidence, ...]:
    rows = draw(
        st.lists(st.tuples(st.sampled_from("abc"), WORDS, LINES, st.sampled_from((0.9, 0.5))), min_size=1, max_size=2)
    )
    return tuple(Evidence(f"e{row}", row[0], row[1], locator=row[2], reliability=row[3]) for row in rows)


EVENTS: tuple[FieldName, ...] = ("birth_date", "baptism_date", "death_date", "burial_date")


@st.composite
def facts(draw: st.DrawFn, person: str) -> list[Fact]:
    fields: list[tuple[FieldName, str, DateRange | None]] = []
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True)):
        fields.append(("name", name, None))
    for field in EVENTS:
        for text in draw(st.lists(st.sampled_from(DATES), max_size=2, unique_by=lambda text: when(text).edtf())):
            fields.append((field, when(text).edtf(), when(text)))
        place: FieldName = field.replace("_date", "_place")  # type: ignore[assignment]
        fields += [(place, text, None) for text in draw(st.lists(LINES, max_size=2, unique=True))]
    for attribute in draw(st.sets(st.sampled_from(("occupation", "title")))):
        fields.append(("occupation" if attribute == "occupation" else "title", draw(LINES), None))
    seen: set[str] = set()
    made = []
    for at, (field, value, date) in enumerate(fields):
        first = field not in seen
        seen.add(field)
        made.append(Fact(f"{person}{at:03}", person, field, value, date, preferred=first, evidence=draw(evidence())))
    return made


@st.composite
def ties(draw: st.DrawFn, persons: list[str]) -> list[Relationship]:
    pairs = [(one, other) for one in persons for other in persons if one < other]
    kinds: tuple[RelationKind, ...] = ("parent_of", "spouse_of", "partner_of", "sibling_of")
    qualifiers: dict[str, tuple[Qualifier, ...]] = {
        "parent_of": ("", "adoptive", "foster", "step", "half", "illegitimate"),
        "spouse_of": ("", "divorced"),
        "partner_of": ("",),
        "sibling_of": ("",),
    }
    made = []
    for one, other in draw(st.lists(st.sampled_from(pairs), max_size=6, unique=True)) if pairs else ():
        kind = draw(st.sampled_from(kinds))
        dated = kind in ("spouse_of", "partner_of")
        dates = st.none() | st.sampled_from(DATES).map(when) if dated else st.none()
        qualifier = draw(st.sampled_from(qualifiers[kind]))
        made.append(
            Relationship(
                f"{kind}{one}{other}", kind, one, other, qualifier, draw(dates), draw(dates), evidence=draw(evidence())
            )
        )
    return made


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    numbers = [f"p{at}" for at in range(draw(st.integers(1, 5)))]
    fields = {number: draw(facts(number)) for number in numbers}
    sexes: tuple[Sex, ...] = ("male", "female", "")
    persons = {number: _person(number, fields[number], draw(st.sampled_from(sexes))) for number in numbers}
    return Tree(persons, tuple(draw(ties(numbers))), tuple(fact for each in fields.values() for fact in each), SOURCES)


def _person(number: str, expected: list[Fact], sex: Sex) -> Person:
    names = [fact.value for fact in expected if fact.field == "name"]
    first = {fact.field: fact for fact in reversed(expected)}
    birth, death = first.get("birth_date"), first.get("death_date")
    places = [first[field].value if field in first else "" for field in ("birth_place", "death_place")]
    is_dead = any(fact.field.startswith(("death_", "burial_")) for fact in expected)
    return Person(
        number,
        names[0],
        tuple(names[1:]),
        sex,
        birth.when if birth else None,
        places[0],
        death.when if death else None,
        places[1],
        is_dead,
        "deceased" if is_dead else "unknown",
        external={"wikidata": f"Q{number}", "ours": number},
    )


def shape(tree: Tree, key: str) -> set[tuple[object, ...]]:
    """A tree without what GEDCOM cannot express: our ids, positions in a source, who read the words and how."""
    names = {number: person.external[key] for number, person in tree.persons.items()}

    def said(evidence: tuple[Evidence, ...]) -> tuple[tuple[str, ...], ...]:
        rows = {
            (
                tree.sources[one.source].url,
                one.locator,
                "" if SOURCE_WITHOUT_TEXT in one.rationale else one.snippet,
                quality_mark(one.reliability),
            )
            for one in evidence
        }
        return tuple(sorted(rows))

    found: set[tuple[object, ...]] = set()
    for fact in tree.facts:
        # The sex cannot have a source, and marriages are written for both partners.
        if fact.field != "sex" and not fact.field.startswith("marriage"):
            row = (names[fact.person], fact.field, fact.value, fact.when, fact.preferred, said(fact.evidence))
            found.add(("fact", *row))
    for tie in tree.relationships:
        ends = [names[tie.first], names[tie.second]]
        ends = ends if tie.kind == "parent_of" else sorted(ends)
        found.add((tie.kind, *ends, tie.qualifier, tie.start, tie.end, said(tie.evidence)))
    for number, person in tree.persons.items():
        row2 = (person.name, person.names, person.sex, person.birth, person.birth_place, person.death)
        found.add(("person", names[number], *row2, person.death_place, person.is_dead, person.living))
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_any_tree_comes_back_from_gedcom(version: Version, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Names, events, ties and their quotes survive being written and read, whatever letters they have."""
    path = tmp_path_factory.mktemp("trip") / "tree.ged"

    @settings(max_examples=15)
    @given(trees())
    def comes_back(tree: Tree) -> None:
        text = tree_gedcom(redact(tree, "owner", 2026), version, head={"version": "1"})
        assert problems(text) == []
        path.write_text(text, encoding="utf-8", newline="")
        read = read_gedcom(path)
        assert read.notes == ()
        assert shape(read.tree, "ours") == shape(tree, "ours")

    comes_back()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["bronte", "bach", "shakespeare"])
def test_real_files_come_back(name: str, version: Version, real_family: RealFamily, tmp_path: Path) -> None:
    """A real file that is read, written and read again has the same content, with the same quotes."""
    first = real_family(name).tree
    path = tmp_path / "again.ged"
    text = tree_gedcom(redact(first, "owner", 2026), version, head={})
    path.write_text(text, encoding="utf-8", newline="")
    assert problems(text) == []
    assert shape(read_gedcom(path).tree, "gedcom") == shape(first, "gedcom")


def test_the_same_tree_gives_the_same_bytes(real_family: RealFamily) -> None:
    """The file does not depend on the order of people, ties and facts in the tree."""
    tree = real_family("bronte").tree
    persons = {number: tree.persons[number] for number in sorted(tree.persons, reverse=True)}
    sources = {number: tree.sources[number] for number in sorted(tree.sources, reverse=True)}
    turned = Tree(persons, tree.relationships[::-1], tree.facts[::-1], sources)
    assert tree_gedcom(redact(turned, "owner", 2026), "5.5.1", head={}) == tree_gedcom(
        redact(tree, "owner", 2026), "5.5.1", head={}
    )


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["bach", "bronte", "shakespeare"])
def test_a_file_that_is_read_and_written_again_stays_as_it_is(
    name: str, version: Version, real_family: RealFamily, tmp_path: Path
) -> None:
    """Read, written, read and written again gives the same bytes, and nothing of it is left out."""
    first = real_family(name).tree
    text = tree_gedcom(redact(first, "owner", 2026), version, head={})
    path = tmp_path / f"{name}-again.ged"
    path.write_text(text, encoding="utf-8", newline="")
    again = read_gedcom(path)
    assert again.notes == ()
    assert tree_gedcom(redact(again.tree, "owner", 2026), version, head={}) == text
