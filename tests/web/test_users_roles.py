"""Every route declares a role, and lets in who may use it and nobody else."""

from __future__ import annotations

import re

import httpx2
import pytest
from fastapi import APIRouter
from tests.web.server_with_users import USERS, UserServer

from kiwiresearch.store.users import ROLES
from kiwiresearch.web.guard.requests import API_PATHS
from kiwiresearch.web.guard.roles import OWNER_ONLY, RoleRouter, requires_role, rule_of_route

NOT_ALLOWED = "urn:kiwiresearch:problem:not-allowed"
NAMED = {"reader": "rita", "researcher": "remy", "owner": "olga"}


def asked(client: httpx2.Client, method: str, template: str) -> httpx2.Response:
    """What a request for something that is not there is answered."""
    path = re.sub(r"\{[^}]+\}", "nothing", template)
    is_form = not path.startswith(API_PATHS)
    headers = {"Origin": str(client.base_url).rstrip("/")} if is_form else {}
    kind = "application/x-www-form-urlencoded" if is_form else "application/json"
    if path.endswith(("/import", "/upload", "/attachments")):
        kind = "multipart/form-data; boundary=x" if is_form else "application/zip"
    if method == "GET":
        return client.get(path)
    return client.request(method, path, headers=headers | {"Content-Type": kind}, content=b"" if is_form else b"{}")


def is_refused(answer: httpx2.Response) -> bool:
    result = answer.headers.get("content-type", "").startswith("application/problem+json")
    return answer.status_code == 403 and result and answer.json()["type"] == NOT_ALLOWED


def test_every_route_declares_a_role(people: UserServer) -> None:
    """A new route must declare its role before anybody but owners can use it."""
    assert {place for place, rule in people.rules.items() if rule is OWNER_ONLY} == set()


@pytest.mark.parametrize("role", ROLES)
def test_a_role_is_let_in_where_it_may_be_and_nowhere_else(people: UserServer, role: str) -> None:
    """Each route with a token of each role: less than the least role is refused, and all others are not."""
    wrong = []
    with people.client(NAMED[role]) as client:
        for (method, path), rule in sorted(people.rules.items(), key=lambda row: row[0]):
            least = rule.role
            may = least == "stranger" or ROLES.index(role) >= ROLES.index(least)
            answer = asked(client, method, path)
            is_unknown = answer.status_code == 401 and path != "/login"
            if is_unknown or answer.status_code >= 500 or is_refused(answer) is may:
                wrong.append((method, path, least, answer.status_code, answer.text[:200]))
    assert wrong == []


def test_strangers_see_nothing(people: UserServer) -> None:
    """Without a token every route but those for everybody answers that one is needed, whatever is sent."""
    wrong = []
    with people.client() as client:
        for (method, path), rule in people.rules.items():
            if rule.role != "stranger" and (answer := asked(client, method, path)).status_code != 401:
                wrong.append((method, path, answer.status_code))
    assert wrong == []


def test_a_readers_cookie_cannot_post(people: UserServer) -> None:
    """A reader's browser gets a page that says who may do this; nothing is started."""
    before = len(people.store.jobs.all())
    with people.browser("rita") as browser:
        answer = browser.post("/research", data={"topic": "Sunset"})
        assert answer.status_code == 403
        assert "You cannot do this" in answer.text
        assert browser.post("/runs/x/notes", data={"verdict": "agree"}).status_code == 403
        assert browser.post("/people", data={"name": "eve", "role": "owner"}).status_code == 403
    assert len(people.store.jobs.all()) == before
    assert set(USERS) == {user.name for user in people.store.users.all()}


def test_a_refusal_says_who_may(people: UserServer) -> None:
    """403 names the roles that may, and what to do."""
    with people.client("rita") as client:
        data = client.post("/api/research", json={"topic": "Sunset"}).json()
        assert data["detail"] == "Only researchers and owners can do this."
        assert "owner" in data["remedy"]
        assert client.get("/api/users").json()["detail"] == "Only owners can do this."


def test_a_route_without_a_role_is_the_owners() -> None:
    """What nobody has thought about is closed, not open; the role of a router is for those that name none."""
    plain, routes = APIRouter(), RoleRouter("reader")
    for one in (plain, routes):
        one.add_api_route("/new", lambda: None)
    routes.add_api_route("/note", requires_role("researcher", "note")(lambda: None))
    assert rule_of_route(plain.routes[0]) is OWNER_ONLY
    assert [rule_of_route(route).role for route in routes.routes] == ["reader", "researcher"]
