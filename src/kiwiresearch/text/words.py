"""Words in running text, and the folded form in which titles and queries are compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

PLAIN_LETTERS = {
    "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe",
    "ħ": "h", "ŧ": "t", "ı": "i", "ĸ": "k", "ŋ": "n", "♯": "#",
}  # fmt: skip
"""Letters that Unicode does not decompose, and that people type without their stroke."""

APOSTROPHES = "'`´’‘‛ʼʻʾʿ＇ـ׳״"
"""Signs inside words that are written inconsistently: they are removed without splitting the word."""

DIACRITICS = (
    (0x0300, 0x036F),
    # Hebrew
    (0x0591, 0x05BD), (0x05BF, 0x05BF), (0x05C1, 0x05C2), (0x05C4, 0x05C5), (0x05C7, 0x05C7),
    # Arabic
    (0x0610, 0x061A), (0x064B, 0x065F), (0x0670, 0x0670), (0x06D6, 0x06DC), (0x06DF, 0x06E8), (0x06EA, 0x06ED),
    # Supplements
    (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF), (0xFE20, 0xFE2F),
)  # fmt: skip
"""Marks that do not change the word; those of Indic scripts, Thai or kana do, and are not removed."""

TITLE_QUALIFIER = re.compile(r"\s*\(([^()]*)\)\s*$")
"""What tells pages of one name apart: ' (planet)' of 'Mercury (planet)'."""

INITIALS = re.compile(r"(?<![\w.])(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}(?![^\W_])")
"""'U.S', 'J.R.R', 'Ph.D': letters with full stops between, which are often left out."""

STRAY = re.compile(r"(?<![\w+#])[+#]+|(?<![+#])(?:\+|#+)(?=[^\W_])")
"""'+' and '#' that do not end a word as they do in 'C++', 'C#' and 'Google+'."""


class _Table(dict[int, str | None]):
    """The replacement of each character, computed when it first occurs."""

    def __missing__(self, code: int) -> str | None:
        char = chr(code)
        category = unicodedata.category(char)
        replacement: str | None = " "
        if char in APOSTROPHES or category == "Cf":
            replacement = None
        elif category[0] in "LNM" or char in "+#":
            replacement = char
        self[code] = replacement
        return replacement


SPACED = _Table()
ASCII_SPACED = bytes(code if chr(code).isalnum() or chr(code) in "+#" else 32 for code in range(128)) + b" " * 128
MARK_TABLE: dict[int, str | None] = {code: None for first, last in DIACRITICS for code in range(first, last + 1)}
MARK_TABLE |= {ord(letter): plain for letter, plain in PLAIN_LETTERS.items()}


def fold(title: str) -> str:
    """The title in the form in which it is looked up: words in plain lower case with single spaces.

    Folding twice changes nothing. A title without letters and digits, such as '!!!', keeps its signs.
    """
    plain = title.lower() if title.isascii() else " ".join(map(_plain_word, title.split()))
    text = plain
    # Initials first: once signs are spaces, 'U.S.' would be two words.
    if "." in text:
        text = INITIALS.sub(lambda found: found[0].replace(".", ""), text)
    if text.isascii():  # three times as fast as a table of characters
        # Apostrophes are deleted, all other signs become spaces.
        text = text.encode("ascii").translate(ASCII_SPACED, b"'`").decode("ascii")
    else:
        text = text.translate(SPACED)
    if "+" in text or "#" in text:
        text = STRAY.sub(" ", text)
    return " ".join(text.split()) or _without_controls(plain)


def without_spaces(folded: str) -> str:
    """A folded title without its spaces, so that 'open ai' and 'openai' are the same."""
    return folded.replace(" ", "")


def _plain_word(word: str) -> str:
    if word.isascii():
        return word.lower()
    # As Unicode compares without case: decomposed before and after `casefold`, and composed at the end.
    lowered = unicodedata.normalize("NFKD", word).casefold()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", lowered).translate(MARK_TABLE))


def _without_controls(text: str) -> str:
    """A title of signs alone, without control characters and lone surrogates."""
    return " ".join("".join(" " if unicodedata.category(c)[0] == "C" else c for c in text).split())


MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0903\u093a-\u094f\u0955-\u0957\u0962\u0963"
    "\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a03\u0a3c-\u0a4d\u0a70\u0a71\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57"
    "\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d\u0d82\u0d83\u0dca-\u0ddf"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u102b-\u103e\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f"
)
"""Marks that belong to the letter before them."""

WORD = re.compile(
    r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}\b\.?|\d+(?:[.,]\d+)+|"
    rf"[^\W_][^\W_{MARKS}]*(?:[{MARKS}]+[^\W_]*)*(?:['’][^\W_]+)*(?:\+{{1,3}}|#)?"
)
"""Initials ('U.S.'), numbers ('1,000'), and words with signs inside or at the end ('O'Brien', 'C++')."""

MARK = re.compile(f"[{MARKS}]")
NON_ASCII = re.compile(r"[^\x00-\x7f]")


def is_searchable(text: str) -> bool:
    """Whether a text has anything to search for: a letter, a digit or a symbol such as '+'."""
    return any(unicodedata.category(char)[0] in "LNS" for char in text)


POSSESSIVE = re.compile(r"['’]s?$")
LEADING_ARTICLE = re.compile(r"^(?:an?|the)\s+(?=\S)", re.IGNORECASE)

UNSPACED_SCRIPTS = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\u0e00-\u0e7f]")
"""Scripts without spaces between words."""

