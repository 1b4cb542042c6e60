"""Words that stay words in Markdown: nothing in them becomes markup."""

from __future__ import annotations

import re

from kiwiresearch.text.plain import printable

SPECIAL = re.compile(r"([\\`*\[\]<~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;))")
"""Signs that would become markup; an underscore between letters does not."""
SPECIAL_ANYWHERE = re.compile(r"([\\`*_\[\]<>|~]|&(?=#?\w+;))")
LINE_START = re.compile(r"^(>|(?:#{1,6}|[+=-]+|\d+[.)])(?=\s|$))")


def escaped(text: str) -> str:
    """A text as a line of its own."""
    return _escaped(text, SPECIAL)


def escaped_anywhere(text: str) -> str:
    """A text that may come to stand in the cell of a table, in a link or between other words."""
    return _escaped(text, SPECIAL_ANYWHERE)


def _escaped(text: str, special: re.Pattern[str]) -> str:
    plain = special.sub(r"\\\1", " ".join(printable(text).split()))
    return LINE_START.sub(_at_start, plain)


def _at_start(found: re.Match[str]) -> str:
    """A sign that would begin a list, a heading or a quotation."""
    sign = found[1]
    return f"{sign[:-1]}\\{sign[-1]}" if sign[0].isdigit() else f"\\{sign}"
