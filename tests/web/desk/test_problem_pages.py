"""Errors as pages: every one says in the reader's language what happened and what to do."""

from __future__ import annotations

import html
import inspect
import json
import re
from collections.abc import Iterator

import httpx2
import pytest
from fastapi import FastAPI
from tests.web.guarded_server import TOKEN, guarded
from tests.web.servers import browser_client

from kiwiresearch import errors
from kiwiresearch.errors import KiwiError
from kiwiresearch.messages.catalogue import LANGUAGES, catalogue_in
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard import identity, limits, reading_keys, requests
from kiwiresearch.web.problems import STATUS_BY_ERROR, Problem, problem_of
from kiwiresearch.web.public_pages import FAULT_KEYS
from kiwiresearch.workspace.settings import ServeSettings

JSON_TYPE = "application/problem+json"


def _add_faults(app: FastAPI) -> None:
    """Routes that fail in the ways that no route should."""

    def fails() -> None:
        raise ZeroDivisionError("secret of this machine")

    def unsettled(number: int) -> None:
        raise errors.BadSettings(f"The file '/home/somebody/settings.toml' says {number}.", remedy="Mend it.")

    def raised(name: str) -> None:
        raise getattr(errors, name)("The thing 'x' is not right.", remedy="Do this with it.")

    def typed() -> None:
        raise errors.BookNotFound("No book is named 'x'.", remedy="'kiwiresearch books list' shows them all.")

    app.add_api_route("/typed", typed)
    app.add_api_route("/fails", fails, methods=["GET", "POST"])
    app.add_api_route("/raised/{name}", raised)
    app.add_api_route("/family/0a/raised/{name}", raised)
    app.add_api_route("/unsettled/{number}", unsettled)


@pytest.fixture(scope="module")
def failing(context: ServerContext) -> Iterator[httpx2.Client]:
    """A browser at a server with routes that fail."""
    with (
        guarded(context, ServeSettings(max_body_kb=16), _add_faults) as port,
        browser_client(f"http://127.0.0.1:{port}") as one,
    ):
        yield one


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("path", "status"), [("/nowhere", 404), ("/fails", 500), ("/unsettled/1", 500), ("/unsettled/x", 422)]
)
def test_an_error_is_a_page_in_the_readers_language(
    failing: httpx2.Client, path: str, status: int, language: str
) -> None:
    """A browser gets a page with a heading, what to do, and a way on; its status is that of the error."""
    answer = failing.get(path, headers={"Accept-Language": language})
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert f'<html lang="{language}"' in answer.text
    assert answer.text.count("<h1>") == 1
    assert '<p class="note">' in answer.text
    assert 'href="/find"' in answer.text
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")


def test_a_remedy_that_is_a_command_comes_with_one_for_readers(failing: httpx2.Client) -> None:
    """A remedy that is a command is below one for readers of the web interface."""
    answer = failing.get("/typed", headers={"Accept-Language": "en"}).text
    first, _, last = html.unescape(answer).partition("On the server, in a terminal:")
    assert "The Books page lists the books in the library." in first
    assert "books list" not in first
    assert "'kiwiresearch books list' shows them all." in last


@pytest.mark.parametrize(
    ("path", "kind", "above"),
    [
        ("raised/BookNotFound", "book-not-found", "/family/0a"),
        ("raised/PageNotFound", "page-not-found", "/family/0a"),
        ("raised/NothingFound", "not-in-this-family", "/family"),
        ("nowhere", "not-in-this-family", "/family"),
    ],
)
def test_a_family_is_not_blamed_for_a_book(failing: httpx2.Client, path: str, kind: str, above: str) -> None:
    """A missing book is reported as such on pages of a family too, with a link back to it."""
    answer = failing.get(f"/family/0a/{path}", headers={"Accept-Language": "en"})
    assert answer.status_code == 404
    assert f"<h1>{catalogue_in('en')(f'problems.errors.{kind}.title')}</h1>" in html.unescape(answer.text)
    assert f'<li><a href="{above}">' in answer.text


def test_programs_and_scripts_get_problems_as_json(failing: httpx2.Client) -> None:
    """Addresses of the API, and requests that do not ask for a page, get errors as JSON."""
    assert failing.get("/api/nowhere").headers["content-type"] == JSON_TYPE
    assert failing.get("/nowhere", headers={"Accept": "*/*"}).headers["content-type"] == JSON_TYPE
    script = {"Sec-Fetch-Dest": "empty"}
    assert failing.get("/nowhere", headers=script).headers["content-type"] == JSON_TYPE


def test_an_internal_error_has_an_id_and_no_secrets(failing: httpx2.Client) -> None:
    """Only the id of the log entry is shown, and files are named without their folders."""
    fault, settings = failing.get("/fails").text, failing.get("/unsettled/1").text
    found = re.search(r"Error ID: ([0-9a-f]{12})", fault)
    assert found
    data = json.loads(failing.get("/fails", headers={"Accept": "*/*"}).text)
    assert data["id"] == found[1]
    assert "secret" not in fault
    assert "settings.toml" in settings
    assert "somebody" not in settings


