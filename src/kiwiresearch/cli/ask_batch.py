"""Many questions at once: JSON lines in, JSON lines out, in the same order."""

from __future__ import annotations

from dataclasses import replace

from kiwiresearch.ask.wish import AskWish
from kiwiresearch.cli import show
from kiwiresearch.cli.batch import rows_of
from kiwiresearch.research.asking import Asker
from kiwiresearch.research.batch_rows import answered
from kiwiresearch.research.finding import Finder


def each_question(source: str, asker: Asker, finder: Finder, wish: AskWish) -> int:
    """Answer each row; a row that cannot be used gets a line that says so, and the exit code 1 at the end."""
    failed = False
    for number, line in rows_of(source):
        row = answered(line, number, asker, finder.link, replace(wish, turns=()))
        show.document(row.record)
        failed = failed or row.failed
    return 1 if failed else 0
