"""The names and numbers of a text, each in one spelling."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal, NamedTuple

from kiwiresearch.claims.language import FactLanguage, fact_language
from kiwiresearch.text import INITIALS, MARKS, POSSESSIVE, is_in_unspaced_script

# "O'Brien's", '1,200km' and '5th' are one token each; 'Anglo-Saxon' is two, which `JOINING` puts together.
TOKEN = re.compile(rf"\d+(?:[.,]\d+)*[^\W_]*|[^\W\d_][^\W_{MARKS}]*(?:[{MARKS}]+[^\W_]*)*(?:['’ʼ][^\W\d_]+)*")
OPENING = " \t\n\u00a0\"'“‘«‹(["
SENTENCE_ENDS = ".?!:;…。！？•\n"
APOSTROPHES = str.maketrans("’ʼ", "''")


class NameWord(NamedTuple):
    """A word or figure of a text, and its position in the sentence."""

    text: str
    key: str
    start: int
    end: int
    starts_sentence: bool
    follows: bool
    """Whether only a space or a hyphen is between it and the word before."""


def name_key(word: str) -> str:
    """Equal for two spellings of a name: its letters with accents, without case or possessive."""
    whole = unicodedata.normalize("NFC", POSSESSIVE.sub("", word)).translate(APOSTROPHES)
    return unicodedata.normalize("NFC", whole.casefold())


def without_dots_in_initials(text: str) -> str:
    """A text with 'U.S.' written as 'US'."""
    return INITIALS.sub(lambda found: found[0].replace(".", ""), text) if "." in text else text


def name_words(text: str) -> list[NameWord]:
    """The words of a text, on which `without_dots_in_initials` was called."""
    found: list[NameWord] = []
    end = 0
    for match in TOKEN.finditer(text):
        gap = text[end : match.start()]
        before = gap.rstrip(OPENING)
        starts = not found or (before != "" and before[-1] in SENTENCE_ENDS)
        # After an opening quotation mark the capital may only be that of a sentence.
        starts = starts or (not before and any(sign in gap for sign in "“«‹\n"))
        found.append(NameWord(match[0], name_key(match[0]), *match.span(), starts, bool(found) and gap in JOINING))
        end = match.end()
    return found


JOINING = frozenset({" ", "-", "‐", "‑", "\u00a0", ". "})
"""Separators allowed within a name: 'Anglo-Saxon', 'St. Petersburg'."""


@dataclass(frozen=True, slots=True)
class KnownWords:
    """The words of the sources: all, those in lower case, in consecutive pairs, and the texts themselves."""

    keys: frozenset[str]
    lowercase: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, sources: Iterable[str]) -> KnownWords:
        texts = tuple(without_dots_in_initials(source) for source in sources)
        read = [name_words(text) for text in texts]
        return cls(
            frozenset(word.key for words in read for word in words),
            frozenset(word.key for words in read for word in words if not _has_capital(word.text)),
            frozenset((name_word.key, two.key) for words in read for name_word, two in pairwise(words)),
            tuple(unicodedata.normalize("NFC", text) for text in texts),
        )

    def has(self, word: NameWord) -> bool:
        if is_in_unspaced_script(word.text):
            return any(unicodedata.normalize("NFC", word.text) in text for text in self.texts)
        return word.key in self.keys


NOTHING_KNOWN = KnownWords(frozenset(), frozenset(), frozenset(), ())


def names_in(
    text: str, language: str, known: KnownWords = NOTHING_KNOWN, dates: Iterable[tuple[int, int]] = ()
) -> list[tuple[NameWord, ...]]:
    """Names: consecutive capitalized words and numbers, up to a possessive or a date.

    `without_dots_in_initials` must have been called on the text. The first word of a sentence is a name unless it is a
    common word or in lower case in the sources. In scripts without capitals every word counts, since
    nothing marks a name.
    """
    common = fact_language(language).common
    names: list[tuple[NameWord, ...]] = []
    name: list[NameWord] = []
    dated = {at for start, end in dates for at in range(start, end)}
    for word in name_words(text):
        is_date = word.start in dated
        is_figure = word.text[0].isdigit() and not is_date
        is_name = not word.text[0].isdigit() and _may_be_name(word.text)
        # 'NASA' or 'McCartney' is a name even at the start, because of the capitals inside it.
        if is_name and word.starts_sentence and word.text[1:] == word.text[1:].lower() and _has_case(word.text):
            is_name = word.key not in common and word.key not in known.lowercase
        # Figures continue a name but never start one: 'Apollo 11'.
        continues = (is_name or is_figure) and word.follows and not word.starts_sentence and not is_date
        if name and (not continues or name[-1].start in dated or POSSESSIVE.search(name[-1].text)):
            names.append(tuple(name))
            name = []
        if is_name or (is_figure and name):
            name.append(word)
    return [*names, tuple(name)] if name else names


def _may_be_name(word: str) -> bool:
    # "Lo" is a letter without case, as in Arabic, Hebrew and Chinese.
    return _has_capital(word) or (not word.isascii() and any(unicodedata.category(char) == "Lo" for char in word))


def _has_capital(word: str) -> bool:
    return word != word.lower()


def _has_case(word: str) -> bool:
    return word.lower() != word.upper()


def unknown_words(name: Sequence[NameWord], known: KnownWords) -> list[NameWord]:
    """Words of a name that the sources lack; or else the second word of each pair that they lack.

    'Ramesses II' and 'Hattusili III' do not make a 'Ramesses III'.
    """
    missing = [word for word in name if not word.text[0].isdigit() and not known.has(word)]
    if missing:
        return missing
    spaced = [word for word in name if not is_in_unspaced_script(word.text)]
    pairs = pairwise(spaced)
    return [two for name_word, two in pairs if two.follows and (name_word.key, two.key) not in known.pairs]


NumberKind = Literal["count", "ordinal", "decade", "vague", "raised"]
GROUP = "[, \u00a0\u202f\u2009]"
# '-5', '1,200', '1 200 000', '3½', '.5', '1980s', '5th', 'x²'. The minus needs a space or a bracket before it, so
# that '1–5' and '1-5' are two positive numbers.
FIGURE = re.compile(
    r"(?P<minus>(?<![^\s(\[“\"'])[-−])?"
    rf"(?:(?P<whole>\d{{1,3}}(?:{GROUP}\d{{3}})+(?!\d)|\d+)(?P<rest>\.\d+)?|(?<!\d)(?P<bare>\.\d+))"
    r"(?P<part>[¼-¾⅐-⅞])?(?P<tail>['’]?[^\W\d_⁰-₟²³¹]+)?"
    r"|(?P<alone>[¼-¾⅐-⅞])|(?P<raised>[⁰¹²³⁴-⁹₀-₉]+)"
)
WORD = re.compile(r"[^\W\d_]+")
MAX_DIGITS = 60
"""A longer number is not parsed, which would be slow; it is only compared digit by digit."""


class ExactNumber(NamedTuple):
    """A number and its span; an ordinal or a decade differs from a count of the same value."""

    start: int
    end: int
    value: Fraction
    kind: NumberKind = "count"

    @property
    def spelling(self) -> str:
        """The number in one spelling."""
        return f"{self.value}{'' if self.kind == 'count' else f' ({self.kind})'}"


def numbers_in(text: str, language: str = "eng") -> list[ExactNumber]:
    """Every number of a text, in order. 'one' and 'a' count only before a hundred or a scale."""
    wording = fact_language(language)
    found = [_figure(text, match, wording) for match in FIGURE.finditer(text)]
    taken = {at for number in found for at in range(number.start, number.end)}
    if wording.small:
        found += _in_words(text, taken, wording)
    return sorted(found)


def _figure(text: str, match: re.Match[str], wording: FactLanguage) -> ExactNumber:
    start, end = match.span()
    if match["raised"]:
        digits = "".join(str(unicodedata.digit(sign)) for sign in match["raised"])
        return ExactNumber(start, end, _value(digits), "raised")
    if match["alone"]:
        return ExactNumber(start, end, _part(match["alone"]))
    whole = re.sub(GROUP, "", match["whole"] or "0")
    value = _value(whole + (match["rest"] or match["bare"] or ""))
    if match["part"]:
        value += _part(match["part"])
    value = -value if match["minus"] else value
    tail = (match["tail"] or "").lower()
    if tail in wording.suffixes:
        return ExactNumber(start, end, value, "ordinal")
    if tail.lstrip("'’") == "s":
        return ExactNumber(start, end, value, "decade")
    if tail in wording.scales:
        return ExactNumber(start, end, value * wording.scales[tail])
    # Any other tail is a unit ('12km'), and not a part of the number.
    end -= len(tail)
    return _scaled(text, ExactNumber(start, end, value), wording) if not tail else ExactNumber(start, end, value)


def _value(figure: str) -> Fraction:
    if len(figure) > MAX_DIGITS:
        # Stands for the digits themselves: different digits differ, and no number that was parsed is as large.
        return Fraction(-int.from_bytes(figure.encode("utf-8", "replace"), "big"))
    whole, _, rest = figure.partition(".")
    return Fraction(int(whole or "0")) + (Fraction(int(rest), 10 ** len(rest)) if rest else 0)


def _part(sign: str) -> Fraction:
    return Fraction(unicodedata.numeric(sign)).limit_denominator(10)


def _scaled(text: str, number: ExactNumber, wording: FactLanguage) -> ExactNumber:
    """'12 million' and '12-million', '2 hundred thousand'."""
    scales = {**wording.scales, wording.hundred: 100}
    while True:
        word = WORD.match(text, number.end + 1)
        if word is None or text[number.end] not in " -\u00a0\u202f" or word[0].lower() not in scales:
            return number
        number = number._replace(end=word.end(), value=number.value * scales[word[0].lower()])


def _in_words(text: str, taken: set[int], wording: FactLanguage) -> list[ExactNumber]:
    words = [match for match in WORD.finditer(text) if match.start() not in taken]
    found: list[ExactNumber] = []
    at = 0
    while at < len(words):
        phrase = _number_phrase(text, words, at, wording)
        number = _phrase_number(text, words, at, phrase, wording) if phrase.length else _single(words[at], wording)
        if number is not None:
            found.append(number)
        at += max(phrase.length, 1)
        while number is not None and at < len(words) and words[at].start() < number.end:
            at += 1
    return found


class NumberPhrase(NamedTuple):
    """Consecutive words that form one number."""

    value: int
    length: int
    is_ordinal: bool


def _number_phrase(text: str, words: list[re.Match[str]], first: int, wording: FactLanguage) -> NumberPhrase:
    """The longest number that starts with this word."""
    total, current, at, length = 0, 0, first, 0
    while at < len(words) and (at == first or _joined(text, words[at - 1], words[at])):
        word = words[at][0].lower()
        # 'and' only continues after a hundred or a scale: 'two hundred and five', not 'twenty and five'.
        if word == wording.joining and length and not current % 100:
            at += 1
            continue
        step = _step(word, current, wording)
        if step is None and at == first and word in wording.one and _is_counted(text, words, at, wording):
            step = 1
        if step is None:
            break
        if word in wording.scales:
            total, current = total + (current or 1) * wording.scales[word], 0
        else:
            current = (current or 1) * 100 if word == wording.hundred else current + step
        at += 1
        # Only set after a number word, so that a trailing 'and' is not included.
        length = at - first
        if word in wording.ordinals or word in wording.ordinal_tens:
            return NumberPhrase(total + current, length, is_ordinal=True)
    return NumberPhrase(total + current, length, is_ordinal=False)


def _phrase_number(
    text: str, words: list[re.Match[str]], first: int, phrase: NumberPhrase, wording: FactLanguage
) -> ExactNumber | None:
    """The number of a phrase, including the fraction in 'two thirds'; None for 'one' alone."""
    last = words[first + phrase.length - 1]
    start, end = words[first].start(), last.end()
    if phrase.is_ordinal:
        return ExactNumber(start, end, Fraction(phrase.value), "ordinal")
    after = words[first + phrase.length] if first + phrase.length < len(words) else None
    if after is not None and _joined(text, last, after) and after[0].lower() in wording.parts:
        return ExactNumber(start, after.end(), phrase.value * wording.parts[after[0].lower()])
    is_pronoun = phrase.length == 1 and words[first][0].lower() in wording.one
    return None if is_pronoun else ExactNumber(start, end, Fraction(phrase.value))


def _single(word: re.Match[str], wording: FactLanguage) -> ExactNumber | None:
    lowered = word[0].lower()
    if lowered in wording.vague:
        return ExactNumber(*word.span(), Fraction(wording.vague[lowered]), "vague")
    if lowered in wording.parts:
        return ExactNumber(*word.span(), wording.parts[lowered])
    return None


def _joined(text: str, one: re.Match[str], other: re.Match[str]) -> bool:
    return text[one.end() : other.start()] in (" ", "-", "\u00a0", "‐", "‑")


def _is_counted(text: str, words: list[re.Match[str]], at: int, wording: FactLanguage) -> bool:
    if at + 1 == len(words) or not _joined(text, words[at], words[at + 1]):
        return False
    following = words[at + 1][0].lower()
    return following == wording.hundred or following in wording.scales or following in wording.parts


def _step(word: str, current: int, wording: FactLanguage) -> int | None:
    """The value that a word adds to the number so far; None if the word cannot follow it."""
    if word == wording.hundred or word in wording.scales:
        return 0
    tens, ones = current % 100, current % 10
    if word in wording.tens or word in wording.ordinal_tens:
        return wording.tens.get(word, wording.ordinal_tens.get(word)) if not tens else None
    value = wording.small.get(word, wording.ordinals.get(word))
    # After 'twenty' only one to nine may follow, after 'five' or 'fifteen' nothing.
    if value is None or ones or (tens and (value > 9 or tens < 20)):
        return None
    return value
