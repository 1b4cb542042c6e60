"""The owner of a server without users turns on sign-in in the browser, and nobody else can."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from starlette.requests import Request
from tests.web.desk.owner_servers import OwnerServer, owner_server
from tests.web.desk.page_text import first
from tests.web.servers import browser_client, http_client, running_server, server_context

from kiwiresearch.cli.server import _mcp
from kiwiresearch.store import passwords as hashing
from kiwiresearch.store.passwords import Cost, PasswordHash
from kiwiresearch.web.app import make_app
from kiwiresearch.web.guard import passwords as password_checks
from kiwiresearch.web.guard.setup import check_owners
from kiwiresearch.web.peers import address_to_share
from kiwiresearch.web.runs import make_jobs
from kiwiresearch.web.server import check_serve_settings
from kiwiresearch.workspace.settings import ServeSettings
from kiwiresearch.workspace.users import Actor, UserRegister, utc_now
from kiwiresearch.workspace.workspace import open_workspace, store_of

SECRET = "sun over the sea"
OLGA = {"name": "Olga", "password": SECRET, "again": SECRET}
FORM = "/settings/sign-in"
OFF = "/settings/sign-in/off"


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    cost = Cost(16, 1, 1)
    monkeypatch.setattr(hashing, "COST", cost)
    monkeypatch.setattr(password_checks, "COST", cost)
    monkeypatch.setattr(password_checks, "NO_PASSWORD", PasswordHash(cost, b"0" * 16, b""))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


@pytest.fixture
def desk(home: Path) -> Iterator[OwnerServer]:
    with owner_server(home) as made:
        yield made


def saved(home: Path) -> str:
    file = home / "settings.toml"
    return file.read_text(encoding="utf-8") if file.exists() else ""


def is_open(desk: OwnerServer) -> bool:
    """Whether a browser that has not signed in can use the server."""
    with browser_client(desk.address) as stranger:
        return stranger.get("/books").status_code == 200


def test_sign_in_is_turned_on_at_once_and_stays_on(desk: OwnerServer) -> None:
    """Settings lead to the form; this browser is the owner's, others have to sign in, also after the next start."""
    assert "Turn on sign-in" in desk.browser.get("/settings").text
    form = desk.browser.get("/people").text
    assert "Only this computer can open the server now." in form
    assert "From now on, everyone has to sign in" in form
    sent = desk.browser.post(FORM, data=OLGA)
    assert (sent.status_code, sent.headers["location"]) == (303, "/people?new=1")
    shown = desk.browser.get(sent.headers["location"]).text
    assert "You are signed in as Olga." in shown
    assert "Add a class" in shown
    assert "see above how to let other devices in" in shown
    assert desk.browser.get("/api/me").json()["role"] == "owner"
    assert not is_open(desk)
    with http_client(desk.address) as program:
        assert program.get("/api/search?q=sun").status_code == 401
        assert program.get("/api/health").status_code == 200
    assert "users = true" in saved(desk.home)
    again = open_workspace({"KIWIRESEARCH_HOME": str(desk.home)})
    check_serve_settings(again.settings.serve)
    check_owners(again)
    with browser_client(desk.address) as other:
        assert other.post("/login", data={"name": "olga", "password": SECRET}).status_code == 303
        assert "Manage users and classes" in other.get("/settings").text
    assert 'action="/login"' not in desk.browser.get("/audit").text


