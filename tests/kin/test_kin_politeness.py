"""The gate to the network: which hosts may be asked, where, how often, and what is never done."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace
from email.utils import formatdate
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.http_servers import DRIPS, Handle, Request, answer, endless, nonsense
from tests.kin.source_site import START, Site, a_site, at, gate_to, memorial, memory_in, plugin_in

from kiwiresearch.errors import SourceError, SourceRateLimited, SourceRefused, SourceUnreachable
from kiwiresearch.kin.sources.gate import Credentials, Gate, Permissions, Secret
from kiwiresearch.kin.sources.plugin import Plugin
from kiwiresearch.kin.sources.site import SiteSource
from kiwiresearch.kin.sources.source import PersonQuery
from kiwiresearch.kin.sources.transport import AllowedHosts
from kiwiresearch.kin.sources.transport import Request as Asked


@pytest.fixture
def stones(tmp_path: Path) -> Plugin:
    return plugin_in(tmp_path)


@pytest.fixture
def site() -> Iterator[Site]:
    with a_site() as one:
        one.page("/memorial/1", memorial("Ada Quill"))
        yield one


def ask(gate: Gate, plugin: Plugin, path: str = "/memorial/1") -> bytes:
    return gate.get(plugin, Asked(plugin.base_url + path)).content


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every place this process tries to reach, and every name it looks up."""
    seen: list[object] = []
    connect, lookup = socket.socket.connect, socket.getaddrinfo

    def noted(self: socket.socket, address: Any) -> None:
        seen.append(address)
        connect(self, address)

    def noted_lookup(host: Any, *rest: Any, **named: Any) -> Any:
        seen.append(host)
        return lookup(host, *rest, **named)

    monkeypatch.setattr(socket.socket, "connect", noted)
    monkeypatch.setattr(socket, "getaddrinfo", noted_lookup)
    return seen


def test_nothing_is_asked_of_a_plugin_that_is_off(stones: Plugin, site: Site, connections: list[object]) -> None:
    """Without being switched on for the case, a plugin opens no connection and looks up no name (R268)."""
    gate = Gate(Permissions(extra_hosts={"old_stones": frozenset({site.address})}), memory_in({}), site.time.clock())
    source = SiteSource(at(stones, site.address), gate)
    for act in (
        lambda: source.search(PersonQuery("Ada Quill", living="deceased")),
        lambda: source.fetch("/memorial/1"),
    ):
        with pytest.raises(SourceRefused) as caught:
            act()
        assert caught.value.rule == "switched off"
        assert "kin plugins on old_stones" in caught.value.remedy
    assert connections == []
    assert site.arrivals == []


@pytest.mark.parametrize("living", ["living", "unknown"])
def test_nobody_who_may_be_alive_is_asked_for(
    stones: Plugin, site: Site, connections: list[object], living: str
) -> None:
    """A query about somebody living, or of whom nothing is known, never leaves the machine."""
    source = SiteSource(at(stones, site.address), gate_to(site, stones))
    with pytest.raises(SourceRefused) as caught:
        source.search(replace(PersonQuery("Ada Quill"), living=living))  # type: ignore[arg-type]
    assert caught.value.rule == "privacy"
    assert "Ada" not in str(caught.value)
    assert connections == []


@pytest.mark.parametrize(("terms", "acknowledged", "asked"), [
    ("allowed", False, True),
    ("unknown", False, False),
    ("unknown", True, True),
    ("forbidden", True, False),
])  # fmt: skip
def test_terms_decide(stones: Plugin, site: Site, terms: str, acknowledged: bool, asked: bool) -> None:
    """Terms that are unknown want the user's word, terms that forbid programs are final (R268, R368)."""
    plugin = at(stones, site.address, tos_automation=terms)
    gate = gate_to(site, plugin)
    gate.permissions = replace(gate.permissions, terms_acknowledged=frozenset({"old_stones"} if acknowledged else ()))
    if asked:
        assert b"Ada Quill" in ask(gate, plugin)
        return
    with pytest.raises(SourceRefused) as caught:
        ask(gate, plugin)
    assert caught.value.rule == "terms"
    assert "https://stones.example/terms" in caught.value.remedy
    assert site.arrivals == []


def test_source_with_login_wants_the_users_key(stones: Plugin, site: Site) -> None:
    """A source of tier 2 is not asked without a key of the user's own (R285, R367)."""
    plugin = at(stones, site.address, requires_auth=True)
    with pytest.raises(SourceRefused) as caught:
        ask(gate_to(site, plugin), plugin)
    assert caught.value.rule == "credentials"
    assert "KIWIRESEARCH_KEY_OLD_STONES" in caught.value.remedy
    assert b"Ada" in ask(gate_to(site, plugin, key="sesame"), plugin)


