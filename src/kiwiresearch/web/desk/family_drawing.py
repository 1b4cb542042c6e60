"""How the desk draws families: in the language of the reader, with portraits and links."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote as percent
from urllib.parse import urlencode

from fastapi import Request
from markupsafe import Markup

from kiwiresearch.brief import data_url, media_type_of
from kiwiresearch.cases import CachedCase, Case
from kiwiresearch.kin import PersonId, Tree
from kiwiresearch.kin.privacy import PrivacyMode
from kiwiresearch.kin.report import (
    BOX_WIDTH,
    USUAL_GENERATIONS,
    Couples,
    Drawing,
    Layout,
    Photo,
    Shape,
    close_family_layout,
    people_drawn,
    picture,
    shape_layout,
)
from kiwiresearch.kin.store import Attachment
from kiwiresearch.messages import Catalogue
from kiwiresearch.web.context import ServerContext, catalogue_for
from kiwiresearch.web.desk.covers import LeadPictures, picture_address
from kiwiresearch.web.desk.family_frame import FamilyPages, person_ids_by_distance
from kiwiresearch.web.desk.translations import in_reader_language, person_name
from kiwiresearch.web.families import page_at
from kiwiresearch.zim import EntryRef

TIME_S = 0.5
"""How long a page waits for pictures; those that were not found by then are there when it is opened again."""
MAX_EMBEDDED_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class Portraits:
    """The pictures of people on one server; books show nobody who may be living."""

    context: ServerContext
    leads: LeadPictures
    describe: Callable[[str], str]
    """The alternative text for a picture without one, from the name of the person."""
    attached: Mapping[PersonId, Photo]
    """What the owner attached, which comes before the pictures of books."""

    def of(self, tree: Tree, people: Iterable[PersonId]) -> Mapping[PersonId, Photo]:
        """Pictures by their addresses on this server, as many as are found in time."""
        found, until = dict[PersonId, Photo](), time.monotonic() + TIME_S
        for person in dict.fromkeys(people):
            if time.monotonic() < until and (photo := self.picture_of(tree, person, picture_address)):
                found[person] = photo
        return found

    def embedded(self, tree: Tree, people: Iterable[PersonId]) -> Mapping[PersonId, Photo]:
        """Pictures as parts of a file."""
        found, size = dict[PersonId, Photo](), 0
        for person in dict.fromkeys(people):
            photo = self.picture_of(tree, person, self._embedded)
            if photo and size < MAX_EMBEDDED_BYTES:
                found[person] = photo
                size += len(photo.address)
        return found

    def picture_of(self, tree: Tree, person: PersonId, address: Callable[[EntryRef], str]) -> Photo | None:
        """What was attached to the person, else the lead picture of their own page, where a book has one."""
        if person in self.attached:
            return self.attached[person]
        known = tree.persons[person]
        page = page_at(self.context, known.external.get("record", ""))
        if known.living != "deceased" or page is None:
            return None
        picture = self.leads.of(page)
        place = address(page) if picture else ""
        return Photo(place, picture.alt or self.describe(known.name)) if picture and place else None

    def _embedded(self, page: EntryRef) -> str:
        content = self.leads.content_of(page)
        kind = media_type_of(content)
        return data_url(content, kind) if kind else ""


def attached_photos(
    case: Case,
    mode: PrivacyMode,
    drawn: Collection[PersonId],
    address: Callable[[Attachment], str],
    describe: Callable[[str], str],
) -> Mapping[PersonId, Photo]:
    """The first picture attached to each of these people, for the owner only: it may show anybody."""
    people, found = case.tree(mode).persons, dict[PersonId, Photo]()
    for item in case.store.attachments.all() if mode == "owner" else ():
        is_photo = item.role == "photo" and item.media_type.startswith("image/")
        if is_photo and item.person in drawn and item.person not in found and (place := address(item)):
            found[item.person] = Photo(place, item.caption or describe(people[item.person].name))
    return found


def embedded_photo(case: Case, item: Attachment) -> str:
    """An attached picture as part of a file; empty if browsers cannot show it."""
    content = case.store.attachments.content(item.id)
    kind = media_type_of(content)
    return data_url(content, kind) if kind else ""


NO_PHOTOS: Mapping[PersonId, Photo] = {}


@dataclass(frozen=True, slots=True)
class TreeView:
    """A drawn family: the picture, how many people are in it apart from the first, and how many did not fit."""

    svg: Markup
    people: int
    left_out: int


def drawing_in(catalogue: Catalogue, title: str, description: str, photos: Mapping[PersonId, Photo]) -> Drawing:
    """How a family is drawn in the language of a reader, without links."""
    return Drawing(
        title,
        f"{description} {catalogue('family.tree.legend')}",
        say=lambda text: in_reader_language(text, catalogue),
        note=lambda note: catalogue.named("family.note", note),
        unnamed=catalogue("family.unnamed"),
        photos=photos,
    )


def shape_drawing(
    shape: Shape,
    layout: Layout,
    tree: Tree,
    root: PersonId,
    catalogue: Catalogue,
    photos: Mapping[PersonId, Photo] = NO_PHOTOS,
) -> Drawing:
    """How a family tree is drawn, with its title and a description of its shape."""
    title = catalogue(f"family.tree.title_{shape}", name=person_name(catalogue, tree.persons[root].name))
    return drawing_in(catalogue, title, catalogue(f"family.tree.in_{shape}", n=people_drawn(layout)), photos)


def tree_address(base: str, root: PersonId, shape: Shape, generations: int, part: str = "tree") -> str:
    """Where a person's tree is."""
    return f"{base}/{part}?{urlencode({'root': root, 'of': shape, 'generations': generations})}"


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
    catalogue, tree = catalogue_for(request), case.tree(mode)
    base = f"/family/{request.path_params['case']}"
    layout = close_family_layout(case.derived(Couples, mode), person)
    if len(layout.boxes) < 2:
        return None
    photos = portraits(pages, request, case, mode, layout).of(tree, [box.person for box in layout.boxes])
    how = replace(
        shape_drawing("hourglass", layout, tree, person, catalogue, photos),
        person_address=lambda other: person_address(base, other),
        more_address=lambda other: tree_address(base, other, "hourglass", USUAL_GENERATIONS["hourglass"]),
    )
    return CloseFamily(Markup(picture(layout, tree, how)), layout.width > MAX_SHRUNK)  # noqa: S704


