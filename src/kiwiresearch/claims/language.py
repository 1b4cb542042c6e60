"""The word tables of a language for recognizing and checking claims."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from kiwiresearch.claims.claim import CLAIM_TYPES, ClaimType
from kiwiresearch.text import NEVER, any_of, language_words, phrase_pattern

DATA_FOLDER = files("kiwiresearch.claims") / "data"
STRONG_WEIGHT, WEAK_WEIGHT = 2.0, 0.7


class TypeCue(NamedTuple):
    """A phrase that suggests a type; it has a space at both ends, since it is searched for in padded words."""

    phrase: str
    type: ClaimType
    weight: float


@dataclass(frozen=True, slots=True)
class Grammar:
    """Words that start a sentence, and words that refer to something outside it."""

    connective: re.Pattern[str]
    kept_connectives: frozenset[str]
    ordering_connectives: frozenset[str]
    """Connectives that depend on what was said before: 'Finally'."""
    introductions: frozenset[str]
    adverbs: frozenset[str]
    genders: Mapping[str, str]
    """Pronouns and what they refer to: male, female, thing, plural."""
    possessive: frozenset[str]
    demonstratives: frozenset[str]
    """First words that refer to something that is not in the sentence: `these`."""
    demonstratives_with_noun: frozenset[str]
    """Those that may begin a sentence that stands alone when a noun of its own follows: `some`."""
    dangling: Mapping[str, tuple[str, ...]]
    """Phrases that refer to something outside a sentence, by the longest word in each."""
    pronoun_second: re.Pattern[str]
    """A sentence whose second word is a pronoun: 'Today they are seen …'."""
    adds: re.Pattern[str]
    """The start of a sentence that only adds to the one before it."""
    ends_in_pronoun: re.Pattern[str]
    """A short sentence that ends in a pronoun: 'The frost closed it.'"""
    cross_references: re.Pattern[str]
    """Words that send the reader to another page: 'see also'."""
    number_words: frozenset[str]
    expletive: re.Pattern[str]
    kinds: frozenset[str]
    parts: frozenset[str]
    """Nouns for what a place or a thing has one of: 'the population' is that of the page's subject."""
    has_parts: frozenset[str]
    """Kinds of things that have those parts."""
    counted: frozenset[str]
    """Words that count or single out something that is not in the sentence."""
    people: frozenset[str]
    verbs: frozenset[str]
    nouns_too: frozenset[str]
    """Verbs that look like nouns."""
    nouns_in_ly: frozenset[str]
    """Nouns that look like adverbs: 'family'."""
    not_before_verbs: frozenset[str]
    measures: Mapping[str, tuple[str, ...]]
    """The properties that a unit may measure, most usual first."""
    measure_words: Mapping[str, str]
    number_verbs: frozenset[str]
    """Verbs that may be between a subject and a number that measures it."""
    number_fillers: frozenset[str]
    """Other words that may be there."""


def has_claim_tables(language: str) -> bool:
    return (DATA_FOLDER / f"{language}.toml").is_file()


@dataclass(frozen=True, slots=True)
class TypeCues:
    """The cues of a language, by the longest word in each, and phrases that are removed before the search."""

    by_word: Mapping[str, tuple[TypeCue, ...]]
    blank: re.Pattern[str]
    blank_words: frozenset[str]


@cache
def type_cues(language: str) -> TypeCues:
    table = tomllib.loads((DATA_FOLDER / "cues" / f"{language}.toml").read_text(encoding="utf-8"))
    by_word: dict[str, list[TypeCue]] = {}
    common = language_words(language).stop_words
    for kind in CLAIM_TYPES:
        for strength, weight in (("strong", STRONG_WEIGHT), ("weak", WEAK_WEIGHT)):
            for phrase in table.get(kind, {}).get(strength, ()):
                # Looked up by its longest word that is not a stop word, so that few sentences are searched for it.
                word = max(phrase.split(), key=lambda word: (word not in common, len(word)))
                by_word.setdefault(word, []).append(TypeCue(f" {phrase} ", kind, weight))
    blank = re.compile(rf" (?:{any_of(table['blank'])}) ")
    blank_words = frozenset(max(phrase.split(), key=len) for phrase in table["blank"])
    return TypeCues({word: tuple(cues) for word, cues in by_word.items()}, blank, blank_words)


