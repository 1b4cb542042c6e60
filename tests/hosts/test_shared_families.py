"""Families of one store on several servers: what one begins, another goes on with, and all show the same."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from tests.cli.kin_book import LIVING, SECRETS, family_book
from tests.web.guarded_server import guarded
from tests.web.servers import http_client, server_context, stream_events

from kiwiresearch.cases.case import Case
from kiwiresearch.cases.registry import open_registry
from kiwiresearch.errors import StoreUnreachable
from kiwiresearch.web.problems import problem_of
from kiwiresearch.workspace import workspace
from kiwiresearch.workspace.settings import ServeSettings
from kiwiresearch.workspace.workspace import open_workspace

SEED = "Edmund Wendover"
GEDCOM = (
    "0 HEAD\n1 GEDC\n2 VERS 5.5.1\n1 CHAR UTF-8\n"
    "0 @I1@ INDI\n1 NAME Ida /Marlow/\n1 BIRT\n2 DATE 3 MAR 1801\n1 DEAT\n2 DATE 1870\n0 TRLR\n"
)
FORMS = ("gedcom", "gedcom7", "gedcomx", "json", "markdown", "html", "csv")
LISTS = ("people", "tree", "timeline", "conflicts", "log", "merges", "plugins")
DATA = ("/CASE", *(f"/CASE/{one}" for one in LISTS), *(f"/CASE/export/{form}" for form in FORMS))
PAGES = ("", "/CASE", *(f"/CASE/{one}" for one in ("people", "tree", "timeline", "log", "merges", "sources", "export")))
HEAD = re.compile(r"[0-9a-f]{64}|nonce-[^'\"]+|\d+ ms")
"""What hangs on the time or on chance alone."""


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return family_book(tmp_path_factory.mktemp("book"))


@pytest.fixture(scope="module", autouse=True)
def _stores_are_closed() -> Iterator[None]:
    yield
    workspace.close_stores()


@contextlib.contextmanager
def a_host(home: Path, book: Path, url: str, **more: bool) -> Iterator[httpx2.Client]:
    """A server with a home of its own over a store, and a client of it."""
    serve = ServeSettings(requests_a_minute=1_000_000, **more)  # type: ignore[arg-type]
    with (
        server_context(home, str(book), KIWIRESEARCH_STORE=url) as context,
        guarded(context, serve) as port,
        http_client(f"http://127.0.0.1:{port}") as client,
    ):
        yield client


@pytest.fixture
def url(postgres_server: Callable[[], str]) -> str:
    return postgres_server()


@pytest.fixture
def hosts(url: str, book: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx2.Client, ...]]:
    """Two servers of the owner's over one store."""
    place = tmp_path_factory.mktemp("hosts")
    with (
        a_host(place / "one", book, url, family_owner=True) as one,
        a_host(place / "two", book, url, family_owner=True) as two,
    ):
        yield one, two


def followed(client: httpx2.Client, reply: httpx2.Response) -> str:
    """How a job ends."""
    assert reply.status_code == 202, reply.text
    with client.stream("GET", reply.json()["events"]) as stream:
        return [one.name for one in stream_events(stream.iter_lines())][-1]


def family_of(started: httpx2.Client, gone_on: httpx2.Client) -> str:
    """The id of a case that one host began and another went on with."""
    case = started.post("/api/family", json={"names": [SEED], "budget": 3}).json()
    assert [row["id"] for row in gone_on.get("/api/family").json()["cases"]] == [case["id"]]
    assert followed(gone_on, gone_on.post(f"/api/family/{case['id']}/run")) == "done"
    assert started.get(f"/api/family/{case['id']}").json()["steps"] > case["steps"]
    return str(case["id"])


def case_responses(client: httpx2.Client, case: str) -> dict[str, str]:
    """Everything that a host shows of a case, as data, files and pages, without its id and what belongs to the host."""
    wanted = [f"/api/family{at}" for at in DATA] + [f"/family{at}" for at in PAGES]
    replies = {at: client.get(at.replace("CASE", case), headers={"Accept": "text/html, */*"}) for at in wanted}
    assert {at for at, reply in replies.items() if reply.status_code != 200} == set()
    own = str(client.base_url).rstrip("/")
    return {at: HEAD.sub("", reply.text).replace(case, "CASE").replace(own, "") for at, reply in replies.items()}


