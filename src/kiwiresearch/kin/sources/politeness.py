"""What is remembered of hosts between two commands: robots.txt, rate limits and cached answers."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from protego import Protego

from kiwiresearch.errors import SourceResting
from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.sources.transport import Request


class PluginMemory(Protocol):
    """JSON objects by key. A case keeps them in its store; what is not there is None."""

    def get(self, key: str) -> Any: ...

    def set(self, key: str, value: Any) -> None: ...


class StoredMemory:
    """Remembers in rows of somebody else, such as the store of a case: one way to read a row, one to write it."""

    def __init__(self, read: Callable[[str], Any], write: Callable[[str, Any], None]) -> None:
        self._read = read
        self._write = write

    def get(self, key: str) -> Any:
        return self._read(key)

    def set(self, key: str, value: Any) -> None:
        self._write(key, value)


class TransientMemory:
    """Remembers until the process ends."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    def get(self, key: str) -> Any:
        text = self._values.get(key)
        return None if text is None else json.loads(text)

    def set(self, key: str, value: Any) -> None:
        self._values[key] = canonical_json(value)


DAY_S = 86_400.0
FAILED_S = 3_600.0
"""A host in trouble is looked at again sooner."""
MAX_CHARS = 512 * 1024
AGENT = "kiwiresearch"
TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules of a host at a time; without text, all is allowed or nothing is."""

    text: str
    allows_all: bool
    denies_all: bool
    read_at: float

    def allows(self, url: str) -> bool:
        if self.allows_all or self.denies_all:
            return self.allows_all
        return bool(Protego.parse(self.text).can_fetch(url, AGENT))

    def gap_s(self) -> float:
        """The seconds between two requests that the host asks for, by either of the two lines there are for it."""
        if not self.text:
            return 0.0
        rules = Protego.parse(self.text)
        delay = float(rules.crawl_delay(AGENT) or 0)
        rate = rules.request_rate(AGENT)
        return max(delay, rate.seconds / rate.requests if rate and rate.requests else 0.0)

    def is_fresh(self, now: float) -> bool:
        lasts = FAILED_S if self.denies_all else DAY_S
        return self.read_at <= now < self.read_at + lasts

    def record(self) -> dict[str, Any]:
        return {"text": self.text, "all": self.allows_all, "none": self.denies_all, "read_at": self.read_at}


def parse_robots(status: int, content: bytes, now: float) -> Robots:
    """The rules an answer means: none there allows all, a server in trouble allows nothing."""
    if 200 <= status < 300:
        return Robots(content.decode("utf-8", "replace")[:MAX_CHARS], allows_all=False, denies_all=False, read_at=now)
    allows = 400 <= status < 500 and status != TOO_MANY
    return Robots("", allows_all=allows, denies_all=not allows, read_at=now)


def robots_from_record(row: Any) -> Robots | None:
    if not isinstance(row, dict):
        return None
    try:
        return Robots(str(row["text"]), bool(row["all"]), bool(row["none"]), float(row["read_at"]))
    except (KeyError, TypeError, ValueError):
        return None


def robots_url(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/robots.txt"


LONGEST_WAIT_S = 60.0
"""Longer than this nobody sits and waits: the query goes back to its queue."""
LONGEST_REST_S = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class Clock:
    """The time of day in seconds, given by whoever runs the case, and a way to let it pass."""

    now: Callable[[], float]
    wait: Callable[[float], None] = time.sleep


@dataclass(frozen=True, slots=True)
class Pace:
    """So many requests at once, so many seconds for each further one, and so many between any two."""

    burst: int
    gap_s: float
    min_gap_s: float = 0.0


class Limiter:
    """Waits until a host may be asked, or says when it may be; threads wait one behind the other."""

    def __init__(self, memory: PluginMemory, clock: Clock) -> None:
        self._memory = memory
        self._clock = clock
        self._turn = threading.Lock()

    def take(self, host: str, pace: Pace) -> None:
        """Take one request from the host's bucket, and wait for it if need be."""
        with self._turn:
            self._take(host, pace)

    def _take(self, host: str, pace: Pace) -> None:
        now = self._clock.now()
        state = self._state(host)
        last = min(state.get("at", now), now)  # a clock that was set back starts anew
        tokens = min(float(pace.burst), state.get("tokens", float(pace.burst)) + (now - last) / pace.gap_s)
        waits = [min(state.get("not_before", 0.0) - now, LONGEST_REST_S), (1.0 - tokens) * pace.gap_s]
        if "at" in state:
            waits.append(last + pace.min_gap_s - now)
        wait = max(0.0, *waits)
        if wait > LONGEST_WAIT_S:
            raise SourceResting(f"The host {host!r} wants to be left alone.", after_s=wait)
        if wait > 0:
            self._clock.wait(wait)
        left = min(float(pace.burst), tokens + wait / pace.gap_s) - 1.0
        self._memory.set(_pace_key(host), {"at": now + wait, "tokens": max(left, 0.0), "not_before": 0.0})

    def rest(self, host: str, seconds: float) -> None:
        """Leave the host alone for a time."""
        now = self._clock.now()
        seconds = min(max(seconds, 0.0), LONGEST_REST_S)
        self._memory.set(_pace_key(host), {"at": now, "tokens": 0.0, "not_before": now + seconds})

    def _state(self, host: str) -> dict[str, float]:
        found = self._memory.get(_pace_key(host))
        known = found if isinstance(found, dict) else {}
        return {name: float(value) for name, value in known.items() if isinstance(value, int | float)}


def _pace_key(host: str) -> str:
    return f"pace/{host}"


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """An answer that can be read: where it came from in the end, and when."""

    url: str
    status: int
    content: bytes
    kind: str
    fetched_at: float
    from_cache: bool = False

    @property
    def sha(self) -> str:
        return "sha256:" + hashlib.sha256(self.content).hexdigest()


class PageCache:
    """Pages by plugin and request. What came with a key is not kept."""

    def __init__(self, memory: PluginMemory) -> None:
        self._memory = memory

    def get(self, plugin_id: str, request: Request, *, now: float, ttl_s: float) -> FetchedPage | None:
        row = self._memory.get(_page_key(plugin_id, request))
        try:
            page = _page(row) if isinstance(row, dict) else None
        except (KeyError, TypeError, ValueError, zlib.error):
            return None
        return page if page and page.fetched_at <= now < page.fetched_at + ttl_s else None

    def put(self, plugin_id: str, request: Request, page: FetchedPage) -> None:
        if request.secret_headers:
            return
        row = {
            "url": page.url,
            "status": page.status,
            "kind": page.kind,
            "fetched_at": page.fetched_at,
            "content": base64.b64encode(zlib.compress(page.content)).decode("ascii"),
        }
        self._memory.set(_page_key(plugin_id, request), row)


def _page(row: dict[str, Any]) -> FetchedPage:
    content = zlib.decompress(base64.b64decode(row["content"]))
    return FetchedPage(
        str(row["url"]), int(row["status"]), content, str(row["kind"]), float(row["fetched_at"]), from_cache=True
    )


def _page_key(plugin_id: str, request: Request) -> str:
    told = canonical_json([request.method, request.url, dict(request.form), request.accept])
    return f"page/{plugin_id}/{hashlib.sha256(told.encode('utf-8', 'replace')).hexdigest()}"