@cache
def grammar_of(language: str) -> Grammar:
    table = tomllib.loads((DATA_FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    genders = {word: kind for kind in ("male", "female", "thing", "plural") for word in table[kind]}
    words = {word: measure for measure, words in table["measure_words"].items() for word in words.split()}
    return Grammar(
        connective=re.compile(rf"(?:{any_of(table['connectives'])})(?:,\s*|\s+)", re.IGNORECASE),
        kept_connectives=frozenset(table["kept_connectives"]),
        ordering_connectives=frozenset(table["ordering_connectives"]),
        introductions=frozenset(table["introductions"]),
        adverbs=frozenset(table["adverbs"]),
        genders=genders,
        possessive=frozenset(table["possessive"]),
        demonstratives=frozenset(table["demonstratives"]),
        demonstratives_with_noun=frozenset(table["demonstratives_with_noun"]),
        dangling=_by_longest_word(table["dangling"]),
        pronoun_second=re.compile(rf"[A-Z][a-z]+,? (?:{any_of(table['pronouns_second'])})\b"),
        # 'Georgia also …' and 'Other groups …' only add to the sentence before; 'Other than …' does not.
        adds=re.compile(
            rf"(?:[^\s,;]+ ){{1,4}}(?:{any_of(table['added_early'])})\b"
            rf"|(?:{any_of(table['added_first'])})\b(?! than\b)",
            re.IGNORECASE,
        ),
        ends_in_pronoun=re.compile(rf"^[^,;:]{{1,80}}\b(?:{any_of(table['pronouns_last'])})[.!?]$"),
        cross_references=phrase_pattern(table["cross_references"]),
        number_words=frozenset(" ".join(table["number_words"]).split()),
        expletive=_expletive(table),
        kinds=frozenset(table["kinds"]),
        has_parts=frozenset(table["has_parts"]),
        counted=frozenset(table["counted"]),
        people=frozenset(table["people"]),
        parts=frozenset(table["parts"]),
        verbs=frozenset(" ".join(table["verbs"]).split()),
        nouns_too=frozenset(table["nouns_too"]),
        nouns_in_ly=frozenset(" ".join(table["nouns_in_ly"]).split()),
        not_before_verbs=frozenset(table["not_before_verbs"]),
        measures={unit: tuple(words.split()) for unit, words in table["measures"].items()},
        measure_words=words,
        number_verbs=frozenset(" ".join(table["number_verbs"]).split()),
        number_fillers=frozenset(" ".join(table["number_fillers"]).split()),
    )


def _expletive(table: Mapping[str, list[str]]) -> re.Pattern[str]:
    """Matches the words after an 'it' that refers to nothing: 'is believed that', 'was in Rome that', 'is easy to'."""
    being = any_of(table["expletives"])
    adverbs = r"(?:[\w-]+\s+){0,3}?"
    return re.compile(
        rf"(?:{being})\s+{adverbs}(?:{any_of(table['expletive_participles'])})\s+(?:[\w-]+\s+){{0,3}}?"
        r"(?:that|whether|how|why|where|when|if)\b"
        rf"|(?:{being})\s+{adverbs}(?:{any_of(table['expletive_adjectives'])})\s+(?:that|to|for|in|among|practice)\b"
        r"|(?:is|was)\s+not\s+until\b|(?:seems|appears|follows)\s+that\b"
        r"|(?:is|was)\s+(?:at|on|by|from|with|for|to|there|in|during|through|under|after|before)\b[^,;]{3,60}\bthat\b",
        re.IGNORECASE,
    )


def _by_longest_word(phrases: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for phrase in phrases:
        found.setdefault(max(re.split(r"[^\w'’-]+", phrase), key=len), []).append(f" {phrase} ")
    return {word: tuple(several) for word, several in found.items()}


FACTS_DATA = files("kiwiresearch.claims") / "data" / "facts"


@dataclass(frozen=True, slots=True)
class FactLanguage:
    """Number words by their value, and the words that mark names, negations and pronouns."""

    small: Mapping[str, int] = field(default_factory=dict)
    tens: Mapping[str, int] = field(default_factory=dict)
    hundred: str = ""
    joining: str = ""
    one: frozenset[str] = frozenset()
    scales: Mapping[str, int] = field(default_factory=dict)
    ordinals: Mapping[str, int] = field(default_factory=dict)
    ordinal_tens: Mapping[str, int] = field(default_factory=dict)
    suffixes: frozenset[str] = frozenset()
    parts: Mapping[str, Fraction] = field(default_factory=dict)
    vague: Mapping[str, int] = field(default_factory=dict)
    common: frozenset[str] = frozenset()
    view_holders: frozenset[str] = frozenset()
    """Words for those who hold a view: 'historians', 'critics'."""
    negations: frozenset[str] = frozenset()
    contraction: str = ""
    pronouns: frozenset[str] = frozenset()
    articles: frozenset[str] = frozenset()
    back_references: frozenset[str] = frozenset()
    expletive: re.Pattern[str] = NEVER


@cache
def fact_language(language: str) -> FactLanguage:
    """The words of a language; without a table, only digits are numbers, and any first word may be a name.

    There is deliberately no fallback to English: 'die' or 'second' mean something else in other languages.
    """
    file = FACTS_DATA / f"{language}.toml"
    if not (language.isascii() and language.isalpha() and file.is_file()):
        return FactLanguage()
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    numbers, names, negations, pronouns = (table[key] for key in ("numbers", "names", "negations", "pronouns"))
    return FactLanguage(
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
        common=frozenset(" ".join(names["common"]).split()) | language_words(language).stop_words,
        view_holders=frozenset(table["holders"]["words"].split()),
        negations=frozenset(negations["words"].split()),
        contraction=negations["contraction"],
        pronouns=frozenset(pronouns["words"].split()),
        articles=frozenset(pronouns["articles"].split()),
        back_references=frozenset(pronouns["phrases"].split()),
        expletive=re.compile(pronouns["expletive"], re.IGNORECASE),
    )
