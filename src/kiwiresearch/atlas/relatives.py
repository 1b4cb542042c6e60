"""Who is related to whom in a book; people who may be living are withheld."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kiwiresearch.atlas.atlas import Atlas
from kiwiresearch.atlas.database import AtlasDatabase, ResultPage, ResultWindow, Row, search_words, sql_title_of_path
from kiwiresearch.atlas.families import FAMILIES, MAX_PEOPLE, family_tree, people_around
from kiwiresearch.errors import BadUsage, NothingFound
from kiwiresearch.kin.kinship import KinshipFinder
from kiwiresearch.kin.lineage import path_to, predecessors_from
from kiwiresearch.kin.privacy.hidden_people import WITHHELD
from kiwiresearch.kin.privacy.redaction import Mode, RedactedTree, redact
from kiwiresearch.kin.tree import Evidence, PersonId, Tree
from kiwiresearch.text.dates.ranges import DateRange, DateText

MAX_NAMED = 8
"""People of a family that a list of families names."""
MAX_LOOKED_AT = 80
"""People that are looked at for that."""
FURTHEST = 12
MAX_PATH_TIES = 40
MAX_PATH_PEOPLE = 50_000
"""People who are looked at on the way from one to another."""


@dataclass(frozen=True, slots=True)
class PrivacyView:
    """How much is seen: the mode, and the year that tells who may be alive."""

    mode: Mode
    year: int


def families(atlas: Atlas, sight: PrivacyView, window: ResultWindow) -> ResultPage:
    """The largest families, each with those of it who have pages and may be named."""
    with _open_families(atlas) as database:
        total = database.scalar("SELECT count(*) FROM (SELECT family FROM persons GROUP BY family HAVING count(*) > 1)")
        rows = database.rows(
            f"""SELECT family, count(*) AS people, count(*) FILTER (has_page) AS pages FROM persons
            GROUP BY family HAVING count(*) > 1 ORDER BY pages DESC, people DESC, family
            LIMIT {window.limit} OFFSET {window.offset}"""
        )
        told = [_family(database, row, sight) for row in rows]
    return ResultPage(tuple(told), int(total), window.offset)


def _family(database: AtlasDatabase, row: Row, sight: PrivacyView) -> Row:
    members = database.rows(
        f"SELECT person FROM persons WHERE family = ? AND has_page ORDER BY id LIMIT {MAX_LOOKED_AT}", [row["family"]]
    )
    seen = _visible_tree(database, [one["person"] for one in members], sight, most=MAX_LOOKED_AT)
    named = [_person(seen, one.id) for one in seen.persons.values() if one.external.get("zim")]
    named.sort(key=lambda one: (-len(seen.children(one["id"])), one["name"]))
    return {"people": row["people"], "pages": row["pages"], "named": named[:MAX_NAMED]}


def relatives(atlas: Atlas, words: str, sight: PrivacyView, *, steps: int = 3) -> dict[str, Any]:
    """A person and everybody who is no more than so many ties away, each with what they are to the person."""
    if not 1 <= steps <= FURTHEST:
        raise BadUsage(f"{steps} ties cannot be followed.", remedy=f"Give a number from 1 to {FURTHEST}.")
    with _open_families(atlas) as database:
        person = _find_person(database, words)
        seen = _visible_tree(database, [person], sight)
    _refuse_hidden(seen, person, words)
    family, came = KinshipFinder(seen), predecessors_from(seen, person)
    found = []
    for one in came:
        ties = len(path_to(came, one)) - 1
        if 0 < ties <= steps:
            found.append(_person(seen, one) | {"kinship": family.describe(person, one), "ties": ties})
    found.sort(key=lambda one: (one["ties"], one["kinship"], one["name"], one["id"]))
    return {"person": _person(seen, person), "relatives": [_with_quote(seen, came, one) for one in found]}


def relation(atlas: Atlas, first: str, second: str, sight: PrivacyView) -> dict[str, Any]:
    """What the second person is to the first, and the way between them; an empty way where none is known."""
    with _open_families(atlas) as database:
        one, other = _find_person(database, first), _find_person(database, second)
        between = _path_between(database, one, other)
        seen = _visible_tree(database, dict.fromkeys([one, other, *between]), sight)
    for person, words in ((one, first), (other, second)):
        _refuse_hidden(seen, person, words)
    found = KinshipFinder(seen).kinship(one, other)
    way = [_person(seen, step.person) | {"kind": step.kind} for step in found.path]
    return {"first": _person(seen, one), "second": _person(seen, other), "kinship": found.words, "way": way}


def people(atlas: Atlas, words: str, sight: PrivacyView, window: ResultWindow) -> ResultPage:
    """People who have pages and whose names hold some words; those who are kept back are counted, not named."""
    with _open_families(atlas) as database:
        values = search_words(words)
        chosen = " AND ".join(
            ["has_page", *("contains(lower(concat_ws(' ', name, title, person)), lower(?))" for _ in values)]
        )
        total = database.scalar(f"SELECT count(*) FROM persons WHERE {chosen}", values)
        rows = database.rows(
            f"SELECT person FROM persons WHERE {chosen} ORDER BY name, id LIMIT {window.limit} OFFSET {window.offset}",
            values,
        )
        found = [row["person"] for row in rows]
        if not found:
            return ResultPage((), int(total), window.offset)
        seen = _visible_tree(database, found, sight, most=MAX_PEOPLE + len(found))
    told = [_person(seen, one) for one in found if one in seen.persons]
    return ResultPage(tuple(told), int(total), window.offset)


@contextlib.contextmanager
def _open_families(atlas: Atlas) -> Iterator[AtlasDatabase]:
    with atlas.database("people", files=atlas.files(FAMILIES)) as database:
        yield database


def _visible_tree(
    database: AtlasDatabase,
    people: Sequence[PersonId] | dict[PersonId, None],
    sight: PrivacyView,
    most: int = MAX_PEOPLE,
) -> RedactedTree:
    """The tree around some people as the mode allows it to be seen.

    Who stands at its edge has fewer relatives here than in the book, and is sooner taken for living: never later.
    """
    return redact(family_tree(database, people_around(database, list(people), most)), sight.mode, sight.year)


def _find_person(database: AtlasDatabase, words: str) -> PersonId:
    """The person whose page has this path or title, or who alone goes by this name."""
    rows = database.rows(
        f"""SELECT person, lower($1) IN (lower(person), lower(title), lower({sql_title_of_path("person")})) AS is_page
        FROM persons
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


def _path_between(database: AtlasDatabase, one: PersonId, other: PersonId) -> list[PersonId]:
    """People on a shortest way from one to the other: circles around the first until the second is in one."""
    came: dict[PersonId, PersonId] = {one: one}
    circle = [one]
    for _ in range(MAX_PATH_TIES):
        if other in came or not circle or len(came) > MAX_PATH_PEOPLE:
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
        {"edtf": when.edtf(), "words": DateText(when), "earliest": when.earliest, "latest": when.latest}
        if when
        else None
    )


def _with_quote(tree: Tree, came: Any, row: Row) -> Row:
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
