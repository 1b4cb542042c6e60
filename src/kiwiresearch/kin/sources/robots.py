"""What a host's robots.txt allows, kept for a day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from protego import Protego

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


def robots_of(status: int, content: bytes, now: float) -> Robots:
    """The rules an answer means: none there allows all, a server in trouble allows nothing."""
    if 200 <= status < 300:
        return Robots(content.decode("utf-8", "replace")[:MAX_CHARS], allows_all=False, denies_all=False, read_at=now)
    allows = 400 <= status < 500 and status != TOO_MANY
    return Robots("", allows_all=allows, denies_all=not allows, read_at=now)


def from_record(row: Any) -> Robots | None:
    if not isinstance(row, dict):
        return None
    try:
        return Robots(str(row["text"]), bool(row["all"]), bool(row["none"]), float(row["read_at"]))
    except (KeyError, TypeError, ValueError):
        return None


def robots_url(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/robots.txt"