def test_the_new_owner_keeps_what_this_browser_made(desk: OwnerServer) -> None:
    """Its questions and research are still on the home page; another browser's, and another user, see none of them."""
    asked = "How old is the oldest sunset?"
    desk.browser.get("/ask", params={"q": asked})
    desk.send("/research", topic="Sunset over the bay")
    with browser_client(desk.address) as other:
        other.get("/ask", params={"q": "What did another browser ask?"})
    assert "Sunset over the bay" in desk.browser.get("/").text
    desk.send(FORM, **OLGA)
    shown = desk.browser.get("/").text
    assert asked in shown
    assert "Sunset over the bay" in shown
    assert "another browser" not in shown
    sheet = LexborHTMLParser(desk.send("/class-list", names="Ana", role="researcher").text)
    with browser_client(desk.address) as ana:
        ana.cookies.update(desk.browser.cookies)
        ana.post("/login", data={"name": "ana", "password": first(sheet, ".slips code").text()})
        seen = ana.get("/").text
    assert asked not in seen
    assert "Sunset over the bay" not in seen
    desk.send(OFF)
    assert asked in desk.browser.get("/").text, "it is the browser's again"


def test_a_class_can_be_added_right_away(desk: OwnerServer) -> None:
    """Pupils sign in, and what they may do is checked."""
    desk.send(FORM, **OLGA)
    sheet = LexborHTMLParser(desk.send("/class-list", names="Ana", role="researcher").text)
    slip = first(sheet, ".slips li").text()
    assert "kiwiresearch" in slip
    assert "Address" in slip
    assert len(sheet.css(".slips .blank")) == 1
    assert "127.0.0.1" not in slip
    hints = [one.text() for one in sheet.css("main p.no-print")]
    assert any("left blank for you to fill in" in hint for hint in hints)
    password = first(sheet, ".slips code").text()
    with browser_client(desk.address) as ana:
        assert ana.post("/login", data={"name": "ana", "password": password}).status_code == 303
        assert ana.get("/api/me").json()["role"] == "researcher"
        assert ana.get("/settings").status_code == 403


@pytest.mark.parametrize(
    ("settings", "asked_at", "printed"),
    [
        ({}, "http://127.0.0.1:8765", ""),
        ({"host": "0.0.0.0"}, "http://192.0.2.3:8765", "http://192.0.2.3:8765"),
        ({"host": "192.0.2.3"}, "http://localhost:8765", "http://192.0.2.3:8765"),
        ({"public_url": "https://books.school.lan/"}, "http://127.0.0.1:8765", "https://books.school.lan"),
        ({"hosts": ("books.school.lan",)}, "http://127.0.0.1:8765", "http://books.school.lan"),
        ({"host": "0.0.0.0", "hosts": ("books",)}, "http://127.0.0.1:8765", "http://books:8765"),
    ],
)
def test_slips_have_an_address_that_other_devices_reach(settings: dict[str, Any], asked_at: str, printed: str) -> None:
    """The one in the settings, or the one on the network; none if only this computer reaches the server."""
    host, _, port = asked_at.removeprefix("http://").partition(":")
    scope = {"type": "http", "scheme": "http", "server": (host, int(port)), "path": "/class-list", "query_string": b""}
    request = Request(scope | {"headers": [(b"host", f"{host}:{port}".encode())]})
    assert address_to_share(ServeSettings(**settings), request) == printed


def test_the_owner_turns_sign_in_off_again(desk: OwnerServer) -> None:
    """It counts at once, also after the next start; users and passwords are there when it is turned on again."""
    desk.send(FORM, **OLGA)
    register = UserRegister(store_of(desk.context.workspace), utc_now, Actor())
    register.add("rita", "researcher")
    password = register.generate_password("rita").password
    with browser_client(desk.address) as rita:
        assert rita.post(OFF).headers["location"].startswith("/login")
        rita.post("/login", data={"name": "rita", "password": password})
        assert rita.post(OFF).status_code == 403
    assert not is_open(desk)
    assert first(desk.page("/settings"), f"form[action='{OFF}'] button").text() == "Yes, turn off sign-in"
    sent = desk.browser.post(OFF)
    assert (sent.status_code, sent.headers["location"]) == (303, "/people?off=1")
    assert "Sign-in is off. Users and passwords are kept" in desk.browser.get("/people?off=1").text
    assert is_open(desk)
    assert "users = true" not in saved(desk.home)
    assert not open_workspace({"KIWIRESEARCH_HOME": str(desk.home)}).settings.serve.users
    assert OFF not in desk.browser.get("/settings").text
    assert desk.browser.post(OFF).status_code == 303
    desk.send(FORM, **OLGA)
    with browser_client(desk.address) as rita:
        assert rita.post("/login", data={"name": "rita", "password": password}).status_code == 303
    assert not is_open(desk)


