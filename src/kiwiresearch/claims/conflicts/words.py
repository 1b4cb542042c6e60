"""The words that matter when sentences are compared, and the events that dates belong to."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from kiwiresearch.text import language_words, stemmer

DATA_FOLDER = files("kiwiresearch.claims") / "data" / "compare"

# Removed after the stemmer, which leaves 'survivor' and 'survive' apart; at least five letters must remain, so
# 'actor' keeps its ending.
ENDINGS = ("ment", "or", "er", "ion", "anc", "enc", "ist", "ian", "al", "ur")
MIN_STEM_CHARS = 5


@dataclass(frozen=True, slots=True)
class ComparisonWords:
    """The words of one language that matter when sentences are compared."""

    function_words: frozenset[str]
    """Words that say nothing about what is compared: `also`, `according`, pronouns and stop words."""
    pronouns: frozenset[str]
    """Words that stand for what the text is about: `she`, `this`."""
    subject_verbs: frozenset[str]
    """Verbs before which a subject ends, beside words in -ed: `was`, `wrote`."""
    clause_end: re.Pattern[str]
    """Where a clause ends: a semicolon, or a comma before `while`."""
    synonyms: Mapping[str, str]
    """The stem that stands for others: that of `born` for `birth`."""
    events: Mapping[str, str]
    """Words for what happens to one thing once: `christened` is `baptism`."""
    event_phrases: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]
    """The same for cues of several words, by their first: `set`, with `up` and `founding`."""
    event_nouns: frozenset[str]
    """Nouns for events: `siege`."""
    forms_of_be: frozenset[str]
    """`is`, `were`: with one of them before it, a verb is passive."""
    relative_pronouns: frozenset[str]
    """Pronouns that stand for the name before them: `who`."""
    event_orders: frozenset[tuple[str, str]]
    """Pairs of events that have an order: a `birth` cannot come after a `death`."""
    place_cues: Mapping[str, str]
    """Words before a place that a person has only one of: `interred` for the place of `burial`."""
    agent_verbs: frozenset[str]
    """What is done by one person, or by a few who are named together: `composed`."""
    single_values: Mapping[str, tuple[str, ...]]
    """Relations with one value, and the words before it: `origin`, by `named after`."""
    single_roles: frozenset[str]
    """Roles that only one thing holds at a time: `capital`, in 'The capital of Peru is Lima'."""
    regions: frozenset[str]
    """Names of regions: `bavaria`. A region does not contradict a town in it."""
    kinds: Mapping[str, str]
    """Words of a kind that a thing has only one of: `crimson` is a `colour`."""
    scopes: tuple[Mapping[str, int], ...]
    """Words for different groups or measures in each row: `urban` is 0 and `rural` is 1."""
    before_scope_places: frozenset[str]
    """A place after one of these narrows what a number is about: `within`."""
    unnamed_places: frozenset[str]
    """Places that are not names: `world`, in 'the highest in the world'."""
    before_places: frozenset[str]
    """A place after one of these is what a distance is measured from: `of`, in 'north of Rome'."""
    negations: frozenset[str]
    """Negations: `never`. `has_negation` in `claims/firewall.py` has a longer list."""
    negating_prefixes: tuple[str, ...]
    """What turns a word into its opposite: `un`."""
    auxiliaries: frozenset[str]
    """Verbs that a negation needs and its opposite does not: `did`, in 'did not win'."""
    strong_opposites: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    """Words that contradict each other about one name: `executed` and `pardoned`."""
    weak_opposites: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    """Words that do so only if most of the other words are the same: `rose` and `fell`."""
    in_open_lists: frozenset[str]
    """Words in a list that is not whole: `etc`."""
    before_open_lists: frozenset[str]
    """Words before such a list: `including`."""
    relation_cues: frozenset[str]
    """A sentence with none of these words has no relation with one value: `by`, and the cues above."""
    ordinals: Mapping[str, int]
    """`third` is 3."""
    superlatives: frozenset[str]
    """What a rank is of, beside words in -est: `most`."""
    common_ordinals: frozenset[str]
    """Ordinals that are said of too many things: `1st`."""
    numbers: Mapping[str, int]
    """`seven` is 7."""
    measures: frozenset[str]
    """Stems of what is measured, where two are two things: `height`."""
    value_words: frozenset[str]
    """Words that may be all that differs between two values: `dozen`, `march`, `km`."""


@cache
def comparison_words(language: str) -> ComparisonWords:
    """The words of a language; those of English if it has no table."""
    name = language if (DATA_FOLDER / f"{language}.toml").is_file() else "eng"
    table: dict[str, Any] = tomllib.loads((DATA_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    single_values = {relation: tuple(cues) for relation, cues in table["single_values"].items()}
    places = {cue: place for place, cues in table["place_cues"].items() for cue in cues}
    kinds = {word: kind for kind, lines in table["kinds"].items() for word in _set(lines)}
    agents, roles = _set(table["agents"]["verbs"]), _set(table["single_roles"]["nouns"])
    first_words = {cue.split()[0] for cues in single_values.values() for cue in cues}
    events = [(cue, event) for event, cues in table["events"].items() for cue in cues]
    negation = table["negation"]
    return ComparisonWords(
        function_words=_set(table["function_words"]) | _set(table["pronouns"]) | language_words(name).stop_words,
        pronouns=_set(table["pronouns"]),
        subject_verbs=_set(table["subject_verbs"]),
        clause_end=re.compile(rf"[;:—|]| [–-] |, (?:{'|'.join(sorted(_set(table['clause_words'])))}) "),
        synonyms={word_family(word, name): word_family(line[0], name) for line in table["synonyms"] for word in line},
        events={cue: event for cue, event in events if " " not in cue},
        event_phrases=_phrases(events),
        event_nouns=_set(table["event_nouns"]),
        forms_of_be=_set(table["forms_of_be"]),
        relative_pronouns=_set(table["relative_pronouns"]),
        event_orders=frozenset((first, second) for first, second in table["event_orders"]["pairs"]),
        place_cues=places,
        agent_verbs=agents,
        single_values=single_values,
        single_roles=roles,
        regions=frozenset(word_family(word, name) for word in _set(table["regions"]["names"])),
        kinds=kinds,
        relation_cues=frozenset({"by", *places, *kinds, *agents, *roles, *first_words}),
        scopes=tuple({w: n for n, words in enumerate(line) for w in words} for line in table["scopes"]["sides"]),
        before_scope_places=_set(table["scopes"]["before_scope_places"]),
        unnamed_places=_set(table["scopes"]["unnamed_places"]),
        before_places=_set(table["scopes"]["before_places"]),
        negations=_set(negation["words"]),
        negating_prefixes=tuple(negation["prefixes"]),
        auxiliaries=_set(negation["auxiliaries"]),
        strong_opposites=_pairs(negation["strong"]),
        weak_opposites=_pairs(negation["weak"]),
        in_open_lists=_set(table["lists"]["open"]),
        before_open_lists=_set(table["lists"]["open_before"]),
        ordinals={word: n for n, word in enumerate(table["ordinals"]["words"][0].split(), 1)},
        superlatives=_set(table["ordinals"]["superlatives"]),
        common_ordinals=_set(table["ordinals"]["common"]),
        # The first twenty words of the first line are 'one' to 'twenty', in order.
        numbers={word: n for n, word in enumerate(table["values"]["words"][0].split()[:20], 1)},
        measures=frozenset(word_family(word, name) for word in _set(table["values"]["measures"])),
        value_words=_set(table["values"]["words"]),
    )


def _set(lines: Iterable[str]) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


def _pairs(lines: Iterable[list[str]]) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    return tuple((tuple(line.split()), tuple(other.split())) for line, other in lines)


def _phrases(events: Iterable[tuple[str, str]]) -> dict[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """Cues of several words, by their first."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for cue, event in events:
        first, *rest = cue.split()
        if rest:
            found.setdefault(first, []).append((tuple(rest), event))
    return {first: tuple(sorted(cues)) for first, cues in sorted(found.items())}


