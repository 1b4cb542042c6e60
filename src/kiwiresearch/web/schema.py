"""The OpenAPI of the server: names for operations, and problems where errors are told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field

from kiwiresearch.web.problems import MEDIA_TYPE

ABOUT = (
    "Answers, pages and research from the Kiwix books of one shelf, each with its citations. "
    "Every error is a problem (RFC 9457) with a remedy. "
    "Where the server has a token, every request but that for its health shows it as a bearer."
)
TAGS = (
    ("ask", "Questions, answered with citations first."),
    ("find", "Search, titles, pages and what they claim."),
    ("research", "Research of a topic as a job, and the runs it leaves."),
    ("atlas", "What only a whole book can tell, from the tables that 'bulk' wrote."),
    ("family", "Families, researched with evidence; who may be living is kept back."),
    ("read", "Pages of the books, with quoted words marked."),
    ("openai", "The shelf as a model, for chat clients."),
    ("outside search", "The search, for programs made for other engines."),
    ("people", "Who you are, what is hidden here, and for owners users and the audit."),
    ("server", "The state of the server."),
)


class ProblemReply(BaseModel):
    """What went wrong, and what to do about it."""

    type: str = Field(description="The kind of problem, for programs.")
    title: str = Field(description="The kind of problem, for people.")
    status: int
    detail: str = Field(description="What went wrong this time.")
    remedy: str = Field(description="What to do about it; empty where nobody knows.")
    id: str | None = Field(None, description="The name of a fault in the server's log.")
    errors: list[dict[str, str]] | None = Field(None, description="Fields that are not valid, and why.")


def operation_id(route: APIRoute) -> str:
    """Method and path in one word, such as 'get_api_search'; no two routes share one."""
    words = re.findall(r"[A-Za-z0-9]+", route.path_format)
    return "_".join([min(route.methods or {"any"}).lower(), *words])


def describe(app: FastAPI) -> None:
    """Let the app tell its OpenAPI, made once."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _openapi(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _openapi(app: FastAPI) -> dict[str, Any]:
    schema = get_openapi(
        title=app.title,
        version=app.version,
        description=ABOUT,
        routes=app.routes,
        tags=[{"name": name, "description": words} for name, words in TAGS],
    )
    parts = schema.setdefault("components", {})
    schemas = parts.setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemas["Problem"] = ProblemReply.model_json_schema()
    parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    schema["security"] = [{}, {"token": []}]
    for path, operation in _operations(schema):
        _with_problems(operation["responses"], openai=path.startswith("/v1/"))
    return schema


def _operations(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in schema.get("paths", {}).items():
        for operation in methods.values():
            if isinstance(operation, dict) and "responses" in operation:
                yield path, operation


def _with_problems(responses: dict[str, Any], *, openai: bool) -> None:
    """Errors that a route does not describe itself are problems; clients of OpenAI may get theirs instead."""
    content: dict[str, Any] = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    if openai:
        content["application/json"] = {"schema": {"type": "object", "required": ["error"]}}
    if openai:
        responses.pop("422", None)
    elif "422" in responses:
        responses["422"] = {"description": "The request is not valid.", "content": content}
    for status, response in responses.items():
        if status[0] in "45" and "content" not in response:
            response["content"] = content
    responses["default"] = {"description": "What went wrong, and what to do about it.", "content": content}
