"""The descendants of a person, collected and arranged: couples below each other, their children to the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kiwiresearch.kin.report.shapes.couples import (
    Couples,
    Union,
    is_doubtful_tie,
    notes_of,
    tie_note,
    union_phrase,
)
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

MAX_DESCENDANTS = 320
COUPLE_GAP = 22.0
"""Space between a couple, for the year of the marriage."""
INDENT = 14.0
COLUMN = BOX_WIDTH + INDENT + GUTTER


@dataclass(slots=True)
class UnionNode:
    """A union being placed; `partner` is empty if the other parent is unknown."""

    partner: PersonId
    tie: Relationship | None
    is_repeat: bool = False
    children: list[DescendantNode] = field(default_factory=list)
    left_out: int = 0
    """Children, and perhaps a partner, who are not drawn."""
    x: float = 0.0
    y: float = 0.0
    """Where the partner's box begins; without a partner, the person's."""
    width: float = 0.0

    def box(self, x: float, y: float) -> Box:
        return Box(self.partner, x, y, ("again",) if self.is_repeat else (), self.is_repeat)


@dataclass(slots=True)
class DescendantNode:
    """A descendant being placed; one who descends in two ways is drawn again, without what is below."""

    person: PersonId
    depth: int
    tie: Relationship | None = None
    is_repeat: bool = False
    unions: list[UnionNode] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0
    x: float = 0.0
    y: float = 0.0

    @property
    def has_children(self) -> bool:
        """Whether any child is drawn."""
        return any(union.children for union in self.unions)

    def box(self) -> Box:
        notes = notes_of(tie_note(self.tie), "again" if self.is_repeat else "")
        return Box(self.person, self.x, self.y, tuple(notes), self.is_repeat, self.depth == 0)


def collect_descendants(
    couples: Couples, root: PersonId, generations: int, most: int, *, has_last_partners: bool = True
) -> list[DescendantNode]:
    """The people to draw, by generation, so that distant ones are left out if there is not enough space."""
    nodes = [DescendantNode(root, 0)]
    # `nodes` grows while it is read: breadth-first, so that room is given to close generations first.
    placed, count = {root}, 1
    for node in nodes:
        is_last = bool(generations) and node.depth >= generations
        if node.is_repeat or (is_last and not has_last_partners):
            continue
        for union in couples.unions(node.person):
            drawn = _union_node(couples, node, union, placed, 0 if is_last else most - count - bool(union.partner))
            if drawn.partner and count >= most:
                drawn.partner, drawn.left_out = "", drawn.left_out + 1
            count += len(drawn.children) + bool(drawn.partner)
            nodes += drawn.children
            node.unions.append(drawn)
    _mark_repeats(nodes, placed)
    return nodes


def _union_node(couples: Couples, node: DescendantNode, union: Union, placed: set[PersonId], room: int) -> UnionNode:
    """A union with as many of its children as there is room for; the others are counted."""
    drawn = UnionNode(union.partner, union.tie)
    for child in union.children[: max(room, 0)]:
        tie = couples.ties.get((node.person, child))
        drawn.children.append(DescendantNode(child, node.depth + 1, tie, is_repeat=child in placed))
        placed.add(child)
    drawn.left_out = len(union.children) - len(drawn.children)
    return drawn


def _mark_repeats(nodes: Sequence[DescendantNode], placed: set[PersonId]) -> None:
    """Mark partners who are drawn elsewhere too: they descend from the same person, or married in twice."""
    met: set[PersonId] = set()
    for union in (union for node in nodes for union in node.unions if union.partner):
        union.is_repeat = union.partner in placed or union.partner in met
        met.add(union.partner)


def descendants_layout(couples: Couples, root: PersonId, generations: int = 0, most: int = MAX_DESCENDANTS) -> Layout:
    """One column for each generation; partners are below each other, with their children to the right."""
    nodes = collect_descendants(couples, root, generations, most)
    arrange_couples(nodes, EDGE, TOP)
    depth = max(node.depth for node in nodes)
    heads = [Label(EDGE + n * COLUMN, TOP - 14, generation_name(n, down=True), "head") for n in range(1, depth + 1)]
    parts = [couple_parts(node) for node in nodes]
    left_out = sum(union.left_out for node in nodes for union in node.unions)
    width = EDGE + depth * COLUMN + BOX_WIDTH + INDENT + MORE_WIDTH + EDGE
    return Layout(
        tuple(box for boxes, _, _ in parts for box in boxes),
        tuple(tie for _, ties, _ in parts for tie in ties),
        (*heads, *(label for _, _, labels in parts for label in labels)),
        width,
        TOP + nodes[0].height + EDGE,
        left_out,
    )


def arrange_couples(nodes: Sequence[DescendantNode], x: float, y: float) -> None:
    """Place people and all below them, with the upper left corner of the first one here."""
    for node in reversed(nodes):
        node.height = _stack(node, 0.0)
    nodes[0].y = y
    for node in nodes:
        node.x = x + (node.depth - nodes[0].depth) * COLUMN
        _stack(node, node.y)


def _stack(node: DescendantNode, y: float) -> float:
    """Place partners and children below a height; returns the space used."""
    own, beside = y + BOX_HEIGHT, y
    for index, union in enumerate(node.unions):
        if union.partner:
            union.y = own + COUPLE_GAP if index == 0 else max(own + COUPLE_GAP, beside)
            beside = beside if index == 0 else union.y
            own = union.y + BOX_HEIGHT
        else:
            union.y = y
        for child in union.children:
            child.y = beside
            beside += child.height
        # The number of those who are not drawn has a place of its own below those who are.
        beside += BOX_HEIGHT / 2 + GAP if union.left_out and union.children else 0
    return max(own + GAP, beside) - y


Parts = tuple[list[Box], list[Tie], list[Label]]


def couple_parts(node: DescendantNode) -> Parts:
    """A placed person with partners, the lines to them and to the children, and the labels."""
    boxes, ties, labels = [node.box()], _partner_ties(node), []
    for union in node.unions:
        middle = union.y + BOX_HEIGHT / 2
        side = node.x + BOX_WIDTH + (INDENT if union.partner else 0)
        if union.partner:
            boxes.append(union.box(node.x + INDENT, union.y))
            if began := union_phrase(union.tie):
                labels.append(Label(node.x + INDENT + 8, union.y - 5, began, "couple"))
        ties += [_child_tie(side, middle, child) for child in union.children]
    labels += _more_labels(node)
    return boxes, ties, labels


def _partner_ties(node: DescendantNode) -> list[Tie]:
    rail = node.x + INDENT / 2
    partners = [union for union in node.unions if union.partner]
    if not partners:
        return []
    ends = [union.y + BOX_HEIGHT / 2 for union in partners]
    return [
        Tie(((rail, node.y + BOX_HEIGHT), (rail, ends[-1]))),
        *(Tie(((rail, end), (node.x + INDENT, end))) for end in ends),
    ]


def _child_tie(x: float, y: float, child: DescendantNode) -> Tie:
    """All lines into a column bend at the same place, wherever they start."""
    bend, end = child.x - GUTTER / 2, child.y + BOX_HEIGHT / 2
    return Tie(((x, y), (bend, y), (bend, end), (child.x, end)), is_doubtful_tie(child.tie))


def _more_labels(node: DescendantNode) -> list[Label]:
    """Beside a couple without drawn children, else below the last one that is drawn."""
    beside: dict[float, int] = {}
    found = []
    for union in node.unions:
        if union.left_out and union.children:
            last = union.children[-1]
            y = last.y + last.height + BOX_HEIGHT / 4
            found.append(more_label(last.x, y, node.person, union.left_out))
        elif union.left_out:
            beside[union.y] = beside.get(union.y, 0) + union.left_out
    indents = {union.y: INDENT for union in node.unions if union.partner}
    for y, left_out in beside.items():
        x = node.x + BOX_WIDTH + indents.get(y, 0.0)
        found.append(more_label(x, y + BOX_HEIGHT / 2, node.person, left_out))
    return found
