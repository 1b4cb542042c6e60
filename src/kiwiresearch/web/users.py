"""Routes for users, tokens, passwords, sign-in links, audit and policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from kiwiresearch.codec import Record
from kiwiresearch.store import MAX_PASSWORD, MIN_PASSWORD, AuditProof, AuditRow, NewLink, Role, UserTokens
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard import Accounts, RoleRouter, current_visitor, requires_role
from kiwiresearch.web.peers import reader_address
from kiwiresearch.web.replies import JsonRoute
from kiwiresearch.workspace import (
    LINK_PATH,
    LinkTime,
    PolicySummary,
    ServeSettings,
    UserLimits,
    policy_summary,
    utc_moment,
)

MAX_NAME = 100
MAX_SENT_PASSWORD = 1_000
"""In characters as they are sent; some keyboards send several for one."""


@dataclass(frozen=True, slots=True)
class MeReply(Record):
    """Who asks."""

    name: str
    """Empty if the server has no users."""
    role: Role
    limits: UserLimits


@dataclass(frozen=True, slots=True)
class UsersReply(Record):
    """All users."""

    users: tuple[UserTokens, ...]


@dataclass(frozen=True, slots=True)
class NewTokenReply(Record):
    """A new token; its text is shown only this once."""

    id: str
    token: str


@dataclass(frozen=True, slots=True)
class PasswordReply(Record):
    """A password that was set."""

    name: str
    password: str | None
    """The generated password, which is shown only this once; null if you sent one."""


@dataclass(frozen=True, slots=True)
class NewLinkReply(Record):
    """A link that signs a user in once; it is shown only now."""

    id: str
    name: str
    link: str
    expires_at: str


@dataclass(frozen=True, slots=True)
class AuditReply(Record):
    """Rows of the audit log, newest first."""

    rows: tuple[AuditRow, ...]
    before: int | None
    """Send this as `before` to get older rows; null if there are none."""


class NewUser(BaseModel):
    """A user to add."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=MAX_NAME, examples=["rita"])
    role: Role = "reader"


class UserChange(BaseModel):
    """Changes to a user; values you do not give stay the same."""

    model_config = ConfigDict(extra="forbid")

    role: Role | None = None
    limits: dict[str, int | None] | None = Field(
        None, description="Limits to set; null restores the limit of the role."
    )


class NewTokenBody(BaseModel):
    """What a new token is for."""

    model_config = ConfigDict(extra="forbid")

    label: str = Field("", max_length=100, examples=["library PC"])


class NewLinkBody(BaseModel):
    """How long a sign-in link can be used."""

    model_config = ConfigDict(extra="forbid")

    valid: LinkTime = Field("day", description="From now on: one hour, one day or one week.")


Password = Annotated[
    str,
    Field(
        max_length=MAX_SENT_PASSWORD,
        description=f"{MIN_PASSWORD} to {MAX_PASSWORD} characters.",
        examples=["sun over the sea"],
    ),
]


class SetPasswordBody(BaseModel):
    """The new password of a user."""

    model_config = ConfigDict(extra="forbid")

    password: Password | None = Field(None, description="Leave it out to have one generated.")


class OwnPasswordChange(BaseModel):
    """Your current password and the new one."""

    model_config = ConfigDict(extra="forbid")

    current: str = Field(max_length=MAX_SENT_PASSWORD)
    new: Password


MAX_ROWS = 1_000

UserName = Annotated[str, Path(max_length=MAX_NAME, description="The name of a user.", examples=["rita"])]
LinkId = Annotated[str, Path(max_length=40, description="The `id` of a sign-in link, which is not its secret.")]
TokenId = Annotated[str, Path(max_length=40, description="The `id` of a token, which is not the token itself.")]
Since = Annotated[
    str, Query(max_length=40, description="Only entries from this time on, such as `2026-11-16T08:00:00+00:00`.")
]
Before = Annotated[
    int | None, Query(ge=1, le=2**62, description="Only entries with smaller numbers, for the next page.")
]
Limit = Annotated[int, Query(ge=1, le=MAX_ROWS)]
Head = Annotated[str, Query(max_length=100, description="A hash that an earlier check returned as `head`.")]
UserFilter = Annotated[str | None, Query(max_length=MAX_NAME, description="Only actions of this user.")]
ActionFilter = Annotated[
    str | None, Query(max_length=40, description="Only this action, such as `login`, `ask` or `research`.")
]


def router(context: ServerContext, accounts: Accounts) -> APIRouter:
    """For owners: users, how they sign in, the audit log. For everybody: who they are, and what is hidden from them."""
    routes = RoleRouter("reader", prefix="/api", tags=["people"], route_class=JsonRoute)

    @routes.get("/me")
    def me() -> MeReply:
        """Show who you are to the server, and what you may do."""
        who = current_visitor()
        return MeReply(who.name, who.role, who.limits)

    @routes.get("/profile")
    def profile() -> PolicySummary:
        """Show what is hidden here, and by whose policy."""
        policy = context.workspace.settings.policy
        return policy_summary(policy, context.workspace.shelf_file.books(), with_titles=current_visitor().may("owner"))

    _add_users(routes, accounts)
    _add_tokens(routes, accounts)
    _add_passwords(routes, accounts)
    _add_links(routes, accounts, context.workspace.settings.serve)
    _add_audit(routes, accounts)
    return routes


