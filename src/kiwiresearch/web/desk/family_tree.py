"""The pages of a family tree: in several shapes, as a list, on paper, and while research goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, get_args

from fastapi import APIRouter, Depends, Query, Request
from markupsafe import Markup
from starlette.responses import Response

from kiwiresearch.cases import CachedCase, LineRow, record_builder
from kiwiresearch.errors import NothingFound
from kiwiresearch.export import has_browser, page_in_pdf
from kiwiresearch.kin import KinshipFinder, PersonId, Tree
from kiwiresearch.kin.privacy import PrivacyMode
from kiwiresearch.kin.report import (
    USUAL_GENERATIONS,
    Couples,
    Drawing,
    Layout,
    Orientation,
    Paper,
    Shape,
    path_layout,
    people_drawn,
    picture,
    print_page,
    shape_layout,
    svg_file,
)
from kiwiresearch.web.context import catalogue_for
from kiwiresearch.web.desk.family_drawing import (
    drawing_in,
    first_person,
    live_address,
    person_address,
    portraits,
    shape_drawing,
    tree_view,
)
from kiwiresearch.web.desk.family_frame import FamilyPages, person_options
from kiwiresearch.web.desk.translations import person_name
from kiwiresearch.web.families import CaseId, visible_person
from kiwiresearch.web.family_files import MAX_GENERATIONS, SVG_HEADERS
from kiwiresearch.web.guard import Privacy, requires_role
from kiwiresearch.web.replies import Json
from kiwiresearch.web.runs import REPORT_POLICY

MAX_ROWS = 1_000
LISTS: Mapping[Shape, tuple[str, ...]] = {
    "hourglass": ("ancestors", "descendants"),
    "ancestors": ("ancestors",),
    "descendants": ("descendants",),
    "fan": ("ancestors",),
}
"""Which lines of people a list beside a shape has."""

Root = Annotated[str, Query(max_length=100)]
Generations = Annotated[int | None, Query(ge=0, le=MAX_GENERATIONS)]


@dataclass(frozen=True, slots=True)
class ListedLine:
    """The ancestors or descendants of a person, and how many of them are left out."""

    of: str
    rows: tuple[LineRow, ...]
    left_out: int


def add_tree_pages(routes: APIRouter, pages: FamilyPages) -> None:
    _add_relation(routes, pages)
    _add_page(routes, pages)
    _add_live(routes, pages)
    _add_paper(routes, pages)


def _add_relation(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.get("/family/{case}/relation")
    def relation(request: Request, case: CaseId, first: Root = "", second: Root = "") -> Response:
        catalogue, base, kin, path = catalogue_for(request), f"/family/{case}", None, Markup()
        with pages.families.open_case(request, case, None) as (found, mode):
            tree, people = found.tree(mode), person_options(found, mode, second)
            pair = [visible_person(tree, item) for item in (first, second) if item]
            if len(pair) == 2:
                kin = record_builder.relation_record(found, pair[0], pair[1], mode)
                layout = path_layout(found.derived(Couples, mode), KinshipFinder(tree).kinship(*pair).path)
                faces = portraits(pages, request, found, mode, layout)
        if kin and layout:
            names = {"name": person_name(catalogue, kin.first.name), "other": person_name(catalogue, kin.second.name)}
            title = catalogue("family.tree.path_title", **names)
            photos = faces.of(tree, [box.person for box in layout.boxes])
            how = drawing_in(catalogue, title, catalogue("family.tree.in_path", n=people_drawn(layout) + 1), photos)
            how = replace(how, person_address=lambda person: person_address(base, person))
            path = Markup(picture(layout, tree, how))  # noqa: S704
        values = {"people": people, "kin": kin, "first": first, "second": second, "path": path}
        return pages.show(request, "family_relation.html", case, "people", **values)


def _add_page(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.get("/family/{case}/tree")
    def tree(
        request: Request, case: CaseId, root: Root = "", of: Shape = "hourglass", generations: Generations = None
    ) -> Response:
        many = USUAL_GENERATIONS[of] if generations is None else generations
        with pages.families.open_case(request, case, None) as (found, mode):
            chosen = visible_person(found.tree(mode), root) if root else first_person(found, mode)
            people = person_options(found, mode, chosen)
            view = tree_view(pages, request, found, mode, chosen, of, many) if chosen else None
            lines = [_line(found.derived(Couples, mode), chosen, line, many) for line in LISTS[of]] if chosen else []
        return pages.show(
            request,
            "family_tree.html",
            case,
            "tree",
            root=next((person for person in people.shown if person.id == chosen), None),
            of=of,
            shapes=get_args(Shape),
            generations=many,
            most_generations=MAX_GENERATIONS,
            people=people,
            view=view,
            live=live_address(pages, case, chosen, of, many),
            lines=lines,
            modes=pages.allowed_modes(request),
            can_print=has_browser(pages.context.workspace.settings.browser),
        )


def _line(couples: Couples, root: PersonId, of: str, generations: int) -> ListedLine:
    rows = record_builder.branch_records(couples, root, down=of == "descendants")
    kept = [row for row in rows if not generations or row.depth <= generations]
    return ListedLine(of, tuple(kept[:MAX_ROWS]), len(kept[MAX_ROWS:]))


def _add_live(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.get("/family/{case}/tree/live")
    def live(
        request: Request, case: CaseId, root: Root, of: Shape = "hourglass", generations: Generations = None
    ) -> Response:
        """The tree as found so far, for the script of the page that shows it."""
        job = pages.job_of(case)  # before the tree, so that nothing found at the end is missed
        with pages.families.open_case(request, case, None) as (found, mode):
            view = tree_view(pages, request, found, mode, shown_id(found, mode, root), of, generations)
        state = pages.pages.render(request, "family_state.html", **pages.state_of(request, case).values())
        news = {"is_open": job is not None, "drawing": view.svg if view else "", "state": state}
        return Json(news, headers={"Cache-Control": "no-store"})


@dataclass(frozen=True, slots=True)
class DrawingQuery:
    """The tree that somebody wants as a file."""

    case: str
    root: PersonId
    of: Shape
    generations: int
    privacy: PrivacyMode | None
    paper: Paper
    orientation: Orientation


def _drawing_query(
    case: CaseId,
    root: Root,
    of: Shape = "hourglass",
    generations: Generations = None,
    privacy: Privacy = "public",
    paper: Paper = "a4",
    orientation: Orientation = "landscape",
) -> DrawingQuery:
    many = USUAL_GENERATIONS[of] if generations is None else generations
    return DrawingQuery(case, root, of, many, privacy, paper, orientation)


Drawn = Annotated[DrawingQuery, Depends(_drawing_query)]


def _add_paper(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.get("/family/{case}/tree.svg")
    @requires_role("reader", "export")
    def tree_svg(request: Request, query: Drawn) -> Response:
        layout, tree, how = _drawn(pages, request, query)
        headers = SVG_HEADERS | _attachment("family-tree.svg")
        return Response(svg_file(picture(layout, tree, how)), headers=headers, media_type="image/svg+xml")

    @routes.get("/family/{case}/tree.html")
    @requires_role("reader", "export")
    def tree_sheets(request: Request, query: Drawn) -> Response:
        page = _printed(pages, request, query)
        return Response(page, headers={"Content-Security-Policy": REPORT_POLICY}, media_type="text/html")

    @routes.get("/family/{case}/tree.pdf")
    @requires_role("reader", "export")
    def tree_pdf(request: Request, query: Drawn) -> Response:
        page, program = _printed(pages, request, query), pages.context.workspace.settings.browser
        content = page_in_pdf(page, program, instead="The sheets can be printed from the page that shows them.")
        return Response(content, headers=_attachment("family-tree.pdf"), media_type="application/pdf")


def _drawn(pages: FamilyPages, request: Request, query: DrawingQuery) -> tuple[Layout, Tree, Drawing]:
    # First in the visitor's own mode, in which they got the id; the file may show less.
    with pages.families.open_case(request, query.case, None) as (found, mode):
        visible_person(found.tree(mode), query.root)
    with pages.families.open_case(request, query.case, query.privacy) as (found, mode):
        tree, person = found.tree(mode), shown_id(found, mode, query.root)
        layout = shape_layout(query.of, found.derived(Couples, mode), person, query.generations)
        faces = portraits(pages, request, found, mode, layout, for_file=True)
    if layout is None:
        raise NothingFound("This person has no known relatives.", remedy="Choose another person.")
    photos = faces.embedded(tree, [box.person for box in layout.boxes if not box.wedge])
    return layout, tree, shape_drawing(query.of, layout, tree, person, catalogue_for(request), photos)


def _printed(pages: FamilyPages, request: Request, query: DrawingQuery) -> str:
    catalogue, (layout, tree, how) = catalogue_for(request), _drawn(pages, request, query)
    sheet = lambda n, all_: catalogue("family.tree.sheet", n=n, all=all_)  # noqa: E731
    return print_page(layout, tree, how, query.paper, query.orientation, language=catalogue.language, sheet_words=sheet)


def shown_id(found: CachedCase, mode: PrivacyMode, person: PersonId) -> PersonId:
    """The id of a person in a mode that may withhold them."""
    tree = found.tree(mode)
    return visible_person(tree, person if person in tree.persons else found.withheld().pseudonym(person))


def _attachment(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
