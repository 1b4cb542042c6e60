"""Where the words of a PageDoc stand in its markup."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import unescape
from itertools import accumulate
from typing import NamedTuple

from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.elements import VOID, TagStep, effect_of, name_of
from kiwiresearch.page.flow import RUN
from kiwiresearch.page.html import FORMULA_PICTURE, MATHML, SUBSCRIPTS, SUPERSCRIPTS, UNSEEN, split_page, with_formulas
from kiwiresearch.page.side_content import BRACKETED, RAW_TEXT, SPLIT_NOTE, WRITTEN_MARK, visible_words

COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
FORMULA = "\uffff"
"""Stands for a formula while the markup is read; no text holds it."""

MAX_BOX_DEPTH = 4
"""Boxes nested deeper are read as part of the one around them, as the page's text has them."""

MAX_PIECE_CHARS = 1_024
MAX_ENTITY_CHARS = 40

_FOLDED = {high: low for table in (SUPERSCRIPTS, SUBSCRIPTS) for low, high in table.items() if low != "−"} | {"−": "-"}
_STRANGE = re.compile(f"[{''.join(_FOLDED)}\u200c\u200d]|{UNSEEN.pattern}")


class Extent(NamedTuple):
    """A part of some text or markup: from here to there."""

    start: int
    end: int


class MarkupPiece(NamedTuple):
    """Characters at an offset of the laid text, and the markup they came from, which for a formula is no text."""

    at: int
    source: Extent
    whole: bool


class AlignedMarkup(NamedTuple):
    """The article's text without white space, that of each box behind it, and the pieces both are made of."""

    markup: str
    """What was read, every character at its place."""
    text: str
    pieces: tuple[MarkupPiece, ...]


def comparable_text(text: str) -> str:
    """The characters that count when a page's text is compared with its markup."""
    if not text.isascii() or not text.isprintable():
        text = _STRANGE.sub(lambda found: _FOLDED.get(found[0], ""), text)
    return "".join(text.split())


def align_markup(markup: str) -> AlignedMarkup:
    """Read the markup of a page's body without white space."""
    formulas: list[_Formula] = []
    article = split_page(markup).article
    begin = markup.find(article)
    region = Extent(begin, begin + len(article)) if begin >= 0 else Extent(0, len(markup))
    markup = _prepared(markup, formulas)
    layer = _MarkupReader(markup, formulas)
    waiting = [(region, 0)]
    while waiting:
        part, depth = waiting.pop(0)
        boxes = layer.read(part, keep_boxes=depth >= MAX_BOX_DEPTH)
        waiting = [*((box, depth + 1) for box in boxes), *waiting]
    return AlignedMarkup(markup, "".join(layer.text), tuple(layer.pieces))


class _Formula(NamedTuple):
    source: Extent
    tex: str


def _prepared(markup: str, formulas: list[_Formula]) -> str:
    """The markup with notes of editors, comments and formulas out of the way, every other character at its place."""
    if FORMULA in markup:
        markup = markup.replace(FORMULA, " ")
    if "<!--" in markup:
        markup = COMMENT.sub(_blank, markup)
    if "citation needed" in markup:
        markup = WRITTEN_MARK.sub(_blank, markup)
    if ">[" in markup:
        markup = SPLIT_NOTE.sub(_blank_note, markup)
    if " alt" in markup:

        def stand_in(found: re.Match[str]) -> str:
            formulas.append(_Formula(Extent(*found.span()), comparable_text(unescape(with_formulas(found[0])))))
            return FORMULA.ljust(len(found[0]))

        markup = FORMULA_PICTURE.sub(stand_in, markup)
        markup = MATHML.sub(stand_in, markup)
        formulas.sort()
    return markup


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _blank_note(found: re.Match[str]) -> str:
    return _blank(found) if "<" in found[1] and BRACKETED.fullmatch(visible_words(found[1])) else found[0]


