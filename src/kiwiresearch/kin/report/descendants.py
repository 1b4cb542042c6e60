"""The descendants of a person as a picture: couples below each other, their children to the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
from kiwiresearch.kin.report.labels import display_name, year_phrase
from kiwiresearch.kin.report.pedigree import elbow, is_doubtful_tie, parent_ties, tie_note
from kiwiresearch.kin.timeline import birth_of, children_by_birth
from kiwiresearch.kin.tree import DISCARDED, PersonId, Relationship, Tree
from kiwiresearch.messages import Message
from kiwiresearch.text import count_of
from kiwiresearch.text.dates import ENDLESS

MAX_BOXES = 160
COUPLE_GAP = 22.0
"""Space between a couple, for the year of the marriage."""
INDENT = 14.0
COLUMN = BOX_WIDTH + INDENT + GUTTER
Couples = Mapping[frozenset[PersonId], Relationship]


@dataclass(slots=True)
class Union:
    """A person's partner, or None if unknown, and their children."""

    partner: PersonId
    tie: Relationship | None
    is_repeat: bool = False
    children: list[DescendantNode] = field(default_factory=list)
    elsewhere: int = 0
    left_out: int = 0
    y: float = 0.0
    """Where the partner's box begins; without a partner, the person's."""


@dataclass(slots=True)
class DescendantNode:
    """A descendant being placed."""

    person: PersonId
    depth: int
    tie: Relationship | None = None
    unions: list[Union] = field(default_factory=list)
    height: float = 0.0
    y: float = 0.0


def descendants(
    tree: Tree, root: PersonId, anchors: Mapping[PersonId, str], *, generations: int = 0, name: str = "descendants"
) -> str:
    """The picture; empty if neither a partner nor a child is known."""
    layout = descendants_layout(tree, root, generations=generations)
    if len(layout.boxes) < 2:
        return ""
    people = len({box.person for box in layout.boxes}) - 1
    counted = count_of(people, "descendant or partner", "descendants and their partners")
    description = f"{display_name(tree, root)} with {counted}, "
    description += "from left to right. Partners are below each other, with their children to the right."
    if layout.left_out:
        description += f" {count_of(layout.left_out, 'known person', 'known people')} did not fit."
    return picture(layout, tree, anchors, name, f"Descendants of {display_name(tree, root)}", description)


def descendants_layout(tree: Tree, root: PersonId, *, generations: int = 0, most: int = MAX_BOXES) -> Layout:
    """The layout of the descendants; a person who descends in two ways is drawn once."""
    nodes = _collect_nodes(tree, root, generations, most)
    for node in reversed(nodes):
        node.height = _arrange(node, 0.0)
    nodes[0].y = TOP
    for node in nodes:
        _arrange(node, node.y)
    depth = max(node.depth for node in nodes)
    boxes = [box for node in nodes for box in _boxes(node)]
    ties = [tie for node in nodes for tie in _ties(node)]
    labels = [Label(_x(n), TOP - 14, _generation(n), "head") for n in range(1, depth + 1)]
    labels += [label for node in nodes for label in _labels(node)]
    left_out = sum(union.left_out for node in nodes for union in node.unions)
    width = _x(depth) + BOX_WIDTH + INDENT + GUTTER
    return Layout(tuple(boxes), tuple(ties), tuple(labels), width, TOP + nodes[0].height + EDGE, left_out)


def _collect_nodes(tree: Tree, root: PersonId, generations: int, most: int) -> list[DescendantNode]:
    """The people to draw, by generation, so that distant ones are left out if there is not enough space."""
    ties, couples = parent_ties(tree), couple_ties(tree)
    nodes = [DescendantNode(root, 0)]
    placed, count = {root}, 1
    for node in nodes:
        for union in _unions(tree, node.person, couples):
            known = children_of_couple(tree, node.person, union.partner)
            children = [item for item in known if item not in placed]
            union.elsewhere = len(known) - len(children)
            if generations and node.depth >= generations:
                union.left_out, children = len(children), []
            if count + len(children) + bool(union.partner) > most:
                union.left_out += len(children) + bool(union.partner)
                union.partner, children = "", []
            placed.update(children)
            count += len(children) + bool(union.partner)
            union.children = [
                DescendantNode(child, node.depth + 1, ties.get((node.person, child))) for child in children
            ]
            nodes.extend(union.children)
            node.unions.append(union)
    _mark_repeats(nodes, placed)
    return nodes


def _mark_repeats(nodes: Sequence[DescendantNode], placed: set[PersonId]) -> None:
    """Mark partners who are drawn elsewhere too: they descend from the same person, or married in twice."""
    met: set[PersonId] = set()
    for union in (union for node in nodes for union in node.unions if union.partner):
        union.is_repeat = union.partner in placed or union.partner in met
        met.add(union.partner)


def _unions(tree: Tree, person: PersonId, ties: Couples) -> list[Union]:
    """Children without a known other parent first, then partners in order of time."""
    alone = [Union("", None)] if children_of_couple(tree, person, "") else []
    order = partners_in_order(tree, person, ties)
    return alone + [Union(item, ties.get(frozenset((person, item)))) for item in order]


def couple_ties(tree: Tree) -> dict[frozenset[PersonId], Relationship]:
    """The tie of each couple; of several, one with a start date."""
    found: dict[frozenset[PersonId], Relationship] = {}
    for tie in tree.relationships:
        pair = frozenset((tie.first, tie.second))
        is_held = tie.kind in ("spouse_of", "partner_of") and tie.status not in DISCARDED
        if is_held and (pair not in found or (tie.start and not found[pair].start)):
            found[pair] = tie
    return found


