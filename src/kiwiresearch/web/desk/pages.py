"""Renders the templates in the reader's language, and divides long lists into pages."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, Self, TypeVar

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse, Response

from kiwiresearch.claims import CLAIM_TYPES
from kiwiresearch.codec import JsonDict
from kiwiresearch.evidence import INFOBOX
from kiwiresearch.messages import LANGUAGES, Catalogue
from kiwiresearch.text import fold, two_letter_code
from kiwiresearch.version import __version__
from kiwiresearch.web.addresses import list_address, local_address
from kiwiresearch.web.context import ServerContext, catalogue_for
from kiwiresearch.web.desk.covers import Covers, LeadPictures, initials
from kiwiresearch.web.desk.static_files import file_address, has_file
from kiwiresearch.web.desk.translations import (
    confidence_level,
    date_markup,
    has_own_words,
    in_reader_language,
    is_command,
    is_withheld,
    kinship_words,
    problem_key,
    time_element,
    translated,
)
from kiwiresearch.web.guard import OwnerAccess, current_visitor
from kiwiresearch.workspace import THEMES

T = TypeVar("T")

ROWS_PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class ListPage(Generic[T]):
    """Some rows of a list; a number beyond the last page shows the last page."""

    rows: tuple[T, ...]
    total: int
    number: int
    last: int
    first_row: int
    """The position of the first row in the list, from 1; 0 in a list without rows."""
    before: str = ""
    """The address of the page before; empty if there is none."""
    after: str = ""

    @property
    def last_row(self) -> int:
        return self.first_row + len(self.rows) - 1 if self.rows else 0


@dataclass(frozen=True, slots=True)
class ListPlace:
    """Where the pages of a list are: their address, its other parameters, and the parameter for the page number."""

    path: str
    filters: Mapping[str, object] = field(default_factory=dict)
    parameter: str = "n"
    anchor: str = ""

    def address(self, number: int) -> str:
        # The first page needs no number.
        return list_address(self.path, {**self.filters, self.parameter: number if number > 1 else 0}) + self.anchor


def list_page(rows: Sequence[T], number: int, place: ListPlace, size: int = ROWS_PER_PAGE) -> ListPage[T]:
    """The page of this number, from 1."""
    number = min(number, last_number(len(rows), size))
    start = (number - 1) * size
    return numbered_page(rows[start : start + size], len(rows), number, place, size)


def numbered_page(rows: Sequence[T], total: int, number: int, place: ListPlace, size: int) -> ListPage[T]:
    """A page whose rows are already known, with the addresses of its neighbours."""
    last = last_number(total, size)
    return ListPage(
        rows=tuple(rows),
        total=total,
        number=number,
        last=last,
        first_row=(number - 1) * size + 1 if rows else 0,
        before=place.address(number - 1) if number > 1 else "",
        after=place.address(number + 1) if number < last else "",
    )


def last_number(total: int, size: int) -> int:
    """The number of the last page."""
    return max(-(-total // size), 1)


def none_if_empty(value: object) -> object:
    """Read an empty field of a form as None; also the year 0, which does not exist."""
    return None if isinstance(value, str) and value.strip() in ("", "0") else value


def has_words(query: str, *texts: str) -> bool:
    """Whether some texts together have all words of a query, in any order, ignoring accents; True if it is empty."""
    words = fold(query).split() if query.strip() else []
    if not words:
        return True
    text = fold(" ".join(texts))
    return all(word in text for word in words)


class ScopedQuery(Protocol):
    """The query of a page that shows either the claims in the brief or all claims of the run."""

    def model_copy(self, *, update: Mapping[str, Any]) -> Self: ...

    def filters(self) -> JsonDict: ...


def scope_choices(place: str, query: ScopedQuery) -> list[tuple[str, str]]:
    """The addresses of both choices, with the same filters."""
    return [
        (which, list_address(place, query.model_copy(update={"which": which}).filters())) for which in ("brief", "all")
    ]


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "manifest-src 'self'; worker-src 'self'"
)
# With no-referrer, browsers would send our own forms with an Origin of 'null'.
HEADERS = {"Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin", "Cache-Control": "no-store"}
RIGHT_TO_LEFT = frozenset({"ar", "arc", "ckb", "dv", "fa", "he", "ks", "ku", "ps", "sd", "ug", "ur", "yi"})
MENU = (
    ("home", "/", ()),
    ("ask", "/ask", ("/ask/",)),
    ("research", "/research", ("/research/", "/runs/", "/compare")),
    ("find", "/find", ()),
    ("family", "/family", ("/family/",)),
    ("books", "/books", ("/books/",)),
)
"""The menu: a key of the catalogue, the address, and the prefixes of other addresses that belong to it."""
WORKSHEET = ("reading.worksheet", "/worksheet")
EXPLORE = (
    ("explore.menu.subjects", "/browse"),
    ("explore.menu.titles", "/browse/titles"),
    ("explore.menu.day", "/on-this-day"),
    WORKSHEET,
    ("frame.random", "/random"),
)
"""The entries below “Explore”."""
EXPLORE_ATLAS = (
    ("explore.menu.timeline", "/explore/timeline"),
    ("explore.menu.contradictions", "/explore/contradictions"),
    ("explore.menu.linked", "/explore/ranks"),
    ("explore.menu.atlases", "/atlas"),
)
"""Those that are there as soon as a book has an atlas."""
EXPLORE_PLACES = ("/browse", "/on-this-day", "/explore/", "/atlas", "/worksheet")


THEME_COOKIE = "kiwiresearch_theme"


class PageRenderer:
    """Renders the pages of one server."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._access = OwnerAccess(context.workspace.settings.serve)
        self.covers = Covers(context)
        self.pictures = LeadPictures(context)

    def show(
        self,
        request: Request,
        template: str,
        part: JsonDict | None = None,
        /,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        **values: Any,
    ) -> Response:
        """A page; templates have `t` (the catalogue), `locale`, `here` (the address) and these values."""
        # A lone surrogate, which a foreign file may contain, cannot be encoded.
        content = self.render(request, template, **(part or {}), **values).encode("utf-8", "replace")
        return HTMLResponse(content, status, HEADERS | dict(headers or {}))

    def theme_for(self, request: Request) -> str:
        """Light, dark, or what the system prefers: as the reader chose, else as the settings say."""
        chosen = request.cookies.get(THEME_COOKIE, "")
        return chosen if chosen in THEMES else self._context.workspace.settings.serve.theme

    def render(self, request: Request, template: str, **values: Any) -> str:
        """The HTML of a page, or of a part that a script inserts."""
        catalogue = catalogue_for(request)
        here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return (
            _templates()
            .get_template(template)
            .render(
                t=catalogue,
                locale=catalogue.locale,
                here=here,
                place=request.url.path,
                part_of=values.pop("part_of", request.url.path),
                theme=self.theme_for(request),
                may_manage=self._access.may_manage(request),
                removed_notice=removed_notice_in(request),
                policy=self._context.workspace.settings.policy,
                cover_address=self.covers.address,
                menu=MENU,
                explore_menu=self._explore_menu(),
                explore_places=EXPLORE_PLACES,
                **values,
            )
        )

    def _explore_menu(self) -> tuple[tuple[str, str], ...]:
        """The entries that the visitor may open, and those of atlases if there are any."""
        is_pupil = not current_visitor().may("researcher")
        own = tuple(entry for entry in EXPLORE if not (is_pupil and entry == WORKSHEET))
        return own + (EXPLORE_ATLAS if self._context.atlases.all()[0] else ())


