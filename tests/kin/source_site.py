"""A site on loopback that records requests, a clock that moves only when a test moves it, and a gate to both."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.http_servers import Handle, Request, answer, serving

from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.sources.gate import Credentials, Gate, Permissions, user_agent
from kiwiresearch.kin.sources.plugin import Plugin
from kiwiresearch.kin.sources.registry import read_plugin
from kiwiresearch.kin.sources.request_limits import Clock, PluginMemory
from kiwiresearch.kin.sources.transport import Transport

START = 1_800_000_000.0


class FakeTime:
    """A clock that does not move unless somebody waits."""

    def __init__(self) -> None:
        self.now_s = START
        self.waited: list[float] = []

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.now_s += seconds

    def clock(self) -> Clock:
        return Clock(lambda: self.now_s, self.wait)


@dataclass
class Arrival:
    """A request as the site saw it."""

    path: str
    at: float
    headers: Mapping[str, str]
    body: str = ""


@dataclass
class Site:
    """Answers by path; all that is not there is not found."""

    time: FakeTime
    pages: dict[str, Handle] = field(default_factory=dict)
    arrivals: list[Arrival] = field(default_factory=list)
    address: str = ""

    def page(self, path: str, body: str | bytes, status: int = 200, **headers: str) -> None:
        self.pages[path] = lambda request: answer(request, status, body, **headers)

    def paths(self) -> list[str]:
        return [urlsplit(one.path).path for one in self.arrivals]

    def times(self) -> list[float]:
        return [one.at - START for one in self.arrivals]

    def __call__(self, request: Request) -> None:
        headers = dict(request.headers.items())
        self.arrivals.append(Arrival(request.path, self.time.now_s, headers, request.body.decode()))
        handle = self.pages.get(urlsplit(request.path).path)
        if handle is None:
            answer(request, 404, "nothing here")
        else:
            handle(request)


@contextlib.contextmanager
def a_site(robots: str = "User-agent: *\nDisallow:\n") -> Iterator[Site]:
    site = Site(FakeTime())
    site.page("/robots.txt", robots)
    with serving(site) as address:
        site.address = address
        yield site


SITE_PLUGIN = """
plugin_id: old_stones
display_name: "Old Stones"
tier: 0
base_url: "https://stones.example"
person_path: "/memorial/"
compliance:
  robots_txt: true
  rate_limit_requests_per_minute: 10
  rate_limit_burst: 3
  cache_ttl_seconds: 86400
  requires_auth: false
  tos_url: "https://stones.example/terms"
  tos_automation: allowed
reliability:
  evidence_type: "secondary"
  base_weight: 0.7
  user_contributed: true
extraction_rules:
  person:
    name: {selector: "h1#bio-name", type: "text", required: true}
    birth_date: {selector: "#birthDateLabel", type: "date", format: "fuzzy"}
    death_date: {selector: "#deathDateLabel", type: "date", format: "fuzzy"}
    burial_place: {selector: "#cemeteryNameLabel", type: "text"}
    child: {selector: ".child", type: "relation", relation: child, multiple: true}
search:
  endpoint: "/memorial/search"
  method: "GET"
  params: {firstname: "{given_name}", lastname: "{surname}", birthyear: "{birth_year}", deathyear: "{death_year}"}
  result_selector: ".memorial-item"
pagination: {type: "page_number", param: "page", max_pages: 10}
"""


def plugin_in(folder: Path, text: str = SITE_PLUGIN, name: str = "one.yaml") -> Plugin:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return read_plugin(file)


def at(plugin: Plugin, address: str, **compliance: Any) -> Plugin:
    """The plugin for the site of a test, which has no https."""
    rules = plugin.compliance.model_copy(update=compliance)
    return plugin.model_copy(update={"base_url": address, "compliance": rules})


def gate_to(
    site: Site,
    *plugins: Plugin,
    memory: PluginMemory | None = None,
    key: str = "",
    named: bool = True,
    timeout_s: float = 5.0,
    max_bytes: int = 5 * 2**20,
) -> Gate:
    """A gate of a case that has switched the plugins on and named the site."""
    names = frozenset(plugin.plugin_id for plugin in plugins)
    keys = {f"KIWIRESEARCH_KEY_{name.upper()}": key for name in names}
    permit = Permissions(
        enabled=names,
        extra_hosts={name: frozenset({site.address}) for name in names if named},
        contact="desk@example.org",
        credentials=Credentials(keys),
    )
    line = Transport(user_agent(permit.contact), timeout_s=timeout_s, max_bytes=max_bytes)
    return Gate(permit, memory or memory_in({}), site.time.clock(), transport=line)


def memorial(name: str, born: str = "12 May 1842", died: str = "1911") -> str:
    return (
        f"<html><body><h1 id='bio-name'>{name}</h1><p>Birth <time id='birthDateLabel'>{born}</time></p>"
        f"<p>Death <span id='deathDateLabel'>{died}</span></p>"
        "<p>Burial <b id='cemeteryNameLabel'>Tallow Hill</b></p></body></html>"
    )


def memory_in(rows: dict[str, str]) -> PluginMemory:
    """A memory that writes JSON into these rows."""
    return PluginMemory(
        lambda key: json.loads(rows[key]) if key in rows else None,
        lambda key, value: rows.__setitem__(key, canonical_json(value)),
    )
