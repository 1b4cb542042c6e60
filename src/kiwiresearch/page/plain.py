"""A plain text as a page, so that what works on pages works on texts."""

from __future__ import annotations

import re
from html import escape

from kiwiresearch.ids import BookId
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.read import read_page
from kiwiresearch.zim.entry import Entry, EntryRef

UNTITLED = "The text"
BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


def page_of_text(text: str, title: str = "", language: str = "eng") -> PageDoc:
    """A plain text as a page; a blank line ends a paragraph."""
    name = " ".join(title.split()) or UNTITLED
    paragraphs = BLANK_LINE.split(text.replace("\r\n", "\n").replace("\r", "\n"))
    html = "\n".join(f"<p>{escape(one)}</p>" for one in paragraphs if one.strip())
    content = f"<html><body>{html}</body></html>".encode("utf-8", "replace")
    return read_page(Entry(EntryRef(BookId(""), name), name, "text/html", content), language=language)
