"""The words of a language of the books that dates are read with: the file is named after its ISO 639-3 code, `fra`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, NamedTuple

from kiwiresearch.text.languages import DATA_FOLDER, NEVER, any_of

CenturyKind = Literal["century", "millennium"]


class DatePrefix(NamedTuple):
    """What a phrase before a date does to it."""

    kind: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class YearEvidence:
    """Words next to a bare number that distinguish years from counts."""

    before: frozenset[str] = frozenset()
    """A number after one of these is a year: `in`, `born`."""
    weak_before: frozenset[str] = frozenset()
    """Those of `before` that a count may also follow: `of`, in 'a population of 1803'."""
    amounts: frozenset[str] = frozenset()
    """Words before a weak one that make the number a count: `population`."""
    before_three_digits: frozenset[str] = frozenset()
    """Words after which a number below 1000 is a year too: `died`, in 'died 814'."""
    reign_words: frozenset[str] = frozenset()
    """With one of these before 'from' or 'between', a number below 1000 is a year: `ruled`, in 'ruled from 768'."""
    before_to: frozenset[str] = frozenset()
    """Words that make the number after 'to' a year: `back`, in 'dates back to 1803'."""
    year_nouns: frozenset[str] = frozenset()
    """Nouns after which a number is a year, whatever follows: `year`."""
    circa: frozenset[str] = frozenset()
    """Words after which only a counted noun makes the number a count: `c.`."""
    doubt_words: frozenset[str] = frozenset()
    """Skipped between the evidence and the number: `probably`, in 'born probably 1803'."""
    estimated: frozenset[str] = frozenset()
    """Skipped too, but without other evidence the number is a count: `roughly`, in 'roughly 1803'."""
    without_space: frozenset[str] = frozenset()
    """Abbreviations that need no space before the number: `b.`, in 'b.1803'."""
    life_events: frozenset[str] = frozenset()
    """What happens once in a life, even with a place before the year: `born`, in 'born at Bath 1803'."""
    determiners: frozenset[str] = frozenset()
    """The number after one of these is a year only if a noun follows: `the`, in 'the 1803 election'."""
    authors: frozenset[str] = frozenset()
    """Words before a name and a year in brackets: `and`, in '(Reed and Sliwa 2004)'."""
    in_year: frozenset[str] = frozenset()
    """Words after which 'BP' is a company: `in`, in 'In 2005 BP was'."""
    before_attributes: frozenset[str] = frozenset()
    """Prefixes that belong to the noun after the date: `by`, in 'by the 18th century physician'."""
    before_serial_numbers: frozenset[str] = frozenset()
    """A word whose number is not a year: `page`, in 'page 1803'."""
    after: frozenset[str] = frozenset()
    """A word that may follow a year, and is not what a number counts: `was`, in '1803 was'."""
    counted_nouns: frozenset[str] = frozenset()
    """A noun that the number before it counts: `people`, in '1803 people'."""


@dataclass(frozen=True, slots=True)
class DateWords:
    """The words and patterns for dates in one language; for an unknown language there are only numbers."""

    months: Mapping[str, int] = field(default_factory=dict)
    seasons: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    prefixes: Mapping[str, DatePrefix] = field(default_factory=dict)
    prefix_ends: frozenset[str] = frozenset()
    """The last words of prefixes, for a quick check: most words before a date are not among them."""
    ordinals: Mapping[str, int] = field(default_factory=dict)
    scales: Mapping[str, int] = field(default_factory=dict)
    numbers: Mapping[str, int] = field(default_factory=dict)
    to: frozenset[str] = frozenset("–—-")
    both: frozenset[str] = frozenset()
    either: frozenset[str] = frozenset()
    evidence: YearEvidence = YearEvidence()
    era: re.Pattern[str] = NEVER
    day_first: re.Pattern[str] = NEVER
    day_second: re.Pattern[str] = NEVER
    calendar_note: re.Pattern[str] = NEVER
    """The calendar after a date: '(O.S.)'."""
    other_calendar_date: re.Pattern[str] = NEVER
    """A day in the other calendar before the year: '5 May [O.S. 24 April] 1704'."""
    calendar_note_before: re.Pattern[str] = NEVER
    """The same before a date."""
    decade: re.Pattern[str] = NEVER
    century_nouns: Mapping[str, CenturyKind] = field(default_factory=dict)
    """The nouns for century_nouns of years: 'century', 'Millennia'."""
    century_noun_signs: frozenset[str] = frozenset()
    """Letters inside the nouns of century_nouns, for a quick check: 'entu' for 'century' and 'Centuries'."""
    ago_signs: tuple[str, ...] = ()
    """Letters of the phrases after an age, for a quick check: 'nd years ago' for 'two thousand years ago'."""
    century_in_name: re.Pattern[str] = NEVER
    """What makes a century part of a name: ' Fox', in '20th Century Fox'."""
    century_ordinals_before: re.Pattern[str] = NEVER
    """The ordinals before the noun: '13th and early 12th '."""
    ago: re.Pattern[str] = NEVER
    ago_words: re.Pattern[str] = NEVER
    before_present: re.Pattern[str] = NEVER
    onwards: re.Pattern[str] = NEVER
    or_later: re.Pattern[str] = NEVER
    or_earlier: re.Pattern[str] = NEVER
    ordinal_day: re.Pattern[str] = NEVER
    pair_before_era: re.Pattern[str] = NEVER


@cache
def date_words_of(language: str) -> DateWords:
    """The words for dates in a language, given by its ISO 639-3 code."""
    path = DATA_FOLDER / "date_reading" / f"{language}.toml"
    if not (language.isascii() and language.isalpha() and path.is_file()):
        return DateWords()
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    prefixes = _prefixes(table)
    kinds: tuple[CenturyKind, ...] = ("century", "millennium")
    century_nouns = {noun: kind for kind in kinds for noun in table[kind]}
    return DateWords(
        months={
            form: at for at, names in enumerate(table["months"], 1) for name in names for form in (name, name.upper())
        },
        seasons={word: name for name, words in table["seasons"].items() for word in words},
        parts={name: (row["percent"][0], row["percent"][1]) for name, row in table["parts"].items()},
        prefixes=prefixes,
        prefix_ends=frozenset(phrase.split()[-1] for phrase in prefixes),
        ordinals=_ordinals(table),
        scales=table["scales"] | table["scale_signs"] | table["counted_ages"],
        numbers={word: at for at, word in enumerate(table["numbers"], 1)},
        century_nouns=century_nouns,
        # Inner letters, so that a capital first letter makes no difference.
        century_noun_signs=frozenset(noun[1:5] for noun in century_nouns),
        ago_signs=tuple(table["ago_signs"]),
        to=frozenset(table["to"]),
        both=frozenset(table["and"]),
        either=frozenset(table["either"]),
        evidence=YearEvidence(**{key: frozenset(words) for key, words in table["evidence"].items()}),
        **_patterns(table),
    )


def _prefixes(table: Mapping[str, Any]) -> dict[str, DatePrefix]:
    phrases = {phrase: DatePrefix(kind) for kind, words in table["prefix"].items() for phrase in words}
    for name, words in table["seasons"].items():
        phrases |= {word: DatePrefix("season", name) for word in words}
    for name, row in table["parts"].items():
        phrases |= {word: DatePrefix("part", name) for word in row["words"]}
    return phrases


def _ordinals(table: Mapping[str, Any]) -> dict[str, int]:
    places = {word: at for at, word in enumerate(table["ordinals"], 1)}
    return places | {word.capitalize(): at for word, at in places.items()}


def _patterns(table: Mapping[str, Any]) -> dict[str, re.Pattern[str]]:
    month = any_of(form for names in table["months"] for name in names for form in (name, name.upper()))
    suffix = table["day_suffix"]
    join = f"(?: ?[–—-] ?| ?/ ?| (?:{any_of((*table['to'], *table['and']))}) )"
    eras = f"(?P<bc>{any_of(table['bc'])})|(?P<ad>{any_of(table['ad'])})|(?P<not>{any_of(table['other_eras'])})"
    era = rf"[ \u00a0]?(?:{eras})(?!\w)"
    year = rf"(?:(?P<pre>{any_of(table['ad'])}) )?" r"(?P<year>[0-9]{1,4})(?![0-9]|[.,:][0-9])"
    day = rf"{suffix}?(?:(?P<between>{join})(?:the )?(?P<last>[0-9]{{1,2}}){suffix}?)?"
    styles = rf"(?:(?P<old>{any_of(table['old_style'])})|(?P<new>{any_of(table['new_style'])}))"
    ordinal = rf"(?:[0-9]{{1,2}}{suffix}|{any_of(_ordinals(table))})"
    part = f"(?:(?:{any_of(word for row in table['parts'].values() for word in row['words'])})[ -](?:the )?)?"
    number = r"[0-9]+(?:[.,][0-9]+)*"
    error = f" ?± ?{number}"
    scales = any_of((*table["scales"], *table["scale_signs"]))
    scale = f"(?P<scale>{scales})"
    present, small, in_words = (table[f"before_present{form}"] for form in ("", "_small", "_words"))
    counted, is_end = f"(?:(?:{table['years_before_present']}) )", f"(?={table['ends_after']})"
    any_present = f"{present}|{small}|{in_words}"
    signs = (
        f"(?P<ago>{table['ago']})|(?P<present>(?P<counted>{counted}+)(?:{any_present})|{present}"
        # A conditional: with a scale, 'million years before present' is clear; without one, the phrase must end here.
        f"|(?:{in_words})(?(scale)|{is_end}))"
    )
    age = rf"(?:(?:{scale} )?(?:{signs})|(?P<short>{any_of(table['counted_ages'])}))(?!\w)"
    words = any_of((*table["numbers"], "a"))
    sources = {
        "era": era,
        "day_first": rf"{day}(?:{table['before_month']} |-)(?P<month>{month})\b[.?]?(?:(?:,? (?:of )?|-){year})?",
        "day_second": rf"{day}(?:,? {year})?",
        "calendar_note": rf" ?(?P<open>[(\[])?{styles}(?(open)[)\]])(?!\w)",
        "calendar_note_before": rf"(?:^|[^\w]){styles}:? ?$",
        "other_calendar_date": rf" ?[(\[]{styles}[^)\]\n]{{3,40}}[)\]],? {year}",
        "decade": table["decade_suffix"] + r"(?!\w)",
        "century_in_name": rf" (?:{any_of(table['not_a_century'])})\b",
        "century_ordinals_before": (
            rf"(?:^|[\s(\[“\"—–-])(?:(?P<first_prefix>{part})(?P<first>{ordinal})"
            rf"(?P<join>-?{join}|, )(?:the )?)?(?P<prefix>{part})(?P<ordinal>{ordinal})[ -]$"
        ),
        # '65.5 ± 0.3 Ma', '12,000–10,000 BP', '3 to 4 million years ago': an error, a second number after a joint, and
        # its error are optional; the sign of an age is not.
        "ago": (
            rf"(?:(?:{error})?(?: (?P<first_scale>{scales})(?: (?:{table['years']}))?)?"
            rf"(?P<join>{join})(?P<last>{number}))?"
            rf"(?:{error})?[ \u00a0-]?{age}"
        ),
        "before_present": (
            rf"[ \u00a0](?P<counted>{counted}+)?(?P<sign>{present}|(?P<in_words>{in_words})|{small})"
            rf"(?!\w)(?P<is_end>{is_end})?"
        ),
        "ago_words": rf"\b(?P<number>{words}) {scale} (?:{table['ago']})\b",
        "onwards": table["onwards"],
        "or_later": table["or_later"],
        "or_earlier": table["or_earlier"],
        "ordinal_day": rf"(?:^|[\s(])(?P<ordinal>{any_of(_ordinals(table))}){table['before_month']} $",
        "pair_before_era": rf"{join}(?:c\. ?)?[0-9]{{1,4}}(?:,[0-9]{{3}})*{era}",
    }
    return {name: re.compile(source) for name, source in sources.items()}
