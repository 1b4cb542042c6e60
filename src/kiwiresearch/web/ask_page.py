"""A page to ask on, for people with a browser and nothing else: a form, and the answer with its citations."""

from __future__ import annotations

from html import escape
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse

from kiwiresearch.ask.wish import AskWish
from kiwiresearch.ask.wording import (
    DISAGREEMENT,
    Disagreement,
    Notice,
    Origin,
    Part,
    Refusal,
    Sentence,
    Side,
    Source,
    Sources,
    Sureness,
    Way,
    Worded,
    nearest,
    parts_of,
)
from kiwiresearch.errors import KiwiError
from kiwiresearch.web.pages import local, page
from kiwiresearch.web.problems import problem_of
from kiwiresearch.web.room import Room

LONGEST = 2_000
PLAIN = AskWish(with_model=False)


def form(question: str = "") -> str:
    """The box to ask in."""
    return (
        '<form action="/ask" method="get"><label>Ask the books <input name="q" size="40" maxlength="2000" required '
        f'value="{escape(question)}"></label> <button>Ask</button></form>'
    )


def router(room: Room) -> APIRouter:
    """The page at /ask."""
    routes = APIRouter()

    @routes.get("/ask", include_in_schema=False)
    def asked(q: Annotated[str, Query(max_length=LONGEST)] = "") -> HTMLResponse:
        """The books' own words; a model would keep a reader waiting for a whole page."""
        if not q.strip():
            return page("Ask", form())
        try:
            answer = room.asker.ask(q, PLAIN)
        except KiwiError as error:
            problem = problem_of(error)
            told = f"<p>{escape(problem.detail)} {escape(problem.remedy)}</p>"
            return page("Ask", form(q) + told, status=problem.status)
        return page(q, form() + "".join(_shown(part, room) for part in parts_of(answer)))

    return routes


def _shown(part: Part, room: Room) -> str:
    """A part of an answer as HTML; how it was found is nothing that a reader of a page asks for."""
    match part:
        case Sentence():
            return f"<p>{_marked(part)}{''.join(f' {_mark(source, room)}' for source in part.sources)}</p>"
        case Worded():
            return f"<p>{escape(part.text)}</p>"
        case Refusal():
            named = [_linked(room.page_url(page.ref), escape(page.title)) for page in part.near]
            return f"<p>{f'{escape(part.words)} {nearest(named)}'.strip()}</p>"
        case Disagreement():
            quotes = "".join(f"<blockquote>{_quoted(side, room)}</blockquote>" for side in part.sides)
            return f"<p><strong>{DISAGREEMENT}</strong> {escape(part.words)}</p>{quotes}"
        case Notice() | Sureness():
            return f"<p>{escape(part.words)}</p>"
        case Sources():
            return f"<ol>{''.join(_source(source, room) for source in part.sources)}</ol>"
        case Origin():
            return f"<p>{part.words(escape)}.</p>"
        case Way():
            return ""


def _marked(part: Sentence) -> str:
    before, short, behind = map(escape, (part.before, part.short, part.behind))
    return f"{before}<strong>{short}</strong>{behind}" if short else behind


def _quoted(side: Side, room: Room) -> str:
    return escape(side.quote) + (f" {_mark(side.source, room)}" if side.source else "")


def _source(source: Source, room: Room) -> str:
    cited = source.cited
    return f'<li value="{source.number}">{_linked(room.link(cited), escape(cited.citation.words))}</li>'


def _mark(source: Source, room: Room) -> str:
    return _linked(room.link(source.cited), source.mark)


def _linked(url: str, words: str) -> str:
    return f'<a href="{escape(local(url))}">{words}</a>'
