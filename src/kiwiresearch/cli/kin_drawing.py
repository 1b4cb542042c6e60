"""A family tree as a file: a picture (SVG), or sheets of paper (PDF, HTML)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, get_args

from kiwiresearch.errors import BadUsage, NothingFound

if TYPE_CHECKING:
    from kiwiresearch.kin import PersonId, Tree
    from kiwiresearch.kin.report import Orientation, Paper, Shape

ENDINGS = (".svg", ".pdf", ".html")
Choice = TypeVar("Choice", bound=str)


def checked_shape(shape: str) -> Shape:
    from kiwiresearch.kin.report import Shape

    return _one_of(shape, get_args(Shape), "shape")


def checked_paper(paper: str, orientation: str) -> tuple[Paper, Orientation]:
    from kiwiresearch.kin.report import Orientation, Paper

    return _one_of(paper, get_args(Paper), "paper size"), _one_of(orientation, get_args(Orientation), "orientation")


def _one_of(given: str, known: tuple[Choice, ...], what: str) -> Choice:
    found = next((choice for choice in known if choice == given.lower()), None)
    if found is None:
        raise BadUsage(f"{given!r} is not a {what}.", remedy=f"Choose one of: {', '.join(known)}.")
    return found


def checked_ending(target: Path) -> str:
    """What kind of file is to be written."""
    if target.suffix.lower() not in ENDINGS:
        raise BadUsage(f"{target.name!r} does not say what to write.", remedy="End the name in .svg, .pdf or .html.")
    return target.suffix.lower()


def drawn_tree(
    ending: str,
    shape: Shape,
    tree: Tree,
    root: PersonId,
    generations: int | None,
    pages: tuple[Paper, Orientation],
    browser: str = "",
) -> bytes:
    """The tree of a person as the content of a file with this ending; only a PDF needs a browser."""
    from kiwiresearch.export import page_in_pdf
    from kiwiresearch.kin.report import (
        USUAL_GENERATIONS,
        Couples,
        english_drawing,
        picture,
        print_page,
        shape_layout,
        svg_file,
    )

    many = USUAL_GENERATIONS[shape] if generations is None else generations
    layout = shape_layout(shape, Couples(tree), root, many)
    if layout is None:
        raise NothingFound("This person has no known relatives.", remedy="Choose another person.")
    how = english_drawing(shape, layout, tree, root)
    if ending == ".svg":
        return svg_file(picture(layout, tree, how)).encode()
    page = print_page(layout, tree, how, *pages)
    if ending == ".html":
        return page.encode()
    return page_in_pdf(page, browser, instead="Write a file that ends in .html, and print it.")
