"""What a family picture consists of: people at places, lines between them, and labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kiwiresearch.document import svg_number
from kiwiresearch.kin.tree import PersonId
from kiwiresearch.messages import Message

# All measures are in units of the picture, which are pixels at its full size.
BOX_WIDTH, BOX_HEIGHT = 188.0, 56.0
GUTTER = 44.0
GAP = 12.0
EDGE = 8.0
TOP = 34.0
MORE_WIDTH, MORE_HEIGHT = 40.0, 26.0
"""The link to people who are not drawn: large enough for a finger where the picture is shown at its full size."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Wedge:
    """The part of a ring that a person has in a fan instead of a box."""

    path: str
    turn: float
    """By how many degrees the text is turned, clockwise."""
    width: float
    lines: int
    """The room for text: the length of a line, and how many lines fit."""


@dataclass(frozen=True, slots=True)
class Box:
    """A person at a position in the picture; `is_repeat` if the person is already drawn elsewhere in it.

    The position is the upper left corner or, with a wedge, the middle.
    """

    person: PersonId
    x: float
    y: float
    notes: tuple[str, ...] = ()
    """How the person is connected: a qualifier of the tie, `doubtful`, or `again`."""
    is_repeat: bool = False
    is_root: bool = False
    wedge: Wedge | None = None

    @property
    def middle(self) -> float:
        return self.x + BOX_WIDTH / 2


@dataclass(frozen=True, slots=True)
class Tie:
    """A line with right angles through these points; `loose` if the tie is not by blood, or doubtful."""

    points: tuple[Point, ...]
    loose: bool = False

    @property
    def path(self) -> str:
        (x, y), *rest = self.points
        steps = [f"M{number(x)} {number(y)}"]
        for to_x, to_y in rest:
            # All lines have right angles, so one coordinate is enough.
            steps.append(f"V{number(to_y)}" if to_x == x else f"H{number(to_x)}")
            x, y = to_x, to_y
        return "".join(steps)


@dataclass(frozen=True, slots=True)
class Label:
    """Text outside the boxes: the name of a generation (`head`), the year of a union (`couple`), or `more`."""

    x: float
    y: float
    text: Message
    role: str
    tooltip: str = ""
    person: PersonId = ""
    """From whom the people are drawn that a label of the role `more` stands for."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The positions of everything in a picture."""

    boxes: tuple[Box, ...]
    ties: tuple[Tie, ...]
    labels: tuple[Label, ...]
    width: float
    height: float
    left_out: int = 0
    """Known people left out for lack of space."""


def number(value: float) -> str:
    """A coordinate of a family picture, without a trailing '.0'."""
    return svg_number(value).removesuffix(".0")


def more_label(x: float, y: float, person: PersonId, left_out: int) -> Label:
    """How many people of a person's family are not drawn; `x` is its left side and `y` its middle."""
    tooltip = Message(f"{left_out} more not shown", "family_shape.more", n=left_out)
    return Label(x, y, Message(f"+{left_out}"), "more", tooltip, person)


def moved(layout: Layout, across: float, down: float) -> Layout:
    """The same layout elsewhere; its size stays."""
    return replace(
        layout,
        boxes=tuple(replace(box, x=box.x + across, y=box.y + down) for box in layout.boxes),
        ties=tuple(replace(tie, points=tuple((x + across, y + down) for x, y in tie.points)) for tie in layout.ties),
        labels=tuple(replace(label, x=label.x + across, y=label.y + down) for label in layout.labels),
    )


def fitted(boxes: Iterable[Box], ties: Iterable[Tie], labels: Iterable[Label], left_out: int) -> Layout:
    """A layout around boxes, lines and labels that may lie anywhere: moved into view, and as large as they are."""
    found = Layout(tuple(boxes), tuple(ties), tuple(labels), 0, 0, left_out)
    sides = [(box.x, box.y, box.x + BOX_WIDTH, box.y + BOX_HEIGHT) for box in found.boxes]
    sides += [(x, y, x, y) for tie in found.ties for x, y in tie.points]
    sides += [
        (label.x, label.y - MORE_HEIGHT / 2, label.x + MORE_WIDTH, label.y + MORE_HEIGHT / 2) for label in found.labels
    ]
    left, top, right, bottom = (pick(side[at] for side in sides) for at, pick in enumerate((min, min, max, max)))
    here = moved(found, EDGE - left, EDGE - top)
    return replace(here, width=right - left + 2 * EDGE, height=bottom - top + 2 * EDGE)


UP = (
    Message("Parents", "family_shape.up1"),
    Message("Grandparents", "family_shape.up2"),
    Message("Great-grandparents", "family_shape.up3"),
)
DOWN = (
    Message("Children", "family_shape.down1"),
    Message("Grandchildren", "family_shape.down2"),
    Message("Great-grandchildren", "family_shape.down3"),
)


def generation_name(depth: int, *, down: bool) -> Message:
    """'Parents', 'Great-grandchildren', '3 × great-grandparents'."""
    names = DOWN if down else UP
    if depth <= len(names):
        return names[depth - 1]
    count = depth - len(names) + 1
    if down:
        return Message(f"{count} × great-grandchildren", "family_shape.down_further", count=count)
    return Message(f"{count} × great-grandparents", "family_shape.up_further", count=count)
