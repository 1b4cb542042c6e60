"""nginx in front of the program, with the configuration that the project ships."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from tests.conftest import ROOT
from tests.deploy.nginx_server import ALONE, BEARER, TOKEN, Proxied, needs_curl, nginx, proxied
from tests.llm.servers import Talk, serving
from tests.web.guarded_server import guarded
from tests.web.servers import server_context, stream_events

from kiwiresearch.workspace.settings import ServeSettings
from kiwiresearch.workspace.workspace import open_workspace

QUESTION = {"question": "Why is the sky orange at sunset?"}
OURS = ("x-content-type-options", "x-frame-options", "referrer-policy", "content-security-policy")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that has the sample book already."""
    folder = tmp_path_factory.mktemp("home")
    open_workspace({"KIWIRESEARCH_HOME": str(folder)}).sample()
    return folder


@pytest.fixture(scope="module")
def front(home: Path, kiwix_serve: Callable[..., str]) -> Iterator[Proxied]:
    """The program and a kiwix-serve behind nginx."""
    (book,) = (home / "cache").glob("*.zim")
    # The fixture passes its files on unchanged, so an option can be among them.
    kiwix = urlsplit(kiwix_serve(Path("--urlRootLocation=/kiwix"), book)).netloc
    with proxied(home, kiwix=kiwix) as front:
        yield front


@pytest.fixture
def client(front: Proxied) -> Iterator[httpx2.Client]:
    """A client that shows the token."""
    with front.client() as client:
        yield client


def test_citations_come_through_before_the_model_has_said_a_word(home: Path) -> None:
    """A stream is not delayed: the citations are there while the model still thinks (R243)."""
    asked, may_answer = threading.Event(), threading.Event()

    def slow(talk: Talk) -> None:
        asked.set()
        may_answer.wait(60)
        talk.say("The books say so [1].")

    with serving(slow) as model:
        settings = {"KIWIRESEARCH_MODEL_URL": model.address, "KIWIRESEARCH_MODEL_CONTEXT_TOKENS": "8192"}
        try:
            with (
                server_context(home, **settings) as context,
                guarded(context) as port,
                nginx(f"127.0.0.1:{port}", "127.0.0.1:1", ALONE) as front,
                front.client() as client,
                client.stream("POST", "/api/chat", json=QUESTION) as answer,
            ):
                assert answer.headers["x-accel-buffering"] == "no", "a proxy further out is told as well"
                events = stream_events(answer.iter_lines())
                first = next(events)
                assert (first.name, bool(first.data["citations"])) == ("citations", True)
                assert asked.wait(30), "the model was asked for its words"
                assert not may_answer.is_set()
                may_answer.set()
                assert [event.name for event in events][-1] == "done"
        finally:
            may_answer.set()


def test_nothing_is_collected_on_the_way() -> None:
    """A few letters of a stream without a length come out as soon as they go in."""
    may_go_on = threading.Event()

    def stream(talk: Talk) -> None:
        talk.begin()
        talk.write(b"data: 1\n\n")
        may_go_on.wait(60)
        talk.write(b"data: 2\n\n")

    with serving(stream) as other:
        try:
            with (
                nginx(urlsplit(other.address).netloc, "127.0.0.1:1", ALONE) as front,
                front.client() as client,
                client.stream("POST", "/v1/chat/completions", json={}) as answer,
            ):
                events = stream_events(answer.iter_lines())
                assert next(events).data == 1
                assert not may_go_on.is_set()
                may_go_on.set()
                assert [event.data for event in events] == [2]
        finally:
            may_go_on.set()