def _add_users(routes: APIRouter, accounts: Accounts) -> None:
    @routes.get("/users")
    @requires_role("owner")
    def users(request: Request) -> UsersReply:
        """List all users, their tokens, their sign-in links and when their passwords were set."""
        register = accounts.require_users(request)
        return UsersReply(tuple(register.with_tokens(user_row) for user_row in register.all()))

    @routes.post("/users", status_code=201)
    @requires_role("owner")
    def add(request: Request, body: NewUser) -> UserTokens:
        """Add a user, who needs a password, a token or a sign-in link."""
        register = accounts.require_users(request)
        return register.with_tokens(register.add(body.name, body.role))

    @routes.get("/users/{name}")
    @requires_role("owner")
    def user(request: Request, name: UserName) -> UserTokens:
        """Show one user."""
        register = accounts.require_users(request)
        return register.with_tokens(register.get(name))

    @routes.put("/users/{name}")
    @requires_role("owner")
    def change(request: Request, name: UserName, body: UserChange) -> UserTokens:
        """Change the role or the limits of a user, from the next request on."""
        register = accounts.require_users(request)
        register.change(name, body.role, body.limits)
        return register.with_tokens(register.get(name))

    @routes.delete("/users/{name}", status_code=204, response_class=Response)
    @requires_role("owner")
    def remove(request: Request, name: UserName) -> Response:
        """Remove a user, who is signed out at once; runs and notes stay."""
        accounts.require_users(request).remove(name)
        return Response(status_code=204)


def _add_tokens(routes: APIRouter, accounts: Accounts) -> None:
    @routes.post("/users/{name}/tokens", status_code=201)
    @requires_role("owner")
    def new_token(request: Request, name: UserName, body: NewTokenBody) -> NewTokenReply:
        """Create a token for a user; it is shown only this once."""
        token = accounts.require_users(request).new_token(name, body.label)
        return NewTokenReply(token.id, token.text)

    @routes.delete("/users/{name}/tokens/{token_id}", status_code=204, response_class=Response)
    @requires_role("owner")
    def revoke(request: Request, name: UserName, token_id: TokenId) -> Response:
        """Revoke a token; everybody who uses it is signed out at once."""
        accounts.require_users(request).revoke(name, token_id)
        return Response(status_code=204)


def _add_passwords(routes: APIRouter, accounts: Accounts) -> None:
    @routes.put("/users/{name}/password")
    @requires_role("owner")
    def set_password(request: Request, name: UserName, body: SetPasswordBody) -> PasswordReply:
        """Set or generate the password of a user, who is signed out where they used the previous one or a link."""
        register = accounts.require_users(request)
        if body.password is None:
            made = register.generate_password(name)
            return PasswordReply(made.name, made.password)
        register.set_password(name, body.password)
        return PasswordReply(name, None)

    @routes.delete("/users/{name}/password", status_code=204, response_class=Response)
    @requires_role("owner")
    def remove_password(request: Request, name: UserName) -> Response:
        """Remove the password and the sign-in links of a user, who can then sign in with a token or a new link."""
        accounts.require_users(request).remove_password(name)
        return Response(status_code=204)

    @routes.put("/me/password", status_code=204, response_class=Response)
    def change_own(request: Request, body: OwnPasswordChange) -> Response:
        """Change your own password. Browsers that signed in with the previous one are signed out."""
        accounts.change_own_password(request, body.current, body.new)
        return Response(status_code=204)


def _add_links(routes: APIRouter, accounts: Accounts, serve: ServeSettings) -> None:
    @routes.post("/users/{name}/links", status_code=201)
    @requires_role("owner")
    def new_link(request: Request, name: UserName, body: NewLinkBody) -> NewLinkReply:
        """Create a link that signs a user in once. It is shown only now, and replaces an earlier one that was not used.

        Opening the link shows a page with a button; only the button signs in. The link ends when it expires, when the
        password of the user is changed or removed, and when the user is removed.
        """
        link = accounts.require_users(request).new_link(name, body.valid)
        return NewLinkReply(link.id, link.user, link_address(link, serve, request), link.expires_at)

    @routes.delete("/users/{name}/links/{link_id}", status_code=204, response_class=Response)
    @requires_role("owner")
    def revoke_link(request: Request, name: UserName, link_id: LinkId) -> Response:
        """Revoke a sign-in link; a user who signed in with it is signed out at once."""
        accounts.require_users(request).revoke_link(name, link_id)
        return Response(status_code=204)


def link_address(link: NewLink, serve: ServeSettings, request: Request) -> str:
    """The complete address of a sign-in link, as others can open it."""
    return f"{reader_address(serve, request)}{LINK_PATH}{link.secret}"


def _add_audit(routes: APIRouter, accounts: Accounts) -> None:
    @routes.get("/audit")
    @requires_role("owner", "audit")
    def audit(
        user: UserFilter = None,
        action: ActionFilter = None,
        since: Since = "",
        before: Before = None,
        limit: Limit = 100,
    ) -> AuditReply:
        """Show who did what, newest first."""
        begin = utc_moment(since)
        rows = accounts.require_audit().rows(
            limit=limit, user=user, action=action, since=begin, before=before, newest_first=True
        )
        last = rows[-1].seq if len(rows) == limit else None
        return AuditReply(tuple(rows), last)

    @routes.get("/audit/check")
    @requires_role("owner", "audit")
    def check(head: Head = "") -> AuditProof:
        """Verify that no row of the audit log was changed, removed or added, and none up to `head` rewritten."""
        return accounts.require_audit().verify(head.strip())
