"""A server with a token answers only to those who show it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx2
import pytest
from tests.web.guarded_server import TOKEN, guarded
from tests.web.servers import browser_client, http_client

from kiwiresearch.errors import LimitReached
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard.identity import COOKIE
from kiwiresearch.web.guard.server_token import ServerToken
from kiwiresearch.workspace.settings import ServeSettings

RIGHT = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def address(context: ServerContext) -> Iterator[str]:
    with guarded(context, ServeSettings(token=TOKEN)) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def client(address: str) -> Iterator[httpx2.Client]:
    with http_client(address) as client:
        yield client


@pytest.fixture
def browser(address: str) -> Iterator[httpx2.Client]:
    with browser_client(address) as browser:
        yield browser


@pytest.mark.parametrize(
    "path", ["/", "/api/search?q=sunset", "/api/books", "/v1/models", "/openapi.json", "/read/x/y", "/mcp", "/nowhere"]
)
def test_nothing_is_shown_without_the_token(context: ServerContext, path: str) -> None:
    """Every path needs the token, also those that do not exist."""
    with guarded(context, ServeSettings(token=TOKEN)) as port, http_client(f"http://127.0.0.1:{port}") as client:
        refuses_wrong_tokens(client, path)


def refuses_wrong_tokens(client: httpx2.Client, path: str) -> None:
    shown = [TOKEN, f"Basic {TOKEN}", "Bearer", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}"]
    cookies = [f"{COOKIE}={TOKEN}", "=;;;=" * 10]
    for headers in ({}, *({"Authorization": one} for one in shown), *({"Cookie": one} for one in cookies)):
        answer = client.get(path, headers=headers)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert answer.headers["content-type"] == "application/problem+json"


def test_the_token_opens_the_api(client: httpx2.Client) -> None:
    """With the right token a request is answered, whatever the case of the word 'Bearer'."""
    assert client.get("/api/search?q=sunset", headers=RIGHT).status_code == 200
    assert client.get("/v1/models", headers={"Authorization": f"bearer  {TOKEN}"}).status_code == 200


def test_health_without_a_token_shows_only_the_status(client: httpx2.Client) -> None:
    """A monitor needs no token to see that the server is up; with the token, it sees more."""
    assert client.get("/api/health").json() == {"status": "ok"}
    assert client.get("/api/health", headers=RIGHT).json()["wan"] is False


def test_a_browser_shows_the_token_once(browser: httpx2.Client) -> None:
    """A browser is led to a form, and back to the page it wanted, with a cookie that opens pages."""
    sent_on = browser.get("/read/book/A%20page?mark=1-2")
    assert sent_on.status_code == 303
    form = browser.get(sent_on.headers["location"])
    assert form.status_code == 200
    assert 'value="/read/book/A%20page?mark=1-2"' in form.text
    assert "<script" not in form.text
    entered = browser.post("/login", data={"token": TOKEN, "next": "/read/book/A%20page?mark=1-2"})
    assert (entered.status_code, entered.headers["location"]) == (303, "/read/book/A%20page?mark=1-2")
    cookie = entered.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert TOKEN not in cookie
    assert browser.get("/").status_code == 200
    assert browser.get("/read/nobody/x?mark=1-2").status_code == 404


@pytest.fixture
def entered(browser: httpx2.Client, client: httpx2.Client) -> str:
    """The cookie of a browser that has shown the token."""
    cookies = browser.post("/login", data={"token": TOKEN}).cookies
    return f"{COOKIE}={cookies[COOKIE]}"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Referer": "{address}/find?q=x"}, 200),
        ({"Origin": "{address}"}, 200),
        ({}, 401),
        ({"Sec-Fetch-Site": "none"}, 401),
        ({"Sec-Fetch-Site": "none", "Referer": "{address}/"}, 401),
        ({"Referer": "http://evil.example/"}, 401),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_the_cookie_opens_the_api_to_pages_of_ours(
    client: httpx2.Client, address: str, entered: str, headers: dict[str, str], status: int
) -> None:
    """What a page of this server asks for needs no other token; the cookie alone opens pages, and nothing else."""
    sent = {name: value.format(address=address) for name, value in headers.items()}
    assert client.get("/api/search?q=sunset", headers=sent | {"Cookie": entered}).status_code == status


def test_the_cookie_cannot_send_json_to_pages(client: httpx2.Client, address: str, entered: str) -> None:
    """A page accepts forms of its own server: JSON is not a form, and requests from elsewhere are refused before."""
    ours = {"Cookie": entered, "Origin": address}
    assert client.post("/language", headers=ours, json={}).status_code == 415
    assert client.post("/language", headers={"Cookie": entered}, data={"back": "/"}).status_code == 403
    assert client.post("/language", headers=ours, data={"back": "/"}).status_code == 303


@pytest.mark.parametrize("wanted", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:x", ""])
def test_the_form_leads_nowhere_else(browser: httpx2.Client, wanted: str) -> None:
    """After the form a browser goes to a page of this server, whatever its address said."""
    entered = browser.post("/login", data={"token": TOKEN, "next": wanted})
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    browser.cookies.clear()
    form = browser.get("/login", params={"next": wanted}).text
    assert '<input type="hidden" name="next" value="/">' in form
    assert not re.search(r'(?:href|src|action|content)="[^"]*evil', form)


@pytest.mark.parametrize("body", [b"", b"token=", b"token=wrong", b"%ff=%ff&token=%00", b"token=\xff"])
def test_a_wrong_token_opens_nothing(browser: httpx2.Client, body: bytes) -> None:
    """The form is shown again, and no cookie is set."""
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = browser.post("/login", content=body, headers=kind)
    assert (answer.status_code, "set-cookie" in answer.headers) == (401, False)


def test_guesses_do_not_use_up_what_others_may_ask(context: ServerContext) -> None:
    """Users with the token are counted separately from others behind the same address."""
    with (
        guarded(context, ServeSettings(token=TOKEN, requests_a_minute=2)) as port,
        http_client(f"http://127.0.0.1:{port}") as c,
    ):
        assert [c.get("/v1/models").status_code for _ in range(3)] == [401, 401, 429]
        assert [c.get("/v1/models", headers=RIGHT).status_code for _ in range(3)] == [200, 200, 429]


class Minutes:
    """A clock that a test sets forward."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def tries(token: ServerToken, text: str, client: str) -> bool | float:
    """Whether a token is accepted, or how long its client must wait."""
    try:
        return token.cookie_for(text, client) is not None
    except LimitReached as limit:
        return limit.retry_after_s


