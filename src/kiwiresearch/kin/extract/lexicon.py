"""The words by which pages about people are read, and how names of people are recognised in a text."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import NamedTuple

import regex  # type: ignore[import-untyped]

from kiwiresearch.kin.names import name_words
from kiwiresearch.kin.tree import Qualifier
from kiwiresearch.text.words import fold

Pattern = re.Pattern[str]
Match = re.Match[str]

__all__ = ["Match", "Pattern", "regex"]


@dataclass(frozen=True, slots=True)
class FamilyWords:
    """Labels, cues and rejects of one language."""

    labels: dict[str, str]
    """From a folded label to the kind of row it names."""
    notes: dict[str, str]
    """From '(father)' behind a name to the field."""
    qualifiers: tuple[tuple[Qualifier, Pattern], ...]
    begun: Pattern
    ended: Pattern
    divorced: Pattern
    nobody: frozenset[str]
    places: frozenset[str]
    kinds: tuple[tuple[str, Pattern], ...]
    """Kinds of pages that are about nobody."""
    group_title: Pattern
    human: Pattern
    sections: dict[str, Pattern]


@cache
def family_words(language: str) -> FamilyWords | None:
    """The words of a language (ISO 639-3); None where there are none, so that only figures can be read."""
    file = resources.files("kiwiresearch.kin.extract") / "data" / f"{language}.toml"
    if language not in LANGUAGES or not file.is_file():
        return None
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    people = data["people"]
    human = "|".join(sorted(people["human"].replace("_", " ").split(), key=len, reverse=True))
    return FamilyWords(
        labels=_inverted(data["labels"]),
        notes=_inverted(data["notes"]),
        qualifiers=tuple((name, _word(text)) for name, text in data["qualifiers"].items()),
        begun=_word(data["marriage"]["begun"]),
        ended=_word(data["marriage"]["ended"]),
        divorced=_word(data["marriage"]["divorced"]),
        nobody=frozenset(data["rejects"]["nobody"].split()),
        places=frozenset(fold(word) for word in data["rejects"]["places"].split() if "_" not in word),
        kinds=tuple((name, regex.compile(people[name], regex.IGNORECASE)) for name in NON_PERSON_KINDS),
        group_title=regex.compile(people["group_title"], regex.IGNORECASE),
        human=regex.compile(rf"\b(?:{human})s?\b", regex.IGNORECASE),
        sections={name: regex.compile(text, regex.IGNORECASE) for name, text in data["sections"].items()},
    )


LANGUAGES = ("eng",)
NON_PERSON_KINDS = ("surname", "fiction", "myth", "several", "animal", "work")


def _inverted(table: dict[str, str]) -> dict[str, str]:
    return {word: kind for kind, words in table.items() for word in words.split("|")}


def _word(text: str) -> Pattern:
    compiled: Pattern = regex.compile(rf"(?<!\w)(?:{text})(?!\w)", regex.IGNORECASE)
    return compiled


def label_kind(key: str, words: FamilyWords) -> str:
    """What a row of this label tells: 'birth', 'spouse', …; empty if nothing about the family."""
    plain = fold(PLURAL.sub("", key))
    return words.labels.get(plain, "") or words.labels.get(plain.removesuffix("s"), "")


PLURAL = regex.compile(r"\(\w{1,3}\)|[\[(]\d+[\])]|[:*†]")


class Span(NamedTuple):
    """A piece of a text: `text[start:end]`."""

    start: int
    end: int


CAP = (
    r"(?:(?!(?:Jr|Sr)\b)\p{Lu}[\p{L}\p{M}]*"
    r"(?:['’ʼ‘\-](?!(?:s|married|born|who)\b)\p{L}[\p{L}\p{M}]*)*(?:(?<=\b\p{Lu})\.)?)"
)
QUOTED = (
    r"(?:\([\"“]\p{Lu}[^\"“”,.!?]{0,23}[\"”]\)|[\"“]\p{Lu}[^\"“”,.!?]{0,23}[\"”]|"
    r"\(\p{Lu}[\p{L}\-’']{1,20}\)|\((?:née|nee|born) \p{Lu}[^()\d]{1,25}\)"
    r"|n[ée]e \p{Lu}[\p{L}\-]+)"
)
HONORIFIC = (
    r"(?:(?:the )?(?:Grand|Crown) (?=(?:Duke|Duchess|Prince|Princess)\b)|"
    r"(?:Grand|Crown) (?:Duke|Duchess|Prince|Princess)\b|"
    r"(?:Dr|Mrs?|Ms|St|Revd|Rev|Capt|Gen|Prof|Lt|Col|Hon|Fr|Sgt|Maj)\b\.?|the Rev\.|the future|future president"
    r"|the (?:\p{Lu}\p{Ll}+ )?(?=(?:Prince|Princess|Lady|Lord|Duke|Earl|Queen|King|Infante?a?)\b)"
    r"|(?:Miss|Sir|Dame|Lady|Lord|King|Queen|Prince|Princess|HRH|HM|HIH|HSH|The)\b)"
)
PARTICLE = (
    r"(?:de la|de las|de los|van der|van den|von der|de|da|di|del|della|du|des|der|den|la|le|van|von|zu|ap|ab|"
    r"ferch|verch|ibn|bin|bint|mac|y|af|av|ó|ní|d['’]|l['’])"
)
NUMBER = r"(?:[IVX]+\b(?!\.))"
TITLE = (
    r"(?:(?:the\s+)?(?:\d{1,2}(?:st|nd|rd|th)\s+)?(?:(?:Hereditary|Grand|Crown|Holy|Roman|Dowager|Titular|"
    r"Electoral)\s+)*"
    r"(?:King|Queen|Prince|Princess|Emperor|Empress|Tsar|Duke|Duchess|Archduke|Archduchess|Marquess|Marquis|"
    r"Marchioness|Earl|Count|Countess|Viscount|Viscountess|Baron|Baroness|Lord|Lady|Landgrave|Landgravine|Margrave|"
    r"Margravine|Elector|Electress|Infante|Infanta|Dauphin)\b"
    r"(?:\s+(?:Royal|Consort|Regent|Palatine|Dowager))*"
    rf"(?:\s+(?:of|in)\s+(?:the\s+)?{CAP}(?:[ \-]+(?:(?:of|the|de|upon)\s+)*{CAP})*"
    rf"(?:\s+and\s+(?:of\s+)?(?:the\s+)?(?:(?:Duke|Duchess|Earl|King|Queen|Count|Countess|Prince|Princess|"
    rf"Lord)\s+of\s+)?"
    rf"{CAP}(?!['’\-\p{{L}}])(?!\s+(?:of|\p{{Lu}}|was|were|[IVX]+)\b)(?!\s+\p{{Lu}})){{0,3}})?)"
)
NAME = regex.compile(
    rf"(?:{HONORIFIC}\s+)*{CAP}"
    rf"(?:[ ]+(?:{QUOTED}[ ]+)?(?:{PARTICLE}(?:[ ]+|(?<=['’])))*(?:{CAP}))*"
    rf"(?:[ ]+{QUOTED}(?=[,;.)\s]|$))?"
    rf"(?:[ ]+{PARTICLE}[ ]+{CAP})*"
    r"(?:,?[ ]+(?:Jr|Sr)\b\.?)?"
    rf"(?:[ ]+(?:of|the)[ ]+(?:the[ ]+)?{CAP}(?:[ ]+{CAP})*)?"
    rf"(?:,[ ]+(?:{TITLE}|the[ ]+{CAP}(?:[ ]+{CAP})?(?=[ ]*(?:[,.;()\n\t]|$|and\b))))?"
)
NOT_THE_FIRST = regex.compile(r"(?:President|Senator|Governor|Congressman|Professor|Minister)\b")


def name_at(text: str, start: int, end: int, words: FamilyWords) -> Span | None:
    """The name that begins just here, if one does."""
    found = NAME.match(text, start, end)
    if not found:
        return None
    stop = found.end()
    while stop > start and text[stop - 1] in " ,\n":
        stop -= 1
    numbered = regex.search(r"\s[IVX]+(?=\.(?:$|\s+\p{Lu}\p{Ll}))", text[start:stop])
    stop = start + numbered.end() if numbered else stop
    bare = regex.search(
        r",\s+(?:the\s+)?(?:Lady|Lord|Count|Countess|Viscount|Viscountess|Baron|Baroness|King|Queen|Prince|Princess|Duke|Duchess)$",
        text[start:stop],
    )
    stop = start + bare.start() if bare else stop
    if NATIONALITY.match(text, start, end):
        return None
    return Span(start, stop) if is_name(text[start:stop], words) else None


NATIONALITY = regex.compile(
    r"\p{Lu}\p{Ll}+(?:an|ese|ish|ote|ch)\s+(?!(?:and|or|in|on|at|of|was|who|to|from|by|as|died|had|is|born|"
    r"for|but|with|because|when|after|before|until|were)\b)\p{Ll}"
)
"""'Epirote princess', 'Macedonian aristocracy': of which people, and no name."""


def is_name(written: str, words: FamilyWords) -> bool:
    """Whether this can be a person's name: no bare place, month, people or title."""
    if "\n" in written or len(written) > 90 or "NN" in written.split():
        return False
    heads = written.split(",")[0]
    heads = regex.split(r"\s(?:of|the)\s", heads)[0]
    tokens = [fold(token) for token in regex.findall(r"[\p{L}\p{M}'’.\-]+", heads)]
    tokens = [token for token in tokens if token]
    honorifics = name_words().honorifics
    if len(tokens) > 1 and tokens[0] == "the" and tokens[1] in honorifics:
        tokens = tokens[1:]
    if not tokens or tokens[0] in words.nobody:
        return False
    if NON_PERSON_WORDS & set(tokens):
        return False
    tokens = [part for token in tokens for part in token.split()]
    known = name_words()
    own = [token for token in tokens if token not in honorifics and not regex.fullmatch(r"[ivx]+", token)]
    own = own or [token for token in tokens[-1:] if token in known.female]
    if not own or (len(own) == 1 and len(own[0]) < 2):
        return False
    given = own[0] in known.female or own[0] in known.male
    if given:
        return True
    return not all(token in words.places or token in MONTHS for token in own) and own[0] not in words.places


NON_PERSON_WORDS = frozenset(
    {
        "county",
        "formula",
        "prix",
        "catholic",
        "protestant",
        "party",
        "church",
        "empire",
        "university",
        "regiment",
        "united",
    }
)
MONTHS = frozenset(["january", "february", "june", "july", "september", "october", "november", "december"])
