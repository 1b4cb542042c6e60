"""What the search box suggests while the reader types: pages, earlier questions, research, families and notes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, Response

from kiwiresearch.codec import Record, plain
from kiwiresearch.errors import KiwiError
from kiwiresearch.ids import BookId
from kiwiresearch.jobs import JobQueue
from kiwiresearch.messages import Catalogue
from kiwiresearch.text import fold
from kiwiresearch.web.addresses import case_address, page_address, run_address
from kiwiresearch.web.bodies import Name, Words
from kiwiresearch.web.context import ServerContext, catalogue_for
from kiwiresearch.web.desk.browser import browser_of
from kiwiresearch.web.desk.pages import PageRenderer, has_words
from kiwiresearch.web.desk.question_history import QuestionHistory
from kiwiresearch.web.desk.typed_words import action_address, pages_named
from kiwiresearch.web.families import Families
from kiwiresearch.web.guard import RoleRouter
from kiwiresearch.web.search import title_suggestions
from kiwiresearch.zim import EntryRef

MAX_PAGES = 7
MAX_OTHERS = 2
"""Suggestions of each other kind: the list must stay short enough to be seen whole on a phone."""
MAX_SEARCHED = 100
"""Runs whose notes are searched, and families whose names are; the newest come first."""


@dataclass(frozen=True, slots=True)
class BoxSuggestion(Record):
    """One line of the list below the box."""

    text: str
    address: str
    detail: str = ""


class BoxSuggestions:
    """Finds suggestions of every kind among what the visitor may see."""

    def __init__(self, context: ServerContext, jobs: JobQueue) -> None:
        self._context = context
        self._runs = jobs.runs
        self._questions = QuestionHistory(context.workspace)
        self._families = Families(context, jobs)

    def pages(self, query: str, book: str) -> Iterator[BoxSuggestion]:
        """The page that is meant, such as 'Volcano' for 'volcanoes', then pages whose titles match.

        The book is named if there are several.
        """
        has_many = len(self._context.shelf.books) > 1
        meant = () if book else pages_named(self._context, query)
        for page in meant:
            yield BoxSuggestion(page.title, page.address, page.book if has_many else "")
        known = {page.address for page in meant}
        for suggestion in title_suggestions(self._context, query, MAX_PAGES - len(meant), book):
            alias = suggestion.alias if suggestion.alias != suggestion.title else ""
            detail = " · ".join(filter(None, (alias, suggestion.book_title if has_many else "")))
            address = page_address(EntryRef(BookId(suggestion.book_id), suggestion.path))
            if address not in known:
                yield BoxSuggestion(suggestion.title, address, detail)

    def own_work(self, request: Request, query: str, catalogue: Catalogue) -> Iterator[BoxSuggestion]:
        """Questions, research, families and notes that contain all words of the query."""
        if not fold(query).split():
            return iter(())
        found = (
            self._matching_questions(request, query, catalogue),
            self._matching_runs(query, catalogue),
            self._matching_families(request, query, catalogue),
            self._matching_notes(query, catalogue),
        )
        return chain.from_iterable(islice(kind, MAX_OTHERS) for kind in found)

    def _matching_questions(self, request: Request, query: str, catalogue: Catalogue) -> Iterator[BoxSuggestion]:
        for question in self._questions.latest(MAX_SEARCHED, browser_of(request)):
            if has_words(query, question):
                yield BoxSuggestion(question, action_address("ask", question), catalogue("frame.kinds.question"))

    def _matching_runs(self, query: str, catalogue: Catalogue) -> Iterator[BoxSuggestion]:
        for run in self._runs.all():
            if has_words(query, run.topic):
                yield BoxSuggestion(run.topic, run_address(run.id), catalogue("frame.kinds.run"))

    def _matching_families(self, request: Request, query: str, catalogue: Catalogue) -> Iterator[BoxSuggestion]:
        for case in self._families.cases.ids()[:MAX_SEARCHED]:
            names = self._families.seed_names(request, case)  # empty for visitors who may not see them
            if names and has_words(query, names):
                yield BoxSuggestion(names, case_address(case), catalogue("frame.kinds.family"))

    def _matching_notes(self, query: str, catalogue: Catalogue) -> Iterator[BoxSuggestion]:
        for run in self._runs.all()[:MAX_SEARCHED]:
            try:
                notes = run.notes.notes
            except KiwiError:  # a damaged file of notes must not take the other suggestions away
                continue
            for note in notes:
                if has_words(query, note.about, note.reason):
                    text = note.reason or note.about
                    yield BoxSuggestion(
                        text, run_address(run.id, "notes"), catalogue("frame.kinds.note", topic=run.topic)
                    )


def router(context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> APIRouter:  # noqa: ARG001 (all desk routers share this signature)
    """The list that the script of the box loads."""
    routes = RoleRouter("reader", include_in_schema=False)
    suggestions = BoxSuggestions(context, jobs)

    @routes.get("/suggest")
    def suggest(
        request: Request,
        q: Annotated[Words, Query()] = "",
        book: Annotated[Name, Query()] = "",
        *,
        pages_only: Annotated[bool, Query()] = False,
    ) -> Response:
        found = list(suggestions.pages(q, book))
        if not pages_only:
            found += suggestions.own_work(request, q, catalogue_for(request))
        return JSONResponse({"suggestions": plain(found)}, headers={"Cache-Control": "no-store"})

    return routes
