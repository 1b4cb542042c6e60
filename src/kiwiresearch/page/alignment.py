"""Finds the words of a PageDoc in its markup."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import accumulate
from typing import NamedTuple

from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.elements import TagStep, effect_of
from kiwiresearch.page.flow import RUN
from kiwiresearch.page.html import (
    FORMULA_PICTURE,
    INVISIBLE,
    MATHML,
    SUBSCRIPTS,
    SUPERSCRIPTS,
    split_page,
    with_formulas,
)
from kiwiresearch.page.side_content import (
    BRACKETED,
    MAX_BOX_DEPTH,
    SPLIT_NOTE,
    WRITTEN_MARK,
    end_of_element,
    visible_words,
)

COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
FORMULA = "\uffff"
"""A placeholder for a formula while the markup is read; no text contains it."""

MAX_PIECE_CHARS = 1_024
MAX_ENTITY_CHARS = 40

_FOLDED = {high: low for table in (SUPERSCRIPTS, SUBSCRIPTS) for low, high in table.items() if low != "−"} | {"−": "-"}
_STRANGE = re.compile(f"[{''.join(_FOLDED)}\u200c\u200d]|{INVISIBLE.pattern}")


class Extent(NamedTuple):
    """A part of a text or markup, from `start` up to `end`."""

    start: int
    end: int


class MarkupPiece(NamedTuple):
    """Characters at an offset of the aligned text, and the markup they come from."""

    at: int
    source: Extent
    is_formula: bool
    """Whether it is a formula, which can only be marked as a unit."""


class AlignedMarkup(NamedTuple):
    """The text of the article and then of its boxes without white space, and the pieces it is made of."""

    markup: str
    """The markup that was read, with every character at its original offset."""
    text: str
    pieces: tuple[MarkupPiece, ...]


def comparable_text(text: str) -> str:
    """A text reduced to the characters that count when a page's text is compared with its markup."""
    if not text.isascii() or not text.isprintable():
        text = _STRANGE.sub(lambda found: _FOLDED.get(found[0], ""), text)
    return "".join(text.split())


def align_markup(markup: str) -> AlignedMarkup:
    """Read the markup of a page's body into text without white space, in the order of the page's own text."""
    formulas: list[_Formula] = []
    article = split_page(markup).article
    # If the article was changed while it was split off, the whole body is read instead.
    begin = markup.find(article)
    region = Extent(begin, begin + len(article)) if begin >= 0 else Extent(0, len(markup))
    markup = _prepared(markup, formulas)
    reader = _MarkupReader(markup, formulas)
    waiting = [(region, 0)]
    while waiting:
        part, depth = waiting.pop(0)
        boxes = reader.read(part, keep_boxes=depth >= MAX_BOX_DEPTH)
        waiting = [*((box, depth + 1) for box in boxes), *waiting]
    return AlignedMarkup(markup, "".join(reader.text), tuple(reader.pieces))


class _Formula(NamedTuple):
    source: Extent
    tex: str


def _prepared(markup: str, formulas: list[_Formula]) -> str:
    """The markup with editors' notes, comments and formulas blanked, and all other characters at their offsets."""
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
    """Reads parts of the markup by the same rules as `flow.read_markup` reads the page's text."""

    def __init__(self, markup: str, formulas: Sequence[_Formula]) -> None:
        self._markup = markup
        self._formulas = {formula.source.start: formula for formula in formulas}
        self._raised = False
        self._length = 0
        self.text: list[str] = []
        self.pieces: list[MarkupPiece] = []

    def read(self, region: Extent, *, keep_boxes: bool) -> list[Extent]:
        """Read a part and return its infoboxes, which have not been read; with `keep_boxes` they are read as text."""
        boxes: list[Extent] = []
        position, end = region
        markup = self._markup
        while position < end:
            found = RUN.search(markup, position, end)
            self._take(position, found.start() if found else end)
            if found is None:
                break
            position = found.end()
            # Links change nothing about the text, and are the most frequent run of tags.
            if found[0].startswith("<a "):
                continue
            effect = effect_of(found[0])
            for step in effect.steps:
                if step == TagStep.RAISED:
                    self._raised = True
                elif step in (TagStep.LOWERED, TagStep.END_SHIFTED):
                    self._raised = False
            if effect.cutting is not None:
                # Back to right after the tag that starts the cut, which is in the middle of the run.
                position -= len(effect.cutting.rest)
                if keep_boxes and effect.cutting.group == "infobox":
                    continue
                after = end_of_element(markup, effect.cutting.tag, position, end)
                if effect.cutting.group == "infobox":
                    boxes.append(Extent(position, after))
                position = after
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
            self._put(comparable_text(text), Extent(start, end), is_formula=False)
            return
        for part in self._split(start, end):
            self._put(comparable_text(unescape(self._markup[part.start : part.end])), part, is_formula=False)

    def _split(self, start: int, end: int) -> Iterator[Extent]:
        """Split a long text, so that characters of a part are counted quickly, but never within an entity."""
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
            self._put(formula.tex, formula.source, is_formula=True)
            start = formula.source.end
            at = self._markup.find(FORMULA, start, end)
        self._take(start, end)

    def _put(self, text: str, source: Extent, *, is_formula: bool) -> None:
        if text:
            self.pieces.append(MarkupPiece(self._length, source, is_formula))
            self.text.append(text)
            self._length += len(text)


