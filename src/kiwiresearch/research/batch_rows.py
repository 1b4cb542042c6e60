"""Rows of a batch of questions: each gets a line of its own, also where it cannot be used."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kiwiresearch.ask.answer import Cited
from kiwiresearch.ask.record import record_of
from kiwiresearch.ask.wish import AskWish
from kiwiresearch.errors import BadUsage, KiwiError
from kiwiresearch.research.asking import Asker

QUESTION_KEYS = ("question", "query", "claim")


@dataclass(frozen=True, slots=True)
class AnsweredRow:
    """What is written for a row, and whether it could be used."""

    record: dict[str, Any]
    failed: bool = False


def answered(line: str, number: int, asker: Asker, link: Callable[[Cited], str], wish: AskWish) -> AnsweredRow:
    """The answer to the question of a row; what is wrong with a row is told in its line."""
    text = ""
    try:
        text = query_in(line, number, QUESTION_KEYS)
        return AnsweredRow(record_of(asker.ask(text, wish), link))
    except KiwiError as problem:
        nothing: dict[str, Any] = {name: [] for name in ("citations", "passages", "pages", "conflicts")}
        told = {"question": text, "route": "none", "grounded": False, "answer": "", "error": str(problem)}
        return AnsweredRow(told | nothing, failed=True)


def query_in(line: str, number: int, keys: Sequence[str]) -> str:
    """What a row asks, under the first of the keys that it has."""
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise BadUsage(f"Line {number} is no JSON: {problem}.", remedy="Write one JSON object a line.") from problem
    for key in keys:
        if isinstance(row, dict) and isinstance(row.get(key), str) and row[key].strip():
            return str(row[key])
    raise BadUsage(f"Line {number} has no query.", remedy=f"Give it one of the keys {', '.join(keys)}.")
