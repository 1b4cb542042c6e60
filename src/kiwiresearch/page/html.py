"""From bytes to regular markup: the only module that knows the HTML parser.

The parser mends whatever it is given, as a browser does, and writes it again
so that every element is closed and every attribute quoted. That is what
`flow` then reads in one pass.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from html import escape, unescape

from selectolax.lexbor import LexborHTMLParser

from kiwiresearch.page.elements import attributes_of

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
META = re.compile(r"<(meta\b[^>]*)>", re.IGNORECASE)
REFRESH = re.compile(r"\s*[\d.]*\s*[;,]\s*url\s*=\s*(.*)", re.IGNORECASE | re.DOTALL)


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


@dataclass(frozen=True, slots=True)
class Document:
    """A whole page written anew by the parser, without the elements that were not wanted."""

    root: str
    """The tag that opens it, with its attributes."""
    head: str
    body: str


def document(content: bytes, *, without: str) -> Document:
    """Regular markup of a whole page, for showing it; elements that the selector finds go with all that is in them."""
    tree = LexborHTMLParser(_prepared(content))
    if without:
        for node in tree.css(without):
            node.decompose()
    attributes = tree.root.attributes if tree.root is not None else {}
    root = "".join(f' {name}="{escape(value or "")}"' for name, value in attributes.items())
    head = (tree.head.html if tree.head is not None else None) or ""
    body = (tree.body.html if tree.body is not None else None) or ""
    return Document(f"<html{root}>", head, body)


def _refresh(tree: LexborHTMLParser) -> str:
    """Where a page leads that is only there to lead elsewhere."""
    for tag in META.findall((tree.head.html if tree.head is not None else None) or ""):
        attributes = attributes_of(tag)
        if attributes.get("http-equiv", "").lower() == "refresh":
            found = REFRESH.match(unescape(attributes.get("content", "")))
            return found[1].strip("'\" ") if found else ""
    return ""


def title_in(content: bytes) -> str:
    """What the page itself says it is called, for entries without a title."""
    title = LexborHTMLParser(_prepared(content)).css_first("title")
    return " ".join(title.text().split()) if title else ""


@dataclass(frozen=True, slots=True)
class BareText:
    """The words of a page in one line, those of boxes and categories last."""

    text: str
    boxes: int
    """Where the words of boxes begin."""
    lead: int = 0
    """Where the first paragraph of some length begins."""


def bare_text(content: bytes) -> BareText:
    """The words of a page as quickly as they can be had: good for finding, not for quoting.

    What stands in boxes comes last, so that the text begins as the article does.
    """
    tree = LexborHTMLParser(_prepared(content))
    for node in tree.css(NO_WORDS):
        node.decompose()
    tree.unwrap_tags(list(INLINE))  # or 'CO<sub>2</sub>' would be two words
    if tree.root is not None:
        tree.root.merge_text_nodes()
    boxed = []
    for node in tree.css(BOXES):
        boxed.append(node.text(separator=" "))
        node.decompose()
    body = tree.body
    text = " ".join((body.text(separator=" ") if body is not None else "").split())
    return BareText(f"{text} {' '.join(' '.join(boxed).split())}".strip(), len(text), _lead(tree, text))


def _lead(tree: LexborHTMLParser, text: str) -> int:
    for paragraph in tree.css("p")[:FIRST_PARAGRAPHS]:
        words = " ".join(paragraph.text(separator=" ").split())
        if len(words) >= LEAD_CHARS:
            return max(0, text.find(words[:LEAD_CHARS]))
    return 0


INLINE = ("a", "b", "i", "em", "strong", "span", "sub", "sup")
FIRST_PARAGRAPHS = 8
LEAD_CHARS = 60


NO_WORDS = (
    "script, style, template, noscript, sup.reference, span.reference, .mw-editsection, .navbox, #toc, #footer, "
    "h1, .hatnote, .dablink, ol.references, .reflist, .zim-footer"
)
BOXES = (
    "#catlinks, table.infobox, div.infobox, aside.infobox, table.toccolours, table.biota, .thumb, .ambox, .metadata, "
    'table[style*="float:right"], table[style*="float: right"], table[align="right"]'
)
"""The few cuts that pay: each selector more costs time on every page."""

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
    if _depth(content) <= MAX_DEPTH:
        return content
    open_tags: Counter[bytes] = Counter()
    depth = 0

    def keep(found: re.Match[bytes]) -> bytes:
        nonlocal depth
        name = found[2].lower()
        if name in FLAT_TAGS:
            return found[0] if depth < MAX_DEPTH else b" "
        if not found[1]:
            open_tags[name] += 1
            depth += 1
            return found[0] if depth <= MAX_DEPTH else b" "
        if not open_tags[name]:
            return b" "  # it closes nothing
        open_tags[name] -= 1
        depth -= 1
        return found[0] if depth < MAX_DEPTH else b" "

    return TAG.sub(keep, content)


def _depth(content: bytes) -> int:
    """How deep elements are nested at most; a tag that closes what was never opened counts for nothing."""
    open_tags: Counter[bytes] = Counter()
    depth = deepest = 0
    for closing, spelled in TAG.findall(content):
        name = spelled.lower()
        if name in FLAT_TAGS:
            continue
        if not closing:
            open_tags[name] += 1
            depth += 1
            deepest = max(deepest, depth)
        elif open_tags[name]:
            open_tags[name] -= 1
            depth -= 1
    return deepest
