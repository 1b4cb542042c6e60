"""Which words of the catalogue tell of a problem."""

from __future__ import annotations

import re

from kiwiresearch.web.desk.words import Words
from kiwiresearch.web.problems import KINDS, Problem

RAISED_BELOW = frozenset(Problem(status, title).kind for status, title in KINDS.values())
"""Kinds of problems that arise below the pages, whose own words are English and name what it is about."""

TYPED = re.compile(r"\bkiwiresearch [a-z]|(?<!\S)--[a-z]")
"""What is typed into a terminal: a command, or an option of one."""


def kind_of(problem: Problem, words: Words) -> str:
    """The name under which the catalogue has this problem, or one of its sort."""
    if words.has(f"problems.kinds.{problem.kind}.title"):
        return f"problems.kinds.{problem.kind}"
    return "problems.kinds.failed" if problem.status >= 500 else "problems.kinds.bad-request"


def is_from_below(problem: Problem) -> bool:
    """Whether its own words say more than the catalogue does: the title of a book, the name of a setting."""
    return problem.kind in RAISED_BELOW and bool(problem.detail)


def is_typed(remedy: str) -> bool:
    """Whether a remedy is for somebody at a terminal, which a reader of the desk may not have."""
    return bool(TYPED.search(remedy))