@functools.cache
def _templates() -> Environment:
    """The templates, compiled once for all servers of this process."""
    templates = Environment(
        loader=PackageLoader("kiwiresearch.web.desk"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals.update(
        claim_types=CLAIM_TYPES,
        who=current_visitor,
        file=file_address,
        has_file=has_file,
        languages=LANGUAGES,
        themes=THEMES,
        version=__version__,
    )
    templates.filters.update(
        date=date_markup,
        dir=direction,
        has_own_words=has_own_words,
        initials=initials,
        is_command=is_command,
        kind=problem_key,
        kinship=kinship_words,
        lang=two_letter_code,
        level=confidence_level,
        local=local_address,
        in_reader_language=in_reader_language,
        section=section_name,
        time=time_element,
        translated=translated,
    )
    templates.tests.update(withheld=is_withheld)
    return templates


@dataclass(frozen=True, slots=True)
class RemovedNotice:
    """What the form that led to a page has archived, deleted or restored, so that the page can offer to undo it."""

    state: str
    kind: str
    id: str


def removed_notice_in(request: Request) -> RemovedNotice | None:
    """The notice that the address of a page asks for; whether it is still true is checked by the undo."""
    for state in ("deleted", "archived", "restored"):
        kind, _, wanted = request.query_params.get(state, "").partition(".")
        if kind in ("run", "family", "questions") and len(wanted) <= 200:
            return RemovedNotice(state, kind, wanted)
    return None


def redirect(address: str) -> Response:
    """Redirect after a form was carried out, so that a reload does not send it again."""
    return RedirectResponse(address, 303, {"Cache-Control": "no-store"})


def direction(language: str) -> str:
    """The value of `dir` for a language."""
    return "rtl" if two_letter_code(language) in RIGHT_TO_LEFT else "ltr"


def section_name(name: str, catalogue: Catalogue) -> str:
    """The name of a section; the infobox, which pages do not name, is translated."""
    return catalogue("desk.box") if name == INFOBOX else name
