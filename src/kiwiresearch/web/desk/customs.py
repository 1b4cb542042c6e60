"""How a language writes numbers, sizes and dates, and when it speaks of one thing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

KILO = 1_000
DATE = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?(?:T(\d{2}:\d{2}))?")
NARROW_SPACE = "\u202f"


@dataclass(frozen=True, slots=True)
class Customs:
    """The customs of one language."""

    thousands: str
    point: str
    months: tuple[str, ...]
    sizes: tuple[str, ...]
    day: Callable[[int, str, str], str]
    """A date of day, month and year."""
    one: Callable[[float], bool]

    def is_one(self, value: object) -> bool:
        """Whether a count takes the singular."""
        return isinstance(value, (int, float)) and self.one(value)

    def number(self, value: float) -> str:
        """A number with its thousands apart; four digits stand together, as years do."""
        text = f"{value:,}" if abs(value) >= 10 * KILO else f"{value}"
        return text.replace(",", "\0").replace(".", self.point).replace("\0", self.thousands)

    def share(self, value: float) -> str:
        """A share of one in hundredths."""
        return f"{round(value * 100)}{NARROW_SPACE if self.point == ',' else ''}%"

    def size(self, count: int) -> str:
        """A number of bytes for people."""
        amount, unit = float(count), 0
        while amount >= KILO and unit < len(self.sizes) - 1:
            amount, unit = amount / KILO, unit + 1
        shown = f"{amount:.1f}".removesuffix(".0") if amount < 10 and unit else f"{amount:.0f}"
        return f"{shown.replace('.', self.point)} {self.sizes[unit]}"

    def date(self, text: str) -> str:
        """A date, as books and jobs write them, for people; what is none stays as it is."""
        found = DATE.match(text)
        if not found or not 1 <= int(found[2]) <= len(self.months):
            return text
        year, month, day, clock = found[1], self.months[int(found[2]) - 1], found[3], found[4]
        if not day:
            return f"{month} {year}"
        return self.day(int(day), month, year) + (f", {clock}" if clock else "")


ENGLISH = Customs(
    ",",
    ".",
    (
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ),
    ("bytes", "KB", "MB", "GB", "TB"),
    lambda day, month, year: f"{day} {month} {year}",
    lambda value: value == 1,
)
FRENCH = Customs(
    NARROW_SPACE,
    ",",
    (
        "janvier",
        "février",
        "mars",
        "avril",
        "mai",
        "juin",
        "juillet",
        "août",
        "septembre",
        "octobre",
        "novembre",
        "décembre",
    ),
    ("octets", "ko", "Mo", "Go", "To"),
    lambda day, month, year: f"{'1er' if day == 1 else day} {month} {year}",
    lambda value: abs(value) < 2,
)
SPANISH = Customs(
    NARROW_SPACE,
    ",",
    (
        "enero",
        "febrero",
        "marzo",
        "abril",
        "mayo",
        "junio",
        "julio",
        "agosto",
        "septiembre",
        "octubre",
        "noviembre",
        "diciembre",
    ),
    ("bytes", "kB", "MB", "GB", "TB"),
    lambda day, month, year: f"{day} de {month} de {year}",
    lambda value: value == 1,
)
CUSTOMS: Mapping[str, Customs] = MappingProxyType({"en": ENGLISH, "fr": FRENCH, "es": SPANISH})
