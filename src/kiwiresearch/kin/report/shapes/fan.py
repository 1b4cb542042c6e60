"""The ancestors of a person in arcs: fathers on the left, mothers on the right, one ring for each generation."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kiwiresearch.kin.report.shapes.couples import Couples, notes_of, tie_note
from kiwiresearch.kin.report.shapes.layout import (
    EDGE,
    MORE_HEIGHT,
    MORE_WIDTH,
    Box,
    Label,
    Layout,
    Point,
    Wedge,
    more_label,
    number,
)
from kiwiresearch.kin.tree import PersonId

MAX_RINGS = 6
"""With more, a wedge is too narrow for a line of text."""
CENTRE = 84.0
ALONG, ACROSS = 74.0, 138.0
"""The depth of a ring whose text runs along its arc, and of one whose text runs outwards."""
LAST_ALONG = 2
"""In the first rings the arcs are longer than the rings are deep."""
MARGIN = 8.0
LINE = 16.0


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in the fan: the ring, and how far around, counted from the left."""

    person: PersonId
    ring: int
    index: int
    notes: tuple[str, ...] = ()


def fan_layout(couples: Couples, root: PersonId, generations: int = 0, most: int = 2**MAX_RINGS * 2) -> Layout:
    """Both parents of everybody, as far as they are known; further parents are counted."""
    rings = min(generations or MAX_RINGS, MAX_RINGS)
    slots, left_out = _collect(couples, root, rings, most)
    corners = [corner for slot in slots for corner in _corners(slot)]
    margin = MORE_WIDTH + EDGE
    middle, bottom = margin - min(x for x, _ in corners), margin - min(y for _, y in corners)
    boxes = tuple(_box(slot, middle, bottom) for slot in slots)
    labels = tuple(_more(slot, left_out[slot.person], middle, bottom) for slot in slots if slot.person in left_out)
    width = middle + max(x for x, _ in corners) + margin
    return Layout(boxes, (), labels, width, bottom + EDGE, sum(left_out.values()))


def _corners(slot: Slot) -> list[Point]:
    """The outermost points of a wedge, from the middle of the fan."""
    outer, breadth = _radius(slot.ring + 1), math.pi / 2**slot.ring
    angles = [math.pi - (slot.index + part) * breadth for part in (0.0, 0.5, 1.0)]
    return [(outer * math.cos(angle), -outer * math.sin(angle)) for angle in angles]


def _collect(couples: Couples, root: PersonId, rings: int, most: int) -> tuple[list[Slot], dict[PersonId, int]]:
    # `slots` grows while it is read, ring by ring.
    slots, left_out, seen = [Slot(root, 0, 0)], dict[PersonId, int](), {root}
    for slot in slots:
        parents = () if "again" in slot.notes else couples.parents(slot.person)
        shown = parents[:2] if slot.ring < rings and len(slots) < most - 1 else ()
        if len(shown) < len(parents):
            left_out[slot.person] = len(parents) - len(shown)
        for parent, side in zip(shown, _sides(couples, shown), strict=True):
            note = tie_note(couples.ties.get((parent, slot.person)))
            notes = tuple(notes_of(note, "again" if parent in seen else ""))
            slots.append(Slot(parent, slot.ring + 1, slot.index * 2 + side, notes))
            seen.add(parent)
    return slots, left_out


def _sides(couples: Couples, parents: tuple[PersonId, ...]) -> tuple[int, ...]:
    """Left or right: a mother without a known father stays on the right."""
    if len(parents) == 1:
        return (int(couples.tree.persons[parents[0]].sex == "female"),)
    return (0, 1)[: len(parents)]


def _radius(ring: int) -> float:
    """Where a ring begins."""
    along = min(max(ring - 1, 0), LAST_ALONG)
    return (CENTRE if ring else 0.0) + along * ALONG + max(ring - 1 - LAST_ALONG, 0) * ACROSS


def _box(slot: Slot, middle: float, bottom: float) -> Box:
    inner, outer = _radius(slot.ring), _radius(slot.ring + 1)
    breadth = math.pi / 2**slot.ring
    # Angles count from the right, anticlockwise; the fan begins on the left, at half a turn.
    start, end = math.pi - slot.index * breadth, math.pi - (slot.index + 1) * breadth
    at = (start + end) / 2
    is_along = slot.ring <= LAST_ALONG
    centre = inner + (outer - inner) * (0.45 if is_along else 0.5)
    x, y = middle + centre * math.cos(at), bottom - centre * math.sin(at)
    path = _path(middle, bottom, inner, outer, start, end)
    if is_along:
        lines = int((outer - inner - MARGIN) // LINE)
        wedge = Wedge(path, 90 - math.degrees(at), _line_along(centre, outer, breadth) - MARGIN, lines)
    else:
        # On the left half the text is turned around, so that it is not upside down.
        turn = 180 - math.degrees(at) if at > math.pi / 2 else -math.degrees(at)
        wedge = Wedge(path, turn, outer - inner - 2 * MARGIN, max(int((breadth * inner - 4) // LINE), 1))
    return Box(slot.person, x, y, slot.notes, "again" in slot.notes, not slot.ring, wedge)


def _line_along(centre: float, outer: float, breadth: float) -> float:
    """How long three lines around a point may be: the inner one within the sides, the outer one within the arc."""
    within_arc = 2 * math.sqrt(outer**2 - (centre + 1.5 * LINE) ** 2)
    return min(2 * (centre - 1.5 * LINE) * math.tan(breadth / 2), within_arc) if breadth < math.pi else within_arc


def _path(middle: float, bottom: float, inner: float, outer: float, start: float, end: float) -> str:
    def point(radius: float, angle: float) -> str:
        return f"{number(middle + radius * math.cos(angle))} {number(bottom - radius * math.sin(angle))}"

    def arc(radius: float, sweep: int, angle: float) -> str:
        return f"A{number(radius)} {number(radius)} 0 0 {sweep} {point(radius, angle)}"

    there = f"M{point(outer, start)}{arc(outer, 1, end)}"
    return f"{there}L{point(inner, end)}{arc(inner, 0, start) if inner else ''}Z"


def _more(slot: Slot, left_out: int, middle: float, bottom: float) -> Label:
    """Outside the outer ring or, for somebody within the fan, at the outer edge of their wedge."""
    breadth = math.pi / 2**slot.ring
    at = math.pi - (slot.index + 0.5) * breadth
    radius = _radius(slot.ring + 1) + MORE_WIDTH / 2
    x, y = middle + radius * math.cos(at), bottom - radius * math.sin(at)
    return more_label(x - MORE_WIDTH / 2, min(y, bottom - MORE_HEIGHT / 2), slot.person, left_out)
