"""All routes of the desk put together, and the forms that choose a language and colours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from kiwiresearch.jobs import JobQueue
from kiwiresearch.messages import LANGUAGES
from kiwiresearch.web.addresses import safe_return_address
from kiwiresearch.web.context import COOKIE, ServerContext
from kiwiresearch.web.desk import (
    app_shell,
    archive,
    atlas,
    books,
    claims,
    compare,
    explore,
    family,
    graph,
    home,
    notes,
    numbers,
    questions,
    reading,
    research,
    run_pages,
    search,
    settings,
    sign_in_forms,
    static_files,
    suggestions,
    timeline,
    user_accounts,
    worksheet_pages,
)
from kiwiresearch.web.desk.browser import set_lasting_cookie
from kiwiresearch.web.desk.pages import THEME_COOKIE, PageRenderer, redirect
from kiwiresearch.web.guard import Accounts, RoleRouter
from kiwiresearch.workspace import THEMES


def language_router() -> APIRouter:
    """The forms at the bottom of every page: language and colours."""
    routes = RoleRouter("stranger")

    @routes.post("/language", include_in_schema=False)
    def choose(
        request: Request, language: Annotated[str, Form(max_length=8)] = "", back: Annotated[str, Form()] = "/"
    ) -> Response:
        answer = redirect(safe_return_address(back))
        if language in LANGUAGES:
            set_lasting_cookie(request, answer, COOKIE, language)
        return answer

    @routes.post("/theme", include_in_schema=False)
    def choose_theme(
        request: Request, theme: Annotated[str, Form(max_length=8)] = "", back: Annotated[str, Form()] = "/"
    ) -> Response:
        answer = redirect(safe_return_address(back))
        if theme in THEMES:
            set_lasting_cookie(request, answer, THEME_COOKIE, theme)
        return answer

    return routes


def routers(
    context: ServerContext, jobs: JobQueue, pages: PageRenderer, accounts: Accounts, renew: Callable[[], None]
) -> Iterator[APIRouter]:
    """The routes of every part of the desk; `renew` builds them again when their settings change."""
    yield static_files.router()
    yield language_router()
    of_runs = (run_pages, claims, timeline, numbers, graph, compare, notes)
    finding = (suggestions, questions, search, reading, worksheet_pages)
    for part in (app_shell, home, *finding, research, *of_runs, family, atlas, explore):
        yield part.router(context, jobs, pages)
    for part in (books, archive):
        yield part.router(context, jobs, pages)
    yield settings.router(context, pages, renew)
    yield sign_in_forms.router(context, pages, accounts, renew)
    yield user_accounts.user_accounts_router(context, accounts, pages)
    yield sign_in_forms.password_router(accounts, pages)
    yield user_accounts.audit_router(context, accounts, pages)