@lru_cache(maxsize=131_072)
def word_family(word: str, language: str) -> str:
    """A stem that 'survivors' and 'survived' share."""
    stem = stemmer(language)(word)
    for ending in ENDINGS:
        if stem.endswith(ending) and len(stem) - len(ending) >= MIN_STEM_CHARS:
            return stem[: -len(ending)]
    return stem


def shared_stem(word: str, language: str) -> str:
    """The same, but synonyms share it too."""
    stem = word_family(word, language)
    return comparison_words(language).synonyms.get(stem, stem)


PERSONAL = frozenset({"birth", "death", "burial", "baptism"})
"""Events that happen once per person, so that the name alone identifies them."""

MAX_PHRASE_WORDS = 8
"""How many words before or after a verb may say what it is about."""


class SentenceWord(NamedTuple):
    """A word of a sentence; `stem` is empty for function words."""

    start: int
    end: int
    low: str
    stem: str
    is_name: bool
    clause: int


def event_at(
    words: Sequence[SentenceWord], start: int, end: int, clause: int, known: ComparisonWords
) -> tuple[str, int, int]:
    """The event nearest to a date in its clause, and the numbers of its words; one before the date is preferred."""
    before, after = ("", 0, 0), ("", 0, 0)
    is_label = sum(word.clause == clause and bool(word.stem) for word in words) < 2  # 'Founded: 1910'
    for at, word in enumerate(words):
        if word.clause != clause and not (is_label and word.clause == clause - 1):
            continue
        if (word.is_name and known.events.get(word.low) not in PERSONAL) or _is_late_noun(word, start, known):
            continue
        found = (known.events.get(word.low, ""), at, at + 1)
        for rest, name in known.event_phrases.get(word.low, ()):
            if tuple(w.low for w in words[at + 1 : at + 1 + len(rest)]) == rest:
                found = (name, at, at + 1 + len(rest))
        # The last event before the date and the first one after it: the nearest on each side.
        if found[0] and word.start < start:
            before = found
        elif found[0] and word.start >= end and not after[0]:
            after = found
    return before if before[0] else after


