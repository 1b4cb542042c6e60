"""Other spellings of a word that writers of its script mix: letters, marks and articles that come and go.

| written    | also         | why                                                         |
| ---------- | ------------ | ----------------------------------------------------------- |
| `القاهره`  | `القاهرة`    | ه and ة, ي and ى are mixed at the end of Arabic words        |
| `قاهرة`    | `القاهرة`    | the Arabic article is part of the word                      |
| `كتاب`     | `کتاب`       | Persian and Urdu have letters of their own for ك and ي      |
| `בירושלים` | `ירושלים`    | small words are part of the Hebrew word behind them         |
| `हिंदी`     | `हिन्दी`       | a nasal before a consonant is a letter or a dot             |
"""

from __future__ import annotations

import re
from collections.abc import Iterator

ARABIC = re.compile("[\u0621-\u064a\u06a9\u06cc]")
HEBREW = re.compile("[\u05d0-\u05ea]")
DEVANAGARI = re.compile("[\u0900-\u097f]")

ENDINGS = {"ه": "ة", "ة": "ه", "ي": "ى", "ى": "ي"}
USUAL_ENDINGS = {"ه": "ة", "ى": "ي"}
ARTICLE = "ال"
PERSIAN = str.maketrans("كيى", "کیی")
ARABIC_LETTERS = str.maketrans("کی", "كي")

HEBREW_ARTICLE = "ה"
HEBREW_PREFIXES = "והבלמשכ"

NASALS = (("ङ", "क-घ"), ("ञ", "च-झ"), ("ण", "ट-ढ"), ("न", "त-ध"), ("म", "प-भ"))
"""Each nasal of Devanagari, and the consonants of its own row before which it may be a dot."""
NASAL_LETTER = re.compile("|".join(f"{nasal}\u094d(?=[{row}])" for nasal, row in NASALS))
NASAL_DOT = re.compile("[ंँ](?=([क-घ])|([च-झ])|([ट-ढ])|([त-ध])|([प-भ]))")

SHORTEST = 3
"""Fewer letters are no word without its prefix."""


def spellings(word: str) -> list[str]:
    """What else the same word may be written as, the nearest first; none for scripts that spell it one way."""
    if word.isascii():
        return []
    found: list[str] = []
    if ARABIC.search(word):
        found += _arabic(word)
    elif HEBREW.search(word):
        found += _hebrew(word)
    elif DEVANAGARI.search(word):
        found += (NASAL_LETTER.sub("ं", word), NASAL_DOT.sub(_as_letter, word))
    return [form for form in dict.fromkeys(found) if form != word]


def one_spelling(word: str) -> str:
    """The word with the endings and nasals that are mixed written one way, to tell whether two are the same."""
    if word.isascii():
        return word
    if word[-1] in USUAL_ENDINGS:
        return word[:-1] + USUAL_ENDINGS[word[-1]]
    return NASAL_LETTER.sub("ं", word)


def _arabic(word: str) -> Iterator[str]:
    ends = [word, word[:-1] + ENDINGS[word[-1]]] if word[-1] in ENDINGS else [word]
    yield from ends
    for form in ends:
        bare = form.removeprefix(ARTICLE)
        if bare == form:
            yield ARTICLE + form
        elif len(bare) >= SHORTEST:
            yield bare
    yield word.translate(PERSIAN)
    yield word.translate(ARABIC_LETTERS)


def _hebrew(word: str) -> Iterator[str]:
    yield HEBREW_ARTICLE + word
    if word[0] in HEBREW_PREFIXES and len(word) > SHORTEST:
        yield word[1:]
        yield HEBREW_ARTICLE + word[1:]


def _as_letter(found: re.Match[str]) -> str:
    nasal, _ = NASALS[(found.lastindex or 1) - 1]
    return f"{nasal}\u094d"
