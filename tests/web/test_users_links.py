"""Users sign in with a link: made by an owner, shown once, used once, and not by a preview."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.web.server_with_users import UserServer, user_server
from tests.web.servers import NO_RATE_LIMIT, browser_client, http_client

from kiwiresearch.errors import LimitReached
from kiwiresearch.store.store import open_store
from kiwiresearch.web.guard import passwords as password_checks
from kiwiresearch.web.guard.passwords import PasswordCheck
from kiwiresearch.workspace.users import DURATIONS, LINK_TIMES, Actor, LinkTime, UserRegister, utc_now

PASSWORD = "sun over the sea"
SLIP = r"<bdi>([^<]+)</bdi></strong></dd>\s*<dt>[^<]+</dt><dd><code[^>]*>([^<]+)</code>"


@pytest.fixture
def lily(people: UserServer) -> Iterator[str]:
    """A reader with neither password nor token."""
    people.register.add("lily", "reader")
    yield "lily"
    people.register.remove("lily")


def link_to(people: UserServer, name: str, valid: LinkTime = "day") -> str:
    return f"/link/{people.register.new_link(name, valid).secret}"


def name_of(browser: httpx2.Client) -> str:
    return str(browser.get("/api/me").json().get("name", ""))


def text_of(page: str, selector: str) -> str:
    return " ".join(" ".join(node.text().split()) for node in LexborHTMLParser(page).css(selector))


def test_only_the_button_uses_a_link_up(people: UserServer, lily: str) -> None:
    """A preview opens it as often as it likes; the button signs in once, and the page names the user."""
    link = link_to(people, lily)
    with browser_client(people.address) as browser:
        for method in ("HEAD", "GET", "GET"):
            page = browser.request(method, link)
            assert page.status_code == 200
            assert name_of(browser) == ""
        assert text_of(page.text, "h1") == "Sign in as lily"
        assert text_of(page.text, "main button") == "Sign in"
        assert "<script" not in page.text
        assert page.headers["cache-control"] == "no-store"
        used = browser.post(link)
        assert (used.status_code, used.headers["location"]) == (303, "/")
        assert name_of(browser) == lily
        assert browser.get("/people").status_code == 403
        assert browser.post(link).headers["location"] == "/", "a second click is no error"
    with browser_client(people.address) as browser:
        for answer in (browser.get(link), browser.post(link)):
            assert answer.status_code == 404
            assert text_of(answer.text, "h1") == "This link does not work"
            assert "lily" not in answer.text
        assert name_of(browser) == ""


def test_a_link_may_be_followed_from_a_message_and_typed_in_capitals(people: UserServer, lily: str) -> None:
    """A browser that comes from another site sees the page; another site cannot press the button."""
    link = link_to(people, lily)
    linked = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    elsewhere = {"origin": "https://mail.example.org", "sec-fetch-site": "cross-site"}
    with http_client(people.address) as from_message, browser_client(people.address) as browser:
        opened = from_message.get(link.upper().replace("/LINK/", "/link/"), headers={"accept": "text/html", **linked})
        assert text_of(opened.text, "h1") == "Sign in as lily"
        assert browser.post(link, headers=elsewhere).status_code == 403
        assert browser.post(link.upper().replace("/LINK/", "/link/")).status_code == 303


@pytest.mark.parametrize("valid", LINK_TIMES)
def test_an_owner_chooses_how_long_it_is_valid(people: UserServer, lily: str, valid: LinkTime) -> None:
    """In the browser: the link is shown once with a button that copies it; over the API: in the reply."""
    with people.browser("olga") as browser:
        page = browser.post(f"/people/{lily}/links", data={"valid": valid}).text
        field = LexborHTMLParser(page).css_first("#made-link")
        assert field is not None
        address = str(field.attributes["value"])
        assert address.startswith(f"{people.address}/link/")
        assert text_of(page, "[data-copy=made-link]") == "Copy link"
        again = browser.get(f"/people/{lily}").text
        assert urlsplit(address).path not in again
        assert "Not used yet. Valid until:" in again
        assert browser.get(f"/people/{lily}/links").headers["location"] == f"/people/{lily}"
        assert browser.post(f"/people/{lily}/links", data={"valid": "year"}).status_code == 422
    with people.client("olga") as client:
        made = client.post(f"/api/users/{lily}/links", json={"valid": valid})
        assert made.status_code == 201
        reply = made.json()
        (row,) = client.get(f"/api/users/{lily}").json()["links"]
        assert (row["id"], row["expires_at"], row["used_at"]) == (reply["id"], reply["expires_at"], "")
        left = datetime.fromisoformat(reply["expires_at"]) - datetime.fromisoformat(utc_now())
        assert timedelta() <= DURATIONS[valid] - left < timedelta(minutes=2)
    with browser_client(people.address) as browser:
        assert browser.post(urlsplit(address).path).status_code == 404, "the second link has replaced it"
        assert browser.post(urlsplit(reply["link"]).path).status_code == 303
        assert name_of(browser) == lily


def test_only_owners_make_and_revoke_links(people: UserServer, lily: str) -> None:
    with people.client("remy") as client, people.browser("remy") as browser:
        assert client.post(f"/api/users/{lily}/links", json={}).status_code == 403
        assert client.delete(f"/api/users/{lily}/links/x").status_code == 403
        assert browser.post(f"/people/{lily}/links").status_code == 403
    with people.client("olga") as client:
        assert client.post("/api/users/nobody/links", json={}).status_code == 400
        assert client.delete(f"/api/users/{lily}/links/x").status_code == 400


@pytest.mark.parametrize("how", ["password", "page", "api", "remove"])
def test_a_session_of_a_link_ends_at_once(people: UserServer, lily: str, how: str) -> None:
    """With a new password, if the link is revoked on the page or over the API, and if the user is removed."""
    with browser_client(people.address) as browser, people.browser("olga") as owner:
        browser.post(link_to(people, lily))
        assert name_of(browser) == lily
        (link,) = people.register.links(lily)
        assert "Signed in with a link:" in owner.get(f"/people/{lily}").text
        if how == "password":
            owner.post(f"/people/{lily}/password", data={"password": PASSWORD})
        elif how == "page":
            owner.post(f"/people/{lily}/links/{link.id}/revoke")
        elif how == "api":
            with people.client("olga") as client:
                assert client.delete(f"/api/users/{lily}/links/{link.id}").status_code == 204
        else:
            people.register.remove(lily)
            people.register.add(lily, "reader")
        assert name_of(browser) == ""
        assert people.register.links(lily) == []


def test_making_and_using_a_link_is_in_the_audit(people: UserServer, lily: str) -> None:
    """Who made it for whom, who used it and who failed; the secret is in no row."""
    with people.client("olga") as client, browser_client(people.address) as browser:
        made = client.post(f"/api/users/{lily}/links", json={"valid": "hour"}).json()
        path = urlsplit(made["link"]).path
        browser.post(path)
        with browser_client(people.address) as other:
            other.post(path)
    rows = people.store.audit.rows(limit=10, newest_first=True)
    new = next(row for row in rows if row.details.get("what") == "link")
    assert (new.user, new.subject, new.details["valid"], new.details["link"]) == ("olga", lily, "hour", made["id"])
    failed, used = [row for row in rows if row.action == "login"][:2]
    assert (used.user, used.outcome, used.details["way"]) == (lily, "done", "POST /link/{secret}")
    assert (failed.user, failed.outcome, failed.details["status"]) == ("", "failed", 404)
    assert path.rpartition("/")[2] not in repr(rows)


@pytest.fixture
def check(tmp_path: Path) -> Iterator[tuple[PasswordCheck, UserRegister, Callable[[float], None]]]:
    """The check of links on a store of its own, with a clock that a test moves."""
    now = [0.0]

    def wait(seconds: float) -> None:
        now[0] += seconds

    with open_store(f"sqlite:///{tmp_path / 'store.sqlite'}", is_shared_store=False, clock=lambda: 0.0) as store:
        register = UserRegister(store, utc_now, Actor())
        register.add("lily", "reader")
        yield PasswordCheck(store, clock=lambda: now[0]), register, wait


def test_wrong_links_are_limited_like_wrong_passwords(
    check: tuple[PasswordCheck, UserRegister, Callable[[float], None]],
) -> None:
    """A hundred from an address in ten minutes, whether they are opened or used; right ones are not counted."""
    links, register, wait = check
    secret = register.new_link("lily").secret
    for _ in range(3 * password_checks.MAX_ATTEMPTS_PER_ADDRESS):
        assert links.find_sign_in_link(secret, "10.0.0.1", at=utc_now(), consume=False) is not None
    for number in range(password_checks.MAX_ATTEMPTS_PER_ADDRESS):
        assert (
            links.find_sign_in_link("bako-midu-tero-nasi-fuvo-gedi", "10.0.0.1", at=utc_now(), consume=number % 2 == 0)
            is None
        )
    with pytest.raises(LimitReached) as caught:
        links.find_sign_in_link(secret, "10.0.0.1", at=utc_now(), consume=True)
    assert 0 < caught.value.retry_after_s <= password_checks.PERIOD_S
    with pytest.raises(LimitReached):
        links.find("lily", PASSWORD, "10.0.0.1")
    assert links.find_sign_in_link(secret, "10.0.0.2", at=utc_now(), consume=False) is not None
    wait(caught.value.retry_after_s)
    assert links.find_sign_in_link(secret, "10.0.0.1", at=utc_now(), consume=True) is not None


def test_the_page_says_when_to_try_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(password_checks, "MAX_ATTEMPTS_PER_ADDRESS", 2)
    with user_server(tmp_path, **NO_RATE_LIMIT) as people, browser_client(people.address) as browser:
        link = link_to(people, "rita")
        wrong = "/link/bako-midu-tero-nasi-fuvo-gedi"
        assert [browser.get(wrong).status_code, browser.post(wrong).status_code] == [404, 404]
        for answer in (browser.get(link), browser.post(link)):
            assert answer.status_code == 429
            assert int(answer.headers["retry-after"]) > 0
            assert "Try again in" in text_of(answer.text, "[role=alert]")


def test_of_many_clicks_at_once_one_signs_in(people: UserServer, lily: str) -> None:
    link = link_to(people, lily)

    def click(_: int) -> int:
        with browser_client(people.address) as browser:
            return browser.post(link).status_code

    with ThreadPoolExecutor(6) as clicks:
        assert sorted(clicks.map(click, range(6))) == [303, 404, 404, 404, 404, 404]


def test_a_class_gets_links_instead_of_passwords(people: UserServer) -> None:
    """Each slip has a name and its own link; with the box ticked, readers who are there get new ones."""
    with people.browser("olga") as browser:
        form = {"names": "kim\nlea", "way": "link", "valid": "week"}
        sheet = browser.post("/class-list", data=form).text
        assert text_of(sheet, "h1") == "Sign-in links for your class"
        assert "2 links were created." in sheet
        slips = re.findall(SLIP, sheet)
        assert [name for name, _ in slips] == ["kim", "lea"]
        assert people.register.password_times("kim") == {}
        assert "0 links were created." in browser.post("/class-list", data=form).text
        renewed = browser.post("/class-list", data={**form, "renew": "true"}).text
        again = dict(re.findall(SLIP, renewed))
    for name, address in slips:
        with browser_client(people.address) as pupil:
            assert pupil.post(urlsplit(address).path).status_code == 404, "the new sheet replaces it"
            assert pupil.post(urlsplit(again[name]).path).status_code == 303
            assert name_of(pupil) == name
        people.register.remove(name)


def test_a_list_that_is_refused_is_shown_again_as_it_was(people: UserServer) -> None:
    with people.browser("olga") as browser:
        answer = browser.post(
            "/class-list", data={"names": "a/b\nlea", "way": "link", "valid": "hour", "renew": "true"}
        )
    assert answer.status_code == 400
    page = LexborHTMLParser(answer.text)
    assert "a/b" in text_of(answer.text, "#names")
    chosen = page.css_first("form[action='/class-list'] input[name=way][checked]")
    time = page.css_first("#class-link-time option[selected]")
    assert chosen is not None
    assert time is not None
    assert (chosen.attributes["value"], time.attributes["value"]) == ("link", "hour")
    assert "lea" not in {user.name for user in people.register.all()}


def test_a_new_user_can_start_with_a_link(people: UserServer) -> None:
    with people.browser("olga") as browser:
        page = browser.post("/people", data={"name": "noa", "role": "reader", "way": "link", "valid": "hour"}).text
    field = LexborHTMLParser(page).css_first("#made-link")
    assert field is not None
    with browser_client(people.address) as browser:
        assert browser.post(urlsplit(str(field.attributes["value"])).path).status_code == 303
    people.register.remove("noa")


def test_others_reach_the_address_in_a_link(tmp_path: Path) -> None:
    """It starts with the public address of the server, if the settings name one."""
    settings = {**NO_RATE_LIMIT, "KIWIRESEARCH_SERVE_PUBLIC_URL": "https://books.school.example/"}
    with user_server(tmp_path, **settings) as people, people.client("olga") as client:
        link = client.post("/api/users/rita/links", json={}).json()["link"]
    assert link.startswith("https://books.school.example/link/")


@pytest.mark.parametrize("language", ["fr", "es"])
def test_the_pages_are_in_each_language(people: UserServer, lily: str, language: str) -> None:
    link, headers = link_to(people, lily), {"accept-language": language}
    with browser_client(people.address) as browser:
        for path, english in ((link, "Sign in as"), ("/link/x", "does not work")):
            page = browser.get(path, headers=headers).text
            assert f'<html lang="{language}"' in page
            assert english not in page