def test_a_server_for_others_keeps_sign_in(home: Path) -> None:
    """Without it, everybody who reaches the server could use it, and nobody would be its owner."""
    UserRegister(store_of(open_workspace({"KIWIRESEARCH_HOME": str(home)})), utc_now, Actor()).add("Olga", "owner")
    (home / "settings.toml").write_text("[serve]\nusers = true\n", encoding="utf-8")
    with owner_server(home, KIWIRESEARCH_SERVE_PUBLIC_URL="https://books.school.lan") as desk:
        register = UserRegister(store_of(desk.context.workspace), utc_now, Actor())
        password = register.generate_password("Olga").password
        assert desk.browser.post("/login", data={"name": "Olga", "password": password}).status_code == 303
        page = desk.browser.get("/settings").text
        assert "so it needs sign-in" in page
        assert OFF not in page
        assert desk.browser.post(OFF).headers["location"] == "/settings#users"
        assert not is_open(desk)
    assert "users = true" in saved(home)


def test_a_signed_in_owner_is_told_where_to_allow_changes(desk: OwnerServer) -> None:
    desk.send(FORM, **OLGA)
    shown = desk.page("/family")
    assert "Only an owner" not in shown.text()
    assert "Editing families is turned off." in first(shown, "#import .note").text()
    assert first(shown, "#import .note a").attributes["href"] == "/settings?next=%2Ffamily#group-family"


