"""The server's routes put together behind its walls."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager

import anyio.to_thread
from fastapi import Depends, FastAPI
from starlette.applications import Starlette
from starlette.routing import Route

from kiwiresearch import __version__
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.web import (
    asking,
    atlas_routes,
    compare_routes,
    export_routes,
    family,
    finding,
    health,
    job_routes,
    login,
    note_routes,
    openai,
    outside_search,
    people_routes,
    reader,
    research,
)
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.desk.routes import routers
from kiwiresearch.web.guard.admitting import Admitted, admitting
from kiwiresearch.web.guard.ending import Ending
from kiwiresearch.web.guard.house import open_house
from kiwiresearch.web.guard.token import Token
from kiwiresearch.web.guard.walls import put_up_walls
from kiwiresearch.web.problem_pages import teller
from kiwiresearch.web.problems import log, tell_problems
from kiwiresearch.web.room import Room
from kiwiresearch.web.schema import describe, operation_id

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

MOST_THREADS = 256
SPARE_THREADS = 8
NO_MOUNTS: Mapping[str, Starlette] = {}


def make_app(
    room: Room,
    *,
    jobs: Jobs | None = None,
    mounts: Mapping[str, Starlette] = NO_MOUNTS,
    ending: Ending | None = None,
) -> FastAPI:
    """All routes over one shelf, guarded.

    `jobs` that are passed in are the caller's to close. `mounts` are apps of others that answer
    at a path of their own, such as '/mcp', which they see whole. `ending` tells running requests
    that the server ends.
    """
    serve = room.desk.settings.serve
    house = open_house(room.desk)
    app = FastAPI(
        title="kiwiresearch",
        version=__version__,
        docs_url=None,  # its page would load from the internet
        redoc_url=None,
        lifespan=_lifespan(mounts, serve.at_once),
        generate_unique_id_function=operation_id,
        dependencies=[Depends(admitting(house.logbook))] if house.door and house.logbook else None,
    )
    for routes in (health, asking, finding, openai, outside_search, reader, atlas_routes):
        app.include_router(routes.router(room))
    ours = jobs or research.jobs_of(room)
    app.include_router(research.router(room, ours, closing=jobs is None))
    for routes_of_runs in (job_routes, family, note_routes, compare_routes, export_routes):
        app.include_router(routes_of_runs.router(room, ours))
    app.include_router(people_routes.router(room, house))
    pages = Pages(room)
    for part in routers(room, ours, pages, house):
        app.include_router(part)
    if house.door or serve.token:
        app.include_router(login.router(house.door or Token(serve.token), pages))
    for path, mounted in mounts.items():
        tell_problems(mounted)
        app.router.routes.append(Route(path, Admitted(mounted, path=path) if house.door else mounted))
    tell_problems(app)
    app.state.tell = teller(pages)
    describe(app)
    put_up_walls(app, serve, ending or Ending(), house)
    return app


def _lifespan(mounts: Mapping[str, Starlette], at_once: int) -> Lifespan:
    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # As many threads as requests, else those that wait for a model would keep the quick ones waiting.
        threads = anyio.to_thread.current_default_thread_limiter()
        threads.total_tokens = max(threads.total_tokens, min(at_once + SPARE_THREADS, MOST_THREADS))
        async with contextlib.AsyncExitStack() as running:
            try:
                for mounted in mounts.values():
                    await running.enter_async_context(mounted.router.lifespan_context(mounted))
            except Exception:
                log.exception("A part of the server could not begin.")
                raise
            yield

    return lifespan