class _MarkupReader:
    """Reads parts of some markup by the rules that the page's text was read by."""

    def __init__(self, markup: str, formulas: Sequence[_Formula]) -> None:
        self._markup = markup
        self._formulas = {formula.source.start: formula for formula in formulas}
        self._raised = False
        self._length = 0
        self.text: list[str] = []
        self.pieces: list[MarkupPiece] = []

    def read(self, region: Extent, *, keep_boxes: bool) -> list[Extent]:
        """Read a part; returns the boxes in it, which have not been read unless they were to be kept."""
        boxes: list[Extent] = []
        position, end = region
        markup = self._markup
        while position < end:
            found = RUN.search(markup, position, end)
            self._take(position, found.start() if found else end)
            if found is None:
                break
            position = found.end()
            if found[0].startswith("<a "):
                continue
            effect = effect_of(found[0])
            for step in effect.steps:
                if step == TagStep.RAISED:
                    self._raised = True
                elif step in (TagStep.LOWERED, TagStep.END_SHIFTED):
                    self._raised = False
            if effect.cutting is not None:
                position -= len(effect.cutting.rest)
                if keep_boxes and effect.cutting.group == "infobox":
                    continue
                inside = _inside(markup, effect.cutting.tag, position, end)
                if effect.cutting.group == "infobox":
                    boxes.append(inside)
                position = inside.end
        return boxes

    def _take(self, start: int, end: int) -> None:
        text = self._markup[start:end]
        if not text or text.isspace():
            return
        if FORMULA in text:
            self._take_formulas(start, end)
            return
        if "&" in text:
            text = unescape(text)
        if self._raised and BRACKETED.fullmatch(text):
            return
        if end - start <= MAX_PIECE_CHARS:
            self._put(comparable_text(text), Extent(start, end), whole=False)
            return
        for part in self._short(start, end):
            self._put(comparable_text(unescape(self._markup[part.start : part.end])), part, whole=False)

    def _short(self, start: int, end: int) -> Iterator[Extent]:
        """A long text in parts, so that counting the characters of one does not take long; no entity is torn."""
        while start < end:
            stop = min(start + MAX_PIECE_CHARS, end)
            entity = self._markup.rfind("&", max(stop - MAX_ENTITY_CHARS, start + 1), stop)
            if stop < end and entity >= 0 and ";" not in self._markup[entity:stop]:
                stop = entity
            yield Extent(start, stop)
            start = stop

    def _take_formulas(self, start: int, end: int) -> None:
        at = self._markup.find(FORMULA, start, end)
        while at >= 0:
            self._take(start, at)
            formula = self._formulas[at]
            self._put(formula.tex, formula.source, whole=True)
            start = formula.source.end
            at = self._markup.find(FORMULA, start, end)
        self._take(start, end)

    def _put(self, text: str, source: Extent, *, whole: bool) -> None:
        if text:
            self.pieces.append(MarkupPiece(self._length, source, whole))
            self.text.append(text)
            self._length += len(text)


def _inside(markup: str, tag: str, start: int, end: int) -> Extent:
    """What is in an element that was just opened; an extent ends behind it, so nothing of it is read twice."""
    name = name_of(tag)
    if name in VOID or tag.endswith("/"):
        return Extent(start, start)
    if name in RAW_TEXT:
        at = markup.find(f"</{name}>", start, end)
        return Extent(start, at + len(name) + 3 if at >= 0 else end)
    depth = 1
    for found in _tags_named(name).finditer(markup, start, end):
        depth += -1 if found[1] else 1
        if not depth:
            return Extent(start, found.end())
    return Extent(start, end)


@lru_cache(maxsize=256)
def _tags_named(name: str) -> re.Pattern[str]:
    return re.compile(rf"<(/?){re.escape(name)}(?=[\s>/])[^>]*>")


CHARACTER = re.compile(r"&[a-zA-Z0-9#]+;|.", re.DOTALL)
CONTEXT = 48
"""So many characters before and behind tell one place from another with the same words."""

EDGE = 24
"""Where a quote is not found as a whole, its first and last characters tell where it is."""

STRIDE = 2_048
"""So many characters of a page are counted at once."""


class _Region(NamedTuple):
    """A part of a page's text that the markup has in one piece, folded: `base` is its place in the laid text."""

    extent: Extent
    text: str
    counts: tuple[int, ...]
    base: int

    def count_before(self, offset: int, text: str) -> int:
        """How many folded characters of the region stand before an offset of the page's text."""
        strides = (offset - self.extent.start) // STRIDE
        return self.counts[strides] + len(comparable_text(text[self.extent.start + strides * STRIDE : offset]))


