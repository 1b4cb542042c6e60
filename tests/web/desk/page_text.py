"""What a page of the desk shows, for tests that read it as a reader does."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser, LexborNode


def first(place: LexborHTMLParser | LexborNode, selector: str) -> LexborNode:
    """The first element that fits; a test fails where there is none."""
    found = place.css_first(selector)
    assert found is not None, f"there is no {selector}"
    return found


def texts_of(place: LexborHTMLParser | LexborNode, selector: str) -> list[str]:
    """The words of every element that fits."""
    return [plain(node.text()) for node in place.css(selector)]


def plain(text: str | None) -> str:
    """Words with one space between them."""
    return " ".join((text or "").split())
