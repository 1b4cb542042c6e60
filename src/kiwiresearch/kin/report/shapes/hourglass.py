"""A person between their ancestors, above, and their descendants, below.

Below a person each union has a column of its own: the partner, then the children of these two. Children without
children of their own that are drawn stand below each other, so that large couples stay narrow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kiwiresearch.kin.report.shapes.ancestors import (
    MAX_ANCESTORS,
    AncestorNode,
    arrange_ancestors,
    collect_ancestors,
)
from kiwiresearch.kin.report.shapes.couples import Couples, is_doubtful_tie, union_phrase
from kiwiresearch.kin.report.shapes.descendants import (
    INDENT,
    MAX_DESCENDANTS,
    DescendantNode,
    Parts,
    UnionNode,
    arrange_couples,
    collect_descendants,
    couple_parts,
)
from kiwiresearch.kin.report.shapes.layout import (
    BOX_HEIGHT,
    BOX_WIDTH,
    GUTTER,
    MORE_HEIGHT,
    MORE_WIDTH,
    Label,
    Layout,
    Point,
    Tie,
    fitted,
    more_label,
)
from kiwiresearch.kin.tree import PersonId

APART = 18.0
"""Space between people beside each other."""
PARTNER_GAP = 30.0
"""Space between a person and the partners below, for their lines and the years."""
BEND = 8.0
"""How far below a person the lines to several partners part."""
ROW = BOX_HEIGHT + GUTTER


def hourglass_layout(
    couples: Couples, root: PersonId, generations: int = 0, most: int = MAX_ANCESTORS + MAX_DESCENDANTS
) -> Layout:
    """At most half of the boxes are ancestors."""
    above = collect_ancestors(couples, root, generations, max(most // 2, 1))
    below = collect_descendants(couples, root, generations, max(most - len(above) + 1, 1))
    return _layout(above, below)


def close_family_layout(couples: Couples, person: PersonId) -> Layout:
    """Parents, partners and children alone; those of the children are on their own pages."""
    return _layout(
        collect_ancestors(couples, person, 1, MAX_ANCESTORS),
        collect_descendants(couples, person, 1, MAX_DESCENDANTS, has_last_partners=False),
    )


def _layout(above: list[AncestorNode], below: list[DescendantNode]) -> Layout:
    arrange_ancestors(above, BOX_WIDTH + APART)
    _arrange_below(below)
    across = below[0].x + BOX_WIDTH / 2
    for node in above:
        node.middle += across
    parts = [*map(_below_parts, below), *map(_above_parts, above)]
    left_out = sum(node.left_out for node in above)
    left_out += sum(union.left_out for node in below for union in node.unions)
    return fitted(
        [box for boxes, _, _ in parts for box in boxes],
        [tie for _, ties, _ in parts for tie in ties],
        [label for _, _, labels in parts for label in labels],
        left_out,
    )


def _above_parts(node: AncestorNode) -> Parts:
    """An ancestor with the lines to the parents; the person at the bottom is drawn with the descendants."""
    top = -ROW * node.depth
    boxes = [node.box(node.middle - BOX_WIDTH / 2, top)] if node.depth else []
    bend = top - GUTTER / 2
    ties = [
        Tie(
            ((node.middle, top), (node.middle, bend), (parent.middle, bend), (parent.middle, top - GUTTER)),
            is_doubtful_tie(parent.tie),
        )
        for parent in node.parents
    ]
    labels = (
        [more_label(node.middle - MORE_WIDTH / 2, top - MORE_HEIGHT / 2, node.person, node.left_out)]
        if node.left_out
        else []
    )
    return boxes, ties, labels


def _arrange_below(nodes: Sequence[DescendantNode]) -> None:
    """Widths from the youngest up, then places from the eldest down."""
    for node in reversed(nodes):
        node.width = _width(node)
    tops = _tops(nodes)
    _place_child(nodes[0], 0.0, 0.0)
    for node in nodes:
        if node.has_children:
            _place_unions(node, tops)


def _tops(nodes: Sequence[DescendantNode]) -> list[float]:
    """Where each generation begins: lower if some couple of the one before has its partner below the person."""
    depth = max(node.depth for node in nodes)
    has_partners = [False] * (depth + 1)
    for node in nodes:
        has_partners[node.depth] |= node.has_children and any(union.partner for union in node.unions)
    tops = [0.0]
    for below in has_partners:
        tops.append(tops[-1] + ROW + (PARTNER_GAP + BOX_HEIGHT if below else 0.0))
    return tops


def _is_stack(union: UnionNode) -> bool:
    """Whether the children stand below each other."""
    return len(union.children) > 1 and not any(child.has_children for child in union.children)


def _width(node: DescendantNode) -> float:
    if not node.has_children:
        partners = INDENT if node.unions else 0.0
        return BOX_WIDTH + partners + (MORE_WIDTH if any(union.left_out for union in node.unions) else 0.0)
    for union in node.unions:
        union.width = max(_children_width(union), BOX_WIDTH if union.partner else MORE_WIDTH)
    return max(BOX_WIDTH, sum(union.width for union in node.unions) + APART * (len(node.unions) - 1))


def _children_width(union: UnionNode) -> float:
    widths = [child.width for child in union.children]
    if _is_stack(union):
        return INDENT + max(widths)
    if len(widths) == 1 and not union.children[0].has_children:
        return 2 * widths[0] - BOX_WIDTH  # so that the child's own box is below its parents
    more = MORE_WIDTH if union.left_out and union.children else 0.0
    return sum(widths) + APART * (len(widths) - 1) + more if widths else 0.0


def _place_unions(node: DescendantNode, tops: Sequence[float]) -> None:
    """Place the partners of a person whose own box is placed, and the children; a node's `x` is that of its box."""
    used = sum(union.width for union in node.unions) + APART * (len(node.unions) - 1)
    left = node.x + BOX_WIDTH / 2 - used / 2
    for union in node.unions:
        union.x = left + union.width / 2
        union.y = node.y + BOX_HEIGHT + (PARTNER_GAP if union.partner else BEND)
        top = tops[node.depth + 1]
        at = left + (union.width - _children_width(union)) / 2
        if _is_stack(union):
            _place_stack(union, at + INDENT, top)
        else:
            if len(union.children) == 1 and not union.children[0].has_children:
                at = union.x - BOX_WIDTH / 2
            for child in union.children:
                _place_child(child, at, top)
                at += child.width + APART
        left += union.width + APART


