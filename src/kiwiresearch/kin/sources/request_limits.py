"""State about hosts between commands: robots.txt, rate limits and cached answers."""

from __future__ import annotations

import base64
import hashlib
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from protego import Protego

from kiwiresearch.errors import SourceRateLimited
from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.sources.transport import Request


@dataclass(frozen=True, slots=True)
class PluginMemory:
    """JSON objects by key, as the store of a case reads and writes them; `get` gives None for an unknown key."""

    get: Callable[[str], Any]
    set: Callable[[str, Any], None]


# RFC 9309 wants a copy of robots.txt to be used for a day at most, and at least 500 KiB of it to be read.
DAY_S = 86_400.0
FAILED_S = 3_600.0
"""The robots.txt of a failing host is read again sooner."""
MAX_CHARS = 512 * 1024
AGENT = "kiwiresearch"
TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class Robots:
    """The robots.txt of a host; without text, everything is allowed or nothing is."""

    text: str
    allows_all: bool
    denies_all: bool
    read_at: float

    def allows(self, url: str) -> bool:
        if self.allows_all or self.denies_all:
            return self.allows_all
        return bool(Protego.parse(self.text).can_fetch(url, AGENT))

    def gap_s(self) -> float:
        """The seconds between two requests that the host asks for, by crawl delay or request rate."""
        if not self.text:
            return 0.0
        rules = Protego.parse(self.text)
        delay = float(rules.crawl_delay(AGENT) or 0)
        rate = rules.request_rate(AGENT)
        return max(delay, rate.seconds / rate.requests if rate and rate.requests else 0.0)

    def is_fresh(self, now: float) -> bool:
        return self.read_at <= now < self.read_at + (FAILED_S if self.denies_all else DAY_S)

    def record(self) -> dict[str, str | bool | float]:
        return {"text": self.text, "all": self.allows_all, "none": self.denies_all, "read_at": self.read_at}


def parse_robots(status: int, content: bytes, now: float) -> Robots:
    """The rules of an answer: a missing file allows everything, a failing server nothing."""
    if 200 <= status < 300:
        return Robots(content.decode("utf-8", "replace")[:MAX_CHARS], allows_all=False, denies_all=False, read_at=now)
    # As RFC 9309 says: a file that is unavailable (4xx) allows everything, one that is unreachable (5xx) nothing.
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


MAX_WAIT_S = 60.0
"""For longer waits the query goes back to its queue."""
MAX_PAUSE_S = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class Clock:
    """The time in seconds, and a way to wait; tests replace both."""

    now: Callable[[], float]
    wait: Callable[[float], None] = time.sleep


@dataclass(frozen=True, slots=True)
class Pace:
    """The burst size, the seconds for each further request, and the minimum between any two."""

    burst: int
    gap_s: float
    min_gap_s: float = 0.0


class Limiter:
    """Waits until a host may be asked, or raises if that takes too long; threads wait in turn."""

    def __init__(self, memory: PluginMemory, clock: Clock) -> None:
        self._memory = memory
        self._clock = clock
        self._send_lock = threading.Lock()

    def take(self, host: str, pace: Pace) -> None:
        """Take a token from the host's bucket, waiting for it if necessary."""
        with self._send_lock:
            self._take(host, pace)

    def _take(self, host: str, pace: Pace) -> None:
        now = self._clock.now()
        state = self._state(host)
        last = min(state.get("at", now), now)  # the clock may have been set back
        # A token bucket: tokens come back with time, and each request takes one.
        tokens = min(float(pace.burst), state.get("tokens", float(pace.burst)) + (now - last) / pace.gap_s)
        waits = [min(state.get("not_before", 0.0) - now, MAX_PAUSE_S), (1.0 - tokens) * pace.gap_s]
        if "at" in state:
            waits.append(last + pace.min_gap_s - now)
        wait = max(0.0, *waits)
        if wait > MAX_WAIT_S:
            raise SourceRateLimited(f"The host {host!r} limits how often it can be queried.", retry_after_s=wait)
        if wait > 0:
            self._clock.wait(wait)
        left = min(float(pace.burst), tokens + wait / pace.gap_s) - 1.0
        self._memory.set(_pace_key(host), {"at": now + wait, "tokens": max(left, 0.0), "not_before": 0.0})

    def pause(self, host: str, seconds: float) -> None:
        """Leave the host alone for a time."""
        now = self._clock.now()
        seconds = min(max(seconds, 0.0), MAX_PAUSE_S)
        self._memory.set(_pace_key(host), {"at": now, "tokens": 0.0, "not_before": now + seconds})

    def _state(self, host: str) -> dict[str, float]:
        found = self._memory.get(_pace_key(host))
        rows = found.items() if isinstance(found, dict) else ()
        return {name: float(value) for name, value in rows if isinstance(value, int | float)}


def _pace_key(host: str) -> str:
    return f"pace/{host}"


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """An answer, with its final address and when it came."""

    url: str
    status: int
    content: bytes
    kind: str
    fetched_at: float
    from_cache: bool = False

    @property
    def sha(self) -> str:
        return "sha256:" + hashlib.sha256(self.content).hexdigest()


class ResponseCache:
    """Pages by plugin and request; answers to requests with a key are not cached."""

    def __init__(self, memory: PluginMemory) -> None:
        self._memory = memory

    def get(self, plugin_id: str, request: Request, *, now: float, ttl_s: float) -> FetchedPage | None:
        row = self._memory.get(_page_key(plugin_id, request))
        try:
            content = zlib.decompress(base64.b64decode(row["content"]))
            at = float(row["fetched_at"])
            page = FetchedPage(str(row["url"]), int(row["status"]), content, str(row["kind"]), at, from_cache=True)
        except (KeyError, TypeError, ValueError, zlib.error):
            return None
        # A time in the future means that the clock was set back, and the age is unknown.
        return page if at <= now < at + ttl_s else None

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


def _page_key(plugin_id: str, request: Request) -> str:
    text = canonical_json([request.method, request.url, dict(request.form), request.accept])
    return f"page/{plugin_id}/{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"
