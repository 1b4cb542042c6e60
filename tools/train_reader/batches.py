"""Encoding examples as numbers: tokens, sentence marks and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tools.train_reader.examples import UNKNOWN, Example, Pronoun

from kiwiresearch.reader.reader import InputEncoder, Mention, TextToRead, Window

VERDICTS = {"yes": 0, "no": 1, "": UNKNOWN}


@dataclass(frozen=True, slots=True)
class Row:
    """One example as numbers; UNKNOWN if something is not known."""

    ids: tuple[int, ...]
    """The tokens."""
    question_tokens: int
    """How many of them are the question."""
    units: tuple[int, ...] = ()
    """The numbers of the sentences that are read."""
    marks: tuple[int, ...] = ()
    """The positions of their marks."""
    right: tuple[int, ...] = ()
    """Their labels: 1 if a sentence answers, 0 if not, or PERHAPS or UNKNOWN."""
    start: int = UNKNOWN
    end: int = UNKNOWN
    """The first and last token of the answer; 0, the very first token, if nothing in the text answers."""
    answers: int = UNKNOWN
    verdict: int = UNKNOWN
    names: tuple[tuple[int, int], ...] = ()
    """The first and last token of each name that a pronoun may mean."""
    meant: tuple[int, ...] = ()
    """For each name, 1 if it is meant and 0 if not, or UNKNOWN."""


class RowEncoder:
    """Encodes examples as rows with one input format."""

    def __init__(self, encoder: InputEncoder) -> None:
        self._encoder = encoder

    def encode(self, example: Example) -> Row:
        """The row for the window of the passage that has the answer, or for the first window."""
        passage = example.passage
        windows = list(
            self._encoder.windows(example.question, TextToRead(passage.title, passage.heading, passage.units))
        )
        with_answer = (window for window in windows if any(unit.number == example.unit for unit in window.units))
        return self._label(example, next(with_answer, windows[0]))

    def encode_units(self, example: Example, units: Sequence[int]) -> Row:
        """The row for these sentences; with another input format, it has the same ones as the other row."""
        passage = example.passage
        text = TextToRead(passage.title, passage.heading, passage.units[units[0] : units[-1] + 1])
        (window,) = self._encoder.windows(example.question, text)
        return self._label(example, window, units[0])

    def _label(self, example: Example, window: Window, first: int = 0) -> Row:
        start = end = 0 if example.answers is False else UNKNOWN
        if example.start >= 0:
            span = window.tokens_of(Mention(example.unit - first, example.start, example.end))
            start, end = span or (UNKNOWN, UNKNOWN)
        units = tuple(unit.number + first for unit in window.units)
        return Row(
            window.ids,
            window.kinds.count(0),
            units,
            tuple(unit.mark for unit in window.units),
            tuple(example.label(number) for number in units),
            start,
            end,
            UNKNOWN if example.answers is None else int(example.answers),
            VERDICTS[example.verdict],
        )

    def encode_pronoun(self, pronoun: Pronoun) -> Row:
        window = self._encoder.pronoun_window(pronoun.text, pronoun.at, pronoun.end)
        spans = [window.tokens_of(name) for name in pronoun.names]
        if None in spans:
            raise ValueError("A name is outside of the window; `keep_readable` leaves such names out.")
        meant = pronoun.meant or (UNKNOWN,) * len(spans)
        names = tuple(span for span in spans if span is not None)
        return Row(window.ids, window.kinds.count(0), names=names, meant=meant)

    def keep_readable(self, pronoun: Pronoun) -> Pronoun:
        """The pronoun with the names that fit into the window."""
        window = self._encoder.pronoun_window(pronoun.text, pronoun.at, pronoun.end)
        kept = [number for number, name in enumerate(pronoun.names) if window.tokens_of(name) is not None]
        meant = tuple(pronoun.meant[number] for number in kept) if pronoun.meant else ()
        return replace(pronoun, names=tuple(pronoun.names[number] for number in kept), meant=meant)
