"""Where sentences end.

Two patterns find the candidates, and the words before and after decide. It is
many times faster than a general splitter, which would cost more than all the
rest of reading a page; `evals/pages` measures how far the two agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from kiwiresearch.text.languages import words_of

CLOSING = r"""[\])"'”’»]*+"""
NEXT_SENTENCE = r"""[ \t]++(?=["'“‘«(\[¿¡]*+[^\W_a-zß-öø-ÿа-яё])"""
"""The next word starts with a capital or a figure."""

FULL_STOP = re.compile(rf"\.{CLOSING}{NEXT_SENTENCE}")
OTHER_STOPS = tuple((mark, re.compile(rf"{re.escape(mark)}{CLOSING}{NEXT_SENTENCE}")) for mark in "?!…")
OTHER_END = re.compile(r"[。！？｡।॥؟۔።][」』）”\"]*[ \t]*")
"""Chinese, Japanese, Hindi, Urdu, Arabic, Amharic."""

OTHER_SCRIPTS = frozenset(
    [
        "zho",
        "jpn",
        "hin",
        "mar",
        "nep",
        "san",
        "ben",
        "urd",
        "ara",
        "fas",
        "pus",
        "amh",
        "tir",
        "yue",
        "wuu",
    ]
)
STARTERS = re.compile(r"(?:The|This|These|In|It|He|She|They|His|Her|By|After|However|A|An|At|On|For|As|But|When)\b")
LONGEST_WORD = 32
TAIL = 4


def sentence_starts(text: str, breaks: Iterable[int] = (), language: str = "eng") -> list[int]:
    """Offsets at which sentences start, in order; `breaks` are starts that are known, such as paragraphs'."""
    tails = _tails(language)
    starts = [0, *breaks]
    for found in FULL_STOP.finditer(text):
        dot, following = found.span()
        tail = text[dot - TAIL : dot]
        # Most sentences end in a word that no abbreviation ends like.
        if (tail in tails or not tail.isalpha()) and not _ends(text, dot, following, language):
            continue
        starts.append(following)
    for mark, pattern in OTHER_STOPS:
        if mark in text:
            starts += [found.end() for found in pattern.finditer(text)]
    if language in OTHER_SCRIPTS:
        ends = (found.end() for found in OTHER_END.finditer(text))
        starts += [end for end in ends if text[end : end + 1] not in ("", "\n")]
    return sorted(set(starts))


@cache
def _tails(language: str) -> frozenset[str]:
    words = words_of(language)
    known = words.abbreviations | words.may_end | words.before_figures
    return frozenset(word[-TAIL:] for word in known if len(word) >= TAIL)


def _ends(text: str, dot: int, following: int, language: str) -> bool:
    """Whether a full stop ends a sentence after a word that may be an abbreviation."""
    word = text[max(text.rfind(" ", max(dot - LONGEST_WORD, 0), dot) + 1, dot - LONGEST_WORD, 0) : dot]
    if not word.isalpha():
        last = WORD_AT_END.search(word)
        word = last[0] if last else ""
    if len(word) == 1 and word.isalpha() and word.isupper():
        return False  # the initial of a name
    words = words_of(language)
    if word in words.abbreviations:
        return False
    if word in words.before_figures and text[following].isdigit():
        return False
    if words.ordinal_dots and word.isdigit() and len(word) <= 2:
        return False  # 'am 3. Oktober'
    if word in words.may_end or DOTTED.fullmatch(word):
        return STARTERS.match(text, following) is not None
    return True


WORD_AT_END = re.compile(r"[^\s()\[\]{}\"'“”‘’«»–—/-]*$")
DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")
"""Letters with full stops between them, such as U.S, but not 98.8."""
