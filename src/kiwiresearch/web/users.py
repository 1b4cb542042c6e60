"""Routes about users, tokens, audit and policy, with their models."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from kiwiresearch.store.users import Role, TokenRow, UserRow
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard.identity import current_visitor
from kiwiresearch.web.guard.setup import Accounts
from kiwiresearch.web.replies import Json
from kiwiresearch.workspace.policy import policy_record
from kiwiresearch.workspace.users import UserRegister, utc_moment

LONGEST_NAME = 100


class LimitsReply(BaseModel):
    """How much a user may do; 0 is no limit."""

    requests_a_minute: int
    questions_a_day: int
    running: int = Field(description="Runs that are worked on at once.")
    queued: int = Field(description="Runs that wait.")
    max_pages: int = Field(description="Pages of one run.")


class MeReply(BaseModel):
    """Who asks."""

    name: str = Field(description="Empty where the server has no users.")
    role: Role
    limits: LimitsReply


class ProfileReply(BaseModel):
    """The policy of the server, as readers are told of it."""

    name: str = Field(description="Whose policy it is; empty where nobody is named.")
    notice: str
    restricts: bool = Field(description="Whether anything is left out.")
    rules: int = Field(description="How many titles, or patterns of titles, are hidden.")
    books_left_out: int
    fingerprint: str = Field(description="A hash over the rules, which runs made under them carry.")
    hidden: list[str] | None = Field(None, description="The titles themselves, told to owners.")
    books: list[str] | None = Field(None, description="The books that are allowed, told to owners.")


class TokenReply(BaseModel):
    """A token, without what it is."""

    id: str
    user: str
    label: str
    made_at: str
    used_at: str = Field(description="When it was last seen, to the hour; empty if never.")
    revoked_at: str = Field(description="Since when it lets nobody in; empty while it does.")


class UserReply(BaseModel):
    """A user, and their tokens."""

    name: str
    role: Role
    limits: dict[str, int] = Field(description="What differs from the limits of the role.")
    made_at: str
    tokens: list[TokenReply]


class UsersReply(BaseModel):
    """All users."""

    users: list[UserReply]


class NewTokenReply(BaseModel):
    """A token that was just made: its text is told this once."""

    id: str
    token: str


class AuditRowReply(BaseModel):
    """One thing that somebody did."""

    seq: int
    at: str
    user: str
    host: str = Field(description="From where.")
    action: str
    subject: str
    outcome: str
    details: dict[str, Any]


class AuditReply(BaseModel):
    """Rows of the audit, the newest first."""

    rows: list[AuditRowReply]
    before: int | None = Field(description="Ask with this for older rows; null where there are none.")


class AuditCheckReply(BaseModel):
    """Whether every row is as it was written."""

    holds: bool
    row: int | None = Field(description="The first row that is not as it was written; null where all are.")
    why: str
    head: str = Field(description="The hash of the last row: noted elsewhere, it can be given as `head` later.")


class NewUser(BaseModel):
    """Somebody who is to come in."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=LONGEST_NAME, examples=["rita"])
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

UserName = Annotated[str, Path(max_length=LONGEST_NAME, description="The name of a user.", examples=["rita"])]
TokenId = Annotated[str, Path(max_length=40, description="The `id` of a token, which is not the token itself.")]
Since = Annotated[str, Query(max_length=40, description="From this moment on, such as `2026-11-16T08:00:00+00:00`.")]
Before = Annotated[int | None, Query(ge=1, le=2**62, description="Only rows with smaller numbers, for the next page.")]
Limit = Annotated[int, Query(ge=1, le=MAX_ROWS)]
Head = Annotated[str, Query(max_length=100, description="A hash that an earlier check told as `head`.")]
UserFilter = Annotated[str | None, Query(max_length=LONGEST_NAME, description="Only what this user did.")]
ActionFilter = Annotated[
    str | None, Query(max_length=40, description="Only this, such as `login`, `ask` or `research`.")
]