def _place_child(child: DescendantNode, left: float, top: float) -> None:
    if child.has_children:
        child.x, child.y = left + (child.width - BOX_WIDTH) / 2, top
    else:
        arrange_couples([child], left, top)


def _place_stack(union: UnionNode, left: float, top: float) -> None:
    for child in union.children:
        arrange_couples([child], left, top)
        top += child.height


def _below_parts(node: DescendantNode) -> Parts:
    """A person with the partners, the lines to them and to the children, and the labels."""
    if not node.has_children:
        return couple_parts(node)
    boxes, ties, labels = [node.box()], list(_partner_ties(node)), list[Label]()
    for union in node.unions:
        if union.partner:
            boxes.append(union.box(union.x - BOX_WIDTH / 2, union.y))
            if began := union_phrase(union.tie):
                labels.append(Label(union.x - BOX_WIDTH / 2 + 8, union.y - 5, began, "couple"))
        ties += _child_ties(union)
        labels += _more(node, union)
    return boxes, ties, labels


def _foot(union: UnionNode) -> float:
    """Where the line to the children begins."""
    return union.y + (BOX_HEIGHT if union.partner else 0.0)


def _partner_ties(node: DescendantNode) -> Iterator[Tie]:
    """Lines from a person down to each partner or, where the other parent is unknown, on towards the children."""
    middle, bottom = node.x + BOX_WIDTH / 2, node.y + BOX_HEIGHT
    for union in node.unions:
        yield Tie(((middle, bottom), (middle, bottom + BEND), (union.x, bottom + BEND), (union.x, union.y)))


def _child_ties(union: UnionNode) -> Iterator[Tie]:
    is_stack, foot = _is_stack(union), _foot(union)
    for child in union.children:
        bend = union.children[0].y - GUTTER / 2
        middle = child.x + BOX_WIDTH / 2
        if is_stack:
            rail, side = child.x - INDENT, child.y + BOX_HEIGHT / 2
            points: tuple[Point, ...] = ((union.x, foot), (union.x, bend), (rail, bend), (rail, side), (child.x, side))
        else:
            points = ((union.x, foot), (union.x, bend), (middle, bend), (middle, child.y))
        yield Tie(points, is_doubtful_tie(child.tie))


def _more(node: DescendantNode, union: UnionNode) -> Iterator[Label]:
    if not union.left_out:
        return
    last = union.children[-1] if union.children else None
    if last is None:
        yield more_label(union.x - MORE_WIDTH / 2, _foot(union) + MORE_HEIGHT / 2 + 2, node.person, union.left_out)
    elif _is_stack(union):
        yield more_label(last.x, last.y + last.height + MORE_HEIGHT / 2, node.person, union.left_out)
    else:
        right = max(last.x + BOX_WIDTH, last.x + BOX_WIDTH / 2 + last.width / 2)
        yield more_label(right, last.y + BOX_HEIGHT / 2, node.person, union.left_out)
