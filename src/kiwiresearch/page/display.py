"""A book's page made safe for a browser: no code, working links, words highlighted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape, unescape
from typing import NamedTuple

from kiwiresearch.page.addresses import (
    ALLOWED_ELEMENTS,
    FILE_ATTRIBUTES,
    LINK_ATTRIBUTES,
    PLAIN,
    REMOVED_ATTRIBUTES,
    REMOVED_ELEMENTS,
    REMOVED_KEEPING_SCRIPTS,
    SRCSET_ATTRIBUTES,
    PageAddresses,
    cleaned_style,
)
from kiwiresearch.page.alignment import Extent, MarkupPlaces
from kiwiresearch.page.doc import PageDoc, Section
from kiwiresearch.page.elements import attributes_of, name_of
from kiwiresearch.page.html import regular_document

ID = re.compile(r' id="([^"]*)"')
LINK_NAME = re.compile(r'<a [^>]*?\bname="([^"]*)"')

MARK_ID = "mark"
CLAIM_ID = "kiwi-claim"
CLAIMED_CLASS = "kiwi-claimed"


class Insertion(NamedTuple):
    """Tags to insert at a place of the markup; `order` sorts those at the same place."""

    place: int
    order: int
    tags: str


def mark_tags(found: Sequence[tuple[Extent, ...]]) -> Iterator[Insertion]:
    """The tags around marked words; overlapping spans become one."""
    last = -1
    firsts = [extents[0].start for extents in found if extents]
    # Reversed, so that of two marks that start at one place the first keeps its id.
    names = {start: number for number, start in reversed(list(enumerate(firsts, start=1)))}
    for start, end in sorted({extent for extents in found for extent in extents}):
        begin = max(start, last)
        if begin >= end:
            continue
        number = names.pop(start, 0)
        yield Insertion(begin, 2, f'<mark{_id_attribute(number)} class="kiwi-mark">')
        yield Insertion(end, 0, "</mark>")
        last = end
    for start, number in names.items():  # these are inside others
        yield Insertion(start, 1, f"<span{_id_attribute(number)}></span>")


def _id_attribute(number: int) -> str:
    """The id attribute of a mark, to which links lead; none for 0."""
    return f' id="{MARK_ID if number == 1 else f"{MARK_ID}-{number}"}"' if number else ""


def claim_tags(claimed: Sequence[tuple[Extent, ...]], found: Sequence[tuple[Extent, ...]]) -> Iterator[Insertion]:
    """Anchors where claims begin, and tags around their words, except where these are marked anyway."""
    for number, extents in enumerate(claimed, start=1):
        if extents:
            yield Insertion(extents[0].start, 1, f'<span id="{CLAIM_ID}-{number}" class="{CLAIM_ID}"></span>')
    taken = sorted({extent for extents in found for extent in extents})
    last = -1
    for extent in sorted({extent for extents in claimed for extent in extents}):
        for start, end in _without(Extent(max(extent.start, last), extent.end), taken):
            yield Insertion(start, 2, f'<mark class="{CLAIMED_CLASS}">')
            yield Insertion(end, 0, "</mark>")
        last = max(last, extent.end)


def _without(extent: Extent, taken: Sequence[Extent]) -> Iterator[Extent]:
    """The parts of an extent outside all of those taken, which are sorted."""
    start, end = extent
    for other in taken:
        if other.end > start and other.start < end:
            if start < other.start:
                yield Extent(start, other.start)
            start = other.end
    if start < end:
        yield Extent(start, end)


def lost_anchors(page: PageDoc, body: str) -> dict[str, Section]:
    """Sections whose anchor is missing from the markup, by their anchor, else by the one MediaWiki would give."""
    known = set(map(unescape, ID.findall(body)))
    if ' name="' in body:
        known.update(map(unescape, LINK_NAME.findall(body)))
    lost: dict[str, Section] = {}
    for section in page.sections[1:]:
        anchor = section.anchor or "_".join(section.heading.split())
        if anchor and anchor not in known and anchor != MARK_ID:
            lost.setdefault(anchor, section)
    return lost


def anchors(lost: Mapping[str, Section], places: MarkupPlaces, prefix: str = "") -> Iterator[Insertion]:
    """Empty elements with the anchors that are missing, where their sections begin."""
    for anchor, section in lost.items():
        extents = places.find(section.heading_start, section.heading_start + len(section.heading))
        if extents:
            yield Insertion(extents[0].start, 1, f'<span id="{prefix}{escape(anchor)}"></span>')


TOKEN = re.compile(
    r"(<!--.*?-->|<style(?=[\s>])[^>]*>.*?</style>|<script(?=[\s>])[^>]*>.*?</script>|<[^>]*>)",
    re.DOTALL | re.IGNORECASE,
)
PLAIN_LINK = re.compile(rf'<a href="{PLAIN.pattern}"(?: (?:title|class)="[^"<>]*")*>')
"""Most links of most pages, which need no change."""

# '<img src="a">' and '<a href="b">'; not '<p class="x">', whose clean form is shared by all pages.
PAGE_DEPENDENT = re.compile(
    r"href|src|url|background|poster|lowsrc|mark|\\|^<(?:!|style|script|link|meta)", re.IGNORECASE
)
"""Parts of a tag that make its output depend on the page."""

BASE = re.compile(r'<base\b[^>]*?\shref="([^"]*)"', re.IGNORECASE)
CUSTOM_ELEMENT = re.compile(r"/?[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
"""Custom elements of a site: harmless without scripts, and style sheets refer to them."""

SAFE_NAME = re.compile(r"[a-zA-Z_:][-\w:.]*")
SRCSET_DESCRIPTOR = re.compile(r"[\d.]{1,12}[wx]")
UNSPACED_CANDIDATE = re.compile(r"(\s[\d.]{1,12}[wx]),")
RESERVED_PREFIX = "kiwi-"
"""The prefix of our own ids and classes, which no page may use."""

OUTSIDE_CLASS = "kiwi-outside"


@dataclass(frozen=True, slots=True)
class DisplayOptions:
    """How a page is displayed."""

    root: str
    """Where its book is served, such as '/read/UUID/'."""
    marks: Sequence[Extent] = ()
    """Spans of the page's text to mark."""
    claims: Sequence[Extent] = ()
    """Spans of the page's claims: marked less strongly, each with an anchor `kiwi-claim-N`, from 1."""
    is_framed: bool = False
    """Open links out of the book in a new window, since our frame displays no other site."""
    scripts: bool = False
    first_style: str = ""
    """Our own style element, before those of the page."""
    style: str = ""
    """Our own style sheet, after the page's."""


