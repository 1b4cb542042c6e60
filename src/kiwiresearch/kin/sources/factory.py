"""Opens the sources of a case: its books first, then the plugins that are switched on, by tier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kiwiresearch.kin.sources.books import BookSource
from kiwiresearch.kin.sources.familysearch import FamilySearchSource
from kiwiresearch.kin.sources.gate import Gate
from kiwiresearch.kin.sources.plugin import Plugin
from kiwiresearch.kin.sources.registry import Plugins
from kiwiresearch.kin.sources.sign_in import SignIn
from kiwiresearch.kin.sources.site import SiteSource
from kiwiresearch.kin.sources.source import EvidenceSource
from kiwiresearch.kin.sources.wikidata import WikidataSource
from kiwiresearch.search import OpenBook


def open_sources(
    books: Sequence[OpenBook],
    known: Plugins,
    gate: Gate,
    *,
    sign_ins: Mapping[str, SignIn] | None = None,
    endpoints: Mapping[str, str] | None = None,
) -> tuple[EvidenceSource, ...]:
    """All sources of a case, Tier 0 first; raises for an unknown plugin. Nothing is requested yet.

    `endpoints` replace a plugin's own address; the permissions must allow them.
    """
    plugins = [known.named(name).plugin for name in gate.permissions.enabled]
    ordered = sorted(plugins, key=lambda plugin: (plugin.tier, plugin.plugin_id))
    return (
        BookSource(books),
        *(_open_source(plugin, gate, sign_ins or {}, endpoints or {}) for plugin in ordered if plugin.kind != "books"),
    )


def _open_source(
    plugin: Plugin, gate: Gate, sign_ins: Mapping[str, SignIn], endpoints: Mapping[str, str]
) -> EvidenceSource:
    if plugin.kind == "sparql":
        return WikidataSource(plugin, gate, endpoint=endpoints.get(plugin.plugin_id, ""))
    if plugin.kind == "familysearch":
        return FamilySearchSource(plugin, gate, sign_ins.get(plugin.plugin_id) or SignIn(plugin, gate))
    return SiteSource(plugin, gate)
