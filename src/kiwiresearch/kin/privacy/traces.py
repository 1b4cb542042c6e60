"""Finding mentions of withheld people in a text: names in any order, dates and places in any spelling."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Literal, NamedTuple

from kiwiresearch.kin.privacy.text_parts import Token, is_region, parts_of, tokens, words
from kiwiresearch.kin.tree import PersonId
from kiwiresearch.text.dates import DateRange, date_words_of, day_at

TraceKind = Literal["name", "date", "place"]

_WORDS = tomllib.loads((Path(__file__).with_name("data") / "names.toml").read_text(encoding="utf-8"))
PARTICLES: frozenset[str] = frozenset(_WORDS["particles"])
LABELS: frozenset[str] = frozenset(_WORDS["labels"])
MAX_WORDS_BETWEEN = 3
"""How many particles and labels may be between two parts of a name."""
MAX_ASIDE_WORDS = 6
"""How many words in brackets or quotation marks may be between them besides."""
CONJUNCTIONS = frozenset({"and", "or"})
"""'Windsor and Anne' are two people, but 'Anne and Mark Windsor' mentions an Anne Windsor."""
SUFFIXES = ("st", "nd", "rd", "th")

WordSequence = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """A mention of a withheld person: `text[start:end]`."""

    start: int
    end: int
    person: PersonId
    kind: TraceKind


class WordRun(NamedTuple):
    """A sequence of words that reveals a person."""

    words: WordSequence
    person: PersonId
    kind: TraceKind
    matches_lowercase: bool = False
    """Whether a single lower-case word counts: 'annasmith' does, while 'reading' is not the town."""


@dataclass(frozen=True, slots=True)
class KnownTraits:
    """The names, dates and places of a person that could be found in a text."""

    names: tuple[str, ...] = ()
    dates: tuple[DateRange, ...] = ()
    places: tuple[str, ...] = ()


class TraceFinder:
    """Finds withheld people in texts. What they share with people who are shown reveals nobody."""

    def __init__(self, withheld: Mapping[PersonId, KnownTraits], shown: Iterable[KnownTraits]) -> None:
        self._pairs: dict[str, dict[str, PersonId]] = defaultdict(dict)
        self._runs: dict[WordSequence, WordRun] = {}
        self._lengths: dict[str, set[int]] = defaultdict(set)
        self._parts: dict[PersonId, frozenset[str]] = {}
        self._in_order: set[tuple[str, str]] = set()
        allowed = _Allowed(shown)
        for person, known in sorted(withheld.items()):
            self._add_names(person, known.names, allowed)
            self._add_runs(person, "date", _date_runs(known.dates), allowed)
            self._add_runs(person, "place", _place_runs(known.places), allowed)

    def _add_runs(self, person: PersonId, kind: TraceKind, runs: Iterable[WordSequence], allowed: _Allowed) -> None:
        for run in dict.fromkeys(runs):
            if run not in allowed.runs:
                self._add(WordRun(run, person, kind))

    def _add_names(self, person: PersonId, names: Iterable[str], allowed: _Allowed) -> None:
        parts: set[str] = set()
        for name in names:
            run = words(name)
            parts.update(run)
            for first, second in name_pairs(run):
                if (first, second) not in allowed.pairs:
                    self._pairs[first].setdefault(second, person)
                    self._pairs[second].setdefault(first, person)
                    # Across 'and', only this order counts: 'Anne and Mark Windsor', but not 'Windsor and Anne'.
                    self._in_order.add((first, second))
                    # As in addresses and handles: 'annehay', 'hayanne'.
                    for joined in (first + second, second + first):
                        self._add(WordRun((joined,), person, "name", matches_lowercase=True))
            for whole in {run, ("".join(run),)}:
                if (
                    run
                    and whole not in allowed.runs
                    and whole[0] not in MONTHS
                    and (len(run) == 1 or len(whole) == 1 or not name_pairs(run))
                ):
                    self._add(WordRun(whole, person, "name"))
        self._parts[person] = frozenset(parts)

    def _add(self, run: WordRun) -> None:
        if run.matches_lowercase or run.words not in self._runs:
            self._runs[run.words] = run
            self._lengths[run.words[0]].add(len(run.words))

    def find(self, text: str) -> list[Trace]:
        """The mentions of withheld people in a text, in order; overlapping ones are merged."""
        found = list(self._found(tokens(text)))
        merged: list[Trace] = []
        for trace in sorted(found, key=lambda item: (item.start, -item.end, item.kind, item.person)):
            last = merged[-1] if merged else None
            if last and trace.start < last.end:
                merged[-1] = Trace(last.start, max(last.end, trace.end), last.person, last.kind)
            else:
                merged.append(trace)
        return merged

    def has_any(self, text: str) -> bool:
        """Whether a text mentions any withheld person."""
        return any(True for _ in self._found(tokens(text)))

    def _found(self, text_tokens: list[Token]) -> Iterator[Trace]:
        for at, token in enumerate(text_tokens):
            for length in sorted({length for form in token.forms for length in self._lengths.get(form, ())}):
                part = text_tokens[at : at + length]
                run = self._run_of(part) if len(part) == length else None
                if (
                    run
                    and (length > 1 or run.matches_lowercase or token.is_namelike)
                    and not _is_scattered(part, run.kind)
                ):
                    yield Trace(token.start, part[-1].end, run.person, run.kind)
            for form in token.forms:
                if form in self._pairs and _can_be_initial(token):
                    yield from self._pair(form, text_tokens, at)

    def _run_of(self, part: list[Token]) -> WordRun | None:
        """The run that some words are, each in any of its forms."""
        found = (self._runs.get(words) for words in product(*(token.forms for token in part)))
        return next(filter(None, found), None)

    def _pair(self, first: str, text_tokens: list[Token], at: int) -> Iterator[Trace]:
        """The name that begins with a word, if another of its words follows."""
        others = self._pairs[first]
        seen_conjunction, between = False, 0
        for token in text_tokens[at + 1 : at + 2 + MAX_WORDS_BETWEEN + MAX_ASIDE_WORDS]:
            seen_conjunction = seen_conjunction or token.word in CONJUNCTIONS
            second = next((form for form in token.forms if form in others), "")
            if second and _can_be_initial(token):
                if not seen_conjunction or (first, second) in self._in_order:
                    yield Trace(text_tokens[at].start, token.end, others[second], "name")
                return
            # Words in brackets have a limit of their own, which is in the slice above.
            if token.is_aside and not text_tokens[at].is_aside:
                continue
            between += 1
            if between > MAX_WORDS_BETWEEN or not (
                len(token.word) == 1
                or token.word in PARTICLES
                or token.word in LABELS
                or any(self._are_of_same_name(first, form) for form in token.forms)
            ):
                return

    def _are_of_same_name(self, one: str, other: str) -> bool:
        """Whether two words belong to the name of the same withheld person."""
        return any(other in self._parts[person] for person in set(self._pairs[one].values()))


def _is_scattered(part: list[Token], kind: TraceKind) -> bool:
    """Whether words and numbers are adjacent only by chance: a number is within two characters of what it belongs to.

    A year and a month are '1990-05', with both digits, since '1990, 5' may be anything.
    """
    numbers = [token.word.isdecimal() for token in part]
    if len(part) == 1 or not (all(numbers) if kind == "date" else any(numbers)):
        return False
    gaps = [after.start - before.end for before, after in pairwise(part)]
    if kind == "name" and not all(token.is_namelike for token, number in zip(part, numbers, strict=True) if number):
        return True
    if len(part) == 2 and all(numbers):
        return gaps != [1] or part[1].end - part[1].start != 2
    return max(gaps) > 2


def _can_be_initial(token: Token) -> bool:
    """'A Smith' may be a name, 'a Smith' is not."""
    return len(token.word) > 1 or token.is_namelike


class _Allowed:
    """The names, dates and places of people who are shown: they reveal nobody."""

    def __init__(self, shown: Iterable[KnownTraits]) -> None:
        self.pairs: set[tuple[str, str]] = set()
        self.runs: set[WordSequence] = set()
        for known in shown:
            for name in known.names:
                run = words(name)
                self.runs |= {("".join(run),), *_parts(run)}
                for first, second in name_pairs(run):
                    self.pairs |= {(first, second), (second, first)}
            for when in known.dates:
                self.runs |= {(str(when.earliest),), (str(when.latest),)}
            self.runs.update(_date_runs(known.dates))
            for place in _place_runs(known.places):
                self.runs |= _parts(place)


def _parts(run: WordSequence) -> set[WordSequence]:
    """Every contiguous part of a sequence of words, of up to 8 words."""
    return {run[start:end] for start in range(len(run)) for end in range(start + 1, min(start + 8, len(run)) + 1)}


def name_pairs(run: WordSequence) -> list[tuple[str, str]]:
    """Pairs of words of a name that identify the person; a given name may be an initial."""
    # The last word is the family name, even if it is an article elsewhere, as in 'Łoś'.
    kept = [word for at, word in enumerate(run, 1) if word not in PARTICLES or at == len(run)]
    identifying = [word for word in kept if not word.isdecimal()]
    pairs = list(combinations(dict.fromkeys(identifying), 2))
    if len(identifying) > 1 and len(identifying[0]) > 1:
        # 'A. Hay' for Anne Hay.
        pairs.append((identifying[0][0], identifying[-1]))
    return pairs


def _place_runs(places: Iterable[str]) -> Iterator[WordSequence]:
    for place in places:
        for part in parts_of(place):
            if not is_region(part) and (run := words(part)):
                yield run


def _date_runs(dates: Iterable[DateRange]) -> Iterator[WordSequence]:
    for when in dates:
        # A year alone is shared by too many people to reveal anybody.
        if when.precision not in ("day", "month") or when.latest - when.earliest > 31:
            continue
        first = when.first_day
        year, month = str(first.year), str(first.month)
        names = month_names()[first.month - 1]
        yield from ((name, year) for name in names)
        yield (year, month)
        for jdn in {when.earliest, when.latest}:
            at = day_at(jdn)
            if when.precision == "day":
                yield from _day_runs(year, month, str(at.day), names)
                # As in file names and ids; below, the Julian Day Number by which cases store a date.
                yield (f"{at.year}{at.month:02}{at.day:02}",)
                yield (str(jdn),)


def _day_runs(year: str, month: str, day: str, names: Iterable[str]) -> Iterator[WordSequence]:
    yield from ((year, month, day), (day, month, year), (month, day, year))
    for name in names:
        yield from ((day, name, year), (name, day, year), (year, name, day))
        for suffix in SUFFIXES:
            yield from ((day, suffix, name, year), (day, suffix, "of", name, year), (name, day, suffix, year))


@cache
def month_names() -> list[list[str]]:
    """How English writes each month, folded; January first."""
    table = date_words_of("eng").months
    return [sorted({name.lower() for name, number in table.items() if number == month}) for month in range(1, 13)]


MONTHS = frozenset(name for names in month_names() for name in names)
"""'Jan' alone is a month in most texts, not a name."""