def test_an_invalid_form_is_explained_field_by_field(failing: httpx2.Client) -> None:
    """The fields have the names a reader knows, and each error is in the reader's language."""
    answer = failing.get("/page/x/y", params={"start": "-5", "mark": "x"}, headers={"Accept-Language": "fr"})
    assert answer.status_code == 422
    assert "<strong>Position dans la liste</strong>\u00a0: <span>saisissez au moins 0.</span>" in answer.text
    assert "<strong>Texte surligné</strong>\u00a0: <span>le format n’est pas valide.</span>" in answer.text
    long = failing.get(f"/page/x/y?run={'a' * 300}", headers={"Accept-Language": "es"})
    assert "<strong>Informe</strong>: <span>use 255 caracteres como máximo.</span>" in long.text


@pytest.mark.parametrize(
    ("method", "headers", "body", "status"),
    [
        ("PUT", {}, b"", 405),
        ("POST", {"Content-Type": "text/plain"}, b"x", 415),
        ("POST", {"Content-Type": "application/x-www-form-urlencoded"}, b"x" * 20_000, 413),
        ("POST", {"Origin": "http://evil.example"}, b"", 403),
        ("POST", {"Sec-Fetch-Site": "cross-site"}, b"", 403),
        ("GET", {"Host": "evil.example"}, b"", 421),
    ],
)
def test_walls_speak_to_people_too(
    failing: httpx2.Client, method: str, headers: dict[str, str], body: bytes, status: int
) -> None:
    """What a wall refuses is a page as well, in the reader's language, and never to be framed."""
    answer = failing.request(method, "/", content=body, headers=headers | {"Accept-Language": "es"})
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert '<html lang="es"' in answer.text
    assert answer.headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_too_many_requests_say_when_to_try_again(context: ServerContext) -> None:
    """The page keeps the header that says how long to wait."""
    with (
        guarded(context, ServeSettings(requests_a_minute=1)) as port,
        browser_client(f"http://127.0.0.1:{port}") as browser,
    ):
        browser.get("/nowhere")
        answer = browser.get("/nowhere")
    assert answer.status_code == 429
    assert 0 < int(answer.headers["retry-after"]) <= 60
    assert "Too many requests" in answer.text


def test_a_missing_page_of_a_book_fits_into_its_frame(failing: httpx2.Client) -> None:
    """Instead of the page of a book, there is a page that ours may frame, and whose links leave the frame."""
    answer = failing.get("/read/sample/Nowhere")
    assert (answer.status_code, answer.headers["x-frame-options"]) == (404, "SAMEORIGIN")
    assert "frame-ancestors 'self'" in answer.headers["content-security-policy"]
    links = re.findall(r"<a [^>]*>", answer.text)
    assert links
    assert all('target="_top"' in link for link in links)


RAISED = sorted(name for name, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, KiwiError))


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_every_error_is_translated(failing: httpx2.Client, language: str) -> None:
    """What happened and what to do are in the reader's language; then come the words of the program."""
    words = catalogue_in(language)
    for name in RAISED:
        output = html.unescape(failing.get(f"/raised/{name}", headers={"Accept-Language": language}).text)
        kind = f"problems.errors.{problem_of(getattr(errors, name)('x')).kind}"
        places = [output.find(words(f"{kind}.{part}")) for part in ("title", "text", "do")]
        places.append(
            output.find(f'{words("problems.in_english")} <span lang="en" dir="ltr">The thing \'x\' is not right. Do')
        )
        assert -1 not in places, name
        assert places == sorted(places), name


def test_english_readers_get_the_words_of_the_error(failing: httpx2.Client) -> None:
    """They say more than the words for all errors of the kind, and nothing is repeated."""
    for name in RAISED:
        output = html.unescape(failing.get(f"/raised/{name}").text)
        assert "<p>The thing 'x' is not right.</p>" in output, name
        assert re.findall(r'<p class="note">(.*?)</p>', output) == ["Do this with it."], name
        assert "in English" not in output


