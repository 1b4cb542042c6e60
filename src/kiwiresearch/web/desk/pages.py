"""Pages of the desk: templates filled with values, in the reader's language, under one strict policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse, Response

from kiwiresearch import __version__
from kiwiresearch.evidence.citation import BOX
from kiwiresearch.text.languages import two_letter_code
from kiwiresearch.web.desk.family_words import aged, why_living
from kiwiresearch.web.desk.files import address_of, is_there
from kiwiresearch.web.desk.problem_words import is_from_below, is_typed, kind_of
from kiwiresearch.web.desk.retold import retold
from kiwiresearch.web.desk.told_dates import dated
from kiwiresearch.web.desk.words import LANGUAGES, Words, words_for
from kiwiresearch.web.guard.visitor import visitor
from kiwiresearch.web.room import Room

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

    def __init__(self, room: Room) -> None:
        self._room = room
        self._templates = Environment(
            loader=PackageLoader("kiwiresearch.web.desk"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals.update(
            who=visitor,
            policy=room.desk.settings.policy,
            file=address_of,
            has_file=is_there,
            languages=LANGUAGES,
            menu=(*MENU, ATLAS) if room.desk.settings.atlas else MENU,
            version=__version__,
        )
        self._templates.filters.update(local=local, dir=direction, lang=two_letter_code, retold=retold, dated=dated)
        self._templates.filters.update(kind=kind_of, is_from_below=is_from_below, is_typed=is_typed, section=section)
        self._templates.filters.update(aged=aged, why_living=why_living)

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
        content = self.drawn(request, template, **values).encode("utf-8", "replace")
        return HTMLResponse(content, status, HEADERS | dict(headers or {}))

    def drawn(self, request: Request, template: str, **values: Any) -> str:
        """The text of a page, or of a part of one that a script puts into its place."""
        words = words_for(request)
        here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return self._templates.get_template(template).render(
            t=words, customs=words.customs, here=here, place=request.url.path, **values
        )


def go_to(address: str) -> Response:
    """Where a form leads when it has done its work: a reload does not do it again."""
    return RedirectResponse(address, 303, {"Cache-Control": "no-store"})


def local(url: str) -> str:
    """An address on this server without its name, so that it works under every name it has."""
    return urlsplit(url)._replace(scheme="", netloc="").geturl()


def direction(language: str) -> str:
    """The direction in which a language is written, for the attribute `dir`."""
    return "rtl" if two_letter_code(language) in RIGHT_TO_LEFT else "ltr"


def section(name: str, words: Words) -> str:
    """The name of a section of a page; that of its box is no word of the page."""
    return words("desk.box") if name == BOX else name


def own_place(address: str) -> str:
    """An address that a form sent back, if it leads to a page of ours; else the first page."""
    # Two slashes begin the name of another server, and browsers take '\\' for one and leave out tabs and line ends.
    is_ours = address.startswith("/") and not address.startswith("//") and address.isprintable() and "\\" not in address
    return address if is_ours else "/"
