"""Text made fit for output: printable, encodable, quoted, escaped for Markdown, counted."""

from __future__ import annotations

import re

# Direction marks would let a title of a book reorder the words around it on the screen.
CONTROL_RANGES = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069"
CONTROL_CHARACTERS = re.compile(f"[{CONTROL_RANGES}]")
"""Control characters but tabs and line ends, and marks that change the writing direction."""
CONTROLS_IN_LINES = re.compile(f"[{CONTROL_RANGES}\r]")
"""The same in a text whose lines end in line feeds."""
CONTROLS = re.compile(f"[{CONTROL_RANGES}\t\n\r\u2028\u2029]+")
"""The same with tabs and line ends of any kind."""


def printable(text: str) -> str:
    """The text on one line, without control characters."""
    return " ".join(CONTROLS.sub(" ", text).split()) if CONTROLS.search(text) else text


def without_controls(text: str) -> str:
    """A text of several lines with a space for each control character; as long as before."""
    return CONTROLS_IN_LINES.sub(" ", text)


def capitalized(text: str) -> str:
    """The text as a heading: with a capital at the start, unless its first word has one elsewhere, such as 'iPhone'."""
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    return text[:1].upper() + text[1:] if first == first.lower() else text


def one_line(text: str) -> str:
    """The text on one line, with single spaces and without control characters."""
    return " ".join(printable(text).split())


def encodable(text: str) -> str:
    """The text with a question mark for each lone surrogate, which has no UTF-8 form; as long as before."""
    return text.encode("utf-8", "replace").decode("utf-8")


def quoted(text: str) -> str:
    """The text on one line, in typographic quotes."""
    return f"“{printable(text)}”"


SPECIAL = re.compile(r"([\\`*\[\]<~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;))")
"""Characters that would become markup; an underscore between letters would not."""
SPECIAL_ANYWHERE = re.compile(r"([\\`*_\[\]<>|~]|&(?=#?\w+;))")
WORDS_IN_BRACKETS = re.compile(r"\\\[(?=[^\\]*[^\W\d_])(\w[\w .,;:'’/–-]+)\\\](?!\\?[(\[:])")
"""Such as [O.S. 21 March]: it is no link, and many chat clients read an escaped bracket as the start of a formula."""
LINE_START = re.compile(r"^(>|(?:#{1,6}|[+=-]+|\d+[.)])(?=\s|$))")


def escaped(text: str) -> str:
    """The text escaped for a line of its own."""
    return WORDS_IN_BRACKETS.sub(r"[\1]", _escaped(text, SPECIAL))


def escaped_anywhere(text: str) -> str:
    """The text escaped for anywhere: in the cell of a table, in a link, within a line."""
    return _escaped(text, SPECIAL_ANYWHERE)


def _escaped(text: str, special: re.Pattern[str]) -> str:
    plain = special.sub(r"\\\1", one_line(text))
    # What would start a list, a heading or a quotation: of '3.' the full stop is escaped, of others all.
    return LINE_START.sub(
        lambda sign: f"{sign[1][:-1]}\\{sign[1][-1]}" if sign[1][0].isdigit() else f"\\{sign[1]}", plain
    )


def count_of(number: int, one: str, many: str = "") -> str:
    """'1 person', '3 people'; without a plural form an 's' is added."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


# '=1', '-5' and ' =1'; not 'a-b'.
FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")
"""The start of a text that a spreadsheet would compute; some also accept the full-width signs of Asian keyboards."""


def inert_cell(text: str) -> str:
    """The text without control and direction characters; an apostrophe goes in front of what would be computed."""
    text = CONTROL_CHARACTERS.sub("", text)
    return f"'{text}" if FORMULA.match(text) else text
