"""Claims as plain data: the seed's fields by their names, the rest beside them, and back again."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from kiwiresearch.claims.claim import Claim, Measure, Signals
from kiwiresearch.evidence.quote import of_record
from kiwiresearch.ids import BookId
from kiwiresearch.search.hit import Score, ScoreLine
from kiwiresearch.text.hedges import Hedge
from kiwiresearch.text.quantities import Quantity
from kiwiresearch.text.when import Dated, DateRange
from kiwiresearch.zim.entry import EntryRef

FLAGS = ("may", "some", "debated", "uncertain")


def record_of(claim: Claim) -> dict[str, Any]:
    """What `claims.jsonl` holds of a claim."""
    kinds = {hedge.kind for hedge in claim.hedges}
    signals, ref = claim.signals, claim.quotes[0].ref
    # The keys stand in the order in which they are written: sorting what is sorted takes no time.
    return {
        "also": list(claim.also),
        "anchor": claim.anchor,
        "book": ref.book,
        "book_name": claim.book_name,
        "claim": claim.text,
        "claim_id": claim.id,
        "claim_type": claim.type,
        "confidence": claim.confidence,
        "confidence_terms": [{"points": points, "signal": signal} for signal, points in claim.score.lines],
        "dates": [{**when_record(one.when), "start": one.start, "end": one.end} for one in claim.dates],
        "depends_on": claim.depends_on,
        "evidence_signals": {
            "citation_needed": signals.citation_needed,
            "disputed": signals.disputed,
            "page_references": signals.page_references,
            "references": signals.references,
            "section_references": signals.section_references,
            "stub": signals.stub,
        },
        "headings": list(claim.headings),
        "hedging": [{"cue": cue, "end": end, "kind": kind, "start": start} for start, end, cue, kind in claim.hedges],
        "hedging_flags": {flag: flag in kinds for flag in FLAGS},
        "measures": [_measure(measure) for measure in claim.measures],
        "name_put_in": claim.put_in,
        "names": list(claim.names),
        "origin": claim.origin,
        "page_title": claim.page_title,
        "path": ref.path,
        "scope": claim.scope,
        "section": claim.section,
        "section_heading": claim.section,
        "spans": [{"end": quote.end, "sha": quote.sha, "start": quote.start} for quote in claim.quotes],
        "subject": claim.subject,
        "support_snippets": [quote.text for quote in claim.quotes],
        "topic_tags": list(claim.tags),
    }


def claim_of(row: Mapping[str, Any]) -> Claim:
    """The claim that a record was made of; ValueError, KeyError or TypeError if it was none."""
    ref = EntryRef(BookId(row["book"]), row["path"])
    quotes = tuple(
        of_record(ref, place["start"], place["end"], text)
        for place, text in zip(row["spans"], row["support_snippets"], strict=True)
    )
    if not quotes:
        raise ValueError("a claim without a quote is none")
    return Claim(
        text=row["claim"],
        type=row["claim_type"],
        subject=row["subject"],
        scope=row["scope"],
        quotes=quotes,
        page_title=row["page_title"],
        section=row["section"],
        anchor=row["anchor"],
        book_name=row["book_name"],
        also=tuple(row["also"]),
        tags=tuple(row["topic_tags"]),
        hedges=tuple(Hedge(**hedge) for hedge in row["hedging"]),
        signals=Signals(**row["evidence_signals"]),
        measures=tuple(_measure_of(one, row["subject"]) for one in row["measures"]),
        dates=tuple(Dated(one["start"], one["end"], when_of(one)) for one in row["dates"]),
        names=tuple(row["names"]),
        score=Score(tuple(ScoreLine(**line) for line in row["confidence_terms"])),
        origin=row["origin"],
        headings=tuple(row["headings"]),
        put_in=row["name_put_in"],
        depends_on=row["depends_on"],
    )


@lru_cache(maxsize=4_096)
def when_record(when: DateRange) -> Mapping[str, Any]:
    """A date as plain data, also in the form that other programs read."""
    return {
        "edtf": when.edtf(),
        "earliest": when.earliest,
        "latest": when.latest,
        "precision": when.precision,
        "qualifier": when.qualifier,
        "calendar": when.calendar,
        "lasts": when.lasts,
    }


def when_of(row: Mapping[str, Any]) -> DateRange:
    names = ("earliest", "latest", "precision", "qualifier", "calendar", "lasts")
    return DateRange(**{name: row[name] for name in names})


def _measure(measure: Measure) -> dict[str, Any]:
    """A measure is of the claim's subject, which its record names."""
    told = dict(zip(Quantity._fields, measure.quantity, strict=True))
    return told | {"what": measure.what, "when": when_record(measure.when) if measure.when else None}


def _measure_of(row: Mapping[str, Any], subject: str) -> Measure:
    quantity = Quantity(*[row[name] for name in Quantity._fields])
    return Measure(quantity, row["what"], subject, when_of(row["when"]) if row["when"] else None)
