"""The catalogue of sentences in each language, and how that language writes numbers, sizes and dates."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

KILO = 1_000
# "2024-05", "2024-05-01" and "2024-05-01T10:00:00Z", of which the seconds are dropped; not "May 2024".
DATE = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?(?:T(\d{2}:\d{2}))?")
NARROW_SPACE = "\u202f"
HARD_SPACE = "\u00a0"
# French puts a space before these marks and after '«'; no line may break there. It is wide only before a colon.
NARROW_MARK = re.compile(r"[ \u00a0](?=[;?!»])|(?<=«)[ \u00a0]")
WIDE_MARK = re.compile(r" (?=:)")
PERCENT = re.compile(r"[ \u00a0](?=%)")


@dataclass(frozen=True, slots=True)
class Locale:
    """How one language writes numbers, sizes and dates."""

    thousands_mark: str
    decimal_mark: str
    months: tuple[str, ...]
    sizes: tuple[str, ...]
    join_day_month: Callable[[int, str], str]
    """Joins a day and its month."""
    join_month_year: Callable[[str, str], str]
    """Joins a month, or a day of one, and its year."""
    is_singular: Callable[[float], bool]
    at_time: Callable[[str, str], str] = "{}, {}".format
    """Joins a day and the time of it."""
    colon: str = ":"
    """The colon after a name, with the space that the language puts before it."""
    space_before_percent: str = NARROW_SPACE
    groups_four_digits: bool = False
    """Whether a count of four digits has a mark for thousands."""

    def is_one(self, value: object) -> bool:
        """Whether a count takes the singular."""
        return isinstance(value, (int, float)) and self.is_singular(value)

    def with_hard_spaces(self, sentence: str) -> str:
        """A sentence in which no line ends before a mark that the language separates by a space."""
        if self.space_before_percent:
            sentence = PERCENT.sub(self.space_before_percent, sentence)
        if self.colon == ":":
            return sentence
        return WIDE_MARK.sub(HARD_SPACE, NARROW_MARK.sub(NARROW_SPACE, sentence))

    def number(self, value: float) -> str:
        """A number with separated thousands; four digits are not separated, as in years."""
        return self._grouped(value, 10 * KILO)

    def count(self, value: float) -> str:
        """A count, which is not a year: English and French separate the first thousand as well."""
        return self._grouped(value, KILO if self.groups_four_digits else 10 * KILO)

    def _grouped(self, value: float, separated_from: int) -> str:
        text = f"{value:,}" if abs(value) >= separated_from else f"{value}"
        # Through a NUL, because the decimal mark of French and Spanish is the comma that English has for thousands.
        return text.replace(",", "\0").replace(".", self.decimal_mark).replace("\0", self.thousands_mark)

    def signed(self, value: float) -> str:
        """A number with its sign, such as the points of one term of a score."""
        return f"{value:+g}".replace(".", self.decimal_mark)

    def share(self, value: float, digits: int = 0) -> str:
        """A share of one in percent."""
        return f"{f'{value:.{digits}%}'[:-1].replace('.', self.decimal_mark)}{self.space_before_percent}%"

    def size(self, count: int) -> str:
        """A number of bytes for people."""
        amount, unit = float(count), 0
        while amount >= KILO and unit < len(self.sizes) - 1:
            amount, unit = amount / KILO, unit + 1
        shown = f"{amount:.1f}".removesuffix(".0") if amount < 10 and unit else f"{amount:.0f}"
        return f"{shown.replace('.', self.decimal_mark)}{HARD_SPACE}{self.sizes[unit]}"

    def month(self, month: str, year: str) -> str:
        """A month of a year, or without one."""
        return self.join_month_year(month, year) if year else month

    def day(self, day: int, month: str, year: str) -> str:
        """A day, with or without a year; no line ends between day and month."""
        return self.month(self.join_day_month(day, month).replace(" ", HARD_SPACE), year)

    def date(self, text: str) -> str:
        """A date of a book or a job (2024-05-01T10:00) for people; other text is returned unchanged."""
        found = DATE.match(text)
        if not found or not 1 <= int(found[2]) <= len(self.months):
            return text
        year, month, day, clock = found[1], self.months[int(found[2]) - 1], found[3], found[4]
        if not day:
            return self.month(month, year)
        shown = self.day(int(day), month, year)
        return self.at_time(shown, clock) if clock else shown

    def moment(self, text: str) -> str:
        """A time in UTC, by the clock of this machine."""
        moment = local_time(text)
        return self.date(moment.isoformat() if moment else text)


def local_time(text: str) -> datetime | None:
    """A time in the zone of this machine; None for a day without a time, and for other text."""
    try:
        moment = datetime.fromisoformat(text) if "T" in text else None
        return moment and (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


ENGLISH = Locale(
    ",",
    ".",
    ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
     "November", "December"),
    ("bytes", "KB", "MB", "GB", "TB"),
    lambda day, month: f"{day} {month}",
    lambda month, year: f"{month} {year}",
    lambda value: value == 1,
    space_before_percent="",
    groups_four_digits=True,
)  # fmt: skip
FRENCH = Locale(
    NARROW_SPACE,
    ",",
    ("janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre",
     "novembre", "décembre"),
    ("octets", "ko", "Mo", "Go", "To"),
    lambda day, month: f"{'1er' if day == 1 else day} {month}",
    lambda month, year: f"{month} {year}",
    lambda value: abs(value) < 2,
    "{} à {}".format,
    f"{HARD_SPACE}:",
    groups_four_digits=True,
)  # fmt: skip
SPANISH = Locale(
    NARROW_SPACE,
    ",",
    ("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre",
     "noviembre", "diciembre"),
    ("bytes", "kB", "MB", "GB", "TB"),
    lambda day, month: f"{day} de {month}",
    lambda month, year: f"{month} de {year}",
    lambda value: value == 1,
    lambda day, clock: f"{day} a {'la' if clock.startswith('01') else 'las'} {clock}",
)  # fmt: skip
LOCALES: Mapping[str, Locale] = MappingProxyType({"en": ENGLISH, "fr": FRENCH, "es": SPANISH})


LANGUAGES: Mapping[str, str] = MappingProxyType({"en": "English", "fr": "Français", "es": "Español"})
"""The languages with a catalogue, by their own names."""

FALLBACK = "en"
PLURALS = frozenset({"one", "other"})

Entry = str | Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The sentences of one language by key; values go into the names in braces."""

    language: str
    locale: Locale
    _entries: Mapping[str, Entry]

    def __call__(self, key: str, /, **values: object) -> str:
        """The sentence of a key; those that count have a singular and a plural, chosen by `n`."""
        entry = self.template(key, values)
        return entry.format_map({name: self.shown(value) for name, value in values.items()}) if values else entry

    def template(self, key: str, values: Mapping[str, object]) -> str:
        """The singular or the plural of a sentence, without its values."""
        entry = self._entries[key]
        return entry if isinstance(entry, str) else entry["one" if self.locale.is_one(values["n"]) else "other"]

    def has(self, key: str) -> bool:
        """Whether the key exists, for keys built from names such as the type of a claim."""
        return key in self._entries

    def named(self, family: str, name: str) -> str:
        """The word for a name such as the type of a claim; a name without one is returned unchanged."""
        key = f"{family}.{name}"
        return self(key) if key in self._entries else name.replace("_", " ")

    def keys(self) -> frozenset[str]:
        return frozenset(self._entries)

    def entry(self, key: str) -> Entry:
        return self._entries[key]

    def shown(self, value: object) -> str:
        """A value within a sentence; numbers are formatted as counts, so years must be passed as text."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return self.locale.count(value)
        return str(value)


@cache
def catalogue_in(language: str) -> Catalogue:
    """The catalogue of one of the LANGUAGES."""
    folder = files("kiwiresearch.messages") / "languages" / language
    entries: dict[str, Entry] = {}
    for file in sorted(folder.iterdir(), key=lambda item: item.name):
        area = file.name.removesuffix(".toml")
        # The spaces are replaced in the whole file, which is TOML all the same: only its sentences have such marks.
        entries.update(_flat(area, tomllib.loads(LOCALES[language].with_hard_spaces(file.read_text(encoding="utf-8")))))
    return Catalogue(language, LOCALES[language], MappingProxyType(entries))


def _flat(place: str, table: Mapping[str, Any]) -> Iterator[tuple[str, Entry]]:
    for name, value in table.items():
        key = f"{place}.{name}"
        if isinstance(value, str):
            yield key, value
        elif set(value) == PLURALS:
            yield key, MappingProxyType(value)
        else:
            yield from _flat(key, value)
