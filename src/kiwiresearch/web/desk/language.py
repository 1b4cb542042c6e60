"""The choice of a language, kept by the browser."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from kiwiresearch.web.desk.pages import go_to, own_place
from kiwiresearch.web.desk.words import COOKIE, LANGUAGES

A_YEAR_S = 365 * 24 * 3600


def router() -> APIRouter:
    """The form below every page."""
    routes = APIRouter()

    @routes.post("/language", include_in_schema=False)
    def choose(
        request: Request, language: Annotated[str, Form(max_length=8)] = "", back: Annotated[str, Form()] = "/"
    ) -> Response:
        answer = go_to(own_place(back))
        if language in LANGUAGES:
            is_https = request.url.scheme == "https"
            answer.set_cookie(COOKIE, language, A_YEAR_S, httponly=True, samesite="strict", secure=is_https)
        return answer

    return routes
