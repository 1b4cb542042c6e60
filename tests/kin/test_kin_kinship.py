"""How people are related, in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kin.families import RealFamily

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin import lineage
from kiwiresearch.kin.kinship import Kinship, KinshipFinder, blood_relation_words
from kiwiresearch.kin.lineage import ancestors, common_ancestors, predecessors_from
from kiwiresearch.kin.tree import Person, PersonId, Qualifier, RelationKind, Relationship, Sex, Tree


def kinship(tree: Tree, first: PersonId, second: PersonId) -> Kinship:
    return KinshipFinder(tree).kinship(first, second)


WOMEN = ("eve", "ann", "bea", "cleo", "dora", "fay", "gwen", "ida", "kate", "mia")
MEN = ("adam", "bob", "carl", "dan", "finn", "guy", "hugh", "jack", "leo", "nick")
FAMILY: list[tuple[RelationKind, str, str, Qualifier]] = [
    ("spouse_of", "adam", "eve", ""),
    ("parent_of", "adam", "bob", ""),
    ("parent_of", "eve", "bob", ""),
    ("parent_of", "adam", "bea", ""),
    ("parent_of", "eve", "bea", ""),
    ("parent_of", "adam", "carl", ""),
    ("parent_of", "ann", "carl", ""),
    ("spouse_of", "bob", "cleo", ""),
    ("parent_of", "bob", "dan", ""),
    ("parent_of", "cleo", "dan", ""),
    ("parent_of", "bea", "dora", ""),
    ("parent_of", "dora", "fay", ""),
    ("parent_of", "fay", "gwen", ""),
    ("spouse_of", "dan", "ida", ""),
    ("parent_of", "hugh", "ida", ""),
    ("parent_of", "ida", "finn", ""),
    ("parent_of", "jack", "dan", "step"),
    ("parent_of", "kate", "dora", "adoptive"),
    ("sibling_of", "leo", "hugh", ""),
    ("partner_of", "gwen", "guy", ""),
    ("spouse_of", "carl", "mia", "divorced"),
]


def a_family(ties: list[tuple[RelationKind, str, str, Qualifier]] = FAMILY) -> Tree:
    people: dict[str, Person] = {}
    for names, sex in ((WOMEN, "female"), (MEN, "male")):
        chosen: Sex = "female" if sex == "female" else "male"
        people |= {name: Person(name, name.capitalize(), sex=chosen) for name in names}
    return Tree(
        dict(sorted(people.items())),
        tuple(Relationship(str(n), kind, one, other, how) for n, (kind, one, other, how) in enumerate(ties)),
    )


WORDS = [
    ("bob", "bob", "the same person"),
    ("bob", "adam", "father"),
    ("bob", "eve", "mother"),
    ("eve", "bob", "son"),
    ("adam", "dan", "grandson"),
    ("adam", "fay", "great-granddaughter"),
    ("gwen", "eve", "great-great-grandmother"),
    ("bob", "bea", "sister"),
    ("bob", "carl", "half-brother"),
    ("dan", "bea", "aunt"),
    ("dan", "carl", "half-uncle"),
    ("bea", "dan", "nephew"),
    ("bob", "fay", "great-niece"),
    ("fay", "bob", "great-uncle"),
    ("dan", "dora", "first cousin"),
    ("dan", "fay", "first cousin once removed"),
    ("gwen", "dan", "first cousin twice removed"),
    ("adam", "eve", "wife"),
    ("mia", "carl", "former husband"),
    ("gwen", "guy", "partner"),
    ("ida", "bob", "father-in-law"),
    ("cleo", "ida", "daughter-in-law"),
    ("cleo", "bea", "sister-in-law"),
    ("bea", "cleo", "sister-in-law"),
    ("carl", "eve", "stepmother"),
    ("eve", "carl", "stepson"),
    ("dan", "finn", "stepson"),
    ("dan", "jack", "stepfather"),
    ("jack", "dan", "stepson"),
    ("dora", "kate", "adoptive mother"),
    ("kate", "dora", "adoptive daughter"),
    ("hugh", "leo", "brother"),
    ("ida", "leo", "uncle"),
    ("leo", "finn", "great-nephew"),
    ("dan", "leo", "uncle of the wife"),
    ("leo", "dan", "husband of the niece"),
    ("dora", "ida", "wife of the first cousin"),
    ("adam", "nick", "not known to be related"),
    ("hugh", "gwen", "related through 7 other people"),
]


@pytest.mark.parametrize(("first", "second", "words"), WORDS)
def test_people_are_related_as_families_say(first: str, second: str, words: str) -> None:
    """Blood, half blood, marriage, step and adoption have their own words, by the sex of the one who is named."""
    assert kinship(a_family(), first, second).words == words


def test_cousins_who_marry_are_both() -> None:
    """The closest tie comes first, and the other is not forgotten."""
    tree = a_family([*FAMILY, ("spouse_of", "dan", "dora", "")])
    assert kinship(tree, "dan", "dora").words == "wife, also first cousin"


def test_step_brothers_share_no_blood() -> None:
    """Children whom two people bring into a marriage are stepbrothers and stepsisters."""
    tree = a_family(
        [("parent_of", "adam", "bob", ""), ("spouse_of", "adam", "eve", ""), ("parent_of", "eve", "bea", "")]
    )
    assert kinship(tree, "bob", "bea").words == "stepsister"


def test_two_sides_that_share_only_one_parent_as_far_as_is_known_are_not_called_half() -> None:
    """Half is used only if the other parents are known and differ, not if one is missing."""
    tree = a_family(
        [("parent_of", "adam", "bob", ""), ("parent_of", "adam", "bea", ""), ("parent_of", "eve", "bea", "")]
    )
    assert kinship(tree, "bob", "bea").words == "sister"


@pytest.mark.parametrize(
    ("up", "down", "sex", "words"),
    [
        (5, 0, "male", "third great-grandfather"),
        (14, 0, "female", "12th great-grandmother"),
        (3, 3, "", "second cousin"),
        (12, 15, "", "11th cousin 3 times removed"),
        (1, 2, "", "nephew or niece"),
        (5, 1, "female", "third great-aunt"),
    ],
)
def test_far_relatives_are_counted(up: int, down: int, sex: Sex, words: str) -> None:
    """Beyond what a reader counts, there is a number."""
    assert blood_relation_words(up, down, sex) == words


def test_common_ancestors_are_the_nearest() -> None:
    """Of a couple both are named, and nobody above them."""
    tree = a_family([*FAMILY, ("parent_of", "nick", "adam", "")])
    assert common_ancestors(tree, "dan", "fay") == ("adam", "eve")
    assert common_ancestors(tree, "adam", "fay") == ("adam",)
    assert common_ancestors(tree, "ida", "fay") == ()


def test_the_path_names_everybody_on_it() -> None:
    """The shortest path is given person by person, with the relationship to the one before."""
    steps = kinship(a_family(), "dan", "bea").path
    assert [(step.person, step.kind) for step in steps] == [
        ("dan", ""),
        ("bob", "parent"),
        ("adam", "parent"),
        ("bea", "child"),
    ]
    assert kinship(a_family(), "dan", "dan").path[0].person == "dan"
    assert kinship(a_family(), "adam", "nick").path == ()


def test_ancestors_are_counted_the_short_way() -> None:
    """Each is there once, with the least number of generations."""
    assert ancestors(a_family(), "fay") == {"dora": 1, "bea": 2, "kate": 2, "adam": 3, "eve": 3}


def test_a_stranger_is_refused() -> None:
    """An id that is not in the tree is named in the error."""
    with pytest.raises(BadUsage, match="'zed'"):
        kinship(a_family(), "zed", "bob")


LINKS = st.lists(
    st.tuples(
        st.sampled_from(("parent_of", "spouse_of", "sibling_of", "partner_of")),
        st.sampled_from(MEN),
        st.sampled_from(MEN),
        st.sampled_from(("", "step", "adoptive", "half", "divorced")),
    ),
    max_size=25,
)


@given(LINKS, st.sampled_from(MEN), st.sampled_from(MEN))
def test_no_tree_hangs_or_breaks(
    links: list[tuple[RelationKind, str, str, Qualifier]], first: str, second: str
) -> None:
    """Loops and nonsense get words as well, and the way between two people leads from the one to the other."""
    tree = a_family(links)
    found = kinship(tree, first, second)
    assert found.words
    assert not found.path or (found.path[0].person, found.path[-1].person) == (first, second)
    assert bool(found.path) == (second in predecessors_from(tree, first))
    assert len(kinship(tree, second, first).path) == len(found.path)


def test_relatives_of_relatives_have_words() -> None:
    """A person related only through others is described by them, up to three; a longer path is counted."""
    ties: list[tuple[RelationKind, str, str, Qualifier]] = [
        ("parent_of", "adam", "bea", ""),
        ("spouse_of", "bea", "carl", ""),
        ("parent_of", "dan", "carl", ""),
        ("spouse_of", "dan", "ida", ""),
        ("sibling_of", "ida", "leo", ""),
    ]
    tree = a_family(ties)
    assert kinship(tree, "adam", "dan").words == "father of the son-in-law"
    assert kinship(tree, "adam", "ida").words == "stepmother of the son-in-law"
    assert kinship(tree, "adam", "leo").words == "related through 4 other people"


def test_cousins_on_both_sides_are_double() -> None:
    """Two brothers who marry two sisters have children who are double cousins."""
    couples, children_of_both = (("bob", "bea"), ("carl", "cleo")), ("dan", "fay")
    ties: list[tuple[RelationKind, str, str, Qualifier]] = []
    for parents, children in ((("adam", "eve"), ("bob", "carl")), (("hugh", "kate"), ("bea", "cleo"))):
        ties += [("parent_of", parent, child, "") for parent in parents for child in children]
    ties += [
        ("parent_of", parent, child, "")
        for pair, child in zip(couples, children_of_both, strict=True)
        for parent in pair
    ]
    assert kinship(a_family(ties), "dan", "fay").words == "double first cousin"


ROYAL = [
    ("I1", "I2", "husband, also first cousin"),
    ("I1", "I37", "husband of the granddaughter, also third cousin twice removed"),
    ("I1", "I39", "granddaughter"),
    ("I1", "I1696", "uncle"),
    ("I14", "I37", "first cousin"),
    ("I52", "I57", "husband, also second cousin once removed, also third cousin"),
    ("I52", "I1", "great-great-grandmother"),
    ("I52", "I65", "daughter-in-law"),
    ("I58", "I53", "aunt"),
    ("I65", "I59", "sister-in-law"),
    ("I115", "I63", "first cousin"),
    ("I115", "I53", "great-aunt"),
    ("I115", "I55", "first cousin once removed"),
    ("I849", "I725", "first cousin twice removed"),
    ("I849", "I859", "stepmother"),
    ("I852", "I849", "half-sister"),
    ("I852", "I846", "half-sister"),
    ("I852", "I868", "first cousin once removed"),
]
"""What history knows of Victoria, Nicholas II, Elizabeth II and Philip, Diana, and the children of Henry VIII."""


def test_kinship_works_in_a_tree_of_three_thousand(real_family: RealFamily) -> None:
    """Kinship in a real tree of kings and queens is what history says."""
    tree = real_family("royal92").tree
    named = {person.external["gedcom"].partition("#")[2]: person.id for person in tree.persons.values()}
    family = KinshipFinder(tree)
    found = [(one, other, family.kinship(named[one], named[other]).words) for one, other, _ in ROYAL]
    assert found == ROYAL
    assert len(predecessors_from(tree, named["I1"])) > 2900


def test_paths_from_one_person_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many distant relatives are described, the tree is walked once from the start person."""
    walked: list[PersonId] = []

    def counted(tree: Tree, first: PersonId) -> lineage.Predecessors:
        walked.append(first)
        return lineage.predecessors_from(tree, first)

    tree = a_family()
    fields = {one: kinship(tree, "gwen", one).words for one in tree.persons}
    monkeypatch.setattr("kiwiresearch.kin.kinship.predecessors_from", counted)
    family = KinshipFinder(tree)
    assert {one: family.describe("gwen", one) for one in tree.persons} == fields
    assert any(words.startswith("related through") for words in fields.values())
    assert walked == ["gwen"]
