"""Contradictions within a book: DuckDB finds candidates, the comparison of claims decides."""

from __future__ import annotations

import heapq
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple

from kiwiresearch.atlas.atlas import Atlas, Recipe, book_language
from kiwiresearch.atlas.database import AtlasDatabase, ResultSlice, ResultWindow, save_query, select_page, sql_literal
from kiwiresearch.atlas.facts import UniqueFact, fact_words, facts_of, lives_in
from kiwiresearch.atlas.row_reader import checked_claim, fact_of_person
from kiwiresearch.brief import compared_sentence
from kiwiresearch.bulk import BookIdentity
from kiwiresearch.claims import Claim
from kiwiresearch.claims.conflicts import (
    NO_COMMON_DAY,
    TOLERANCE,
    Disagreement,
    DisagreementKind,
    TextSpan,
    compare_sentences,
    gap_of,
    rounding_explains,
    too_far_apart,
)
from kiwiresearch.codec import JsonDict
from kiwiresearch.evidence import INFOBOX
from kiwiresearch.ids import BookId, canonical_json
from kiwiresearch.messages import message_fields, message_from_record, message_record
from kiwiresearch.text import Quantity
from kiwiresearch.text.dates import DateMention

MAX_OF_FACT = 24
"""How many statements of one fact are compared with each other, those of its own page first: at most 276 pairs."""
MAX_PAIRS = 3
"""How many pairs of values of one fact are reported; more would be repetitive."""
OTHER_SCOPE = 0.2
"""A larger gap to a row of a table on another page means another scope: Russia in a table of Asia is not all of it."""
MIN_STRENGTH = 0.6


@dataclass(frozen=True, slots=True)
class ContradictingClaim:
    """The claim of one side, and the span of the differing value in its text."""

    claim: Claim
    span: TextSpan


@dataclass(frozen=True, slots=True)
class BookContradiction:
    """Two claims of a book that state different values: a contradiction, or a difference with an explanation."""

    about: str
    """The path of the page about the subject."""
    attribute: str
    """The attribute that both state; empty for two sentences that are identical except for a value."""
    disagreement: Disagreement
    gap: float
    """The distance of two numbers as a share of the larger, or of two dates in days."""
    sides: tuple[ContradictingClaim, ContradictingClaim]


def subject_contradictions(about: str, facts: Iterable[UniqueFact], language: str) -> Iterator[BookContradiction]:
    """The contradictions between facts about the page `about`, each pair of values once."""
    by_attribute: dict[str, list[UniqueFact]] = defaultdict(list)
    for fact in facts:
        by_attribute[fact.attribute].append(fact)
    for attribute in sorted(by_attribute):
        several = sorted(by_attribute[attribute], key=lambda fact: not fact.is_own)[:MAX_OF_FACT]
        found: dict[frozenset[object], BookContradiction] = {}
        for values, contradiction in _fact_disagreements(about, several, language):
            found.setdefault(values, contradiction)
        yield from islice(found.values(), MAX_PAIRS)


def sentence_contradictions(about: str, claims: Sequence[Claim], language: str) -> Iterator[BookContradiction]:
    """The contradictions between sentences of different places that are identical except for their numbers."""
    for claim, other in combinations(claims[:MAX_OF_FACT], 2):
        if (claim.ref, claim.section) == (other.ref, other.section):
            continue
        found = compare_sentences(compared_sentence(claim, language), compared_sentence(other, language))
        if found is None or found.strength < MIN_STRENGTH or found.what not in ("a number", "a date"):
            continue
        if claim.text[found.a[1] :].lstrip()[:1] != "±":  # a value with a stated error may differ by it
            values = [_value_at(claim, found.a), _value_at(other, found.b)]
            yield BookContradiction(
                about,
                "",
                found,
                _gap(*values),
                (ContradictingClaim(claim, found.a), ContradictingClaim(other, found.b)),
            )


def _fact_disagreements(
    about: str, facts: Sequence[UniqueFact], language: str
) -> Iterator[tuple[frozenset[object], BookContradiction]]:
    """The contradictions with their pairs of values, by which duplicates are recognized."""
    for one, other in combinations(facts, 2):
        if not one.must_agree_with(other):
            continue
        found = compare_sentences(one.compared_sentence(language), other.compared_sentence(language))
        if found is None:
            continue
        found, gap = _explain(one, other, found)
        if found.kind == "contradiction" and gap > OTHER_SCOPE and (_is_in_table(one) or _is_in_table(other)):
            continue
        sides = (ContradictingClaim(one.claim, _span(one)), ContradictingClaim(other.claim, _span(other)))
        values = frozenset((_value_key(one.value), _value_key(other.value)))
        yield (
            values,
            BookContradiction(about, one.attribute, replace(found, a=sides[0].span, b=sides[1].span), gap, sides),
        )


