"""A day or a moment that somebody gives, as the rows of the audit have theirs."""

from __future__ import annotations

from datetime import UTC, datetime

from kiwiresearch.errors import BadUsage


def moment_of(since: str) -> str:
    """It in UTC; BadUsage where it is no date. Nothing stays nothing."""
    words = since.strip()
    if not words:
        return ""
    try:
        # Within an address a '+' that nobody wrote as '%2B' has become a space.
        found = datetime.fromisoformat(words.replace(" ", "+") if "T" in words else words)
        told = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError) as problem:
        raise BadUsage(
            f"{since!r} is no date.", remedy="Write it like '2026-11-16' or '2026-11-16T08:00'."
        ) from problem
    return told.isoformat(timespec="seconds")