@dataclass(frozen=True, slots=True)
class DisplayedPage:
    """A page ready for a browser, in two parts, and what could not be marked.

    A viewport can be added to the first part. The toolbar follows the second, because what comes last is drawn on top.
    """

    before: str
    after: str
    unmarked: tuple[Extent, ...]


def display_page(content: bytes, page: PageDoc, view: DisplayOptions) -> DisplayedPage:
    """Make a page safe for a browser. Never raises, whatever the bytes are."""
    source = regular_document(content, without=REMOVED_KEEPING_SCRIPTS if view.scripts else REMOVED_ELEMENTS)
    based = BASE.search(source.head)
    addresses = PageAddresses(view.root, page.ref.path, base=unescape(based[1]) if based else "")
    writer = _MarkupWriter(addresses, scripts=view.scripts, has_marks=bool(view.marks), is_framed=view.is_framed)
    lost = lost_anchors(page, source.body)
    found: list[tuple[Extent, ...]] = []
    insertions: list[Insertion] = []
    if view.marks or view.claims or lost:
        places = MarkupPlaces(page, source.body)
        found = [places.find(*span) for span in view.marks]
        claimed = [places.find(*span) for span in view.claims]
        insertions = sorted([*mark_tags(found), *claim_tags(claimed, found), *anchors(lost, places)])
    body = writer.write(source.body, insertions)
    opening, _, rest = body.partition(">")
    head = writer.write(source.head).removeprefix("<head>").removesuffix("</head>")
    style = f"<style>{view.style}</style>" if view.style else ""
    # A page without one keeps the quirks mode of browsers that it was made for.
    doctype = "<!DOCTYPE html>" if b"<!doctype" in content[:DOCTYPE_WITHIN].lower() else ""
    root = IMPORTANT.sub("", writer.write(source.root))
    opening = IMPORTANT.sub("", opening)
    before = f'{doctype}{root}<head><meta charset="utf-8">{view.first_style}{head}{style}</head>{opening}>'
    unmarked = tuple(span for span, extents in zip(view.marks, found, strict=True) if not extents)
    return DisplayedPage(before, rest.removesuffix("</body>"), unmarked)