def _explain(one: UniqueFact, other: UniqueFact, found: Disagreement) -> tuple[Disagreement, float]:
    """The disagreement, explained by rounding, estimates or the lack of a common day, and the gap."""
    gap = _gap(one.value, other.value)
    if found.kind != "contradiction" or not isinstance(one.value, Quantity):
        return replace(found, why=NO_COMMON_DAY if found.kind == "contradiction" else found.why), gap
    if gap <= TOLERANCE:
        return replace(found, kind="unit or rounding", why=rounding_explains(gap)), gap
    if {one.basis, other.basis} == {"census", "estimate"}:
        return replace(found, kind="estimate range", why=rounding_explains(gap)), gap
    return replace(found, why=too_far_apart(gap, TOLERANCE)), gap


def _value_key(value: Quantity | DateMention) -> object:
    return value.when.latest if isinstance(value, DateMention) else (value.low, value.high)


def _gap(one: Quantity | DateMention | None, other: Quantity | DateMention | None) -> float:
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        return round(gap_of(one, other), 4)
    if isinstance(one, DateMention) and isinstance(other, DateMention):
        return float(max(one.when.earliest - other.when.latest, other.when.earliest - one.when.latest, 0))
    return 0.0


def _value_at(claim: Claim, span: TextSpan) -> Quantity | DateMention | None:
    values: list[Quantity | DateMention] = [*(measure.quantity for measure in claim.measures), *claim.dates]
    return next((value for value in values if value.start < span[1] and span[0] < value.end), None)


def _is_in_table(fact: UniqueFact) -> bool:
    return fact.is_label and not (fact.is_own and fact.claim.section == INFOBOX)


def _span(fact: UniqueFact) -> TextSpan:
    return fact.value.start, fact.value.end


MAX_OF_SUBJECT = 2_000
"""How many claims about one subject are considered, those of its own page first."""
MAX_ALIKE = 6
"""More sentences than this that are identical except for their numbers are a list."""
SQL_NAME_KEY = "regexp_replace(lower(strip_accents({})), '^the ', '')"
# 'It has 1,200 rooms.' and 'It has 950 rooms.' both become 'It has # rooms.'
SQL_SKELETON = "regexp_replace(claim, '[0-9][0-9.,]*', '#', 'g')"
# 'a book of Albert Einstein (1879–1955)'; not '(born 1879)', which has one year only.
LIFE_PATTERN = "([^()]{3,80}) [(][^()]{0,30}[0-9]{3,4}[^()]{0,30}[0-9]{3,4}[)]"
"""Some words followed by years in brackets."""


class ContradictionCandidate(NamedTuple):
    """A claim that may contradict others about the same subject, by its facts or as a sentence similar to them."""

    about: str
    skeleton: str
    """The part that similar sentences have in common; empty for facts."""
    claim: Claim
    facts: tuple[UniqueFact, ...] = ()


def find_contradictions(database: AtlasDatabase, book: BookId, language: str) -> Iterator[BookContradiction]:
    """The contradictions of a book, by the path of their subject; only the claims of one subject are in memory."""
    _prepare_views(database)
    streams = [_factual(database, language), _similar_sentences(database)]
    if database.has("people"):
        streams += [_lives(database, book), _mentioned(database)]
    # Every stream is sorted by DuckDB, in the order of bytes; in UTF-8 that is the order of Python's strings.
    ordered = heapq.merge(*streams, key=itemgetter(0, 1))
    for (about, skeleton), rows in groupby(ordered, key=itemgetter(0, 1)):
        kept = list(islice(rows, MAX_OF_SUBJECT))
        if skeleton:
            yield from sentence_contradictions(about, [row.claim for row in kept], language)
        else:
            yield from subject_contradictions(about, (fact for row in kept for fact in row.facts), language)


def _factual(database: AtlasDatabase, language: str) -> Iterator[ContradictionCandidate]:
    query = "SELECT about, record FROM factual ORDER BY about, path <> about, entry, number"
    for about, record in database.stream(query):
        if claim := checked_claim(record):
            yield ContradictionCandidate(about, "", claim, tuple(facts_of(claim, about, language)))


