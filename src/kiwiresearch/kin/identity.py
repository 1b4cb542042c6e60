"""Names of rows that come from what they are, so that two runs over the same sources agree on them."""

from __future__ import annotations

import uuid

SPACE = uuid.UUID("6f6b1c5e-3f0b-5a43-9a51-0c8f0d5d2c11")


def id_of(kind: str, *parts: str) -> str:
    """The UUID of a row of this kind, made of what tells it from all others."""
    return str(uuid.uuid5(SPACE, "\x1f".join((kind, *parts))))
