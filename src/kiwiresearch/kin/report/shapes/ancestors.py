"""The ancestors of a person, collected and arranged; a pedigree has one column per generation, left to right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kiwiresearch.kin.report.shapes.couples import Couples, is_doubtful_tie, notes_of, tie_note
from kiwiresearch.kin.report.shapes.layout import (
    BOX_HEIGHT,
    BOX_WIDTH,
    EDGE,
    GAP,
    GUTTER,
    MORE_WIDTH,
    TOP,
    Box,
    Label,
    Layout,
    Tie,
    generation_name,
    more_label,
)
from kiwiresearch.kin.tree import PersonId, Relationship

MAX_ANCESTORS = 255
"""Seven complete generations; people further away are counted, not drawn."""


class Reach(NamedTuple):
    """How far a generation extends to both sides."""

    before: float
    after: float


@dataclass(slots=True)
class AncestorNode:
    """A person of the pedigree being placed."""

    person: PersonId
    depth: int
    tie: Relationship | None = None
    is_repeat: bool = False
    parents: list[AncestorNode] = field(default_factory=list)
    left_out: int = 0
    reaches: list[Reach] = field(default_factory=list)
    """How far the person and each earlier generation extend, from the person's middle."""
    offset: float = 0.0
    """The distance from the middle of the child."""
    middle: float = 0.0

    def box(self, x: float, y: float) -> Box:
        notes = notes_of(tie_note(self.tie), "again" if self.is_repeat else "")
        return Box(self.person, x, y, tuple(notes), self.is_repeat, self.depth == 0)


def collect_ancestors(couples: Couples, root: PersonId, generations: int, most: int) -> list[AncestorNode]:
    """The people to draw, by generation, so that distant ones are left out if there is not enough space.

    A repeated ancestor is drawn again, but without their own ancestors.
    """
    nodes = [AncestorNode(root, 0)]
    # `nodes` grows while it is read: generation by generation.
    drawn = {root}
    for node in nodes:
        parents = () if node.is_repeat else couples.parents(node.person)
        is_last = bool(generations) and node.depth >= generations
        if is_last or len(nodes) + len(parents) > most:
            node.left_out = len(parents)  # A known parent who is not drawn is still counted.
            continue
        for parent in parents:
            tie = couples.ties.get((parent, node.person))
            node.parents.append(AncestorNode(parent, node.depth + 1, tie, is_repeat=parent in drawn))
            drawn.add(parent)
        nodes += node.parents
    return nodes


def arrange_ancestors(nodes: Sequence[AncestorNode], room: float) -> None:
    """Place each person between their parents, who are as close as the earlier generations allow."""
    for node in reversed(nodes):
        _stack_parents(node, room)
    for node in nodes:
        for parent in node.parents:
            parent.middle = node.middle + parent.offset


def _stack_parents(node: AncestorNode, room: float) -> None:
    taken: list[Reach] = []
    places: list[float] = []
    for parent in node.parents:
        # As in the tree drawing of Reingold and Tilford: outlines are compared generation by generation, so that two
        # branches come as close as their nearest boxes allow.
        gaps = (before.after - own.before for before, own in zip(taken, parent.reaches, strict=False))
        place = max(gaps, default=0.0)
        places.append(place)
        here = [Reach(place + reach.before, place + reach.after) for reach in parent.reaches]
        both = [Reach(before.before, own.after) for before, own in zip(taken, here, strict=False)]
        taken = both + taken[len(both) :] + here[len(both) :]
    middle = (places[0] + places[-1]) / 2 if places else 0.0
    for parent, place in zip(node.parents, places, strict=True):
        parent.offset = place - middle
    beyond = (Reach(reach.before - middle, reach.after - middle) for reach in taken)
    node.reaches = [Reach(-room / 2, room / 2), *beyond]


def pedigree_layout(couples: Couples, root: PersonId, generations: int = 0, most: int = MAX_ANCESTORS) -> Layout:
    """One column for each generation, fathers above mothers."""
    nodes = collect_ancestors(couples, root, generations, most)
    arrange_ancestors(nodes, BOX_HEIGHT + GAP)
    down = TOP - min(reach.before for reach in nodes[0].reaches)
    bottom = down + max(reach.after for reach in nodes[0].reaches)
    for node in nodes:
        node.middle += down
    depth = max(node.depth for node in nodes)
    boxes = tuple(node.box(_x(node.depth), node.middle - BOX_HEIGHT / 2) for node in nodes)
    ties = tuple(_tie(node, parent) for node in nodes for parent in node.parents)
    heads = tuple(Label(_x(n), TOP - 14, generation_name(n, down=False), "head") for n in range(1, depth + 1))
    more = tuple(
        more_label(_x(node.depth) + BOX_WIDTH, node.middle, node.person, node.left_out)
        for node in nodes
        if node.left_out
    )
    width = _x(depth) + BOX_WIDTH + (MORE_WIDTH + EDGE if more else EDGE)
    return Layout(boxes, ties, heads + more, width, bottom + EDGE, sum(node.left_out for node in nodes))


def _x(depth: int) -> float:
    return EDGE + depth * (BOX_WIDTH + GUTTER)


def _tie(node: AncestorNode, parent: AncestorNode) -> Tie:
    start, end = _x(node.depth) + BOX_WIDTH, _x(parent.depth)
    bend = (start + end) / 2
    points = ((start, node.middle), (bend, node.middle), (bend, parent.middle), (end, parent.middle))
    return Tie(points, is_doubtful_tie(parent.tie))
