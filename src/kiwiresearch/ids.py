"""Names that are the same on every machine, and the one way to write JSON."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, NewType

BookId = NewType("BookId", str)
"""The UUID that a ZIM file carries, in the usual 8-4-4-4-12 form."""


UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029]")
"""Characters that JSON allows but terminals or line readers interpret as commands."""


COMPACT = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
"""Created once: files have thousands of lines, and `json.dumps` creates an encoder for each."""


def page_id(title: str) -> str:
    """The hash of a title, tagged with its algorithm.

    It is unique within one book; across books a page is named by its EntryRef.
    """
    return short_hash(title)


def short_hash(content: str | bytes) -> str:
    """128 bits of the SHA-256 of a text or of bytes, tagged with the algorithm."""
    raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
    return "sha256:" + hashlib.sha256(raw).hexdigest()[:32]


MIN_ID_CHARS = 4


def is_start_of_id(given: str, whole: str) -> bool:
    """Whether the user may mean this id: its first characters are enough if they are unique."""
    return len(given) >= MIN_ID_CHARS and whole.startswith(given)


def canonical_json(value: Any, *, indent: int | None = None) -> str:
    """JSON with sorted keys and real letters: equal values give equal bytes."""
    if indent is None:
        text = COMPACT.encode(value)
    else:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ": "), indent=indent)
    if text.isprintable():  # most texts are printable, and this is quicker than searching for unsafe characters
        return text
    return UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
