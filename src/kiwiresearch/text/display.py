"""Text made fit to show: printable, quoted, escaped for Markdown, counted."""

from __future__ import annotations

import re

CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
"""Control characters, line ends of any kind, and marks that turn the direction of what follows."""

MARKS = ("“”", "«»")
"""For words that hold both kinds of straight quotes."""


def printable(text: str) -> str:
    """The words of a text in one line; what is no character of a text is left out."""
    return " ".join(CONTROLS.sub(" ", text).split()) if CONTROLS.search(text) else text


def quoted(text: str) -> str:
    """Words of a book between quotes that they do not hold themselves; only words that hold all kinds are escaped."""
    written = repr(text)
    if "\\" not in written:
        return written
    plain = printable(text)
    fitting = [marks for marks in MARKS if not set(marks) & set(plain)]
    return fitting[0][0] + plain + fitting[0][1] if fitting else written


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


def count_of(number: int, one: str, many: str = "") -> str:
    """'1 person', '3 people'; without a form for many it is the one with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")
"""How a text begins that a spreadsheet would compute; some take the wide signs of Asian keyboards too."""


def inert_cell(text: str) -> str:
    """A text that a spreadsheet shows: an apostrophe stands before what it would compute."""
    return f"'{text}" if FORMULA.match(text) else text
