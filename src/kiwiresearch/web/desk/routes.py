"""All routes of the desk put together, and the form that chooses a language."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from kiwiresearch.jobs import JobQueue
from kiwiresearch.messages import LANGUAGES
from kiwiresearch.web.addresses import safe_return_address
from kiwiresearch.web.context import COOKIE, ServerContext
from kiwiresearch.web.desk import (
    atlas,
    claims,
    compare,
    family,
    graph,
    home,
    notes,
    numbers,
    people,
    questions,
    reading,
    research,
    run_pages,
    search,
    static_files,
    timeline,
)
from kiwiresearch.web.desk.pages import Pages, redirect
from kiwiresearch.web.guard import Accounts, RoleRouter

YEAR_S = 365 * 24 * 3600


def language_router() -> APIRouter:
    """The form at the bottom of every page."""
    routes = RoleRouter("stranger")

    @routes.post("/language", include_in_schema=False)
    def choose(
        request: Request, language: Annotated[str, Form(max_length=8)] = "", back: Annotated[str, Form()] = "/"
    ) -> Response:
        answer = redirect(safe_return_address(back))
        if language in LANGUAGES:
            is_https = request.url.scheme == "https"
            answer.set_cookie(COOKIE, language, YEAR_S, httponly=True, samesite="strict", secure=is_https)
        return answer

    return routes


def routers(room: ServerContext, jobs: JobQueue, pages: Pages, accounts: Accounts) -> Iterator[APIRouter]:
    """The routes of every part of the desk."""
    yield static_files.router()
    yield language_router()
    of_runs = (run_pages, claims, timeline, numbers, graph, compare, notes)
    for part in (home, questions, search, reading, research, *of_runs, family, atlas):
        yield part.router(room, jobs, pages)
    yield people.people_router(room, accounts, pages)
    yield people.audit_router(room, accounts, pages)
