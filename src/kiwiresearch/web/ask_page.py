"""A page to ask on, for people with a browser and nothing else: a form, and the answer with its citations."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse

from kiwiresearch.ask.answer import Answer, Line
from kiwiresearch.ask.wish import AskWish
from kiwiresearch.ask.wording import origin_of, sureness
from kiwiresearch.errors import KiwiError
from kiwiresearch.web.pages import local, page
from kiwiresearch.web.problems import problem_of
from kiwiresearch.web.room import Room

LONGEST = 2_000
MOST_NEAR = 3
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
        return page(q, form() + "".join(_parts(answer, room)))

    return routes


def _parts(answer: Answer, room: Room) -> Iterator[str]:
    links = {cited.key: (local(room.link(cited)), cited) for cited in answer.citations}
    for number, line in enumerate(answer.lines):
        span = (0, 0) if number else answer.short_span
        marks = "".join(f' <a href="{escape(links[key][0])}">[{links[key][1].number}]</a>' for key in line.keys)
        yield f"<p>{_marked(line, span)}{marks}</p>"
    if not answer.grounded:
        near = dict.fromkeys((page.title, local(room.page_url(page.ref))) for page in answer.pages)
        named = ", ".join(f'<a href="{escape(url)}">{escape(title)}</a>' for title, url in list(near)[:MOST_NEAR])
        yield f"<p>Nothing in the books answers this.{f' The nearest pages are: {named}.' if named else ''}</p>"
    for conflict in answer.conflicts:
        quotes = "".join(f"<blockquote>{escape(quote)}</blockquote>" for quote in (conflict.a_quote, conflict.b_quote))
        yield f"<p><strong>Sources do not agree.</strong> {escape(conflict.words)}</p>{quotes}"
    yield from (f"<p>{escape(notice)}</p>" for notice in answer.notices)
    if answer.citations:
        rows = "".join(
            f'<li value="{cited.number}"><a href="{escape(url)}">{escape(cited.citation.words)}</a></li>'
            for url, cited in links.values()
        )
        yield f"<ol>{rows}</ol><p>{escape(sureness(answer.sure))} {escape(origin_of(answer.books))}.</p>"


def _marked(line: Line, span: tuple[int, int]) -> str:
    start, end = span
    before, short, behind = (
        escape(part.replace("\t", ": ")) for part in (line.text[:start], line.text[start:end], line.text[end:])
    )
    return f"{before}<strong>{short}</strong>{behind}" if short else behind