HAN = re.compile("[\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
"""Chinese characters, which Japanese uses too."""

ARABIC = re.compile("[\u0621-\u064a]")


@lru_cache(maxsize=4_096)
def _plain(char: str) -> str:
    base = "'" if char == "’" else unicodedata.normalize("NFKD", char)[:1].lower()
    base = PLAIN_LETTERS.get(base, base)
    return base if len(base) == 1 else char


def same_length_lower(text: str) -> str:
    """The text in lower case with plain apostrophes; every offset stays the same."""
    lowered = text.lower()
    if len(lowered) != len(text):  # 'İ' is the one letter whose lower case has two characters
        lowered = text.replace("İ", "I").lower()
    return lowered.replace("’", "'")


def plain_lower(text: str) -> str:
    """The text in lower case without accents; every offset stays the same."""
    lowered = same_length_lower(text)
    if lowered.isascii():
        return lowered
    for char in sorted(set(NON_ASCII.findall(lowered))):  # faster than a table, since few characters need replacing
        if _plain(char) != char:
            lowered = lowered.replace(char, _plain(char))
    return lowered


def without_qualifier(title: str) -> str:
    """'Mercury' of 'Mercury (planet)'; a title that is all in brackets stays as it is."""
    return TITLE_QUALIFIER.sub("", title) or title


def words_in(text: str) -> list[str]:
    """The words of a text as written, without a possessive 's'."""
    return [POSSESSIVE.sub("", word) for word in WORD.findall(text)]


def is_in_unspaced_script(word: str) -> bool:
    """Whether the word is in a script without spaces."""
    return UNSPACED_SCRIPTS.search(word) is not None


def occurrences(text: str, word: str, stem_of: Callable[[str], str]) -> list[int]:
    """Where forms of a word start in a text in plain lower case."""
    word = plain_lower(word)
    stem = stem_of(word)
    if is_in_unspaced_script(word):
        return _anywhere(text, word)
    if ARABIC.search(word) and RUN.fullmatch(word):
        return _of_stem(text, stem, stem_of)
    if not word.isalnum():  # 'o'brien', 'u.s.', '1,000': the signs are part of the word
        return [at for at in _anywhere(text, word) if _is_complete_word(text, at, at + len(word))]
    # Plain string search for what all forms have in common, and the stemmer only for what was found.
    start = word[: common_prefix_length(word, stem)] or word
    if len(start) > MIN_CERTAIN_LETTERS and start[-1] in "eiy":  # 'galaxi' is the stem of 'galaxy'
        start = start[:-1]
    found = []
    at = text.find(start)
    while at >= 0:
        rest = REST.match(text, at + len(start))
        end = rest.end() if rest else at + len(start)
        if at == 0 or not _in_word(text[at - 1]):
            form = text[at:end]
            if form == word or stem_of(form) == stem:
                found.append(at)
        at = text.find(start, end)
    return found


def _of_stem(text: str, stem: str, stem_of: Callable[[str], str]) -> list[int]:
    """Where words with a stem start, in a script that joins articles and particles to the following word."""
    # A cheap test before the stemmer, which is the slow part.
    core = stem[:-1] if len(stem) >= MIN_CERTAIN_LETTERS else stem  # the last letter has variants
    forms = ((found.start(), found[0]) for found in RUN.finditer(text))
    return [at for at, form in forms if (core in form or MARK.search(form)) and stem_of(form) == stem]


RUN = re.compile(rf"[^\W_]+(?:[{MARKS}]+[^\W_]*)*")
"""A complete word, with its digits and marks."""

REST = re.compile(rf"[^\W_]*(?:[{MARKS}]+[^\W_]*)*")
"""The rest of a word from an offset inside it."""

MIN_CERTAIN_LETTERS = 3


def common_prefix_length(one: str, other: str) -> int:
    """How many letters two words have in common at their start."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _in_word(char: str) -> bool:
    return char.isalnum() or (char > "\u02ff" and MARK.match(char) is not None)


def _is_complete_word(text: str, start: int, end: int) -> bool:
    before = start > 0 and _in_word(text[start - 1])
    return not before and not (end < len(text) and _in_word(text[end]))


def _anywhere(text: str, word: str) -> list[int]:
    found = []
    at = text.find(word)
    while at >= 0:
        found.append(at)
        at = text.find(word, at + len(word))
    return found
