"""Trees as others may see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kin.privacy_scan import find_leaks

from kiwiresearch.errors import BadSettings
from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.privacy.living import living_verdicts
from kiwiresearch.kin.privacy.redaction import PrivacyMode, decade, redact
from kiwiresearch.kin.privacy.text_parts import region
from kiwiresearch.kin.privacy.withheld_people import LIVING_NAME, WITHHELD
from kiwiresearch.kin.tree import (
    Evidence,
    Fact,
    FieldName,
    Person,
    PersonId,
    RelationKind,
    Relationship,
    Sex,
    Source,
    Tree,
)
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.text.dates.ranges import DateRange

YEAR = 2026
LIVING_ID = "5e1f0c1a-living-daughter"
REDACTING: tuple[PrivacyMode, ...] = ("private", "public", "exclude")


def when(text: str) -> DateRange:
    return dates_in(text)[0].when


def says(name: str, source: str, snippet: str) -> tuple[Evidence, ...]:
    return (Evidence(f"evidence of {name}", source, snippet, 0, len(snippet), "Life", rationale="a rule"),)


DAUGHTER = Person(
    LIVING_ID,
    "Anna Maria Thornbury",
    ("Nan Thornbury", "Anna Wexcombe"),
    "female",
    when("3 May 1990"),
    "Otley, Yorkshire, England",
    external={"zim": "some-book/Anna_Thornbury_(singer)"},
)
FATHER = Person(
    "father", "Robert Thornbury", (), "male", when("4 June 1900"), "Hull, England", when("5 July 1995"), is_dead=True
)
MOTHER = Person("mother", "Edith Marlowe", (), "female", when("1955"), "Ripon, Yorkshire, England")
GRANDFATHER = Person("old", "Amos Thornbury", (), "male", when("1840"), "Hull, England", when("1910"), is_dead=True)


def a_case() -> Tree:
    """A dead father and grandfather, a living mother and daughter, and what sources say of them."""
    persons = {one.id: one for one in (DAUGHTER, FATHER, MOTHER, GRANDFATHER)}
    ties = (
        Relationship("t1", "parent_of", "father", LIVING_ID, evidence=says("t1", "hers", "Anna, daughter of Robert")),
        Relationship("t2", "parent_of", "mother", LIVING_ID),
        Relationship("t3", "spouse_of", "father", "mother", start=when("9 August 1985")),
        Relationship("t4", "parent_of", "old", "father", evidence=says("t4", "his", "son of Amos Thornbury")),
    )
    return Tree(persons, ties, _facts(), _sources())


def _facts() -> tuple[Fact, ...]:
    return (
        Fact(
            "f1", LIVING_ID, "birth_date", "1990-05-03", when("3 May 1990"), evidence=says("f1", "hers", "3 May 1990")
        ),
        Fact("f2", LIVING_ID, "birth_place", "Otley, Yorkshire, England", evidence=says("f2", "hers", "in Otley")),
        Fact("f3", LIVING_ID, "occupation", "singer, anna@example.org", evidence=says("f3", "hers", "a singer")),
        Fact("f4", LIVING_ID, "father", "Robert Thornbury", evidence=says("f4", "hers", "Robert's daughter")),
        Fact("f5", "father", "child", "Anna", evidence=says("f5", "his", "his daughter Anna")),
        Fact("f6", "father", "spouse", "Edith Marlowe", when("9 August 1985"), evidence=says("f6", "his", "Edith")),
        Fact("f7", "father", "marriage_date", "1985-08-09", when("9 August 1985")),
        Fact("f8", "father", "birth_date", "1900-06-04", when("4 June 1900"), evidence=says("f8", "hers", "b. 1900")),
        Fact("f9", "father", "occupation", "miner", evidence=says("f9", "his", "a miner, as Anna tells")),
        Fact("fa", "father", "death_place", "Hull, England", evidence=says("fa", "his", "He died in Hull.")),
        Fact("fb", "father", "title", "Father of Anna Thornbury"),
        Fact("fc", "father", "father", "Amos Thornbury", evidence=says("fc", "his", "son of Amos Thornbury")),
        Fact("fd", "father", "child", "Cuthbert Quill", evidence=says("fd", "his", "a son, Cuthbert Quill")),
        Fact("fe", "old", "spouse", "Zelda Brack", evidence=says("fe", "his", "Amos wed Zelda Brack")),
    )


def _sources() -> dict[str, Source]:
    return {
        "hers": Source("hers", "zim://some-book/Anna_Thornbury_%28singer%29", "A book", "Anna Thornbury"),
        "his": Source("his", "zim://some-book/Robert_Thornbury", "A book", "Robert Thornbury"),
        "unused": Source("unused", "zim://some-book/Hull", "A book", "Hull"),
        "unused too": Source("unused too", "zim://some-book/N", "A book", "Nan Thornbury, a life"),
    }


def fact_of(tree: Tree, field: FieldName, value: str) -> Fact:
    return next(fact for fact in tree.facts if (fact.field, fact.value) == (field, value))


def test_the_owner_sees_everything() -> None:
    """In the owner's mode nothing is left out, and it is still known who is living."""
    tree = a_case()
    shown = redact(tree, "owner", YEAR)
    assert (shown.persons, shown.relationships, shown.facts) == (tree.persons, tree.relationships, tree.facts)
    assert shown.withheld == (LIVING_ID, "mother")


