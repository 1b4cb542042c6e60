"""The places of a person's life on a map, where the pages of these places say where they are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from markupsafe import Markup

from kiwiresearch.cases import EvidenceRecord
from kiwiresearch.document import svg_line, svg_number, svg_picture, svg_text
from kiwiresearch.errors import KiwiError
from kiwiresearch.kin import DISCARDED, PLACE_FIELDS
from kiwiresearch.messages import Catalogue
from kiwiresearch.page import Coordinates, Link, coordinates_in, open_page
from kiwiresearch.text import fold
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.family_frame import LinkedFact
from kiwiresearch.web.families import page_of
from kiwiresearch.workspace import Finder, RecentCache
from kiwiresearch.zim import Archive, EntryRef

TIMEOUT_S = 1.0
WIDTH, HEIGHT, EDGE = 320.0, 240.0, 34.0
MIN_DEGREES = 0.5
"""Places closer together than this are shown in a map of this height."""
LINES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 45.0)
LINKS: RecentCache[EntryRef, tuple[Link, ...]] = RecentCache(64)
KNOWN: RecentCache[EntryRef, Coordinates | None] = RecentCache(2_000)


@dataclass(frozen=True, slots=True)
class MappedPlace:
    """A place of a life: its name, what happened there, and where it is."""

    name: str
    fields: tuple[str, ...]
    at: Coordinates


@dataclass(frozen=True, slots=True)
class PlaceMap:
    """The map, and its places in the order of their numbers."""

    svg: Markup
    places: tuple[MappedPlace, ...]


def place_map(context: ServerContext, catalogue: Catalogue, facts: Iterable[LinkedFact]) -> PlaceMap | None:
    """A map of the places in these facts; None if no page of a book says where any of them is."""
    with context.try_locked_finder(TIMEOUT_S) as finder:
        places = _merged(_places(context, finder, facts)) if finder else ()
    return PlaceMap(Markup(_svg(places, catalogue)), places) if places else None  # noqa: S704


def _places(context: ServerContext, finder: Finder, facts: Iterable[LinkedFact]) -> Iterator[MappedPlace]:
    for fact in facts:
        if fact.field in PLACE_FIELDS and fact.status not in DISCARDED:
            found = (_coordinates(context, finder, evidence, fact.value) for evidence in fact.evidence)
            if at := next(filter(None, found), None):
                yield MappedPlace(fact.value, (fact.field,), at)


def _coordinates(context: ServerContext, finder: Finder, evidence: EvidenceRecord, place: str) -> Coordinates | None:
    """Where the page is that the words of a place link to."""
    ref = page_of(context, evidence)
    archive = next((book.archive for book in finder.books if ref and book.id == ref.book), None)
    if ref is None or archive is None:
        return None
    try:
        links = LINKS.get(ref, lambda: open_page(archive, ref.path).links)
        for link in links:
            if link.in_text and evidence.start <= link.start < evidence.end and fold(link.anchor) in fold(place):
                target = EntryRef(ref.book, link.target)
                if at := KNOWN.get(target, partial(_of_page, archive, target)):
                    return at
    except KiwiError:
        pass
    return None


def _of_page(archive: Archive, target: EntryRef) -> Coordinates | None:
    return coordinates_in(archive.read(target.path).content)


def _merged(places: Iterable[MappedPlace]) -> tuple[MappedPlace, ...]:
    """Each place once, with all that happened there."""
    found: dict[Coordinates, MappedPlace] = {}
    for place in places:
        known = found.get(place.at)
        fields = tuple(dict.fromkeys((*known.fields, *place.fields))) if known else place.fields
        found[place.at] = MappedPlace(known.name if known else place.name, fields, place.at)
    return tuple(found.values())


def _svg(places: Sequence[MappedPlace], catalogue: Catalogue) -> str:
    """Numbered points on lines of latitude and longitude, at the scale of their middle latitude."""
    north, south = (pick(place.at.latitude for place in places) for pick in (max, min))
    east, west = (pick(place.at.longitude for place in places) for pick in (max, min))
    middle = Coordinates((north + south) / 2, (east + west) / 2)
    # A degree of longitude is narrower than one of latitude; at the poles, the map would have no width at all.
    narrowing = max(math.cos(math.radians(middle.latitude)), 0.1)
    room = Coordinates(HEIGHT - 2 * EDGE, WIDTH - 2 * EDGE)
    high = max(north - south, MIN_DEGREES, (east - west) * narrowing * room.latitude / room.longitude)
    scale = room.latitude / high

    def x(longitude: float) -> float:
        return WIDTH / 2 + (longitude - middle.longitude) * scale * narrowing

    def y(latitude: float) -> float:
        return HEIGHT / 2 - (latitude - middle.latitude) * scale

    parts = []
    step = next((line for line in LINES if line * scale >= EDGE * 1.5), LINES[-1])
    for degrees in _steps(middle.latitude, HEIGHT / 2 / scale, step):
        parts += [svg_line(0, y(degrees), WIDTH, y(degrees), "grid"), _degrees(4, y(degrees) - 3, degrees, "NS")]
    for degrees in _steps(middle.longitude, WIDTH / 2 / scale / narrowing, step):
        parts += [svg_line(x(degrees), 0, x(degrees), HEIGHT, "grid")]
        parts += [_degrees(x(degrees) + 3, HEIGHT - 4, degrees, "EW")]
    for number, place in enumerate(places, start=1):
        at = f'cx="{svg_number(x(place.at.longitude))}" cy="{svg_number(y(place.at.latitude))}"'
        parts.append(f'<circle class="place" {at} r="9"/>')
        parts.append(svg_text(x(place.at.longitude), y(place.at.latitude) + 4, str(number), "number", "middle"))
    size = svg_number(WIDTH), svg_number(HEIGHT)
    names = ", ".join(f"{number}: {place.name}" for number, place in enumerate(places, start=1))
    return svg_picture("places", size, catalogue("family.person.map"), names, parts)


def _steps(middle: float, reach: float, step: float) -> Iterator[float]:
    """The multiples of a step around a middle."""
    for index in range(math.ceil((middle - reach) / step), math.floor((middle + reach) / step) + 1):
        yield round(index * step, 1)


def _degrees(x: float, y: float, degrees: float, sides: str) -> str:
    side = sides[degrees < 0] if degrees else ""
    return svg_text(x, y, f"{abs(degrees):g}° {side}".strip(), "degrees")
