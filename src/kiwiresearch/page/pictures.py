"""The pictures of a page with their captions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape, unescape

from kiwiresearch.page.elements import CAPTION_CLASSES, VOID, attributes_of, meaning_of
from kiwiresearch.page.html import regular_markup, split_page, visible
from kiwiresearch.page.side_content import RAW_TEXT, end_of_element
from kiwiresearch.zim import resolve_href

# Atomic group and possessive quantifier: a broken tag cannot make the search slow.
TAG = re.compile(r'<(/?)([a-zA-Z][^\s/>]*)((?>[^>"]+|"[^"]*")*+)>')
HEADING = re.compile(r"h[1-6]")
FRAMES = frozenset({"thumb", "thumbinner", "tsingle", "gallerybox", "infobox-image", "wp-caption"})
"""Classes of elements that contain a picture and its caption, in addition to `figure` and cells of an infobox."""
CAPTIONS = frozenset({*CAPTION_CLASSES, "wp-caption-text"})
CELLS = frozenset({"td", "th"})
MIN_PIXELS = 80
"""Pictures declared narrower or lower are icons, flags or formulas."""
MAX_CAPTION_CHARS = 300
NUMBER = re.compile(r"\d{1,6}")
FILE_NAME = re.compile(r"\S*\.\w{3,4}|.*\.(?:jpe?g|png|gif|svg|webp|tiff?)", re.IGNORECASE)
"""Alternative texts that are just the name of the file say nothing about the picture."""


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A picture of a page: its path in the book, and what the page says about it."""

    path: str
    caption: str
    alt: str
    """The alternative text; empty if there is none."""
    headings: tuple[str, ...]
    """The headings above it, the outermost first; none in the introduction and in an infobox."""
    in_box: bool
    """Whether it is in an infobox."""


def pictures_in(content: bytes, path: str, title: str) -> tuple[PagePicture, ...]:
    """The pictures of the page at `path`, in their order. Never raises, whatever the bytes are.

    Only pictures of the book itself with a caption count. The first picture of an infobox or an
    introduction needs no caption: it shows what the page is about, so `title` is used.
    """
    reader = _PictureReader(path)
    reader.read(split_page(regular_markup(content).body).article)
    return tuple(_captioned(reader.found, _plain([escape(title)])))


def _captioned(found: list[_Image], title: str) -> Iterator[PagePicture]:
    is_first, is_first_in_box = True, True
    for image in sorted(found, key=lambda image: image.order):
        caption = image.caption
        if not caption and image.in_box:
            caption = title if is_first_in_box else image.alt
        elif not caption and is_first and not image.headings:
            caption = title
        if caption:
            is_first, is_first_in_box = False, is_first_in_box and not image.in_box
            yield PagePicture(image.path, caption, image.alt, image.headings, image.in_box)


@dataclass(slots=True)
class _Image:
    order: int
    path: str
    alt: str
    headings: tuple[str, ...]
    in_box: bool
    caption: str = ""


@dataclass(slots=True)
class _Frame:
    """An open element that may hold a picture and its caption."""

    is_cell: bool = False
    images: list[_Image] = field(default_factory=list)
    caption: str = ""
    words: list[str] = field(default_factory=list)
    """The text after the picture of a cell, which is its caption in old infoboxes."""


@dataclass(slots=True)
class _Open:
    """An element that is open at this point of the markup."""

    name: str
    frame: _Frame | None = None
    is_box: bool = False
    collects: bool = False
    """Whether its text is collected, because it is a heading or a caption."""


