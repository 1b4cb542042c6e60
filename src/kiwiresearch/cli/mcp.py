"""The command that serves the shelf to a language model's program."""

from __future__ import annotations

from kiwiresearch.cli.options import Wanted, open_books, the_desk


def mcp(book: Wanted = None) -> None:
    """Serve tools of the Model Context Protocol on standard input and output."""
    from kiwiresearch.mcp.parts import opened
    from kiwiresearch.mcp.stdio import serve
    from kiwiresearch.mcp.tools import Toolbox

    desk = the_desk()
    with open_books(desk, book or []) as shelf, opened(desk, shelf, all_books=bool(book), now=_now) as parts:
        serve(Toolbox(parts))


def _now() -> str:
    from datetime import UTC, datetime

    # When a run was asked for is for people; nothing in it depends on it.
    return datetime.now(UTC).isoformat(timespec="seconds")  # noqa: TID251