def partners_in_order(tree: Tree, person: PersonId, ties: Couples) -> list[PersonId]:
    """Spouses and other parents of a person's children, in order of time, or in the order of the source."""
    parents = (other for child in tree.children(person) for other in tree.parents(child))
    found = dict.fromkeys(item for item in (*tree.spouses(person), *parents) if item in tree.persons and item != person)
    return sorted(
        found, key=lambda item: (_start_of_union(tree, person, item, ties), tree.evidence_position(person, item), item)
    )


def _start_of_union(tree: Tree, person: PersonId, partner: PersonId, ties: Couples) -> int:
    """When a union began: the wedding, or else the birth of the first child."""
    tie = ties.get(frozenset((person, partner)))
    if tie and tie.start:
        return tie.start.earliest
    births = (birth_of(tree, child) for child in children_of_couple(tree, person, partner))
    return min((when.earliest for when in births if when), default=ENDLESS)


def children_of_couple(tree: Tree, person: PersonId, partner: PersonId) -> list[PersonId]:
    """The children of two people, or of one person whose other parent is unknown, the eldest first."""
    found = []
    for child in tree.children(person):
        others = [parent for parent in tree.parents(child) if parent != person and parent in tree.persons]
        if child in tree.persons and child != person and (others[:1] == [partner] or not (others or partner)):
            found.append(child)
    return children_by_birth(tree, person, found)


def _arrange(node: DescendantNode, y: float) -> float:
    """Place partners and children below a height; returns the space used."""
    own, beside = y + BOX_HEIGHT, y
    for number_of_union, union in enumerate(node.unions):
        if union.partner:
            first = number_of_union == 0
            union.y = own + COUPLE_GAP if first else max(own + COUPLE_GAP, beside)
            beside = beside if first else union.y
            own = union.y + BOX_HEIGHT
        else:
            union.y = y
        for child in union.children:
            child.y = beside
            beside += child.height
    return max(own + GAP, beside) - y


def _x(depth: int) -> float:
    return EDGE + depth * COLUMN


def _boxes(node: DescendantNode) -> list[Box]:
    x = _x(node.depth)
    found = [Box(node.person, x, node.y, tuple(filter(None, [tie_note(node.tie)])), is_root=node.depth == 0)]
    for union in node.unions:
        if union.partner:
            notes = ("again",) if union.is_repeat else ()
            found.append(Box(union.partner, x + INDENT, union.y, notes, union.is_repeat))
    return found


def _ties(node: DescendantNode) -> list[Tie]:
    x = _x(node.depth)
    found = []
    partners = [union for union in node.unions if union.partner]
    if partners:
        down = f"M{number(x + INDENT / 2)} {number(node.y + BOX_HEIGHT)}V{number(partners[-1].y + BOX_HEIGHT / 2)}"
        found.append(Tie(down))
        across = (f"{number(union.y + BOX_HEIGHT / 2)}H{number(x + INDENT)}" for union in partners)
        found += [Tie(f"M{number(x + INDENT / 2)} {end}") for end in across]
    for union in node.unions:
        start = x + BOX_WIDTH + (INDENT if union.partner else 0)
        for child in union.children:
            line = elbow_at(start, union.y + BOX_HEIGHT / 2, _x(child.depth), child.y + BOX_HEIGHT / 2)
            found.append(Tie(line, is_doubtful_tie(child.tie)))
    return found


def elbow_at(x1: float, y1: float, x2: float, y2: float) -> str:
    """A path with right angles; all lines into a column bend at the same x, wherever they start."""
    bend = number(x2 - GUTTER / 2)
    return f"M{number(x1)} {number(y1)}H{bend}V{number(y2)}H{number(x2)}" if y1 != y2 else elbow(x1, y1, x2, y2)


def _labels(node: DescendantNode) -> list[Label]:
    x = _x(node.depth)
    found = []
    hidden: dict[float, list[Union]] = {}
    for union in node.unions:
        if union.partner and (began := union_phrase(union.tie)):
            found.append(Label(x + INDENT + 8, union.y - 5, began, "couple"))
        if (union.left_out or union.elsewhere) and not union.children:
            hidden.setdefault(union.y, []).append(union)
    for y, unions in hidden.items():
        left_out, elsewhere = (sum(counts) for counts in zip(*((u.left_out, u.elsewhere) for u in unions), strict=True))
        notes = [f"{count_of(left_out, 'person', 'people')} not shown"] if left_out else []
        notes += [f"{count_of(elsewhere, 'child', 'children')} shown elsewhere"] if elsewhere else []
        edge, count = x + BOX_WIDTH + (INDENT if unions[0].partner else 0), left_out + elsewhere
        found.append(Label(edge + 5, y + BOX_HEIGHT / 2 + 4, f"+{count}", "more", ", ".join(notes), count))
    return found


def union_phrase(tie: Relationship | None) -> Message:
    """When a couple came together: 'm. 1800' for a marriage, 'from 1800' for partners; empty if unknown."""
    if tie is None or not tie.start:
        return Message("")
    year = year_phrase(tie.start)
    if tie.kind == "spouse_of":
        return Message(f"m. {year}", "couple.married", year=year)
    return Message(f"from {year}", "couple.partners", year=year)


def _generation(depth: int) -> str:
    words = ("", "Children", "Grandchildren", "Great-grandchildren")
    return words[depth] if depth < len(words) else f"{depth - 2} × great-grandchildren"
