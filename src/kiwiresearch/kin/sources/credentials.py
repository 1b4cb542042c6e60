"""Keys of the user: from the environment or from a question to the user, in memory only, never shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Ask = Callable[[str], str]
"""Asks the user for the key of a plugin; an empty answer means there is none."""


class Secret:
    """A key that does not show itself: not in messages, not in logs, not in tracebacks."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> str:
        raise TypeError("a key is not written anywhere")


class Credentials:
    """The keys of this process, by plugin. Nothing here is ever written to a file or a store."""

    def __init__(self, environment: Mapping[str, str] | None = None, ask: Ask | None = None) -> None:
        self._environment = dict(environment or {})
        self._ask = ask
        self._known: dict[str, Secret] = {}

    def key(self, plugin_id: str) -> Secret:
        """The user's key for a plugin; empty where there is none. The user is asked once."""
        if plugin_id not in self._known:
            value = self._environment.get(variable(plugin_id), "").strip()
            if not value and self._ask is not None:
                value = self._ask(plugin_id).strip()
            self._known[plugin_id] = Secret(value)
        return self._known[plugin_id]

    def forget(self) -> None:
        self._known.clear()

    def __repr__(self) -> str:
        return f"Credentials({', '.join(sorted(self._known))})"


def variable(plugin_id: str) -> str:
    """The environment variable that holds a plugin's key."""
    return f"KIWIRESEARCH_KEY_{plugin_id.upper()}"