def test_the_owners_circle_sees_names_and_ties_of_the_living() -> None:
    """Names and relationships stay; the date of birth becomes a decade, the place a country (R436) (R437) (R438)."""
    shown = redact(a_case(), "private", YEAR)
    person = shown.persons[LIVING_ID]
    assert (person.name, person.names) == (DAUGHTER.name, DAUGHTER.names)
    assert person.birth is not None
    assert (person.birth.words(), person.birth.edtf()) == ("1990s", "199X")
    assert person.birth_place == "England"
    assert shown.parents(LIVING_ID) == ("father", "mother")
    assert shown.spouses("father") == ("mother",)
    assert fact_of(shown, "birth_date", "199X").evidence[0].snippet == WITHHELD
    assert fact_of(shown, "birth_place", "England").person == LIVING_ID
    assert fact_of(shown, "child", "Anna").evidence[0].snippet == "his daughter Anna"


def test_the_owners_circle_sees_no_contacts_of_the_living() -> None:
    """Exact birth dates, addresses, telephone numbers, e-mail addresses and social security numbers go (R435)."""
    values = ("a@example.org", "(216) 555-5364", "123-45-6789", "149 Kimrose Lane")
    facts = tuple(
        Fact(f"x{n}", LIVING_ID, "occupation", f"reach me: {value}", evidence=says("x", "hers", value))
        for n, value in enumerate(values)
    )
    tree = replace(a_case(), facts=(*a_case().facts, *facts))
    shown = repr(redact(tree, "private", YEAR))
    assert not [value for value in (*values, "1990-05-03", "3 May 1990", "2448015", "Otley") if value in shown]


def test_the_public_sees_that_there_is_somebody() -> None:
    """Of a living person only 'Living', the sex and the ties are left."""
    shown = redact(a_case(), "public", YEAR)
    assert shown.withheld == ("living-1", "living-2")
    assert shown.persons["living-1"] == Person("living-1", LIVING_NAME, sex="female", living="living")
    assert shown.parents("living-1") == ("father", "living-2")
    assert not shown.facts_of("living-1")
    assert all(
        tie.start is None and not tie.evidence for tie in shown.relationships if "living-1" in (tie.first, tie.second)
    )


def test_facts_of_the_dead_do_not_reveal_the_living() -> None:
    """Children, spouses and marriages of the dead, and snippets that name a living relative, are hidden."""
    shown = redact(a_case(), "public", YEAR)
    father = shown.facts_of("father")
    assert {fact.value for fact in father if fact.field in ("child", "spouse")} == {LIVING_NAME}
    assert not [fact for fact in father if fact.field == "marriage_date"]
    assert fact_of(shown, "occupation", "miner").evidence[0].snippet == WITHHELD
    assert fact_of(shown, "title", WITHHELD).person == "father"
    assert fact_of(shown, "father", "Amos Thornbury") == fact_of(a_case(), "father", "Amos Thornbury")
    assert fact_of(shown, "death_place", "Hull, England") == fact_of(a_case(), "death_place", "Hull, England")


def test_a_relative_without_dates_is_hidden_if_they_may_live() -> None:
    """A child known only by name may be alive, the wife of somebody born in 1840 is not."""
    shown = redact(replace(a_case(), relationships=()), "public", YEAR)
    assert "Cuthbert" not in repr(shown)
    assert fact_of(shown, "spouse", "Zelda Brack").evidence[0].snippet == "Amos wed Zelda Brack"