def tree_view(
    pages: FamilyPages,
    request: Request,
    case: CachedCase,
    mode: PrivacyMode,
    root: PersonId,
    shape: Shape = "hourglass",
    generations: int | None = None,
) -> TreeView | None:
    """A person's family tree as a page shows it; None if there are no relatives to draw."""
    catalogue, base = catalogue_for(request), f"/family/{request.path_params['case']}"
    tree, many = case.tree(mode), USUAL_GENERATIONS[shape] if generations is None else generations
    layout = shape_layout(shape, case.derived(Couples, mode), root, many)
    if layout is None:
        return None
    people = [box.person for box in layout.boxes if not box.wedge]
    photos = portraits(pages, request, case, mode, layout).of(tree, people)
    how = replace(
        shape_drawing(shape, layout, tree, root, catalogue, photos),
        person_address=lambda person: person_address(base, person),
        more_address=lambda person: tree_address(base, person, shape, many),
    )
    return TreeView(Markup(picture(layout, tree, how)), people_drawn(layout), layout.left_out)  # noqa: S704


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
    catalogue, base = catalogue_for(request), f"/family/{request.path_params['case']}"

    def describe(name: str) -> str:
        return catalogue("family.tree.photo", name=person_name(catalogue, name))

    def address(item: Attachment) -> str:
        return embedded_photo(case, item) if for_file else f"{base}/attachments/{percent(item.id)}"

    drawn = {box.person for box in layout.boxes} if layout else set[PersonId]()
    attached = attached_photos(case, mode, drawn, address, describe)
    return Portraits(pages.context, pages.pages.pictures, describe, attached)


def first_person(found: CachedCase, mode: PrivacyMode) -> PersonId:
    """Whose tree is shown first; empty if the family has no people."""
    return next(iter(person_ids_by_distance(found, mode)), "")


def live_address(
    pages: FamilyPages, case: str, root: PersonId, shape: Shape = "hourglass", generations: int | None = None
) -> str:
    """Where a page asks for a tree again while the research goes on; empty if none does."""
    if not root or pages.job_of(case) is None:
        return ""
    many = USUAL_GENERATIONS[shape] if generations is None else generations
    return tree_address(f"/family/{case}", root, shape, many, part="tree/live")
