"""The web application: all routes, the checks in front of them, and the OpenAPI."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio.to_thread
from fastapi import APIRouter, Depends, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from kiwiresearch.jobs import JobQueue
from kiwiresearch.version import __version__
from kiwiresearch.web import (
    answers,
    atlas,
    comparisons,
    exports,
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
from kiwiresearch.web.desk import Pages
from kiwiresearch.web.desk import routers as desk_routers
from kiwiresearch.web.guard import (
    Accounts,
    RoleCheck,
    ServerToken,
    Shutdown,
    add_checks,
    open_accounts,
    role_dependency,
)
from kiwiresearch.web.problems import MEDIA_TYPE, ProblemReply, install_problem_responses, log
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


def operation_id(route: APIRoute) -> str:
    """Method and path in one word, such as 'get_api_search', which no other route has."""
    words = re.findall(r"[A-Za-z0-9]+", route.path_format)
    return "_".join([min(route.methods or {"any"}).lower(), *words])


def describe(app: FastAPI) -> None:
    """Replace the app's OpenAPI by ours, made on first request."""

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
    """Describe errors that a route does not describe itself as problems; OpenAI's routes may send theirs instead."""
    content: dict[str, Any] = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    if openai:
        content["application/json"] = {"schema": {"type": "object", "required": ["error"]}}
        responses.pop("422", None)
    elif "422" in responses:
        responses["422"] = {"description": "The request is not valid.", "content": content}
    for status, response in responses.items():
        if status[0] in "45" and "content" not in response:
            response["content"] = content
    responses["default"] = {"description": "What went wrong, and what to do about it.", "content": content}


MAX_THREADS = 256
SPARE_THREADS = 8
NO_MOUNTS: Mapping[str, Starlette] = {}


def make_app(
    context: ServerContext,
    *,
    jobs: JobQueue | None = None,
    mounts: Mapping[str, Starlette] = NO_MOUNTS,
    ending: Shutdown | None = None,
) -> FastAPI:
    """All routes over one shelf, protected by the checks.

    The caller closes the `jobs` it passes in; without them the app makes its own, and closes them. `mounts` are other
    apps that answer at one path each, such as '/mcp', and see that path. `ending` notifies running requests of the
    shutdown.
    """
    serve = context.workspace.settings.serve
    accounts = open_accounts(context.workspace)
    queue = jobs or runs.make_jobs(context)
    needs_roles = accounts.authenticator is not None and accounts.audit_log is not None
    app = FastAPI(
        title="kiwiresearch",
        version=__version__,
        docs_url=None,  # that page would load from the internet
        redoc_url=None,
        lifespan=_lifespan(mounts, serve.at_once, queue if jobs is None else None),
        generate_unique_id_function=operation_id,
        dependencies=[Depends(role_dependency(accounts.audit_log))] if needs_roles and accounts.audit_log else None,
    )
    pages = Pages(context)
    for router in _routers(context, queue, accounts, pages):
        app.include_router(router)
    for path, mounted in mounts.items():
        install_problem_responses(mounted)
        app.router.routes.append(Route(path, RoleCheck(mounted) if accounts.authenticator else mounted))
    install_problem_responses(app)
    app.state.render_problem = problem_renderer(pages)
    describe(app)
    add_checks(app, serve, ending or Shutdown(), accounts)
    return app


def _routers(context: ServerContext, jobs: JobQueue, accounts: Accounts, pages: Pages) -> Iterator[APIRouter]:
    """All routes, in the order in which the OpenAPI lists them and paths are matched."""
    for part in (health, answers, search, openai):
        yield part.router(context)
    yield search.external_router(context)
    yield reader.router(context)
    yield atlas.router(context)
    yield runs.router(jobs)
    yield runs.job_router(jobs)
    family_cases = families.Families(context, jobs)
    yield families.router(family_cases)
    yield family_files.router(family_cases)
    for part in (notes, comparisons, exports):
        yield part.router(context, jobs)
    yield users.router(context, accounts)
    yield from desk_routers(context, jobs, pages, accounts)
    token = context.workspace.settings.serve.token
    if accounts.authenticator or token:
        yield public_pages.router(accounts.authenticator or ServerToken(token), pages)


def _lifespan(
    mounts: Mapping[str, Starlette], at_once: int, own_jobs: JobQueue | None
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # One thread per request, or requests that wait for a model would delay quick ones.
        threads = anyio.to_thread.current_default_thread_limiter()
        threads.total_tokens = max(threads.total_tokens, min(at_once + SPARE_THREADS, MAX_THREADS))
        async with contextlib.AsyncExitStack() as running:
            if own_jobs:
                running.push_async_callback(run_in_threadpool, own_jobs.close)
            try:
                for mounted in mounts.values():
                    await running.enter_async_context(mounted.router.lifespan_context(mounted))
            except Exception:
                log.exception("A part of the server could not begin.")
                raise
            yield

    return lifespan
