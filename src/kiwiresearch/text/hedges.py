"""Hedges: words such as 'may', 'probably' and 'some historians believe' that make a statement less certain.

The words of each language are in `data/hedges`; the head of each file explains how they are written.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby, product
from typing import Any, Literal, NamedTuple, get_args

from kiwiresearch.text.languages import DATA_FOLDER
from kiwiresearch.text.words import same_length_lower

HedgeKind = Literal["may", "some", "debated", "uncertain"]
DOUBT_KINDS: frozenset[HedgeKind] = frozenset({"may", "debated", "uncertain"})
"""Kinds of hedges that express doubt; 'some' (which includes 'most' and 'often') only says how many are meant."""


class Hedge(NamedTuple):
    """A hedging phrase, its span in the text, and its kind."""

    start: int
    end: int
    cue: str
    kind: HedgeKind


@dataclass(frozen=True, slots=True)
class HedgeCue:
    """A hedging phrase, tried where its first word occurs."""

    kind: HedgeKind
    expression: str
    """A regular expression, compiled when its first word is found: a language has hundreds, and a text few."""
    lowercase_only: bool

    def hedge_at(self, start: int, text: str, lowered: str) -> Hedge | None:
        if self.lowercase_only and text[start].isupper():
            return None
        found = _compiled(self.expression).match(lowered, start)
        return Hedge(start, found.end(), text[start : found.end()].lower(), self.kind) if found else None


# `re` has a cache of its own, but its limit is shared by the whole program.
_compiled = cache(re.compile)


@dataclass(frozen=True, slots=True)
class HedgeTable:
    """The cues of a language by their first words, and a pattern that finds those first words."""

    first_words: re.Pattern[str]
    cues: Mapping[str, tuple[HedgeCue, ...]]


def hedges_in(text: str, language: str = "eng") -> tuple[Hedge, ...]:
    """The non-overlapping hedges of a text, in order; none in a language without a table."""
    table = _hedge_table(language)
    if table is None:
        return ()
    lowered = same_length_lower(text)
    found: list[Hedge] = []
    for first_word in table.first_words.finditer(lowered):
        start = first_word.start()
        if (found and start < found[-1].end) or (text[start].isupper() and _is_part_of_name(text, start)):
            continue
        hedges = [cue.hedge_at(start, text, lowered) for cue in table.cues[first_word[0]]]
        # Of equally long cues the last counts, so the order of kinds in `HedgeKind` matters.
        found += sorted(filter(None, hedges), key=lambda hedge: hedge.end)[-1:]
    return tuple(found)


def _is_part_of_name(text: str, start: int) -> bool:
    """Whether a capital letter is in the middle of a sentence, as in names and titles."""
    return start > 1 and text[start - 1] == " " and (text[start - 2].isalnum() or text[start - 2] == ",")


@cache
def _hedge_table(language: str) -> HedgeTable | None:
    file = DATA_FOLDER / "hedges" / f"{language}.toml"
    if not (language.isascii() and language.isalpha() and file.is_file()):
        return None
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    groups = {name: tuple(words.split()) for name, words in data.get("groups", {}).items()}
    phrases = PhrasePatterns(groups, data.get("shapes", {}))
    cues: dict[str, list[HedgeCue]] = {}
    second_words: dict[str, set[str]] = {}
    for kind in get_args(HedgeKind):
        for entry in data.get(kind, ()):
            for phrase in entry["cues"]:
                cue = HedgeCue(kind, phrases.cue_pattern(phrase, entry), entry.get("lowercase_only", False))
                head, _, rest = phrase.partition(" ")
                for word in phrases.choices(head):
                    cues.setdefault(word, []).append(cue)
                    second_words.setdefault(word, set()).add(phrases.second_word_pattern(rest))
    return HedgeTable(_first_word_pattern(second_words), {word: tuple(of_word) for word, of_word in cues.items()})


def _first_word_pattern(second_words: Mapping[str, set[str]]) -> re.Pattern[str]:
    """Matches any first word; a word that needs a second one only before it, as 'a' before 'few'."""
    # Grouped by initial letter, this is three times as fast as a plain alternation of the words.
    letters = []
    for letter, words in groupby(sorted(second_words, reverse=True), key=lambda word: word[0]):
        alternatives = [
            re.escape(word[1:])
            + r"\b"
            + ("" if "" in second_words[word] else f"(?={'|'.join(sorted(second_words[word]))})")
            for word in words
        ]
        letters.append(f"{letter}(?:{'|'.join(alternatives)})")
    return re.compile(rf"\b(?:{'|'.join(letters)})")


@dataclass(frozen=True, slots=True)
class PhrasePatterns:
    """Turns the phrases of a hedge table into regular expressions."""

    groups: Mapping[str, tuple[str, ...]]
    shapes: Mapping[str, str]

    def cue_pattern(self, cue: str, entry: Mapping[str, Any]) -> str:
        """A cue with what must and must not come before and after it."""
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
        """The words a token may be."""
        parts = token.split("|")
        return [word for part in parts for word in (self.groups[part[1:]] if part.startswith("@") else (part,))]

    def second_word_pattern(self, rest: str) -> str:
        """A pattern for the first word of the rest; empty if that is optional or there is none."""
        token = rest.partition(" ")[0]
        return "" if not token or token.endswith("?") else rf"\s+{self._either(token)}"

    def _preceding(self, phrase: str) -> list[str]:
        """Every expansion of a phrase: look-behind needs a fixed width."""
        expansions = product(*map(self.choices, phrase.split()))
        return [r"\b" + "".join(re.escape(word) + r"\s" for word in words) for words in expansions]

    def _following(self, phrase: str) -> str:
        """The pattern of a phrase, whose last word is never optional."""
        *first, last = phrase.split()
        return "".join(map(self._word_and_space, first)) + self._either(last)

    def _word_and_space(self, token: str) -> str:
        word = token.removesuffix("?")
        return rf"(?:{self._either(word)}\s+)" + ("?" if word != token else "")

    def _either(self, token: str) -> str:
        return rf"(?:{'|'.join(map(self._word, token.split('|')))})\b"

    def _word(self, part: str) -> str:
        name = part[1:]
        if not part.startswith("@"):
            return re.escape(part)
        return f"(?:{self.shapes[name]})" if name in self.shapes else "|".join(map(re.escape, self.groups[name]))
