"""A tree as JSON that says all of it, and back."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from kiwiresearch.errors import BadUsage
from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.tree import Fact, Person, Relationship, Source, Tree

REMEDY = "Give a file that was exported as JSON."


@dataclass(frozen=True, slots=True)
class TreeDocument:
    """What stands in the file, each list in the order of its ids."""

    persons: tuple[Person, ...]
    relationships: tuple[Relationship, ...]
    facts: tuple[Fact, ...]
    sources: tuple[Source, ...]
    format: Literal["kiwiresearch-tree"]
    format_version: Literal[1]


@cache
def _adapter() -> TypeAdapter[TreeDocument]:
    return TypeAdapter(TreeDocument)


def tree_json(tree: Tree) -> str:
    """The tree as canonical JSON: equal trees give equal bytes."""
    document = TreeDocument(
        tuple(tree.persons[number] for number in sorted(tree.persons)),
        tuple(sorted(tree.relationships, key=lambda tie: tie.id)),
        tuple(sorted(tree.facts, key=lambda fact: fact.id)),
        tuple(tree.sources[number] for number in sorted(tree.sources)),
        "kiwiresearch-tree",
        1,
    )
    return canonical_json(asdict(document), indent=1) + "\n"


def tree_from_json(text: str) -> Tree:
    """The tree that `tree_json` wrote; anything else is refused."""
    try:
        document = _adapter().validate_json(text, strict=True)
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise BadUsage(f"This is no tree as JSON: {where!r}: {first['msg']}.", remedy=REMEDY) from problem
    except (UnicodeEncodeError, RecursionError) as problem:
        raise BadUsage("This is no tree as JSON: it cannot be read as text.", remedy=REMEDY) from problem
    persons = {one.id: one for one in document.persons}
    sources = {one.id: one for one in document.sources}
    return Tree(persons, document.relationships, document.facts, sources)