@pytest.fixture(scope="module")
def alone(book: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a host shows of a family that is in a folder."""
    with a_host(tmp_path_factory.mktemp("alone"), book, "", family_owner=True) as client:
        return case_responses(client, family_of(client, client))


def test_hosts_show_the_same_family(hosts: tuple[httpx2.Client, ...], alone: dict[str, str]) -> None:
    """Started on one host and continued on the other, a case is on both what one machine makes of it, byte for byte.

    The list is the same, too: a shared family can be archived and deleted.
    """
    case = family_of(*hosts)
    for client in hosts:
        result = case_responses(client, case)
        assert [at for at in alone if result[at] != alone[at]] == []


def test_a_decision_on_one_host_is_seen_on_the_other(hosts: tuple[httpx2.Client, ...]) -> None:
    """A decision on one host shows at once on the other, however often that has read the case."""
    one, two = hosts
    url = f"/api/family/{one.post('/api/family', json={'names': [SEED]}).json()['id']}"
    people = {row["name"]: row["id"] for row in two.get(f"{url}/people").json()["people"]}
    person = f"{url}/people/{people['Hugh Wendover']}"
    assert two.get(person).json()["living"] != "deceased"
    assert one.put(f"{person}/living", json={"status": "deceased", "why": "a letter"}).status_code == 200
    assert two.get(person).json()["living"] == "deceased"
    assert two.get(f"{url}/verify").json()["holds"] is True


def test_a_file_sent_to_one_is_in_both(hosts: tuple[httpx2.Client, ...]) -> None:
    """A GEDCOM file that is sent to a host begins a case of the store."""
    one, two = hosts
    sent = one.post(
        "/api/family/import?name=marlow.ged", content=GEDCOM, headers={"Content-Type": "application/octet-stream"}
    )
    assert followed(one, sent) == "done"
    [newest, *_] = two.get("/api/family").json()["cases"]
    found = two.get(f"/api/family/{newest['id']}/people").json()["people"]
    assert [row["name"] for row in found] == ["Ida Marlow"]


def test_a_second_writer_is_refused_on_any_host(hosts: tuple[httpx2.Client, ...], url: str, tmp_path: Path) -> None:
    """While somebody works on a case, every host refuses to change it and continues to show it."""
    case = hosts[0].post("/api/family", json={"names": [SEED]}).json()["id"]
    desk = open_workspace({"KIWIRESEARCH_HOME": str(tmp_path), "KIWIRESEARCH_STORE": url})
    with contextlib.closing(open_registry(desk)) as cases, Case.open(cases.location(case), for_changes=True):
        for client in hosts:
            for reply in (
                client.post(f"/api/family/{case}/run"),
                client.put(f"/api/family/{case}/plugins/wikidata", json={"on": True}),
            ):
                assert (reply.status_code, reply.json()["detail"]) == (409, "Another program is using this case.")
            assert client.get(f"/api/family/{case}/people").status_code == 200


def test_nothing_of_the_living_leaves_a_store(url: str, book: Path, tmp_path: Path) -> None:
    """Only the owner sees the living, as with a folder: others see no name, and not where the store is."""
    with a_host(tmp_path / "home", book, url) as client:
        case = client.post("/api/family", json={"names": [LIVING[0]]})
        assert case.status_code == 201
        at = f"/api/family/{case.json()['id']}"
        rows = [client.get(f"{at}{path}").text for path in ("", "/people", "/tree", "/log", "/export/json")]
        rows += [case.text, client.get("/api/family").text, client.get(f"/api/family/{'0' * 12}").text]
        rows += [client.get("/family", headers={"Accept": "text/html"}).text]
    for text in rows:
        assert not any(word in text for word in (*SECRETS, "case_", "sqlite", "postgresql"))


def test_the_address_of_the_store_is_not_shown() -> None:
    """A store that does not answer is a temporary problem, reported without its address."""
    problem = StoreUnreachable(
        "The store 'postgresql+psycopg://me:***@db.local/x?a=b' cannot be reached.", remedy="Try."
    )
    result = problem_of(problem)
    assert (result.status, result.title, result.detail) == (503, "Store unreachable", "The store cannot be reached.")