def _similar_sentences(database: AtlasDatabase) -> Iterator[ContradictionCandidate]:
    """Sentences about one subject that are identical except for their numbers."""
    query = f"""WITH twins AS (
            SELECT about, {SQL_SKELETON} AS skeleton FROM attributed WHERE NOT contains(claim, ' — ')
            GROUP BY about, skeleton HAVING count(DISTINCT claim) > 1 AND count(*) <= {MAX_ALIKE}
        )
        SELECT attributed.about, skeleton, record FROM attributed
        JOIN twins ON attributed.about = twins.about AND {SQL_SKELETON.replace("claim", "attributed.claim")} = skeleton
        ORDER BY attributed.about, skeleton, entry, number"""
    for about, skeleton, record in database.stream(query):
        if claim := checked_claim(record):
            yield ContradictionCandidate(about, skeleton, claim)


def _lives(database: AtlasDatabase, book: BookId) -> Iterator[ContradictionCandidate]:
    """Births and deaths on pages about people; only of those who died, since others may be alive."""
    names = ("path", "title", "name", "field", "quote", "start", "end", "method", "earliest", "latest")
    columns = ", ".join(f'"{name}"' for name in names)
    query = f"""SELECT {columns} FROM people JOIN (SELECT path, title FROM titles WHERE redirect_to = '') USING (path)
        WHERE field IN ('birth_date', 'death_date') AND earliest IS NOT NULL
            AND path IN (SELECT path FROM people WHERE field = 'death_date')
        ORDER BY path, number"""
    for row in database.stream(query):
        if fact := fact_of_person(book, dict(zip(names, row, strict=True))):
            yield ContradictionCandidate(fact.claim.ref.path, "", fact.claim, (fact,))


def _mentioned(database: AtlasDatabase) -> Iterator[ContradictionCandidate]:
    """People named with their years in claims about other things, by the longest name that is the title of a page."""
    query = f"""WITH before_brackets AS (
            SELECT path, entry, number, record,
                regexp_extract(claim, '{LIFE_PATTERN}', 1) AS before
            FROM claims WHERE earliest IS NOT NULL AND contains(claim, '(')
        ), split_words AS (
            SELECT *, string_split(trim(before), ' ') AS words FROM before_brackets WHERE before <> ''
        ), named AS (
            SELECT path, entry, number, record, array_to_string(words[-size:], ' ') AS name
            FROM split_words, (SELECT unnest(range(2, 7)) AS size) WHERE len(words) >= size
        )
        SELECT about, max_by(name, length(name)) AS longest, any_value(record) FROM (
            SELECT names.about, named.* FROM named JOIN names ON {SQL_NAME_KEY.format("named.name")} = names.name
            WHERE names.about IN (SELECT path FROM people) AND names.about <> named.path
        ) GROUP BY about, entry, number ORDER BY about, entry, number"""
    for about, name, record in database.stream(query):
        if claim := checked_claim(record):
            yield ContradictionCandidate(about, "", claim, tuple(lives_in(claim, name)))


def _prepare_views(database: AtlasDatabase) -> None:
    """Create what the queries use.

    `names` and `own` say which page a name refers to, names that two pages share left out; `attributed` has
    the claims with a value and the page about their subject, and `factual` those of them that may state a fact.
    """
    database.execute(
        f"""CREATE TABLE names AS
        SELECT {SQL_NAME_KEY.format("title")} AS name, min(about) AS about
        FROM (SELECT title, CASE WHEN redirect_to = '' THEN path ELSE redirect_to END AS about FROM titles)
        GROUP BY name HAVING count(DISTINCT about) = 1"""
    )
    # On the page 'Mini (car)', 'Mini' means that page, whatever the page 'Mini' is about.
    database.execute(
        f"""CREATE TABLE own AS
        SELECT path, {SQL_NAME_KEY.format("regexp_replace(title, ' [(][^()]*[)]$', '')")} AS name
        FROM titles WHERE redirect_to = ''"""
    )
    cues = "|".join(fact_words().cues())
    database.execute(
        f"""CREATE VIEW attributed AS
        SELECT CASE WHEN own.name = {SQL_NAME_KEY.format("claims.subject")} THEN own.path ELSE names.about END AS about,
        claims.* FROM claims JOIN own ON claims.path = own.path
        LEFT JOIN names ON {SQL_NAME_KEY.format("claims.subject")} = names.name
        WHERE (claims.earliest IS NOT NULL OR claims.value IS NOT NULL)
            AND (names.about IS NOT NULL OR own.name = {SQL_NAME_KEY.format("claims.subject")})"""
    )
    database.execute(
        f"""CREATE VIEW factual AS SELECT about, entry, number, path, record FROM attributed
        WHERE contains(claim, ' — ') OR contains(claim, ' (') OR regexp_matches(claim, '\\b({cues})\\b', 'i')"""
    )


