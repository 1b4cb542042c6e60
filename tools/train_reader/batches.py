"""Examples as numbers: tokens, sentence marks and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tools.train_reader.examples import UNKNOWN, Example, Pronoun

from kiwiresearch.reader.reader import InputEncoder, Mention, TextToRead, Window

VERDICTS = {"yes": 0, "no": 1, "": UNKNOWN}


@dataclass(frozen=True, slots=True)
class Row:
    """One example as numbers; UNKNOWN where nothing is known."""

    ids: tuple[int, ...]
    asked: int
    """How many of them are the question."""
    units: tuple[int, ...] = ()
    """Which sentences of the passage are read."""
    marks: tuple[int, ...] = ()
    """Where they begin."""
    right: tuple[int, ...] = ()
    """Of each: 1 it answers, 0 it does not, PERHAPS, UNKNOWN."""
    start: int = UNKNOWN
    end: int = UNKNOWN
    """0, the first token, where nothing in the text answers."""
    answers: int = UNKNOWN
    verdict: int = UNKNOWN
    names: tuple[tuple[int, int], ...] = ()
    """Of a pronoun: the first and last token of each name it may mean."""
    meant: tuple[int, ...] = ()
    """Of each name: 1 it is meant, 0 it is not; UNKNOWN."""


class Numbering:
    """Turns examples into rows with one input format."""

    def __init__(self, form: InputEncoder) -> None:
        self._form = form

    def row(self, example: Example) -> Row:
        """The window of the passage that has the answer, or the first one."""
        passage = example.passage
        windows = list(self._form.windows(example.question, TextToRead(passage.title, passage.heading, passage.units)))
        has_unit = (one for one in windows if any(unit.number == example.unit for unit in one.units))
        return self._labelled(example, next(has_unit, windows[0]))

    def same(self, example: Example, units: Sequence[int]) -> Row:
        """The row of the same units in another input format."""
        passage = example.passage
        text = TextToRead(passage.title, passage.heading, passage.units[units[0] : units[-1] + 1])
        (window,) = self._form.windows(example.question, text)
        return self._labelled(example, window, units[0])

    def _labelled(self, example: Example, window: Window, first: int = 0) -> Row:
        start = end = 0 if example.answers is False else UNKNOWN
        if example.start >= 0:
            found = window.tokens_of(Mention(example.unit - first, example.start, example.end))
            start, end = found or (UNKNOWN, UNKNOWN)
        units = tuple(unit.number + first for unit in window.units)
        return Row(
            window.ids,
            window.kinds.count(0),
            units,
            tuple(unit.mark for unit in window.units),
            tuple(example.right(number) for number in units),
            start,
            end,
            UNKNOWN if example.answers is None else int(example.answers),
            VERDICTS[example.verdict],
        )

    def pronoun(self, one: Pronoun) -> Row:
        window = self._form.pronoun(one.text, one.at, one.end)
        places = [window.tokens_of(name) for name in one.names]
        if None in places:
            raise ValueError("A name is outside of what is read; `readable` leaves such names out.")
        meant = one.meant or (UNKNOWN,) * len(places)
        names = tuple(place for place in places if place is not None)
        return Row(window.ids, window.kinds.count(0), names=names, meant=meant)

    def readable(self, one: Pronoun) -> Pronoun:
        """The pronoun with the names that fit into the window."""
        window = self._form.pronoun(one.text, one.at, one.end)
        kept = [at for at, name in enumerate(one.names) if window.tokens_of(name) is not None]
        meant = tuple(one.meant[at] for at in kept) if one.meant else ()
        return replace(one, names=tuple(one.names[at] for at in kept), meant=meant)
