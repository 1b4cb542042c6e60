"""Problems in OpenAI's form: chat clients show its message, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from kiwiresearch.errors import KiwiError
from kiwiresearch.web.chat_faults import first_wrong, not_read
from kiwiresearch.web.problems import Problem, unexpected
from kiwiresearch.web.replies import Json

Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]


class ChatRoute(APIRoute):
    """A route whose problems are told in the form its clients know."""

    def get_route_handler(self) -> Endpoint:
        answer = super().get_route_handler()

        async def told(request: Request) -> Response:
            try:
                return await answer(request)
            except (KiwiError, RequestValidationError, HTTPException) as problem:
                return error_response(problem)

        return told


def error_response(problem: Exception) -> Response:
    """A problem before the first word: with a status of its own."""
    if isinstance(problem, RequestValidationError):
        wrong = first_wrong(problem.errors())
        return Json(
            _error(wrong.words, 400, "invalid_value" if wrong.place else "invalid_body", wrong.place or None), 400
        )
    if isinstance(problem, HTTPException) and problem.status_code == 400:  # which reading a body ends in
        return Json(_error(not_read(problem.__cause__), 400, "invalid_body"), 400)
    told = unexpected(problem)
    return Json(_told(told), told.status, headers=dict(told.headers))


def error_record(problem: Exception) -> dict[str, Any]:
    """A problem in the midst of a stream; one that nobody foresaw is told to the server's log."""
    return _told(unexpected(problem))


def unknown_model(name: str, known: Iterable[str]) -> Response:
    """What OpenAI's API says to a name it does not know."""
    message = f"The model {name[:100]!r} does not exist. Known are: {', '.join(known)}."
    return Json(_error(message, 404, "model_not_found", "model"), 404)


def _told(problem: Problem) -> dict[str, Any]:
    words = f"{problem.detail} {problem.remedy}".strip() or problem.title
    return _error(words, problem.status, "_".join(problem.title.lower().split()))


def _error(message: str, status: int, code: str, param: str | None = None) -> dict[str, Any]:
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}
