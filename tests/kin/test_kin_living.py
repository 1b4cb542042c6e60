"""Which people may be alive."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.errors import BadSettings
from kiwiresearch.kin.privacy.living import is_likely_living, living_verdicts
from kiwiresearch.kin.privacy.text_parts import contacts_in, has_modern_clue, without_contacts
from kiwiresearch.kin.tree import (
    Evidence,
    Fact,
    FieldName,
    LivingStatus,
    Person,
    PersonId,
    Qualifier,
    RelationKind,
    Relationship,
    Status,
    Tree,
)
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.text.dates.ranges import DateRange

YEAR = 2026


def when(text: str) -> DateRange:
    return dates_in(text)[0].when


def a_tree(*people: Person, ties: tuple[Relationship, ...] = (), facts: tuple[Fact, ...] = ()) -> Tree:
    return Tree({person.id: person for person in people}, ties, facts)


def a_tie(kind: RelationKind, first: str, second: str, qualifier: Qualifier = "", start: str = "") -> Relationship:
    return Relationship(
        f"{kind}-{first}-{second}", kind, first, second, qualifier, start=when(start) if start else None
    )


def status(tree: Tree, person: PersonId, *, years_after_death: int = 0) -> LivingStatus:
    return living_verdicts(tree, YEAR, years_after_death=years_after_death)[person].status


UNDATED = Person("x", "Somebody")


@pytest.mark.parametrize(
    ("person", "expected"),
    [
        (UNDATED, "unknown"),
        (replace(UNDATED, is_dead=True), "deceased"),
        (replace(UNDATED, death_place="Leeds"), "deceased"),
        (replace(UNDATED, death=when("1990")), "deceased"),
        (replace(UNDATED, death=when("before 1990")), "deceased"),
        (replace(UNDATED, death=when("2090")), "living"),
        (replace(UNDATED, birth=when("1990")), "living"),
        (replace(UNDATED, birth=when("1917")), "living"),
        (replace(UNDATED, birth=when("1916")), "living"),
        (replace(UNDATED, birth=when("1915")), "deceased"),
        (replace(UNDATED, birth=when("c. 1915")), "living"),
        (replace(UNDATED, birth=when("after 1880")), "unknown"),
        (replace(UNDATED, birth=when("before 1880")), "deceased"),
        (replace(UNDATED, birth=when("1912"), living="living"), "living"),
        (replace(UNDATED, birth=when("1880"), living="living"), "deceased"),
        (replace(UNDATED, living="deceased"), "unknown"),
        (replace(UNDATED, birth=when("1996"), death=when("1896")), "living"),
        (replace(UNDATED, birth=when("1841"), death=when("1806")), "deceased"),
    ],
)
def test_a_person_alone_is_judged_by_their_own_dates(person: Person, expected: LivingStatus) -> None:
    """A death of any kind counts, with or without a date; a date that cannot be true does not; age counts from 110."""
    assert status(a_tree(person), "x") == expected


@pytest.mark.parametrize(
    ("field", "state", "expected"),
    [
        ("death_place", "verified", "deceased"),
        ("burial_place", "unverified", "deceased"),
        ("burial_place", "rejected", "unknown"),
        ("death_place", "hypothesis", "unknown"),
        ("birth_place", "verified", "unknown"),
    ],
)
def test_a_grave_is_a_death_unless_nobody_believes_it(field: FieldName, state: Status, expected: LivingStatus) -> None:
    """Facts prove a death as the person's own fields do, but not if they were rejected."""
    fact = Fact("f", "x", field, "Leeds", status=state)
    assert status(a_tree(UNDATED, facts=(fact,)), "x") == expected


BORN = Person("r", "Relative", sex="female")
CHAINS: list[tuple[Relationship, str, LivingStatus]] = [
    (a_tie("parent_of", "x", "r"), "1920", "deceased"),
    (a_tie("parent_of", "x", "r"), "1930", "living"),
    (a_tie("parent_of", "r", "x"), "1850", "deceased"),
    (a_tie("parent_of", "r", "x"), "1860", "living"),
    (a_tie("parent_of", "r", "x", "step"), "1850", "living"),
    (a_tie("parent_of", "x", "r", "adoptive"), "1900", "living"),
    (a_tie("spouse_of", "x", "r"), "1850", "deceased"),
    (a_tie("spouse_of", "r", "x"), "1860", "living"),
    (a_tie("sibling_of", "r", "x"), "1830", "deceased"),
    (a_tie("sibling_of", "r", "x"), "1845", "living"),
    (a_tie("spouse_of", "r", "x", start="1920"), "1900", "deceased"),
    (a_tie("spouse_of", "r", "x", start="1930"), "1900", "living"),
]


