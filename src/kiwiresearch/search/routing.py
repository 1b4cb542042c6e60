"""What a model said about a query, kept for a while, so that it is asked once.

Failures are never kept: a model that was out of reach is asked again the
next time. Threads that want the same thing at once wait for one answer.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from pathlib import Path

from kiwiresearch.disk import write_whole
from kiwiresearch.ids import canonical_json

TTL_S = 3_600.0


class RoutingCache:
    """Lists of phrases by key; in memory, and in a folder if one is given."""

    def __init__(self, clock: Callable[[], float], folder: Path | None = None, *, ttl_s: float = TTL_S) -> None:
        self._clock = clock
        self._folder = folder
        self._ttl_s = ttl_s
        self._kept: dict[str, tuple[float, tuple[str, ...]]] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: str, ask: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
        """What is kept under the key, else what `ask` says; an error of `ask` is passed on and not kept."""
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            known = self._known(key)
            if known is not None:
                return known
            value = ask()
            self._keep(key, value)
            return value

    def _known(self, key: str) -> tuple[str, ...] | None:
        at, value = self._kept.get(key) or self._on_disk(key) or (0.0, ())
        fresh = 0 <= self._clock() - at < self._ttl_s
        return value if fresh and value else None

    def _keep(self, key: str, value: tuple[str, ...]) -> None:
        at = self._clock()
        self._kept[key] = (at, value)
        if self._folder is not None:
            text = canonical_json({"key": key, "at": at, "phrases": list(value)})
            try:
                write_whole(self._file(key), text + "\n")
            except OSError:
                return  # a cache that cannot be written is only slower

    def _on_disk(self, key: str) -> tuple[float, tuple[str, ...]] | None:
        if self._folder is None:
            return None
        try:
            row = json.loads(self._file(key).read_text(encoding="utf-8"))
            phrases, at = row["phrases"], float(row["at"])
            good = row["key"] == key and isinstance(phrases, list) and all(isinstance(p, str) for p in phrases)
            return (at, tuple(phrases)) if good else None
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None  # damaged, so it is asked for again

    def _file(self, key: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:32]}.json"
