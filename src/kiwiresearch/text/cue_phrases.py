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
from dataclasses import dataclass
from itertools import groupby

FIGURE = r"(?<![\w.])\d[\d.,]*+(?:\s?[-–]\s?\d[\d.,]*+)?"
ANYTHING = {"#": FIGURE, "*": r"\w++"}
GAP = r"(?:\W++\w++){0,8}?"
BETWEEN = r"(?:(?<=\d)\s*+|\W++|\s*+(?=[^\w\s]))"
"""No space is needed after a number ('500mg') or before a sign ('5%')."""
NEVER = re.compile(r"(?!)")
PLAIN = re.compile(r"[^\W_]+")
ENDING = re.compile(r"\*[^\W_]+")
SINGLE = re.compile(r"[^\s^$?]+")


@dataclass(frozen=True, slots=True)
class CuePhrases:
    """Compiles phrases, which may refer to the groups of their data file."""

    groups: Mapping[str, Sequence[str]]

    def pattern(self, phrases: Iterable[str]) -> re.Pattern[str]:
        """A pattern that finds any of the phrases in a text in plain lower case."""
        several = _several(phrases)
        return re.compile(self._any(several)) if several else NEVER

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


def _several(phrases: Iterable[str]) -> list[str]:
    return [phrase.strip() for entry in phrases for phrase in entry.split(",")]


def _words(words: Sequence[str]) -> str:
    # Grouped by first letter, this is many times as fast as a plain alternation of the words.
    letters = [
        f"{letter}(?:{'|'.join(word[1:] for word in of_letter)})"
        for letter, of_letter in groupby(sorted(set(words), reverse=True), key=lambda word: word[0])
    ]
    return rf"(?<![^\W\d])(?:{'|'.join(letters)})(?!\w)"
