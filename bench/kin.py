"""Resolving people: four times the tree must take about four times as long, and namesakes must not make it worse."""

from __future__ import annotations

from functools import partial

from bench.timing import best_of
from kiwiresearch.kin.resolve.resolver import propose
from kiwiresearch.kin.tree import Person, Tree
from kiwiresearch.text.dates import calendar
from kiwiresearch.text.dates.ranges import DateRange

PEOPLE = 1_000
GIVEN = ("Ann", "Bridget", "Clara", "Dorothy", "Edith", "Frances", "Grace", "Harriet")
NAMESAKES = 40
"""One in so many is a John Smith without dates."""


def run() -> list[str]:
    """The figures, as lines."""
    lines = [f"time for four times the people, {PEOPLE} and {4 * PEOPLE}; 4 is linear"]
    for name, files in (("one file", 1), ("two files", 2)):
        small, large = _tree(PEOPLE, files), _tree(4 * PEOPLE, files)
        times = best_of(1, {"small": partial(propose, small), "large": partial(propose, large)})
        lines.append(f"{name:28} {times['large'] * 1e3:8.1f} ms   {times['large'] / times['small']:5.1f}")
    return lines


def _tree(people: int, files: int) -> Tree:
    persons = [_person(at, people // files, file) for file in range(files) for at in range(people // files)]
    return Tree({one.id: one for one in persons})


def _person(at: int, people: int, file: int) -> Person:
    one, external = f"{file}-{at:06}", {"gedcom": f"{file}.ged#{at}"}
    if at % NAMESAKES == 0:
        return Person(one, "John Smith", sex="male", external=external)
    year = 1600 + at * 300 // people
    born = DateRange(*calendar.years(year, year))
    return Person(one, f"{GIVEN[at % len(GIVEN)]} {_surname(at)}", sex="female", birth=born, external=external)


def _surname(at: int) -> str:
    """One of 2,500 made-up names of three syllables."""
    number, syllables = at * 7 % 2_500, []
    for _ in range(3):
        number, rest = divmod(number, 14)
        syllables.append("bdfghklmnprstv"[rest] + "aeiou"[rest % 5])
    return "".join(syllables).capitalize()