def test_keys_do_not_show_themselves() -> None:
    """A key is in no repr, and the user is asked for it once."""
    asked: list[str] = []

    def prompt(name: str) -> str:
        asked.append(name)
        return "sesame"

    credentials = Credentials({}, prompt)
    assert credentials.key("one").reveal() == "sesame"
    assert credentials.key("one") is credentials.key("one")
    assert asked == ["one"]
    assert "sesame" not in f"{credentials!r} {credentials.key('one')!r} {Permissions(credentials=credentials)!r}"
    with pytest.raises(TypeError):
        Secret("sesame").__reduce__()


def test_robots_txt_is_obeyed_and_kept_for_a_day(stones: Plugin) -> None:
    """What robots.txt forbids is not asked, with wildcards; the file is read once a day (R363)."""
    with a_site("User-agent: *\nDisallow: /memorial/*?sort=\nDisallow: /private/\n") as site:
        site.page("/memorial/1", memorial("Ada Quill"))
        plugin = at(stones, site.address)
        gate = gate_to(site, plugin)
        for path in ("/private/1", "/memorial/2?sort=name"):
            with pytest.raises(SourceRefused) as caught:
                ask(gate, plugin, path)
            assert caught.value.rule == "robots.txt"
        assert b"Ada" in ask(gate, plugin)
        assert site.paths() == ["/robots.txt", "/memorial/1"]
        site.time.now_s += 86_401
        ask(gate, plugin)
        assert site.paths()[2:] == ["/robots.txt", "/memorial/1"]


@pytest.mark.parametrize(("status", "asked"), [(404, True), (403, True), (500, False), (503, False), (429, False)])
def test_missing_robots_txt_allows_and_a_broken_host_does_not(
    stones: Plugin, site: Site, status: int, asked: bool
) -> None:
    """No robots.txt allows all; a host that cannot say what it allows is left alone."""
    site.page("/robots.txt", "", status)
    plugin = at(stones, site.address)
    gate = gate_to(site, plugin)
    if asked:
        assert b"Ada" in ask(gate, plugin)
    else:
        with pytest.raises(SourceRefused, match=r"robots\.txt"):
            ask(gate, plugin)
        assert site.paths() == ["/robots.txt"]


def test_robots_agent_is_ours(stones: Plugin) -> None:
    """Rules for our own name apply, whatever is allowed to others, and requests name our agent."""
    with a_site("User-agent: kiwiresearch\nDisallow: /\n\nUser-agent: *\nDisallow:\n") as site:
        plugin = at(stones, site.address)
        with pytest.raises(SourceRefused, match=r"robots\.txt"):
            ask(gate_to(site, plugin), plugin)
        agent = site.arrivals[0].headers["User-Agent"]
        assert agent.startswith("kiwiresearch/")
        assert "desk@example.org" in agent


def test_pace_is_the_plugins(stones: Plugin, site: Site) -> None:
    """Ten a minute with a burst of three: three at once, then one every six seconds (R268, R364, R365)."""
    plugin = at(stones, site.address)
    gate = gate_to(site, plugin)
    for number in range(2, 8):
        gate.get(plugin, Asked(f"{site.address}/memorial/{number}"))
    assert site.times() == pytest.approx([0, 0, 0, 6, 12, 18, 24])


@pytest.mark.parametrize("line", ["Crawl-delay: 20", "Request-rate: 1/20s"])
def test_pace_of_the_host_wins_where_it_is_slower(stones: Plugin, line: str) -> None:
    """A host that asks for 20 seconds between requests gets them between any two."""
    with a_site(f"User-agent: *\n{line}\nDisallow:\n") as site:
        plugin = at(stones, site.address)
        gate = gate_to(site, plugin)
        for number in range(4):
            gate.get(plugin, Asked(f"{site.address}/memorial/{number}"))
        assert site.times() == pytest.approx([0, 20, 40, 60, 80])


def test_pace_is_kept_between_two_commands(stones: Plugin, site: Site) -> None:
    """A second process does not start with a new burst."""
    memory = memory_in({})
    plugin = at(stones, site.address)
    for number in range(4):
        gate_to(site, plugin, memory=memory).get(plugin, Asked(f"{site.address}/memorial/{number}"))
    assert site.times() == pytest.approx([0, 0, 0, 6, 12])


def test_long_pause_goes_back_to_the_queue(stones: Plugin) -> None:
    """A host that wants an hour between requests is not waited for: the caller gets the time."""
    with a_site("User-agent: *\nCrawl-delay: 3600\n") as site:
        plugin = at(stones, site.address)
        with pytest.raises(SourceRateLimited) as caught:
            ask(gate_to(site, plugin), plugin)
        assert caught.value.retry_after_s == pytest.approx(3600)
        assert site.time.waited == []


