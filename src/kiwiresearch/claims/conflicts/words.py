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

DATA = files("kiwiresearch.claims") / "data" / "compare"

ENDINGS = ("ment", "or", "er", "ion", "anc", "enc", "ist", "ian", "al", "ur")
MIN_STEM_CHARS = 5


@dataclass(frozen=True, slots=True)
class ComparisonWords:
    """The words of one language that matter when sentences are compared."""

    quiet: frozenset[str]
    """Function words, which carry no content."""
    pronouns: frozenset[str]
    verbs: frozenset[str]
    clause_end: re.Pattern[str]
    alike: Mapping[str, str]
    events: Mapping[str, str]
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]
    event_nouns: frozenset[str]
    being: frozenset[str]
    relative: frozenset[str]
    orders: frozenset[tuple[str, str]]
    places: Mapping[str, str]
    agents: frozenset[str]
    fillers: Mapping[str, tuple[str, ...]]
    holders: frozenset[str]
    regions: frozenset[str]
    kinds: Mapping[str, str]
    sides: tuple[Mapping[str, int], ...]
    before_names: frozenset[str]
    wholes: frozenset[str]
    before_places: frozenset[str]
    denials: frozenset[str]
    prefixes: tuple[str, ...]
    carriers: frozenset[str]
    strong: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    weak: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    open_lists: frozenset[str]
    open_before: frozenset[str]
    filler_cues: frozenset[str]
    """A sentence with none of these words has no relation with a filler."""
    ordinals: Mapping[str, int]
    superlatives: frozenset[str]
    common_ordinals: frozenset[str]
    numbers: Mapping[str, int]
    measures: frozenset[str]
    value_words: frozenset[str]


@cache
def comparison_words(language: str) -> ComparisonWords:
    """The words of a language; those of English if it has no table."""
    name = language if (DATA / f"{language}.toml").is_file() else "eng"
    table: dict[str, Any] = tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))
    fillers = {relation: tuple(cues) for relation, cues in table["fillers"].items()}
    places = {cue: place for place, cues in table["places"].items() for cue in cues}
    kinds = {word: kind for kind, lines in table["classes"].items() for word in _set(lines)}
    agents, holders = _set(table["agents"]["verbs"]), _set(table["holders"]["nouns"])
    first_words = {cue.split()[0] for cues in fillers.values() for cue in cues}
    events = [(cue, event) for event, cues in table["events"].items() for cue in cues]
    denial = table["denial"]
    return ComparisonWords(
        quiet=_set(table["empty"]) | _set(table["pronouns"]) | language_words(name).stop_words,
        pronouns=_set(table["pronouns"]),
        verbs=_set(table["verbs"]),
        clause_end=re.compile(rf"[;:—|]| [–-] |, (?:{'|'.join(sorted(_set(table['clause_words'])))}) "),
        alike={word_family(word, name): word_family(line[0], name) for line in table["alike"] for word in line},
        events={cue: event for cue, event in events if " " not in cue},
        phrases=_phrases(events),
        event_nouns=_set(table["event_nouns"]),
        being=_set(table["being"]),
        relative=_set(table["relative"]),
        orders=frozenset((first, second) for first, second in table["orders"]["pairs"]),
        places=places,
        agents=agents,
        fillers=fillers,
        holders=holders,
        regions=frozenset(word_family(word, name) for word in _set(table["regions"]["names"])),
        kinds=kinds,
        filler_cues=frozenset({"by", *places, *kinds, *agents, *holders, *first_words}),
        sides=tuple({w: n for n, words in enumerate(line) for w in words} for line in table["scopes"]["sides"]),
        before_names=_set(table["scopes"]["before_names"]),
        wholes=_set(table["scopes"]["wholes"]),
        before_places=_set(table["scopes"]["before_places"]),
        denials=_set(denial["words"]),
        prefixes=tuple(denial["prefixes"]),
        carriers=_set(denial["carriers"]),
        strong=_pairs(denial["strong"]),
        weak=_pairs(denial["weak"]),
        open_lists=_set(table["lists"]["open"]),
        open_before=_set(table["lists"]["open_before"]),
        ordinals={word: n for n, word in enumerate(table["ordinals"]["words"][0].split(), 1)},
        superlatives=_set(table["ordinals"]["superlatives"]),
        common_ordinals=_set(table["ordinals"]["common"]),
        numbers={word: n for n, word in enumerate(table["values"]["words"][0].split()[:20], 1)},
        measures=frozenset(word_family(word, name) for word in _set(table["values"]["measures"])),
        value_words=_set(table["values"]["words"]),
    )


def _set(lines: Iterable[str]) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


def _pairs(lines: Iterable[list[str]]) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    return tuple((tuple(one.split()), tuple(other.split())) for one, other in lines)


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
    return comparison_words(language).alike.get(stem, stem)


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
        for rest, name in known.phrases.get(word.low, ()):
            if tuple(w.low for w in words[at + 1 : at + 1 + len(rest)]) == rest:
                found = (name, at, at + 1 + len(rest))
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
    is_passive = any(word.low in known.being for word in before[-3:])
    objects = frozenset() if is_passive else frozenset(word.stem for word in after if word.stem)
    return objects or frozenset(word.stem for word in before[-MAX_PHRASE_WORDS:] if word.stem)


def owner_name(words: Sequence[SentenceWord], at: int, known: ComparisonWords) -> frozenset[str] | None:
    """The name before a word; empty if the sentence starts with a pronoun, None if it is uncertain."""
    for place in range(at - 1, -1, -1):
        word = words[place]
        if word.is_name:
            return _name_before(words, place + 1)
        if word.low in known.relative or (not word.stem and word.low not in known.pronouns):
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