KINDS: tuple[DisagreementKind, ...] = (
    "contradiction",
    "estimate range",
    "unit or rounding",
    "different year",
    "different scope",
)
"""In the order in which they are listed."""
ValueKind = Literal["a number", "a date"]
SIDES = ("a", "b")
COLUMNS = (
    "path", "title", "section", "anchor", "claim_id", "text", "value_start", "value_end", "quote", "start", "end",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ContradictionFilter:
    """Which contradictions to list."""

    kind: DisagreementKind | Literal[""] = ""
    what: ValueKind | Literal[""] = ""
    words: str = ""
    """Part of the subject's title, or of either claim."""
    page: str = ""
    """The title or path of the page of one of the sides."""


def contradictions(atlas: Atlas, filter: ContradictionFilter, window: ResultWindow) -> ResultSlice:  # noqa: A002
    """Some contradictions: by kind, dates before numbers, the largest gap first."""
    text = "lower(concat_ws(' ', title, attribute, a_text, b_text))"
    conditions = {
        "kind = ?": filter.kind,
        "what = ?": filter.what,
        f"contains({text}, lower(?))": filter.words.strip(),
        "list_contains([a_path, a_title, b_path, b_title], ?)": filter.page,
    }
    with atlas.database(files=atlas.files(CONTRADICTIONS)) as database:
        chosen = [(condition, [value]) for condition, value in conditions.items() if value]
        found = select_page(database, "contradictions", chosen, "number", window)
    return replace(found, rows=tuple(map(_row, found.rows)))


def contradiction_counts(atlas: Atlas) -> dict[str, int]:
    """The number of contradictions of each kind."""
    with atlas.database(files=atlas.files(CONTRADICTIONS)) as database:
        by_kind = dict(database.stream("SELECT kind, count(*) FROM contradictions GROUP BY kind"))
    return {kind: by_kind[kind] for kind in KINDS if kind in by_kind}


def _row(row: Mapping[str, Any]) -> JsonDict:
    sides = [{name: row[f"{side}_{name}"] for name in COLUMNS} for side in SIDES]
    plain = ("about", "title", "attribute", "kind", "what", "why", "gap")
    record = row.get("why_message")  # an atlas of an earlier version has none
    why = message_from_record(row["why"], json.loads(record) if record else None)
    return {name: row[name] for name in plain} | message_fields("why", why) | {"sides": sides}


def _make(database: AtlasDatabase, folder: Path, book: BookIdentity) -> None:
    numbers = ("value_start", "value_end", "start", "end")
    columns = [f"{side}_{name} {'BIGINT' if name in numbers else 'VARCHAR'}" for side in SIDES for name in COLUMNS]
    database.execute(
        "CREATE TABLE pairs (about VARCHAR, attribute VARCHAR, kind VARCHAR, what VARCHAR, why VARCHAR, "
        f"why_message VARCHAR, gap DOUBLE, {', '.join(columns)})"
    )
    blanks = ", ".join("?" * (7 + 2 * len(COLUMNS)))
    for contradiction in find_contradictions(database, BookId(book.id), book_language(book)):
        database.execute(f"INSERT INTO pairs VALUES ({blanks})", _values(contradiction))
    order = " ".join(f"WHEN {sql_literal(kind)} THEN {place}" for place, kind in enumerate(KINDS))
    save_query(
        database,
        folder,
        "contradictions",
        f"""SELECT row_number() OVER (ORDER BY CASE kind {order} ELSE 9 END, what, gap DESC, about, attribute,
            a_claim_id, b_claim_id) AS number, names.title, pairs.*
        FROM pairs JOIN (SELECT path, min(title) AS title FROM titles WHERE redirect_to = '' GROUP BY path) names
        ON pairs.about = names.path ORDER BY number""",
    )


def _values(contradiction: BookContradiction) -> list[Any]:
    found = contradiction.disagreement
    record = message_record(found.why)
    sides = [value for side in contradiction.sides for value in _side(side)]
    why = [str(found.why), canonical_json(record) if record else ""]
    return [
        contradiction.about,
        contradiction.attribute,
        found.kind,
        found.what,
        *why,
        contradiction.gap,
        *sides,
    ]


def _side(side: ContradictingClaim) -> list[Any]:
    claim, quote = side.claim, side.claim.quotes[0]
    return [
        claim.ref.path, claim.page_title, claim.section, claim.anchor, claim.id, claim.text, *side.span,
        quote.text, quote.start, quote.end,
    ]  # fmt: skip


CONTRADICTIONS = Recipe("contradictions", ("contradictions",), ("titles", "claims"), _make, optional=("people",))
