"""Names in a sentence, told by their capitals, and the words of the texts they are compared with."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from kiwiresearch.claims.wording import wording_of
from kiwiresearch.text.fold import INITIALS
from kiwiresearch.text.words import MARKS, POSSESSIVE, has_no_spaces

TOKEN = re.compile(rf"\d+(?:[.,]\d+)*[^\W_]*|[^\W\d_][^\W_{MARKS}]*(?:[{MARKS}]+[^\W_]*)*(?:['’ʼ][^\W\d_]+)*")
OPENING = " \t\n\u00a0\"'“‘«‹(["
SENTENCE_ENDS = ".?!:;…。！？•\n"
APOSTROPHES = str.maketrans("’ʼ", "''")


class Word(NamedTuple):
    """A word or figure of a text, and how it stands there."""

    text: str
    key: str
    start: int
    end: int
    starts_sentence: bool
    follows: bool
    """Whether only a space or a hyphen is between it and the word before."""


def key_of(word: str) -> str:
    """What two spellings of a name must share: its letters with their accents, in any case, without a possessive."""
    whole = unicodedata.normalize("NFC", POSSESSIVE.sub("", word)).translate(APOSTROPHES)
    return unicodedata.normalize("NFC", whole.casefold())


def without_stops(text: str) -> str:
    """'U.S.' and 'US' are one name; each letter keeps its order, so only lengths change."""
    return INITIALS.sub(lambda found: found[0].replace(".", ""), text) if "." in text else text


def words_of_text(text: str) -> list[Word]:
    """The words of a text that has gone through `without_stops`."""
    found: list[Word] = []
    end = 0
    for match in TOKEN.finditer(text):
        gap = text[end : match.start()]
        before = gap.rstrip(OPENING)
        starts = not found or (before != "" and before[-1] in SENTENCE_ENDS)
        starts = starts or (not before and any(sign in gap for sign in "“«‹\n"))
        found.append(Word(match[0], key_of(match[0]), *match.span(), starts, bool(found) and gap in JOINING))
        end = match.end()
    return found


JOINING = frozenset({" ", "-", "‐", "‑", "\u00a0", ". "})
"""What may stand inside a name: 'Anglo-Saxon', 'St. Petersburg'."""


@dataclass(frozen=True, slots=True)
class Known:
    """The words of the sources: in any case, in small letters, in pairs as they follow each other, and as a whole."""

    keys: frozenset[str]
    small: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, sources: Iterable[str]) -> Known:
        texts = tuple(without_stops(source) for source in sources)
        read = [words_of_text(text) for text in texts]
        return cls(
            frozenset(word.key for words in read for word in words),
            frozenset(word.key for words in read for word in words if not _has_capital(word.text)),
            frozenset((one.key, two.key) for words in read for one, two in pairwise(words)),
            tuple(unicodedata.normalize("NFC", text) for text in texts),
        )

    def has(self, word: Word) -> bool:
        if has_no_spaces(word.text):
            return any(unicodedata.normalize("NFC", word.text) in text for text in self.texts)
        return word.key in self.keys


NOTHING_KNOWN = Known(frozenset(), frozenset(), frozenset(), ())


def names_in(
    text: str, language: str, known: Known = NOTHING_KNOWN, dates: Iterable[tuple[int, int]] = ()
) -> list[tuple[Word, ...]]:
    """Names, each with the capitals and figures that follow each other in it, up to a possessive or a date.

    The text has gone through `without_stops`. A first word is a name unless it is a common word or
    the sources write it small. Scripts without capitals cannot show what is a name, so there every
    word counts.
    """
    common = wording_of(language).common
    names: list[tuple[Word, ...]] = []
    run: list[Word] = []
    dated = {at for start, end in dates for at in range(start, end)}
    for word in words_of_text(text):
        is_date = word.start in dated
        is_figure = word.text[0].isdigit() and not is_date
        is_name = not word.text[0].isdigit() and _may_be_name(word.text)
        if is_name and word.starts_sentence and word.text[1:] == word.text[1:].lower() and _has_case(word.text):
            is_name = word.key not in common and word.key not in known.small
        goes_on = (is_name or is_figure) and word.follows and not word.starts_sentence and not is_date
        if run and (not goes_on or run[-1].start in dated or POSSESSIVE.search(run[-1].text)):
            names.append(tuple(run))
            run = []
        if is_name or (is_figure and run):
            run.append(word)
    return [*names, tuple(run)] if run else names


def _may_be_name(word: str) -> bool:
    return _has_capital(word) or (not word.isascii() and any(unicodedata.category(char) == "Lo" for char in word))


def _has_capital(word: str) -> bool:
    return word != word.lower()


def _has_case(word: str) -> bool:
    return word.lower() != word.upper()


def unknown_words(name: Sequence[Word], known: Known) -> list[Word]:
    """Words of a name that the sources lack; if they have all of them, the second of a pair that they do not have so.

    'Ramesses II' and 'Hattusili III' do not make a 'Ramesses III'.
    """
    missing = [word for word in name if not word.text[0].isdigit() and not known.has(word)]
    if missing:
        return missing
    spaced = [word for word in name if not has_no_spaces(word.text)]
    pairs = pairwise(spaced)
    return [two for one, two in pairs if two.follows and (one.key, two.key) not in known.pairs]
