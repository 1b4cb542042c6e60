"""Users come in with tokens of their own, and are out as soon as these are taken back."""

from __future__ import annotations

import contextlib
import hmac
import inspect
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.web.guarded_server import room_with
from tests.web.server_with_users import UserServer, user_server
from tests.web.servers import NO_RATE_LIMIT, browser_client, http_client

from kiwiresearch.errors import BadSettings
from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard import signed_stamp
from kiwiresearch.web.guard.identity import COOKIE
from kiwiresearch.web.guard.setup import check_owners
from kiwiresearch.web.server import check_serve_settings
from kiwiresearch.workspace.settings import ServeSettings
from kiwiresearch.workspace.workspace import open_workspace

SEARCH = "/api/search?q=sunset&fast=true"


@contextlib.contextmanager
def a_guest(people: UserServer, role: str = "reader") -> Iterator[tuple[str, str]]:
    """A user of one test: the name of it, and a token."""
    people.register.add("guest", role)
    try:
        yield "guest", people.register.new_token("guest").text
    finally:
        with contextlib.suppress(Exception):
            people.register.remove("guest")


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_each_user_is_known_by_name(people: UserServer) -> None:
    """A token identifies a user, what they may do, and their limits."""
    with people.client("remy") as client:
        me = client.get("/api/me").json()
    assert (me["name"], me["role"]) == ("remy", "researcher")
    assert me["limits"]["max_pages"] == 500


def test_a_token_that_was_revoked_lets_nobody_in(people: UserServer) -> None:
    """Header and cookie end with the token, at once."""
    with (
        a_guest(people) as (name, token),
        http_client(people.address) as client,
        browser_client(people.address) as browser,
    ):
        browser.post("/login", data={"token": token})
        assert browser.get("/").status_code == 200
        people.register.revoke(name, people.register.tokens(name)[0].id)
        assert client.get(SEARCH, headers=bearer(token)).status_code == 401
        assert browser.get("/").headers["location"].startswith("/login")


def test_a_user_who_was_removed_is_out(people: UserServer) -> None:
    """Removing a user ends all sessions at once."""
    with a_guest(people) as (name, token), browser_client(people.address) as browser:
        browser.post("/login", data={"token": token})
        assert browser.get("/").status_code == 200
        people.register.remove(name)
        assert browser.get("/").status_code == 303


def test_a_new_role_counts_from_the_next_request_on(people: UserServer) -> None:
    """Nobody has to log in again to be less than before."""
    with a_guest(people, "owner") as (name, token), http_client(people.address) as client:
        assert client.get("/api/users", headers=bearer(token)).status_code == 200
        people.register.set_role(name, "reader")
        assert client.get("/api/users", headers=bearer(token)).status_code == 403


def test_the_cookie_is_not_the_token(people: UserServer) -> None:
    """The cookie does not reveal the token, is not accepted as one, and cannot be forged for another user."""
    with people.browser("rita") as browser, people.client() as client:
        cookie = browser.cookies[COOKIE]
        assert people.tokens["rita"] not in cookie
        assert client.get(SEARCH, headers=bearer(cookie)).status_code == 401
        forged = people.ids["olga"] + cookie[len(people.ids["rita"]) :]
        assert cookie.startswith(people.ids["rita"])
        assert client.get("/", headers={"Cookie": f"{COOKIE}={forged}", "Accept": "text/html"}).status_code == 303
        ours = {"Cookie": f"{COOKIE}={cookie}"}
        assert client.get(SEARCH, headers=ours).status_code == 401  # not from a page of ours
        assert client.get(SEARCH, headers=ours | {"Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_leaving_takes_the_cookie_back(people: UserServer) -> None:
    """After logging out, a token is asked for again."""
    with people.browser("rita") as browser:
        assert browser.post("/logout").headers["location"] == "/login"
        assert browser.get("/").status_code == 303


def test_comparisons_take_the_same_time(people: UserServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Marks are compared by `hmac.compare_digest`; tokens are looked up by their hash alone."""
    seen: list[bytes] = []
    real = hmac.compare_digest

    def watched(a: bytes, b: bytes) -> bool:
        seen.append(b)
        return real(a, b)

    monkeypatch.setattr(hmac, "compare_digest", watched)
    with people.client() as client:
        client.get("/", headers={"Cookie": f"{COOKIE}={'0' * 90}"})
    assert len(seen) == 1
    assert "==" not in inspect.getsource(signed_stamp.read_stamp)


def test_attempts_to_log_in_are_limited(tmp_path: Path) -> None:
    """After ten wrong tokens in a minute an address must wait, and is given the time; others can log in."""
    with user_server(tmp_path, **NO_RATE_LIMIT) as people, people.browser() as browser:
        answers = [browser.post("/login", data={"token": f"kiwi_{number:032}"}) for number in range(12)]
        assert [answer.status_code for answer in answers[:10]] == [401] * 10
        assert answers[-1].status_code == 429
        assert int(answers[-1].headers["retry-after"]) > 0
        with people.client() as client:
            assert client.get(SEARCH, headers=bearer("kiwi_" + "y" * 32)).status_code == 429
        with people.client("rita") as client:
            assert client.get(SEARCH).status_code == 200


def test_users_need_an_owner_and_no_common_token(home: Path) -> None:
    """A server with users does not begin where nobody could manage them, or where one token would open all."""
    with pytest.raises(BadSettings, match="users add"):
        check_owners(open_workspace({"KIWIRESEARCH_HOME": str(home), "KIWIRESEARCH_SERVE_USERS": "yes"}))
    with pytest.raises(BadSettings, match=r"'serve\.users' and 'serve\.token' cannot be used together"):
        check_serve_settings(ServeSettings(users=True, token="long-and-secret"))
    check_serve_settings(ServeSettings(users=True, host="0.0.0.0"))


def test_nothing_changes_where_users_are_off(context: ServerContext, client: httpx2.Client) -> None:
    """A desk of one user asks for nothing and keeps no audit; it has no users, but a form to turn them on."""
    assert client.get("/api/me").json()["name"] == ""
    for path in ("/api/users", "/api/audit", "/people/rita", "/audit"):
        assert client.get(path).status_code == 404
    assert "Turn on sign-in" in client.get("/people").text
    app = make_app(room_with(context, ServeSettings(users=False)))
    names = {getattr(layer.cls, "__name__", "") for layer in app.user_middleware}
    assert not names & {"UserCheck", "AuditRecorder"}
