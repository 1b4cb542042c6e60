"""Renders the templates in the reader's language, and cuts long lists into pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar
from urllib.parse import urlencode, urlsplit

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse, Response

from kiwiresearch.evidence import FACTS_BOX
from kiwiresearch.messages.catalogue import LANGUAGES, Catalogue
from kiwiresearch.text.languages import two_letter_code
from kiwiresearch.version import __version__
from kiwiresearch.web.context import ServerContext, catalogue_for
from kiwiresearch.web.desk.dates import date_markup
from kiwiresearch.web.desk.static_files import file_address, has_file
from kiwiresearch.web.desk.translations import (
    has_own_words,
    is_command,
    is_withheld,
    problem_key,
    said,
    time_element,
    translated,
)
from kiwiresearch.web.guard.identity import current_visitor

T = TypeVar("T")

ROWS_PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class ListPage(Generic[T]):
    """Some rows of a list; a number behind the last part shows the last."""

    rows: tuple[T, ...]
    total: int
    number: int
    last: int
    first_row: int
    """The place of the first row in the whole list, from 1; 0 of a list without rows."""
    before: str = ""
    """Where the part before is; empty where there is none."""
    after: str = ""

    @property
    def last_row(self) -> int:
        return self.first_row + len(self.rows) - 1 if self.rows else 0


def list_page(
    rows: Sequence[T], number: int, place: str, filters: Mapping[str, object], size: int = ROWS_PER_PAGE
) -> ListPage[T]:
    """The part of this number, from 1; `wish` is what else the address says."""
    last = max(-(-len(rows) // size), 1)
    number = min(number, last)
    start = (number - 1) * size
    return ListPage(
        rows=tuple(rows[start : start + size]),
        total=len(rows),
        number=number,
        last=last,
        first_row=start + 1 if rows else 0,
        before=list_address(place, {**filters, "n": number - 1}) if number > 1 else "",
        after=list_address(place, {**filters, "n": number + 1}) if number < last else "",
    )


class ScopedQuery(Protocol):
    """A query of a page that shows what the brief tells, or all that the pages say."""

    def model_copy(self, *, update: Mapping[str, Any]) -> Self: ...

    def filters(self) -> dict[str, Any]: ...


def scope_choices(place: str, query: ScopedQuery) -> list[tuple[str, str]]:
    """The address of each of the two, with all else as it is wished for."""
    return [
        (which, list_address(place, query.model_copy(update={"which": which}).filters())) for which in ("brief", "all")
    ]


def list_address(place: str, filters: Mapping[str, object]) -> str:
    """An address that says what is wished for, and nothing of what is not; the first part needs no number."""
    said = {name: value for name, value in filters.items() if value not in ("", 0, None) and (name, value) != ("n", 1)}
    return f"{place}?{urlencode(said, errors='replace')}" if said else place


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
# With no-referrer, browsers would send our own forms with an Origin of 'null'.
HEADERS = {"Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin", "Cache-Control": "no-store"}
RIGHT_TO_LEFT = frozenset({"ar", "arc", "ckb", "dv", "fa", "he", "ks", "ku", "ps", "sd", "ug", "ur", "yi"})
MENU = (
    ("home", "/", ()),
    ("ask", "/ask", ("/ask/",)),
    ("research", "/research", ("/research/", "/runs/", "/compare")),
    ("find", "/find", ("/page/",)),
    ("family", "/family", ("/family/",)),
)
"""The line at the top: a name in the catalogue, its page, and the beginnings of other addresses that belong to it."""
ATLAS = ("atlas", "/atlas", ("/atlas/",))
"""The place that only a desk has whose settings name an atlas."""


class Pages:
    """Draws the pages of one server."""

    def __init__(self, room: ServerContext) -> None:
        self._room = room
        self._templates = Environment(
            loader=PackageLoader("kiwiresearch.web.desk"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals.update(
            who=current_visitor,
            policy=room.desk.settings.policy,
            file=file_address,
            has_file=has_file,
            languages=LANGUAGES,
            menu=(*MENU, ATLAS) if room.desk.settings.atlas else MENU,
            version=__version__,
        )
        self._templates.filters.update(
            local=local_address,
            dir=direction,
            lang=two_letter_code,
            retold=translated,
            dated=date_markup,
            timed=time_element,
            said=said,
        )
        self._templates.filters.update(
            kind=problem_key, is_from_below=has_own_words, is_typed=is_command, section=section_name
        )
        self._templates.tests.update(withheld=is_withheld)

    def show(
        self,
        request: Request,
        template: str,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        **values: Any,
    ) -> Response:
        """A page; a template finds `t` (words), `customs`, `here` (its own address) and the values it is given."""
        # Halves of letters, which a file from elsewhere may hold, cannot be sent.
        content = self.render(request, template, **values).encode("utf-8", "replace")
        return HTMLResponse(content, status, HEADERS | dict(headers or {}))

    def render(self, request: Request, template: str, **values: Any) -> str:
        """The text of a page, or of a part of one that a script puts into its place."""
        words = catalogue_for(request)
        here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return self._templates.get_template(template).render(
            t=words, customs=words.customs, here=here, place=request.url.path, **values
        )


def redirect(address: str) -> Response:
    """Where a form leads when it has done its work: a reload does not do it again."""
    return RedirectResponse(address, 303, {"Cache-Control": "no-store"})


def local_address(url: str) -> str:
    """An address on this server without its name, so that it works under every name it has."""
    return urlsplit(url)._replace(scheme="", netloc="").geturl()


def direction(language: str) -> str:
    """The direction in which a language is written, for the attribute `dir`."""
    return "rtl" if two_letter_code(language) in RIGHT_TO_LEFT else "ltr"


def section_name(name: str, words: Catalogue) -> str:
    """The name of a section of a page; that of its box is no word of the page."""
    return words("desk.box") if name == FACTS_BOX else name


def safe_return_address(address: str) -> str:
    """An address that a form sent back, if it leads to a page of ours; else the first page."""
    # Two slashes begin the name of another server, and browsers take '\\' for one and leave out tabs and line ends.
    is_ours = address.startswith("/") and not address.startswith("//") and address.isprintable() and "\\" not in address
    return address if is_ours else "/"
