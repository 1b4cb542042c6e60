"""What of a whole book may contradict something else of it: DuckDB finds it, subject by subject."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import groupby, islice
from operator import itemgetter
from typing import NamedTuple

from kiwiresearch.atlas.database import Database
from kiwiresearch.atlas.disagreeing import Contradiction, of_subject, of_twins
from kiwiresearch.atlas.fact import Fact
from kiwiresearch.atlas.fact_words import table
from kiwiresearch.atlas.facts import facts_of, lives_in
from kiwiresearch.atlas.people_facts import fact_of_person
from kiwiresearch.atlas.sound import sound_claim
from kiwiresearch.claims.claim import Claim
from kiwiresearch.ids import BookId

MOST_OF_SUBJECT = 2_000
"""Claims about one subject that are looked at, those of its own page first."""
MANY_TWINS = 6
"""Sentences that are alike but for their figures; more of them are a list."""
KEY = "regexp_replace(lower(strip_accents({})), '^the ', '')"
SKELETON = "regexp_replace(claim, '[0-9][0-9.,]*', '#', 'g')"
LIVED = "([^()]{3,80}) [(][^()]{0,30}[0-9]{3,4}[^()]{0,30}[0-9]{3,4}[)]"
"""Some words, and years in brackets behind them."""


class Candidate(NamedTuple):
    """What may contradict something else that is said of the same subject: facts, or a sentence among its like."""

    about: str
    skeleton: str
    """Of a sentence, what it has in common with the others; empty of facts."""
    claim: Claim
    facts: tuple[Fact, ...] = ()


def found(database: Database, book: BookId, language: str) -> Iterator[Contradiction]:
    """Subject by subject, in the order of their paths; no more than the claims of one subject are in memory."""
    _write_names(database)
    streams = [_factual(database, language), _alike(database)]
    if database.has("people"):
        streams += [_lives(database, book), _mentioned(database)]
    ordered = heapq.merge(*streams, key=itemgetter(0, 1))
    for (about, skeleton), rows in groupby(ordered, key=itemgetter(0, 1)):
        some = list(islice(rows, MOST_OF_SUBJECT))
        if skeleton:
            yield from of_twins(about, [row.claim for row in some], language)
        else:
            yield from of_subject(about, (fact for row in some for fact in row.facts), language)


def _factual(database: Database, language: str) -> Iterator[Candidate]:
    query = "SELECT about, record FROM factual ORDER BY about, path <> about, entry, number"
    for about, record in database.stream(query):
        claim = sound_claim(record)
        if claim is not None:
            yield Candidate(about, "", claim, tuple(facts_of(claim, about, language)))


def _alike(database: Database) -> Iterator[Candidate]:
    """Sentences about one subject that are the same but for their figures, from more than one place."""
    query = f"""WITH twins AS (
            SELECT about, {SKELETON} AS skeleton FROM told WHERE NOT contains(claim, ' — ')
            GROUP BY about, skeleton HAVING count(DISTINCT claim) > 1 AND count(*) <= {MANY_TWINS}
        )
        SELECT told.about, skeleton, record FROM told
        JOIN twins ON told.about = twins.about AND {SKELETON.replace("claim", "told.claim")} = skeleton
        ORDER BY told.about, skeleton, entry, number"""
    for about, skeleton, record in database.stream(query):
        claim = sound_claim(record)
        if claim is not None:
            yield Candidate(about, skeleton, claim)


def _lives(database: Database, book: BookId) -> Iterator[Candidate]:
    """Births and deaths as pages about people tell them; of those who died, since others may be alive."""
    names = ("path", "title", "name", "field", "quote", "start", "end", "method", "earliest", "latest")
    columns = ", ".join(f'"{name}"' for name in names)
    query = f"""SELECT {columns} FROM people JOIN (SELECT path, title FROM titles WHERE redirect_to = '') USING (path)
        WHERE field IN ('birth_date', 'death_date') AND earliest IS NOT NULL
            AND path IN (SELECT path FROM people WHERE field = 'death_date')
        ORDER BY path, number"""
    for row in database.stream(query):
        fact = fact_of_person(book, dict(zip(names, row, strict=True)))
        if fact is not None:
            yield Candidate(fact.claim.ref.path, "", fact.claim, (fact,))


def _mentioned(database: Database) -> Iterator[Candidate]:
    """People whom claims about other things name, with their years behind the longest name that is a page's."""
    query = f"""WITH behind AS (
            SELECT path, entry, number, record,
                regexp_extract(claim, '{LIVED}', 1) AS before
            FROM claims WHERE earliest IS NOT NULL AND contains(claim, '(')
        ), cut AS (
            SELECT *, string_split(trim(before), ' ') AS words FROM behind WHERE before <> ''
        ), named AS (
            SELECT path, entry, number, record, array_to_string(words[-size:], ' ') AS name
            FROM cut, (SELECT unnest(range(2, 7)) AS size) WHERE len(words) >= size
        )
        SELECT about, max_by(name, length(name)) AS longest, any_value(record) FROM (
            SELECT names.about, named.* FROM named JOIN names ON {KEY.format("named.name")} = names.name
            WHERE names.about IN (SELECT path FROM people) AND names.about <> named.path
        ) GROUP BY about, entry, number ORDER BY about, entry, number"""
    for about, name, record in database.stream(query):
        claim = sound_claim(record)
        if claim is not None:
            yield Candidate(about, "", claim, tuple(lives_in(claim, name)))


def _write_names(database: Database) -> None:
    """Which page a subject is the name of; a name that two pages have tells neither."""
    database.do(
        f"""CREATE TABLE names AS
        SELECT {KEY.format("title")} AS name, min(about) AS about
        FROM (SELECT title, CASE WHEN redirect_to = '' THEN path ELSE redirect_to END AS about FROM titles)
        GROUP BY name HAVING count(DISTINCT about) = 1"""
    )
    # On the page 'Mini (car)', 'Mini' is that page's subject, whatever the page 'Mini' is about.
    database.do(
        f"""CREATE TABLE own AS
        SELECT path, {KEY.format("regexp_replace(title, ' [(][^()]*[)]$', '')")} AS name
        FROM titles WHERE redirect_to = ''"""
    )
    cues = "|".join(table().cues())
    database.do(
        f"""CREATE VIEW told AS
        SELECT CASE WHEN own.name = {KEY.format("claims.subject")} THEN own.path ELSE names.about END AS about, claims.*
        FROM claims JOIN own ON claims.path = own.path LEFT JOIN names ON {KEY.format("claims.subject")} = names.name
        WHERE (claims.earliest IS NOT NULL OR claims.value IS NOT NULL)
            AND (names.about IS NOT NULL OR own.name = {KEY.format("claims.subject")})"""
    )
    database.do(
        f"""CREATE VIEW factual AS SELECT about, entry, number, path, record FROM told
        WHERE contains(claim, ' — ') OR contains(claim, ' (') OR regexp_matches(claim, '\\b({cues})\\b', 'i')"""
    )
