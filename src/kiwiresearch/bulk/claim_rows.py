"""The claims of a page and the facts about its person as rows of tables."""

from __future__ import annotations

from collections.abc import Iterator

from kiwiresearch.bulk.tables import PathResolver, Row
from kiwiresearch.claims import Claim, claim_record, claims_of
from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.extract import read_person
from kiwiresearch.kin.firewall.check import check
from kiwiresearch.kin.loop import RELIABILITY
from kiwiresearch.page import PageDoc
from kiwiresearch.text.dates import DateRange


def claim_rows(page: PageDoc, book_name: str) -> Iterator[Row]:
    """The rows of `claims` for a page, without entry and path."""
    for index, claim in enumerate(claims_of(page, book_name)):
        yield (index, *_claim(claim))


def _claim(claim: Claim) -> Row:
    quote = claim.quotes[0]
    measure = claim.measures[0] if claim.measures else None
    return (
        claim.id,
        claim.type,
        claim.subject,
        claim.text,
        quote.text,
        quote.start,
        quote.end,
        claim.section,
        claim.anchor,
        claim.confidence,
        bool(claim.hedges),
        claim.type == "disputed" or claim.signals.disputed,
        *_date(claim.dates[0].when if claim.dates else None),
        float(measure.quantity.low) if measure else None,
        measure.quantity.unit if measure else "",
        measure.what if measure else "",
        canonical_json(claim_record(claim)),
    )


def people_rows(page: PageDoc, resolve: PathResolver) -> Iterator[Row]:
    """The rows of `people` for a page about one person, without values that their own quote does not support."""
    read = read_person(page)
    if not read.is_person:
        return
    name = read.name or read.title
    also = (read.name,) if read.name else ()
    supported = (fact for fact in read.facts if not check(fact, page.text, read.title, read.sex, other_names=also))
    for index, fact in enumerate(supported):
        snippet = fact.snippet
        yield (
            index,
            name,
            fact.field,
            fact.value,
            snippet.words,
            snippet.start,
            snippet.end,
            fact.method,
            round(min(fact.confidence, 1.0) * RELIABILITY[fact.method], 4),
            fact.qualifier,
            *_date(fact.when),
            resolve(fact.target) if fact.target else "",
        )


def _date(when: DateRange | None) -> Row:
    return (when.earliest, when.latest, when.edtf()) if when else (None, None, "")
