"""The words of one language by which a sentence is compared with what it rests on."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files

from kiwiresearch.text.languages import words_of

DATA = files("kiwiresearch.claims") / "data" / "facts"
NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Wording:
    """Number words by their value, and the words that names, denials and pronouns are told by."""

    small: Mapping[str, int]
    tens: Mapping[str, int]
    hundred: str
    joining: str
    one: frozenset[str]
    scales: Mapping[str, int]
    ordinals: Mapping[str, int]
    ordinal_tens: Mapping[str, int]
    suffixes: frozenset[str]
    parts: Mapping[str, Fraction]
    vague: Mapping[str, int]
    common: frozenset[str]
    holders: frozenset[str]
    denials: frozenset[str]
    contraction: str
    pronouns: frozenset[str]
    articles: frozenset[str]
    pointing: frozenset[str]
    expletive: re.Pattern[str]


NOTHING = Wording(
    small={},
    tens={},
    hundred="",
    joining="",
    one=frozenset(),
    scales={},
    ordinals={},
    ordinal_tens={},
    suffixes=frozenset(),
    parts={},
    vague={},
    common=frozenset(),
    holders=frozenset(),
    denials=frozenset(),
    contraction="",
    pronouns=frozenset(),
    articles=frozenset(),
    pointing=frozenset(),
    expletive=NEVER,
)


@cache
def wording_of(language: str) -> Wording:
    """What is known of a language; without a table numbers are read in figures only, and any first word may be a name.

    English must not serve for the rest here: 'die', 'two' or 'second' are other words elsewhere.
    """
    file = DATA / f"{language}.toml"
    if not (language.isascii() and language.isalpha() and file.is_file()):
        return NOTHING
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    numbers, names, denials, pronouns = (table[key] for key in ("numbers", "names", "denials", "pronouns"))
    return Wording(
        small={word: value for value, word in enumerate(numbers["ones"].split(), 1)} | numbers["more"],
        tens={word: 10 * value for value, word in enumerate(numbers["tens"].split(), 2)},
        hundred=numbers["hundred"],
        joining=numbers["and"],
        one=frozenset(numbers["one"].split()),
        scales=numbers["scales"],
        ordinals={word: value for value, word in enumerate(numbers["ordinals"].split(), 1)},
        ordinal_tens={word: 10 * value for value, word in enumerate(numbers["ordinal_tens"].split(), 2)},
        suffixes=frozenset(numbers["suffixes"].split()),
        parts={word: Fraction(1, value) for word, value in numbers["parts"].items()},
        vague=numbers["vague"],
        common=frozenset(" ".join(names["common"]).split()) | words_of(language).stop_words,
        holders=frozenset(table["holders"]["words"].split()),
        denials=frozenset(denials["words"].split()),
        contraction=denials["contraction"],
        pronouns=frozenset(pronouns["words"].split()),
        articles=frozenset(pronouns["articles"].split()),
        pointing=frozenset(pronouns["phrases"].split()),
        expletive=re.compile(pronouns["expletive"], re.IGNORECASE),
    )