@pytest.mark.parametrize("expected", ["30", formatdate(START + 30, usegmt=True)])
def test_retry_after_is_honoured(stones: Plugin, site: Site, expected: str) -> None:
    """A host that says 'in 30 seconds', as a number or a date, is asked then and not before."""
    left = [503, 429]

    def busy(request: Request) -> None:
        if left:
            answer(request, left.pop(0), "", Retry_After=expected)
        else:
            answer(request, 200, memorial("Ada Quill"))

    site.pages["/memorial/1"] = busy
    plugin = at(stones, site.address)
    assert b"Ada" in ask(gate_to(site, plugin), plugin)
    times = site.times()
    assert times[:2] == [0, 0]
    assert times[2] >= 30
    assert site.paths()[1:] == ["/memorial/1"] * 3


def test_long_retry_after_is_remembered(stones: Plugin, site: Site) -> None:
    """A host that says 'in an hour' hears nothing more for an hour, from this case or the next command."""
    site.page("/memorial/1", "", 429, Retry_After="3600")
    memory = memory_in({})
    plugin = at(stones, site.address)
    for path in ("/memorial/1", "/memorial/2"):
        with pytest.raises(SourceRateLimited):
            ask(gate_to(site, plugin, memory=memory), plugin, path)
    assert site.paths() == ["/robots.txt", "/memorial/1"]
    site.time.now_s += 3601
    site.page("/memorial/1", memorial("Ada Quill"))
    assert b"Ada" in ask(gate_to(site, plugin, memory=memory), plugin)


def test_answers_are_kept_as_long_as_the_plugin_says(stones: Plugin, site: Site) -> None:
    """Within its time a page is not asked for again; after it, it is (R288, R366)."""
    plugin = at(stones, site.address, cache_ttl_seconds=3600)
    gate = gate_to(site, plugin)
    for seconds, times in ((0, 1), (3599, 1), (2, 2)):
        site.time.now_s += seconds
        ask(gate, plugin)
        assert site.paths().count("/memorial/1") == times


def test_errors_and_secrets_are_not_kept(stones: Plugin, site: Site) -> None:
    """A page that failed is asked for again, and nothing that came with a key is remembered."""
    rows: dict[str, str] = {}
    memory = memory_in(rows)
    plugin = at(stones, site.address)
    gate = gate_to(site, plugin, memory=memory)
    site.page("/memorial/9", "down", 500)
    gate.get(plugin, Asked(f"{site.address}/memorial/9"))
    gate.get(plugin, Asked(f"{site.address}/memorial/9"))
    gate.get(plugin, Asked(f"{site.address}/memorial/1", secret_headers={"Authorization": "Bearer sesame"}))
    assert site.paths().count("/memorial/9") == 2
    assert not any(key.startswith("page/") or "sesame" in value for key, value in rows.items())


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1:9/",
        "http://169.254.169.254/latest/meta-data/",
        "https://elsewhere.example/",
        "//localhost:9/",
        "file:///etc/passwd",
        "http://[::1]:9/",
        "https://stones.example@10.0.0.1/",
    ],
)
def test_redirects_are_checked_like_the_first_address(
    stones: Plugin, site: Site, connections: list[object], target: str
) -> None:
    """A redirect to another host, a private address or another scheme is refused, and nothing connects there."""
    site.page("/memorial/1", "", 302, Location=target)
    plugin = at(stones, site.address)
    with pytest.raises(SourceRefused) as caught:
        ask(gate_to(site, plugin), plugin)
    assert caught.value.rule == "address"
    port = int(site.address.rpartition(":")[2])
    assert {place for place in connections if isinstance(place, tuple)} == {("127.0.0.1", port)}


