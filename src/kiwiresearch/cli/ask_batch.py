"""Many questions at once: JSON lines in, JSON lines out, in the same order."""

from __future__ import annotations

from dataclasses import replace

from kiwiresearch.ask.record import record_of
from kiwiresearch.ask.wish import AskWish
from kiwiresearch.cli import show
from kiwiresearch.cli.batch import query_in, rows_of
from kiwiresearch.errors import KiwiError
from kiwiresearch.research.asking import Asker
from kiwiresearch.research.finding import Finder

QUESTION_KEYS = ("question", "query", "claim")


def each_question(source: str, asker: Asker, finder: Finder, wish: AskWish) -> int:
    """Answer each row; a row that cannot be used gets a line that says so, and the exit code 1 at the end."""
    failed = False
    for number, line in rows_of(source):
        text = ""
        try:
            text = query_in(line, number, QUESTION_KEYS)
            show.document(record_of(asker.ask(text, replace(wish, turns=())), finder.link))
        except KiwiError as problem:
            failed = True
            show.document(
                {
                    "question": text,
                    "route": "none",
                    "grounded": False,
                    "answer": "",
                    "citations": [],
                    "passages": [],
                    "pages": [],
                    "conflicts": [],
                    "error": str(problem),
                }
            )
    return 1 if failed else 0
