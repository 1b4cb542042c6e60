"""Ancestors, descendants, generations and the shortest path between two people."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.tree import PersonId, Tree

Parent = Literal["father", "mother"]
AncestorLine = tuple[Parent, ...]
"""The way up from a person: ('father', 'mother') is the father's mother."""

SIDES: dict[str, Parent] = {"paternal": "father", "maternal": "mother", "father": "father", "mother": "mother"}
# 'Paternal grandfather: ', and below "Father's mother: " and 'Mother: '.
SIDE_LABEL = re.compile(r"(?P<side>paternal|maternal) grand(?P<last>father|mother)\s*:\s*", re.IGNORECASE)
STEPS_LABEL = re.compile(r"(?P<steps>(?:(?:father|mother)['’]s )*)(?P<last>father|mother)\s*:\s*", re.IGNORECASE)
"""A 'paternal great-grandfather' may be either of two people, so such labels are not read."""


class AncestorLabel(NamedTuple):
    """A label at the start of a text: whom it means, and where the name begins."""

    line: AncestorLine
    end: int


def parse_ancestor_label(text: str) -> AncestorLabel | None:
    """The label at the start of a cell; None if there is none, or if the line of descent is ambiguous."""
    sided = SIDE_LABEL.match(text)
    if sided:
        return AncestorLabel((SIDES[sided["side"].lower()], _parent(sided["last"])), sided.end())
    steps = STEPS_LABEL.match(text)
    if steps is None:
        return None
    ways = [_parent(word) for word in re.findall(r"father|mother", steps["steps"], re.IGNORECASE)]
    return AncestorLabel((*ways, _parent(steps["last"])), steps.end())


def _parent(word: str) -> Parent:
    return "father" if word.lower() == "father" else "mother"


StepKind = Literal["", "parent", "child", "spouse", "sibling"]


@dataclass(frozen=True, slots=True)
class Step:
    """A person on a path, and what they are to the previous one."""

    person: PersonId
    kind: StepKind


class Predecessor(NamedTuple):
    """The predecessor on the path, and the relation to it; the first person is their own predecessor."""

    before: PersonId
    kind: StepKind


Predecessors = Mapping[PersonId, Predecessor]


def require_person(tree: Tree, *people: PersonId) -> None:
    """Raise if people are not in the tree."""
    for person in people:
        if person not in tree.persons:
            raise BadUsage(f"This tree has no person with the ID {person!r}.", remedy="Check the ID.")


def ancestors(tree: Tree, person: PersonId) -> Mapping[PersonId, int]:
    """All ancestors of a person, with the smallest number of generations up."""
    return generations_away(person, tree.parents)


def generations_away(person: PersonId, near: Callable[[PersonId], Iterable[PersonId]]) -> dict[PersonId, int]:
    """Everybody reachable, nearest first; a person who is their own ancestor is visited once, and not counted."""
    found = {person: 0}
    waiting = deque([person])
    while waiting:
        current = waiting.popleft()
        for other in near(current):
            if other not in found:
                found[other] = found[current] + 1
                waiting.append(other)
    del found[person]
    return found


def _neighbours(tree: Tree, person: PersonId) -> list[Step]:
    ties: tuple[tuple[StepKind, tuple[PersonId, ...]], ...] = (
        ("parent", tree.parents(person)),
        ("child", tree.children(person)),
        ("spouse", tree.spouses(person)),
        ("sibling", tree.siblings(person)),
    )
    return [Step(other, kind) for kind, others in ties for other in sorted(others)]


def predecessors_from(tree: Tree, first: PersonId) -> Predecessors:
    """The shortest paths from one person to everybody connected to them.

    Siblings who share a parent are reached through the parent.
    """
    # Breadth-first, so the first way to a person is a shortest one.
    predecessors: dict[PersonId, Predecessor] = {first: Predecessor(first, "")}
    waiting = deque([first])
    while waiting:
        current = waiting.popleft()
        for step in _neighbours(tree, current):
            if step.person in predecessors or (step.kind == "sibling" and _share_parent(tree, current, step.person)):
                continue
            predecessors[step.person] = Predecessor(current, step.kind)
            waiting.append(step.person)
    return predecessors


def path_to(predecessors: Predecessors, second: PersonId) -> tuple[Step, ...]:
    """The path to a person from the start; empty if they were not reached."""
    if second not in predecessors:
        return ()
    steps = [Step(second, predecessors[second].kind)]
    # Only the first person of a path has no relation to somebody before.
    while steps[-1].kind:
        before = predecessors[steps[-1].person].before
        steps.append(Step(before, predecessors[before].kind))
    return tuple(reversed(steps))


def _share_parent(tree: Tree, one: PersonId, other: PersonId) -> bool:
    return not set(tree.parents(one)).isdisjoint(tree.parents(other))


def common_ancestors(tree: Tree, first: PersonId, second: PersonId) -> tuple[PersonId, ...]:
    """The nearest common ancestors, which may be one of the two; nobody above another in the result is included."""
    require_person(tree, first, second)
    ups, others = ({item: 0, **ancestors(tree, item)} for item in (first, second))
    shared = sorted((ups[person] + others[person], person) for person in ups.keys() & others.keys())
    found: list[PersonId] = []
    covered: set[PersonId] = set()
    for _, ancestor in shared:
        if ancestor not in covered:
            found.append(ancestor)
            covered |= ancestors(tree, ancestor).keys()
    return tuple(found)
