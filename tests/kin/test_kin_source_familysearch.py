"""FamilySearch behind a sign-in, at a server on this machine that answers in the shapes its documents show."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from tests.http_servers import Request, answer
from tests.kin.source_gedcomx import RECORD
from tests.kin.source_site import Site, a_site, at, gate_to, memory_in

from kiwiresearch.cases.sources import OpenSources, Switches, open_case_sources, open_gate, set_plugin
from kiwiresearch.errors import BadUsage, PageNotFound, SourceRefused, SourceUnreachable
from kiwiresearch.kin.sources.familysearch import FamilySearchSource, read_gedcomx
from kiwiresearch.kin.sources.gate import Gate
from kiwiresearch.kin.sources.plugin import Plugin
from kiwiresearch.kin.sources.registry import load_plugins
from kiwiresearch.kin.sources.sign_in import SignIn, SignInCallback
from kiwiresearch.kin.sources.source import PersonQuery
from kiwiresearch.kin.store.case import CaseStore

KEY, TOKEN = "app-key-of-the-user", "token-of-the-session"


@pytest.fixture
def site() -> Iterator[Site]:
    with a_site() as one:

        def token(request: Request) -> None:
            form = parse_qs(one.arrivals[-1].body)
            good = form.get("code") == ["the-code"] and form["client_id"] == [KEY] and form["code_verifier"][0]
            answer(request, 200 if good else 400, json.dumps({"access_token": TOKEN} if good else {}))

        def guarded(body: dict[str, Any]) -> Any:
            def handle(request: Request) -> None:
                let_in = request.headers.get("Authorization") == f"Bearer {TOKEN}"
                answer(request, 200 if let_in else 401, json.dumps(body) if let_in else "")

            return handle

        one.pages["/token"] = token
        one.pages["/platform/tree/search"] = guarded(
            {"entries": [{"id": "AAAA-111"}, {"id": "AAAA-115"}, {"id": "../x"}, 7]}
        )
        one.pages["/platform/tree/persons/AAAA-111"] = guarded(RECORD)
        one.pages["/platform/tree/persons/AAAA-115"] = guarded(RECORD)
        yield one


def plugin_at(site: Site) -> Plugin:
    plugin = at(load_plugins().named("familysearch").plugin, site.address, tos_automation="allowed")
    assert plugin.auth is not None
    sign = plugin.auth.model_copy(
        update={"authorize_url": f"{site.address}/authorize", "token_url": f"{site.address}/token"}
    )
    return plugin.model_copy(update={"auth": sign})


def signed_in(plugin: Plugin, gate: Gate) -> SignIn:
    sign_in = SignIn(plugin, gate)
    sitting = sign_in.begin()
    sign_in.finish(sitting, f"http://127.0.0.1:5000/callback?code=the-code&state={sitting.state}")
    return sign_in


def test_sign_in_is_the_code_flow_with_a_proof_key(site: Site) -> None:
    """The user signs in at the source; what comes back has to answer to what was asked."""
    plugin = plugin_at(site)
    sign_in = SignIn(plugin, gate_to(site, plugin, key=KEY))
    sitting = sign_in.begin()
    asked = parse_qs(urlsplit(sitting.address).query)
    assert asked["response_type"] == ["code"]
    assert asked["client_id"] == [KEY]
    assert asked["code_challenge_method"] == ["S256"]
    assert site.arrivals == []
    for wrong in ("", "http://127.0.0.1:5000/callback?code=the-code&state=other", "?error=denied", "é"):
        with pytest.raises(BadUsage):
            sign_in.finish(sitting, wrong)
    with pytest.raises(SourceUnreachable, match="did not accept the sign-in"):
        sign_in.finish(sitting, f"?code=wrong&state={sitting.state}")
    sign_in.finish(sitting, f"?code=the-code&state={sitting.state}")
    assert sign_in.header() == {"Authorization": f"Bearer {TOKEN}"}


def test_person_is_read_with_relatives(site: Site) -> None:
    """Names, events and ties of a record become facts whose words are lines of it."""
    plugin = plugin_at(site)
    gate = gate_to(site, plugin, key=KEY)
    fetched = FamilySearchSource(plugin, gate, signed_in(plugin, gate)).fetch("AAAA-111")
    assert fetched.reading is not None
    rows = [(fact.field, fact.value) for fact in fetched.reading.facts]
    assert rows == [
        ("name", 'Osric "Oz" Vane'),
        ("sex", "male"),
        ("birth_date", "1842-05-12"),
        ("birth_place", "Wexcombe, Wiltshire"),
        ("baptism_date", "1842-06"),
        ("death_date", "1911~"),
        ("death_place", "Port Aldous"),
        ("occupation", "clockmaker"),
        ("spouse", "Maud Harrow"),
        ("marriage_date", "1866-08-03"),
        ("marriage_place", "Wexcombe"),
        ("child", "Linnet Vane"),
        ("father", "Piers Vane"),
    ]
    for fact in fetched.reading.facts:
        assert fetched.text[fact.snippet.start : fact.snippet.end] == fact.snippet.words
        assert fact.when is not None or fact.value in fact.snippet.words
    assert next(fact.target for fact in fetched.reading.facts if fact.field == "child") == "AAAA-113"
    assert "Ada Living" not in fetched.text
    assert fetched.source.tier == 2


def test_living_people_are_not_taken_over(site: Site) -> None:
    """A search leaves out whom the tree does not call dead, and such a person cannot be fetched."""
    plugin = plugin_at(site)
    gate = gate_to(site, plugin, key=KEY)
    source = FamilySearchSource(plugin, gate, signed_in(plugin, gate))
    found = source.search(PersonQuery("Osric Vane", birth_year=1842, living="deceased"))
    assert [one.reading.ref.path for one in found if one.reading] == ["AAAA-111"]
    assert "q.surname=Vane" in next(one.path for one in site.arrivals if "search" in one.path)
    with pytest.raises(SourceRefused) as caught:
        source.fetch("AAAA-115")
    assert caught.value.rule == "privacy"


def test_token_is_nowhere_but_in_memory(site: Site) -> None:
    """Neither the key nor the token nor what they opened is remembered, shown or sent elsewhere."""
    plugin = plugin_at(site)
    rows: dict[str, str] = {}
    gate = gate_to(site, plugin, key=KEY, memory=memory_in(rows))
    sign_in = signed_in(plugin, gate)
    FamilySearchSource(plugin, gate, sign_in).fetch("AAAA-111")
    kept = " ".join(f"{key} {value}" for key, value in rows.items())
    shown = f"{kept} {sign_in!r} {gate.permissions!r} {sign_in.begin()!r}"
    assert TOKEN not in shown
    assert KEY not in kept
    assert "Osric" not in kept
    assert not any(key.startswith("page/") for key in rows)


def test_a_missing_or_expired_sign_in_is_reported(site: Site) -> None:
    """Without a sign-in nothing is asked; an expired one is reported as such and forgotten."""
    plugin = plugin_at(site)
    gate = gate_to(site, plugin, key=KEY)
    with pytest.raises(SourceRefused, match="not signed in"):
        FamilySearchSource(plugin, gate, SignIn(plugin, gate)).fetch("AAAA-111")
    assert site.arrivals == []
    sign_in = signed_in(plugin, gate)
    site.page("/platform/tree/persons/AAAA-111", "", 401)
    source = FamilySearchSource(plugin, gate, sign_in)
    with pytest.raises(SourceRefused, match="has expired"):
        source.fetch("AAAA-111")
    with pytest.raises(SourceRefused, match="not signed in"):
        sign_in.header()


@pytest.mark.parametrize(("status", "error"), [(404, PageNotFound), (410, PageNotFound), (500, SourceUnreachable)])
def test_errors_of_the_server_are_reported(site: Site, status: int, error: type[Exception]) -> None:
    """A deleted person and a server error have different messages."""
    plugin = plugin_at(site)
    gate = gate_to(site, plugin, key=KEY)
    site.page("/platform/tree/persons/AAAA-404", "", status)
    source = FamilySearchSource(plugin, gate, signed_in(plugin, gate))
    with pytest.raises(error):
        source.fetch("AAAA-404")
    with pytest.raises(PageNotFound, match="not a person ID"):
        source.fetch("../../etc")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"7",
        b'{"persons": 3}',
        b'{"persons": [{"id": "X-1", "names": [1, {"nameForms": "x"}]}]}',
        b"\xff",
        b"[" * 9000,
    ],
)
def test_invalid_records_are_not_people(content: bytes) -> None:
    """A record that is broken, or is about somebody else, is not a person and not a traceback."""
    try:
        read = read_gedcomx(content, "X-1", "familysearch", 0.4).person
    except SourceUnreachable:
        return
    assert not read.is_person


def waiting_at_a_free_port(plugin: Plugin) -> Plugin:
    assert plugin.auth is not None
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    sign = plugin.auth.model_copy(update={"redirect_uri": f"http://127.0.0.1:{port}/callback"})
    return plugin.model_copy(update={"auth": sign})


class Browser:
    """Follows a sign-in: the user agrees, and is sent back to where the program listens."""

    def __init__(self, *before: str) -> None:
        self.before = before
        """Requests that come first, and are not the answer."""
        self.answers: list[int] = []
        self._thread: threading.Thread | None = None

    def __call__(self, address: str) -> None:
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        back = f"{asked['redirect_uri']}?code=the-code&state={asked['state']}"
        root = asked["redirect_uri"].removesuffix("/callback")
        self._thread = threading.Thread(target=self._open, args=([*(root + path for path in self.before), back],))
        self._thread.start()

    def _open(self, addresses: list[str]) -> None:
        self.answers = [httpx2.get(one, trust_env=False).status_code for one in addresses]

    def closed(self) -> list[int]:
        assert self._thread is not None
        self._thread.join()
        return self.answers


def test_sign_in_happens_in_the_users_browser(site: Site, tmp_path: Path) -> None:
    """The program waits on this machine for the answer to its own question, and the case gets neither key nor token."""
    plugin = waiting_at_a_free_port(plugin_at(site))
    switches = Switches(on=("familysearch",), endpoints={"familysearch": site.address})
    browser = Browser("/favicon.ico", "/callback", "/callback?code=the-code&state=forged", "/else?state=")
    with CaseStore.create(tmp_path / "case.sqlite", {}, lambda: "2026-01-01T00:00:00Z") as store:
        gate = open_gate(store, switches, {"KIWIRESEARCH_KEY_FAMILYSEARCH": KEY}, clock=site.time.clock())
        opened = OpenSources((), gate, {"familysearch": SignIn(plugin, gate)})
        opened.sign_in("familysearch", browser)
        assert browser.closed() == [404, 404, 404, 404, 200]
        FamilySearchSource(plugin, gate, opened.sign_ins["familysearch"]).fetch("AAAA-111")
        opened.close()
    written = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert KEY.encode() not in written
    assert TOKEN.encode() not in written


def test_a_sign_in_without_a_reply_ends(site: Site) -> None:
    """If the user does not come back in time, the sign-in fails, and the port is free again."""
    plugin = waiting_at_a_free_port(plugin_at(site))
    sign_in = SignIn(plugin, gate_to(site, plugin, key=KEY))
    for _ in range(2):
        with pytest.raises(SourceRefused, match="The sign-in timed out"):
            sign_in.run_locally(lambda _: None, timeout_s=0.0)


def test_a_port_that_is_taken_is_reported(site: Site) -> None:
    """Nothing is asked if the answer could not arrive."""
    plugin = waiting_at_a_free_port(plugin_at(site))
    assert plugin.auth is not None
    with (
        socket.create_server(("127.0.0.1", urlsplit(plugin.auth.redirect_uri).port or 0)),
        pytest.raises(BadUsage, match="is in use"),
    ):
        SignIn(plugin, gate_to(site, plugin, key=KEY)).run_locally(pytest.fail)


@pytest.mark.parametrize("address", ["https://127.0.0.1:5000/", "http://192.168.0.7:5000/", "http://127.0.0.1/", "x"])
def test_answer_is_awaited_on_this_machine_only(address: str) -> None:
    """A plugin cannot make the program listen for others, or under a port that is not named."""
    with pytest.raises(BadUsage, match="not an http address on this computer with a port"):
        SignInCallback(address)


def test_a_source_that_wants_a_sign_in_is_opened_with_one(tmp_path: Path) -> None:
    """A source that is enabled and needs a sign-in can have one; for another source, the error lists those that can."""
    with CaseStore.create(tmp_path / "case.sqlite", {}, lambda: "2026-01-01T00:00:00Z") as store:
        set_plugin(store, load_plugins().named("familysearch"), on=True, terms=True)
        opened = open_case_sources(store, ())
        assert list(opened.sign_ins) == ["familysearch"]
        with pytest.raises(BadUsage, match="has no source 'wikidata' that is turned on and needs a sign-in"):
            opened.sign_in("wikidata", pytest.fail)
        opened.close()
