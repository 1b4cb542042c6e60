"""The parts of family pictures: boxes with text, lines between them, and labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

from kiwiresearch.document import FAMILY_FONT, is_rtl, svg_number, svg_picture
from kiwiresearch.kin.report.labels import display_name, lifespan
from kiwiresearch.kin.tree import PersonId, Tree
from kiwiresearch.text import one_line

BOX_WIDTH, BOX_HEIGHT = 188.0, 56.0
PADDING = 9.0
GUTTER = 44.0
GAP = 12.0
TOP = 34.0
EDGE = 8.0
NAME_SIZE, DATE_SIZE, HEAD_SIZE = 13.0, 11.5, 12.0
LINE_HEIGHT = 16.0

CORNERS = {"male": 2, "female": 16, "": 8}
"""Corner radii show the sex without relying on colour."""
COLOURS = """
svg { background: #fcfcfa; font-family: system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
text { fill: #1c1e21; } .box { fill: #f1f2ee; stroke: #6d747c; } .root .box { stroke: #14517c; stroke-width: 2; }
.again .box, .loose { stroke-dasharray: 4 3; } .tie { fill: none; stroke: #6d747c; stroke-width: 1.2; }
.when, .head, .more, .couple { fill: #555b63; } .name { font-weight: 600; }
.unnamed .name { font-style: italic; font-weight: 400; }
"""


@dataclass(frozen=True, slots=True)
class Box:
    """A person at a position in the picture; `is_repeat` if the person is already drawn elsewhere in it."""

    person: PersonId
    x: float
    y: float
    notes: tuple[str, ...] = ()
    """How the person is connected: a qualifier of the tie, `doubtful`, or `again`."""
    is_repeat: bool = False
    is_root: bool = False


@dataclass(frozen=True, slots=True)
class BoxLine:
    """A line of text in a box."""

    role: str
    text: str
    y: str
    size: str
    rtl: bool


@dataclass(frozen=True, slots=True)
class Tie:
    """A line with right angles; `loose` if the tie is not by blood, or doubtful."""

    path: str
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Label:
    """Text outside the boxes."""

    x: float
    y: float
    text: str
    role: str
    tooltip: str = ""
    count: int = 0
    """How many people a label of the role `more` represents."""


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


def picture(
    layout: Layout, tree: Tree, anchors: Mapping[PersonId, str], name: str, title: str, description: str
) -> str:
    """A picture with its title and description."""
    parts = [*map(_tie, layout.ties), *map(_label, layout.labels)]
    parts += [line for box in layout.boxes for line in _box(box, tree, anchors)]
    size = number(layout.width), number(layout.height)
    attributes = 'xmlns="http://www.w3.org/2000/svg" class="family"'
    return svg_picture(name, size, one_line(title), one_line(description), parts, attributes=attributes)


def svg_file(svg: str) -> str:
    """The picture as a standalone file, with its styles."""
    head, opened, rest = svg.partition("<title ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}<style>{COLOURS}</style>\n{opened}{rest}\n'


def _tie(tie: Tie) -> str:
    return f'<path class="tie{" loose" if tie.loose else ""}" d="{tie.path}"/>'


def _label(label: Label) -> str:
    title = f"<title>{escape(one_line(label.tooltip))}</title>" if label.tooltip else ""
    size = HEAD_SIZE if label.role == "head" else DATE_SIZE
    at = f'x="{number(label.x)}" y="{number(label.y)}" font-size="{number(size)}"'
    return f'<text class="{label.role}" {at}>{title}{escape(one_line(label.text))}</text>'


def _box(box: Box, tree: Tree, anchors: Mapping[PersonId, str]) -> Iterator[str]:
    name, dates = display_name(tree, box.person), lifespan(tree, box.person)
    person = tree.persons.get(box.person)
    roles = ["person"]
    roles += ["root"] if box.is_root else []
    roles += ["again"] if box.is_repeat else []
    roles += ["unnamed"] if person is None or not one_line(person.name) else []
    below = " · ".join(part for part in (dates, *box.notes) if part)
    anchor = anchors.get(box.person)
    opened, closed = (f'<a href="#{escape(anchor)}"', "</a>") if anchor else ("<g", "</g>")
    title = ", ".join(part for part in (name, dates, " · ".join(box.notes)) if part)
    yield f'{opened} class="{" ".join(roles)}"><title>{escape(title)}</title>'
    size = f'width="{number(BOX_WIDTH)}" height="{number(BOX_HEIGHT)}"'
    corner = CORNERS[person.sex if person else ""]
    yield f'<rect class="box" x="{number(box.x)}" y="{number(box.y)}" {size} rx="{corner}"/>'
    # A nested svg clips text that the reader's font makes wider than measured.
    yield f'<svg x="{number(box.x)}" y="{number(box.y)}" {size}>'
    for line in box_lines(name, below):
        direction = ' direction="rtl"' if line.rtl else ""
        yield (
            f'<text class="{line.role}" x="{number(BOX_WIDTH / 2)}" y="{line.y}" font-size="{line.size}" '
            f'text-anchor="middle"{direction}>{escape(line.text)}</text>'
        )
    yield f"</svg>{closed}"


def box_lines(name: str, below: str) -> Iterator[BoxLine]:
    """The name of a box in up to three lines, centred together with the line below it, which is cut to fit."""
    room = BOX_WIDTH - 2 * PADDING
    # Names are bold, and so a little wider than the measured font.
    lines = [("name", line, NAME_SIZE) for line in FAMILY_FONT.wrapped(name, room / 1.05, NAME_SIZE, 2 if below else 3)]
    lines += [("when", FAMILY_FONT.shortened(below, room, DATE_SIZE), DATE_SIZE)] if below else []
    y = BOX_HEIGHT / 2 - LINE_HEIGHT * (len(lines) - 1) / 2 + 4.5
    for role, text, size in lines:
        yield BoxLine(role, text, number(y), number(size), is_rtl(text))
        y += LINE_HEIGHT
