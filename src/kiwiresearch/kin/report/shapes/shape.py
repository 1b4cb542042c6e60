"""The shapes of family trees by name, and the English pictures of reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal

from kiwiresearch.kin.report.labels import display_name
from kiwiresearch.kin.report.shapes.ancestors import pedigree_layout
from kiwiresearch.kin.report.shapes.couples import Couples
from kiwiresearch.kin.report.shapes.descendants import descendants_layout
from kiwiresearch.kin.report.shapes.fan import fan_layout
from kiwiresearch.kin.report.shapes.hourglass import hourglass_layout
from kiwiresearch.kin.report.shapes.layout import Layout
from kiwiresearch.kin.report.shapes.svg import Drawing, picture
from kiwiresearch.kin.tree import PersonId, Tree
from kiwiresearch.text import count_of

Shape = Literal["hourglass", "ancestors", "descendants", "fan"]
LAYOUTS: Mapping[Shape, Callable[[Couples, PersonId, int], Layout]] = {
    "hourglass": hourglass_layout,
    "ancestors": pedigree_layout,
    "descendants": descendants_layout,
    "fan": fan_layout,
}
USUAL_GENERATIONS: Mapping[Shape, int] = {"hourglass": 2, "ancestors": 3, "descendants": 3, "fan": 4}
"""How many generations a page shows first: enough for grandchildren, and few enough to read."""
TITLES: Mapping[Shape, str] = {
    "hourglass": "Ancestors and descendants of {name}",
    "ancestors": "Ancestors of {name}",
    "descendants": "Descendants of {name}",
    "fan": "Ancestors of {name}",
}
DESCRIPTIONS: Mapping[Shape, str] = {
    "hourglass": "ancestors above, partners and descendants below.",
    "ancestors": "from left to right, fathers above mothers.",
    "descendants": "from left to right. Partners are below each other, with their children to the right.",
    "fan": "in arcs, fathers on the left.",
}
LEGEND = "A dashed line is uncertain or not biological. A dashed box is a person who also appears elsewhere."


def shape_layout(shape: Shape, couples: Couples, root: PersonId, generations: int = 0) -> Layout | None:
    """A family tree in this shape; None if the person has no relatives to draw. 0 draws all generations."""
    layout = LAYOUTS[shape](couples, root, generations)
    return layout if len(layout.boxes) > 1 else None


def people_drawn(layout: Layout) -> int:
    """How many people are in a picture, apart from the one it is about."""
    return len({box.person for box in layout.boxes}) - 1


def english_drawing(shape: Shape, layout: Layout, tree: Tree, root: PersonId) -> Drawing:
    """How a family tree is drawn in English, without links."""
    whose = display_name(tree, root)
    description = f"{count_of(people_drawn(layout), 'relative')} of {whose}, {DESCRIPTIONS[shape]} {LEGEND}"
    if layout.left_out:
        description += f" {count_of(layout.left_out, 'known relative')} did not fit."
    return Drawing(TITLES[shape].format(name=whose), description)


def shape_picture(
    shape: Shape,
    couples: Couples,
    root: PersonId,
    generations: int = 0,
    *,
    anchors: Mapping[PersonId, str] | None = None,
    name: str = "family",
) -> str:
    """The picture in English, with links to the anchors of people; empty if there is nobody to draw."""
    layout = shape_layout(shape, couples, root, generations)
    if layout is None:
        return ""
    places = anchors or {}
    how = replace(
        english_drawing(shape, layout, couples.tree, root),
        name=name,
        person_address=lambda person: f"#{places[person]}" if person in places else "",
    )
    return picture(layout, couples.tree, how)
