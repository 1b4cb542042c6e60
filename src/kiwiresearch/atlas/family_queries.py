"""How people of a book are related; those who may be living are withheld."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from kiwiresearch.atlas.atlas import Atlas
from kiwiresearch.atlas.database import AtlasDatabase, ResultSlice, ResultWindow, Row, search_words, sql_title_of_path
from kiwiresearch.atlas.family_tables import FAMILIES, MAX_PEOPLE, family_tree, people_around, tied_people
from kiwiresearch.errors import BadUsage, NothingFound
from kiwiresearch.kin import Evidence, KinshipFinder, PersonId, Sex, Tree, path_to, predecessors_from
from kiwiresearch.kin.privacy import WITHHELD, PrivacyMode, ShownTree, redact
from kiwiresearch.text.dates import DateRange, DateText

MAX_NAMED = 8
"""How many people of each family a list of families names."""
MAX_FAMILY_SAMPLE = 80
"""How many people of a family are considered for that."""
MAX_TIES = 12
MAX_PATH_TIES = 40
MAX_PATH_PEOPLE = 50_000
"""How many people are visited to find a path between two."""


@dataclass(frozen=True, slots=True)
class PrivacyView:
    """Who is shown: the privacy mode, and the year by which people may be alive."""

    mode: PrivacyMode
    year: int


class DateRow(TypedDict):
    """A date, also in words."""

    edtf: str
    words: str
    earliest: int
    latest: int


class PersonRow(TypedDict):
    """A person of a book; without a page, the path is empty."""

    id: PersonId
    name: str
    path: str
    title: str
    birth: DateRow | None
    death: DateRow | None
    sex: Sex


class QuotePlace(TypedDict):
    """Where a quote is."""

    path: str
    title: str
    start: int
    end: int


class TieQuote(TypedDict):
    """A quote, and where it is."""

    quote: str
    place: QuotePlace | None


class RelativeRow(PersonRow, TieQuote):
    """A relative, how many ties away, and the quote for the last of these."""

    kinship: str
    ties: int


class Relatives(TypedDict):
    """A person and their relatives."""

    person: PersonRow
    relatives: list[RelativeRow]
    hidden: NotRequired[int]


class StepRow(PersonRow):
    """A person on the path between two others, and how they are related to the one before."""

    kind: str


class AtlasRelation(TypedDict):
    """How two people are related."""

    first: PersonRow
    second: PersonRow
    kinship: str
    way: list[StepRow]


def families(atlas: Atlas, view: PrivacyView, window: ResultWindow) -> ResultSlice:
    """The largest families, each with members who have pages and may be named."""
    with _open_families(atlas) as database:
        total = database.scalar("SELECT count(*) FROM (SELECT family FROM persons GROUP BY family HAVING count(*) > 1)")
        rows = database.rows(
            f"""SELECT family, count(*) AS people, count(*) FILTER (has_page) AS pages FROM persons
            GROUP BY family HAVING count(*) > 1 ORDER BY pages DESC, people DESC, family
            LIMIT {window.limit} OFFSET {window.offset}"""
        )
        found = tuple(_family(database, row, view) for row in rows)
    return ResultSlice(found, int(total), window.offset)


def _family(database: AtlasDatabase, row: Row, view: PrivacyView) -> Row:
    members = database.stream(
        f"SELECT person FROM persons WHERE family = ? AND has_page ORDER BY id LIMIT {MAX_FAMILY_SAMPLE}",
        [row["family"]],
    )
    seen = _visible_tree(database, [person for (person,) in members], view, max_people=MAX_FAMILY_SAMPLE)
    named = [_person(seen, item.id) for item in seen.persons.values() if item.external.get("zim")]
    named.sort(key=lambda item: (-len(seen.children(item["id"])), item["name"]))
    return {"people": row["people"], "pages": row["pages"], "named": named[:MAX_NAMED]}


def relatives(atlas: Atlas, words: str, view: PrivacyView, *, steps: int = 3) -> Relatives:
    """A person and all relatives up to `steps` ties away, each with their kinship."""
    if not 1 <= steps <= MAX_TIES:
        raise BadUsage(
            f"Cannot show relatives up to {steps} relationships away.", remedy=f"Use a number from 1 to {MAX_TIES}."
        )
    with _open_families(atlas) as database:
        person = _find_person(database, words)
        seen = _visible_tree(database, [person], view)
    _refuse_withheld(seen, person, words)
    family, came = KinshipFinder(seen), predecessors_from(seen, person)
    found: list[RelativeRow] = []
    for item in came:
        ties = len(path_to(came, item)) - 1
        if 0 < ties <= steps:
            quote = _quote(seen, came[item].before, item)
            found.append({**_person(seen, item), "kinship": family.describe(person, item), "ties": ties, **quote})
    found.sort(key=lambda item: (item["ties"], item["kinship"], item["name"], item["id"]))
    return {"person": _person(seen, person), "relatives": found}


def relation(atlas: Atlas, first: str, second: str, view: PrivacyView) -> AtlasRelation:
    """The kinship of the second person to the first, and the path between them, which is empty if none is known."""
    with _open_families(atlas) as database:
        one, other = _find_person(database, first), _find_person(database, second)
        between = _path_between(database, one, other)
        seen = _visible_tree(database, dict.fromkeys([one, other, *between]), view)
    for person, words in ((one, first), (other, second)):
        _refuse_withheld(seen, person, words)
    found = KinshipFinder(seen).kinship(one, other)
    way: list[StepRow] = [{**_person(seen, step.person), "kind": step.kind} for step in found.path]
    return {"first": _person(seen, one), "second": _person(seen, other), "kinship": found.words, "way": way}


def people(atlas: Atlas, words: str, view: PrivacyView, window: ResultWindow) -> ResultSlice:
    """People who have pages and whose names contain some words; those withheld are counted, not named."""
    with _open_families(atlas) as database:
        values = search_words(words)
        chosen = " AND ".join(
            ["has_page", *("contains(lower(concat_ws(' ', name, title, person)), lower(?))" for _ in values)]
        )
        total = database.scalar(f"SELECT count(*) FROM persons WHERE {chosen}", values)
        rows = database.stream(
            f"SELECT person FROM persons WHERE {chosen} ORDER BY name, id LIMIT {window.limit} OFFSET {window.offset}",
            values,
        )
        found = [person for (person,) in rows]
        if not found:
            return ResultSlice((), int(total), window.offset)
        # With relatives, since who may be living also follows from when their parents and children lived.
        seen = _visible_tree(database, found, view, max_people=MAX_PEOPLE + len(found))
    shown = tuple(_person(seen, item) for item in found if item in seen.persons)
    return ResultSlice(shown, int(total), window.offset)


def _open_families(atlas: Atlas) -> AbstractContextManager[AtlasDatabase]:
    return atlas.database("people", files=atlas.files(FAMILIES))


def _visible_tree(
    database: AtlasDatabase,
    people: Sequence[PersonId] | dict[PersonId, None],
    view: PrivacyView,
    max_people: int = MAX_PEOPLE,
) -> ShownTree:
    """The tree around some people, redacted for the mode.

    People at its edge have fewer relatives here than in the book, so they may be taken for living, but never
    the other way round.
    """
    return redact(family_tree(database, people_around(database, list(people), max_people)), view.mode, view.year)


def _find_person(database: AtlasDatabase, words: str) -> PersonId:
    """The person whose page has this path or title, or the only one with this name."""
    rows = database.rows(
        f"""SELECT person, lower($1) IN (lower(person), lower(title), lower({sql_title_of_path("person")})) AS is_page
        FROM persons
        WHERE has_page AND (is_page OR lower(name) = lower($1))
        ORDER BY person = $1 DESC, is_page DESC, id LIMIT 3""",
        [words.strip()],
    )
    if not rows:
        raise NothingFound(
            f"The book has no page about a person named {words!r}.",
            remedy="Enter the page title as it appears in the book.",
        )
    if len(rows) > 1 and not rows[0]["is_page"]:
        raise BadUsage(f"Several people are named {words!r}.", remedy="Enter the page title of one of them.")
    return str(rows[0]["person"])


def _refuse_withheld(seen: Tree, person: PersonId, words: str) -> None:
    if person not in seen.persons:
        raise BadUsage(f"{words!r} may be living and is hidden.", remedy="To see it yourself, use --privacy owner.")


def _path_between(database: AtlasDatabase, one: PersonId, other: PersonId) -> list[PersonId]:
    """The people on a shortest path from one to the other, by breadth-first search; empty if they are not connected."""
    came: dict[PersonId, PersonId] = {one: one}
    circle = [one]
    for _ in range(MAX_PATH_TIES):
        if other in came or not circle or len(came) > MAX_PATH_PEOPLE:
            break
        ties, circle = tied_people(database, circle), []
        for before, person in ties:
            if person not in came:
                came[person] = before
                circle.append(person)
    if other not in came:
        return []
    path = [other]
    while path[-1] != one:
        path.append(came[path[-1]])
    return path[::-1]


def _person(tree: Tree, person_id: PersonId) -> PersonRow:
    person = tree.persons[person_id]
    return {
        "id": person.id,
        "name": person.name,
        "path": person.external.get("zim", ""),
        "title": person.external.get("title", ""),
        "birth": _when(person.birth),
        "death": _when(person.death),
        "sex": person.sex,
    }


def _when(when: DateRange | None) -> DateRow | None:
    return (
        {"edtf": when.edtf(), "words": DateText(when), "earliest": when.earliest, "latest": when.latest}
        if when
        else None
    )


def _quote(tree: Tree, before: PersonId, person: PersonId) -> TieQuote:
    """The quote that ties a person to the one before on the path, and where it is."""
    for tie in tree.relationships:
        if {tie.first, tie.second} == {before, person} and tie.evidence:
            return _quoted(tree, tie.evidence[0])
    return {"quote": "", "place": None}


def _quoted(tree: Tree, evidence: Evidence) -> TieQuote:
    if evidence.start < 0:
        return {"quote": WITHHELD, "place": None}
    title = tree.sources[evidence.source].title
    place: QuotePlace = {"path": evidence.source, "title": title, "start": evidence.start, "end": evidence.end}
    return {"quote": evidence.snippet, "place": place}
