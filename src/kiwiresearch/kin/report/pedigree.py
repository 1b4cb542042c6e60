"""The ancestors of a person as a picture: one column per generation, fathers above mothers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kiwiresearch.kin.report.drawing import (
    BOX_HEIGHT,
    BOX_WIDTH,
    EDGE,
    GAP,
    GUTTER,
    TOP,
    Box,
    Label,
    Layout,
    Tie,
    number,
    picture,
)
from kiwiresearch.kin.report.labels import display_name
from kiwiresearch.kin.tree import BY_BLOOD, DISCARDED, UNSETTLED, PersonId, Relationship, Tree
from kiwiresearch.text import count_of

MAX_BOXES = 127
"""Seven complete generations; people further away are counted, not drawn."""


class Reach(NamedTuple):
    """The vertical extent of a generation."""

    top: float
    bottom: float


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
    """How far the person and each earlier generation extend up and down, from the person's middle."""
    offset: float = 0.0
    """The distance below the middle of the child."""
    middle: float = 0.0


def pedigree(
    tree: Tree, root: PersonId, anchors: Mapping[PersonId, str], *, generations: int = 0, name: str = "pedigree"
) -> str:
    """The picture; empty if no parent is known. `generations` limits the ancestors that are drawn."""
    if not parents_in_order(tree, root):
        return ""
    layout = pedigree_layout(tree, root, generations=generations)
    people = len({box.person for box in layout.boxes})
    depth = round((max(box.x for box in layout.boxes) - EDGE) / (BOX_WIDTH + GUTTER))
    description = (
        f"{count_of(people - 1, 'ancestor')} of {display_name(tree, root)} in {count_of(depth, 'generation')}, "
    )
    description += "from left to right, fathers above mothers. A dashed line is uncertain or not biological. "
    description += "A dashed box is a person who also appears elsewhere."
    if layout.left_out:
        description += f" {count_of(layout.left_out, 'known parent')} did not fit."
    return picture(layout, tree, anchors, name, f"Ancestors of {display_name(tree, root)}", description)


def parents_in_order(tree: Tree, person: PersonId) -> tuple[PersonId, ...]:
    """Fathers, then mothers, then parents of unknown sex."""
    sexes = {"male": 0, "female": 1, "": 2}
    found = [parent for parent in tree.parents(person) if parent in tree.persons and parent != person]
    return tuple(sorted(found, key=lambda item: sexes[tree.persons[item].sex]))


def parent_ties(tree: Tree) -> dict[tuple[PersonId, PersonId], Relationship]:
    """The tie of each parent and child."""
    held = (tie for tie in tree.relationships if tie.kind == "parent_of" and tie.status not in DISCARDED)
    return {(tie.first, tie.second): tie for tie in held}


def is_doubtful_tie(tie: Relationship | None) -> bool:
    return tie is not None and (tie.qualifier not in BY_BLOOD or tie.status in UNSETTLED)


def tie_note(tie: Relationship | None) -> str:
    """The label on how the person of a box is connected."""
    if tie is None:
        return ""
    return tie.qualifier if tie.qualifier not in BY_BLOOD else "doubtful" if tie.status in UNSETTLED else ""


def pedigree_layout(tree: Tree, root: PersonId, *, generations: int = 0, most: int = MAX_BOXES) -> Layout:
    """The layout of the ancestors; a repeated ancestor is drawn again, but without their own ancestors."""
    nodes = _collect_nodes(tree, root, generations, most)
    for node in reversed(nodes):
        _stack_parents(node)
    nodes[0].middle = TOP - min(reach.top for reach in nodes[0].reaches)
    bottom = nodes[0].middle + max(reach.bottom for reach in nodes[0].reaches)
    for node in nodes:
        for ancestor_node in node.parents:
            ancestor_node.middle = node.middle + ancestor_node.offset
    depth = max(node.depth for node in nodes)
    boxes = tuple(_box(node) for node in nodes)
    ties = tuple(_tie(node, ancestor_node) for node in nodes for ancestor_node in node.parents)
    heads = tuple(Label(_x(n), TOP - 14, _generation(n), "head") for n in range(1, depth + 1))
    more = tuple(_more(node) for node in nodes if node.left_out)
    width = _x(depth) + BOX_WIDTH + (GUTTER if more else EDGE)
    return Layout(boxes, ties, heads + more, width, bottom + EDGE, sum(node.left_out for node in nodes))


def _collect_nodes(tree: Tree, root: PersonId, generations: int, most: int) -> list[AncestorNode]:
    """The people to draw, by generation, so that distant ones are left out if there is not enough space."""
    ties = parent_ties(tree)
    nodes = [AncestorNode(root, 0)]
    drawn = {root}
    for node in nodes:
        parents = () if node.is_repeat else parents_in_order(tree, node.person)
        is_last = bool(generations) and node.depth >= generations
        if is_last or len(nodes) + len(parents) > most:
            node.left_out = len(parents)  # A known parent who is not drawn is still counted.
            continue
        for parent in parents:
            parent_node = AncestorNode(
                parent, node.depth + 1, ties.get((parent, node.person)), is_repeat=parent in drawn
            )
            drawn.add(parent)
            node.parents.append(parent_node)
            nodes.append(parent_node)
    return nodes


def _stack_parents(node: AncestorNode) -> None:
    """Place parents one below the other, as close as the earlier generations allow."""
    half = (BOX_HEIGHT + GAP) / 2
    taken: list[Reach] = []
    places: list[float] = []
    for ancestor_node in node.parents:
        place = max(
            (above.bottom - own.top for above, own in zip(taken, ancestor_node.reaches, strict=False)), default=0.0
        )
        places.append(place)
        moved = [Reach(place + reach.top, place + reach.bottom) for reach in ancestor_node.reaches]
        both = [Reach(above.top, own.bottom) for above, own in zip(taken, moved, strict=False)]
        taken = both + taken[len(both) :] + moved[len(both) :]
    middle = (places[0] + places[-1]) / 2 if places else 0.0
    for ancestor_node, place in zip(node.parents, places, strict=True):
        ancestor_node.offset = place - middle
    node.reaches = [Reach(-half, half), *(Reach(reach.top - middle, reach.bottom - middle) for reach in taken)]


def _x(depth: int) -> float:
    return EDGE + depth * (BOX_WIDTH + GUTTER)


def _box(node: AncestorNode) -> Box:
    notes = tuple(filter(None, (tie_note(node.tie), "again" if node.is_repeat else "")))
    return Box(node.person, _x(node.depth), node.middle - BOX_HEIGHT / 2, notes, node.is_repeat, node.depth == 0)


def _tie(node: AncestorNode, parent: AncestorNode) -> Tie:
    start, end = _x(node.depth) + BOX_WIDTH, _x(parent.depth)
    return Tie(elbow(start, node.middle, end, parent.middle), is_doubtful_tie(parent.tie))


def elbow(x1: float, y1: float, x2: float, y2: float) -> str:
    """A line across a gutter, with its corners in the middle."""
    bend = number((x1 + x2) / 2)
    return f"M{number(x1)} {number(y1)}H{bend}V{number(y2)}H{number(x2)}"


def _more(node: AncestorNode) -> Label:
    tooltip = f"{count_of(node.left_out, 'known parent')} not shown"
    return Label(_x(node.depth) + BOX_WIDTH + 4, node.middle + 4, f"+{node.left_out}", "more", tooltip, node.left_out)


def _generation(depth: int) -> str:
    words: Sequence[str] = ("", "Parents", "Grandparents", "Great-grandparents")
    return words[depth] if depth < len(words) else f"{depth - 2} × great-grandparents"
