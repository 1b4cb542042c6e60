"""How a question and a text are put to the model: one form, for training and for reading.

[CLS] question [SEP] title [unused1] heading [unused0] first sentence [unused0] second sentence … [SEP]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

CLS, SEP, SENTENCE, HEADING = "[CLS]", "[SEP]", "[unused0]", "[unused1]"
MOST_TOKENS = 288
MOST_QUESTION, MOST_TITLE, MOST_HEADING = 48, 24, 16
MOST_CHARS = 4_000
"""Of one sentence, no more is read: a table row may be as long as a book."""


@dataclass(frozen=True, slots=True)
class Text:
    """Sentences or rows that stand together on a page."""

    title: str
    heading: str
    units: tuple[str, ...]


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


class Form:
    """Fills in the form with one list of words."""

    def __init__(self, words: Sequence[str]) -> None:
        model = WordPiece({word: number for number, word in enumerate(words)}, unk_token="[UNK]")  # noqa: S106
        self._tokenizer = Tokenizer(model)
        self._tokenizer.normalizer = BertNormalizer(lowercase=True)
        self._tokenizer.pre_tokenizer = BertPreTokenizer()
        self._mark = {name: words.index(name) for name in (CLS, SEP, SENTENCE, HEADING)}

    def windows(self, question: str, text: Text) -> Iterator[Window]:
        """The text in windows; each begins with the last sentence of the one before."""
        asked = (self._mark[CLS], *self._ids(question, MOST_QUESTION), self._mark[SEP])
        place = (*self._ids(text.title, MOST_TITLE), self._mark[HEADING], *self._ids(text.heading, MOST_HEADING))
        coded = self._tokenizer.encode_batch([unit[:MOST_CHARS] for unit in text.units], add_special_tokens=False)
        room = MOST_TOKENS - len(asked) - len(place) - 1
        first = 0
        while first < len(coded):
            ids = [*asked, *place]
            units: list[Placed] = []
            number = first
            while number < len(coded):
                taken = min(len(coded[number].ids), room - 1)
                if units and len(ids) + 1 + taken >= MOST_TOKENS:
                    break
                offsets = tuple((start, end) for start, end in coded[number].offsets[:taken])
                units.append(Placed(number, len(ids), offsets))
                ids += [self._mark[SENTENCE], *coded[number].ids[:taken]]
                number += 1
            ids.append(self._mark[SEP])
            yield Window(tuple(ids), (0,) * len(asked) + (1,) * (len(ids) - len(asked)), tuple(units))
            if number >= len(coded):
                return
            first = max(number - 1, first + 1)

    def alone(self, text: str, most: int = 126) -> tuple[int, ...]:
        return (self._mark[CLS], *self._ids(text[:MOST_CHARS], most), self._mark[SEP])

    def _ids(self, text: str, most: int) -> list[int]:
        return list(self._tokenizer.encode(text[:MOST_CHARS], add_special_tokens=False).ids[:most])