def router(room: ServerContext, house: Accounts) -> APIRouter:
    """Users, tokens and audit for owners; for everybody, who they are and what is hidden from them."""
    routes = APIRouter(prefix="/api", tags=["people"])

    @routes.get("/me", response_class=Json, responses={200: {"model": MeReply}})
    def me() -> Json:
        """Tell who the server takes you for, and what you may do."""
        who = current_visitor()
        return Json({"name": who.name, "role": who.role, "limits": who.limits.record()})

    @routes.get("/profile", response_class=Json, responses={200: {"model": ProfileReply}})
    def profile() -> Json:
        """Tell what is hidden here, and by whom."""
        policy = room.desk.settings.policy
        told = policy_record(policy, room.desk.shelf_file.books())
        more = {"hidden": list(policy.hidden), "books": list(policy.books)} if current_visitor().may("owner") else {}
        return Json(told | more)

    _add_users(routes, house)
    _add_tokens(routes, house)
    _add_audit(routes, house)
    return routes


def _add_users(routes: APIRouter, house: Accounts) -> None:
    @routes.get("/users", response_class=Json, responses={200: {"model": UsersReply}})
    def users(request: Request) -> Json:
        """List all users and their tokens."""
        register = house.require_users(request)
        return Json({"users": [_user_record(register, one) for one in register.all()]})

    @routes.post("/users", status_code=201, response_class=Json, responses={201: {"model": UserReply}})
    def add(request: Request, body: NewUser) -> Json:
        """Make a user, who needs a token to come in."""
        register = house.require_users(request)
        return Json(_user_record(register, register.add(body.name, body.role)), 201)

    @routes.get("/users/{name}", response_class=Json, responses={200: {"model": UserReply}})
    def user(request: Request, name: UserName) -> Json:
        """Tell of one user."""
        register = house.require_users(request)
        return Json(_user_record(register, register.get(name)))

    @routes.put("/users/{name}", response_class=Json, responses={200: {"model": UserReply}})
    def change(request: Request, name: UserName, body: UserChange) -> Json:
        """Change the role or the limits of a user; it counts from the next request on."""
        register = house.require_users(request)
        register.change(name, body.role, body.limits)
        return Json(_user_record(register, register.get(name)))

    @routes.delete("/users/{name}", status_code=204, response_class=Response)
    def remove(request: Request, name: UserName) -> Response:
        """Remove a user, who is out at once; runs and notes stay."""
        house.require_users(request).remove(name)
        return Response(status_code=204)


def _add_tokens(routes: APIRouter, house: Accounts) -> None:
    @routes.post(
        "/users/{name}/tokens", status_code=201, response_class=Json, responses={201: {"model": NewTokenReply}}
    )
    def new_token(request: Request, name: UserName, body: NewLabel) -> Json:
        """Make a token for a user; it is told this once."""
        token = house.require_users(request).new_token(name, body.label)
        return Json({"id": token.id, "token": token.text}, 201)

    @routes.delete("/users/{name}/tokens/{token_id}", status_code=204, response_class=Response)
    def revoke(request: Request, name: UserName, token_id: TokenId) -> Response:
        """Take a token back: whoever is in with it is out at once."""
        house.require_users(request).revoke(name, token_id)
        return Response(status_code=204)


def _add_audit(routes: APIRouter, house: Accounts) -> None:
    @routes.get("/audit", response_class=Json, responses={200: {"model": AuditReply}})
    def audit(
        user: UserFilter = None,
        action: ActionFilter = None,
        since: Since = "",
        before: Before = None,
        limit: Limit = 100,
    ) -> Json:
        """Tell who did what, the newest first."""
        begin = utc_moment(since)
        rows = house.require_audit().rows(
            limit=limit, user=user, action=action, since=begin, before=before, newest_first=True
        )
        last = rows[-1].seq if len(rows) == limit else None
        return Json({"rows": [asdict(row) for row in rows], "before": last})

    @routes.get("/audit/check", response_class=Json, responses={200: {"model": AuditCheckReply}})
    def check(head: Head = "") -> Json:
        """Prove that no row of the audit was changed, taken out or put in, and none up to `head` written anew."""
        kept = house.require_audit()
        end = kept.head()  # before the proof, which covers it then
        broken = kept.check(head.strip())
        row, why = (broken.seq, broken.text) if broken else (None, "")
        return Json({"holds": broken is None, "row": row, "why": why, "head": end})


def _user_record(register: UserRegister, user: UserRow) -> dict[str, Any]:
    tokens: list[TokenRow] = register.tokens(user.name)
    return asdict(user) | {"tokens": [asdict(token) for token in tokens]}
