"""Two overlapping, damaged halves of a real family tree, for which it is known who of them are the same person."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass, replace

from kiwiresearch.kin.tree import Person, Tree
from kiwiresearch.text.dates import calendar
from kiwiresearch.text.dates.calendar import day_number
from kiwiresearch.text.dates.ranges import DateRange

# The damage depends only on the seed, the side and the person.


@dataclass(frozen=True, slots=True)
class Rates:
    """How often each kind of damage occurs in each half."""

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
ONE_HALF_SHARE = 0.30


@dataclass(frozen=True, slots=True)
class Halves:
    """Both halves as one tree, and the pairs of people in it who are the same person."""

    tree: Tree
    pairs: frozenset[tuple[str, str]]


def split_tree(whole: Tree, seed: str, rates: Rates = RATES, *, scattered: bool = False) -> Halves:
    """Split a tree so that two fifths of its people are in both halves, and damage each half in its own way.

    Families stay together, as in the trees of two researchers who know neighbouring branches. With `scattered`, each
    person is placed separately, which tears most families apart.
    """
    positions = {person_id: number / len(whole.persons) for number, person_id in enumerate(_by_family(whole))}
    ids: dict[str, dict[str, str]] = defaultdict(dict)
    persons: dict[str, Person] = {}
    for person_id, person in whole.persons.items():
        fraction = _fraction(seed, "half", person_id) if scattered else positions[person_id]
        sides = "a" if fraction < ONE_HALF_SHARE else "b" if fraction >= 1 - ONE_HALF_SHARE else "ab"
        for side in sides:
            new_id = hashlib.sha256(f"{seed} {side} {person_id}".encode()).hexdigest()[:16]
            ids[person_id][side] = new_id
            damaged = _damage(person, f"{seed} {side}", rates)
            persons[new_id] = replace(damaged, id=new_id, external={"gedcom": f"{side}.ged#{new_id}"})
    ties = [
        replace(tie, id=f"{side}{tie.id}", first=ids[tie.first][side], second=ids[tie.second][side], evidence=())
        for side in "ab"
        for tie in whole.relationships
        if side in ids[tie.first] and side in ids[tie.second] and _fraction(seed, side, tie.id) >= rates.no_tie
    ]
    pairs = frozenset((min(sides.values()), max(sides.values())) for sides in ids.values() if len(sides) == 2)
    return Halves(Tree(dict(sorted(persons.items())), tuple(sorted(ties, key=lambda tie: tie.id))), pairs)


def _by_family(whole: Tree) -> list[str]:
    """All people in an order in which relatives are close to each other."""
    order: dict[str, None] = {}
    for start in sorted(whole.persons, key=lambda person_id: _file_order(whole.persons[person_id])):
        queue = [start]
        for person_id in queue:
            if person_id not in order:
                order[person_id] = None
                queue += (*whole.spouses(person_id), *whole.children(person_id), *whole.parents(person_id))
    return list(order)


def _file_order(person: Person) -> tuple[int, str]:
    """A key that sorts people as in the file."""
    xref = person.external.get("gedcom", "").partition("#")[2]
    return len(xref), xref


def _fraction(*parts: str) -> float:
    digest = hashlib.sha256("\x1f".join(parts).encode()).digest()
    return int.from_bytes(digest[:7]) / 2**56


def _damage(person: Person, seed: str, rates: Rates) -> Person:
    def fraction(kind: str) -> float:
        return _fraction(seed, kind, person.id)

    return replace(
        person,
        name=_damage_name(person.name.replace("_", " "), seed + person.id, rates),
        birth=_damage_date(
            person.birth, seed + "birth" + person.id, rates, is_missing=fraction("no birth") < rates.no_birth
        ),
        death=_damage_date(
            person.death, seed + "death" + person.id, rates, is_missing=fraction("no death") < rates.no_death
        ),
        birth_place="" if fraction("birth place") < rates.no_place else person.birth_place,
        death_place="" if fraction("death place") < rates.no_place else person.death_place,
    )


def _damage_name(name: str, seed: str, rates: Rates) -> str:
    words = name.split()
    if len(words) > 1 and _fraction(seed, "fewer") < rates.fewer_names:
        del words[1 + int(_fraction(seed, "which") * (len(words) - 1))]
    if _fraction(seed, "typo") < rates.typo:
        _mistype(words, seed)
    if len(words) > 1 and _fraction(seed, "initial") < rates.initial:
        number = int(_fraction(seed, "initial of") * len(words))
        if len(words[number]) > 3:
            words[number] = f"{words[number][0]}."
    return " ".join(words)


def _mistype(words: list[str], seed: str) -> None:
    """Omit, double, swap or replace a letter of one of the words."""
    long_words = [number for number, word in enumerate(words) if len(word) > 3 and word.isalpha()]
    if not long_words:
        return
    number = long_words[int(_fraction(seed, "word") * len(long_words))]
    word = words[number]
    position = 1 + int(_fraction(seed, "spot") * (len(word) - 2))
    typos = (
        word[:position] + word[position + 1 :],
        word[:position] + word[position] + word[position:],
        word[:position] + word[position + 1] + word[position] + word[position + 2 :],
        word[:position] + "aeiourstlnm"[int(_fraction(seed, "letter") * 11)] + word[position + 1 :],
    )
    words[number] = typos[int(_fraction(seed, "kind") * 4)]


def _damage_date(when: DateRange | None, seed: str, rates: Rates, *, is_missing: bool) -> DateRange | None:
    if when is None or is_missing:
        return None
    if _fraction(seed, "year only") < rates.year_only and when.precision == "day":
        first, last = calendar.years(when.first_year, when.first_year)
        when = replace(when, earliest=first, latest=last, precision="year")
    if _fraction(seed, "other year") < rates.other_year:
        years = (-2, -1, 1, 2)[int(_fraction(seed, "years") * 4)]
        when = _shift_years(when, years)
    return when


def _shift_years(when: DateRange, years: int) -> DateRange:
    if when.precision == "day":
        day = when.first_day
        moved = day_number(day.year + years, day.month, min(day.day, 28), when.calendar)
        return replace(when, earliest=moved, latest=moved)
    days = round(365.25 * years)
    return replace(when, earliest=when.earliest + days, latest=when.latest + days)
