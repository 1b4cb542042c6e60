"""Pictures of people for their boxes in a family tree."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from kiwiresearch.brief import data_url, media_type_of
from kiwiresearch.cases import Case
from kiwiresearch.kin import PersonId, Tree
from kiwiresearch.kin.privacy import PrivacyMode
from kiwiresearch.kin.report import Photo
from kiwiresearch.kin.store import Attachment
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.covers import LeadPictures, picture_address
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
