"""Units of measure and money, and numbers read together with their units."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from kiwiresearch.codec import toml_data
from kiwiresearch.text.languages import any_of
from kiwiresearch.text.number_words import PARTS, RAISED, SPACES, Amount, number_words, quantity_file
from kiwiresearch.text.quantity import NO_QUANTITY, WordsBefore, number_cues

# ' km²', ' °C', '-mile', ' m2'; not ' m23', and of ' km/h' the part before the stroke, which `divided` continues.
TOKEN = re.compile(
    rf"(?P<gap>{SPACES}?-?)(?P<word>°{SPACES}?[CFK](?![^\W_])|[%％‰°℃℉¢€£]|[UuAC]\.?[Ss]\.?{SPACES}?\$"
    rf"|U\.S\.(?= )|[^\W\d_]+(?:\^?[23](?![\d.,]\d|\d)|[²³])?(?![\d_]))"
)
LONGER = re.compile(r"\.?[ \u00a0-](?:per |an |a )?[^\W\d_]+(?:[²³])?(?:[ -][^\W\d_]+)?")
OVER = re.compile(rf"{SPACES}?/{SPACES}?|[ -]per[ -]|[ -]p\.{SPACES}?")
# ' s⁻¹' and '·m-2' after another unit.
INVERSE = re.compile(rf"(?:{SPACES}|[·⋅])?([^\W\d_]+)([⁻−-][¹²³1-3])(?!\d)")
POWERS = ("²", "³")


class Unit(NamedTuple):
    """(value + offset) * factor is the value in the base unit."""

    base: str
    factor: float
    offset: float = 0.0


class WrittenUnit(NamedTuple):
    """A unit in a text."""

    unit: Unit
    start: int
    end: int


class Units:
    """Reads the units of one language."""

    def __init__(self, language: str) -> None:
        known = toml_data("kiwiresearch.text", quantity_file(language))
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
        self.sign = re.compile(rf"(?<![^\W_])(?:{any_of(self.signs)}){SPACES}?$")
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

    def read(
        self, text: str, start: int, limit: int, *, scale: float = 1.0, is_sure: bool = False
    ) -> WrittenUnit | None:
        """The unit after a number that ends at `start`; `is_sure` accepts 'in' and other ambiguous words."""
        found = self._one(text, start, limit, scale=scale, is_sure=is_sure)
        # A temperature is never divided: '5 °C/100 m' is a gradient.
        if found is None or found.unit.offset:
            return found
        return self.divided(text, found, limit)

    def over(self, text: str, start: int, limit: int) -> WrittenUnit | None:
        """The unit after '/' or 'per'."""
        per = OVER.match(text, start, limit)
        return self._one(text, per.end(), limit, is_sure=True) if per else None

    def divided(self, text: str, found: WrittenUnit, limit: int) -> WrittenUnit:
        """A unit with what it is divided by: 'km/h', '$70 per tonne', 'm s⁻¹'."""
        unit, end = found.unit, found.end
        if (below := self.over(text, end, limit)) and not below.unit.offset:
            return WrittenUnit(_quotient(unit, below.unit, 1), found.start, below.end)
        while (inverse := INVERSE.match(text, end, limit)) and (below_unit := self.symbols.get(inverse[1])):
            unit, end = _quotient(unit, below_unit, -int(inverse[2].translate(RAISED))), inverse.end()
        return WrittenUnit(unit, found.start, end)

    def _one(
        self, text: str, start: int, limit: int, *, scale: float = 1.0, is_sure: bool = False
    ) -> WrittenUnit | None:
        found = TOKEN.match(text, start, limit)
        if found is None:
            return None
        gap, word = found["gap"], found["word"]
        low = word.lower()
        if low in self._longer and (longer := LONGER.match(text, found.end(), limit)):
            for part in _shorter(low + longer[0].lower()):
                if unit := self.names.get(part.replace("\u00a0", " ").replace("-", " ")):
                    return WrittenUnit(unit, found.start("word"), found.start("word") + len(part))
        if word[0] == "°":
            low = word = word.replace(" ", "").replace("\u00a0", "")
            low = low.lower()
        unit = self.symbols.get(word) or self.names.get(low)
        if unit is None or (not is_sure and self._is_trap(text, gap, word, found.end())):
            return None
        # '5 pounds' are a mass, '5 million pounds' are money.
        if scale >= 1e6 and low in self._money:
            unit = Unit(self._money[low], 1.0)
        return WrittenUnit(unit, found.start("word"), found.end())

    def _is_trap(self, text: str, gap: str, word: str, end: int) -> bool:
        if not gap and word in self._spaced:
            return True
        if word not in self._strict:
            return False
        after = text[end : end + 2].strip()
        return bool(after) and (after[0].isalnum() or after[0] in "-'’")


def _split(words: str) -> Iterator[str]:
    return (word.replace("_", " ") for word in words.split())


def _shorter(words: str) -> Iterator[str]:
    """The words, then without the last one, and so on, while there are at least two."""
    while " " in words or "-" in words or "\u00a0" in words:
        yield words
        words = words[: max(words.rfind(" "), words.rfind("-"), words.rfind("\u00a0"))]


def _quotient(unit: Unit, below: Unit, power: int) -> Unit:
    base = below.base if power == 1 else f"{below.base}{power}"
    return Unit(f"{unit.base}/{base}", unit.factor / below.factor**power)


units_of = cache(Units)
"""The units of a language, read once."""


PLUS_MINUS = re.compile(rf"{SPACES}?(?:±|\+/[-−–]){SPACES}?(?=[0-9.])")
MIXED_GAP = re.compile(rf"(?:,?{SPACES}(?:and{SPACES})?|,{SPACES}?)(?=[0-9a-z])")
MIXED = {"m": 13, "kg": 17, "s": 366}
"""The highest ratio of two units that make one quantity: '6 ft 2 in'."""

MINUS = "-−"
DASHES = "-−–"
GLUE = frozenset("_/^°'’#№.,×⁄")
MAX_SIGN_CHARS = 6


class MeasuredNumber(NamedTuple):
    """A number or a range, with its unit if it has one."""

    start: int
    end: int
    low: Amount
    high: Amount
    before: WordsBefore
    unit: Unit | None = None
    written: str = ""
    extra: float = 0.0
    """The amount that a smaller unit adds, in the base unit."""
    step: float = 0.0
    is_split: bool = False
    """Whether it is the first of two numbers that are not a range, with the unit after the second."""


class _Side(NamedTuple):
    """One number of a range with its own sign and unit."""

    amount: Amount
    money: str
    written: WrittenUnit | None
    end: int


class MeasureReader:
    """Reads numbers with their units in one text."""

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.numbers, self.units, self.cues = number_words(language), units_of(language), number_cues(language)

    def measured(self, start: int, floor: int, limit: int) -> MeasuredNumber | None:
        """The number that starts here; None if the characters around it make it part of something else."""
        text = self.text
        is_figure = text[start].isdecimal() or text[start] in PARTS
        if (
            is_figure
            and start > floor
            and text[start - 1] == "."
            and (start - 1 == floor or not text[start - 2].isalnum())
        ):
            start -= 1
        begin, money = self._money_before(start, floor)
        is_negative = False
        if not money and start > floor:
            last, second = text[start - 1], text[start - 2] if start > 1 else " "
            # '1990-95' or 'Apollo-11': a dash that joins, not a minus.
            if last in DASHES and (second.isalnum() or second in ")%°"):
                return None
            if last.isalnum() or last in GLUE or (last == ":" and second.isdecimal()):
                return None
            is_negative = is_figure and last in MINUS
            begin = start - is_negative
        side = self._side(start, limit, money=money, is_negative=is_negative)
        if side is None:
            return None
        return self._ranged(begin, side, self.cues.before(text, floor, begin), limit)

    def _money_before(self, start: int, floor: int) -> tuple[int, str]:
        before = self.text[max(floor, start - MAX_SIGN_CHARS) : start]
        last = before[-1:] if not before[-1:].isspace() else before[-2:-1]
        if last not in self.units.sign_ends or not (found := self.units.sign.search(before)):
            return start, ""
        return start - len(before) + found.start(), found[0].strip()

    def _side(
        self, start: int, limit: int, *, money: str = "", is_negative: bool = False, is_second: bool = False
    ) -> _Side | None:
        amount = self.numbers.read(self.text, start, limit, is_money=bool(money))
        if amount is None or self._continues(amount.end, limit):
            return None
        if is_negative:
            amount = amount._replace(value=-amount.value)
        written = self._unit_after(amount, money, limit, is_second=is_second)
        return _Side(amount, money, written, written.end if written else amount.end)

    def _unit_after(self, amount: Amount, money: str, limit: int, *, is_second: bool) -> WrittenUnit | None:
        end = amount.end
        if money:
            return self.units.divided(self.text, WrittenUnit(Unit(self.units.signs[money], 1.0), end, end), limit)
        if amount.is_part and (of_a := self.cues.of_a.match(self.text, end, limit)):
            end = of_a.end()
        return self.units.read(self.text, end, limit, scale=amount.scale, is_sure=is_second)

    def _continues(self, end: int, limit: int) -> bool:
        """Whether digits follow that are not part of the number: '1,5', '3/17', '4:1'."""
        text = self.text
        return end + 1 < limit and text[end] in ".,:/" and text[end + 1].isdecimal()

    def _ranged(self, begin: int, side: _Side, before: WordsBefore, limit: int) -> MeasuredNumber | None:
        amount = side.amount
        following = self.text[side.end : side.end + 2]
        if following[1:].isalpha() and following[0] == " " and following[1] not in self.cues.joints:
            return self._single(begin, side, before, limit)  # fast path: no word that joins two numbers
        if uncertain := self._plus_minus(begin, side, before, limit):
            return uncertain
        is_between = bool(before.words) and before.words[-1] in self.cues.between
        gap = (self.cues.to_or_and if is_between else self.cues.to).match(self.text, side.end, limit)
        by = None if gap or side.written else self.cues.by.match(self.text, side.end, limit)
        gap = gap or by
        second = self._second(gap.end(), side, limit) if gap else None
        if gap is None or second is None or (side.written and not side.money and self.cues.either_or(gap[0])):
            return self._single(begin, side, before, limit)
        high = second.amount
        if side.written and second.written and not second.written.unit.offset:
            amount = amount._replace(value=amount.value * side.written.unit.factor / second.written.unit.factor)
        shares_scale = amount.scale == 1.0 != high.scale and amount.value < high.value / high.scale
        if shares_scale and (side.money or not side.written):
            amount = amount.times(high.scale, amount.end)
        is_dashed = not gap[0].strip().isalpha()
        unit = second.written or side.written
        if by and unit is None:
            return None
        # '1990–95', '12-5': not a range, but an abbreviation or a code.
        if amount.value >= high.value and is_dashed:
            return None
        # '5 by 10 m', 'from 10 to 5', 'grew from 5 to 10': two values, of which the first is kept.
        if by or amount.value >= high.value or self.cues.is_change(before):
            return self._measured(begin, side.end, amount, amount, before, unit, side.money)._replace(is_split=True)
        return self._measured(begin, second.end, amount, high, before, unit, side.money)

    def _second(self, start: int, first: _Side, limit: int) -> _Side | None:
        """The other number of a range, if it has the same unit."""
        text, money = self.text, first.money
        has_sign = bool(money) and text.startswith(money, start)
        if has_sign:
            start += len(money)
            start += text[start : start + 1] == " "
        is_negative = text[start : start + 1] in tuple(MINUS)
        start += is_negative
        if start >= limit:
            return None
        is_figure = text[start].isdecimal() or text[start] in PARTS or text[start] == "."
        if is_figure and NO_QUANTITY.match(text, start, limit):
            return None
        if is_figure == first.amount.is_word or (not is_figure and not self.numbers.first.match(text, start, limit)):
            return None
        second = self._side(start, limit, money=money, is_negative=is_negative)
        if second is None or second.amount.is_part:
            return None
        if money and not has_sign and self.units.read(text, second.end, limit):
            return None
        if first.written and not self._same_measure(first.written, second.written):
            return None
        return second

    def _same_measure(self, first: WrittenUnit, second: WrittenUnit | None) -> bool:
        """Whether two units belong to one range; '0° to 5 °C' are degrees of one kind."""
        if second is None:
            return False
        if second.unit.offset:
            return first.unit == second.unit or first.unit.base == "rad"
        return first.unit.base == second.unit.base and not first.unit.offset

    def _single(self, begin: int, side: _Side, before: WordsBefore, limit: int) -> MeasuredNumber:
        found = self._measured(begin, side.end, side.amount, side.amount, before, side.written, side.money)
        unit = found.unit
        if unit is None or unit.base not in MIXED or side.money:
            return found
        factor = unit.factor
        while (gap := MIXED_GAP.match(self.text, found.end, limit)) and (
            smaller := self._side(gap.end(), limit, is_second=True)
        ):
            if smaller.written is None or smaller.written.unit.base != unit.base:
                break
            ratio = factor / smaller.written.unit.factor
            if not 1 < ratio < MIXED[unit.base] or smaller.amount.value >= ratio:
                break
            factor = smaller.written.unit.factor
            extra, step = found.extra + smaller.amount.value * factor, smaller.amount.step * factor / unit.factor
            found = found._replace(end=smaller.end, extra=extra, step=step)
        return found

    def _plus_minus(self, begin: int, side: _Side, before: WordsBefore, limit: int) -> MeasuredNumber | None:
        found = PLUS_MINUS.match(self.text, side.end, limit)
        more = self._side(found.end(), limit) if found else None
        if more is None:
            return None
        amount, spread = side.amount, more.amount
        if amount.scale == 1.0 != spread.scale:
            amount = amount.times(spread.scale, amount.end)
        low = amount._replace(value=amount.value - spread.value)
        high = amount._replace(value=amount.value + spread.value, number_end=spread.number_end)
        return self._measured(begin, more.end, low, high, before, more.written or side.written, side.money)

    def _measured(
        self, begin: int, end: int, low: Amount, high: Amount, before: WordsBefore, unit: WrittenUnit | None, money: str
    ) -> MeasuredNumber:
        text = self.text
        scale = text[high.number_end : high.end].strip(" \u00a0-")
        if money:
            below = text[high.end : unit.end].strip() if unit else ""
            written = " ".join(filter(None, (money, scale, below)))
        else:
            written = text[high.number_end : max(unit.end if unit else 0, high.end)].strip(" \u00a0-")
        return MeasuredNumber(begin, end, low, high, before, unit.unit if unit else None, written)
