"""How a person is shown with their closest relatives."""

from __future__ import annotations

from kiwiresearch.cases.record_builder import person_record
from kiwiresearch.kin.tree import Person, Relationship, Tree

PEOPLE = ("Jo", "Sarah", "Elvera", "Max")
TIES = (
    Relationship("1", "parent_of", "Sarah", "Jo"),
    Relationship("2", "parent_of", "Elvera", "Jo", "step"),
    Relationship("3", "parent_of", "Jo", "Max", "adoptive"),
)


def test_parents_and_children_say_if_they_are_not_so_by_blood() -> None:
    """Nobody takes a stepmother for the mother."""
    tree = Tree({name: Person(id=name, name=name) for name in PEOPLE}, TIES, (), {})
    result = person_record(tree, "Jo")
    assert {row.name: row.note for row in result.parents} == {"Sarah": "", "Elvera": "step"}
    assert [(row.name, row.note) for row in result.children] == [("Max", "adoptive")]
