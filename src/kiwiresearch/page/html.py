"""Turns bytes into regular markup, using the HTML parser, and finds the article in it.

Whatever knows the parser's nodes is in this file; other modules see markup and text only.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from html import escape, unescape

from selectolax.lexbor import LexborHTMLParser

from kiwiresearch.page.doc import Provenance
from kiwiresearch.page.elements import ROOTS, attributes_of
from kiwiresearch.text.dates import ENGLISH_MONTHS
from kiwiresearch.zim import Entry

TEX = re.compile(r"\{\\(?:displaystyle|textstyle)\s*(.*)\}", re.DOTALL)
INVISIBLE = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]"
)
"""Control characters, soft hyphens, zero-width and direction marks, which are invisible."""

JOINER = re.compile("(?<![\u0590-\u1cff\ua800-\uabff\U0001f000-\U0001faff\u2600-\u27bf\ufe0f])[\u200c\u200d]")
"""Joiners that follow neither an emoji nor a letter of a script that needs them."""

SUPERSCRIPTS = dict(zip("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ", strict=True))
SUBSCRIPTS = dict(zip("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎", strict=True))


def visible(text: str) -> str:
    """The text without invisible characters."""
    if "\u200c" in text or "\u200d" in text:
        text = JOINER.sub("", text)
    return INVISIBLE.sub("", text)


def cleaned(text: str) -> str:
    """The text with all white space, also at its ends, reduced to single spaces, and without invisible characters."""
    words = visible(text).split()
    if not words:
        return " " if text[:1].isspace() else ""
    return f"{' ' * text[0].isspace()}{' '.join(words)}{' ' * text[-1].isspace()}"


def code_text(text: str, *, is_first: bool) -> str:
    """Program text, which keeps its lines and indents."""
    text = visible(text.expandtabs(4))
    if is_first:
        return "" if text.isspace() else text.lstrip("\n")
    return text


def trim_end(out: list[str]) -> int:
    """Remove white space from the end of the output, and return how many characters that was."""
    removed = 0
    while out and out[-1].isspace():
        removed += len(out.pop())
    if out:
        bare = out[-1].rstrip()
        removed += len(out[-1]) - len(bare)
        out[-1] = bare
    return removed


def with_formulas(markup: str) -> str:
    """The markup with each formula, a picture or MathML, replaced by its TeX."""
    if " alt" not in markup:
        return markup
    markup = FORMULA_PICTURE.sub(lambda found: _tex(found[0]), markup)
    return MATHML.sub(lambda found: _tex(found[1]), markup)


FORMULA_PICTURE = re.compile(r'<img\b[^>]*\bclass="[^"]*(?:\bmwe-math-fallback-image|\btex\b)[^"]*"[^>]*>')
MATHML = re.compile(r'(<math\b[^>]*\balttext="[^"]*"[^>]*>)(?:(?!</math>).)*</math>', re.DOTALL)


def _tex(tag: str) -> str:
    attributes = attributes_of(tag.strip("<>"))
    tex = attributes.get("alttext") or attributes.get("alt") or ""
    found = TEX.fullmatch(tex.strip())
    return found[1].strip() if found else tex


MAX_DEPTH = 512
"""Browsers stop nesting here too; beyond it the parser's time grows with the square of the depth."""

MIN_TAGS_TO_FLATTEN = 4_000
"""Only pages with more tags than this can be nested too deeply."""

LARGE_PAGE_BYTES = 100_000
"""Only pages above this size are searched for endless tags."""
ENDLESS_TAG = re.compile(rb"(<[a-zA-Z][^<>\s]{0,64})[^<>]{16384,}")
"""A tag with thousands of attributes; the parser compares each with all others."""

TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9-]*)[^<>]*>?")
FLAT_TAGS = frozenset(
    b"p li dt dd tr td th tbody thead tfoot option br hr img input meta link area base col embed source".split()
)
"""Tags that do not count as nesting."""
CHARSET = re.compile(rb"charset\s*=\s*[\"']?([a-zA-Z0-9_:-]+)", re.IGNORECASE)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
META = re.compile(r"<(meta\b[^>]*)>", re.IGNORECASE)
REFRESH = re.compile(r"\s*[\d.]*\s*[;,]\s*url\s*=\s*(.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Markup:
    """The body of a page as the parser writes it, and the target of a <meta> refresh."""

    body: str
    refresh: str = ""


def regular_markup(content: bytes) -> Markup:
    """Parse any bytes and write them as regular markup."""
    tree = LexborHTMLParser(_prepared(content))
    body = tree.body or tree.root
    markup = (body.html if body is not None else None) or ""
    if "<!--" in markup:
        markup = COMMENT.sub("", markup)
    refresh = _refresh(tree) if b"http-equiv" in content[:HEAD_BYTES].lower() else ""
    return Markup(markup, refresh)


@dataclass(frozen=True, slots=True)
class RegularDocument:
    """A complete page as the parser writes it, without unwanted elements."""

    root: str
    """The opening <html> tag with its attributes."""
    head: str
    body: str


def regular_document(content: bytes, *, without: str) -> RegularDocument:
    """Regular markup of a complete page, for displaying it; elements that match `without` are removed."""
    tree = LexborHTMLParser(_prepared(content))
    if without:
        for node in tree.css(without):
            node.decompose()
    attributes = tree.root.attributes if tree.root is not None else {}
    root = "".join(f' {name}="{escape(value or "")}"' for name, value in attributes.items())
    head = (tree.head.html if tree.head is not None else None) or ""
    body = (tree.body.html if tree.body is not None else None) or ""
    return RegularDocument(f"<html{root}>", head, body)


def stays_inside(markup: str) -> bool:
    """Whether a browser that reads the markup within our elements sees these end where we end them.

    Tags are written in pairs, but HTML has rules by which one element ends another.
    """
    around = "<!doctype html><body><main><section><div><article><div>{}</div><i id=kiwi-after></i></article>"
    after = LexborHTMLParser(around.format(markup)).css_first("#kiwi-after")
    names = []
    while after is not None:
        names.append(after.tag)
        after = after.parent
    return names[:6] == ["i", "article", "div", "section", "main", "body"]


def _refresh(tree: LexborHTMLParser) -> str:
    """The target of a <meta> refresh; empty if the page has none."""
    for tag in META.findall((tree.head.html if tree.head is not None else None) or ""):
        attributes = attributes_of(tag)
        if attributes.get("http-equiv", "").lower() == "refresh":
            found = REFRESH.match(unescape(attributes.get("content", "")))
            return found[1].strip("'\" ") if found else ""
    return ""


def title_in(content: bytes) -> str:
    """The title in the page itself, for entries without one."""
    title = LexborHTMLParser(_prepared(content)).css_first("title")
    return " ".join(title.text().split()) if title else ""


@dataclass(frozen=True, slots=True)
class BareText:
    """The words of a page in one line, with those of boxes and categories last."""

    text: str
    boxes: int
    """Where the words of boxes begin."""
    lead: int = 0
    """Where the first paragraph of some length begins."""


def bare_text(content: bytes) -> BareText:
    """The words of a page, as fast as possible: good enough for searching, not for quoting.

    The words of boxes come last, so that the text begins like the article.
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
"""Only what is worth cutting out: every further selector takes time on each page."""

HEAD_BYTES = 4_096


MAX_PAGE_BYTES = 4 * 2**20
"""How much of a page is read. Longer ones are rare, mostly whole books, and would take the memory of a server."""
CUT_SEARCH_BYTES = 65_536
"""How far before that limit the start of a tag is searched, to cut the page there."""
CUT_NOTICE = "This page is too large to be read whole: this is its beginning."


def bounded(content: bytes) -> bytes:
    """The content of a page, or if that is too large its beginning, which does not end within a tag."""
    if len(content) <= MAX_PAGE_BYTES:
        return content
    end = content.rfind(b"<", MAX_PAGE_BYTES - CUT_SEARCH_BYTES, MAX_PAGE_BYTES)
    return content[: end if end > 0 else MAX_PAGE_BYTES]


def bounded_entry(entry: Entry) -> Entry:
    """The entry with as much of its content as is read of a page; the rest takes no memory."""
    content = bounded(entry.content)
    return entry if content is entry.content else replace(entry, content=content, is_cut=True)


def _prepared(content: bytes) -> bytes:
    """The content as UTF-8, not too large, and not nested deeper than browsers allow."""
    # Cut first, so that the steps below never read all of a huge page.
    content = bounded(content)
    try:
        content.decode()
    except UnicodeDecodeError:
        content = _decoded(content).encode("utf-8", "replace")
    if len(content) > LARGE_PAGE_BYTES:
        content = ENDLESS_TAG.sub(rb"\1", content)
    if len(content) > 3 * MIN_TAGS_TO_FLATTEN and content.count(b"<") > MIN_TAGS_TO_FLATTEN:
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
    """Drop tags beyond the maximum depth; their text stays."""
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
            return b" "  # a closing tag without an opening one
        open_tags[name] -= 1
        depth -= 1
        return found[0] if depth < MAX_DEPTH else b" "

    return TAG.sub(keep, content)


def _depth(content: bytes) -> int:
    """The maximum nesting of elements; closing tags without an opening one do not count."""
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


FOOTER_LINK = re.compile(r'<a\s[^>]*href="([^"]*[?;&]oldid=(\d+)[^"]*)"[^>]*>')
LINK_TITLE = re.compile(r'\stitle="([^"]*)"')
ISO_DATE = re.compile(r"\b(\d{4}-\d{2}-\d{2})\b")
LONG_DATE = re.compile(r"\b([A-Z][a-z]+)\s+(\d{1,2}),\s+(\d{4})\b")
MAX_FOOTER_CHARS = 8_000


@dataclass(frozen=True, slots=True)
class PageParts:
    """A page's markup, split into the article and its surroundings, and its provenance."""

    article: str
    around: str
    provenance: Provenance


def split_page(markup: str) -> PageParts:
    """Find the article in a page's markup."""
    provenance = Provenance()
    if markup.find("oldid=", max(len(markup) - MAX_FOOTER_CHARS, 0)) >= 0:
        markup, provenance = _without_footer(markup)
    root = _root_of(markup)
    if root is None:
        return PageParts(markup, "", provenance)
    start, end = root
    return PageParts(markup[start:end], markup[:start] + markup[end:], provenance)


TAG_NAME = re.compile(r"<(\w+)")


def _root_of(markup: str) -> tuple[int, int] | None:
    """Where the element that contains the article starts and ends, by the most specific id that the page has."""
    for marker in ROOT_MARKERS:
        place = markup.find(marker)
        if place >= 0:
            start = markup.rfind("<", 0, place + 1)
            name = TAG_NAME.match(markup, start)
            if name and markup.find(">", start) >= place:
                return start, _end_of(name[1], markup, start)
    return None


ROOT_MARKERS = (*(f' id="{name}"' for name in ROOTS), "<main")


def _end_of(name: str, markup: str, start: int) -> int:
    """Where the element that starts here ends; the parser has closed every one."""
    opening, closing = f"<{name}", f"</{name}>"
    depth, at = 1, markup.find(closing, start)
    inner = markup.find(opening, start + 1)
    while at >= 0:
        while 0 <= inner < at:
            depth += 1
            inner = markup.find(opening, inner + 1)
        depth -= 1
        if not depth:
            return at + len(closing)
        at = markup.find(closing, at + 1)
    return len(markup)


def _without_footer(markup: str) -> tuple[str, Provenance]:
    """Remove the footer of Kiwix's scraper, which links to the revision of the page."""
    links = list(FOOTER_LINK.finditer(markup, max(len(markup) - MAX_FOOTER_CHARS, 0)))
    found = links[-1] if links else None
    if found is None or "://" not in found[1]:
        return markup, Provenance()
    start = markup.rfind("<div", 0, found.start())
    end = markup.find("</div>", found.end())
    footer = markup[start:end] if 0 <= start < end else ""
    title = LINK_TITLE.search(found[0])
    edited = _date(title[1] if title else "") or _date(footer)
    provenance = Provenance(int(found[2]), edited, unescape(found[1]))
    # With a heading or a paragraph in it, this is not the footer but a part of the article.
    if footer and len(footer) < MAX_FOOTER_CHARS and "<h" not in footer and "<p" not in footer:
        markup = markup[:start] + markup[end + len("</div>") :]
    return markup, provenance


def _date(text: str) -> str:
    if found := ISO_DATE.search(text):
        return found[1]
    if (written := LONG_DATE.search(text)) and written[1] in ENGLISH_MONTHS:
        return f"{written[3]}-{ENGLISH_MONTHS.index(written[1]) + 1:02d}-{int(written[2]):02d}"
    return ""