def test_guesses_are_limited(context: ServerContext) -> None:
    """After ten wrong tokens an address must wait, in headers and in the form alike, and is told how long."""
    with (
        guarded(context, ServeSettings(token=TOKEN)) as port,
        http_client(f"http://127.0.0.1:{port}") as c,
        browser_client(f"http://127.0.0.1:{port}") as browser,
    ):
        codes = [c.get("/v1/models", headers={"Authorization": f"Bearer {n}"}).status_code for n in range(11)]
        assert codes == [401] * 10 + [429]
        answer = c.get("/v1/models", headers=RIGHT)
        assert (answer.status_code, answer.json()["title"]) == (429, "Limit reached")
        assert 0 < int(answer.headers["retry-after"]) <= 6
        assert browser.post("/login", data={"token": TOKEN}).status_code == 429


def test_a_guesser_cannot_find_the_token_by_trying_on() -> None:
    """While an address must wait, the right token is refused like the others; a little later it is accepted."""
    clock = Minutes()
    token = ServerToken(TOKEN, clock=clock)
    assert [tries(token, f"wrong {n}", "192.0.2.1") for n in range(10)] == [False] * 10
    assert tries(token, TOKEN, "192.0.2.1") == tries(token, "wrong", "192.0.2.1") == 6
    clock.seconds = 7
    assert tries(token, TOKEN, "192.0.2.1") is True


def test_guessing_locks_nobody_out() -> None:
    """An address that has shown the token before is let in, whoever guesses there or elsewhere."""
    token = ServerToken(TOKEN, clock=Minutes())
    assert tries(token, TOKEN, "192.0.2.1") is True
    for n in range(120):
        tries(token, "wrong", f"198.51.100.{n}")
        tries(token, "wrong", "192.0.2.1")
    assert tries(token, TOKEN, "192.0.2.1") is True
    assert isinstance(tries(token, "wrong", "192.0.2.1"), float)
    assert isinstance(tries(token, TOKEN, "203.0.113.9"), float), "together they may try a hundred times a minute"


def test_without_a_token_there_is_no_form(context: ServerContext) -> None:
    """A server without a token has no page that asks for one."""
    with guarded(context) as port, http_client(f"http://127.0.0.1:{port}") as c:
        assert c.get("/login").status_code == 404


def test_the_cookie_does_not_reveal_the_token() -> None:
    """The value in the browser is not the token, and is the same for the same token."""
    assert ServerToken("a").cookie == ServerToken("a").cookie != ServerToken("b").cookie
    assert not ServerToken("a").is_right(ServerToken("a").cookie)
