"""The markup of a page without white space and without what its text leaves out, each piece with its place.

The PageDoc's text and the page's markup differ in white space, in what is cut, in
figures that are raised or lowered, in formulas, and in boxes, which the text has
at its end. So the markup is read once more by the rules that the text was read by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import unescape
from typing import NamedTuple

from kiwiresearch.page.apart import BRACKETED, RAW_TEXT, SPLIT_NOTE, WRITTEN_MARK, plain
from kiwiresearch.page.elements import VOID, Step, effect_of, name_of
from kiwiresearch.page.flow import RUN
from kiwiresearch.page.parts import take_apart
from kiwiresearch.page.pieces import FORMULA_PICTURE, MATHML, SUBSCRIPTS, SUPERSCRIPTS, UNSEEN, with_formulas

COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
FORMULA = "\uffff"
"""Stands for a formula while the markup is read; no text holds it."""

DEEPEST_BOX = 4
"""Boxes nested deeper are read as part of the one around them, as the page's text has them."""

LONGEST_PIECE = 1_024
LONGEST_ENTITY = 40

_FOLDED = {high: low for table in (SUPERSCRIPTS, SUBSCRIPTS) for low, high in table.items() if low != "−"} | {"−": "-"}
_STRANGE = re.compile(f"[{''.join(_FOLDED)}\u200c\u200d]|{UNSEEN.pattern}")


class Extent(NamedTuple):
    """A part of some text or markup: from here to there."""

    start: int
    end: int


class Piece(NamedTuple):
    """Characters at an offset of the laid text, and the markup they came from, which for a formula is no text."""

    at: int
    source: Extent
    whole: bool


class Laid(NamedTuple):
    """The article's text without white space, that of each box behind it, and the pieces both are made of."""

    markup: str
    """What was read, every character at its place."""
    text: str
    pieces: tuple[Piece, ...]


def folded(text: str) -> str:
    """The characters that count when a page's text is compared with its markup."""
    if not text.isascii() or not text.isprintable():
        text = _STRANGE.sub(lambda found: _FOLDED.get(found[0], ""), text)
    return "".join(text.split())


def lay(markup: str) -> Laid:
    """Read the markup of a page's body without white space."""
    formulas: list[_Formula] = []
    article = take_apart(markup).article
    begin = markup.find(article)
    region = Extent(begin, begin + len(article)) if begin >= 0 else Extent(0, len(markup))
    markup = _prepared(markup, formulas)
    layer = _Layer(markup, formulas)
    waiting = [(region, 0)]
    while waiting:
        part, depth = waiting.pop(0)
        boxes = layer.read(part, keep_boxes=depth >= DEEPEST_BOX)
        waiting = [*((box, depth + 1) for box in boxes), *waiting]
    return Laid(markup, "".join(layer.text), tuple(layer.pieces))


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
            formulas.append(_Formula(Extent(*found.span()), folded(unescape(with_formulas(found[0])))))
            return FORMULA.ljust(len(found[0]))

        markup = FORMULA_PICTURE.sub(stand_in, markup)
        markup = MATHML.sub(stand_in, markup)
        formulas.sort()
    return markup


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _blank_note(found: re.Match[str]) -> str:
    return _blank(found) if "<" in found[1] and BRACKETED.fullmatch(plain(found[1])) else found[0]


class _Layer:
    """Reads parts of some markup by the rules that the page's text was read by."""

    def __init__(self, markup: str, formulas: Sequence[_Formula]) -> None:
        self._markup = markup
        self._formulas = {formula.source.start: formula for formula in formulas}
        self._raised = False
        self._length = 0
        self.text: list[str] = []
        self.pieces: list[Piece] = []

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
                if step == Step.RAISED:
                    self._raised = True
                elif step in (Step.LOWERED, Step.END_SHIFTED):
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
        if end - start <= LONGEST_PIECE:
            self._put(folded(text), Extent(start, end), whole=False)
            return
        for part in self._short(start, end):
            self._put(folded(unescape(self._markup[part.start : part.end])), part, whole=False)

    def _short(self, start: int, end: int) -> Iterator[Extent]:
        """A long text in parts, so that counting the characters of one does not take long; no entity is torn."""
        while start < end:
            stop = min(start + LONGEST_PIECE, end)
            entity = self._markup.rfind("&", max(stop - LONGEST_ENTITY, start + 1), stop)
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
            self.pieces.append(Piece(self._length, source, whole))
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