@pytest.mark.parametrize(("tie", "born", "expected"), CHAINS)
def test_relatives_show_how_old_somebody_would_be(tie: Relationship, born: str, expected: LivingStatus) -> None:
    """Without dates of their own, people are at least as old as their relatives make them."""
    assert status(a_tree(UNDATED, replace(BORN, birth=when(born)), ties=(tie,)), "x") == expected


def test_dates_reach_over_many_ties() -> None:
    """A great-grandchild of somebody born in 1700 is dead, though nobody between has a date."""
    people = [Person(str(n), f"Person {n}") for n in range(4)]
    ties = tuple(a_tie("parent_of", str(n), str(n + 1)) for n in range(3))
    old = replace(people[0], birth=when("1640"))
    assert status(a_tree(old, *people[1:], ties=ties), "3") == "deceased"
    assert status(a_tree(replace(old, birth=when("1740")), *people[1:], ties=ties), "3") == "living"


def test_nobody_is_born_after_their_mothers_death() -> None:
    """The death of a parent or a spouse bounds a birth as well."""
    dead = replace(BORN, death=when("1912"))
    assert status(a_tree(UNDATED, dead, ties=(a_tie("parent_of", "r", "x"),)), "x") == "deceased"
    assert status(a_tree(UNDATED, dead, ties=(a_tie("spouse_of", "r", "x"),)), "x") == "deceased"
    later = replace(BORN, death=when("1990"))
    assert status(a_tree(UNDATED, later, ties=(a_tie("parent_of", "r", "x"),)), "x") == "living"


def test_a_slip_of_the_pen_makes_nobody_older() -> None:
    """A parent who died before being born says nothing by that death."""
    slip = replace(BORN, birth=when("1941"), death=when("1906"))
    assert status(a_tree(UNDATED, slip, ties=(a_tie("parent_of", "r", "x"),)), "x") == "living"


def test_their_own_date_of_birth_is_not_argued_with() -> None:
    """A wrong relative from another century does not make a living person dead."""
    tree = a_tree(
        replace(UNDATED, birth=when("1990")),
        replace(BORN, birth=when("1700")),
        ties=(a_tie("parent_of", "x", "r"),),
    )
    assert status(tree, "x") == "living"


def test_of_two_dates_of_birth_the_later_counts() -> None:
    """Where sources disagree, the person may be as young as the one says."""
    facts = (
        Fact("f1", "x", "birth_date", "1890", when("1890"), preferred=True),
        Fact("f2", "x", "birth_date", "1990", when("1990")),
    )
    assert status(a_tree(replace(UNDATED, birth=when("1890")), facts=facts), "x") == "living"
    rejected = (facts[0], replace(facts[1], status="rejected"))
    assert status(a_tree(replace(UNDATED, birth=when("1890")), facts=rejected), "x") == "deceased"


def test_somebody_who_is_their_own_grandparent_ages_no_one() -> None:
    """A loop in the tree ends, and is not evidence of age."""
    people = [Person(name, name.upper()) for name in "abc"]
    ties = (a_tie("parent_of", "a", "b"), a_tie("parent_of", "b", "c"), a_tie("parent_of", "c", "a"))
    tree = a_tree(replace(people[0], birth=when("1990")), *people[1:], ties=ties)
    assert {one: verdict.status for one, verdict in living_verdicts(tree, YEAR).items()} == {
        "a": "living",
        "b": "unknown",
        "c": "unknown",
    }


def test_the_user_has_the_last_word() -> None:
    """An override beats every date."""
    tree = a_tree(replace(UNDATED, birth=when("1700")), Person("y", "Other", birth=when("2000")))
    verdicts = living_verdicts(tree, YEAR, overrides={"x": "living", "y": "deceased"})
    assert (verdicts["x"].status, verdicts["y"].status) == ("living", "deceased")


def test_the_dead_can_be_kept_private_for_some_years() -> None:
    """With a grace of ten years, a recent death and one without a date are treated as life."""
    assert status(a_tree(replace(UNDATED, death=when("2020"))), "x", years_after_death=10) == "living"
    assert status(a_tree(replace(UNDATED, death=when("2010"))), "x", years_after_death=10) == "deceased"
    assert status(a_tree(replace(UNDATED, is_dead=True)), "x", years_after_death=10) == "living"
    old = replace(UNDATED, is_dead=True, birth=when("1850"))
    assert status(a_tree(old), "x", years_after_death=10) == "deceased"
    with pytest.raises(BadSettings, match="years_after_death"):
        living_verdicts(a_tree(UNDATED), YEAR, years_after_death=-1)