def test_a_year_alone_can_reveal_a_living_relative() -> None:
    """The year in which a living child was born, or a living person married, is hidden."""
    facts = (
        Fact("y1", "father", "occupation", "miner", evidence=says("y1", "his", "a miner, and a father in 1990")),
        Fact("y2", "father", "occupation", "clerk", evidence=says("y2", "his", "a clerk from 1985")),
        Fact("y3", "father", "occupation", "cook", evidence=says("y3", "his", "a cook from 1931")),
        Fact("y4", "father", "burial_date", "1995", evidence=says("y4", "his", "buried in 1995")),
    )
    shown = redact(replace(a_case(), facts=facts), "public", YEAR)
    assert [fact.evidence[0].snippet == WITHHELD for fact in shown.facts] == [True, True, False, False]
    circle = redact(replace(a_case(), facts=facts), "private", YEAR)
    assert [fact.evidence[0].snippet == WITHHELD for fact in circle.facts] == [True, True, False, False]


def test_a_marriage_with_somebody_who_may_live_is_kept_back() -> None:
    """A spouse who is only a name in a fact shares the date of the marriage as well."""
    facts = (
        Fact("m1", "father", "spouse", "Cuthberta Quill"),
        Fact("m2", "father", "marriage_date", "1985-08-09", when("9 August 1985")),
    )
    tree = Tree({"father": FATHER}, (), facts)
    assert [fact.value for fact in redact(tree, "public", YEAR).facts] == [LIVING_NAME]


def test_pointers_of_a_family_file_are_kept_back() -> None:
    """A record that points at a living child by its number in the file does not leave with the dead parents."""
    child = replace(DAUGHTER, external={"gedcom": "family.ged#I7"})
    record = says("p", "his", "0 @F1@ FAM 1 HUSB @I1@ 1 CHIL @I7@")
    other = says("q", "his", "0 @F2@ FAM 1 HUSB @I1@ 1 CHIL @I70@")
    facts = (
        Fact("p", "father", "occupation", "miner", evidence=record),
        Fact("q", "father", "occupation", "clerk", evidence=other),
    )
    tree = replace(a_case(), persons={**a_case().persons, LIVING_ID: child}, facts=facts)
    shown = redact(tree, "public", YEAR)
    assert [fact.evidence[0].snippet == WITHHELD for fact in shown.facts] == [True, False]


def test_sources_about_the_living_lose_their_names_and_addresses() -> None:
    """A page about a living person can still be evidence about the dead, but nobody can see which page it is."""
    shown = redact(a_case(), "public", YEAR)
    evidence = fact_of(shown, "birth_date", "1900-06-04").evidence[0]
    source = shown.sources[evidence.source]
    assert (source.id, source.url, source.title, evidence.snippet) == ("source-1", "", WITHHELD, WITHHELD)
    assert sorted(shown.sources) == ["his", "source-1"]


def test_those_who_are_left_out_leave_nothing_behind() -> None:
    """In the strictest mode there is no trace of anybody living."""
    shown = redact(a_case(), "exclude", YEAR)
    assert sorted(shown.persons) == ["father", "old"]
    assert [tie.id for tie in shown.relationships] == ["t4"]
    assert LIVING_NAME not in [fact.value for fact in shown.facts]


@pytest.mark.parametrize("mode", REDACTING)
def test_nothing_of_the_living_is_left_in_a_redacted_case(mode: PrivacyMode) -> None:
    """No name, date, place, contact or id of a living person is found in what a mode lets out."""
    shown = redact(a_case(), mode, YEAR)
    assert find_leaks(repr(shown), a_case(), mode, YEAR) == ()
    assert find_leaks(canonical_json(asdict(shown)), a_case(), mode, YEAR) == ()


def test_a_tree_can_be_made_stricter_but_not_looser() -> None:
    """From what a circle may see, what the public may see can be made; not the other way round."""
    tree = a_case()
    private = redact(tree, "private", YEAR)
    public = redact(private, "public", YEAR)
    assert public.withheld == ("living-1", "living-2")
    assert find_leaks(repr(public), tree, "public", YEAR) == ()
    assert redact(public, "owner", YEAR) is public


def test_namesakes_keep_the_dead_as_they_are() -> None:
    """A living son of his dead father's name does not take the father's name away, but 'Jr.' is his alone."""
    son = Person("son", "Robert Thornbury Jr.", sex="male", birth=when("1950"))
    facts = (
        Fact("n1", "father", "occupation", "miner", evidence=says("n1", "his", "Robert Thornbury was a miner.")),
        Fact("n2", "father", "title", "Mr", evidence=says("n2", "his", "so Robert Thornbury Jr. tells")),
    )
    tree = Tree({"father": FATHER, "son": son}, (Relationship("t", "parent_of", "father", "son"),), facts, _sources())
    shown = redact(tree, "public", YEAR)
    assert fact_of(shown, "occupation", "miner") == facts[0]
    assert fact_of(shown, "title", "Mr").evidence[0].snippet == WITHHELD