CHARACTER = re.compile(r"&[a-zA-Z0-9#]+;|.", re.DOTALL)
CONTEXT = 48
"""How many characters before and after a quote distinguish it from the same words elsewhere."""

EDGE = 24
"""If a quote is not found as such, this many of its first and last characters locate it."""

STRIDE = 2_048
"""Characters are counted once per stride, so that counting up to an offset is quick."""


class _Region(NamedTuple):
    """The article or a box: its extent in the page's text, its comparable text, and `base`, its offset when aligned.

    `base` is -1 if the markup differs from the text somewhere in the region.
    """

    extent: Extent
    text: str
    counts: tuple[int, ...]
    base: int

    def count_before(self, offset: int, text: str) -> int:
        """How many comparable characters of the region come before an offset of the page's text."""
        strides = (offset - self.extent.start) // STRIDE
        return self.counts[strides] + len(comparable_text(text[self.extent.start + strides * STRIDE : offset]))


class MarkupPlaces:
    """Finds words of a page in its markup."""

    def __init__(self, page: PageDoc, markup: str) -> None:
        self._page = page
        self._aligned = align_markup(markup)
        self.markup = self._aligned.markup
        """The markup with comments and editors' notes blanked, and all other characters at their offsets."""
        self._starts = [piece.at for piece in self._aligned.pieces]
        self._regions = [Extent(0, page.article_end), *(Extent(box.start, box.end) for box in page.infoboxes)]
        self._known: dict[Extent, _Region] = {}

    def find(self, start: int, end: int) -> tuple[Extent, ...]:
        """The parts of the markup with the words of `page.text[start:end]`, each without tags; none if not found."""
        words = comparable_text(self._page.text[start:end])
        if not words or not 0 <= start < end <= len(self._page.text):
            return ()
        at = self._aligned_extent(start, words)
        return tuple(self._extents(*at)) if at else ()

    def _aligned_extent(self, start: int, words: str) -> Extent | None:
        """Where the words are in the aligned text."""
        region = self._region(start)
        before = region.count_before(start, self._page.text)
        if region.base >= 0:
            return Extent(region.base + before, region.base + before + len(words))
        text = region.text
        # The markup differs somewhere in this region, so offsets cannot be trusted: the words around the quote decide.
        return self._nearest(words, text[max(before - CONTEXT, 0) : before], text[before + len(words) :][:CONTEXT])

    def _region(self, start: int) -> _Region:
        """The box that contains an offset, or else the article."""
        extent = next((r for r in self._regions[1:] if r.start <= start < r.end), self._regions[0])
        if extent not in self._known:
            parts = [
                comparable_text(self._page.text[at : min(at + STRIDE, extent.end)]) for at in range(*extent, STRIDE)
            ]
            text = "".join(parts)
            counts = tuple(accumulate(map(len, parts), initial=0))
            self._known[extent] = _Region(extent, text, counts, self._aligned.text.find(text))
        return self._known[extent]

    def _nearest(self, words: str, before: str, after: str) -> Extent | None:
        """Where the words occur with the most similar context."""
        text = self._aligned.text
        places = [Extent(at, at + len(words)) for at in _all(words, text)] or _by_edges(words, text)
        if not places:
            return None
        return max(places, key=lambda place: _likeness(text, place, before, after))

    def _extents(self, start: int, end: int) -> Iterator[Extent]:
        """The markup of a part of the aligned text; adjacent pieces are joined."""
        open_from = open_to = -1
        for extent, is_formula in self._covered(start, end):
            if extent.start == open_to and not is_formula:
                open_to = extent.end
                continue
            if open_from >= 0:
                yield self._trimmed(open_from, open_to)
            open_from, open_to = (-1, -1) if is_formula else extent
            if is_formula:
                yield extent
        if open_from >= 0:
            yield self._trimmed(open_from, open_to)

    def _covered(self, start: int, end: int) -> Iterator[tuple[Extent, bool]]:
        pieces = self._aligned.pieces
        number = max(bisect_right(self._starts, start) - 1, 0)
        while number < len(pieces) and pieces[number].at < end:
            piece = pieces[number]
            piece_end = pieces[number + 1].at if number + 1 < len(pieces) else len(self._aligned.text)
            first, last = piece.source
            if not piece.is_formula:
                first = self._offset(piece, start - piece.at) if start > piece.at else first
                last = self._offset(piece, end - piece.at) if end < piece_end else last
            yield Extent(first, last), piece.is_formula
            number += 1

    def _offset(self, piece: MarkupPiece, count: int) -> int:
        """Where in the markup the first `count` characters of a piece end."""
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
    """Spans that start and end like the words and are about as long, for words that differ somewhere in between."""
    edge = min(EDGE, len(words) // 3)
    if edge < EDGE // 3:
        return []
    # Up to a quarter longer than the words.
    longest = len(words) * 5 // 4 + EDGE
    found = []
    for start in _all(words[:edge], text):
        end = text.find(words[-edge:], start + edge, start + longest)
        if end >= 0:
            found.append(Extent(start, end + edge))
    return found


def _likeness(text: str, place: Extent, before: str, after: str) -> tuple[int, int]:
    """How many characters on both sides are the same; the second number prefers the first of equals."""
    alike = 0
    for number in range(1, min(len(before), place.start) + 1):
        if text[place.start - number] != before[-number]:
            break
        alike += 1
    for character, expected in zip(text[place.end : place.end + CONTEXT], after, strict=False):
        if character != expected:
            break
        alike += 1
    return alike, -place.start
