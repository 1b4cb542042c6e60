"""Family pictures as SVG: the same for reports, web pages, files and paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape

from kiwiresearch.document import FAMILY_FONT, is_rtl, svg_picture
from kiwiresearch.kin.report.labels import UNNAMED, lifespan
from kiwiresearch.kin.report.shapes.layout import (
    BOX_HEIGHT,
    BOX_WIDTH,
    MORE_HEIGHT,
    MORE_WIDTH,
    Box,
    Label,
    Layout,
    Tie,
    Wedge,
    number,
)
from kiwiresearch.kin.tree import Person, PersonId, Sex, Tree
from kiwiresearch.text import one_line

PADDING = 9.0
NAME_SIZE, DATE_SIZE, HEAD_SIZE = 13.0, 11.5, 12.0
LINE_HEIGHT = 16.0
PHOTO_WIDTH = 44.0

CORNERS: Mapping[Sex, int] = {"male": 2, "female": 16, "": 8}
"""Corner radii show the sex without relying on colour."""
COLOURS = """
svg { background: #fcfcfa; font-family: system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
text { fill: #1c1e21; } .box, .pill { fill: #f1f2ee; stroke: #6d747c; } .root .box { stroke: #14517c; stroke-width: 2; }
.again .box, .loose { stroke-dasharray: 4 3; }
.tie { fill: none; stroke: #6d747c; stroke-width: 1; shape-rendering: crispEdges; }
.when, .head, .more text, .couple { fill: #555b63; } .name { font-weight: 600; }
.unnamed .name { font-style: italic; font-weight: 400; }
"""


@dataclass(frozen=True, slots=True)
class Photo:
    """A picture of a person: its address, or its bytes as a `data:` address, and its alternative text."""

    address: str
    alt: str


def _no_address(_person: PersonId) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """What a picture says and where it leads; without anything else, in English and without links."""

    title: str
    description: str
    name: str = "family"
    """Unique in the document that the picture is part of."""
    person_address: Callable[[PersonId], str] = _no_address
    more_address: Callable[[PersonId], str] = _no_address
    say: Callable[[str], str] = str
    """Writes a message in the language of the reader."""
    note: Callable[[str], str] = str
    """Writes how a person is connected: `step`, `again`."""
    unnamed: str = UNNAMED
    photos: Mapping[PersonId, Photo] = field(default_factory=dict)


def picture(layout: Layout, tree: Tree, how: Drawing) -> str:
    """A layout as a picture with its title and description."""
    size = number(layout.width), number(layout.height)
    attributes = 'xmlns="http://www.w3.org/2000/svg" class="family"'
    title, description = one_line(how.title), one_line(how.description)
    return svg_picture(how.name, size, title, description, [*parts_of(layout, tree, how)], attributes=attributes)


def parts_of(layout: Layout, tree: Tree, how: Drawing) -> Iterator[str]:
    """The elements of a picture, lines below boxes."""
    yield from map(_tie, layout.ties)
    for label in layout.labels:
        yield _more(label, how) if label.role == "more" else _label(label, how)
    for box in layout.boxes:
        yield from _box(box, tree.persons[box.person], tree, how)


def svg_file(svg: str) -> str:
    """The picture as a standalone file, with its styles."""
    head, opened, rest = svg.partition("<title ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}<style>{COLOURS}</style>\n{opened}{rest}\n'


def _tie(tie: Tie) -> str:
    return f'<path class="tie{" loose" if tie.loose else ""}" d="{tie.path}"/>'


def _label(label: Label, how: Drawing) -> str:
    size = HEAD_SIZE if label.role == "head" else DATE_SIZE
    at = f'x="{number(label.x)}" y="{number(label.y)}" font-size="{number(size)}"'
    return f'<text class="{label.role}" {at}>{escape(one_line(how.say(label.text)))}</text>'


def _more(label: Label, how: Drawing) -> str:
    """The number of people who are not drawn; a link to the picture that has them, if there is one."""
    hint = escape(one_line(how.say(label.tooltip)))
    opened, closed = _opened(how.more_address(label.person), "more", hint)
    x, y = number(label.x + 4), number(label.y - MORE_HEIGHT / 2 + 2)
    size = f'width="{number(MORE_WIDTH - 8)}" height="{number(MORE_HEIGHT - 4)}"'
    middle = f'x="{number(label.x + MORE_WIDTH / 2)}" y="{number(label.y + 4)}" text-anchor="middle"'
    text = f'<text {middle} font-size="{number(DATE_SIZE)}">{escape(label.text)}</text>'
    return f'{opened}<rect class="pill" x="{x}" y="{y}" {size} rx="11"/>{text}{closed}'


def _opened(address: str, css_class: str, hint: str) -> tuple[str, str]:
    """The tags around a part of the picture; `hint` is its name for screen readers, and already escaped."""
    title = f"<title>{hint}</title>"
    if address:
        return f'<a href="{escape(address)}" class="{css_class}" aria-label="{hint}">{title}', "</a>"
    return f'<g class="{css_class}">{title}', "</g>"


def _box(box: Box, person: Person, tree: Tree, how: Drawing) -> Iterator[str]:
    name = one_line(how.say(person.name)) or how.unnamed
    dates = one_line(how.say(lifespan(tree, box.person)))
    notes = tuple(map(how.note, box.notes))
    below = " · ".join(part for part in (dates, *notes) if part)
    title = ", ".join(part for part in (name, dates, " · ".join(notes)) if part)
    roles = {
        "root": box.is_root,
        "again": box.is_repeat,
        "kept": person.living != "deceased",
        "unnamed": not one_line(person.name),
    }
    classes = " ".join(["person", *(role for role, holds in roles.items() if holds)])
    opened, closed = _opened(how.person_address(box.person), classes, escape(title))
    yield opened
    yield from _wedge(box, box.wedge, name, below) if box.wedge else _rectangle(box, person, how, name, below)
    yield closed


def _rectangle(box: Box, person: Person, how: Drawing, name: str, below: str) -> Iterator[str]:
    place = f'x="{number(box.x)}" y="{number(box.y)}" width="{number(BOX_WIDTH)}" height="{number(BOX_HEIGHT)}"'
    yield f'<rect class="box" {place} rx="{CORNERS[person.sex]}"/>'
    # A nested svg clips text that the reader's font makes wider than measured.
    yield f"<svg {place}>"
    photo = how.photos.get(box.person)
    left = PHOTO_WIDTH if photo else 0.0
    if photo:
        size = f'x="2" y="2" width="{number(PHOTO_WIDTH - 2)}" height="{number(BOX_HEIGHT - 4)}"'
        fit = 'preserveAspectRatio="xMidYMin slice"'
        alt = f'role="img" aria-label="{escape(one_line(photo.alt))}"'
        yield f'<svg {size}><image width="100%" height="100%" {fit} {alt} href="{escape(photo.address)}"/></svg>'
    lines = text_lines(name, below, BOX_WIDTH - left - 2 * PADDING, 2 if below else 3)
    yield from _texts(lines, (BOX_WIDTH + left) / 2, BOX_HEIGHT / 2)
    yield "</svg>"


def _wedge(box: Box, wedge: Wedge, name: str, below: str) -> Iterator[str]:
    yield f'<path class="box" d="{wedge.path}"/>'
    yield f'<g transform="translate({number(box.x)} {number(box.y)}) rotate({number(wedge.turn)})">'
    most = wedge.lines - bool(below)
    lines = text_lines(name, below if most else "", wedge.width, min(max(most, 1), 3))
    yield from _texts(lines, 0.0, 0.0)
    yield "</g>"


TextLine = tuple[str, str, float]


def text_lines(name: str, below: str, room: float, most: int) -> list[TextLine]:
    """The name in up to `most` lines with the line below it, cut to fit: roles, texts and sizes."""
    # Names are bold, and so a little wider than the measured font.
    lines = [("name", line, NAME_SIZE) for line in FAMILY_FONT.wrapped(name, room / 1.05, NAME_SIZE, most)]
    return lines + ([("when", FAMILY_FONT.shortened(below, room, DATE_SIZE), DATE_SIZE)] if below else [])


def _texts(lines: list[TextLine], middle: float, centre: float) -> Iterator[str]:
    """Lines of text, centred around a point."""
    # 4.5 is from the middle of a line down to its baseline.
    y = centre - LINE_HEIGHT * (len(lines) - 1) / 2 + 4.5
    for role, text, size in lines:
        direction = ' direction="rtl"' if is_rtl(text) else ""
        place = f'x="{number(middle)}" y="{number(y)}" font-size="{number(size)}" text-anchor="middle"'
        yield f'<text class="{role}" {place}{direction}>{escape(text)}</text>'
        y += LINE_HEIGHT
