r"""Compiles the phrases of a data file into regular expressions, so that cues can be written in plain words.

| written        | matches                                   |
| -------------- | ----------------------------------------- |
| `how much`     | these words, with anything but a word between |
| `dose\|dosage`  | either word                               |
| `per_day`      | two words as one alternative              |
| `safely?`      | the word, or nothing                      |
| `dilut*`       | a word that starts like this              |
| `*`            | any word                                  |
| `@drug`        | any phrase of the group                   |
| `#`            | a number or a range of numbers            |
| `..`           | up to eight words                         |
| `^` and `$`    | the start and the end of the text         |
| `,`            | what is before it, or what is after it    |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

from kiwiresearch.text.languages import NEVER

# Possessive quantifiers (`*+`, `++`) here and below: no backtracking, so no text can make a pattern slow.
FIGURE = r"(?<![\w.])\d[\d.,]*+(?:\s?[-–]\s?\d[\d.,]*+)?"
ANYTHING = {"#": FIGURE, "*": r"\w++"}
# Lazy, so that the words after the gap are found as early as possible.
GAP = r"(?:\W++\w++){0,8}?"
BETWEEN = r"(?:(?<=\d)\s*+|\W++|\s*+(?=[^\w\s]))"
"""No space is needed after a number ('500mg') or before a sign ('5%')."""
PLAIN = re.compile(r"[^\W_]+")
ENDING = re.compile(r"\*[^\W_]+")
SINGLE = re.compile(r"[^\s^$?]+")


@dataclass(frozen=True, slots=True)
class CuePhrases:
    """Compiles phrases, which may refer to the groups of their data file."""

    groups: Mapping[str, Sequence[str]]
    _compiled_groups: dict[str, re.Pattern[str]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def pattern(self, phrases: Iterable[str]) -> re.Pattern[str]:
        """A pattern that finds any of the phrases in a text in plain lower case."""
        several = _several(phrases)
        return re.compile(self._any(several)) if several else NEVER

    def cue(self, phrases: Iterable[str]) -> Cue:
        """The same, compiled only once a text may have one of the phrases."""
        return Cue(self, phrases)

    def group(self, token: str) -> re.Pattern[str]:
        """A pattern that finds any phrase of a group, or of several: `@acid|@bleach`."""
        if token not in self._compiled_groups:
            self._compiled_groups[token] = re.compile(self._either(token.split("|")))
        return self._compiled_groups[token]

    def _any(self, phrases: Sequence[str]) -> str:
        single = [word for phrase in phrases if SINGLE.fullmatch(phrase) for word in phrase.split("|")]
        longer = [self._phrase(phrase) for phrase in phrases if not SINGLE.fullmatch(phrase)]
        return f"(?:{'|'.join([*([self._either(single)] if single else []), *longer])})"

    def _phrase(self, phrase: str) -> str:
        inner = phrase.removeprefix("^").removesuffix("$")
        opening = r"^\W*+" if phrase.startswith("^") else ""
        closing = r"\W*+$" if phrase.endswith("$") else ""
        tokens = inner.split()
        parts = [self._token(token, is_first=place == 0) for place, token in enumerate(tokens)]
        return f"(?:{opening}{''.join(parts)}{closing})"

    def _token(self, token: str, *, is_first: bool) -> str:
        """A word with what separates it from the one before."""
        if token == "..":  # noqa: S105 (no password, the gap of a phrase)
            return GAP
        word = self._either(token.removesuffix("?").split("|"))
        return f"(?:{'' if is_first else BETWEEN}{word})" + ("?" if token.endswith("?") else "")

    def _either(self, words: Sequence[str]) -> str:
        plain = [word for word in words if PLAIN.fullmatch(word)]
        endings = [word for word in words if ENDING.fullmatch(word)]
        alternatives = [self._other(word) for word in words if word not in plain and word not in endings]
        if plain:
            alternatives.append(_words(plain))
        if endings:  # the word is read once, then checked by looking back
            looking_back = "|".join(f"(?<={word[1:]})" for word in endings)
            alternatives.append(rf"(?<![^\W\d])\w++(?:{looking_back})")
        return f"(?:{'|'.join(alternatives)})"

    def _other(self, part: str) -> str:
        if part.startswith("@"):
            return self._any(_several(self.groups[part[1:]]))
        if part in ANYTHING:
            return ANYTHING[part]
        word = re.escape(part).replace(r"\*", r"\w*+").replace("_", r"\W++")
        return rf"(?<![^\W\d]){word}(?!\w)"


class Cue:
    """Finds any of some phrases, and is compiled only for a text that has a word of the groups that they need.

    Groups are long, so a pattern with several takes a while to compile, and most texts have no word of them.
    """

    def __init__(self, cues: CuePhrases, phrases: Iterable[str]) -> None:
        self._cues = cues
        self._phrases = _several(phrases)
        needed = [_needed_group(phrase) for phrase in self._phrases]
        self.needed_groups = tuple(dict.fromkeys(needed)) if all(needed) else ()

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return self._cues.pattern(self._phrases)

    def search(self, text: str) -> re.Match[str] | None:
        """The first of the phrases in a text in plain lower case."""
        # If every phrase needs some group, a text without a word of any of them cannot match.
        may_match = not self.needed_groups or any(self._cues.group(name).search(text) for name in self.needed_groups)
        return self.pattern.search(text) if may_match else None


def _needed_group(phrase: str) -> str:
    """A word of the phrase, such as `@drug` or `@acid|@bleach`, that only groups can match; empty if there is none."""
    tokens = [token for token in phrase.removeprefix("^").removesuffix("$").split() if not token.endswith("?")]
    return next((token for token in tokens if all(word.startswith("@") for word in token.split("|"))), "")


def _several(phrases: Iterable[str]) -> list[str]:
    return [phrase.strip() for entry in phrases for phrase in entry.split(",")]


def _words(words: Sequence[str]) -> str:
    # Grouped by first letter, this is many times as fast as a plain alternation of the words.
    letters = [
        f"{letter}(?:{'|'.join(word[1:] for word in of_letter)})"
        for letter, of_letter in groupby(sorted(set(words), reverse=True), key=lambda word: word[0])
    ]
    return rf"(?<![^\W\d])(?:{'|'.join(letters)})(?!\w)"
