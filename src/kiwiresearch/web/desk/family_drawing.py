"""Pedigrees and descendants as the desk draws them: where reports put the boxes, in the reader's words, with links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote as percent

from kiwiresearch.kin.report.descendants import descendants_layout
from kiwiresearch.kin.report.drawing import (
    BOX_HEIGHT,
    BOX_WIDTH,
    CORNERS,
    DATE_SIZE,
    HEAD_SIZE,
    NAME_SIZE,
    PADDING,
    Box,
    Label,
    Layout,
    Tie,
    is_rtl,
    number,
    shortened,
    wrapped,
)
from kiwiresearch.kin.report.pedigree import pedigree_layout
from kiwiresearch.kin.report.words import lifespan
from kiwiresearch.kin.tree import PersonId, Tree
from kiwiresearch.web.desk.family_words import called, lived
from kiwiresearch.web.desk.words import Words

LINE = 16.0
NAMED_GENERATIONS = 3
"""So many generations have a name of their own; those beyond are counted."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of words in a box."""

    role: str
    text: str
    y: str
    size: str
    rtl: bool


@dataclass(frozen=True, slots=True)
class DrawnBox:
    """A person of the picture."""

    address: str
    roles: str
    told: str
    x: str
    y: str
    corner: int
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class DrawnLabel:
    """Words outside the boxes."""

    role: str
    text: str
    told: str
    x: str
    y: str
    size: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything a template needs to draw a family, numbers as they are written."""

    width: str
    height: str
    boxes: tuple[DrawnBox, ...]
    labels: tuple[DrawnLabel, ...]
    ties: tuple[Tie, ...]
    people: int
    """How many are drawn beside the first."""
    left_out: int

    box_width = number(BOX_WIDTH)
    box_height = number(BOX_HEIGHT)
    box_middle = number(BOX_WIDTH / 2)


def drawn(tree: Tree, root: PersonId, words: Words, *, base: str, down: bool, generations: int) -> Picture | None:
    """The picture; none where nobody stands beside the person."""
    layout = (descendants_layout if down else pedigree_layout)(tree, root, generations=generations)
    people = len({box.person for box in layout.boxes}) - 1
    if not people:
        return None
    return Picture(
        number(layout.width),
        number(layout.height),
        tuple(_box(tree, box, words, base) for box in layout.boxes),
        tuple(_labels(layout, words, "down" if down else "up")),
        layout.ties,
        people,
        layout.left_out,
    )


def _box(tree: Tree, box: Box, words: Words, base: str) -> DrawnBox:
    person = tree.persons[box.person]
    name, years = called(words, person.name), lived(words, lifespan(tree, box.person))
    notes = [words.named("family.note", note) for note in box.note.split(" · ") if note]
    below = " · ".join(filter(None, [years, *notes]))
    roles = {"root": box.root, "again": box.again, "kept": person.living != "deceased"}
    return DrawnBox(
        f"{base}/people/{percent(box.person)}",
        " ".join(role for role, holds in roles.items() if holds),
        ", ".join(filter(None, [name, years, *notes])),
        number(box.x),
        number(box.y),
        CORNERS[person.sex],
        tuple(_lines(name, below)),
    )


def _lines(name: str, below: str) -> Iterator[Line]:
    room = BOX_WIDTH - 2 * PADDING
    lines = [("name", line, NAME_SIZE) for line in wrapped(name, room / 1.05, NAME_SIZE, 2 if below else 3)]
    lines += [("when", shortened(below, room, DATE_SIZE), DATE_SIZE)] if below else []
    y = BOX_HEIGHT / 2 - LINE * (len(lines) - 1) / 2 + 4.5
    for role, text, size in lines:
        yield Line(role, text, number(y), number(size), is_rtl(text))
        y += LINE


def _labels(layout: Layout, words: Words, way: str) -> Iterator[DrawnLabel]:
    heads = [label for label in layout.labels if label.role == "head"]
    for generation, label in enumerate(heads, 1):
        yield _label(label, _head(words, way, generation), size=HEAD_SIZE)
    yield from _small_labels(layout.labels, words)


def _small_labels(labels: Sequence[Label], words: Words) -> Iterator[DrawnLabel]:
    """The year of a wedding, and how many are not drawn."""
    for label in labels:
        if label.role == "couple":
            word, _, year = label.text.partition(" ")
            yield _label(label, f"{words.named('family.couple', word.rstrip('.'))} {year}")
        elif label.role == "more":
            count = int(label.text.lstrip("+"))
            yield _label(label, label.text, words("family.tree.more", n=count))


def _head(words: Words, way: str, generation: int) -> str:
    if generation <= NAMED_GENERATIONS:
        return words(f"family.tree.{way}.g{generation}")
    return words(f"family.tree.{way}.further", count=generation - NAMED_GENERATIONS + 1)


def _label(label: Label, text: str, told: str = "", *, size: float = DATE_SIZE) -> DrawnLabel:
    return DrawnLabel(label.role, text, told, number(label.x), number(label.y), number(size))
