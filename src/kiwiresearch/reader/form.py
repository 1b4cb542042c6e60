"""How a question and a text are put to the model: one form, for training and for reading.

[CLS] question [SEP] title [unused1] heading [unused0] first sentence [unused0] second sentence … [SEP]

A pronoun is asked for like anything else: the question is the pronoun, which stands behind [unused2] in the last
sentence, and the answer is a name before it, the title, or nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

CLS, SEP, SENTENCE, HEADING, PRONOUN = "[CLS]", "[SEP]", "[unused0]", "[unused1]", "[unused2]"
MOST_TOKENS = 288
MOST_QUESTION, MOST_TITLE, MOST_HEADING = 48, 24, 16
TITLE = -1
"""The number of the title among the units."""
MOST_CHARS = 4_000
"""Of one sentence, no more is read: a table row may be as long as a book."""


@dataclass(frozen=True, slots=True)
class Text:
    """Sentences or rows that stand together on a page."""

    title: str
    heading: str
    units: tuple[str, ...]


class Mention(NamedTuple):
    """Words in a text: `text.units[unit][start:end]`, or those of the title where `unit` is `TITLE`."""

    unit: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Placed:
    """A unit of a text in a window: its mark, and for each of its tokens the characters it stands for."""

    number: int
    mark: int
    offsets: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Window:
    """As much of a text as the model reads at once."""

    ids: tuple[int, ...]
    kinds: tuple[int, ...]
    units: tuple[Placed, ...]
    title: Placed

    def tokens_of(self, words: Mention) -> tuple[int, int] | None:
        """The first and the last token of some words; None where they were not read."""
        placed = next((one for one in (self.title, *self.units) if one.number == words.unit), None)
        if placed is None:
            return None
        inside = [at for at, (a, b) in enumerate(placed.offsets) if a < words.end and b > words.start]
        return (placed.mark + 1 + inside[0], placed.mark + 1 + inside[-1]) if inside else None


def tokenizer_of(words: Sequence[str]) -> Tokenizer:
    """Lower case, accents removed, the longest known piece first: as BERT does."""
    model = WordPiece({word: number for number, word in enumerate(words)}, unk_token="[UNK]")  # noqa: S106
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return tokenizer


class Form:
    """Fills in the form with one tokenizer, whose names for the marks may be others."""

    def __init__(self, tokenizer: Tokenizer, names: Mapping[str, str] | None = None, most: int = MOST_TOKENS) -> None:
        self._tokenizer = tokenizer
        words = tokenizer.get_vocab()
        self._mark = {mark: words[(names or {}).get(mark, mark)] for mark in (CLS, SEP, SENTENCE, HEADING, PRONOUN)}
        self._most = most

    def windows(self, question: str, text: Text) -> Iterator[Window]:
        """The text in windows; each begins with the last sentence of the one before."""
        asked, place, title = self._head(question, text)
        coded = self._tokenizer.encode_batch([_clean(unit) for unit in text.units], add_special_tokens=False)
        room = self._most - len(asked) - len(place) - 1
        first = 0
        while first < len(coded):
            ids = [*asked, *place]
            units: list[Placed] = []
            number = first
            while number < len(coded):
                taken = min(len(coded[number].ids), room - 1)
                if units and len(ids) + 1 + taken >= self._most:
                    break
                offsets = tuple((start, end) for start, end in coded[number].offsets[:taken])
                units.append(Placed(number, len(ids), offsets))
                ids += [self._mark[SENTENCE], *coded[number].ids[:taken]]
                number += 1
            ids.append(self._mark[SEP])
            yield Window(tuple(ids), (0,) * len(asked) + (1,) * (len(ids) - len(asked)), tuple(units), title)
            if number >= len(coded):
                return
            first = max(number - 1, first + 1)

    def pronoun(self, text: Text, at: int, end: int) -> Window:
        """A text whose last unit has a pronoun at `[at:end]`; units that do not fit are left out from the first on."""
        *before, last = text.units
        word = last[at:end]
        asked, place, title = self._head(word.lower(), text)
        head = self._tokenizer.encode(_clean(last[:at]), add_special_tokens=False)
        tail = [self._mark[PRONOUN], *self._ids(last[at:], self._most)]
        coded = [*self._tokenizer.encode_batch([_clean(unit) for unit in before], add_special_tokens=False), head]
        room = self._most - len(asked) - len(place) - 1
        tail = tail[: max(room // 2 - len(head.ids), 2)]
        first = 0
        while first < len(coded) - 1 and sum(len(one.ids) + 1 for one in coded[first:]) + len(tail) > room:
            first += 1
        ids = [*asked, *place]
        units = []
        for number in range(first, len(coded)):
            taken = coded[number].ids[: room - len(tail) - 1]
            offsets = tuple((a, b) for a, b in coded[number].offsets[: len(taken)])
            units.append(Placed(number, len(ids), offsets))
            ids += [self._mark[SENTENCE], *taken]
        ids += [*tail, self._mark[SEP]]
        return Window(tuple(ids), (0,) * len(asked) + (1,) * (len(ids) - len(asked)), tuple(units), title)

    def _head(self, question: str, text: Text) -> tuple[list[int], list[int], Placed]:
        """The question, where the text stands, and the title's place."""
        asked = [self._mark[CLS], *self._ids(question, MOST_QUESTION), self._mark[SEP]]
        coded = self._tokenizer.encode(_clean(text.title), add_special_tokens=False)
        title = Placed(TITLE, len(asked) - 1, tuple((start, end) for start, end in coded.offsets[:MOST_TITLE]))
        place = [*coded.ids[:MOST_TITLE], self._mark[HEADING], *self._ids(text.heading, MOST_HEADING)]
        return asked, place, title

    def alone(self, text: str, most: int = 126) -> tuple[int, ...]:
        return (self._mark[CLS], *self._ids(text, most), self._mark[SEP])

    def _ids(self, text: str, most: int) -> list[int]:
        return list(self._tokenizer.encode(_clean(text), add_special_tokens=False).ids[:most])


def _clean(text: str) -> str:
    """As much as is read, without halves of characters, which no encoding has; as long as before."""
    return text[:MOST_CHARS].encode("utf-8", "replace").decode()
