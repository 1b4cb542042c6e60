"""The words by which sentences are compared, read from data once for each language."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from kiwiresearch.text.languages import words_of
from kiwiresearch.text.stem import stemmer

DATA = files("kiwiresearch.claims") / "data" / "compare"

ENDINGS = ("ment", "or", "er", "ion", "anc", "enc", "ist", "ian", "al", "ur")
SHORTEST = 5


@dataclass(frozen=True, slots=True)
class CompareWords:
    """What one language calls things, where sentences are compared."""

    quiet: frozenset[str]
    """Words that say nothing of what is told."""
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
    """Words without which a sentence fills no relation."""
    ordinals: Mapping[str, int]
    superlatives: frozenset[str]
    common_ordinals: frozenset[str]
    numbers: Mapping[str, int]
    measures: frozenset[str]
    value_words: frozenset[str]


@cache
def compare_words(language: str) -> CompareWords:
    """The words of a language; English serves for the rest."""
    name = language if (DATA / f"{language}.toml").is_file() else "eng"
    table: dict[str, Any] = tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))
    fillers = {relation: tuple(cues) for relation, cues in table["fillers"].items()}
    places = {cue: place for place, cues in table["places"].items() for cue in cues}
    kinds = {word: kind for kind, lines in table["classes"].items() for word in _set(lines)}
    agents, holders = _set(table["agents"]["verbs"]), _set(table["holders"]["nouns"])
    first_words = {cue.split()[0] for cues in fillers.values() for cue in cues}
    events = [(cue, event) for event, cues in table["events"].items() for cue in cues]
    denial = table["denial"]
    return CompareWords(
        quiet=_set(table["empty"]) | _set(table["pronouns"]) | words_of(name).stop_words,
        pronouns=_set(table["pronouns"]),
        verbs=_set(table["verbs"]),
        clause_end=re.compile(rf"[;:—|]| [–-] |, (?:{'|'.join(sorted(_set(table['clause_words'])))}) "),
        alike={family(word, name): family(line[0], name) for line in table["alike"] for word in line},
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
        regions=frozenset(family(word, name) for word in _set(table["regions"]["names"])),
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
        measures=frozenset(family(word, name) for word in _set(table["values"]["measures"])),
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
def family(word: str, language: str) -> str:
    """A stem that 'survivors' and 'survived' share."""
    stem = stemmer(language)(word)
    for ending in ENDINGS:
        if stem.endswith(ending) and len(stem) - len(ending) >= SHORTEST:
            return stem[: -len(ending)]
    return stem


def alike_stem(word: str, language: str) -> str:
    """The same, where words for one thing share it too."""
    stem = family(word, language)
    return compare_words(language).alike.get(stem, stem)
