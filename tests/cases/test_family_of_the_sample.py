"""Families of the sample book, researched by rule: what went wrong once."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiwiresearch.cases.case import Case
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.report.shapes.couples import Couples
from kiwiresearch.kin.tree import Tree
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace


def researched(place: Path, name: str) -> Tree:
    """The tree of a case about a person, once nothing is left to do."""
    desk = open_workspace(environment={"KIWIRESEARCH_HOME": str(place / "home")})
    with (
        shelf_of(desk) as shelf,
        Finder(desk, shelf) as finder,
        Case.start(place / "case", CaseSettings(seeds=(name,)), finder) as case,
    ):
        assert list(case.steps())[-1].what == "stop"
        return case.store.tree()


@pytest.fixture(scope="module")
def adamses(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The tree of a case about John Quincy Adams."""
    return researched(tmp_path_factory.mktemp("adams"), "John Quincy Adams")


@pytest.fixture(scope="module")
def hamiltons(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The tree of a case about Alexander Hamilton."""
    return researched(tmp_path_factory.mktemp("hamilton"), "Alexander Hamilton")


def test_a_mother_named_in_two_ways_on_one_page_is_one_person(adamses: Tree) -> None:
    """'Parents' in the box and 'son of A and B' in the text are the same two people."""
    names = [person.name for person in adamses.persons.values()]
    assert names.count("Susanna Boylston") <= 1
    assert names.count("Abigail Adams") == 1


def test_a_person_goes_by_the_name_of_their_own_page(adamses: Tree) -> None:
    """'Henry Brooks' of a list of children is 'Henry Adams' once his page was read."""
    names = {person.name for person in adamses.persons.values()}
    assert not names & {"Henry Brooks", "Peter Chardon Brooks"}


def test_a_name_is_not_a_qualifier(adamses: Tree) -> None:
    """'Frances Foster, Isaac Hull': nobody is a foster child here."""
    assert "foster" not in {tie.qualifier for tie in adamses.relationships}


def test_an_encyclopedia_gives_secondary_information(adamses: Tree) -> None:
    """Evidence says what kind of information its source gives (R326)."""
    assert {one.information for fact in adamses.facts for one in fact.evidence} == {"secondary"}


def test_all_children_of_a_couple_hang_on_both(hamiltons: Tree) -> None:
    """'James Alexander Hamilton' beside 'Alexander Hamilton Jr.' in one list is another son, and 'John Church' is
    not a building; the eldest comes first.
    """
    [father] = [one.id for one in hamiltons.persons.values() if one.name == "Alexander Hamilton"]
    [mother] = [one.id for one in hamiltons.persons.values() if one.name == "Elizabeth Hamilton"]
    couples = Couples(hamiltons)
    children = [hamiltons.persons[one] for one in couples.children_of(father, mother)]
    assert [one.birth.first_year for one in children if one.birth] == [1782, 1784, 1786, 1788, 1792, 1797, 1799, 1802]
    assert {"James Alexander Hamilton", "John Church"} <= {name for one in children for name in (one.name, *one.names)}
    assert couples.children_of(father, "") == ()
