"""Routes for users, tokens, audit and policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from kiwiresearch.codec import Record
from kiwiresearch.store import AuditProof, AuditRow, Role, UserTokens
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard import Accounts, RoleRouter, allow, current_visitor
from kiwiresearch.web.replies import JsonRoute
from kiwiresearch.workspace import PolicySummary, UserLimits, policy_summary, utc_moment

MAX_NAME = 100


@dataclass(frozen=True, slots=True)
class MeReply(Record):
    """Who asks."""

    name: str
    """Empty where the server has no users."""
    role: Role
    limits: UserLimits


@dataclass(frozen=True, slots=True)
class UsersReply(Record):
    """All users."""

    users: tuple[UserTokens, ...]


@dataclass(frozen=True, slots=True)
class NewTokenReply(Record):
    """A token that was just made: its text is told this once."""

    id: str
    token: str


@dataclass(frozen=True, slots=True)
class AuditReply(Record):
    """Rows of the audit, the newest first."""

    rows: tuple[AuditRow, ...]
    before: int | None
    """Ask with this for older rows; null where there are none."""


class NewUser(BaseModel):
    """Somebody who is to come in."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=MAX_NAME, examples=["rita"])
    role: Role = "reader"


class UserChange(BaseModel):
    """What is to change about a user; what is left out stays."""

    model_config = ConfigDict(extra="forbid")

    role: Role | None = None
    limits: dict[str, int | None] | None = Field(None, description="Limits to set; null takes one back to the role's.")


class NewLabel(BaseModel):
    """What a new token is for."""

    model_config = ConfigDict(extra="forbid")

    label: str = Field("", max_length=100, examples=["library PC"])


MAX_ROWS = 1_000

UserName = Annotated[str, Path(max_length=MAX_NAME, description="The name of a user.", examples=["rita"])]
TokenId = Annotated[str, Path(max_length=40, description="The `id` of a token, which is not the token itself.")]
Since = Annotated[str, Query(max_length=40, description="From this moment on, such as `2026-11-16T08:00:00+00:00`.")]
Before = Annotated[int | None, Query(ge=1, le=2**62, description="Only rows with smaller numbers, for the next page.")]
Limit = Annotated[int, Query(ge=1, le=MAX_ROWS)]
Head = Annotated[str, Query(max_length=100, description="A hash that an earlier check told as `head`.")]
UserFilter = Annotated[str | None, Query(max_length=MAX_NAME, description="Only what this user did.")]
ActionFilter = Annotated[
    str | None, Query(max_length=40, description="Only this, such as `login`, `ask` or `research`.")
]


def router(context: ServerContext, accounts: Accounts) -> APIRouter:
    """For owners: users, tokens and audit. For everybody: who they are, and what is hidden from them."""
    routes = RoleRouter("reader", prefix="/api", tags=["people"], route_class=JsonRoute)

    @routes.get("/me")
    def me() -> MeReply:
        """Tell who the server takes you for, and what you may do."""
        who = current_visitor()
        return MeReply(who.name, who.role, who.limits)

    @routes.get("/profile")
    def profile() -> PolicySummary:
        """Tell what is hidden here, and by whom."""
        policy = context.workspace.settings.policy
        return policy_summary(policy, context.workspace.shelf_file.books(), with_titles=current_visitor().may("owner"))

    _add_users(routes, accounts)
    _add_tokens(routes, accounts)
    _add_audit(routes, accounts)
    return routes


def _add_users(routes: APIRouter, accounts: Accounts) -> None:
    @routes.get("/users")
    @allow("owner")
    def users(request: Request) -> UsersReply:
        """List all users and their tokens."""
        register = accounts.require_users(request)
        return UsersReply(tuple(register.with_tokens(one) for one in register.all()))

    @routes.post("/users", status_code=201)
    @allow("owner")
    def add(request: Request, body: NewUser) -> UserTokens:
        """Make a user, who needs a token to come in."""
        register = accounts.require_users(request)
        return register.with_tokens(register.add(body.name, body.role))

    @routes.get("/users/{name}")
    @allow("owner")
    def user(request: Request, name: UserName) -> UserTokens:
        """Tell of one user."""
        register = accounts.require_users(request)
        return register.with_tokens(register.get(name))

    @routes.put("/users/{name}")
    @allow("owner")
    def change(request: Request, name: UserName, body: UserChange) -> UserTokens:
        """Change the role or the limits of a user; it counts from the next request on."""
        register = accounts.require_users(request)
        register.change(name, body.role, body.limits)
        return register.with_tokens(register.get(name))

    @routes.delete("/users/{name}", status_code=204, response_class=Response)
    @allow("owner")
    def remove(request: Request, name: UserName) -> Response:
        """Remove a user, who is out at once; runs and notes stay."""
        accounts.require_users(request).remove(name)
        return Response(status_code=204)


def _add_tokens(routes: APIRouter, accounts: Accounts) -> None:
    @routes.post("/users/{name}/tokens", status_code=201)
    @allow("owner")
    def new_token(request: Request, name: UserName, body: NewLabel) -> NewTokenReply:
        """Make a token for a user; it is told this once."""
        token = accounts.require_users(request).new_token(name, body.label)
        return NewTokenReply(token.id, token.text)

    @routes.delete("/users/{name}/tokens/{token_id}", status_code=204, response_class=Response)
    @allow("owner")
    def revoke(request: Request, name: UserName, token_id: TokenId) -> Response:
        """Take a token back: whoever is in with it is out at once."""
        accounts.require_users(request).revoke(name, token_id)
        return Response(status_code=204)


def _add_audit(routes: APIRouter, accounts: Accounts) -> None:
    @routes.get("/audit")
    @allow("owner", "audit")
    def audit(
        user: UserFilter = None,
        action: ActionFilter = None,
        since: Since = "",
        before: Before = None,
        limit: Limit = 100,
    ) -> AuditReply:
        """Tell who did what, the newest first."""
        begin = utc_moment(since)
        rows = accounts.require_audit().rows(
            limit=limit, user=user, action=action, since=begin, before=before, newest_first=True
        )
        last = rows[-1].seq if len(rows) == limit else None
        return AuditReply(tuple(rows), last)

    @routes.get("/audit/check")
    @allow("owner", "audit")
    def check(head: Head = "") -> AuditProof:
        """Prove that no row of the audit was changed, taken out or put in, and none up to `head` written anew."""
        return accounts.require_audit().prove(head.strip())
