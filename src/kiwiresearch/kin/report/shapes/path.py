"""How two people are related, person by person: up to the common ancestors, and down again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kiwiresearch.kin.lineage import Step
from kiwiresearch.kin.report.shapes.couples import Couples, is_doubtful_tie, union_phrase
from kiwiresearch.kin.report.shapes.layout import (
    BOX_HEIGHT,
    BOX_WIDTH,
    GUTTER,
    Box,
    Label,
    Layout,
    Tie,
    fitted,
)
from kiwiresearch.kin.tree import PersonId

COLUMN, ROW = BOX_WIDTH + GUTTER, BOX_HEIGHT + GUTTER


@dataclass(frozen=True, slots=True)
class Place:
    """A person of the path, and what they are to the one before."""

    person: PersonId
    kind: str
    column: int
    row: int

    @property
    def x(self) -> float:
        return self.column * COLUMN

    @property
    def y(self) -> float:
        return self.row * ROW

    @property
    def middle(self) -> float:
        return self.x + BOX_WIDTH / 2


def path_layout(couples: Couples, steps: Sequence[Step]) -> Layout | None:
    """Each step up or down is a row; a new column begins where the way turns, and at each marriage.

    None for people who are not connected.
    """
    if len(steps) < 2:
        return None
    places = _places(steps)
    ends = (0, len(places) - 1)
    boxes = [Box(place.person, place.x, place.y, is_root=at in ends) for at, place in enumerate(places)]
    ties, labels = list[Tie](), list[Label]()
    apexes = dict(_other_parents(couples, places))
    for at, (one, other) in enumerate(pairwise(places)):
        if other.kind == "spouse":
            ties.append(_couple_tie(one, other.x))
            labels += _when(couples, one, other.person, other.x)
        elif other.kind == "sibling":
            ties.append(_sibling_tie(one, other))
        else:
            top = at + 1 if other.kind == "parent" else at
            ties.append(_line(couples, one, other, is_shared=top in apexes))
    for at, person in apexes.items():
        apex = places[at]
        boxes.append(Box(person, apex.x + COLUMN, apex.y))
        ties.append(_couple_tie(apex, apex.x + COLUMN))
        labels += _when(couples, apex, person, apex.x + COLUMN)
    return fitted(boxes, ties, labels, 0)


def _places(steps: Sequence[Step]) -> list[Place]:
    column = row = 0
    found: list[Place] = []
    before = ""
    for step in steps:
        turns = {before, step.kind} == {"parent", "child"}
        column += turns or step.kind in ("spouse", "sibling")
        row += {"parent": -1, "child": 1}.get(step.kind, 0)
        found.append(Place(step.person, step.kind, column, row))
        before = step.kind
    return found


def _other_parents(couples: Couples, places: Sequence[Place]) -> Iterator[tuple[int, PersonId]]:
    """Where the way turns downwards: the other parent, if both children have the same one."""
    for at in range(1, len(places) - 1):
        before, top, after = places[at - 1 : at + 2]
        if (top.kind, after.kind) == ("parent", "child"):
            # The other parent of both, who is drawn beside the one on the path.
            shared = [
                parent
                for parent in couples.parents(before.person)
                if parent in couples.parents(after.person) and parent != top.person
            ]
            if shared:
                yield at, shared[0]


def _line(couples: Couples, one: Place, other: Place, *, is_shared: bool) -> Tie:
    """From a parent down to a child; from between the parents, if both of them are drawn."""
    parent, child = (other, one) if other.kind == "parent" else (one, other)
    bend = child.y - GUTTER / 2
    middle = parent.x + BOX_WIDTH + GUTTER / 2 if is_shared else parent.middle
    top = parent.y + (BOX_HEIGHT / 2 if is_shared else BOX_HEIGHT)
    tie = couples.ties.get((parent.person, child.person))
    return Tie(((middle, top), (middle, bend), (child.middle, bend), (child.middle, child.y)), is_doubtful_tie(tie))


def _couple_tie(one: Place, x: float) -> Tie:
    level = one.y + BOX_HEIGHT / 2
    return Tie(((one.x + BOX_WIDTH, level), (x, level)))


def _sibling_tie(one: Place, other: Place) -> Tie:
    above = one.y - GUTTER / 3
    return Tie(((one.middle, one.y), (one.middle, above), (other.middle, above), (other.middle, other.y)))


def _when(couples: Couples, one: Place, partner: PersonId, x: float) -> Iterator[Label]:
    union = next((union for union in couples.unions(one.person) if union.partner == partner), None)
    if union and (began := union_phrase(union.tie)):
        yield Label(x - GUTTER, one.y - 5, began, "couple")