def titles() -> set[str]:
    """The kinds of all problems that the server can report."""
    walls = [value for wall in (requests, limits, identity, reading_keys) for value in vars(wall).values()]
    found = {value.kind for value in walls if isinstance(value, Problem)}
    found |= {Problem(status, title).kind for status, title in STATUS_BY_ERROR.values()}
    known = [value for _, value in inspect.getmembers(errors, inspect.isclass) if issubclass(value, KiwiError)]
    found |= {problem_of(kind("x")).kind for kind in known}
    return found | {"not-found", "method-not-allowed", "not-valid", "internal-error", "too-large", "too-many-requests"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_problem_has_words_of_its_own(language: str) -> None:
    """No kind of problem has the words of another, and errors of fields have words, too."""
    words = catalogue_in(language)
    kinds = titles()
    assert len(kinds) > 30
    assert [kind for kind in sorted(kinds) if not words.has(f"problems.errors.{kind}.title")] == []
    assert [kind for kind in sorted(kinds) if not words.has(f"problems.errors.{kind}.text")] == []
    assert [kind for kind in sorted(kinds) if not words.has(f"problems.errors.{kind}.do")] == []
    assert [name for name in FAULT_KEYS.values() if not words.has(f"problems.faults.{name}")] == []


@pytest.fixture(scope="module")
def locked(context: ServerContext) -> Iterator[str]:
    """The address of a server with a token."""
    with guarded(context, ServeSettings(token=TOKEN)) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.mark.parametrize(("language", "words"), [("en", "Sign in"), ("fr", "Connexion"), ("es", "hace falta un token")])
def test_the_token_is_asked_for_in_the_readers_language(locked: str, language: str, words: str) -> None:
    """The form is a page like the others, and says so when the token is wrong."""
    with browser_client(locked) as browser:
        form = browser.get("/login", headers={"Accept-Language": language})
        wrong = browser.post("/login", data={"token": "no"}, headers={"Accept-Language": language})
    assert (form.status_code, wrong.status_code) == (200, 401)
    assert words in form.text
    assert 'role="alert"' not in form.text
    assert 'role="alert"' in wrong.text


@pytest.mark.parametrize("wanted", ["/", "/research?topic=x", "/page/a/b?mark=1-2", "/runs/x/claims?page=2"])
def test_login_leads_to_the_requested_page(locked: str, wanted: str) -> None:
    """Any page of ours opens after the form, with its whole address; a user who is logged in is not asked."""
    with browser_client(locked) as browser:
        led = browser.get(wanted)
        assert led.status_code == 303
        form = browser.get(led.headers["location"])
        field = re.search(r'name="next" value="([^"]*)"', form.text)
        assert field
        entered = browser.post("/login", data={"token": TOKEN, "next": field[1].replace("&amp;", "&")})
        assert (entered.status_code, entered.headers["location"]) == (303, wanted)
        again = browser.get("/login", params={"next": wanted})
        assert (again.status_code, again.headers["location"]) == (303, wanted)


def test_a_stranger_can_choose_a_language(locked: str) -> None:
    """The form for the token is there in any language of the desk before the token is entered."""
    with browser_client(locked) as browser:
        chosen = browser.post("/language", data={"language": "es", "back": "/login?next=/research"})
        assert (chosen.status_code, chosen.headers["location"]) == (303, "/login?next=/research")
        assert '<html lang="es"' in browser.get(chosen.headers["location"]).text


def test_a_form_without_the_token_leads_back_to_its_page(locked: str) -> None:
    """If the cookie is gone, the form leads to the token and then back to its page."""
    with browser_client(locked) as browser:
        led = browser.post("/research", data={"topic": "x"}, headers={"Referer": f"{locked}/research?topic=x"})
        elsewhere = browser.post("/research", data={}, headers={"Referer": "http://evil.example/x"})
    assert (led.status_code, led.headers["location"]) == (303, "/login?next=%2Fresearch%3Ftopic%3Dx")
    assert elsewhere.headers["location"] == "/login?next=%2F"


@pytest.mark.parametrize(
    "link",
    [{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, {}],
    ids=["on this machine", "on a network without HTTPS, to which browsers tell nothing"],
)
def test_a_link_from_elsewhere_finds_the_cookie(locked: str, link: dict[str, str]) -> None:
    """A browser keeps the cookie from links of other sites; asked once more by our own page, it sends it."""
    headers = {"Accept": "text/html", **link}
    with httpx2.Client(base_url=locked, trust_env=False, timeout=30, headers=headers) as visitor:
        led = visitor.get("/research?topic=x")
        form = visitor.get(led.headers["location"])
    onwards = "/login?again=true&amp;next=%2Fresearch%3Ftopic%3Dx"
    assert f'<meta http-equiv="refresh" content="0;url={onwards}">' in form.text
    with browser_client(locked) as browser:
        assert "http-equiv" not in browser.get(onwards.replace("&amp;", "&")).text  # and no more than once
        assert "http-equiv" not in browser.get("/login", headers={"Sec-Fetch-Site": "none"}).text


def test_a_fault_names_its_field_and_choices_in_the_readers_language(failing: httpx2.Client) -> None:
    """Neither the name of a parameter nor an English list is shown to readers of French."""
    address = "/family/0a/tree.html?root=x&paper=a9&generations=many"
    page = failing.get(address, headers={"Accept-Language": "fr"})
    assert page.status_code == 422
    text = " ".join(html.unescape(re.sub("<[^>]+>", "", page.text)).split())  # also makes spaces plain
    assert "Papier : choisissez l’une de ces valeurs : 'a4', 'a3'." in text
    assert " or " not in text.partition("Vérifiez votre saisie")[2].partition("Revenez")[0]