def test_all_parts_of_the_server_notice(home: Path) -> None:
    """The tools for models too, which are an app of their own; what they did before they still do for a user."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accepts = {"Accept": "application/json, text/event-stream"}
    with (
        server_context(home) as context,
        contextlib.closing(make_jobs(context)) as jobs,
        running_server(context, lambda context: make_app(context, jobs=jobs, mounts=_mcp(context, jobs))) as address,
        http_client(address) as program,
        browser_client(address) as owner,
    ):
        before = program.post("/mcp", json=call, headers=accepts)
        assert before.status_code == 200, before.text
        owner.post(FORM, data=OLGA)
        assert program.post("/mcp", json=call, headers=accepts).status_code == 401
        token = UserRegister(store_of(context.workspace), utc_now, Actor()).new_token("Olga").text
        signed = program.post("/mcp", json=call, headers=accepts | {"Authorization": f"Bearer {token}"})
        assert (signed.status_code, signed.json()["result"]) == (200, before.json()["result"])


@pytest.mark.parametrize(
    ("settings", "headers"),
    [
        ({}, {"X-Forwarded-For": "192.0.2.7"}),
        ({"KIWIRESEARCH_SERVE_PUBLIC_URL": "https://books.school.lan"}, {}),
        ({"KIWIRESEARCH_SERVE_HOSTS": "books.school.lan"}, {}),
    ],
    ids=["from elsewhere", "behind a proxy", "behind a name"],
)
def test_a_visitor_of_an_open_server_cannot(home: Path, settings: dict[str, str], headers: dict[str, str]) -> None:
    """Neither from another machine nor through a proxy on this one."""
    with owner_server(home, **settings) as desk:
        assert desk.browser.get("/people", headers=headers).status_code == 404
        assert desk.browser.post(FORM, data=OLGA, headers=headers).status_code == 403
        assert is_open(desk)
        assert store_of(desk.context.workspace).users.all() == []
    assert saved(home) == ""


def test_a_form_of_another_site_cannot(desk: OwnerServer) -> None:
    with http_client(desk.address) as stranger:
        for headers in ({"Origin": "http://elsewhere.example", "Sec-Fetch-Site": "cross-site"}, {}):
            assert stranger.post(FORM, data=OLGA, headers=headers).status_code == 403
    assert is_open(desk)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ({"again": "sun over the lake"}, "are not the same"),
        ({"password": "short", "again": "short"}, "8 to 200 characters"),
        ({"password": "Olga Olga", "again": "Olga Olga", "name": "olga olga"}, "cannot be the same as the name"),
        ({"name": "  "}, "Enter a name."),
        ({"name": "Ol/ga"}, "is not allowed as a user name"),
    ],
    ids=["two passwords", "short", "name", "no name", "wrong name"],
)
def test_what_cannot_be_used_changes_nothing(desk: OwnerServer, typed: dict[str, str], told: str) -> None:
    """The name stays in the form, the password does not."""
    reply = desk.browser.post(FORM, data=OLGA | typed)
    assert reply.status_code == 400
    assert told in reply.text
    assert SECRET not in reply.text
    assert is_open(desk)
    assert store_of(desk.context.workspace).users.all() == []


def test_users_from_before_are_there_again(desk: OwnerServer) -> None:
    """Whoever is named in the form becomes an owner with this password; the others are as they were."""
    register = UserRegister(store_of(desk.context.workspace), utc_now, Actor())
    register.add("olga", "reader")
    register.add("rita", "researcher")
    assert "rita" in desk.browser.get("/people").text
    assert desk.browser.post(FORM, data=OLGA).status_code == 303
    assert {user.name: user.role for user in register.all()} == {"olga": "owner", "rita": "researcher"}
    assert desk.browser.get("/api/me").json()["name"] == "olga"


def entered(desk: OwnerServer, token: str) -> httpx2.Client:
    assert desk.browser.post("/login", data={"token": token}).status_code == 303
    return desk.browser


def test_a_token_in_the_settings_makes_way(home: Path) -> None:
    """Its holders are owners here; it stops working, since it would give everybody access to everything."""
    text = '[serve]\ntoken = "a-long-token"\nfamily_owner = true\n'
    (home / "settings.toml").write_text(text, encoding="utf-8")
    with owner_server(home) as desk:
        browser = entered(desk, "a-long-token")
        assert "This server’s token stops working." in browser.get("/people").text
        assert browser.post(FORM, data=OLGA).status_code == 303
        assert browser.get("/api/me").json()["name"] == "Olga"
        with http_client(desk.address) as program:
            headers = {"Authorization": "Bearer a-long-token"}
            assert program.get("/api/search?q=sun", headers=headers).status_code == 401
        url = browser.get("/api/search?q=sunset&fast=true").json()["hits"][0]["url"]
        assert browser.get(url).status_code == 200
    assert "a-long-token" not in saved(home)
    check_serve_settings(open_workspace({"KIWIRESEARCH_HOME": str(home)}).settings.serve)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"KIWIRESEARCH_SERVE_TOKEN": "a-long-token", "KIWIRESEARCH_SERVE_FAMILY_OWNER": "true"}, "users add NAME"),
        ({"KIWIRESEARCH_SERVE_USERS": "false"}, "Remove the variable"),
    ],
    ids=["token", "users"],
)
def test_what_the_environment_decides_is_said(home: Path, settings: dict[str, str], told: str) -> None:
    """At the next start it would count again, so there is no form."""
    with owner_server(home, **settings) as desk:
        browser = entered(desk, "a-long-token") if "KIWIRESEARCH_SERVE_TOKEN" in settings else desk.browser
        page = browser.get("/people").text
        assert told in page
        assert FORM not in page
        assert browser.post(FORM, data=OLGA).status_code == 409
    assert saved(home) == ""


@pytest.mark.parametrize("language", ["en", "fr", "es"])
def test_the_form_is_there_in_each_language(desk: OwnerServer, language: str) -> None:
    assert f'<html lang="{language}"' in desk.browser.get("/people", headers={"Accept-Language": language}).text
