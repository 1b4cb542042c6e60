"""Examples as numbers: tokens, marks of sentences, and what is right, cut to a length that fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokenizers import Tokenizer
from tools.train_reader.examples import Example

MOST_TOKENS = 288
CLS, SEP, SENTENCE, HEADING, PRONOUN = "[CLS]", "[SEP]", "[unused0]", "[unused1]", "[unused2]"
UNKNOWN = -100
PERHAPS = 2
"""Of a sentence: it has the answer's words, and may be the one that answers."""


@dataclass(frozen=True, slots=True)
class Row:
    """One example as numbers; UNKNOWN where nothing is known."""

    ids: list[int]
    kinds: list[int]
    marks: list[int]
    """Where the sentences begin."""
    right: list[int]
    """Of each sentence: 1 it answers, 0 it does not, UNKNOWN."""
    start: int
    end: int
    """0, the first token, where nothing in the text answers."""
    answers: int
    verdict: int


class Numbering:
    """Turns examples into rows with one tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        words = tokenizer.get_vocab()
        self._mark = {name: words[name] for name in (CLS, SEP, SENTENCE, HEADING, PRONOUN)}

    def row(self, example: Example) -> Row:
        asked = self._ids(example.question)[:48]
        head = [self._mark[CLS], *asked, self._mark[SEP]]
        kinds = [0] * len(head)
        passage = example.passage
        place = [*self._ids(passage.title)[:24], self._mark[HEADING], *self._ids(passage.heading)[:16]]
        ids = [*head, *place]
        marks: list[int] = []
        right: list[int] = []
        start = end = UNKNOWN if example.answers and example.start < 0 else 0
        folded = example.answer.casefold()
        for number in self._window(example, MOST_TOKENS - len(ids) - 1):
            unit = passage.units[number]
            begin, marked, _ = unit.partition("[P]")
            coded = self._tokenizer.encode(begin if marked else unit, add_special_tokens=False)
            some = list(coded.ids)
            if marked:
                some += [self._mark[PRONOUN], *self._ids(unit[len(begin) + len("[P]") :])]
            if marks and len(ids) + len(some) + 2 > MOST_TOKENS:
                break
            some = some[: MOST_TOKENS - len(ids) - 2]
            marks.append(len(ids))
            if number == example.unit and example.start >= 0:
                inside = [at for at, (a, b) in enumerate(coded.offsets) if a < example.end and b > example.start]
                inside = [at for at in inside if at < len(some)]
                if inside:
                    start, end = len(ids) + 1 + inside[0], len(ids) + 1 + inside[-1]
            if not example.answers:
                right.append(0)
            elif example.unit < 0 or example.is_pronoun:
                right.append(UNKNOWN)
            elif number == example.unit:
                right.append(1)
            else:
                right.append(UNKNOWN if folded and folded in unit.casefold() else 0)
            ids += [self._mark[SENTENCE], *some]
        ids.append(self._mark[SEP])
        kinds += [1] * (len(ids) - len(kinds))
        verdict = {"yes": 0, "no": 1, "": UNKNOWN}[example.verdict]
        if example.is_pronoun:
            return Row(ids, kinds, marks, right, start, end, UNKNOWN, UNKNOWN)
        return Row(ids, kinds, marks, right, start, end, int(example.answers), verdict)

    def _window(self, example: Example, room: int) -> range:
        """Which units are read, so that the right one is among them."""
        units = example.passage.units
        if example.is_pronoun or example.unit < 0:
            return range(len(units))
        sizes = [len(unit) // 4 + 2 for unit in units]
        first = 0
        while first < example.unit and sum(sizes[first : example.unit + 1]) > room * 3 // 4:
            first += 1
        return range(first, len(units))

    def _ids(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)


def padded(rows: Sequence[Sequence[int]], fill: int) -> list[list[int]]:
    width = max(map(len, rows))
    return [[*row, *[fill] * (width - len(row))] for row in rows]
