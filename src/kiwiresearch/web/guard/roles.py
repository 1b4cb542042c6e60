"""The minimum role for a route and its name in the audit log, both declared at the route."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

from fastapi import APIRouter, Depends, Request
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from kiwiresearch.store import Role

RequiredRole = Role | Literal["stranger"]
"""'stranger' is for what everybody may use without signing in, such as the sign-in page; `is_public`
(`identity.py`) knows these paths."""

RouteAction = Literal["ask", "audit", "case", "export", "manage", "note", "remove", "research", "resume", "stop"]
ROUTE_ACTIONS: tuple[RouteAction, ...] = get_args(RouteAction)

E = TypeVar("E", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class RoleRule:
    """Who may use a route, and under which name the audit log records it; without a name it is not recorded."""

    role: RequiredRole
    action: RouteAction | Literal["", "undeclared"] = ""


OWNER_ONLY = RoleRule("owner", "undeclared")
"""A route that declares no role is for owners only, so that a forgotten declaration opens nothing."""

MCP_RULE = RoleRule("reader")
"""All tools for models share one address; whether a role may call one of them is checked with the call."""


def requires_role(role: RequiredRole, action: RouteAction | Literal[""] = "") -> Callable[[E], E]:
    """Declare the minimum role of an endpoint, and its name in the audit log.

    Families: readers see what may be published. The living, and decisions that could reveal them, also need the
    permission of `family_owner`.
    """

    def declare(endpoint: E) -> E:
        # On the function itself, from where functools.wraps copies it to the wrappers of route classes.
        endpoint.__dict__["role_rule"] = RoleRule(role, action)
        return endpoint

    return declare


async def role_dependency(request: Request) -> None:
    """On a server with users: refuse a visitor who lacks the role of the route, or has no questions left today."""
    # Read without a default: an app that was built without saying so serves nothing.
    check: Callable[[Request], None] | None = request.app.state.role_checker
    if check is not None:
        await run_in_threadpool(check, request)


def operation_id(route: APIRoute) -> str:
    """Method and path in one word, such as 'get_api_search', which no other route has."""
    words = re.findall(r"[A-Za-z0-9]+", route.path_format)
    return "_".join([min(route.methods or {"any"}).lower(), *words])


class LazyRoute(Route):
    """A route that FastAPI analyses on its first request: doing so for all routes would take most of the start."""

    def __init__(self, kind: type[APIRoute], path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, name=options["name"], include_in_schema=options["include_in_schema"])
        self.methods = set(options["methods"] or ["GET"])  # Starlette would add HEAD
        self._make = functools.partial(kind, path, endpoint, **options)
        self.described: Callable[[], APIRoute] = functools.partial(APIRoute, path, endpoint, **options)
        """The route for the OpenAPI, with the type of its reply."""

    @functools.cached_property
    def _made(self) -> APIRoute:
        return self._make()

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child_scope = super().matches(scope)
        if match != Match.NONE:
            child_scope["route"] = self
        return match, child_scope

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._made.handle(scope, receive, send)


class RoleRouter(APIRouter):
    """Routes that need the same role, except for those that `requires_role` marks.

    They are complete as they are: an app takes over its routes. `include_router` would build each of them once more.
    """

    def __init__(self, role: RequiredRole, *, route_class: type[APIRoute] = APIRoute, **options: Any) -> None:
        super().__init__(dependencies=[Depends(role_dependency)], generate_unique_id_function=operation_id, **options)
        self.route_class = functools.partial(LazyRoute, route_class)  # type: ignore[assignment]
        self._role = role

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        if "role_rule" not in endpoint.__dict__:
            requires_role(self._role)(endpoint)
        super().add_api_route(path, endpoint, **options)


def rule_of_route(route: object) -> RoleRule:
    """The rule that the endpoint of a route declares."""
    rule: RoleRule = getattr(getattr(route, "endpoint", None), "role_rule", OWNER_ONLY)
    return rule
