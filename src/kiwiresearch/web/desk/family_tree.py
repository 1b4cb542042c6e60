"""The family tree, drawn and as a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote as percent

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from kiwiresearch.cases import records
from kiwiresearch.kin import PersonId, Tree
from kiwiresearch.kin.report import (
    BOX_HEIGHT,
    BOX_WIDTH,
    CORNERS,
    DATE_SIZE,
    HEAD_SIZE,
    Box,
    BoxLine,
    Label,
    Layout,
    Tie,
    box_lines,
    descendants_layout,
    lifespan,
    number,
    pedigree_layout,
)
from kiwiresearch.messages import Catalogue
from kiwiresearch.web.context import catalogue_for
from kiwiresearch.web.desk.family_frame import FamilyPages, person_ids_by_distance, person_options
from kiwiresearch.web.desk.translations import person_name, said
from kiwiresearch.web.families import CaseId, Direction, visible_person
from kiwiresearch.web.family_files import MAX_GENERATIONS

NAMED_GENERATIONS = 3
"""This many generations have their own name; those beyond are numbered."""


@dataclass(frozen=True, slots=True)
class DrawnBox:
    """A person in the picture."""

    address: str
    roles: str
    hint: str
    x: str
    y: str
    corner: int
    lines: tuple[BoxLine, ...]


@dataclass(frozen=True, slots=True)
class DrawnLabel:
    """Text outside the boxes."""

    role: str
    text: str
    hint: str
    x: str
    y: str
    size: str


@dataclass(frozen=True, slots=True)
class TreePicture:
    """Everything a template needs to draw a family; numbers are already formatted."""

    width: str
    height: str
    boxes: tuple[DrawnBox, ...]
    labels: tuple[DrawnLabel, ...]
    ties: tuple[Tie, ...]
    people: int
    """How many people are drawn apart from the first."""
    left_out: int

    box_width = number(BOX_WIDTH)
    box_height = number(BOX_HEIGHT)
    box_middle = number(BOX_WIDTH / 2)


def tree_picture(
    tree: Tree, root: PersonId, words: Catalogue, *, base: str, down: bool, generations: int
) -> TreePicture | None:
    """The picture; None if the person has no relatives to draw."""
    layout = (descendants_layout if down else pedigree_layout)(tree, root, generations=generations)
    people = len({box.person for box in layout.boxes}) - 1
    if not people:
        return None
    return TreePicture(
        number(layout.width),
        number(layout.height),
        tuple(_box(tree, box, words, base) for box in layout.boxes),
        tuple(_labels(layout, words, "down" if down else "up")),
        layout.ties,
        people,
        layout.left_out,
    )


def _box(tree: Tree, box: Box, words: Catalogue, base: str) -> DrawnBox:
    person = tree.persons[box.person]
    name, years = person_name(words, person.name), said(lifespan(tree, box.person), words)
    notes = [words.named("family.note", note) for note in box.notes]
    below = " · ".join(filter(None, [years, *notes]))
    roles = {"root": box.is_root, "again": box.is_repeat, "kept": person.living != "deceased"}
    return DrawnBox(
        f"{base}/people/{percent(box.person)}",
        " ".join(role for role, holds in roles.items() if holds),
        ", ".join(filter(None, [name, years, *notes])),
        number(box.x),
        number(box.y),
        CORNERS[person.sex],
        tuple(box_lines(name, below)),
    )


def _labels(layout: Layout, words: Catalogue, direction: str) -> Iterator[DrawnLabel]:
    heads = [label for label in layout.labels if label.role == "head"]
    for generation, label in enumerate(heads, 1):
        yield _label(label, _head(words, direction, generation), size=HEAD_SIZE)
    yield from _small_labels(layout.labels, words)


def _small_labels(labels: Sequence[Label], words: Catalogue) -> Iterator[DrawnLabel]:
    """The year of a wedding, and the number of people who are not drawn."""
    for label in labels:
        if label.role == "couple":
            yield _label(label, said(label.text, words))
        elif label.role == "more":
            yield _label(label, label.text, words("family.tree.more", n=label.count))


def _head(words: Catalogue, direction: str, generation: int) -> str:
    if generation <= NAMED_GENERATIONS:
        return words(f"family.tree.{direction}.g{generation}")
    return words(f"family.tree.{direction}.further", count=generation - NAMED_GENERATIONS + 1)


def _label(label: Label, text: str, hint: str = "", *, size: float = DATE_SIZE) -> DrawnLabel:
    return DrawnLabel(label.role, text, hint, number(label.x), number(label.y), number(size))


MAX_ROWS = 1_000
USUAL_GENERATIONS = 3

Root = Annotated[str, Query(max_length=100)]
Generations = Annotated[int, Query(ge=0, le=MAX_GENERATIONS)]


def add_tree_pages(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.get("/family/{case}/tree")
    def tree(
        request: Request,
        case: CaseId,
        root: Root = "",
        of: Direction = "ancestors",
        generations: Generations = USUAL_GENERATIONS,
    ) -> Response:
        words, base, down = catalogue_for(request), f"/family/{case}", of == "descendants"
        with pages.families.open_case(request, case, None) as (found, mode):
            whole = found.tree(mode)
            chosen = visible_person(whole, root) if root else next(iter(person_ids_by_distance(found, whole)), "")
            people = person_options(found, mode, chosen)
            picture, rows = None, []
            if chosen:
                picture = tree_picture(whole, chosen, words, base=base, down=down, generations=generations)
                rows = records.branch_records(whole, chosen, down=down)
        kept = [row for row in rows if not generations or row.depth <= generations]
        return pages.show(
            request,
            "family_tree.html",
            case,
            "tree",
            root=next((person_option for person_option in people.shown if person_option.id == chosen), None),
            of=of,
            generations=generations,
            most_generations=MAX_GENERATIONS,
            people=people,
            picture=picture,
            rows=kept[:MAX_ROWS],
            left_out=len(kept[MAX_ROWS:]),
        )
