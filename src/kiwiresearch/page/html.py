"""From bytes to regular markup: the only module that knows the HTML parser.

The parser mends whatever it is given, as a browser does, and writes it again
so that every element is closed and every attribute quoted. That is what
`flow` then reads in one pass.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape

from selectolax.lexbor import LexborHTMLParser

MAX_DEPTH = 512
"""Browsers stop nesting here too; beyond it the parser's cost grows with the square of the depth."""

DEEP_PAGE = 4_000
"""Only pages with more tags than this can nest deep enough to matter."""

LARGE_PAGE = 100_000
ENDLESS_TAG = re.compile(rb"(<[a-zA-Z][^<>\s]{0,64})[^<>]{16384,}")
"""A tag with thousands of attributes, each of which the parser compares with all before it."""

TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9-]*)[^<>]*>?")
FLAT_TAGS = frozenset(
    b"p li dt dd tr td th tbody thead tfoot option br hr img input meta link area base col embed source".split()
)
CHARSET = re.compile(rb"charset\s*=\s*[\"']?([a-zA-Z0-9_:-]+)", re.IGNORECASE)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
REFRESH = re.compile(
    r"""<meta[^>]*http-equiv="refresh"[^>]*content="\s*[\d.]*\s*;\s*url\s*=\s*([^"]*)\"""",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Markup:
    """A page written anew by the parser."""

    body: str
    refresh: str = ""


def regular(content: bytes) -> Markup:
    """Regular markup from any bytes."""
    tree = LexborHTMLParser(_prepared(content))
    body = tree.body or tree.root
    markup = (body.html if body is not None else None) or ""
    if "<!--" in markup:
        markup = COMMENT.sub("", markup)
    refresh = _refresh(tree) if b"http-equiv" in content[:HEAD_BYTES].lower() else ""
    return Markup(markup, refresh)


def _refresh(tree: LexborHTMLParser) -> str:
    """Where a page leads that is only there to lead elsewhere."""
    found = REFRESH.search((tree.head.html if tree.head is not None else None) or "")
    return unescape(found[1]).strip("'\" ") if found else ""


def title_in(content: bytes) -> str:
    """What the page itself says it is called, for entries without a title."""
    title = LexborHTMLParser(_prepared(content)).css_first("title")
    return " ".join(title.text().split()) if title else ""


HEAD_BYTES = 4_096


def _prepared(content: bytes) -> bytes:
    """UTF-8, and not nested deeper than any browser would go."""
    try:
        content.decode()
    except UnicodeDecodeError:
        content = _decoded(content).encode("utf-8", "replace")
    if len(content) > LARGE_PAGE:
        content = ENDLESS_TAG.sub(rb"\1", content)
    if len(content) > 3 * DEEP_PAGE and content.count(b"<") > DEEP_PAGE:
        content = _flattened(content)
    return content


def _decoded(content: bytes) -> str:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", "replace")
    named = CHARSET.search(content, 0, 2048)
    try:
        return content.decode(named[1].decode() if named else "utf-8", "replace")
    except (LookupError, ValueError):
        return content.decode("utf-8", "replace")


def _flattened(content: bytes) -> bytes:
    """Drop tags below the greatest depth; the words in them stay."""
    depth = deepest = 0
    for closing, name in TAG.findall(content):
        if name.lower() not in FLAT_TAGS:
            depth = max(depth - 1, 0) if closing else depth + 1
            deepest = max(deepest, depth)
    if deepest <= MAX_DEPTH:
        return content
    depth = 0

    def keep(found: re.Match[bytes]) -> bytes:
        nonlocal depth
        if found[2].lower() in FLAT_TAGS:
            return found[0] if depth < MAX_DEPTH else b" "
        if found[1]:
            depth = max(depth - 1, 0)
            return found[0] if depth < MAX_DEPTH else b" "
        depth += 1
        return found[0] if depth <= MAX_DEPTH else b" "

    return TAG.sub(keep, content)
