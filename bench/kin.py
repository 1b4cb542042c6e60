"""Resolving people: four times as many must take about four times as long, even with many namesakes."""

from __future__ import annotations

from functools import partial

from bench.timing import best_of
from kiwiresearch.kin.resolve.resolver import propose
from kiwiresearch.kin.tree import Person, Tree
from kiwiresearch.text.dates import calendar
from kiwiresearch.text.dates.ranges import DateRange

PEOPLE = 1_000
GIVEN = ("Ann", "Bridget", "Clara", "Dorothy", "Edith", "Frances", "Grace", "Harriet")
NAMESAKE_EVERY = 40
"""One person in this many is a John Smith without dates."""


def run() -> list[str]:
    """Measure, and return the lines to print."""
    lines = [f"CPU time of {4 * PEOPLE} people, and its ratio to that of {PEOPLE}; 4 is linear"]
    for name, files in (("one file", 1), ("two files", 2)):
        small, large = _tree(PEOPLE, files), _tree(4 * PEOPLE, files)
        times = best_of(1, {"small": partial(propose, small), "large": partial(propose, large)})
        lines.append(f"{name:28} {times['large'] * 1e3:8.1f} ms   {times['large'] / times['small']:5.1f}x")
    return lines


def _tree(people: int, files: int) -> Tree:
    persons = [_person(number, people // files, file) for file in range(files) for number in range(people // files)]
    return Tree({person.id: person for person in persons})


def _person(number: int, people: int, file: int) -> Person:
    person_id, external = f"{file}-{number:06}", {"gedcom": f"{file}.ged#{number}"}
    if number % NAMESAKE_EVERY == 0:
        return Person(person_id, "John Smith", sex="male", external=external)
    year = 1600 + number * 300 // people
    born = DateRange(*calendar.years(year, year))
    name = f"{GIVEN[number % len(GIVEN)]} {_surname(number)}"
    return Person(person_id, name, sex="female", birth=born, external=external)


def _surname(number: int) -> str:
    """One of 2,500 invented names of three syllables."""
    rest, syllables = number * 7 % 2_500, []
    for _ in range(3):
        rest, digit = divmod(rest, 14)
        syllables.append("bdfghklmnprstv"[digit] + "aeiou"[digit % 5])
    return "".join(syllables).capitalize()
