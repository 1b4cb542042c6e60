"""Units of measure and of money: from the words behind a number to a base unit and a factor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from kiwiresearch.text.number_words import RAISED, SPACES, either, table

TOKEN = re.compile(
    rf"(?P<gap>{SPACES}?-?)(?P<word>°{SPACES}?[CFK](?![^\W_])|[%％‰°℃℉¢€£]|[UuAC]\.?[Ss]\.?{SPACES}?\$"
    rf"|U\.S\.(?= )|[^\W\d_]+(?:\^?[23](?![\d.,]\d|\d)|[²³])?(?![\d_]))"
)
LONGER = re.compile(r"\.?[ \u00a0-](?:per |an |a )?[^\W\d_]+(?:[²³])?(?:[ -][^\W\d_]+)?")
OVER = re.compile(rf"{SPACES}?/{SPACES}?|[ -]per[ -]|[ -]p\.{SPACES}?")
INVERSE = re.compile(rf"(?:{SPACES}|[·⋅])?([^\W\d_]+)([⁻−-][¹²³1-3])(?!\d)")
POWERS = ("²", "³")


class Unit(NamedTuple):
    """(value + offset) * factor is the value in the base unit."""

    base: str
    factor: float
    offset: float = 0.0


class Written(NamedTuple):
    """A unit as it stands in a text."""

    unit: Unit
    start: int
    end: int


class Units:
    """Reads the units of one language."""

    def __init__(self, language: str) -> None:
        known = table(language)
        self.symbols: dict[str, Unit] = {}
        self.names: dict[str, Unit] = {}
        for kind in known.values():
            if isinstance(kind, dict) and "base" in kind:
                self._add(kind, known["powers"])
        for words, code in known["money"]["names"].items():
            self.names |= {word: Unit(code, 1.0) for word in _split(words)}
        for words, code in known["money"]["hundredths"].items():
            self.names |= {word: Unit(code, 0.01) for word in _split(words)}
        self._strict = frozenset(known["traps"]["strict"].split())
        self._spaced = frozenset(known["traps"]["spaced"].split())
        self._money: dict[str, str] = known["traps"]["money"]
        longer = [name for name in self.names if re.search("[ .-]", name)]
        self._longer = frozenset(re.split("[ .-]", name)[0] for name in longer) | {name.split()[0] for name in longer}
        self.signs: dict[str, str] = known["money"]["signs"]
        self.sign_ends = frozenset(sign[-1] for sign in self.signs)
        self.sign = re.compile(rf"(?<![^\W_])(?:{either(self.signs)}){SPACES}?$")
        self.dollars = frozenset(known["money"]["dollars"].split())

    def _add(self, kind: dict[str, Any], powers: dict[str, str]) -> None:
        base = kind["base"]
        for group, target in (("symbols", self.symbols), ("names", self.names), ("units", self.names)):
            for words, factor in kind.get(group, {}).items():
                unit = Unit(base, *factor) if isinstance(factor, list) else Unit(base, factor)
                for word in _split(words):
                    target[word] = unit
                    if "powers" in kind:
                        self._add_powers(word, unit, kind["powers"], powers, target)

    def _add_powers(
        self, word: str, unit: Unit, bases: list[str], powers: dict[str, str], target: dict[str, Unit]
    ) -> None:
        for power, (base, before) in enumerate(zip(bases, powers.values(), strict=True), 2):
            raised = Unit(base, unit.factor**power)
            target |= {f"{word}{sign}": raised for sign in (str(power), f"^{power}", POWERS[power - 2])}
            self.names |= {f"{name} {word.lower()}": raised for name in before.split()}

    def read(self, text: str, start: int, limit: int, *, scale: float = 1.0, is_sure: bool = False) -> Written | None:
        """The unit behind a number that ends at `start`; 'in' is one only where a unit is sure to stand."""
        found = self._one(text, start, limit, scale=scale, is_sure=is_sure)
        if found is None or found.unit.offset:
            return found
        return self._divided(text, found, limit)

    def priced(self, text: str, money: Written, limit: int) -> Written:
        """Money, with what it is paid for: '$70 per tonne'."""
        return self._divided(text, money, limit)

    def over(self, text: str, start: int, limit: int) -> Written | None:
        """The unit behind '/' or 'per', of which so many come on each."""
        per = OVER.match(text, start, limit)
        return self._one(text, per.end(), limit, is_sure=True) if per else None

    def _divided(self, text: str, found: Written, limit: int) -> Written:
        unit, end = found.unit, found.end
        if (below := self.over(text, end, limit)) and not below.unit.offset:
            return Written(_quotient(unit, below.unit, 1), found.start, below.end)
        while (inverse := INVERSE.match(text, end, limit)) and (below_unit := self.symbols.get(inverse[1])):
            unit, end = _quotient(unit, below_unit, -int(inverse[2].translate(RAISED))), inverse.end()
        return Written(unit, found.start, end)

    def _one(self, text: str, start: int, limit: int, *, scale: float = 1.0, is_sure: bool = False) -> Written | None:
        found = TOKEN.match(text, start, limit)
        if found is None:
            return None
        gap, word = found["gap"], found["word"]
        low = word.lower()
        if low in self._longer and (longer := LONGER.match(text, found.end(), limit)):
            for part in _shorter(low + longer[0].lower()):
                if unit := self.names.get(_plain(part)):
                    return Written(unit, found.start("word"), found.start("word") + len(part))
        if word[0] == "°":
            low = word = word.replace(" ", "").replace("\u00a0", "")
            low = low.lower()
        unit = self.symbols.get(word) or self.names.get(low)
        if unit is None or (not is_sure and self._is_trap(text, gap, word, found.end())):
            return None
        if scale >= 1e6 and low in self._money:
            unit = Unit(self._money[low], 1.0)
        return Written(unit, found.start("word"), found.end())

    def _is_trap(self, text: str, gap: str, word: str, end: int) -> bool:
        if not gap and word in self._spaced:
            return True
        if word not in self._strict:
            return False
        behind = text[end : end + 2].strip()
        return bool(behind) and (behind[0].isalnum() or behind[0] in "-'’")


def _split(words: str) -> Iterator[str]:
    return (word.replace("_", " ") for word in words.split())


def _shorter(words: str) -> Iterator[str]:
    """The words, and then fewer of them."""
    while " " in words or "-" in words or "\u00a0" in words:
        yield words
        words = words[: max(words.rfind(" "), words.rfind("-"), words.rfind("\u00a0"))]


def _plain(words: str) -> str:
    return words.replace("\u00a0", " ").replace("-", " ")


def _quotient(unit: Unit, below: Unit, power: int) -> Unit:
    base = below.base if power == 1 else f"{below.base}{power}"
    return Unit(f"{unit.base}/{base}", unit.factor / below.factor**power)


@cache
def units(language: str) -> Units:
    """The units of a language, read from its table once."""
    return Units(language)
