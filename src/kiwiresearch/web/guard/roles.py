"""The minimum role for a route and its name in the audit, both declared at the route."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

from fastapi import APIRouter

from kiwiresearch.store import Role

RequiredRole = Role | Literal["stranger"]
"""'stranger' is for what everybody may see: that the server is up, and the login page."""

RouteAction = Literal["ask", "audit", "case", "export", "note", "remove", "research", "resume", "stop"]
ROUTE_ACTIONS: tuple[RouteAction, ...] = get_args(RouteAction)

E = TypeVar("E", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class RoleRule:
    """Who may use a route, and under which name the audit records it; without a name it is not recorded."""

    role: RequiredRole
    action: RouteAction | Literal["", "unplaced"] = ""


OWNER_ONLY = RoleRule("owner", "unplaced")
"""A route that declares no role is for owners only, so that a forgotten declaration opens nothing."""

MCP_RULE = RoleRule("reader")
"""All tools for models share one address; whether a role may call one of them is checked with the call."""


def allow(role: RequiredRole, action: RouteAction | Literal[""] = "") -> Callable[[E], E]:
    """Declare the minimum role of an endpoint, and its name in the audit.

    Families: readers see what may be published. The living, and decisions that could reveal them, also need the
    permission of `family_owner`.
    """

    def declare(endpoint: E) -> E:
        # On the function itself, from where functools.wraps copies it to the wrappers of route classes.
        endpoint.__dict__["role_rule"] = RoleRule(role, action)
        return endpoint

    return declare


class RoleRouter(APIRouter):
    """Routes that need the same role, except for those that `allow` marks."""

    def __init__(self, role: RequiredRole, **options: Any) -> None:
        super().__init__(**options)
        self._role = role

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        if "role_rule" not in endpoint.__dict__:
            allow(self._role)(endpoint)
        super().add_api_route(path, endpoint, **options)


def rule_of_route(route: object) -> RoleRule:
    """The rule that the endpoint of a route declares."""
    rule: RoleRule = getattr(getattr(route, "endpoint", None), "role_rule", OWNER_ONLY)
    return rule
