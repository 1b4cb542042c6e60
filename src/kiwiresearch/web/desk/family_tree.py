"""The family tree in several shapes, as a list, and on paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, get_args
from urllib.parse import quote as percent
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from markupsafe import Markup
from starlette.responses import Response

from kiwiresearch.cases import CachedCase, LineRow, records
from kiwiresearch.errors import NothingFound
from kiwiresearch.export import has_browser, page_in_pdf
from kiwiresearch.kin import KinshipFinder, PersonId, Tree
from kiwiresearch.kin.privacy import PRIVACY_MODES, PrivacyMode
from kiwiresearch.kin.report import (
    BOX_WIDTH,
    USUAL_GENERATIONS,
    Couples,
    Drawing,
    Layout,
    Orientation,
    Paper,
    Photo,
    Shape,
    close_family_layout,
    path_layout,
    people_drawn,
    picture,
    print_page,
    shape_layout,
    svg_file,
)
from kiwiresearch.kin.store import Attachment
from kiwiresearch.messages import Catalogue
from kiwiresearch.web.context import catalogue_for
from kiwiresearch.web.desk.family_frame import FamilyPages, person_ids_by_distance, person_options
from kiwiresearch.web.desk.portraits import Portraits, attached_photos, embedded_photo
from kiwiresearch.web.desk.translations import person_name, said
from kiwiresearch.web.families import CaseId, visible_person
from kiwiresearch.web.family_files import MAX_GENERATIONS, SVG_HEADERS
from kiwiresearch.web.guard import Privacy, allow
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
NO_PHOTOS: Mapping[PersonId, Photo] = {}


@dataclass(frozen=True, slots=True)
class TreeView:
    """A drawn family: the picture, how many people are in it apart from the first, and how many did not fit."""

    svg: Markup
    people: int
    left_out: int


@dataclass(frozen=True, slots=True)
class ListedLine:
    """The ancestors or descendants of a person, and how many of them are left out."""

    of: str
    rows: tuple[LineRow, ...]
    left_out: int


def drawing_in(words: Catalogue, title: str, description: str, photos: Mapping[PersonId, Photo]) -> Drawing:
    """How a family is drawn in the language of a reader, without links."""
    return Drawing(
        title,
        f"{description} {words('family.tree.legend')}",
        say=lambda text: said(text, words),
        note=lambda note: words.named("family.note", note),
        unnamed=words("family.unnamed"),
        photos=photos,
    )


def shape_drawing(
    shape: Shape,
    layout: Layout,
    tree: Tree,
    root: PersonId,
    words: Catalogue,
    photos: Mapping[PersonId, Photo] = NO_PHOTOS,
) -> Drawing:
    """How a family tree is drawn, with its title and a description of its shape."""
    title = words(f"family.tree.title_{shape}", name=person_name(words, tree.persons[root].name))
    return drawing_in(words, title, words(f"family.tree.in_{shape}", n=people_drawn(layout)), photos)


def tree_address(base: str, root: PersonId, shape: Shape, generations: int) -> str:
    """Where a person's tree is."""
    return f"{base}/tree?{urlencode({'root': root, 'of': shape, 'generations': generations})}"


def person_address(base: str, person: PersonId) -> str:
    return f"{base}/people/{percent(person)}"


@dataclass(frozen=True, slots=True)
class CloseFamily:
    """The picture of a person's parents, partners and children; a wide one is not shrunk to the space for it."""

    svg: Markup
    is_wide: bool


MAX_SHRUNK = 3.5 * BOX_WIDTH


def close_family(
    pages: FamilyPages, request: Request, case: CachedCase, mode: PrivacyMode, person: PersonId
) -> CloseFamily | None:
    """The parents, partners and children of a person as a small picture; None if there are none."""
    words, tree = catalogue_for(request), case.tree(mode)
    base = f"/family/{request.path_params['case']}"
    layout = close_family_layout(case.derived(Couples, mode), person)
    if len(layout.boxes) < 2:
        return None
    photos = portraits(pages, request, case, mode, layout).of(tree, [box.person for box in layout.boxes])
    how = replace(
        shape_drawing("hourglass", layout, tree, person, words, photos),
        person_address=lambda other: person_address(base, other),
        more_address=lambda other: tree_address(base, other, "hourglass", USUAL_GENERATIONS["hourglass"]),
    )
    return CloseFamily(Markup(picture(layout, tree, how)), layout.width > MAX_SHRUNK)  # noqa: S704


