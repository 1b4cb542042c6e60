"""Many inputs at once: JSON lines in, JSON lines out, in the same order."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from kiwiresearch.cli import show
from kiwiresearch.errors import BadUsage, KiwiError
from kiwiresearch.research.batch_rows import query_in
from kiwiresearch.research.finding import Finder, record_of
from kiwiresearch.search.find import Wish

QUERY_KEYS = ("query", "question", "claim")


def each_query(source: str, finder: Finder, wish: Wish) -> int:
    """Search for each row; a row that cannot be used gets a line that says so, and the exit code 1 at the end."""
    finder.check(wish)
    failed = False
    for number, line in rows_of(source):
        text = ""
        try:
            text = query_in(line, number, QUERY_KEYS)
            show.document(record_of(finder.find(text, wish), finder))
        except KiwiError as problem:
            failed = True
            show.document({"query": text, "hits": [], "error": str(problem)})
    return 1 if failed else 0


def rows_of(source: str) -> Iterator[tuple[int, str]]:
    """The lines of a file or of standard input that hold something, with their numbers."""
    if source == "-":
        yield from ((number, line) for number, line in enumerate(sys.stdin, start=1) if line.strip())
        return
    try:
        with Path(source).expanduser().open(encoding="utf-8-sig", errors="replace") as stream:
            yield from ((number, line) for number, line in enumerate(stream, start=1) if line.strip())
    except (OSError, RuntimeError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise BadUsage(
            f"The file {source!r} cannot be read: {reason}.", remedy="Give a file of JSON lines."
        ) from problem
