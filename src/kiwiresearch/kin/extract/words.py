"""The words by which pages about persons are read, of the languages that have a file."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from kiwiresearch.kin.extract.patterns import Pattern, regex
from kiwiresearch.kin.fields import Qualifier
from kiwiresearch.text.fold import fold


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
    if language not in WITH_WORDS or not file.is_file():
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
        kinds=tuple((name, regex.compile(people[name], regex.IGNORECASE)) for name in KINDS),
        group_title=regex.compile(people["group_title"], regex.IGNORECASE),
        human=regex.compile(rf"\b(?:{human})s?\b", regex.IGNORECASE),
        sections={name: regex.compile(text, regex.IGNORECASE) for name, text in data["sections"].items()},
    )


WITH_WORDS = ("eng",)
KINDS = ("surname", "fiction", "myth", "several", "animal", "work")


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
