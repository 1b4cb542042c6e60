"""Two overlapping, damaged halves of a real family tree: who of one half is who of the other is known."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass, replace

from kiwiresearch.kin.tree import Person, Tree
from kiwiresearch.text.dates import calendar
from kiwiresearch.text.dates.calendar import day_number
from kiwiresearch.text.dates.ranges import DateRange

# Damage. Only the seed, the side and the person decide it.


@dataclass(frozen=True, slots=True)
class Rates:
    """How often what goes wrong, for each half by itself."""

    typo: float = 0.15
    initial: float = 0.10
    fewer_names: float = 0.10
    no_birth: float = 0.25
    no_death: float = 0.25
    year_only: float = 0.30
    other_year: float = 0.10
    no_place: float = 0.25
    no_tie: float = 0.15


RATES = Rates()
ONLY_ONE = 0.30


@dataclass(frozen=True, slots=True)
class Halves:
    """Both halves as one tree, and which of its people are the same."""

    tree: Tree
    pairs: frozenset[tuple[str, str]]


def halves(whole: Tree, seed: str, rates: Rates = RATES, *, scattered: bool = False) -> Halves:
    """Two fifths of the people are in both halves; each half is damaged in its own way.

    Families stay together, as they do in trees of two researchers who know
    neighbouring branches; `scattered` draws for each person alone, which tears
    most families apart.
    """
    places = {one: at / len(whole.persons) for at, one in enumerate(_by_family(whole))}
    ids: dict[str, dict[str, str]] = defaultdict(dict)
    persons: dict[str, Person] = {}
    for one, person in whole.persons.items():
        draw = _draw(seed, "half", one) if scattered else places[one]
        sides = "a" if draw < ONLY_ONE else "b" if draw >= 1 - ONLY_ONE else "ab"
        for side in sides:
            new = hashlib.sha256(f"{seed} {side} {one}".encode()).hexdigest()[:16]
            ids[one][side] = new
            damaged = _damaged(person, f"{seed} {side}", rates)
            persons[new] = replace(damaged, id=new, external={"gedcom": f"{side}.ged#{new}"})
    ties = [
        replace(tie, id=f"{side}{tie.id}", first=ids[tie.first][side], second=ids[tie.second][side], evidence=())
        for side in "ab"
        for tie in whole.relationships
        if side in ids[tie.first] and side in ids[tie.second] and _draw(seed, side, tie.id) >= rates.no_tie
    ]
    pairs = frozenset((min(sides.values()), max(sides.values())) for sides in ids.values() if len(sides) == 2)
    return Halves(Tree(dict(sorted(persons.items())), tuple(sorted(ties, key=lambda tie: tie.id))), pairs)


def _by_family(whole: Tree) -> list[str]:
    """Everybody in an order in which relatives follow each other."""
    found: dict[str, None] = {}
    for start in sorted(whole.persons, key=lambda one: _number(whole.persons[one])):
        waiting = [start]
        for one in waiting:
            if one not in found:
                found[one] = None
                waiting += (*whole.spouses(one), *whole.children(one), *whole.parents(one))
    return list(found)


def _number(person: Person) -> tuple[int, str]:
    """The place of a person in the file."""
    xref = person.external.get("gedcom", "").partition("#")[2]
    return len(xref), xref


def _draw(*parts: str) -> float:
    digest = hashlib.sha256("\x1f".join(parts).encode()).digest()
    return int.from_bytes(digest[:7]) / 2**56


def _damaged(person: Person, seed: str, rates: Rates) -> Person:
    def draw(what: str) -> float:
        return _draw(seed, what, person.id)

    return replace(
        person,
        name=_name(person.name.replace("_", " "), seed + person.id, rates),
        birth=_worse(person.birth, seed + "birth" + person.id, rates, gone=draw("no birth") < rates.no_birth),
        death=_worse(person.death, seed + "death" + person.id, rates, gone=draw("no death") < rates.no_death),
        birth_place="" if draw("birth place") < rates.no_place else person.birth_place,
        death_place="" if draw("death place") < rates.no_place else person.death_place,
    )


def _name(name: str, seed: str, rates: Rates) -> str:
    words = name.split()
    if len(words) > 1 and _draw(seed, "fewer") < rates.fewer_names:
        del words[1 + int(_draw(seed, "which") * (len(words) - 1))]
    if _draw(seed, "typo") < rates.typo:
        _mistype(words, seed)
    if len(words) > 1 and _draw(seed, "initial") < rates.initial:
        at = int(_draw(seed, "initial of") * len(words))
        if len(words[at]) > 3:
            words[at] = f"{words[at][0]}."
    return " ".join(words)


def _mistype(words: list[str], seed: str) -> None:
    """A letter left out, doubled, swapped with the next, or another one."""
    long = [at for at, word in enumerate(words) if len(word) > 3 and word.isalpha()]
    if not long:
        return
    at = long[int(_draw(seed, "word") * len(long))]
    word = words[at]
    spot = 1 + int(_draw(seed, "spot") * (len(word) - 2))
    kinds = (
        word[:spot] + word[spot + 1 :],
        word[:spot] + word[spot] + word[spot:],
        word[:spot] + word[spot + 1] + word[spot] + word[spot + 2 :],
        word[:spot] + "aeiourstlnm"[int(_draw(seed, "letter") * 11)] + word[spot + 1 :],
    )
    words[at] = kinds[int(_draw(seed, "kind") * 4)]


def _worse(when: DateRange | None, seed: str, rates: Rates, *, gone: bool) -> DateRange | None:
    if when is None or gone:
        return None
    if _draw(seed, "year only") < rates.year_only and when.precision == "day":
        first, last = calendar.years(when.first_year, when.first_year)
        when = replace(when, earliest=first, latest=last, precision="year")
    if _draw(seed, "other year") < rates.other_year:
        years = (-2, -1, 1, 2)[int(_draw(seed, "years") * 4)]
        when = _moved(when, years)
    return when


def _moved(when: DateRange, years: int) -> DateRange:
    if when.precision == "day":
        day = when.first_day
        moved = day_number(day.year + years, day.month, min(day.day, 28), when.calendar)
        return replace(when, earliest=moved, latest=moved)
    days = round(365.25 * years)
    return replace(when, earliest=when.earliest + days, latest=when.latest + days)
