"""Which sources a case may query: its books, and the plugins that the user switched on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kiwiresearch.codec import Record, plain
from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.sources import BookSource
from kiwiresearch.kin.store import CaseStore
from kiwiresearch.network import split_server_address

if TYPE_CHECKING:
    from kiwiresearch.kin.sources import Clock, EvidenceSource, Gate, KnownPlugin, Plugin, Plugins, SignIn
    from kiwiresearch.search import OpenBook

SWITCHES_KEY = "plugins"
BOOKS_PLUGIN = "wikipedia"
"""The plugin of the books, which is always on."""


@dataclass(frozen=True, slots=True)
class Switches:
    """What the user allowed in a case; at first nothing outside the books."""

    on: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    """Plugins whose terms the user has read and accepts."""
    contact: str = ""
    endpoints: Mapping[str, str] = field(default_factory=dict)
    """The user's own endpoints, which replace a plugin's."""

    @classmethod
    def of(cls, store: CaseStore) -> Switches:
        stored: Mapping[str, Any] = store.state(SWITCHES_KEY) or {}
        on, terms = tuple(stored.get("on", ())), tuple(stored.get("terms", ()))
        return cls(on, terms, str(stored.get("contact", "")), stored.get("endpoints", {}))


@dataclass(frozen=True, slots=True)
class OpenSources:
    """The sources of a case, and the gate that must be closed at the end."""

    sources: tuple[EvidenceSource, ...]
    gate: Gate | None = None
    sign_ins: Mapping[str, SignIn] = field(default_factory=dict)
    """For the sources that need a sign-in; tokens stay in memory and end with the process."""

    def sign_in(self, name: str, tell: Callable[[str], None]) -> None:
        """Let the user sign in to a source; `tell` receives the address to open."""
        found = self.sign_ins.get(name)
        if found is None:
            those = f" Available: {', '.join(sorted(self.sign_ins))}." if self.sign_ins else ""
            raise BadUsage(
                f"This case has no source {name!r} that is turned on and needs a sign-in.",
                remedy=f"To turn a source on: kiwiresearch kin plugins on ID.{those}",
            )
        found.run_locally(tell)

    def close(self) -> None:
        if self.gate is not None:
            self.gate.close()


def set_plugin(
    store: CaseStore, known: KnownPlugin, *, on: bool, terms: bool = False, contact: str = "", endpoint: str = ""
) -> Switches:
    """Switch a plugin on or off for the case."""
    name = known.plugin.plugin_id
    if name == BOOKS_PLUGIN:
        raise BadUsage(
            "Your books are always used and cannot be turned on or off.", remedy="Choose the books with --book."
        )
    before = Switches.of(store)
    others = {item for item in before.on if item != name}
    agreed = {term for term in before.terms if term != name}
    elsewhere = {plugin: url for plugin, url in before.endpoints.items() if plugin != name}
    if on and endpoint:
        elsewhere[name] = _checked_endpoint(known, endpoint)
    after = replace(
        before,
        on=tuple(sorted(others | {name} if on else others)),
        # Terms are accepted again each time that a plugin is switched on.
        terms=tuple(sorted(agreed | {name} if on and terms else agreed)),
        contact=contact or before.contact,
        endpoints=dict(sorted(elsewhere.items())),
    )
    with store.step("user"):
        store.set_state(SWITCHES_KEY, plain(after))
    return after


def open_case_sources(
    store: CaseStore,
    books: Sequence[OpenBook],
    own: Path | None = None,
    environment: Mapping[str, str] = os.environ,
    *,
    clock: Clock | None = None,
) -> OpenSources:
    """The books, and all enabled sources through one gate."""
    switches = Switches.of(store)
    if not switches.on:
        return OpenSources((BookSource(books),))
    from kiwiresearch.kin.sources import SignIn, load_plugins, open_sources

    known = load_plugins(own)
    gate = open_gate(store, switches, environment, clock=clock)
    chosen = [known.named(name).plugin for name in switches.on]
    sign_ins = {plugin.plugin_id: SignIn(plugin, gate) for plugin in chosen if plugin.auth}
    sources = open_sources(books, known, gate, sign_ins=sign_ins, endpoints=switches.endpoints)
    return OpenSources(sources, gate, sign_ins)


def _checked_endpoint(known: KnownPlugin, endpoint: str) -> str:
    if known.plugin.kind != "sparql":
        raise BadUsage(
            f"The plugin {known.plugin.plugin_id!r} cannot use another endpoint.", remedy="Remove --endpoint."
        )
    if "://" not in endpoint or split_server_address(endpoint) is None:
        raise BadUsage(f"{endpoint!r} is not a web address.", remedy="Example: --endpoint http://localhost:7878/query")
    return endpoint.strip()


def _origin(endpoint: str) -> str:
    parts = urlsplit(endpoint)
    return f"{parts.scheme}://{parts.netloc.lower()}"


def open_gate(
    store: CaseStore, switches: Switches, environment: Mapping[str, str] = os.environ, *, clock: Clock | None = None
) -> Gate:
    """The gate to all sources outside the books, with the case's record of them."""
    from kiwiresearch.kin.sources import Clock, Credentials, Gate, Permissions, PluginMemory

    permit = Permissions(
        frozenset(switches.on),
        frozenset(switches.terms),
        {name: frozenset({_origin(url)}) for name, url in switches.endpoints.items()},
        contact=switches.contact,
        credentials=Credentials(environment),
    )
    memory = PluginMemory(store.plugin_state, store.set_plugin_state)
    # The clock is only for rate limits; no stored fact depends on it.
    return Gate(permit, memory, clock or Clock(time.time))  # noqa: TID251


