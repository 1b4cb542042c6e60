"""Routes for who runs the server: its users and their tokens, the audit, and the policy readers are told of."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from kiwiresearch.research.people import Register
from kiwiresearch.research.policy import profile_record
from kiwiresearch.research.since import moment_of
from kiwiresearch.store.people import TokenRow, UserRow
from kiwiresearch.web.guard.house import House
from kiwiresearch.web.guard.visitor import visitor
from kiwiresearch.web.people_replies import (
    LONGEST_NAME,
    AuditCheckReply,
    AuditReply,
    MeReply,
    NewLabel,
    NewTokenReply,
    NewUser,
    ProfileReply,
    UserChange,
    UserReply,
    UsersReply,
)
from kiwiresearch.web.replies import Json
from kiwiresearch.web.room import Room

MOST_ROWS = 1_000

UserName = Annotated[str, Path(max_length=LONGEST_NAME, description="The name of a user.", examples=["rita"])]
TokenId = Annotated[str, Path(max_length=40, description="The `id` of a token, which is not the token itself.")]
Since = Annotated[str, Query(max_length=40, description="From this moment on, such as `2026-11-16T08:00:00+00:00`.")]
Before = Annotated[int | None, Query(ge=1, le=2**62, description="Only rows with smaller numbers, for the next page.")]
Limit = Annotated[int, Query(ge=1, le=MOST_ROWS)]
Head = Annotated[str, Query(max_length=100, description="A hash that an earlier check told as `head`.")]
OfUser = Annotated[str | None, Query(max_length=LONGEST_NAME, description="Only what this user did.")]
OfAction = Annotated[str | None, Query(max_length=40, description="Only this, such as `login`, `ask` or `research`.")]


def router(room: Room, house: House) -> APIRouter:
    """Users, tokens and audit for owners; for everybody, who they are and what is hidden from them."""
    routes = APIRouter(prefix="/api", tags=["people"])

    @routes.get("/me", response_class=Json, responses={200: {"model": MeReply}})
    def me() -> Json:
        """Tell who the server takes you for, and what you may do."""
        who = visitor()
        return Json({"name": who.name, "role": who.role, "limits": who.limits.record()})

    @routes.get("/profile", response_class=Json, responses={200: {"model": ProfileReply}})
    def profile() -> Json:
        """Tell what is hidden here, and by whom."""
        policy = room.desk.settings.policy
        told = profile_record(policy, room.desk.shelf_file.books())
        more = {"hidden": list(policy.hidden), "books": list(policy.books)} if visitor().may("owner") else {}
        return Json(told | more)

    _add_users(routes, house)
    _add_tokens(routes, house)
    _add_audit(routes, house)
    return routes


def _add_users(routes: APIRouter, house: House) -> None:
    @routes.get("/users", response_class=Json, responses={200: {"model": UsersReply}})
    def users(request: Request) -> Json:
        """List all users and their tokens."""
        register = house.register(request)
        return Json({"users": [_user(register, one) for one in register.all()]})

    @routes.post("/users", status_code=201, response_class=Json, responses={201: {"model": UserReply}})
    def add(request: Request, body: NewUser) -> Json:
        """Make a user, who needs a token to come in."""
        register = house.register(request)
        return Json(_user(register, register.add(body.name, body.role)), 201)

    @routes.get("/users/{name}", response_class=Json, responses={200: {"model": UserReply}})
    def user(request: Request, name: UserName) -> Json:
        """Tell of one user."""
        register = house.register(request)
        return Json(_user(register, register.get(name)))

    @routes.put("/users/{name}", response_class=Json, responses={200: {"model": UserReply}})
    def change(request: Request, name: UserName, body: UserChange) -> Json:
        """Change the role or the limits of a user; it counts from the next request on."""
        register = house.register(request)
        register.change(name, body.role, body.limits)
        return Json(_user(register, register.get(name)))

    @routes.delete("/users/{name}", status_code=204, response_class=Response)
    def remove(request: Request, name: UserName) -> Response:
        """Remove a user, who is out at once; runs and notes stay."""
        house.register(request).remove(name)
        return Response(status_code=204)


def _add_tokens(routes: APIRouter, house: House) -> None:
    @routes.post(
        "/users/{name}/tokens", status_code=201, response_class=Json, responses={201: {"model": NewTokenReply}}
    )
    def new_token(request: Request, name: UserName, body: NewLabel) -> Json:
        """Make a token for a user; it is told this once."""
        token = house.register(request).new_token(name, body.label)
        return Json({"id": token.id, "token": token.text}, 201)

    @routes.delete("/users/{name}/tokens/{token_id}", status_code=204, response_class=Response)
    def revoke(request: Request, name: UserName, token_id: TokenId) -> Response:
        """Take a token back: whoever is in with it is out at once."""
        house.register(request).revoke(name, token_id)
        return Response(status_code=204)


def _add_audit(routes: APIRouter, house: House) -> None:
    @routes.get("/audit", response_class=Json, responses={200: {"model": AuditReply}})
    def audit(
        user: OfUser = None, action: OfAction = None, since: Since = "", before: Before = None, limit: Limit = 100
    ) -> Json:
        """Tell who did what, the newest first."""
        begin = moment_of(since)
        rows = house.audit().rows(limit=limit, user=user, action=action, since=begin, before=before, newest_first=True)
        last = rows[-1].seq if len(rows) == limit else None
        return Json({"rows": [asdict(row) for row in rows], "before": last})

    @routes.get("/audit/check", response_class=Json, responses={200: {"model": AuditCheckReply}})
    def check(head: Head = "") -> Json:
        """Prove that no row of the audit was changed, taken out or put in, and none up to `head` written anew."""
        kept = house.audit()
        end = kept.head()  # before the proof, which covers it then
        broken = kept.check(head.strip())
        row, why = (broken.seq, broken.why) if broken else (None, "")
        return Json({"holds": broken is None, "row": row, "why": why, "head": end})


def _user(register: Register, user: UserRow) -> dict[str, Any]:
    tokens: list[TokenRow] = register.tokens(user.name)
    return asdict(user) | {"tokens": [asdict(token) for token in tokens]}