class _PictureReader:
    """One pass over regular markup, in which every element is closed and every attribute quoted."""

    def __init__(self, path: str) -> None:
        self.found: list[_Image] = []
        self._path = path
        self._open: list[_Open] = []
        self._headings: list[tuple[int, str]] = []
        self._words: list[str] = []
        self._collecting = 0
        self._boxes = 0
        self._count = 0

    def read(self, markup: str) -> None:
        at = 0
        while found := TAG.search(markup, at):
            self._text(markup[at : found.start()])
            at = found.end()
            name = found[2].lower()
            if found[1]:
                self._close(name)
                continue
            tag = f"{name}{found[3].rstrip(' /')}"
            group = meaning_of(tag).group
            if name == "img":
                if group is None:
                    self._image(tag)
            elif group not in (None, "infobox") or name in RAW_TEXT:
                at = end_of_element(markup, name, at, len(markup))
            elif name not in VOID:
                self._begin(name, tag, is_box=group == "infobox")
        while self._open:
            self._end()

    def _begin(self, name: str, tag: str, *, is_box: bool) -> None:
        classes = frozenset(attributes_of(tag).get("class", "").split())
        self._boxes += is_box
        is_cell = bool(self._boxes) and name in CELLS
        frame = _Frame(is_cell) if name == "figure" or is_cell or classes & FRAMES else None
        is_caption = name == "figcaption" or bool(classes & CAPTIONS)
        collects = not self._collecting and (is_caption or bool(HEADING.fullmatch(name) and not self._boxes))
        if collects:
            self._words = []
            self._collecting += 1
        self._open.append(_Open(name, frame, is_box, collects))

    def _close(self, name: str) -> None:
        # An end without a start is ignored; otherwise everything inside the element ends with it.
        if any(item.name == name for item in self._open):
            while self._open[-1].name != name:
                self._end()
            self._end()

    def _end(self) -> None:
        one = self._open.pop()
        self._boxes -= one.is_box
        if one.collects:
            self._collecting -= 1
            self._collected(one.name, _plain(self._words))
        if one.frame is not None:
            self._end_frame(one.frame)

    def _collected(self, name: str, words: str) -> None:
        if HEADING.fullmatch(name):
            level = int(name[1])
            while self._headings and self._headings[-1][0] >= level:
                self._headings.pop()
            self._headings.append((level, words))
        elif (frame := self._frame()) is not None and not frame.caption:
            frame.caption = _shortened(words)

    def _end_frame(self, frame: _Frame) -> None:
        """Give the caption to the first picture; without a caption, pass the pictures on to the frame around it."""
        caption = frame.caption
        if not caption and frame.is_cell and frame.images:
            words = _plain(frame.words)
            caption = words if len(words) <= MAX_CAPTION_CHARS else ""
        if caption and frame.images:
            frame.images[0].caption = caption
            self.found.append(frame.images[0])
        elif (outer := self._frame()) is not None:
            outer.images += frame.images
        else:
            self.found += frame.images

    def _frame(self) -> _Frame | None:
        return next((item.frame for item in reversed(self._open) if item.frame is not None), None)

    def _text(self, text: str) -> None:
        if self._collecting:
            self._words.append(text)
        elif self._boxes and (frame := self._frame()) is not None and frame.is_cell and frame.images:
            frame.words.append(text)

    def _image(self, tag: str) -> None:
        attributes = attributes_of(tag)
        frame = self._frame()
        # Pictures inside a caption are signs; those outside any frame have no caption.
        if self._collecting or (frame is None and not self._boxes) or _is_small(attributes):
            return
        source = unescape(attributes.get("src", "")).strip()
        if not source or source.startswith("data:"):  # a placeholder until a script loads the picture
            source = unescape(attributes.get("data-src", "")).strip()
        target = resolve_href(self._path, source)
        if target is None or target.path == self._path:
            return
        alt = _shortened(_plain([attributes.get("alt", "")]))
        alt = "" if FILE_NAME.fullmatch(alt) else alt
        headings = () if self._boxes else tuple(words for _, words in self._headings)
        self._count += 1
        image = _Image(self._count, target.path, alt, headings, bool(self._boxes))
        (frame.images if frame is not None else self.found).append(image)


def _is_small(attributes: dict[str, str]) -> bool:
    declared = (NUMBER.match(attributes.get(side, "").strip()) for side in ("width", "height"))
    return any(found is not None and int(found[0]) < MIN_PIXELS for found in declared)


def _plain(pieces: list[str]) -> str:
    return " ".join(visible(unescape("".join(pieces))).split())


def _shortened(words: str) -> str:
    if len(words) <= MAX_CAPTION_CHARS:
        return words
    cut = words[:MAX_CAPTION_CHARS]
    return f"{cut.rpartition(' ')[0] or cut} …"