class MarkupPlaces:
    """Finds words of a page in its markup."""

    def __init__(self, page: PageDoc, markup: str) -> None:
        self._page = page
        self._laid = align_markup(markup)
        self.markup = self._laid.markup
        """The markup with comments and notes of editors blanked, every other character at its place."""
        self._starts = [piece.at for piece in self._laid.pieces]
        self._regions = [Extent(0, page.sections[-1].end), *(Extent(box.start, box.end) for box in page.infoboxes)]
        self._known: dict[Extent, _Region] = {}

    def find(self, start: int, end: int) -> tuple[Extent, ...]:
        """The parts of the markup that hold `page.text[start:end]`, each without a tag in it; none if not found."""
        words = comparable_text(self._page.text[start:end])
        if not words or not 0 <= start < end <= len(self._page.text):
            return ()
        at = self._aligned(start, words)
        if at is not None:
            return tuple(self._extents(at.start, at.end))
        return ()

    def _aligned(self, start: int, words: str) -> Extent | None:
        """Where the words are in the laid text."""
        region = self._region(start)
        before = region.count_before(start, self._page.text)
        if region.base >= 0:
            return Extent(region.base + before, region.base + before + len(words))
        text = region.text
        return self._nearest(words, text[max(before - CONTEXT, 0) : before], text[before + len(words) :][:CONTEXT])

    def _region(self, start: int) -> _Region:
        """The box, or else the article, that an offset is in."""
        extent = next((r for r in self._regions[1:] if r.start <= start < r.end), self._regions[0])
        if extent not in self._known:
            parts = [
                comparable_text(self._page.text[at : min(at + STRIDE, extent.end)]) for at in range(*extent, STRIDE)
            ]
            text = "".join(parts)
            counts = tuple(accumulate(map(len, parts), initial=0))
            self._known[extent] = _Region(extent, text, counts, self._laid.text.find(text))
        return self._known[extent]

    def _nearest(self, words: str, before: str, behind: str) -> Extent | None:
        """The place of the words whose surroundings are most like theirs."""
        text = self._laid.text
        places = [Extent(at, at + len(words)) for at in _all(words, text)] or _by_edges(words, text)
        if not places:
            return None
        return max(places, key=lambda place: _likeness(text, place, before, behind))

    def _extents(self, start: int, end: int) -> Iterator[Extent]:
        """The markup behind a part of the laid text, in as few parts as there is markup between them."""
        open_from = open_to = -1
        for extent, whole in self._covered(start, end):
            if extent.start == open_to and not whole:
                open_to = extent.end
                continue
            if open_from >= 0:
                yield self._trimmed(open_from, open_to)
            open_from, open_to = (-1, -1) if whole else extent
            if whole:
                yield extent
        if open_from >= 0:
            yield self._trimmed(open_from, open_to)

    def _covered(self, start: int, end: int) -> Iterator[tuple[Extent, bool]]:
        pieces = self._laid.pieces
        number = max(bisect_right(self._starts, start) - 1, 0)
        while number < len(pieces) and pieces[number].at < end:
            piece = pieces[number]
            following = pieces[number + 1].at if number + 1 < len(pieces) else len(self._laid.text)
            first, last = piece.source
            if not piece.whole:
                first = self._offset(piece, start - piece.at) if start > piece.at else first
                last = self._offset(piece, end - piece.at) if end < following else last
            yield Extent(first, last), piece.whole
            number += 1

    def _offset(self, piece: MarkupPiece, count: int) -> int:
        """Where in the markup so many characters of a piece end."""
        for found in CHARACTER.finditer(self.markup, *piece.source):
            if count <= 0:
                return found.start()
            count -= len(comparable_text(unescape(found[0])))
        return piece.source.end

    def _trimmed(self, start: int, end: int) -> Extent:
        text = self.markup[start:end]
        return Extent(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))


def _all(words: str, text: str) -> Iterator[int]:
    at = text.find(words)
    while at >= 0:
        yield at
        at = text.find(words, at + 1)


def _by_edges(words: str, text: str) -> list[Extent]:
    """Places that begin and end as the words do, and are about as long: something in between is spelled differently."""
    edge = min(EDGE, len(words) // 3)
    if edge < EDGE // 3:
        return []
    longest = len(words) * 5 // 4 + EDGE
    found = []
    for start in _all(words[:edge], text):
        end = text.find(words[-edge:], start + edge, start + longest)
        if end >= 0:
            found.append(Extent(start, end + edge))
    return found


def _likeness(text: str, place: Extent, before: str, behind: str) -> tuple[int, int]:
    """How many characters on both sides are the same; of equals, the first."""
    alike = 0
    for number in range(1, min(len(before), place.start) + 1):
        if text[place.start - number] != before[-number]:
            break
        alike += 1
    for character, expected in zip(text[place.end : place.end + CONTEXT], behind, strict=False):
        if character != expected:
            break
        alike += 1
    return alike, -place.start
