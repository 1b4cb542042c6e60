"""Pages for owners: users, their roles, limits and tokens."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Form, Path, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from kiwiresearch.errors import BadUsage
from kiwiresearch.research.limits import NAMES, limits_of
from kiwiresearch.store.people import ROLES, NewToken
from kiwiresearch.web.desk.pages import Pages, go_to
from kiwiresearch.web.guard.house import House
from kiwiresearch.web.people_replies import LONGEST_NAME
from kiwiresearch.web.people_routes import TokenId
from kiwiresearch.web.problems import Problem, problem_of
from kiwiresearch.web.room import Room

UserName = Annotated[str, Path(max_length=LONGEST_NAME)]
Typed = Annotated[str, Field(max_length=200)]


class NewUser(BaseModel):
    """What the form for a new user sends."""

    name: Typed = ""
    role: Typed = "reader"


class Changes(BaseModel):
    """What the form of a user sends: the role, and limits, of which those that are empty are the role's."""

    role: Typed = ""
    requests_a_minute: Typed = ""
    questions_a_day: Typed = ""
    running: Typed = ""
    queued: Typed = ""
    max_pages: Typed = ""

    def limits(self) -> dict[str, int | None]:
        return {name: _number(getattr(self, name)) for name in NAMES}


def _number(text: str) -> int | None:
    text = text.strip()
    if text and not (text.isascii() and text.isdigit() and len(text) < 10):
        raise BadUsage(f"{text!r} is no limit.", remedy="Give a whole number; 0 sets none.")
    return int(text) if text else None


def router(room: Room, house: House, pages: Pages) -> APIRouter:
    """The list, a page for each user, and what their forms do."""
    routes = APIRouter(include_in_schema=False)
    desk = PeopleDesk(room, house, pages)

    @routes.get("/people")
    def people(request: Request) -> Response:
        return desk.all(request)

    @routes.post("/people")
    def add(request: Request, typed: Annotated[NewUser, Form()]) -> Response:
        return desk.add(request, typed)

    _add_user(routes, desk)
    return routes


def _add_user(routes: APIRouter, desk: PeopleDesk) -> None:
    @routes.get("/people/{name}")
    def user(request: Request, name: UserName, *, saved: bool = False) -> Response:
        return desk.one(request, name, is_saved=saved)

    @routes.post("/people/{name}")
    def change(request: Request, name: UserName, changes: Annotated[Changes, Form()]) -> Response:
        return desk.change(request, name, changes)

    @routes.post("/people/{name}/tokens")
    def new_token(request: Request, name: UserName, label: Annotated[Typed, Form()] = "") -> Response:
        return desk.new_token(request, name, label)

    @routes.post("/people/{name}/tokens/{token_id}/revoke")
    def revoke(request: Request, name: UserName, token_id: TokenId) -> Response:
        desk.house.register(request).revoke(name, token_id)
        return go_to(_address(name))

    @routes.post("/people/{name}/remove")
    def remove(request: Request, name: UserName) -> Response:
        return desk.remove(request, name)


class PeopleDesk:
    """What the routes show; what cannot be done is told on the page that it was asked on."""

    def __init__(self, room: Room, house: House, pages: Pages) -> None:
        self.house = house
        self._limits = room.desk.settings.limits
        self._pages = pages

    def all(self, request: Request, typed: NewUser | None = None, problem: Problem | None = None) -> Response:
        """All users, and the form for a new one."""
        register = self.house.register(request)
        rows = [(user, sum(not token.revoked_at for token in register.tokens(user.name))) for user in register.all()]
        values: dict[str, Any] = {"rows": rows, "roles": ROLES, "typed": typed or NewUser(), "problem": problem}
        return self._pages.show(request, "people.html", status=problem.status if problem else 200, **values)

    def one(
        self,
        request: Request,
        name: str,
        *,
        made: NewToken | None = None,
        typed: Changes | None = None,
        problem: Problem | None = None,
        is_saved: bool = False,
    ) -> Response:
        """A user; right after a token was made, with the token, which is shown on no other page."""
        register = self.house.register(request)
        user = register.get(name)
        values: dict[str, Any] = {
            "user": user,
            "tokens": register.tokens(name),
            "roles": ROLES,
            "names": NAMES,
            "usual": limits_of(self._limits, user.role, {}).record(),
            "typed": typed or Changes(role=user.role, **{limit: str(most) for limit, most in user.limits.items()}),
            "made": made,
            "problem": problem,
            "is_saved": is_saved,
        }
        return self._pages.show(request, "people_user.html", status=problem.status if problem else 200, **values)

    def add(self, request: Request, typed: NewUser) -> Response:
        """Make a user and a first token, which the next page shows this once."""
        register = self.house.register(request)
        try:
            user = register.add(typed.name.strip(), typed.role)
        except BadUsage as problem:
            return self.all(request, typed, problem_of(problem))
        return self.one(request, user.name, made=register.new_token(user.name))

    def change(self, request: Request, name: str, changes: Changes) -> Response:
        register = self.house.register(request)
        try:
            register.change(name, changes.role or None, changes.limits())
        except BadUsage as problem:
            return self.one(request, name, typed=changes, problem=problem_of(problem))
        return go_to(f"{_address(name)}?saved=1")

    def new_token(self, request: Request, name: str, label: str) -> Response:
        try:
            made = self.house.register(request).new_token(name, label.strip())
        except BadUsage as problem:
            return self.one(request, name, problem=problem_of(problem))
        return self.one(request, name, made=made)

    def remove(self, request: Request, name: str) -> Response:
        try:
            self.house.register(request).remove(name)
        except BadUsage as problem:
            return self.one(request, name, problem=problem_of(problem))
        return go_to("/people")


def _address(name: str) -> str:
    return f"/people/{quote(name, safe='')}"
