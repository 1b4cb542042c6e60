"""Where the sentences of a text start."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from kiwiresearch.text.languages import language_words

# Possessive, so that a long run of closing signs is read once.
CLOSING = r"""[\])"'”’»]*+"""
NEXT_SENTENCE = r"""[ \t]++(?=["'“‘«(\[¿¡]*+[^\W_a-zß-öø-ÿа-яё])"""
"""The next word starts with a capital letter or a digit."""

FULL_STOP = re.compile(rf"\.{CLOSING}{NEXT_SENTENCE}")
OTHER_STOPS = tuple((mark, re.compile(rf"{re.escape(mark)}{CLOSING}{NEXT_SENTENCE}")) for mark in "?!…")
NON_LATIN_SENTENCE_END = re.compile(r"[。！？｡।॥؟۔።][」』）”\"]*[ \t]*")
"""Sentence-final punctuation of Chinese, Japanese, Hindi, Urdu, Arabic and Amharic."""

NON_LATIN_LANGUAGES = frozenset([
    "zho", "jpn", "hin", "mar", "nep", "san", "ben", "urd", "ara", "fas", "pus", "amh", "tir", "yue", "wuu",
])  # fmt: skip
SENTENCE_OPENERS = re.compile(
    r"(?:The|This|These|In|It|He|She|They|His|Her|By|After|However|A|An|At|On|For|As|But|When)\b"
)
"""English words that show, after an abbreviation, that its full stop ended the sentence too."""

MAX_WORD_CHARS = 32
TAIL_CHARS = 4
LAST_WORD = re.compile(r"[^\s()\[\]{}\"'“”‘’«»–—/-]*$")
DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")
"""Letters with full stops between them, such as U.S, but not 98.8."""


def sentence_starts(text: str, breaks: Iterable[int] = (), language: str = "eng") -> list[int]:
    """Offsets at which sentences start, in order; `breaks` are known starts, such as those of paragraphs."""
    tails = _abbreviation_tails(language)
    starts = [0, *breaks]
    for found in FULL_STOP.finditer(text):
        dot, following = found.span()
        tail = text[dot - TAIL_CHARS : dot]
        # Fast path: most sentences end in a word that cannot be an abbreviation.
        if (tail not in tails and tail.isalpha()) or _ends_sentence(text, dot, following, language):
            starts.append(following)
    for mark, pattern in OTHER_STOPS:
        if mark in text:
            starts += [found.end() for found in pattern.finditer(text)]
    if language in NON_LATIN_LANGUAGES:
        ends = (found.end() for found in NON_LATIN_SENTENCE_END.finditer(text))
        starts += [end for end in ends if text[end : end + 1] not in ("", "\n")]
    return sorted(set(starts))


@cache
def _abbreviation_tails(language: str) -> frozenset[str]:
    words = language_words(language)
    known = words.abbreviations | words.may_end | words.before_figures
    return frozenset(word[-TAIL_CHARS:] for word in known if len(word) >= TAIL_CHARS)


def _ends_sentence(text: str, dot: int, following: int, language: str) -> bool:
    """Whether a full stop ends a sentence, and does not merely belong to an abbreviation."""
    # The word before the full stop; limited, so that a text without spaces does not make each stop slower.
    word = text[max(text.rfind(" ", max(dot - MAX_WORD_CHARS, 0), dot) + 1, dot - MAX_WORD_CHARS, 0) : dot]
    if not word.isalpha():
        last = LAST_WORD.search(word)
        word = last[0] if last else ""
    if len(word) == 1 and word.isalpha() and word.isupper():
        return False  # the initial of a name
    words = language_words(language)
    if word in words.abbreviations or (word in words.before_figures and text[following].isdigit()):
        return False
    if words.ordinal_dots and word.isdigit() and len(word) <= 2:
        return False  # 'am 3. Oktober'
    if word in words.may_end or DOTTED.fullmatch(word):
        return SENTENCE_OPENERS.match(text, following) is not None
    return True
