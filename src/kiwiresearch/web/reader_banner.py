"""What the reader adds to a page of a book: a line that says which book it is, and a word about marks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from kiwiresearch.zim.book import Book

MOST_SHOWN = 600
LINE_PX = 28
NOTES_PX = 76

STYLE = (
    f"html{{padding-top:{LINE_PX}px!important;scroll-padding-top:{LINE_PX + 8}px}}"
    f".kiwi-bar{{all:initial;display:block;position:fixed;top:0;left:0;right:0;height:{LINE_PX}px;"
    "box-sizing:border-box;overflow:hidden;z-index:2147483647;color:#222;background:#f3f3ee;"
    "border-bottom:1px solid #ccc;padding:3px 10px;font:13px/21px system-ui,sans-serif;text-align:left}"
    ".kiwi-bar a{all:unset;color:#1a4b8c;cursor:pointer;text-decoration:underline}"
    ".kiwi-bar a:focus-visible{outline:2px solid #1a4b8c}"
    ".kiwi-note{display:block;font-style:italic}"
    "mark.kiwi-mark{background:#ffe45c!important;color:#000!important;padding:0!important;scroll-margin-top:30vh}"
    "a.kiwi-outside::after{content:'\\2197';font-size:.75em;vertical-align:super;text-decoration:none}"
    "@media print{.kiwi-bar{position:static}}"
)
"""Behind the page's own styles. The line is fixed, since a page may lay its parts out in rows or columns."""

WITH_NOTES = (
    f"<style>html{{padding-top:{NOTES_PX}px!important}}"
    f".kiwi-bar{{height:{NOTES_PX}px;overflow:auto;background:#fff4d6}}</style>"
)


def banner(book: Book, home: str, unmarked: Sequence[str], *, front: str = "/") -> str:
    """The line at the top of a page, and in it the words that could not be marked."""
    date = f", {escape(book.date)}" if book.date else ""
    links = f'<a href="{escape(front)}">kiwiresearch</a> · <a href="{escape(home)}">{escape(book.title)}</a>'
    notes = "".join(map(_note, unmarked))
    return f'{WITH_NOTES if notes else ""}<div class="kiwi-bar">{links}{date}{notes}</div>'


def _note(words: str) -> str:
    shown = words if len(words) <= MOST_SHOWN else words[:MOST_SHOWN] + "…"
    said = f": “{escape(shown)}”" if shown.strip() else "."
    return f'<span class="kiwi-note">The quoted words could not be marked{said}</span>'
