"""Numbers as they are written: '1,234.5', '2½', '12 million', 'three hundred and forty', '6 × 10²⁴'."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from kiwiresearch.codec import toml_data
from kiwiresearch.text.languages import any_of

DATA_FOLDER = files("kiwiresearch.text") / "data" / "quantities"

SPACES = "[ \u00a0\u2009\u202f]"
PARTS = {"½": 1 / 2, "⅓": 1 / 3, "⅔": 2 / 3, "¼": 1 / 4, "¾": 3 / 4, "⅕": 1 / 5, "⅖": 2 / 5, "⅗": 3 / 5, "⅘": 4 / 5}
PARTS |= {"⅙": 1 / 6, "⅚": 5 / 6, "⅛": 1 / 8, "⅜": 3 / 8, "⅝": 5 / 8, "⅞": 7 / 8}
PART_SIGNS = "".join(PARTS)
DENOMINATORS = frozenset((2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 20, 32, 64, 100, 1000))
"""The denominators of fractions; '9/11' is a date."""

RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")
MAX_POWER = 99
MAX_SCALES = 3
MAX_GROUPS = 5
MAX_SCALE = 1e30
CASE_VARIANTS = str.maketrans("ſıİK", "siiK")
"""Letters that a case-insensitive pattern confuses with others."""

MAX_FIGURE_CHARS = 40
SCALE_GAP = " \u00a0\u2009\u202f-"

# '1,234.5', '1 234 567', '2½', '1 3/4'; of '1,23' only the 1, since groups have three digits.
FIGURE = re.compile(
    rf"(?:(?P<whole>[0-9]{{1,3}}(?:,[0-9]{{3}})+(?![0-9])|[0-9]{{1,3}}(?:{SPACES}[0-9]{{3}})+(?![0-9])|[0-9]+)"
    rf"(?P<rest>\.[0-9]+)?|(?P<bare>\.[0-9]+))"
    rf"(?:{SPACES}?(?P<sign>[{PART_SIGNS}])|(?:{SPACES}(?P<top>[0-9]))?[/⁄](?P<under>[0-9]{{1,4}})(?![0-9/]))?"
    rf"|(?P<alone>[{PART_SIGNS}])"
)
# '500 men', '500%', '12)'; not '1-2' or '10-3', which need the complete pattern.
SIMPLE = re.compile(r"[0-9]{1,6}(?=(?: [A-Za-wyz(]|[)%;\t\n–-](?![0-9])))(?!10[-−])")
# ' × 10²⁴', 'x10^6', and ' × 10-3', whose raised exponent was lost in the text; not ' × 105', which may be a product.
POWER = re.compile(
    rf"{SPACES}?[×x·*⋅]{SPACES}?10(?:\^[({{]?(?P<caret>[-−+]?[0-9]{{1,3}})(?![0-9])[)}}]?|(?P<high>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{{1,3}})|(?P<lost>[-−][0-9]{{1,3}})(?![0-9]))"
)
POWER_OF_TEN = re.compile(r"10(?:\^(?P<caret>[-−+]?[0-9]{1,3})(?![0-9])|(?P<high>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))")


class Amount(NamedTuple):
    """A number, where it ends, and how precisely it was written."""

    value: float
    end: int
    digits: int
    step: float
    scale: float = 1.0
    number_end: int = 0
    is_word: bool = False
    is_bare: bool = False
    is_part: bool = False

    def times(self, scale: float, end: int) -> Amount:
        """The same amount in thousands or millions."""
        return self._replace(
            value=self.value * scale,
            end=end,
            step=self.step * scale,
            scale=self.scale * scale,
            is_bare=False,
            is_part=False,
        )


@cache
def quantity_file(language: str) -> str:
    """The file with the words of a language around numbers, or with the English ones."""
    return f"data/quantities/{language if (DATA_FOLDER / f'{language}.toml').is_file() else 'eng'}.toml"


class NumberWords:
    """Reads the numbers of one language."""

    def __init__(self, language: str) -> None:
        numbers = toml_data("kiwiresearch.text", quantity_file(language))["numbers"]
        ones, teens, tens = (numbers[key].split() for key in ("ones", "teens", "tens"))
        self.values = {word: float(n) for n, word in enumerate([*ones, *teens], 1)}
        self.values |= {word: float(n * 10) for n, word in enumerate(tens, 2)}
        self.scales: dict[str, float] = numbers["scales"]
        self.short_scales: dict[str, float] = numbers["short_scales"]
        self.money_scales: dict[str, float] = numbers["money_scales"]
        self.parts: dict[str, int] = numbers["parts"]
        self.pronoun: str = numbers["pronoun"]
        self.one = frozenset(numbers["one"].split())
        self._and: str = numbers["and"][0]
        self.half: str = numbers["half"]
        small = f"(?:(?:{any_of(tens)})(?:[- ](?:{any_of(ones)})\\b)?|{any_of(teens)}|{any_of(ones)})\\b"
        scale = f"(?:[ -](?:{any_of(self.scales)})\\b)"
        a = any_of(self.one)
        part = any_of([*self.parts, *(f"{word}s" for word in self.parts)])
        scales = f"{scale}{{1,{MAX_SCALES}}}"
        more = f"(?:{scales}[ -](?:{numbers['and']}[ -])?{small}){{0,{MAX_GROUPS}}}"
        self._words = re.compile(f"(?:{small}|(?:{a})(?={scale})){more}(?:{scales})?", re.IGNORECASE)
        apart = "".join(f"(?<!{word})" for word in numbers["hyphened"].split())
        never = any_of(numbers["not_hyphened"].split())
        self._part = re.compile(
            rf"(?:(?P<of>{a}|{any_of(self.values)})[ -](?P<part>{part}|{self.half})"
            rf"|(?P<half>{self.half}))\b(?![’']|{apart}-|-(?:{never})\b)"
            rf"(?:[ -](?P<scaled>{a})[ -](?P<scale>{any_of(self.scales)})\b)?",
            re.IGNORECASE,
        )
        self._more = re.compile(
            rf"[ -]{numbers['and']}[ -](?:{a}|(?P<top>{any_of(ones)}))[ -]"
            rf"(?:(?P<half>{self.half})|(?P<part>{part}))\b",
            re.IGNORECASE,
        )
        self._scale = re.compile(rf"{SPACES}?-?({any_of([*self.scales, *self.short_scales])})\b(?!\.\w)", re.IGNORECASE)
        self._money_scale = re.compile(rf"{SPACES}?({any_of(self.money_scales)})\b", re.IGNORECASE)
        self._scale_letters = frozenset(
            letter
            for word in (*self.scales, *self.short_scales, *self.money_scales)
            for letter in (word[0], word[0].upper())
        )
        starts = sorted({*self.values, self.half} | {f"{a} {s}" for a in self.one for s in (*self.scales, *self.parts)})
        tree = _tree(starts)
        self.starts = re.compile(f"[ \\n\\t\u00a0\u202f(\\[\"“‘'’—–/-](?:{tree})\\b")
        self.first = re.compile(f"(?:{tree})\\b")
        self._amount_of = lru_cache(maxsize=1_024)(self._computed_amount)
        """Cached, since the same few number words occur again and again."""

    def read(self, text: str, start: int, limit: int, *, is_money: bool = False) -> Amount | None:
        """The number that starts here, with its scale; None if there is none."""
        if text[start].isdecimal() or text[start] == "." or text[start] in PARTS:
            amount = _figure(text, start, limit)
        else:
            amount = self._worded(text, start, limit)
        if amount is None or (amount.is_part and amount.is_word):
            return amount
        amount = self._with_part(text, amount, limit)
        for scale in (self._scale, self._money_scale) if is_money else (self._scale,):
            while (
                amount.scale <= MAX_SCALE
                and text[amount.end : amount.end + 2].strip(SCALE_GAP)[:1] in self._scale_letters
                and (found := scale.match(text, amount.end, limit))
                and not (amount.is_word and "-" in found[0])
            ):
                word = _lowered(found[1])
                factor = self.scales.get(word) or self.short_scales.get(word) or self.money_scales[word]
                amount = amount.times(factor, found.end())
        return amount

    def _worded(self, text: str, start: int, limit: int) -> Amount | None:
        if (found := self._part.match(text, start, limit)) and (part := self._part_of(found)):
            return part
        if (found := self._words.match(text, start, limit)) is None:
            return None
        amount = self._amount_of(_lowered(found[0]))
        return amount._replace(end=start + amount.end, number_end=start + amount.number_end)

    def _computed_amount(self, written: str) -> Amount:
        """The amount that number words mean, with offsets from their start."""
        words = re.split("[ -]", written)
        value, scale = self._sum(words)
        end = len(written)
        for word in reversed(words):  # the number ends where its last scales start
            if word not in self.scales:
                break
            end -= len(word) + 1
        return Amount(value, len(written), _significant(value), _step(value), scale, end, is_word=True)

    def _part_of(self, found: re.Match[str]) -> Amount | None:
        """'two thirds', 'a quarter', 'half a million'."""
        numerator = _lowered(found["of"] or "")
        top = 1.0 if found["half"] or numerator in self.one else self.values[numerator]
        name = _lowered(found["part"] or found["half"])
        under = 2 if name == self.half else self.parts.get(name) or self.parts[name[:-1]]
        # 'five third' is not a fraction, nor is 'twenty fifths'.
        if top >= under or (top > 1) != (name not in self.parts and name != self.half):
            return None
        scale = self.scales[_lowered(found["scale"])] if found["scale"] else 1.0
        end = found.end()
        return Amount(top / under * scale, end, 1, 0.1 * scale, scale, end, is_word=True, is_part=scale == 1.0)

    def _with_part(self, text: str, amount: Amount, limit: int) -> Amount:
        """'two and a half': the part is added."""
        if (
            amount.scale != 1.0
            or text[amount.end + 1 : amount.end + 2] != self._and
            or not (found := self._more.match(text, amount.end, limit))
        ):
            return amount
        top = self.values[_lowered(found["top"])] if found["top"] else 1.0
        name = _lowered(found["part"] or "")
        under = 2 if found["half"] else self.parts.get(name) or self.parts[name[:-1]]
        value, end = amount.value + top / under, found.end()
        return amount._replace(value=value, end=end, number_end=end, digits=amount.digits + 1, step=0.5, is_bare=False)

    def _sum(self, words: list[str]) -> tuple[float, float]:
        total, group, scale = 0.0, 0.0, 1.0
        for word in words:
            if word in self.values:
                group += self.values[word]
                scale = 1.0
            elif word in self.scales:
                factor = self.scales[word]
                scale *= factor
                if factor < 1000:
                    group = (group or 1.0) * factor
                elif group or not total:
                    total, group = total + (group or 1.0) * factor, 0.0
                else:
                    total *= factor
        return total + group, scale


def _lowered(word: str) -> str:
    return word.translate(CASE_VARIANTS).lower()


def _figure(text: str, start: int, limit: int) -> Amount | None:
    # Fast path: nine of ten numbers are a few digits before a space and a word.
    if (found := SIMPLE.match(text, start, limit)) and found.end() < limit:
        written, end = found[0], found.end()
        significant = len(written.rstrip("0")) or 1
        return Amount(float(written), end, significant, 10.0 ** (len(written) - significant), 1.0, end, is_bare=True)
    if found := POWER_OF_TEN.match(text, start, limit):
        power = _power(found)
        return None if power is None else Amount(10.0**power, found.end(), 1, 10.0**power, 1.0, found.end())
    if (found := FIGURE.match(text, start, min(limit, start + MAX_FIGURE_CHARS))) is None:
        return None
    end = found.end()
    if end < limit and (text[end].isdecimal() or text[end] in "^⁰¹²³⁴⁵⁶⁷⁸⁹⁻"):
        return None
    amount = _plain_figure(found)
    if amount and end < limit and (power_found := POWER.match(text, end, limit)):
        power = _power(power_found)
        if power is None:
            return None
        end = power_found.end()
        # Computed from the digits, where possible, to avoid the rounding error of multiplying.
        digits = repr(amount.value)
        value = amount.value * 10.0**power if "e" in digits else float(f"{digits}e{power}")
        return amount.times(10.0**power, end)._replace(value=value, scale=1.0, number_end=end)
    return amount


def _plain_figure(found: re.Match[str]) -> Amount | None:
    end = found.end()
    whole, rest = found["whole"] or "", found["rest"] or found["bare"] or ""
    if found["alone"]:
        return Amount(PARTS[found["alone"]], end, 1, 0.1, 1.0, end, is_part=True)
    plain = "".join(filter(str.isdecimal, whole))
    if under := found["under"]:
        top = found["top"] or plain
        if rest or int(under) not in DENOMINATORS or not 0 < int(top) < int(under):
            return None
        value = int(top) / int(under) + (int(plain) if found["top"] else 0)
        return Amount(value, end, 2 if found["top"] else 1, 0.1, 1.0, end, is_part=not found["top"])
    if found["sign"]:
        return Amount(float(plain or 0) + PARTS[found["sign"]], end, len(plain) + 1, 0.5, 1.0, end)
    value = float(f"{plain or 0}{rest}")
    if rest:
        digits = len(f"{plain}{rest[1:]}".lstrip("0")) or 1
        return Amount(value, end, digits, 10.0 ** -(len(rest) - 1), 1.0, end)
    return Amount(value, end, _significant(value), _step(value), 1.0, end, is_bare=len(whole) == len(plain))


def _power(found: re.Match[str]) -> int | None:
    written = next(group for group in found.groups() if group)
    power = int(written.translate(RAISED))
    return power if abs(power) <= MAX_POWER else None


def _significant(value: float) -> int:
    return len(f"{value:.0f}".rstrip("0")) or 1


def _step(value: float) -> float:
    written = f"{value:.0f}"
    return 10.0 ** (len(written) - max(len(written.rstrip("0")), 1))


def _tree(words: Iterable[str]) -> str:
    """A pattern of words by their letters, the first in either case: most words fail at the first letter."""
    by_letter: dict[str, list[str]] = {}
    for word in words:
        by_letter.setdefault(word[0], []).append(word[1:])
    return "|".join(f"[{letter.upper()}{letter}]{_branches(rests)}" for letter, rests in sorted(by_letter.items()))


def _branches(rests: Iterable[str]) -> str:
    by_letter: dict[str, list[str]] = {}
    for rest in rests:
        by_letter.setdefault(rest[:1], []).append(rest[1:])
    # Reversed, so that longer words come before those they start with: 'seventy' before 'seven'.
    branches = [
        re.escape(letter) + (_branches(below) if len(below) > 1 else re.escape(below[0]))
        for letter, below in sorted(by_letter.items(), reverse=True)
    ]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


number_words = cache(NumberWords)
"""The number words of a language, read once."""


@cache
def numbers_and_compounds(language: str) -> re.Pattern[str]:
    """Words and figures that are one thing: '1 200', '-5', '2.5%', '100–200 million', 'two hundred', 'non-toxic'.

    More is taken for one number than `NumberWords` reads as one, such as '10:30' and '12/04/1945'.
    """
    known = number_words(language)
    space = SPACES.replace("]", "\u2007]")
    figure = rf"(?:(?<!\d)\d{{1,3}}(?:{space}\d{{3}})+(?!\d)|\d+)(?:[.,'’/:]\d+)*"
    # A sign after a letter is a dash: 'the war–200 men'; a point before a figure is decimal only after a space: '.5'.
    number = rf"(?:(?<!\w)[-‐‑–−+±])?(?:(?<![^\s(])[.,])?{figure}"
    ranged = rf"{number}(?:{space}?[-‐‑–—−]{space}?{number})*[%‰°]?"
    scale = rf"(?:(?:{space}|-)(?:{any_of(known.scales)})\b)"
    return re.compile(
        rf"{ranged}(?:{scale}+|(?:[-‐‑][^\W\d]\w*)+)?"
        rf"|\b(?:{any_of(known.values)}){scale}+"
        r"|[^\W\d]\w*(?:[-‐‑]\w+)+",
        re.IGNORECASE,
    )
