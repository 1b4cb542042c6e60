"""What is remembered about plugins between two commands: health, robots.txt, pace, answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Protocol

from kiwiresearch.ids import canonical_json


class PluginMemory(Protocol):
    """JSON objects by key. A case keeps them in its store; what is not there is None."""

    def get(self, key: str) -> Any: ...

    def set(self, key: str, value: Any) -> None: ...


class LentMemory:
    """Remembers in rows of somebody else, such as the store of a case: one way to read a row, one to write it."""

    def __init__(self, read: Callable[[str], Any], write: Callable[[str, Any], None]) -> None:
        self._read = read
        self._write = write

    def get(self, key: str) -> Any:
        return self._read(key)

    def set(self, key: str, value: Any) -> None:
        self._write(key, value)


class PassingMemory:
    """Remembers until the process ends."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    def get(self, key: str) -> Any:
        text = self._values.get(key)
        return None if text is None else json.loads(text)

    def set(self, key: str, value: Any) -> None:
        self._values[key] = canonical_json(value)