DOCTYPE_WITHIN = 1_024
IMPORTANT = re.compile(r"!\s*important", re.IGNORECASE)
"""In a style attribute, it would be stronger than our own style sheet."""


class _MarkupWriter:
    """Writes cleaned markup, tag by tag."""

    def __init__(self, addresses: PageAddresses, *, scripts: bool, has_marks: bool, is_framed: bool = False) -> None:
        self._addresses = addresses
        self._is_framed = is_framed
        self._scripts = scripts
        self._has_marks = has_marks
        self._known: dict[str, str] = {}

    def write(self, markup: str, insertions: Sequence[Insertion] = ()) -> str:
        """The cleaned markup, with the insertions in their places."""
        pieces: list[str] = []
        at = 0
        for index, (place, _, tags) in enumerate(insertions):
            token = f"<\0{index}>"  # the parser never writes this
            self._known[token] = tags
            pieces += (markup[at:place], token)
            at = place
        parts = TOKEN.split("".join((*pieces, markup[at:])))
        known = self._known
        for number in range(1, len(parts), 2):
            token = parts[number]
            written = known.get(token)
            if written is None:
                known[token] = written = self._clean_tag(token)
            parts[number] = written
        # Whatever the pattern of tags did not recognize must not reach a browser as a tag.
        if "<" in "".join(parts[::2]):
            parts[::2] = [text.replace("<", "&lt;") for text in parts[::2]]
        return "".join(parts)

    def _clean_tag(self, token: str) -> str:
        if PLAIN_LINK.fullmatch(token) and not self._addresses.is_moved:
            return token
        # Long tags are not cached either, or one page could fill the memory with them.
        if self._scripts or len(token) > MAX_CACHED_TAG_CHARS or PAGE_DEPENDENT.search(token):
            return self._cleaned_token(token)
        return _clean_page_independent_tag(token)

    def _cleaned_token(self, token: str) -> str:
        if token.startswith(("<!", "<?")):
            return ""
        tag, _, rest = token[1:].partition(">")
        name = name_of(tag).lower()
        if name == "style" and rest:
            css = cleaned_style(rest[: rest.rfind("</")], self._addresses)
            return f"<style{self._attributes('style', attributes_of(tag))}>{css}</style>"
        if name == "script":
            return self._script(tag, rest)
        if name in ("link", "meta"):
            return self._in_head(name, attributes_of(tag))
        if not _is_allowed(name.removeprefix("/")):
            return ""
        if name.startswith("/"):
            return f"<{name_of(tag)}>"
        return f"<{name_of(tag)}{self._attributes(name, attributes_of(tag)) if ' ' in tag else _added(name)}>"

    def _script(self, tag: str, rest: str) -> str:
        if not self._scripts or not rest:
            return ""
        return f"<script{self._attributes('script', attributes_of(tag))}>{rest[: rest.rfind('</')]}</script>"

    def _in_head(self, name: str, attributes: dict[str, str]) -> str:
        if name == "meta":
            # Any other <meta> could redirect, or declare another charset or policy.
            is_viewport = attributes.get("name", "").lower() == "viewport"
            return (
                f'<meta name="viewport" content="{_escape_attribute(attributes.get("content", ""))}">'
                if is_viewport
                else ""
            )
        rel = attributes.get("rel", "").lower().split()
        url = self._addresses.file(unescape(attributes.get("href", "")))
        if "stylesheet" not in rel or "alternate" in rel or not url or url.startswith("data:"):
            return ""
        media = f' media="{_escape_attribute(attributes["media"])}"' if "media" in attributes else ""
        return f'<link rel="stylesheet" href="{escape(url)}"{media}>'

    def _attributes(self, element: str, attributes: dict[str, str]) -> str:
        added = _added(element)
        out = [added] if added else []
        for name, value in attributes.items():
            kept = self._value(element, name, value)
            if kept is None or name == added.strip():
                continue
            out.append(f' {name}="{kept}"' if value or kept else f" {name}")
        if element in ("a", "area") and _is_outside(attributes):
            out = [part for part in out if not part.startswith((" rel=", " class="))]
            theirs = self._value(element, "class", attributes.get("class", "")) or ""
            classes = f"{theirs} {OUTSIDE_CLASS}".strip()
            window = ' target="_blank"' if self._is_framed else ""
            out.append(f' class="{classes}" rel="noopener noreferrer nofollow"{window}')
        return "".join(out)

    def _value(self, element: str, name: str, value: str) -> str | None:
        """The allowed value of an attribute; None if the attribute is not allowed."""
        # The order matters: what is forbidden first, then addresses, then everything else, escaped.
        if name in REMOVED_ATTRIBUTES or not SAFE_NAME.fullmatch(name):
            return None
        if name.startswith("on"):
            return _escape_attribute(value) if self._scripts else None
        if name in LINK_ATTRIBUTES:
            return self._link(element, unescape(value))
        if name in FILE_ATTRIBUTES:
            return escape(url) if (url := self._addresses.file(unescape(value))) else None
        if name in SRCSET_ATTRIBUTES:
            return escape(kept) if (kept := self._cleaned_srcset(unescape(value))) else None
        if name == "class" and RESERVED_PREFIX in value.lower():
            return _escape_attribute(
                " ".join(word for word in value.split() if not word.lower().startswith(RESERVED_PREFIX))
            )
        if name == "style" or "url" in value.lower() or "\\" in value:
            return escape(cleaned_style(unescape(value), self._addresses))
        if name in ("id", "name") and (
            value.lower().startswith(RESERVED_PREFIX) or (self._has_marks and value == MARK_ID)
        ):
            return None
        return _escape_attribute(value)

    def _link(self, element: str, href: str) -> str | None:
        if element in ("a", "area"):
            return escape(url) if (url := self._addresses.link(href).url) else None
        if href.startswith("#"):
            return escape(href)
        url = self._addresses.file(href) if element in ("image", "feimage") else ""
        return escape(url) if url else None

    def _cleaned_srcset(self, value: str) -> str:
        """A srcset without the pictures outside the book."""
        kept = []
        for candidate in re.split(r",\s", UNSPACED_CANDIDATE.sub(r"\1, ", value)):
            url, *sizes = candidate.split() or [""]
            inside = self._addresses.file(url.strip(","))
            if inside and not inside.startswith("data:"):
                size = f" {sizes[0]}" if sizes and SRCSET_DESCRIPTOR.fullmatch(sizes[0]) else ""
                # A comma inside an address would start another candidate.
                kept.append(inside.replace(",", "%2C") + size)
        return ", ".join(kept)


NO_ADDRESSES = PageAddresses("", "")
MAX_CACHED_TAG_CHARS = 500


@lru_cache(maxsize=10_000)
def _clean_page_independent_tag(token: str) -> str:
    """A tag whose output is the same on every page."""
    return _MarkupWriter(NO_ADDRESSES, scripts=False, has_marks=False)._cleaned_token(token)


def _is_outside(attributes: dict[str, str]) -> bool:
    href = attributes.get("href") or attributes.get("xlink:href") or ""
    return ("//" in href or ":" in href) and NO_ADDRESSES.link(unescape(href)).kind == "outside"


def _is_allowed(name: str) -> bool:
    return name in ALLOWED_ELEMENTS or bool(CUSTOM_ELEMENT.fullmatch(name))


def _added(name: str) -> str:
    """An attribute to add: <details> are opened, since some scrapers left that to scripts."""
    return " open" if name == "details" else ""


def _escape_attribute(value: str) -> str:
    return value.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