@dataclass(frozen=True, slots=True)
class PluginRecord(Record):
    """A source: what it is, whether the case may use it, and what it receives."""

    id: str
    name: str
    tier: int
    on: bool
    network: bool
    hosts: tuple[str, ...]
    asked: str
    terms: str
    """What its terms say about automated access."""
    terms_url: str
    terms_acknowledged: bool
    key: str
    """The environment variable with the user's key; empty if none is needed."""
    sign_in: bool
    note: str
    requests_per_minute: int
    quarantine: str
    """Why it was disabled, if it was."""
    shipped: bool


def source_records(known: Plugins, store: CaseStore | None) -> list[PluginRecord]:
    """The status of each plugin."""
    switches = Switches.of(store) if store else Switches()
    return [_plugin_record(plugin, switches, store) for plugin in known.known]


def _plugin_record(known: KnownPlugin, switches: Switches, store: CaseStore | None) -> PluginRecord:
    from kiwiresearch.kin.sources import key_variable

    plugin = known.plugin
    is_books = plugin.kind == "books"
    rules = plugin.compliance
    return PluginRecord(
        id=plugin.plugin_id,
        name=plugin.display_name,
        tier=plugin.tier,
        on=is_books or plugin.plugin_id in switches.on,
        network=not is_books,
        hosts=() if is_books else _hosts(plugin, switches),
        asked="" if is_books else "Names and years of people known to have died, and nothing about anyone else.",
        terms=rules.tos_automation,
        terms_url=rules.tos_url,
        terms_acknowledged=plugin.plugin_id in switches.terms,
        key=key_variable(plugin.plugin_id) if rules.requires_auth else "",
        sign_in=plugin.auth is not None,
        note=rules.note,
        requests_per_minute=rules.rate_limit_requests_per_minute,
        quarantine=_quarantine(known, store),
        shipped=known.shipped,
    )


def _hosts(plugin: Plugin, switches: Switches) -> tuple[str, ...]:
    """The hosts that the plugin queries: the user's own endpoint, or its own."""
    own = switches.endpoints.get(plugin.plugin_id)
    return (urlsplit(own).netloc,) if own else tuple(sorted(plugin.hosts()))


def _quarantine(known: KnownPlugin, store: CaseStore | None) -> str:
    from kiwiresearch.kin.sources import PluginHealth, PluginMemory

    if store is None:
        return ""
    return PluginHealth(PluginMemory(store.plugin_state, store.set_plugin_state)).quarantine(known.plugin)
