"""The app: all routes behind the guard, and its OpenAPI."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

import anyio.to_thread
from fastapi import Depends, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.applications import Starlette
from starlette.routing import Route

from kiwiresearch.codec import OMIT_DEFAULT, Record
from kiwiresearch.jobs.queue import JobQueue
from kiwiresearch.version import __version__
from kiwiresearch.web import (
    answers,
    atlas,
    comparisons,
    families,
    family_files,
    health,
    notes,
    openai,
    public_pages,
    reader,
    runs,
    search,
    users,
)
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.desk.routes import routers
from kiwiresearch.web.guard.identity import ServerToken
from kiwiresearch.web.guard.limits import Shutdown
from kiwiresearch.web.guard.setup import RoleCheck, add_checks, open_accounts, role_dependency
from kiwiresearch.web.problems import MEDIA_TYPE, install_problem_responses, log
from kiwiresearch.web.public_pages import problem_renderer

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


@dataclass(frozen=True, slots=True)
class ProblemReply(Record):
    """What went wrong, and what to do about it."""

    type: str
    """The kind of problem, for programs."""
    title: str
    """The kind of problem, for people."""
    status: int
    detail: str
    """What went wrong this time."""
    remedy: str
    """What to do about it; empty where nobody knows."""
    id: str | None = field(default=None, metadata=OMIT_DEFAULT)
    """The name of a fault in the server's log."""
    errors: tuple[dict[str, str], ...] | None = field(default=None, metadata=OMIT_DEFAULT)
    """Fields that are not valid, and why."""


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
    schemas["Problem"] = TypeAdapter(ProblemReply).json_schema()
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


Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

MAX_THREADS = 256
SPARE_THREADS = 8
NO_MOUNTS: Mapping[str, Starlette] = {}


def make_app(
    room: ServerContext,
    *,
    jobs: JobQueue | None = None,
    mounts: Mapping[str, Starlette] = NO_MOUNTS,
    ending: Shutdown | None = None,
) -> FastAPI:
    """All routes over one shelf, guarded.

    `jobs` that are passed in are the caller's to close. `mounts` are apps of others that answer
    at a path of their own, such as '/mcp', which they see whole. `ending` tells running requests
    that the server ends.
    """
    serve = room.desk.settings.serve
    house = open_accounts(room.desk)
    app = FastAPI(
        title="kiwiresearch",
        version=__version__,
        docs_url=None,  # its page would load from the internet
        redoc_url=None,
        lifespan=_lifespan(mounts, serve.at_once),
        generate_unique_id_function=operation_id,
        dependencies=[Depends(role_dependency(house.audit_log))] if house.authenticator and house.audit_log else None,
    )
    for router in (
        health.router,
        answers.router,
        search.router,
        openai.router,
        search.external_router,
        reader.router,
        atlas.router,
    ):
        app.include_router(router(room))
    ours = jobs or runs.make_jobs(room)
    app.include_router(runs.router(room, ours, closing=jobs is None))
    app.include_router(runs.job_router(room, ours))
    family_cases = families.Families(room, ours)
    app.include_router(families.router(family_cases))
    app.include_router(family_files.router(family_cases))
    for job_router in (notes.router, comparisons.router, runs.export_router):
        app.include_router(job_router(room, ours))
    app.include_router(users.router(room, house))
    pages = Pages(room)
    for part in routers(room, ours, pages, house):
        app.include_router(part)
    if house.authenticator or serve.token:
        app.include_router(public_pages.router(house.authenticator or ServerToken(serve.token), pages))
    for path, mounted in mounts.items():
        install_problem_responses(mounted)
        app.router.routes.append(Route(path, RoleCheck(mounted) if house.authenticator else mounted))
    install_problem_responses(app)
    app.state.tell = problem_renderer(pages)
    describe(app)
    add_checks(app, serve, ending or Shutdown(), house)
    return app


def _lifespan(mounts: Mapping[str, Starlette], at_once: int) -> Lifespan:
    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # As many threads as requests, else those that wait for a model would keep the quick ones waiting.
        threads = anyio.to_thread.current_default_thread_limiter()
        threads.total_tokens = max(threads.total_tokens, min(at_once + SPARE_THREADS, MAX_THREADS))
        async with contextlib.AsyncExitStack() as running:
            try:
                for mounted in mounts.values():
                    await running.enter_async_context(mounted.router.lifespan_context(mounted))
            except Exception:
                log.exception("A part of the server could not begin.")
                raise
            yield

    return lifespan