@pytest.mark.parametrize(
    "text",
    [
        "the house of Anna Thornbury",
        "Anna Thornbury's house",
        "Anna Thornbury’s house",
        "ANNA THORNBURY'S HOUSE",
        "la maison d'Anna Thornbury",
        "la maison d’Anna Thornbury",
        "dell'Anna Thornbury",
        "Anna “Nan” Thornbury",
        "Anna (née Wexcombe) Thornbury",
        'Anna "the little singer" Thornbury',
        "Thornbury’s Anna",
    ],
)
def test_a_name_is_found_in_every_form(text: str) -> None:
    """A living person's name is found with a possessive ending, an elided article, a nickname or a name at birth."""
    tree = a_case()
    facts = (
        Fact("n1", "father", "occupation", text, evidence=says("n1", "his", "his work")),
        Fact("n2", "father", "death_place", f"Hull, {text}", evidence=says("n2", "his", f"He died at {text}.")),
    )
    father = replace(FATHER, death_place=f"Hull, {text}", external={"gedcom": f"{text}.ged#I1", "zim": "book/Robert"})
    tree = replace(tree, persons={**tree.persons, "father": father}, facts=facts)
    shown = redact(tree, "public", YEAR)
    assert [(fact.value, fact.evidence[0].snippet) for fact in shown.facts] == [(WITHHELD, WITHHELD)] * 2
    assert (shown.persons["father"].death_place, shown.persons["father"].external) == ("", {"zim": "book/Robert"})


@pytest.mark.parametrize("text", ["Thornbury's house", "the O'Annas of Thornbury"])
def test_other_words_with_an_apostrophe_are_no_names(text: str) -> None:
    """A surname, or a word that only contains a name, reveals nobody."""
    fact = Fact("n1", "old", "occupation", text, evidence=says("n1", "his", "his work"))
    shown = redact(replace(a_case(), facts=(fact,)), "public", YEAR)
    assert shown.facts == (fact,)


def test_an_unknown_mode_is_refused() -> None:
    """The error names the modes there are."""
    with pytest.raises(BadSettings, match="owner, private, public, exclude"):
        redact(a_case(), "open", YEAR)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("place", "kept"),
    [
        ("Hope, Hempstead, Arkansas, USA", "Arkansas, USA"),
        ("Leeds, Yorkshire, England", "England"),
        ("Chicago, Illinois", "Illinois"),
        ("New York, New York, USA", "New York, USA"),
        ("Leeds, Yorkshire", ""),
        ("London", ""),
        ("France", "France"),
        ("", ""),
    ],
)
def test_places_of_the_living_are_states_and_countries(place: str, kept: str) -> None:
    """Town and county go; what names neither state nor country goes whole (R437)."""
    assert region(place) == kept
    assert region(kept) == kept


@pytest.mark.parametrize(
    ("date", "kept"),
    [
        ("1990", "199X"),
        ("3 May 1990", "199X"),
        ("c. 1990", "199X"),
        ("between 1988 and 1992", "[1980..1999]"),
        ("after 1990", ""),
    ],
)
def test_dates_of_the_living_are_decades(date: str, kept: str) -> None:
    """'1990' becomes the 1990s (R436)."""
    found = decade(when(date))
    assert (found.edtf() if found else "") == kept
    assert decade(found) == found


GIVEN = ("Anselm", "Briony", "Corwin", "Delphine", "Emeric", "Fenella", "Gideon", "Hester", "Ivo", "Jocasta")
SURNAMES = ("Ashdown", "Blackwood", "Carrow", "Dunmore")
EXAMPLES = 40
TOWNS = ("Otley", "Ripon", "Selby", "Thirsk", "Whitby", "Malton", "Settle", "Filey", "Goole", "Hornsea")


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """People with first names, days and towns of their own, tied at random, and sources that speak of several."""
    count = draw(st.integers(2, 8))
    years = draw(st.lists(st.one_of(st.none(), st.integers(1700, 2020)), min_size=count, max_size=count))
    persons: dict[PersonId, Person] = {}
    for n, year in enumerate(years):
        sex: Sex = draw(st.sampled_from(("male", "female", "")))
        born = when(f"{n + 3} May {year}") if year else None
        dead = year is not None and draw(st.booleans())
        name = f"{GIVEN[n]} {draw(st.sampled_from(SURNAMES))}"
        persons[f"person-number-{n}-of-all"] = Person(
            f"person-number-{n}-of-all", name, (f"{GIVEN[n]} X. Vane",), sex, born, f"{TOWNS[n]}, England", is_dead=dead
        )
    ids = sorted(persons)
    kinds: st.SearchStrategy[RelationKind] = st.sampled_from(("parent_of", "spouse_of", "sibling_of"))
    links = draw(st.lists(st.tuples(kinds, st.sampled_from(ids), st.sampled_from(ids)), max_size=10))
    sources = {
        f"source {n}": Source(f"source {n}", f"zim://b/{n}", "A book", persons[one].name) for n, one in enumerate(ids)
    }
    ties = tuple(
        Relationship(f"r{n:02}", kind, one, other, evidence=_words(draw, persons, f"r{n}"))
        for n, (kind, one, other) in enumerate(links)
        if one != other
    )
    facts = tuple(_fact(draw, persons, n) for n in range(draw(st.integers(0, 8))))
    return Tree(persons, ties, facts, sources)


