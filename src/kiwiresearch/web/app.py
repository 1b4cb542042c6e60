"""The web application: all routes, the checks in front of them, and the OpenAPI."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio.to_thread
from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from kiwiresearch.codec import JsonDict
from kiwiresearch.jobs import JobQueue
from kiwiresearch.version import __version__
from kiwiresearch.web import (
    answers,
    atlas,
    comparisons,
    exports,
    families,
    family_edits,
    family_files,
    health,
    notes,
    openai,
    public_pages,
    reader,
    runs,
    search,
    users,
    worksheets,
)
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk import PageRenderer
from kiwiresearch.web.desk import routers as desk_routers
from kiwiresearch.web.guard import (
    Accounts,
    Handover,
    LazyRoute,
    McpRoleCheck,
    Shutdown,
    Successor,
    add_checks,
    make_role_checker,
    open_accounts,
)
from kiwiresearch.web.problems import MEDIA_TYPE, ProblemReply, install_problem_responses, log
from kiwiresearch.web.public_pages import problem_renderer

ABOUT = (
    "Answers, pages and research from the Kiwix books of one library, each with citations. "
    "Every error is a problem (RFC 9457) with a remedy. "
    "If the server has a token, every request except the health check must send it as a bearer token."
)
TAGS = (
    ("ask", "Answers to questions, with their citations."),
    ("find", "Search, titles, pages and their claims."),
    ("research", "Research on a topic as a job, and its results (runs)."),
    ("atlas", "Findings from a whole book, from the tables that 'kiwiresearch bulk' writes."),
    ("family", "Family research with evidence. People who may be living are hidden."),
    ("read", "Pages of the books, with quotes highlighted."),
    ("openai", "The library as a model for chat clients."),
    ("outside search", "Search for programs that were written for other search engines."),
    ("people", "Who you are, what is hidden, and, for owners, users and the audit log."),
    ("server", "The state of the server."),
)


def describe(app: FastAPI) -> None:
    """Replace the app's OpenAPI by ours, made on first request."""

    def openapi() -> JsonDict:
        if app.openapi_schema is None:
            app.openapi_schema = _openapi(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _openapi(app: FastAPI) -> JsonDict:
    schema = get_openapi(
        title=app.title,
        version=app.version,
        description=ABOUT,
        routes=[
            route.described() if isinstance(route, LazyRoute) else route
            for route in app.routes
            if getattr(route, "include_in_schema", False)
        ],
        tags=[{"name": name, "description": words} for name, words in TAGS],
    )
    parts = schema.setdefault("components", {})
    schemas = parts.setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemas["Problem"] = TypeAdapter(ProblemReply).json_schema()
    parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    # Nothing or a token: whether one is needed depends on the settings of the server.
    schema["security"] = [{}, {"token": []}]
    for path, methods in schema.get("paths", {}).items():
        for operation in methods.values():
            if isinstance(operation, dict) and "responses" in operation:
                _with_problems(operation["responses"], openai=path.startswith("/v1/"))
    return schema


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
ServerLifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def make_app(
    context: ServerContext,
    *,
    jobs: JobQueue | None = None,
    mounts: Mapping[str, Starlette] = NO_MOUNTS,
    shutdown: Shutdown | None = None,
) -> FastAPI:
    """All routes over one shelf, protected by the checks.

    The caller closes the `jobs` it passes in; without them the app makes its own, and closes them. `mounts` are other
    apps that answer at one path each, such as '/mcp', and see that path. `shutdown` notifies running requests of the
    shutdown.
    """
    queue = jobs or runs.make_jobs(context)
    lifespan = _lifespan(mounts, context.workspace.settings.serve.at_once, queue if jobs is None else None)
    successor = Successor()
    for mounted in mounts.values():
        install_problem_responses(mounted)

    def build() -> FastAPI:
        return _build(context, queue, mounts, shutdown or Shutdown(), renew, lifespan)

    def renew() -> None:
        successor.app = build()  # its lifespan never begins: that of the first app goes on

    app = build()
    app.add_middleware(Handover, successor=successor)
    return app


def _build(
    context: ServerContext,
    jobs: JobQueue,
    mounts: Mapping[str, Starlette],
    shutdown: Shutdown,
    renew: Callable[[], None],
    lifespan: ServerLifespan,
) -> FastAPI:
    """All routes and checks, as the settings are now; `renew` replaces them by others with the settings of then."""
    serve = context.workspace.settings.serve
    accounts = open_accounts(context.workspace)
    app = FastAPI(
        title="kiwiresearch",
        version=__version__,
        docs_url=None,  # that page would load from the internet
        redoc_url=None,
        lifespan=lifespan,
    )
    has_users = accounts.authenticator is not None and accounts.audit_log is not None
    app.state.role_checker = make_role_checker(accounts.audit_log) if has_users and accounts.audit_log else None
    pages = PageRenderer(context)
    for router in _routers(context, jobs, accounts, pages, renew):
        app.router.routes.extend(router.routes)
    for path, mounted in mounts.items():
        app.router.routes.append(Route(path, McpRoleCheck(mounted) if accounts.authenticator else mounted))
    install_problem_responses(app)
    app.state.render_problem = problem_renderer(pages)
    describe(app)
    add_checks(app, serve, shutdown, accounts)
    return app


def _routers(
    context: ServerContext, jobs: JobQueue, accounts: Accounts, pages: PageRenderer, renew: Callable[[], None]
) -> Iterator[APIRouter]:
    """All routes, in the order in which the OpenAPI lists them and paths are matched."""
    for part in (health, answers, search, openai):
        yield part.router(context)
    yield search.external_router(context)
    yield worksheets.router(context)
    yield reader.router(context)
    yield atlas.router(context)
    yield runs.router(jobs)
    yield runs.job_router(jobs)
    family_cases = families.Families(context, jobs)
    yield families.router(family_cases)
    yield family_files.router(family_cases)
    yield family_edits.router(family_cases)
    for part in (notes, comparisons, exports):
        yield part.router(context, jobs)
    yield users.router(context, accounts)
    yield from desk_routers(context, jobs, pages, accounts, renew)
    if authenticator := accounts.authenticator or accounts.token:
        yield public_pages.router(authenticator, pages)


def _lifespan(mounts: Mapping[str, Starlette], at_once: int, own_jobs: JobQueue | None) -> ServerLifespan:
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
                log.exception("Part of the server could not start.")
                raise
            yield

    return lifespan