def test_a_citation_is_read_through_the_proxy(front: Proxied, client: httpx2.Client) -> None:
    """Links in answers lead to the address that readers use, and there to the page with the words marked."""
    answer = client.post("/api/ask", json=QUESTION).json()
    link = answer["citations"][0]["url"]
    assert link.startswith(f"{front.desk}/read/")
    page = client.get(link, headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert "<mark" in page.text


def test_paths_go_through_as_they_were_sent(client: httpx2.Client) -> None:
    """A page whose path has strange characters in it is asked for under that path."""
    problem = client.get("/read/no-such-book/a%2Fb%20%C3%A9%3F").json()
    assert problem["status"] == 404
    direct = client.get("/api/page", params={"title": "a/b é?"}).json()
    assert "'a/b é?'" in direct["detail"]


def test_the_token_is_asked_for_behind_the_proxy(front: Proxied) -> None:
    """Being behind a proxy on loopback opens nothing: header and login work as they do without."""
    with httpx2.Client(base_url=front.desk, trust_env=False, timeout=20) as stranger:
        assert stranger.get("/api/search?q=sunset").status_code == 401
        assert stranger.get("/api/health").json() == {"status": "ok"}
        assert stranger.get("/api/search?q=sunset", headers=BEARER).status_code == 200
        asked = stranger.get("/", headers={"Accept": "text/html"})
        assert (asked.status_code, asked.headers["location"][:6]) == (303, "/login")
        entered = stranger.post("/login", data={"token": TOKEN}, headers={"Origin": front.desk})
        assert entered.status_code == 303
        assert stranger.get("/").status_code == 200


def test_a_page_of_another_site_is_refused_behind_the_proxy(front: Proxied, client: httpx2.Client) -> None:
    """The program sees the name and the origin that the browser sent, kiwix-serve's being another."""
    for origin in ("http://evil.example", front.kiwix):
        assert client.post("/api/ask", json=QUESTION, headers={"Origin": origin}).status_code == 403
    assert client.get("/api/health", headers={"Host": "evil.example"}).status_code == 421


@pytest.mark.parametrize("size", [300_000, 3_000_000])
def test_a_large_body_is_refused(client: httpx2.Client, size: int) -> None:
    """Too much is refused by the program, far too much by nginx already, and both say so in the same form."""
    answer = client.post("/api/ask", json={"question": "x" * size})
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["title"] == "Too large"
    assert {name: len(answer.headers.get_list(name)) for name in OURS} == dict.fromkeys(OURS, 1)


@pytest.mark.parametrize("path", ["/api/family/import", "/api/family/5f0c9a3be812/import"])
def test_a_family_file_may_be_larger(client: httpx2.Client, path: str) -> None:
    """What is too large for anything else reaches the program, which decides about family files itself."""
    kind = {"Content-Type": "application/octet-stream"}
    answer = client.post(path, content=b"0 HEAD\n" + b"1 NOTE x\n" * 300_000, headers=kind)
    assert answer.json()["detail"] == "Only an owner can do this."


def test_headers_of_the_program_are_kept(client: httpx2.Client) -> None:
    """Security headers are sent once, as the program sets them for each kind of page."""
    page = client.get("/", headers={"Accept": "text/html"})
    assert {name: len(page.headers.get_list(name)) for name in OURS} == dict.fromkeys(OURS, 1)
    assert page.headers["content-security-policy"] != client.get("/api/health").headers["content-security-policy"]


def test_kiwix_serve_has_a_port_of_its_own(front: Proxied, client: httpx2.Client) -> None:
    """/kiwix/ leads to kiwix-serve, whose pages are of another origin and get nothing of the program's (R243)."""
    sent = client.get("/kiwix/catalog/v2/entries?count=1")
    assert (sent.status_code, sent.headers["location"]) == (302, f"{front.kiwix}/kiwix/catalog/v2/entries?count=1")
    catalogue = client.get(sent.headers["location"])
    assert catalogue.status_code == 200
    assert 'href="/kiwix/' in catalogue.text
    assert client.post(f"{front.kiwix}/kiwix/").status_code == 403
    assert client.get(f"{front.kiwix}/api/health").status_code == 404
    assert client.get(f"{front.kiwix}/").headers["location"] == "/kiwix/"


@needs_curl
def test_make_asks_for_health_through_the_proxy(front: Proxied) -> None:
    """`make health` shows how a server is, with the token that the environment has (R263)."""
    environment = {"KIWIRESEARCH_SERVE_TOKEN": TOKEN, "PATH": "/usr/bin:/bin"}
    command = ["make", "--no-print-directory", "health", f"URL={front.desk}"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert '"books"' in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has many loopback addresses")
def test_each_client_has_a_limit_of_its_own(home: Path) -> None:
    """The program counts the readers, not the proxy, and takes nobody's word for who they are."""
    with (
        server_context(home) as context,
        guarded(context, ServeSettings(requests_a_minute=1)) as port,
        nginx(f"127.0.0.1:{port}", "127.0.0.1:1") as front,
        front.client("127.0.0.2") as eager,
        front.client("127.0.0.3") as other,
    ):
        assert eager.get("/api/books").status_code == 200
        assert eager.get("/api/books").status_code == 429
        assert eager.get("/api/books", headers={"X-Forwarded-For": "127.0.0.4"}).status_code == 429
        assert other.get("/api/books").status_code == 200


def test_a_program_that_is_away_is_reported_as_a_problem() -> None:
    """While the program is restarted, clients get an error they can read."""
    with nginx("127.0.0.1:1", "127.0.0.1:1") as front, front.client() as client:
        answer = client.get("/api/health")
        assert (answer.status_code, answer.headers["content-type"]) == (502, "application/problem+json")
        assert answer.json()["title"] == "Server not responding"