def _words(draw: st.DrawFn, persons: Mapping[PersonId, Person], name: str) -> tuple[Evidence, ...]:
    one = persons[draw(st.sampled_from(sorted(persons)))]
    source = f"source {draw(st.integers(0, len(persons) - 1))}"
    day = one.birth.words() if one.birth else "long ago"
    forms = (f"{one.name} was there", f"on {day} in {one.birth_place}", "no one", " ".join(reversed(one.name.split())))
    return (Evidence(f"evidence of {name}", source, draw(st.sampled_from(forms))),)


def _fact(draw: st.DrawFn, persons: Mapping[PersonId, Person], n: int) -> Fact:
    subject, other = (persons[draw(st.sampled_from(sorted(persons)))] for _ in range(2))
    evidence = _words(draw, persons, f"f{n}")
    field: FieldName = draw(st.sampled_from(("birth_date", "birth_place", "child", "spouse", "father", "occupation")))
    if field == "birth_date" and subject.birth:
        return Fact(f"f{n}", subject.id, field, subject.birth.edtf(), subject.birth, evidence=evidence)
    if field == "birth_place":
        return Fact(f"f{n}", subject.id, field, subject.birth_place, evidence=evidence)
    if field in ("child", "spouse", "father"):
        return Fact(f"f{n}", subject.id, field, other.name, evidence=evidence)
    return Fact(f"f{n}", subject.id, "occupation", f"clerk of {other.name}", evidence=evidence)


@settings(max_examples=EXAMPLES)
@given(trees(), st.sampled_from(REDACTING))
def test_no_tree_leaks(tree: Tree, mode: PrivacyMode) -> None:
    """Whatever the tree, neither its print nor its JSON shows of a living person what the mode forbids."""
    shown = redact(tree, mode, YEAR)
    assert find_leaks(repr(shown), tree, mode, YEAR) == ()
    assert find_leaks(canonical_json(asdict(shown)), tree, mode, YEAR) == ()


@settings(max_examples=EXAMPLES)
@given(trees(), st.sampled_from(REDACTING))
def test_redacting_twice_changes_nothing(tree: Tree, mode: PrivacyMode) -> None:
    """What has been made fit to be seen stays as it is."""
    once = redact(tree, mode, YEAR)
    assert redact(once, mode, YEAR) == once
    assert redact(tree, mode, YEAR) == once


@settings(max_examples=EXAMPLES)
@given(trees(), st.sampled_from(REDACTING))
def test_the_dead_stay_as_they_are(tree: Tree, mode: PrivacyMode) -> None:
    """Nobody who is dead is lost or changed, and neither are their own dates and places."""
    verdicts = living_verdicts(tree, YEAR)
    shown = redact(tree, mode, YEAR)
    for person in tree.persons.values():
        if verdicts[person.id].is_withheld:
            assert mode == "private" or person.id not in shown.persons
            continue
        assert shown.persons[person.id] == person
        for fact in tree.facts_of(person.id, "birth_date") + tree.facts_of(person.id, "birth_place"):
            (kept,) = [one for one in shown.facts if one.id == fact.id]
            assert replace(kept, evidence=()) == replace(fact, evidence=())


@settings(max_examples=EXAMPLES)
@given(trees())
def test_the_scan_finds_what_was_not_redacted(tree: Tree) -> None:
    """A tree as it is leaks the name of each living person, so that silence means something."""
    shown = {fact.person for fact in tree.facts}
    assert shown <= tree.persons.keys()
    kept = {one for one, verdict in living_verdicts(tree, YEAR).items() if verdict.is_withheld}
    found = {leak.person for leak in find_leaks(repr(tree), tree, "public", YEAR)}
    assert kept <= found
