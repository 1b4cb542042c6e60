"""What a page claims, and what it says about its person, as rows."""

from __future__ import annotations

from collections.abc import Iterator

from kiwiresearch.bulk.page_rows import Resolving
from kiwiresearch.bulk.tables import Row
from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.record import record_of
from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.extract.read import read_person
from kiwiresearch.kin.firewall.check import check
from kiwiresearch.kin.loop.verifying import RELIABILITY
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.when import DateRange


def claim_rows(page: PageDoc, book_name: str) -> Iterator[Row]:
    """What `claims` tells of a page, behind its entry and path."""
    for number, claim in enumerate(claims_of(page, book_name)):
        yield (number, *_claim(claim))


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
        canonical_json(record_of(claim)),
    )


def people_rows(page: PageDoc, resolve: Resolving) -> Iterator[Row]:
    """What `people` tells of a page that is about one person; values that their own quote does not bear out are not."""
    read = read_person(page)
    if not read.is_person:
        return
    name = read.name or read.title
    also = (read.name,) if read.name else ()
    kept = (fact for fact in read.facts if not check(fact, page.text, read.title, read.sex, also=also))
    for number, fact in enumerate(kept):
        snippet = fact.snippet
        yield (
            number,
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
