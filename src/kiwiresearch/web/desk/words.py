"""What the desk says, in the language of its reader: one catalogue for each language, read once."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from starlette.requests import Request

from kiwiresearch.web.desk.customs import CUSTOMS, Customs

LANGUAGES: Mapping[str, str] = MappingProxyType({"en": "English", "fr": "Français", "es": "Español"})
"""The languages of the desk, as their readers call them."""

FALLBACK = "en"
COOKIE = "kiwiresearch_language"
PLURALS = frozenset({"one", "other"})
MOST_WISHES = 20

Entry = str | Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Words:
    """The catalogue of one language; a sentence is asked for by its key, with the values it names in braces."""

    language: str
    customs: Customs
    _entries: Mapping[str, Entry]

    def __call__(self, key: str, /, **values: object) -> str:
        """The sentence of a key; one that counts has a form for one thing and one for all others, told by `n`."""
        entry = self._entries[key]
        if not isinstance(entry, str):
            entry = entry["one" if self.customs.is_one(values["n"]) else "other"]
        return entry.format_map({name: self.shown(value) for name, value in values.items()}) if values else entry

    def has(self, key: str) -> bool:
        """Whether there is such a sentence, for names that come from below, such as types of claims."""
        return key in self._entries

    def named(self, family: str, name: str) -> str:
        """The word for one of a family of names that come from below; a name without a word is shown as it is."""
        key = f"{family}.{name}"
        return self(key) if key in self._entries else name.replace("_", " ")

    def keys(self) -> frozenset[str]:
        return frozenset(self._entries)

    def entry(self, key: str) -> Entry:
        return self._entries[key]

    def shown(self, value: object) -> str:
        """A value within a sentence: numbers as the language writes them; a year is given as text."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return self.customs.count(value)
        return str(value)


@cache
def words_in(language: str) -> Words:
    """The words of one of the LANGUAGES."""
    folder = files("kiwiresearch.web.desk") / "words" / language
    entries: dict[str, Entry] = {}
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        area = file.name.removesuffix(".toml")
        entries.update(_flat(area, tomllib.loads(CUSTOMS[language].bound(file.read_text(encoding="utf-8")))))
    return Words(language, CUSTOMS[language], MappingProxyType(entries))


def _flat(place: str, table: Mapping[str, Any]) -> Iterator[tuple[str, Entry]]:
    for name, value in table.items():
        key = f"{place}.{name}"
        if isinstance(value, str):
            yield key, value
        elif set(value) == PLURALS:
            yield key, MappingProxyType(value)
        else:
            yield from _flat(key, value)


def words_for(request: Request) -> Words:
    """The words a reader wants: those chosen on a page of ours, else the first the browser asks for that are here."""
    chosen = request.cookies.get(COOKIE, "")
    if chosen in LANGUAGES:
        return words_in(chosen)
    return words_in(preferred(request.headers.get("accept-language", "")))


def preferred(header: str) -> str:
    """The language of ours that an Accept-Language header wants most."""
    wishes = [_wish(part) for part in header.split(",")[:MOST_WISHES]]
    wanted = [(-weight, place, code) for place, (code, weight) in enumerate(wishes) if weight > 0]
    return next((code for _, _, code in sorted(wanted) if code in LANGUAGES), FALLBACK)


def _wish(part: str) -> tuple[str, float]:
    code, _, quality = part.strip().partition(";")
    try:
        weight = float(quality.strip().removeprefix("q=")) if quality.strip() else 1.0
    except ValueError:
        weight = 0.0
    return code.strip().lower().split("-")[0], weight
