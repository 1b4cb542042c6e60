"""The words and patterns by which family research reads a language, from `data/eng.toml`.

Only English has a file. Its patterns assume English word order, so another language needs rules of its own as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import TypedDict, TypeVar, cast

import regex  # type: ignore[import-untyped]

from kiwiresearch.codec import toml_data
from kiwiresearch.kin.tree import FieldName, Qualifier, Sex
from kiwiresearch.text import fold

Pattern = re.Pattern[str]
Match = re.Match[str]
K = TypeVar("K")

__all__ = ["Match", "Pattern", "regex"]

DATA = files("kiwiresearch.kin") / "data"
# '{cap}' is a placeholder, '{2,15}' a quantifier.
PLACEHOLDER = re.compile(r"\{([a-z][a-z_]+)\}")
LINE_BREAK = re.compile(r"^\s+|\n\s*")
INITIAL_PATTERN = re.compile(r"[A-Z]\.")
# What follows the word in labels such as 'Child(ren)', 'Spouse(s)[1]' and 'Parents:'; '(born 1850)' stays.
PLURAL = regex.compile(r"\(\w{1,3}\)|[\[(]\d+[\])]|[:*†]")
NON_PERSON_KINDS = ("surname", "fiction", "myth", "several", "animal", "work")


class LanguageData(TypedDict):
    """The tables of a file."""

    classes: dict[str, str]
    patterns: dict[str, str]
    words: dict[str, list[str]]
    notes: dict[str, str]
    qualifiers: dict[Qualifier, str]
    marriage: dict[str, str]
    rejects: dict[str, str]
    people: dict[str, str]
    sections: dict[str, str]
    labels: dict[str, list[str]]
    read_labels: dict[str, list[str]]
    kin_sex: dict[Sex, list[str]]
    owned: dict[FieldName, list[str]]
    role_of: dict[FieldName, list[str]]
    check: dict[str, dict[str, list[str]]]


def language_data(language: str) -> LanguageData:
    """The file of a language (ISO 639-3); the English one for those that have none."""
    name = language if has_family_words(language) else "eng"
    return cast("LanguageData", toml_data("kiwiresearch.kin", f"data/{name}.toml"))


class Language:
    """The patterns of a language by name, `ENGLISH.married.search(text)`, each compiled on first use."""

    def __init__(self, language: str) -> None:
        self._language = language

    @cached_property
    def _data(self) -> LanguageData:
        return language_data(self._language)

    def __getattr__(self, name: str) -> Pattern:
        if name.startswith("_"):
            raise AttributeError(name)
        compiled: Pattern = regex.compile(self._source(name))
        setattr(self, name, compiled)
        return compiled

    def __getitem__(self, name: str) -> Pattern:
        """The pattern with this name in a table of rules."""
        pattern: Pattern = getattr(self, name)
        return pattern

    def _source(self, name: str) -> str:
        """A pattern with the classes and patterns that it refers to filled in."""
        text = self._data["classes"].get(name) or self._data["patterns"][name]
        return PLACEHOLDER.sub(lambda found: self._source(found[1]), LINE_BREAK.sub("", text))

    @cached_property
    def words(self) -> Mapping[str, frozenset[str]]:
        """Sets of words by name."""
        return {name: frozenset(words) for name, words in self._data["words"].items()}

    @cached_property
    def notes(self) -> Mapping[str, str]:
        """The field that a note such as '(father)' after a name gives."""
        return {word: field for field, words in self._data["notes"].items() for word in words.split("|")}

    @cached_property
    def qualifiers(self) -> tuple[tuple[Qualifier, Pattern], ...]:
        return tuple((name, _word(text)) for name, text in self._data["qualifiers"].items())

    @cached_property
    def marriage(self) -> Mapping[str, Pattern]:
        """The words before the dates of a marriage, by the keys `begun`, `ended` and `divorced`."""
        return {name: _word(text) for name, text in self._data["marriage"].items()}

    @cached_property
    def nobody(self) -> frozenset[str]:
        """Words that no name begins with."""
        return frozenset(self._data["rejects"]["nobody"].split())

    @cached_property
    def places(self) -> frozenset[str]:
        """Capitalised words that are not names of people."""
        return frozenset(fold(word) for word in self._data["rejects"]["places"].split() if "_" not in word)

    @cached_property
    def kinds(self) -> tuple[tuple[str, Pattern], ...]:
        """Kinds of pages that are not about a person, by their first sentence."""
        return tuple((name, _any_case(self._data["people"][name])) for name in NON_PERSON_KINDS)

    @cached_property
    def group_title(self) -> Pattern:
        return _any_case(self._data["people"]["group_title"])

    @cached_property
    def human(self) -> Pattern:
        """Nouns for what a person is or does."""
        nouns = sorted(self._data["people"]["human"].replace("_", " ").split(), key=len, reverse=True)
        return _any_case(rf"\b(?:{'|'.join(nouns)})s?\b")

    @cached_property
    def sections(self) -> Mapping[str, Pattern]:
        return {name: _any_case(text) for name, text in self._data["sections"].items()}

    @cached_property
    def _labels(self) -> Mapping[str, str]:
        return {**_by_word(self._data["labels"]), **_by_word(self._data["read_labels"])}

    def label_kind(self, key: str) -> str:
        """What an infobox row of this label gives: 'birth', 'spouse', …; empty if nothing about the family."""
        label = fold(PLURAL.sub("", key))
        return self._labels.get(label, "") or self._labels.get(label.removesuffix("s"), "")

    @cached_property
    def kin_sex(self) -> Mapping[str, Sex]:
        """The sex that a noun for a relative implies."""
        return _by_word(self._data["kin_sex"])

    @cached_property
    def owned_fields(self) -> Mapping[str, FieldName]:
        """The field that 'his NOUN, A' gives A."""
        return _by_word(self._data["owned"])

    @cached_property
    def spouses(self) -> frozenset[str]:
        """The nouns for a husband or wife."""
        return frozenset(noun for noun, field in self.owned_fields.items() if field == "spouse") | {"wives", "husbands"}

    @cached_property
    def role_of_fields(self) -> Mapping[str, FieldName]:
        """The field that 'the NOUN of A' gives A."""
        return _by_word(self._data["role_of"])


def _by_word(table: Mapping[K, Iterable[str]]) -> dict[str, K]:
    return {word: kind for kind, words in table.items() for word in words}


ENGLISH = Language("eng")


@cache
def has_family_words(language: str) -> bool:
    """Whether pages in a language can be read; without a word list only dates could be."""
    return language.isascii() and language.isalpha() and (DATA / f"{language}.toml").is_file()


def _word(text: str) -> Pattern:
    compiled: Pattern = regex.compile(rf"(?<!\w)(?:{text})(?!\w)", regex.IGNORECASE)
    return compiled


def _any_case(text: str) -> Pattern:
    compiled: Pattern = regex.compile(text, regex.IGNORECASE)
    return compiled


@dataclass(frozen=True, slots=True)
class FamilyCue:
    """A word that was found, `text[start:end]`, and the kind it belongs to."""

    kind: str
    start: int
    end: int
    word: str

    def moved(self, by: int) -> FamilyCue:
        return FamilyCue(self.kind, self.start + by, self.end + by, self.word)


@dataclass(frozen=True, slots=True)
class PhraseMatcher:
    """Phrases by kind, all found in one pass; the longest wins."""

    pattern: re.Pattern[str]
    kinds: Mapping[str, str]

    def found_in(self, text: str) -> list[FamilyCue]:
        # 'M.' is an initial where 'm.' is a marriage.
        matches = (match for match in self.pattern.finditer(text) if not INITIAL_PATTERN.fullmatch(match[0]))
        return [FamilyCue(self.kinds[match[0].lower()], *match.span(), match[0].lower()) for match in matches]


@dataclass(frozen=True, slots=True)
class CueTable:
    """The cue words of one language by which quotes are checked."""

    labels: Mapping[str, frozenset[str]]
    events: PhraseMatcher
    kin: PhraseMatcher
    ties: PhraseMatcher
    unstated: PhraseMatcher
    sexes: Mapping[str, Sex]
    words: Mapping[str, frozenset[str]]

    def label_kinds(self, label: str) -> frozenset[str]:
        """What a row of this label gives; empty if the label is unknown."""
        plain = " ".join(ENGLISH.label_tail.sub("", label).split()).lower()
        return self.labels.get(plain, frozenset())


@cache
def cue_table() -> CueTable:
    file = language_data("eng")
    data = file["check"]
    labels: dict[str, set[str]] = {}
    for table in (file["labels"], data["labels"]):
        for kind, phrases in table.items():
            for phrase in phrases:
                labels.setdefault(phrase, set()).add(kind)
    return CueTable(
        labels={label: frozenset(kinds) for label, kinds in labels.items()},
        events=_phrases(data["events"]),
        kin=_phrases(data["kin"]),
        ties=_phrases(data["ties"]),
        unstated=_phrases(data["unstated"]),
        sexes=_by_word(cast("dict[Sex, list[str]]", data["sexes"])),
        words={kind: frozenset(words) for kind, words in data["words"].items()},
    )


def sex_by_kin(words: str, kind: str) -> Sex:
    """The sex that the nouns for this kind of relative imply, if they agree: 'his wife', but not 'the wife of'."""
    table = cue_table()
    cues = [cue for cue in table.kin.found_in(words) if cue.kind == kind and not ENGLISH.kin_of.match(words, cue.end)]
    sexes = {table.sexes.get(cue.word, "") or table.sexes.get(cue.word.removesuffix("s"), "") for cue in cues}
    return sexes.pop() if len(sexes) == 1 else ""


def _phrases(table: Mapping[str, Iterable[str]]) -> PhraseMatcher:
    kinds = _by_word(table)
    # An alternation takes the first phrase that fits, so 'half brother' must come before 'half'.
    longest_first = sorted(kinds, key=lambda phrase: (-len(phrase), phrase))
    return PhraseMatcher(re.compile("|".join(map(_phrase_pattern, longest_first)), re.IGNORECASE), kinds)


def _phrase_pattern(phrase: str) -> str:
    # A hyphen counts as part of a word: 'son' is neither in 'son-in-law' nor in 'step-son'.
    before = r"(?<![\w-])" if phrase[0].isalnum() else ""
    after = r"(?![\w-])" if phrase[-1].isalnum() else ""
    return before + re.escape(phrase) + after
