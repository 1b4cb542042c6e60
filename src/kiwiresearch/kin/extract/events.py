"""Births and deaths in the running text: 'he was born in Aue on 4 May 1801'."""

from __future__ import annotations

from collections.abc import Iterator

from kiwiresearch.kin.extract.clauses import Clause, clauses_of
from kiwiresearch.kin.extract.lead import cut
from kiwiresearch.kin.extract.patterns import regex
from kiwiresearch.kin.extract.spans import CAP, MONTHS, Span
from kiwiresearch.kin.extract.subject import Subject
from kiwiresearch.kin.extract.words import FamilyWords
from kiwiresearch.kin.extracted import Extracted
from kiwiresearch.kin.fields import FieldName
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.fold import fold
from kiwiresearch.text.when import dates_in

SURE = 0.6
HAPPENED = regex.compile(
    r",?\s*(?:\([^()]*\)\s*)?(?:himself |herself )?(?P<kind>was born|died)\b(?!\s+(?:to|into|of the))"
)
EVENTS: dict[str, tuple[FieldName, FieldName]] = {
    "was born": ("birth_date", "birth_place"),
    "died": ("death_date", "death_place"),
}
NEAR = 70
"""How far behind the word the date and the place may stand."""
PLACE = regex.compile(rf"\b(?:in|at)\s+(?P<place>{CAP}(?:[ \-]{CAP})*(?:,\s+{CAP}(?:[ \-]{CAP})*){{0,2}})")
ENDS = regex.compile(r"[;.]\s|,\s+(?:he|she|his|her|who)\b|\b(?:and|when|while|but|after|before|where|as)\b|\(")

LIVES = regex.compile(
    r"[^()]{2,120}\((?:[^()]|\([^()]*\))*\bborn\b(?:[^()]|\([^()]*\))*\),?(?:\s+[^.()]{0,80},)?\s+is\b"
)
"""'(born 4 May 1950) is a singer': whose death is told further down is somebody else."""


def event_facts(page: PageDoc, subject: Subject, words: FamilyWords, known: frozenset[str]) -> Iterator[Extracted]:
    """The first birth and death told of the subject, for the fields that are not known yet."""
    open_fields = {field for pair in EVENTS.values() for field in pair} - known
    if LIVES.match(page.text, subject.opening.start, subject.opening.end):
        open_fields -= set(EVENTS["died"])
    for clause in clauses_of(page, subject, words):
        if not open_fields:
            return
        for fact in _told(page, clause):
            if fact.field in open_fields:
                open_fields.discard(fact.field)
                yield fact


def _told(page: PageDoc, clause: Clause) -> Iterator[Extracted]:
    for anchor in clause.anchors:
        found = HAPPENED.match(page.text, anchor.end, clause.end)
        if not found:
            continue
        stop = ENDS.search(page.text, found.end(), clause.end)
        end = min(stop.start() if stop else clause.end, found.end() + NEAR * 2)
        date_field, place_field = EVENTS[found["kind"]]
        because = f"{found['kind']!r} said of the subject"
        for dated in dates_in(page.text[found.end() : end], page.language)[:1]:
            if dated.start < NEAR and not dated.when.lasts:
                snippet = cut(page, Span(anchor.start, found.end() + dated.end))
                yield Extracted(date_field, dated.when.edtf(), snippet, "prose", SURE, dated.when, rationale=because)
        place = PLACE.search(page.text, found.end(), end)
        if place and place.start() - found.end() < NEAR and fold(place["place"].split()[0]) not in MONTH_WORDS:
            snippet = cut(page, Span(anchor.start, place.end()))
            yield Extracted(place_field, place["place"], snippet, "prose", SURE, rationale=because)
        return


MONTH_WORDS = MONTHS | {"march", "april", "may", "august"}
