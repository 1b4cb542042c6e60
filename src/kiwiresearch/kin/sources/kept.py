"""Answers kept for as long as a plugin says, so that a host is asked once."""

from __future__ import annotations

import base64
import hashlib
import zlib
from dataclasses import dataclass
from typing import Any

from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.sources.line import Request
from kiwiresearch.kin.sources.memory import PluginMemory


@dataclass(frozen=True, slots=True)
class Page:
    """An answer that can be read: where it came from in the end, and when."""

    url: str
    status: int
    content: bytes
    kind: str
    fetched_at: float
    was_kept: bool = False

    @property
    def sha(self) -> str:
        return "sha256:" + hashlib.sha256(self.content).hexdigest()


class KeptPages:
    """Pages by plugin and request. What came with a key is not kept."""

    def __init__(self, memory: PluginMemory) -> None:
        self._memory = memory

    def get(self, plugin_id: str, request: Request, *, now: float, ttl_s: float) -> Page | None:
        row = self._memory.get(_key(plugin_id, request))
        try:
            page = _page(row) if isinstance(row, dict) else None
        except (KeyError, TypeError, ValueError, zlib.error):
            return None
        return page if page and page.fetched_at <= now < page.fetched_at + ttl_s else None

    def put(self, plugin_id: str, request: Request, page: Page) -> None:
        if request.secret_headers:
            return
        row = {
            "url": page.url,
            "status": page.status,
            "kind": page.kind,
            "fetched_at": page.fetched_at,
            "content": base64.b64encode(zlib.compress(page.content)).decode("ascii"),
        }
        self._memory.set(_key(plugin_id, request), row)


def _page(row: dict[str, Any]) -> Page:
    content = zlib.decompress(base64.b64decode(row["content"]))
    return Page(str(row["url"]), int(row["status"]), content, str(row["kind"]), float(row["fetched_at"]), was_kept=True)


def _key(plugin_id: str, request: Request) -> str:
    told = canonical_json([request.method, request.url, dict(request.form), request.accept])
    return f"page/{plugin_id}/{hashlib.sha256(told.encode('utf-8', 'replace')).hexdigest()}"
