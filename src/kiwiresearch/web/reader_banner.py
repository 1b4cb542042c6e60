"""What the reader adds to a page of a book: a line that says which book it is, and a word about marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from kiwiresearch.web.desk.words import Words
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
    "mark.kiwi-claimed{background:#fdf3c4!important;color:#000!important;padding:0!important;"
    "box-shadow:inset 0 -2px #c79a00}a mark.kiwi-claimed{color:#1a4b8c!important}"
    ".kiwi-claim{scroll-margin-top:30vh}.kiwi-claim:target::before{content:'\\25B6\\FE0E';color:#a33000;font-size:.8em}"
    ".kiwi-claim:target+mark{background:#ffe45c!important}"
    "a.kiwi-outside::after{content:'\\2197';font-size:.75em;vertical-align:super;text-decoration:none}"
    "@media print{.kiwi-bar{position:static}}"
)
"""Behind the page's own styles. The line is fixed, since a page may lay its parts out in rows or columns."""

OWN_STYLE = re.compile(rb"<style\b|\brel\s*=\s*[\"']?[\w\s]*stylesheet", re.IGNORECASE)
PLAIN_STYLE = (
    "body{max-width:46em;margin:0 auto;padding:.5em 1em 3em;color:#1c1e21;overflow-wrap:break-word;"
    "font:1em/1.6 system-ui,'Segoe UI',Roboto,'Noto Sans',sans-serif}h1,h2,h3,h4{line-height:1.25}"
    "a{color:#1a4b8c}img{max-width:100%;height:auto}pre{white-space:pre-wrap}"
    "table{border-collapse:collapse;line-height:1.4}th,td{padding:.15em .5em;vertical-align:top}"
    "@media(max-width:40em){div{max-width:100%}table{display:block;max-width:100%;overflow-x:auto}}"
)
"""For pages that have no style of their own, which browsers would set in small type over the whole window."""

WITH_NOTES = (
    f"<style>html{{padding-top:{NOTES_PX}px!important}}"
    f".kiwi-bar{{height:{NOTES_PX}px;overflow:auto;background:#fff4d6}}</style>"
)


@dataclass(frozen=True, slots=True)
class Ways:
    """Where the line on top of a page leads; an empty address is left out."""

    book: str
    """The first page of the book."""
    front: str = ""
    desk: str = ""
    """This very page at the desk, with its contents and claims."""


def style_for(content: bytes) -> str:
    """What a page is given besides its own style."""
    return STYLE if OWN_STYLE.search(content) else PLAIN_STYLE + STYLE


def banner(book: Book, ways: Ways, unmarked: Sequence[str], words: Words) -> str:
    """The line at the top of a page, and in it the words that could not be marked."""
    notes = "".join(_note(missed, words) for missed in unmarked)
    head = f'<div class="kiwi-bar" lang="{words.language}" dir="ltr">'
    return f"{WITH_NOTES if notes else ''}{head}{' · '.join(_links(book, ways, words))}{notes}</div>"


def _links(book: Book, ways: Ways, words: Words) -> Iterator[str]:
    # A frame may not show pages of ours, so what leads to one leaves the frame.
    if ways.front:
        yield f'<a href="{escape(ways.front)}" target="_top">kiwiresearch</a>'
    if ways.desk:
        yield f'<a href="{escape(ways.desk)}" target="_top">{escape(words("reading.banner.desk"))}</a>'
    date = f", {escape(book.date)}" if book.date else ""
    yield f'<bdi><a href="{escape(ways.book)}">{escape(book.title)}</a></bdi>{date}'


def _note(missed: str, words: Words) -> str:
    shown = missed if len(missed) <= MOST_SHOWN else missed[:MOST_SHOWN] + "…"
    said = words("reading.banner.unmarked_words", words=shown) if shown.strip() else words("reading.banner.unmarked")
    return f'<span class="kiwi-note">{escape(said)}</span>'
