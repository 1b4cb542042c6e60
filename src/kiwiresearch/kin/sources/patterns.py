"""Regular expressions that strangers wrote: run with a time limit, and only over a field."""

from __future__ import annotations

import regex  # type: ignore[import-untyped]

TIMEOUT_S = 0.25
MAX_CHARS = 10_000
GROUP = "value"


def checked_pattern(pattern: str) -> str:
    """The pattern, if it is one."""
    try:
        regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as problem:
        raise ValueError(f"it is no regular expression: {problem}") from problem
    return pattern


def span_of(pattern: str, text: str) -> tuple[int, int] | None:
    """Where the pattern finds its value: the group 'value', else the first group, else all of it.

    A pattern that takes too long finds nothing.
    """
    compiled = regex.compile(pattern)
    try:
        found = compiled.search(text[:MAX_CHARS], timeout=TIMEOUT_S)
    except TimeoutError:
        return None
    if found is None:
        return None
    group: int | str = GROUP if GROUP in compiled.groupindex else min(compiled.groups, 1)
    start, end = found.span(group)
    return (start, end) if 0 <= start < end else None
