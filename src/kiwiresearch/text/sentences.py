"""Where sentences end, and the words that hold a statement back."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby, product
from typing import Any, Literal, NamedTuple, get_args

from kiwiresearch.text.languages import DATA, language_words
from kiwiresearch.text.words import same_length_lower

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
    words = language_words(language)
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
    words = language_words(language)
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


HedgeKind = Literal["may", "some", "debated", "uncertain"]


class Hedge(NamedTuple):
    """A cue, where it stands, and which way it holds back."""

    start: int
    end: int
    cue: str
    kind: HedgeKind


def hedges_in(text: str, language: str = "eng") -> tuple[Hedge, ...]:
    """The hedges of a text in order, none within another; a language without a table has none."""
    table = _table(language)
    if table is None:
        return ()
    small = same_length_lower(text)
    found: list[Hedge] = []
    last = 0
    for head in table.heads.finditer(small):
        start = head.start()
        if start < last or (text[start].isupper() and _in_a_name(text, start)):
            continue
        hedge = _longest(table.cues[head[0]], text, small, start)
        if hedge:
            found.append(hedge)
            last = hedge.end
    return tuple(found)


def _in_a_name(text: str, start: int) -> bool:
    """Whether a capital stands in the middle of a sentence, as those of names and titles do."""
    return start > 1 and text[start - 1] == " " and (text[start - 2].isalnum() or text[start - 2] == ",")


def _longest(cues: Iterable[HedgeCue], text: str, small: str, start: int) -> Hedge | None:
    best: Hedge | None = None
    for cue in cues:
        match = cue.pattern.match(small, start)
        if match and (best is None or match.end() >= best.end) and not (cue.small_only and text[start].isupper()):
            end = match.end()
            best = Hedge(start, end, text[start:end].lower(), cue.kind)
    return best


@dataclass(frozen=True, slots=True)
class HedgeCue:
    """What counts as a hedge where its first word was found."""

    kind: HedgeKind
    pattern: re.Pattern[str]
    small_only: bool


@dataclass(frozen=True, slots=True)
class HedgeTable:
    """The cues of a language by their first words, and the pattern that finds those."""

    heads: re.Pattern[str]
    cues: Mapping[str, tuple[HedgeCue, ...]]


@cache
def _table(language: str) -> HedgeTable | None:
    file = DATA / "hedges" / f"{language}.toml"
    if not (language.isascii() and language.isalpha() and file.is_file()):
        return None
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    phrases = PhrasePatterns(
        {name: tuple(words.split()) for name, words in data.get("groups", {}).items()}, data.get("shapes", {})
    )
    cues: dict[str, list[HedgeCue]] = {}
    following: dict[str, set[str]] = {}
    for kind in get_args(HedgeKind):
        for entry in data.get(kind, ()):
            for phrase in entry["cues"]:
                cue = HedgeCue(kind, re.compile(phrases.condition(phrase, entry)), entry.get("small_only", False))
                head, _, rest = phrase.partition(" ")
                for word in phrases.choices(head):
                    cues.setdefault(word, []).append(cue)
                    following.setdefault(word, set()).add(phrases.second(rest))
    return HedgeTable(_heads(following), {head: tuple(of_head) for head, of_head in cues.items()})


def _heads(following: Mapping[str, set[str]]) -> re.Pattern[str]:
    """Any of the first words, told apart by their first letter, and 'a' only before 'few' and the like.

    It is three times as fast as a plain list of the words.
    """
    letters = []
    for letter, words in groupby(sorted(following, reverse=True), key=lambda word: word[0]):
        ways = [
            re.escape(word[1:]) + r"\b" + ("" if "" in following[word] else f"(?={'|'.join(sorted(following[word]))})")
            for word in words
        ]
        letters.append(f"{letter}(?:{'|'.join(ways)})")
    return re.compile(rf"\b(?:{'|'.join(letters)})")


@dataclass(frozen=True, slots=True)
class PhrasePatterns:
    """The way phrases are written in a table, turned into patterns."""

    groups: Mapping[str, tuple[str, ...]]
    shapes: Mapping[str, str]

    def condition(self, cue: str, entry: Mapping[str, Any]) -> str:
        """A cue with what must and must not stand before and behind it."""
        parts = [f"(?<!{words})" for phrase in entry.get("not_after", ()) for words in self._preceding(phrase)]
        if "after" in entry:
            allowed = [f"(?<={words})" for phrase in entry["after"] for words in self._preceding(phrase)]
            parts.append(f"(?:{'|'.join(allowed)})")
        parts.append(self._following(cue))
        parts += [rf"(?!\s+{self._following(phrase)})" for phrase in entry.get("not_before", ())]
        if "before" in entry:
            parts.append(rf"(?=\s+(?:{'|'.join(map(self._following, entry['before']))}))")
        return "".join(parts)

    def choices(self, token: str) -> list[str]:
        """The words a token stands for."""
        parts = token.split("|")
        return [word for part in parts for word in (self.groups[part[1:]] if part.startswith("@") else (part,))]

    def second(self, rest: str) -> str:
        """A pattern for the word behind the first, or nothing where there need be none."""
        token = rest.partition(" ")[0]
        return "" if not token or token.endswith("?") else rf"\s+{self._either(token)}"

    def _preceding(self, phrase: str) -> list[str]:
        """Each way to say a phrase, since a pattern that looks back must know how far."""
        ways = product(*map(self.choices, phrase.split()))
        return [r"\b" + "".join(re.escape(word) + r"\s" for word in way) for way in ways]

    def _following(self, phrase: str) -> str:
        """The pattern of a phrase, whose last word is never one that may be missing."""
        *first, last = phrase.split()
        return "".join(map(self._leading, first)) + self._either(last)

    def _leading(self, token: str) -> str:
        word = token.removesuffix("?")
        return rf"(?:{self._either(word)}\s+)" + ("?" if word != token else "")

    def _either(self, token: str) -> str:
        return rf"(?:{'|'.join(map(self._word, token.split('|')))})\b"

    def _word(self, part: str) -> str:
        name = part[1:]
        if not part.startswith("@"):
            return re.escape(part)
        return f"(?:{self.shapes[name]})" if name in self.shapes else "|".join(map(re.escape, self.groups[name]))
