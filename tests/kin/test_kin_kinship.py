"""How people are related, in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.fields import Qualifier, RelationKind, Sex
from kiwiresearch.kin.gedcom.read import read_gedcom
from kiwiresearch.kin.kinship import (
    CommonAncestor,
    ancestors,
    birth_words,
    common_ancestors,
    descendants,
    generations,
    kinship,
    way,
)
from kiwiresearch.kin.tree import Person, Relationship, Tree

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
    ("hugh", "gwen", "tied over 7 others"),
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
    """Half is said where the other parents are known and differ, not where one is missing."""
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
    assert birth_words(up, down, sex) == words


def test_common_ancestors_are_the_nearest() -> None:
    """Of a couple both are named, and nobody above them."""
    tree = a_family([*FAMILY, ("parent_of", "nick", "adam", "")])
    assert common_ancestors(tree, "dan", "fay") == (CommonAncestor("adam", 2, 3), CommonAncestor("eve", 2, 3))
    assert common_ancestors(tree, "adam", "fay") == (CommonAncestor("adam", 0, 3),)
    assert common_ancestors(tree, "ida", "fay") == ()


def test_the_way_names_everybody_on_it() -> None:
    """The shortest way is told person by person, with what each is to the one before."""
    steps = way(a_family(), "dan", "bea")
    assert [(step.person, step.kind) for step in steps] == [
        ("dan", ""),
        ("bob", "parent"),
        ("adam", "parent"),
        ("bea", "child"),
    ]
    assert way(a_family(), "dan", "dan")[0].person == "dan"
    assert way(a_family(), "adam", "nick") == ()


def test_generations_count_from_the_seed() -> None:
    """Parents are one up, children one down, spouses beside."""
    found = generations(a_family(), "dan")
    assert {name: found[name] for name in ("dan", "ida", "adam", "bob", "fay", "finn", "dora")} == {
        "dan": 0,
        "ida": 0,
        "adam": 2,
        "bob": 1,
        "fay": -1,
        "finn": -1,
        "dora": 0,
    }
    assert "nick" not in found


def test_ancestors_and_descendants_are_counted_the_short_way() -> None:
    """Each is there once, with the least number of generations."""
    tree = a_family()
    assert ancestors(tree, "fay") == {"dora": 1, "bea": 2, "kate": 2, "adam": 3, "eve": 3}
    assert descendants(tree, "bob") == {"dan": 1}


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
    assert not found.way or (found.way[0].person, found.way[-1].person) == (first, second)
    assert bool(found.way) == (second in generations(tree, first))
    assert bool(way(tree, second, first)) == bool(found.way)
    assert len(way(tree, second, first)) == len(found.way)


def test_three_thousand_people_are_no_trouble(shared_data: Path) -> None:
    """Kinship in a real tree of kings and queens: Victoria and Albert were cousins, and married."""
    tree = read_gedcom(shared_data / "kin" / "gedcom" / "royal92.ged").tree
    named = {person.external["gedcom"]: person.id for person in tree.persons.values()}
    victoria, albert = named["royal92.ged#I1"], named["royal92.ged#I2"]
    assert kinship(tree, victoria, albert).words == "husband, also first cousin"
    assert len(generations(tree, victoria)) > 2900
