"""Who is related to whom in a book; people who may be living are kept back as in all family research."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kiwiresearch.atlas.atlas import Atlas
from kiwiresearch.atlas.database import Database
from kiwiresearch.atlas.families import FAMILIES
from kiwiresearch.atlas.kin_tree import MOST_PEOPLE, around, tree_of
from kiwiresearch.atlas.part import Part, Row, Window, bare, words_of
from kiwiresearch.errors import BadUsage, NothingFound
from kiwiresearch.kin.kinship import Family
from kiwiresearch.kin.privacy.redact import Mode, RedactedTree, redacted
from kiwiresearch.kin.privacy.wording import WITHHELD
from kiwiresearch.kin.tree import Evidence, PersonId, Tree
from kiwiresearch.kin.ways import arrivals, way_among
from kiwiresearch.text.when import DateRange

NAMED = 8
"""People of a family that a list of families names."""
FEW = 80
"""People that are looked at for that."""
FURTHEST = 12
LONGEST_WAY = 40
MOST_ON_THE_WAY = 50_000
"""People who are looked at on the way from one to another."""


@dataclass(frozen=True, slots=True)
class Sight:
    """How much is seen: the mode, and the year that tells who may be alive."""

    mode: Mode
    year: int


def families(atlas: Atlas, sight: Sight, window: Window) -> Part:
    """The largest families, each with those of it who have pages and may be named."""
    with _opened(atlas) as database:
        total = database.value("SELECT count(*) FROM (SELECT family FROM persons GROUP BY family HAVING count(*) > 1)")
        rows = database.rows(
            f"""SELECT family, count(*) AS people, count(*) FILTER (has_page) AS pages FROM persons
            GROUP BY family HAVING count(*) > 1 ORDER BY pages DESC, people DESC, family
            LIMIT {window.limit} OFFSET {window.offset}"""
        )
        told = [_family(database, row, sight) for row in rows]
    return Part(tuple(told), int(total), window.offset)


def _family(database: Database, row: Row, sight: Sight) -> Row:
    members = database.rows(
        f"SELECT person FROM persons WHERE family = ? AND has_page ORDER BY id LIMIT {FEW}", [row["family"]]
    )
    seen = _seen(database, [one["person"] for one in members], sight, most=FEW)
    named = [_person(seen, one.id) for one in seen.persons.values() if one.external.get("zim")]
    named.sort(key=lambda one: (-len(seen.children(one["id"])), one["name"]))
    return {"people": row["people"], "pages": row["pages"], "named": named[:NAMED]}


def relatives(atlas: Atlas, words: str, sight: Sight, *, steps: int = 3) -> dict[str, Any]:
    """A person and everybody who is no more than so many ties away, each with what they are to the person."""
    if not 1 <= steps <= FURTHEST:
        raise BadUsage(f"{steps} ties cannot be followed.", remedy=f"Give a number from 1 to {FURTHEST}.")
    with _opened(atlas) as database:
        person = _who(database, words)
        seen = _seen(database, [person], sight)
    _refuse_hidden(seen, person, words)
    family, came = Family(seen), arrivals(seen, person)
    found = []
    for one in came:
        ties = len(way_among(came, one)) - 1
        if 0 < ties <= steps:
            found.append(_person(seen, one) | {"kinship": family.words(person, one), "ties": ties})
    found.sort(key=lambda one: (one["ties"], one["kinship"], one["name"], one["id"]))
    return {"person": _person(seen, person), "relatives": [_with_words(seen, came, one) for one in found]}


def relation(atlas: Atlas, first: str, second: str, sight: Sight) -> dict[str, Any]:
    """What the second person is to the first, and the way between them; an empty way where none is known."""
    with _opened(atlas) as database:
        one, other = _who(database, first), _who(database, second)
        between = _between(database, one, other)
        seen = _seen(database, dict.fromkeys([one, other, *between]), sight)
    for person, words in ((one, first), (other, second)):
        _refuse_hidden(seen, person, words)
    found = Family(seen).kinship(one, other)
    way = [_person(seen, step.person) | {"kind": step.kind} for step in found.way]
    return {"first": _person(seen, one), "second": _person(seen, other), "kinship": found.words, "way": way}


def people(atlas: Atlas, words: str, sight: Sight, window: Window) -> Part:
    """People who have pages and whose names hold some words; those who are kept back are counted, not named."""
    with _opened(atlas) as database:
        values = words_of(words)
        chosen = " AND ".join(
            ["has_page", *("contains(lower(concat_ws(' ', name, title, person)), lower(?))" for _ in values)]
        )
        total = database.value(f"SELECT count(*) FROM persons WHERE {chosen}", values)
        rows = database.rows(
            f"SELECT person FROM persons WHERE {chosen} ORDER BY name, id LIMIT {window.limit} OFFSET {window.offset}",
            values,
        )
        found = [row["person"] for row in rows]
        if not found:
            return Part((), int(total), window.offset)
        seen = _seen(database, found, sight, most=MOST_PEOPLE + len(found))
    told = [_person(seen, one) for one in found if one in seen.persons]
    return Part(tuple(told), int(total), window.offset)


@contextlib.contextmanager
def _opened(atlas: Atlas) -> Iterator[Database]:
    with atlas.database("people", files=atlas.files(FAMILIES)) as database:
        yield database


def _seen(
    database: Database, people: Sequence[PersonId] | dict[PersonId, None], sight: Sight, most: int = MOST_PEOPLE
) -> RedactedTree:
    """The tree around some people as the mode allows it to be seen.

    Who stands at its edge has fewer relatives here than in the book, and is sooner taken for living: never later.
    """
    return redacted(tree_of(database, around(database, list(people), most)), sight.mode, sight.year)


def _who(database: Database, words: str) -> PersonId:
    """The person whose page has this path or title, or who alone goes by this name."""
    rows = database.rows(
        f"""SELECT person, lower($1) IN (lower(person), lower(title), lower({bare("person")})) AS is_page FROM persons
        WHERE has_page AND (is_page OR lower(name) = lower($1))
        ORDER BY person = $1 DESC, is_page DESC, id LIMIT 3""",
        [words.strip()],
    )
    if not rows:
        raise NothingFound(
            f"The book has no page about a person {words!r}.", remedy="Give the title of the page as the book has it."
        )
    if len(rows) > 1 and not rows[0]["is_page"]:
        raise BadUsage(f"Several people go by the name {words!r}.", remedy="Give the title of the page of one of them.")
    return str(rows[0]["person"])


def _refuse_hidden(seen: Tree, person: PersonId, words: str) -> None:
    if person not in seen.persons:
        raise BadUsage(
            f"{words!r} may be living, and is kept back.", remedy="Give --privacy owner if it is for your eyes only."
        )


def _between(database: Database, one: PersonId, other: PersonId) -> list[PersonId]:
    """People on a shortest way from one to the other: circles around the first until the second is in one."""
    came: dict[PersonId, PersonId] = {one: one}
    circle = [one]
    for _ in range(LONGEST_WAY):
        if other in came or not circle or len(came) > MOST_ON_THE_WAY:
            break
        blanks = ", ".join("?" * len(circle))
        rows = database.rows(
            f"""SELECT person AS before, relative AS one FROM ties WHERE person IN ({blanks})
            UNION SELECT relative AS before, person AS one FROM ties WHERE relative IN ({blanks})
            ORDER BY one, before""",
            [*circle, *circle],
        )
        circle = []
        for row in rows:
            if row["one"] not in came:
                came[row["one"]] = row["before"]
                circle.append(row["one"])
    if other not in came:
        return []
    way = [other]
    while way[-1] != one:
        way.append(came[way[-1]])
    return way[::-1]


def _person(tree: Tree, one: PersonId) -> Row:
    person = tree.persons[one]
    return {
        "id": person.id,
        "name": person.name,
        "path": person.external.get("zim", ""),
        "title": person.external.get("title", ""),
        "birth": _when(person.birth),
        "death": _when(person.death),
        "sex": person.sex,
    }


def _when(when: DateRange | None) -> Row | None:
    return (
        {"edtf": when.edtf(), "words": when.words(), "earliest": when.earliest, "latest": when.latest} if when else None
    )


def _with_words(tree: Tree, came: Any, row: Row) -> Row:
    """The words of a page that tie somebody to the one before, and where they stand."""
    before = came[row["id"]].before
    for tie in tree.relationships:
        if {tie.first, tie.second} == {before, row["id"]} and tie.evidence:
            return row | _quoted(tree, tie.evidence[0])
    return row | {"quote": "", "place": None}


def _quoted(tree: Tree, told: Evidence) -> Row:
    if told.start < 0:
        return {"quote": WITHHELD, "place": None}
    page = {"path": told.source, "title": tree.sources[told.source].title}
    return {"quote": told.snippet, "place": page | {"start": told.start, "end": told.end}}
