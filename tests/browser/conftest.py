"""A real browser, and servers for it to look at: all made once, and shared by the tests of the desk."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.browser.chromium import Chromium
from tests.browser.hostile_book import hostile_book
from tests.browser.other_origin import Elsewhere, elsewhere
from tests.browser.screenshots import Way, Window
from tests.shared_artifacts import Addresses, Made, made_once
from tests.web.family_server import Families, copied_families
from tests.web.servers import NO_RATE_LIMIT, http_client, running_server, server_context, stream_events

from kiwiresearch.web.app import make_app

TOPIC = "Bronze Age collapse"
OpenWindow = Callable[..., Window]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """The browser, started once."""
    browser = Chromium()
    yield browser
    browser.close()


@pytest.fixture
def open_window(chromium: Chromium) -> Iterator[OpenWindow]:
    """Opens windows; when the test ends, none of them may have seen a fault or asked another server."""
    with chromium.at_work() as browser, contextlib.ExitStack() as closing:

        def opened(address: str, **way: Any) -> Window:
            how = Way(**way)
            window = Window(browser.new_context(**how.options(address)), address, how)
            closing.callback(window.close)
            return window

        yield opened


@pytest.fixture(scope="module")
def kept_windows(chromium: Chromium) -> Iterator[dict[tuple[str, Way], Window]]:
    """Windows by server and way, for all tests of a module that only look."""
    kept: dict[tuple[str, Way], Window] = {}
    yield kept
    with chromium.at_work():
        for window in kept.values():
            window.close()


@pytest.fixture
def same_window(chromium: Chromium, kept_windows: dict[tuple[str, Way], Window]) -> Iterator[OpenWindow]:
    """As `open_window`, but who looks in the same way gets the same window: opening one takes longer than a look."""
    with chromium.at_work() as browser:

        def opened(address: str, **way: Any) -> Window:
            how = Way(**way)
            if (address, how) not in kept_windows:
                kept_windows[address, how] = Window(browser.new_context(**how.options(address)), address, how)
            return kept_windows[address, how]

        yield opened
        for window in kept_windows.values():
            window.assert_no_errors()


@dataclass(frozen=True, slots=True)
class Served:
    """A running server and a client of it."""

    address: str
    client: httpx2.Client

    def run(self, **request: Any) -> str:
        """The id of a finished run."""
        return str(self._done("/api/research", request)["id"])

    def case(self, seed: str, steps: int = 40) -> str:
        """The id of a case of a family, a few steps on its way."""
        started = self.client.post("/api/family", json={"names": [seed]})
        assert started.status_code < 300, started.text
        case = str(started.json()["id"])
        self._done(f"/api/family/{case}/run", {"steps": steps})
        return case

    def _done(self, path: str, request: dict[str, Any]) -> dict[str, Any]:
        """The last event of a job that is asked for and waited for."""
        reply = self.client.post(path, json=request)
        assert reply.status_code == 202, reply.text
        with self.client.stream("GET", reply.json()["events"]) as stream:
            last = list(stream_events(stream.iter_lines()))[-1]
        assert last.name == "done", last.data
        return dict(last.data)

    def book(self) -> str:
        """The id of the first book."""
        return str(self.client.get("/api/books").json()["books"][0]["id"])


@contextlib.contextmanager
def serving(home: Path, *books: str, **environment: str) -> Iterator[Served]:
    """A server on some books."""
    with (
        server_context(home, *books, **NO_RATE_LIMIT, **environment) as context,
        running_server(context, make_app) as address,
        http_client(address) as client,
    ):
        yield Served(address, client)


def _two_runs(home: Path) -> Addresses:
    with serving(home) as served:
        run = served.run(topic=TOPIC, max_pages=4)
        return {"run": run, "second": served.run(topic=TOPIC, focus="drought", max_pages=6)}


@pytest.fixture(scope="session")
def sample_home(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The home of somebody who has the sample book and two finished runs."""
    return made_once(tmp_path_factory, "desk", _two_runs)


@pytest.fixture
def new_home(tmp_path: Path, sample_home: Made) -> Path:
    """The home of somebody who has the sample book, ready for use, and has done nothing yet."""
    return sample_home.copied(tmp_path / "home", "cache")


@pytest.fixture(scope="session")
def desk_home(tmp_path_factory: pytest.TempPathFactory, sample_home: Made) -> Path:
    """The home of the desk."""
    return sample_home.copied(tmp_path_factory.mktemp("desk"))


@pytest.fixture(scope="session")
def desk(desk_home: Path) -> Iterator[Served]:
    """The desk of somebody who has the sample book."""
    with serving(desk_home) as served:
        yield served


@pytest.fixture(scope="session")
def run(sample_home: Made) -> str:
    """A finished run on the sample book."""
    return sample_home.addresses["run"]


@pytest.fixture(scope="session")
def second_run(sample_home: Made) -> str:
    """A run of the same topic with more pages."""
    return sample_home.addresses["second"]


@pytest.fixture(scope="session")
def family_room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Families]:
    """A family that never was, in two cases."""
    with copied_families(tmp_path_factory) as found:
        yield found


@pytest.fixture(scope="session")
def family(family_room: Families) -> Iterator[Served]:
    """The desk as everybody sees it who is not the family's owner."""
    with family_room.served() as client:
        yield Served(str(client.base_url).rstrip("/"), client)


@pytest.fixture(scope="session")
def owned_family(family_room: Families) -> Iterator[Served]:
    """The desk as the family's owner sees it."""
    with family_room.served(family_owner=True) as client:
        yield Served(str(client.base_url).rstrip("/"), client)


@pytest.fixture(scope="session")
def other_site() -> Iterator[Elsewhere]:
    """Another server, which nothing here may ask."""
    with elsewhere() as site:
        yield site


@pytest.fixture(scope="session")
def hostile_file(tmp_path_factory: pytest.TempPathFactory, other_site: Elsewhere) -> Path:
    """A book that means harm."""
    return hostile_book(tmp_path_factory.mktemp("hostile") / "hostile.zim", other_site.address)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory, hostile_file: Path) -> Iterator[Served]:
    """A desk with a book that means harm."""
    with serving(tmp_path_factory.mktemp("hostile_home"), str(hostile_file)) as served:
        yield served


@pytest.fixture(scope="session")
def scripted(tmp_path_factory: pytest.TempPathFactory, hostile_file: Path) -> Iterator[Served]:
    """The same, whose user lets pages of books run their scripts."""
    home = tmp_path_factory.mktemp("scripted_home")
    with serving(home, str(hostile_file), KIWIRESEARCH_SERVE_SCRIPTS="true") as served:
        yield served


@pytest.fixture(scope="session")
def schools(tmp_path_factory: pytest.TempPathFactory, shared_data: Path) -> Iterator[Served]:
    """A desk with a real book."""
    book = shared_data / "zims" / "schools-2007.zim"
    if not book.is_file():
        pytest.skip(f"the real book is not at {book}")
    with serving(tmp_path_factory.mktemp("schools"), str(book)) as served:
        yield served
