"""Sources of evidence: the local books first, then those the user enabled, each queried by its own rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.kin.sources.books import NAME_LINK_WORDS, BookSource, content_hash
    from kiwiresearch.kin.sources.gate import Credentials, Gate, Permissions, key_variable
    from kiwiresearch.kin.sources.plugin import Plugin
    from kiwiresearch.kin.sources.registry import (
        FixtureCheck,
        KnownPlugin,
        Plugins,
        check_plugin,
        load_plugins,
        open_sources,
        read_plugin,
    )
    from kiwiresearch.kin.sources.request_limits import Clock, PluginMemory
    from kiwiresearch.kin.sources.sign_in import SignIn
    from kiwiresearch.kin.sources.site import PluginHealth
    from kiwiresearch.kin.sources.source import EvidenceSource, FetchedRecord, PersonQuery
else:
    __getattr__ = lazy_exports(__name__)
