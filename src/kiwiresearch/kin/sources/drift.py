"""Whether a site still looks as its plugin expects: a plugin whose selectors stop matching is put aside."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from kiwiresearch.errors import SourceRefused
from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.sources.memory import PluginMemory
from kiwiresearch.kin.sources.plugin import Plugin

WINDOW = 10
TOO_MANY = 3


class Health:
    """How the last pages of each plugin could be read. A plugin that was changed starts anew."""

    def __init__(self, memory: PluginMemory) -> None:
        self._memory = memory

    def check(self, plugin: Plugin) -> None:
        """Refuse a plugin that has been put aside."""
        why = self.quarantine(plugin)
        if why:
            raise SourceRefused(
                f"The plugin {plugin.plugin_id!r} has been put aside: {why}.",
                step="quarantine",
                remedy=f"Mend its rules and try them with 'kiwiresearch kin plugins check {plugin.plugin_id}'.",
            )

    def quarantine(self, plugin: Plugin) -> str:
        """Why the plugin has been put aside; empty where it has not."""
        return str(self._state(plugin).get("quarantine", ""))

    def note(self, plugin: Plugin, missing: Sequence[str]) -> None:
        """Remember whether a page had all that is required."""
        state = self._state(plugin)
        pages = [[str(name) for name in row] for row in state.get("pages", [])]
        pages = [*pages, list(missing)][-WINDOW:]
        bad = [row for row in pages if row]
        why = str(state.get("quarantine", ""))
        if len(bad) >= TOO_MANY:
            names = sorted({name for row in bad for name in row})
            why = f"{len(bad)} of the last {len(pages)} pages had no {' or '.join(map(repr, names))}"
        self._memory.set(_key(plugin), {"rules": rules_of(plugin), "pages": pages, "quarantine": why})

    def release(self, plugin: Plugin) -> None:
        self._memory.set(_key(plugin), {"rules": rules_of(plugin), "pages": [], "quarantine": ""})

    def _state(self, plugin: Plugin) -> dict[str, Any]:
        found = self._memory.get(_key(plugin))
        return found if isinstance(found, dict) and found.get("rules") == rules_of(plugin) else {}


def rules_of(plugin: Plugin) -> str:
    """A hash of what the plugin reads by: other rules are another plugin."""
    told = canonical_json(plugin.extraction_rules.model_dump(mode="json"))
    return "sha256:" + hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:16]


def _key(plugin: Plugin) -> str:
    return f"health/{plugin.plugin_id}"