def test_a_reason_shows_nobody_s_dates() -> None:
    """Why somebody is taken for dead can be shown without revealing a relative's year."""
    tree = a_tree(UNDATED, Person("r", "Anna Smith", birth=when("3 May 1921")), ties=(a_tie("parent_of", "x", "r"),))
    verdict = living_verdicts(tree, YEAR)["x"]
    assert verdict.why == "born more than 110 years ago, judging by a child's dates"
    assert not {"1921", "1909", "Anna", "Smith"} & set(verdict.why.replace(",", " ").split())


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh"), st.integers(0, 3)), max_size=20))
def test_any_tree_gets_a_verdict_on_everybody(links: list[tuple[str, str, int]]) -> None:
    """Loops, people tied to themselves and double ties never hang, and living people with a date stay so."""
    kinds: tuple[RelationKind, ...] = ("parent_of", "spouse_of", "sibling_of", "partner_of")
    ties = tuple(Relationship(str(n), kinds[kind], first, second) for n, (first, second, kind) in enumerate(links))
    people = [Person(name, name) for name in "bcdefgh"]
    tree = a_tree(Person("a", "A", birth=when("1980")), *people, ties=ties)
    verdicts = living_verdicts(tree, YEAR)
    assert verdicts.keys() == tree.persons.keys()
    assert verdicts["a"].status == "living"


SEED: list[tuple[Person, bool]] = [
    (replace(UNDATED, living="living", death=when("1990")), True),
    (replace(UNDATED, death=when("1990")), False),
    (replace(UNDATED, birth=when("1927")), True),
    (replace(UNDATED, birth=when("1926")), False),
    (replace(UNDATED, birth=when("between 1920 and 1930")), True),
    (UNDATED, False),
]


@pytest.mark.parametrize(("person", "expected"), SEED)
def test_the_first_rule_is_kept_under_its_own_name(person: Person, expected: bool) -> None:
    """A mark, a date of death, a birth in the last 100 years; else not living (R430) (R431) (R432) (R434)."""
    assert is_likely_living(person, YEAR) is expected


def test_the_year_is_handed_in() -> None:
    """The same person is living in one year and not in a later one: no clock is read (R428) (R429)."""
    person = replace(UNDATED, birth=when("1990"))
    assert is_likely_living(person, 2026)
    assert not is_likely_living(person, 2090)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write to anna@example.org for more.", True),
        ("She posts on Instagram.", True),
        ("See facebook.com/anna.smith", True),
        ("He was a miner in Hull.", False),
    ],
)
def test_without_dates_modern_words_make_a_person_living(text: str, expected: bool) -> None:
    """An e-mail address or social media make a person without dates a living one (R433)."""
    assert has_modern_clue(text) is expected
    assert is_likely_living(UNDATED, YEAR, texts=(text,)) is expected
    assert not is_likely_living(replace(UNDATED, birth=when("1800")), YEAR, texts=(text,))


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("mail a.b@c.org now", "mail [e-mail] now"),
        ("call (216) 555-5364 now", "call [phone] now"),
        ("call +44 20 7946 0958 now", "call [phone] now"),
        ("SSN 123-45-6789.", "[ssn]."),
        ("lives at 149 Kimrose Lane, Ohio", "lives at [address], Ohio"),
        ("P.O. Box 12, Leeds", "[address], Leeds"),
        ("born 1914-1918 or 12 May 1990", "born 1914-1918 or 12 May 1990"),
    ],
)
def test_contacts_are_found(text: str, masked: str) -> None:
    """E-mail addresses, telephone and social security numbers and street addresses go; dates stay (R435)."""
    assert without_contacts(text) == masked
    assert contacts_in(masked) == []


BROTHERS = [
    ("His elder brother, Max Lee, was a smith.", "deceased"),
    ("His younger brother, Max Lee, was a smith.", "living"),
    ("His brother, Max Lee, was a smith.", "living"),
    ("Tom Lee's elder sister, Ann Lee, and his brother Max Lee", "living"),
    ("His elder brother, Max Lee, and his younger brother, Max Lee", "living"),
]


@pytest.mark.parametrize(("quote", "expected"), BROTHERS)
def test_an_elder_brother_was_born_first(quote: str, expected: LivingStatus) -> None:
    """'His elder brother' of somebody born 1865 is dead; a brother of any age may be 78 years younger."""
    tie = replace(a_tie("sibling_of", "t", "m"), evidence=(Evidence("e", "s", quote),))
    tree = a_tree(Person("t", "Tom Lee", birth=when("1865")), Person("m", "Max Lee"), ties=(tie,))
    assert status(tree, "m") == expected


@pytest.mark.parametrize(("born", "expected"), [("1442", "deceased"), ("1790", "living")])
def test_a_disputed_child_lived_in_the_time_of_the_parent(born: str, expected: LivingStatus) -> None:
    """Whose child somebody was may be in doubt, and not that it was centuries ago; 150 years are left for the doubt."""
    tie = a_tie("parent_of", "f", "c", "disputed")
    assert (
        status(a_tree(Person("f", "Tom Lee", birth=when(born)), Person("c", "Max Lee"), ties=(tie,)), "c") == expected
    )
