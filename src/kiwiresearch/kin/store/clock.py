"""Times that can be compared as text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from kiwiresearch.errors import BadUsage


def moment(text: str, *, later_s: float = 0.0) -> str:
    """An ISO 8601 time in UTC and of one width, some seconds later; a time without a zone is UTC."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError as problem:
        raise BadUsage(f"{text!r} is no time.", remedy="Write it as 2026-01-31T12:00:00Z.") from problem
    when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    return (when + timedelta(seconds=later_s)).isoformat(timespec="microseconds").replace("+00:00", "Z")