def test_redirects_at_home_are_followed_and_end(stones: Plugin, site: Site) -> None:
    """A redirect at the same host is followed under the same rules, robots.txt included; a circle ends."""
    site.page("/robots.txt", "User-agent: *\nDisallow: /private/\n")
    site.page("/old", "", 301, Location="/memorial/1")
    site.page("/sly", "", 302, Location="/private/1")
    site.page("/round", "", 302, Location="/round")
    plugin = at(stones, site.address)
    gate = gate_to(site, plugin)
    page = gate.get(plugin, Asked(f"{site.address}/old"))
    assert page.url == f"{site.address}/memorial/1"
    with pytest.raises(SourceRefused, match=r"robots\.txt"):
        gate.get(plugin, Asked(f"{site.address}/sly"))
    with pytest.raises(SourceUnreachable, match="redirected more than"):
        gate.get(plugin, Asked(f"{site.address}/round"))
    assert site.paths().count("/round") == 6


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://stones.example/1", "not https"),
        ("https://stones.example:8443/1", "not https"),
        ("https://evil.example/1", "host of this plugin"),
        ("https://stones.example.evil.example/1", "host of this plugin"),
        ("https://user:pw@stones.example/1", "user name"),
        ("https://stones.example/a b", "not a valid web address"),
        ("https://stönes.example/1", "not a valid web address"),
        ("https://[::1", "not an address"),
        ("ftp://stones.example/1", "not https"),
    ],
)
def test_addresses_that_are_not_the_plugins(url: str, why: str) -> None:
    """Only https at the plugin's own host is asked, and a refusal never repeats a password."""
    with pytest.raises(SourceRefused, match=why) as caught:
        AllowedHosts(frozenset({"stones.example"})).check(url)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    "number",
    ["127.0.0.1", "10.1.2.3", "192.168.1.1", "172.16.0.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "224.0.0.1",
     "::1", "fe80::1%eth0", "fd00::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "2002:7f00:1::",
     "64:ff9b::7f00:1", "64:ff9b:1::a00:1", "::7f00:1", "fec0::1"],
)  # fmt: skip
def test_host_that_leads_into_a_private_network_is_refused(number: str) -> None:
    """A public name that resolves to a private number, alone or beside a public one, is not connected to."""
    for found in ((number,), ("93.184.216.34", number)):
        reach = AllowedHosts(frozenset({"stones.example"}), resolve=partial(resolved, found))
        with pytest.raises(SourceRefused, match="private network"):
            reach.pin("https://stones.example/1")


def resolved(numbers: tuple[str, ...], host: str, port: int) -> tuple[str, ...]:
    return numbers


def test_request_is_pinned_to_the_number_that_was_checked() -> None:
    """A name that changes its number after the check does not move the request."""
    reach = AllowedHosts(frozenset({"stones.example"}), resolve=lambda host, port: ("93.184.216.34",))
    place = reach.pin("https://stones.example/memorial/1?a=b")
    assert place.pinned == "https://93.184.216.34:443/memorial/1?a=b"
    assert (place.host, place.name) == ("stones.example", "stones.example")


def test_loopback_wants_to_be_named(stones: Plugin, site: Site) -> None:
    """This machine is reached only at the place the user named in full."""
    plugin = at(stones, site.address)
    with pytest.raises(SourceRefused) as caught:
        ask(gate_to(site, plugin, named=False), plugin)
    assert caught.value.rule == "address"
    assert site.arrivals == []


def test_an_endpoint_of_one_plugin_is_closed_to_others(stones: Plugin, site: Site) -> None:
    """An endpoint of the user's own machine cannot be reached through another plugin, not even by a redirect."""
    plugin = at(stones, site.address)
    gate = gate_to(site, plugin)
    gate.permissions = replace(gate.permissions, extra_hosts={"wikidata": frozenset({site.address})})
    with pytest.raises(SourceRefused) as caught:
        ask(gate, plugin)
    assert caught.value.rule == "address"
    assert site.arrivals == []


FAULTS: dict[str, tuple[Handle, str]] = {
    "drips": (DRIPS["headers"], r"did not finish within 0\.5 seconds"),
    "no HTTP": (nonsense, r"is not responding \(RemoteProtocolError\)"),
    "endless": (endless, "is larger than"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_host_that_misbehaves_is_given_up(stones: Plugin, site: Site, fault: str) -> None:
    """A host that drips, never stops or speaks no HTTP is an error with a remedy that names the source."""
    handle, words = FAULTS[fault]
    site.pages["/memorial/1"] = handle
    plugin = at(stones, site.address)
    timeout_s = 0.5 if fault == "drips" else 20.0
    with pytest.raises(SourceUnreachable, match=words) as caught:
        ask(gate_to(site, plugin, timeout_s=timeout_s, max_bytes=100_000), plugin)
    assert caught.value.remedy


def test_a_host_that_is_gone_is_reported(stones: Plugin, site: Site) -> None:
    """A dead port is an error, not a traceback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        dead = Site(site.time, address=f"http://127.0.0.1:{probe.getsockname()[1]}")
    gone = at(stones, dead.address)
    with pytest.raises(SourceError):
        ask(gate_to(dead, gone), gone)


def test_damaged_memory_is_ignored(stones: Plugin, site: Site) -> None:
    """Damaged rows of the memory are read as missing."""
    rows: dict[str, str] = {}
    memory = memory_in(rows)
    plugin = at(stones, site.address)
    ask(gate_to(site, plugin, memory=memory), plugin)
    for key in list(rows):
        memory.set(key, {"at": "x", "content": "!", "text": 3} if key.startswith("p") else [1])
    assert b"Ada" in ask(gate_to(site, plugin, memory=memory), plugin)
