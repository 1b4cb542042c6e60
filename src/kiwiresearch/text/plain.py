"""Text that is safe to print: in one line, without characters that command a terminal."""

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
