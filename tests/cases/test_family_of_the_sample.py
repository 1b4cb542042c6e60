"""Families of the sample book, researched by rule: what went wrong once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kiwiresearch.cases.case import Case
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.tree import Tree
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace


@pytest.fixture(scope="module")
def adamses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    """The tree of a case about John Quincy Adams."""
    place: Path = tmp_path_factory.mktemp("adams")
    desk = open_workspace(environment={"KIWIRESEARCH_HOME": str(place / "home")})
    with (
        shelf_of(desk) as shelf,
        Finder(desk, shelf) as finder,
        Case.start(place / "case", CaseSettings(seeds=("John Quincy Adams",)), finder) as case,
    ):
        assert list(case.steps())[-1].what == "stop"
        yield case.store.tree()


def test_a_mother_told_in_two_ways_on_one_page_is_one_person(adamses: Tree) -> None:
    """'Parents' in the box and 'son of A and B' in the text are the same two people."""
    names = [person.name for person in adamses.persons.values()]
    assert names.count("Susanna Boylston") <= 1
    assert names.count("Abigail Adams") == 1


def test_a_person_goes_by_the_name_of_their_own_page(adamses: Tree) -> None:
    """'Henry Brooks' of a list of children is 'Henry Adams' once his page was read."""
    names = {person.name for person in adamses.persons.values()}
    assert not names & {"Henry Brooks", "Peter Chardon Brooks"}


def test_a_name_is_no_qualifier(adamses: Tree) -> None:
    """'Frances Foster, Isaac Hull': nobody is a foster child here."""
    assert "foster" not in {tie.qualifier for tie in adamses.relationships}


def test_an_encyclopedia_gives_secondary_information(adamses: Tree) -> None:
    """Evidence says what kind of information its source gives (R326)."""
    assert {one.information for fact in adamses.facts for one in fact.evidence} == {"secondary"}