def _is_late_noun(word: SentenceWord, start: int, known: ComparisonWords) -> bool:
    """'In 1660, after his death': a noun is dated by what follows it, and 'Black Death' is a name."""
    return word.low in known.event_nouns and (word.is_name or word.start >= start)


def event_subject(
    words: Sequence[SentenceWord], event: str, first: int, last: int, known: ComparisonWords
) -> frozenset[str] | None:
    """Who or what an event happened to; None if a pronoun or a noun leaves that open."""
    if words[first].low in known.event_nouns:
        if last < len(words) and words[last].low == "of":
            return _name_at_start(words[last + 1 :])
        if not first:
            return frozenset()  # 'Release: 3 May 1999'
        return _name_before(words, first) if words[first - 1].is_name else None
    if event in PERSONAL:
        return owner_name(words, first, known)
    clause = words[first].clause
    before = [word for word in words[:first] if word.clause == clause]
    after = [word for word in words[last : last + MAX_PHRASE_WORDS] if word.clause == clause]
    is_passive = any(word.low in known.forms_of_be for word in before[-3:])
    objects = frozenset() if is_passive else frozenset(word.stem for word in after if word.stem)
    return objects or frozenset(word.stem for word in before[-MAX_PHRASE_WORDS:] if word.stem)


def owner_name(words: Sequence[SentenceWord], at: int, known: ComparisonWords) -> frozenset[str] | None:
    """The name before a word; empty if the sentence starts with a pronoun, None if it is uncertain."""
    for place in range(at - 1, -1, -1):
        word = words[place]
        if word.is_name:
            return _name_before(words, place + 1)
        # Backwards over function words to the nearest name or noun. A pronoun leaves it open unless it comes first.
        if word.low in known.relative_pronouns or (not word.stem and word.low not in known.pronouns):
            continue
        if word.low in known.pronouns:
            return frozenset() if place == 0 else None
        return frozenset({word.stem})
    return frozenset()


def _name_before(words: Sequence[SentenceWord], at: int) -> frozenset[str]:
    run: list[SentenceWord] = []
    for word in reversed(words[:at]):
        if not word.is_name or (run and word.end + 2 < run[-1].start and not _joined(words, word, run[-1])):
            break
        run.append(word)
    return frozenset(word.stem for word in run)


def _joined(words: Sequence[SentenceWord], one: SentenceWord, other: SentenceWord) -> bool:
    """Whether only a function word that names may contain is between two words."""
    between = [word for word in words if one.end <= word.start < other.start]
    return len(between) == 1 and between[0].low in ("of", "de", "van", "von", "the", "da", "di")


def _name_at_start(words: Sequence[SentenceWord]) -> frozenset[str] | None:
    run: list[str] = []
    for word in words[:MAX_PHRASE_WORDS]:
        if not word.is_name and (run or word.stem):
            break
        if word.is_name:
            run.append(word.stem)
    return frozenset(run) or None