def add_tree_pages(routes: APIRouter, pages: FamilyPages) -> None:
    _add_relation(routes, pages)
    _add_page(routes, pages)
    _add_paper(routes, pages)


def _add_relation(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.get("/family/{case}/relation")
    def relation(request: Request, case: CaseId, first: Root = "", second: Root = "") -> Response:
        words, base, kin, path = catalogue_for(request), f"/family/{case}", None, Markup()
        with pages.families.open_case(request, case, None) as (found, mode):
            tree, people = found.tree(mode), person_options(found, mode, second)
            pair = [visible_person(tree, item) for item in (first, second) if item]
            if len(pair) == 2:
                kin = records.relation_record(found, pair[0], pair[1], mode)
                layout = path_layout(found.derived(Couples, mode), KinshipFinder(tree).kinship(*pair).path)
                faces = portraits(pages, request, found, mode, layout)
        if kin and layout:
            names = {"name": person_name(words, kin.first.name), "other": person_name(words, kin.second.name)}
            title = words("family.tree.path_title", **names)
            photos = faces.of(tree, [box.person for box in layout.boxes])
            how = drawing_in(words, title, words("family.tree.in_path", n=people_drawn(layout) + 1), photos)
            how = replace(how, person_address=lambda person: person_address(base, person))
            path = Markup(picture(layout, tree, how))  # noqa: S704
        values = {"people": people, "kin": kin, "first": first, "second": second, "path": path}
        return pages.show(request, "family_relation.html", case, "people", **values)


def _add_page(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.get("/family/{case}/tree")
    def tree(
        request: Request, case: CaseId, root: Root = "", of: Shape = "hourglass", generations: Generations = None
    ) -> Response:
        words, base = catalogue_for(request), f"/family/{case}"
        many = USUAL_GENERATIONS[of] if generations is None else generations
        with pages.families.open_case(request, case, None) as (found, mode):
            whole, couples = found.tree(mode), found.derived(Couples, mode)
            chosen = visible_person(whole, root) if root else next(iter(person_ids_by_distance(found, mode)), "")
            people = person_options(found, mode, chosen)
            layout = shape_layout(of, couples, chosen, many) if chosen else None
            faces = portraits(pages, request, found, mode, layout)
            lines = [_line(couples, chosen, line, many) for line in LISTS[of]] if chosen else []
        view = None
        if layout:
            photos = faces.of(whole, [box.person for box in layout.boxes if not box.wedge])
            how = replace(
                shape_drawing(of, layout, whole, chosen, words, photos),
                person_address=lambda person: person_address(base, person),
                more_address=lambda person: tree_address(base, person, of, many),
            )
            view = TreeView(Markup(picture(layout, whole, how)), people_drawn(layout), layout.left_out)  # noqa: S704
        return pages.show(
            request,
            "family_tree.html",
            case,
            "tree",
            root=next((person_option for person_option in people.shown if person_option.id == chosen), None),
            of=of,
            shapes=get_args(Shape),
            generations=many,
            most_generations=MAX_GENERATIONS,
            people=people,
            view=view,
            lines=lines,
            modes=shown_modes(pages, request),
            can_print=has_browser(pages.context.workspace.settings.browser),
        )


def _line(couples: Couples, root: PersonId, of: str, generations: int) -> ListedLine:
    rows = records.branch_records(couples, root, down=of == "descendants")
    kept = [row for row in rows if not generations or row.depth <= generations]
    return ListedLine(of, tuple(kept[:MAX_ROWS]), len(kept[MAX_ROWS:]))


def portraits(
    pages: FamilyPages,
    request: Request,
    case: CachedCase,
    mode: PrivacyMode,
    layout: Layout | None,
    *,
    for_file: bool = False,
) -> Portraits:
    """The pictures of people, described in the language of a reader."""
    words, base = catalogue_for(request), f"/family/{request.path_params['case']}"

    def describe(name: str) -> str:
        return words("family.tree.photo", name=person_name(words, name))

    def address(item: Attachment) -> str:
        return embedded_photo(case, item) if for_file else f"{base}/attachments/{percent(item.id)}"

    drawn = {box.person for box in layout.boxes} if layout else set[PersonId]()
    attached = attached_photos(case, mode, drawn, address, describe)
    return Portraits(pages.context, pages.pages.pictures, describe, attached)


def shown_modes(pages: FamilyPages, request: Request) -> tuple[PrivacyMode, ...]:
    """What may be shown of people who may be living, in files that this visitor makes."""
    may_see = pages.families.access.may_see_living(request)
    return PRIVACY_MODES if may_see else PRIVACY_MODES[PRIVACY_MODES.index("public") :]


def _add_paper(routes: APIRouter, pages: FamilyPages) -> None:
    def drawn(
        request: Request, case: str, root: str, of: Shape, generations: int | None, privacy: PrivacyMode | None
    ) -> tuple[Layout, Tree, Drawing]:
        words, many = catalogue_for(request), USUAL_GENERATIONS[of] if generations is None else generations
        with pages.families.open_case(request, case, None) as (found, mode):
            visible_person(found.tree(mode), root)
        with pages.families.open_case(request, case, privacy) as (found, mode):
            tree, person = found.tree(mode), shown_id(found, mode, root)
            layout = shape_layout(of, found.derived(Couples, mode), person, many)
            faces = portraits(pages, request, found, mode, layout, for_file=True)
        if layout is None:
            raise NothingFound("This person has no known relatives.", remedy="Choose another person.")
        photos = faces.embedded(tree, [box.person for box in layout.boxes if not box.wedge])
        return layout, tree, shape_drawing(of, layout, tree, person, words, photos)

    def printed(
        request: Request,
        drawing: tuple[Layout, Tree, Drawing],
        paper: Paper,
        orientation: Orientation,
    ) -> str:
        words, (layout, tree, how) = catalogue_for(request), drawing
        sheet = lambda n, all_: words("family.tree.sheet", n=n, all=all_)  # noqa: E731
        return print_page(layout, tree, how, paper, orientation, language=words.language, sheet_words=sheet)

    @routes.get("/family/{case}/tree.svg")
    @allow("reader", "export")
    def tree_svg(
        request: Request,
        case: CaseId,
        root: Root,
        of: Shape = "hourglass",
        generations: Generations = None,
        privacy: Privacy = "public",
    ) -> Response:
        layout, tree, how = drawn(request, case, root, of, generations, privacy)
        headers = SVG_HEADERS | _attachment("family-tree.svg")
        return Response(svg_file(picture(layout, tree, how)), headers=headers, media_type="image/svg+xml")

    @routes.get("/family/{case}/tree.html")
    @allow("reader", "export")
    def tree_sheets(
        request: Request,
        case: CaseId,
        root: Root,
        of: Shape = "hourglass",
        generations: Generations = None,
        privacy: Privacy = "public",
        paper: Paper = "a4",
        orientation: Orientation = "landscape",
    ) -> Response:
        page = printed(request, drawn(request, case, root, of, generations, privacy), paper, orientation)
        return Response(page, headers={"Content-Security-Policy": REPORT_POLICY}, media_type="text/html")

    @routes.get("/family/{case}/tree.pdf")
    @allow("reader", "export")
    def tree_pdf(
        request: Request,
        case: CaseId,
        root: Root,
        of: Shape = "hourglass",
        generations: Generations = None,
        privacy: Privacy = "public",
        paper: Paper = "a4",
        orientation: Orientation = "landscape",
    ) -> Response:
        page = printed(request, drawn(request, case, root, of, generations, privacy), paper, orientation)
        program = pages.context.workspace.settings.browser
        content = page_in_pdf(page, program, instead="The sheets can be printed from the page that shows them.")
        return Response(content, headers=_attachment("family-tree.pdf"), media_type="application/pdf")


def shown_id(found: CachedCase, mode: PrivacyMode, person: PersonId) -> PersonId:
    """The id of a person in a mode that may withhold them."""
    tree = found.tree(mode)
    return visible_person(tree, person if person in tree.persons else found.withheld().pseudonym(person))


def _attachment(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
