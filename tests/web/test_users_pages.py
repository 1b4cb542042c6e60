"""Pages of a desk that has users: owners manage them, and nobody is offered what they may not do."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.web.server_with_users import UserServer
from tests.web.servers import stream_events


@pytest.fixture
def olga(people: UserServer) -> Iterator[httpx2.Client]:
    with people.browser("olga") as browser:
        yield browser


@pytest.fixture
def rita(people: UserServer) -> Iterator[httpx2.Client]:
    with people.browser("rita") as browser:
        yield browser


@pytest.fixture(scope="module")
def a_stopped_run(people: UserServer) -> str:
    """The address of a run that remy began, and that was stopped."""
    with people.client("remy") as client:
        made = client.post("/api/research", json={"topic": "Sunset", "max_pages": 50}).json()
        client.post(f"/api/research/{made['id']}/cancel")
        with client.stream("GET", made["events"]) as stream:
            assert list(stream_events(stream.iter_lines()))[-1].name == "cancelled"
    return f"/research/{made['id']}"


def forms(page: str) -> set[str]:
    """Where the forms of a page are sent to by POST."""
    found = LexborHTMLParser(page).css("form[method=post]")
    return {str(form.attributes["action"]) for form in found}


def test_an_owner_adds_a_user_and_sees_the_token_once(people: UserServer, olga: httpx2.Client) -> None:
    """The token is on the page that answers the form, it works, and no other page has it."""
    shown = olga.post("/people", data={"name": "nina & co", "role": "researcher"})
    try:
        assert shown.status_code == 200
        assert shown.headers["cache-control"] == "no-store"
        token = re.search(r"<code>(kiwi_[\w-]+)</code>", shown.text)
        assert token
        with people.client() as client:
            me = client.get("/api/me", headers={"Authorization": f"Bearer {token[1]}"}).json()
        assert (me["name"], me["role"]) == ("nina & co", "researcher")
        again = olga.get("/people/nina%20%26%20co")
        assert again.status_code == 200
        assert token[1] not in again.text
    finally:
        people.register.remove("nina & co")


def test_an_owner_changes_role_limits_and_tokens(people: UserServer, olga: httpx2.Client) -> None:
    """What the forms of a user send is done, and seen on the page."""
    people.register.add("otto", "reader")
    try:
        assert olga.post("/people/otto", data={"role": "researcher", "queued": "7"}).status_code == 303
        user = people.register.get("otto")
        assert (user.role, dict(user.limits)) == ("researcher", {"queued": 7})
        assert "kiwi_" in olga.post("/people/otto/tokens", data={"label": "library PC"}).text
        (token,) = people.register.tokens("otto")
        page = olga.get("/people/otto").text
        assert "library PC" in page
        assert 'value="7"' in page
        assert olga.post(f"/people/otto/tokens/{token.id}/revoke").status_code == 303
        assert people.register.tokens("otto")[0].revoked_at
        assert olga.post("/people/otto", data={"role": "researcher"}).status_code == 303
        assert dict(people.register.get("otto").limits) == {}
    finally:
        assert olga.post("/people/otto/remove").headers["location"] == "/people"
    assert "otto" not in {user.name for user in people.store.users.all()}


@pytest.mark.parametrize(
    ("path", "data", "words"),
    [
        ("/people", {"name": "rita", "role": "reader"}, "already"),
        ("/people", {"name": " ", "role": "reader"}, "is not allowed as a user name"),
        ("/people", {"name": "x", "role": "boss"}, "Unknown role"),
        ("/people/rita", {"role": "reader", "queued": "many"}, "is not a valid limit"),
        ("/people/olga", {"role": "reader"}, "only owner"),
        ("/people/olga/remove", {}, "only owner"),
        ("/people/nobody", {"role": "reader"}, "No user is named"),
        ("/people/rita/tokens/0000/revoke", {}, "no token"),
    ],
)
def test_a_mistake_of_an_owner_is_explained(
    people: UserServer, olga: httpx2.Client, path: str, data: dict[str, str], words: str
) -> None:
    """A mistake of an owner changes nothing, and the page says what was wrong."""
    before = people.store.users.all()
    answer = olga.post(path, data=data)
    assert answer.status_code == 400
    assert words in answer.text
    assert people.store.users.all() == before


def test_a_slip_keeps_what_was_typed(olga: httpx2.Client) -> None:
    """Limits and role that cannot be saved stay in the form; a message names what was saved."""
    shown = LexborHTMLParser(
        olga.post("/people/rita", data={"role": "researcher", "queued": "many", "running": "3"}).text
    )
    fields = {name: shown.css_first(f"#{name}") for name in ("queued", "running", "max_pages")}
    assert [field.attributes.get("value") for field in fields.values() if field] == ["many", "3", ""]
    role = shown.css_first("input[name=role][checked]")
    assert role is not None
    assert role.attributes["value"] == "researcher"
    saved = olga.post("/people/rita", data={"role": "reader"})
    assert "Saved." in olga.get(saved.headers["location"]).text


def test_a_reader_is_told_nothing_that_is_for_owners(rita: httpx2.Client, olga: httpx2.Client) -> None:
    """Commands, settings and what to do with them are on the pages of an owner alone."""
    for page, words in (
        ("/", "Add and manage books"),
        ("/family", "#group-family"),
    ):
        assert words in olga.get(page).text, page
        assert words not in rita.get(page).text, page
    assert "above" not in LexborHTMLParser(rita.get("/family").text).css_first("main").text()  # type: ignore[union-attr]


def test_the_login_page_says_what_to_enter(people: UserServer) -> None:
    """On a server with users, the login page asks for a name and password or a token, and says whom to ask for them."""
    with people.browser() as browser:
        shown = browser.get("/login").text
        assert "An owner of this server can give you a new one." in shown
        assert "An owner of this server can create a token for you." in shown
        wrong = browser.post("/login", data={"token": "kiwi_none"})
        assert wrong.status_code == 401
        assert "This token does not work" in wrong.text


def test_names_are_shown_as_text(people: UserServer, olga: httpx2.Client) -> None:
    """A name or a label that looks like markup is none."""
    name = '<img src=x onerror="1">'
    people.register.add(name, "reader")
    try:
        people.register.new_token(name, "<b>x</b>")
        for page in ("/people", "/people/%3Cimg%20src%3Dx%20onerror%3D%221%22%3E", "/audit"):
            text = olga.get(page).text
            assert "<img src=x" not in text
            assert "<b>x</b>" not in text
            assert "&lt;img" in text
    finally:
        people.register.remove(name)


def test_the_audit_has_filters_and_pages(people: UserServer, olga: httpx2.Client) -> None:
    """An owner sees rows of one user or action, the older ones behind, and a proof of the chain."""
    with people.client("rita") as client:
        client.post("/api/research", json={"topic": "Sunset"})
    shown = olga.get("/audit?user=rita&action=research")
    assert shown.status_code == 200
    rows = LexborHTMLParser(shown.text).css("tbody tr")
    assert rows
    assert all("rita" in row.text() for row in rows)
    assert "The audit log is intact" in olga.get("/audit?check=1").text
    for number in range(60):
        people.store.audit.add(f"2026-01-01T00:00:{number % 60:02}+00:00", "bulk", "x", "note", str(number), "done")
    older = LexborHTMLParser(olga.get("/audit?user=bulk").text).css_first("nav.pager a[rel=next]")
    assert older is not None
    then = LexborHTMLParser(olga.get(str(older.attributes["href"])).text)
    assert len(then.css("tbody tr")) == 10


def test_a_reader_sees_only_forms_that_a_reader_may_send(
    people: UserServer, rita: httpx2.Client, a_stopped_run: str
) -> None:
    """Every form on the pages of a reader is one that a reader may send: there are no dead buttons."""
    pages = [
        "/",
        "/ask",
        "/research",
        a_stopped_run,
        "/find?q=sunset",
        "/family",
        "/profile",
        "/ask?q=Why is the sky blue?",
    ]
    book = people.context.shelf.books[0].id
    for page in (*pages, f"/page/{book}/Sunset", "/go?q=Sunset"):
        shown = rita.get(page)
        assert shown.status_code == 200, page
        offered = {
            action: people.rules["POST", re.sub(r"/research/[^/]+/", "/research/{job_id}/", action)]
            for action in forms(shown.text)
        }
        assert {action for action, rule in offered.items() if rule.role not in ("reader", "stranger")} == set(), page
        assert "/research?topic" not in shown.text, page
        assert 'href="/people"' not in shown.text


def test_only_the_maker_is_offered_to_go_on(people: UserServer, a_stopped_run: str) -> None:
    """Another researcher sees who began a run, and no button of it; the maker and an owner have one."""
    for name, is_offered in (("remy", True), ("ruth", False), ("olga", True)):
        with people.browser(name) as browser:
            shown = browser.get(a_stopped_run).text
            assert "Started by remy" in shown
            assert (f"{a_stopped_run}/resume" in forms(shown)) is is_offered, name


def test_everybody_sees_who_they_are_and_can_leave(rita: httpx2.Client) -> None:
    """The foot of each page names the user and the role."""
    shown = rita.get("/").text
    assert "Signed in as rita (reader)." in shown
    assert "/logout" in forms(shown)


def test_the_first_page_shows_one_s_own_research(people: UserServer, a_stopped_run: str) -> None:
    """No first page shows that of others, not even an owner's; the page of all research does."""
    for name, is_own in (("remy", True), ("ruth", False), ("olga", False)):
        with people.browser(name) as browser:
            assert (f'href="{a_stopped_run}"' in browser.get("/").text) is is_own, name
            assert f'href="{a_stopped_run}"' in browser.get("/research").text


def test_questions_are_remembered_for_each_user(people: UserServer) -> None:
    """One's own latest questions are on the first page, and nobody else's."""
    with people.browser("remy") as remy, people.browser("ruth") as ruth:
        remy.get("/ask?q=Why is the sky blue?")
        assert "Why is the sky blue?" in remy.get("/").text
        assert "Why is the sky blue?" not in ruth.get("/").text
        remy.post("/questions/forget")
        assert "Why is the sky blue?" not in remy.get("/").text


@pytest.mark.parametrize("language", ["fr", "es"])
def test_the_pages_speak_the_readers_language(people: UserServer, language: str) -> None:
    """Users, audit and policy have words in every language of the web interface."""
    with people.browser("olga") as browser:
        for page in ("/people", "/people/rita", "/audit", "/profile"):
            shown = browser.get(page, headers={"Accept-Language": language})
            assert shown.status_code == 200
            assert f'<html lang="{language}"' in shown.text
