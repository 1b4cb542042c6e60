"""Checks the claims of a run against their pages and against the rules that made them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from kiwiresearch.claims import (
    CLAIM_TYPES,
    Claim,
    Unsupported,
    all_sentences,
    claim_from_record,
    claim_record,
    claims_of,
    complete_claim,
    tidy_sentence,
    unsupported_facts,
)
from kiwiresearch.evidence import is_on_page, place_of, section_at
from kiwiresearch.page import PageDoc
from kiwiresearch.runs import CLAIMS
from kiwiresearch.text import LEADING_ARTICLE, POSSESSIVE, fold, hedges_in, quantities_in
from kiwiresearch.text.dates import dates_in
from kiwiresearch.verify.ledger import (
    JsonLine,
    Ledger,
    Location,
    canonical_bytes,
    differing_fields,
    first_difference,
    json_lines,
    shown,
)

MAX_REPLACED = 6
"""The most words that a name may replace: 'he', 'its' or 'the old capital city'."""
PUNCTUATION = ' ,;:.!?()"“”'


class BoxRow(NamedTuple):
    """A row of an infobox: where its value is, and its labels."""

    start: int
    end: int
    group: str
    key: str
    value: str


def unsupported_words(claim: Claim, boxes: Sequence[BoxRow], title: str, language: str) -> tuple[str, ...]:
    """The numbers, dates and names of a claim that neither its quotes nor the page's title contain."""
    quotes = [_normalized(quote.text) for quote in claim.quotes]
    text = _normalized(claim.text)
    if text in (quotes[0], _row_text(quotes)) or _differs_by_name(text, quotes[0], [title, *quotes[1:]]):
        return ()
    # Also the quotes as they are: a row has a tab between label and value, without which 'Density 243' is like a name.
    raw = [quote.text for quote in claim.quotes]
    sources = [*quotes, *raw, title, _row_text(quotes), *_labels(claim, boxes)]
    found = unsupported_facts(text, sources, language)
    return tuple(dict.fromkeys(fact.text for fact in found if not _is_literal(fact, sources)))


def _is_literal(fact: Unsupported, sources: Sequence[str]) -> bool:
    """Whether a date is in a source literally, though nothing there marks it as a date."""
    if fact.kind != "date":
        return False
    # Finds "1859" in "in 1859." and "(1859)", but not in "18591", "v1859" or "1859,5".
    pattern = re.compile(rf"(?<![\w,.]){re.escape(fact.text)}(?![\w]|[,.]\d)")
    return any(pattern.search(source) for source in sources)


def _normalized(text: str) -> str:
    """The text as a claim has it: white space normalized, and with a capital."""
    words = tidy_sentence(" ".join(text.split()))
    return words[:1].upper() + words[1:]


def _row_text(quotes: Sequence[str]) -> str:
    """A table cell as a claim: row, column and value."""
    return f"{quotes[1]} — {quotes[2]}: {quotes[0]}" if len(quotes) > 2 else ""


def _differs_by_name(text: str, quote: str, names: Sequence[str]) -> bool:
    """Whether a claim is its quote word for word, except for a name that replaces a pronoun or description."""
    # "Darwin was born in 1809" and "He was born in 1809": without their common start and end, a name and a pronoun
    # are left.
    claimed, quoted = text.split(" "), quote.split(" ")
    first = first_difference(claimed, quoted)
    last = first_difference(claimed[first:][::-1], quoted[first:][::-1])
    put_in, replaced = claimed[first : len(claimed) - last], quoted[first : len(quoted) - last]
    if not put_in or not replaced or len(replaced) > MAX_REPLACED or any(char.isdigit() for char in "".join(replaced)):
        return False
    name = POSSESSIVE.sub("", " ".join(put_in).strip(PUNCTUATION))
    name = fold(LEADING_ARTICLE.sub("", name))
    return bool(name) and any(f" {name} " in f" {fold(item)} " for item in names)


def _labels(claim: Claim, boxes: Sequence[BoxRow]) -> Iterator[str]:
    """The labels of an infobox row, which are not in its quote."""
    quote = claim.quotes[0]
    for row in boxes:
        if quote.start <= row.start and row.end <= quote.end:
            yield from (
                _normalized(row.group),
                _normalized(row.key),
                f"{_normalized(row.key)} {_normalized(row.value)}",
            )


INVALID_CLAIM = "it is not a valid claim"
MODEL_FIELDS = frozenset({"scope", "topic_tags", "confidence", "confidence_terms"})
"""The fields that a model decides, in addition to the text and the type of a claim."""


class RecordedClaim(NamedTuple):
    """A claim and its line in the file."""

    row: JsonLine
    claim: Claim

    def location(self, ledger: Ledger) -> Location:
        return _location(self.row, ledger)


def _location(row: JsonLine, ledger: Ledger) -> Location:
    return ledger.at(CLAIMS, row.line, str(row.value.get("claim_id", ""))[:80])


@dataclass(frozen=True, slots=True)
class PageEvidence:
    """The evidence for the claims of one page; without the book, only its text in the corpus."""

    text: str
    title: str
    language: str
    book_name: str
    boxes: tuple[BoxRow, ...]
    page: PageDoc | None
    same_version: bool
    """Whether this version made the claims, and can make them again."""
    with_model: bool = False
    """Whether a model read pages too: it may have added tags to claims of the rules."""


def read_recorded_claims(raw: bytes, ledger: Ledger) -> list[RecordedClaim]:
    """The claims of a run; malformed lines are failures."""
    found = []
    for row in json_lines(CLAIMS, raw, ledger):
        location = _location(row, ledger)
        with location.catching_malformed(INVALID_CLAIM):
            claim = claim_from_record(row.value)
            expected = claim_record(claim)
            hash(claim)  # raises TypeError for a list or object in place of a text
            if canonical_bytes(expected) != row.raw:
                location.fail(_differing(row.value, expected))
            if claim.type not in CLAIM_TYPES:
                location.fail(f"{claim.type!r} is not a type of claim")
            found.append(RecordedClaim(row, claim))
    return found


def verify_claims(recorded_claims: Sequence[RecordedClaim], evidence: PageEvidence, ledger: Ledger) -> None:
    """Check each claim of a page, and then all of them against the rules."""
    for recorded_claim in recorded_claims:
        location = recorded_claim.location(ledger)
        counted = ledger.counting("claims") if evidence.page is not None else nullcontext()
        with counted, location.catching_malformed(INVALID_CLAIM):
            for what in _claim_failures(recorded_claim.claim, evidence, ledger):
                location.fail(what)
    _verify_rules(recorded_claims, evidence, ledger)


def _claim_failures(claim: Claim, evidence: PageEvidence, ledger: Ledger) -> Iterable[str]:
    """The failures of a claim that its page reveals."""
    for quote in claim.quotes:
        if not is_on_page(quote, evidence):
            said = evidence.text[quote.start : quote.end] if 0 <= quote.start < quote.end else ""
            where = f"at {quote.start} to {quote.end}"
            yield f"the page does not say {shown(quote.text)} {where}; it says {shown(said)}"
        elif evidence.page is not None:
            ledger.count("quotes")
    if claim.page_title != evidence.title:
        yield f"its page is {evidence.title!r}, not {shown(claim.page_title)}"
    strange = unsupported_words(claim, evidence.boxes, evidence.title, evidence.language)
    if strange:
        yield f"neither its quotes nor the title of the page contain {', '.join(map(shown, strange))}"
    yield from _fact_failures(claim, evidence.language)
    if evidence.page is None:
        return
    if claim.book_name != evidence.book_name:
        yield f"its book is {evidence.book_name!r}, not {shown(claim.book_name)}"
    place = place_of(evidence.page, claim.quotes[0].start)
    if (claim.section, claim.anchor) != (place.section, place.anchor):
        yield f"its quote is in the section {place.section!r} ({place.anchor!r}), not in {shown(claim.section)}"
    above = _headings_above(evidence.page, claim.quotes[0].start)
    if claim.headings != above:
        yield f"its quote is under the headings {_path(above)}, not under {_path(claim.headings)}"
    if claim.origin == "model" and evidence.same_version:
        yield from _completion_failures(claim, evidence.page, evidence.book_name)


def _headings_above(page: PageDoc, offset: int) -> tuple[str, ...]:
    """The headings above an offset; infoboxes come after the article's own text, below no heading."""
    if page.is_in_infobox(offset):
        return ()
    return page.headings(page.sections.index(section_at(page.sections, offset)))


def _path(headings: Sequence[str]) -> str:
    return shown(" › ".join(headings))


def _fact_failures(claim: Claim, language: str) -> Iterable[str]:
    """Numbers, dates and hedges of the record that its text does not have."""
    text = claim.text
    dates = dates_in(text, language)
    quantities = quantities_in(text, language, not_in=[(mention.start, mention.end) for mention in dates])
    if any(mention not in dates for mention in claim.dates):
        yield "its dates do not match its text"
    if any(measure.quantity not in quantities for measure in claim.measures):
        yield "its measures do not match its text"
    if any(measure.when and all(mention.when != measure.when for mention in dates) for measure in claim.measures):
        yield "a measure has a date that is not in its text"
    if any(hedge not in hedges_in(text, language) for hedge in claim.hedges):
        yield "its hedges do not match its text"


def _completion_failures(claim: Claim, page: PageDoc, book_name: str) -> Iterable[str]:
    """Fields of a model's claim that differ from what the page gives, except for those that the model decides."""
    section = page.sections.index(section_at(page.sections, claim.quotes[0].start))
    made = complete_claim(page, claim.text, claim.type, claim.quotes, section=section, book_name=book_name)
    found, expected = claim_record(claim), claim_record(made)
    wrong = sorted(name for name in expected if name not in MODEL_FIELDS and found[name] != expected[name])
    if claim.score.terms[: len(made.score.terms)] != made.score.terms:
        wrong.append("confidence_terms")
    if wrong:
        yield _mismatch(wrong, "the page")


def _verify_rules(recorded_claims: Sequence[RecordedClaim], evidence: PageEvidence, ledger: Ledger) -> None:
    """All claims that the rules find on the page must be filed unchanged, and no others as theirs."""
    if evidence.page is None or not evidence.same_version:
        return
    made = {claim.id: claim for claim in claims_of(evidence.page, evidence.book_name, all_sentences)}
    for recorded_claim in recorded_claims:
        row, claim = recorded_claim
        if claim.origin != "rule":
            continue
        location = recorded_claim.location(ledger)
        expected = made.pop(claim.id, None)
        if expected is None:
            location.fail("the rules do not find this claim on the page")
            continue
        if evidence.with_model and claim.tags[: len(expected.tags)] == expected.tags:
            expected = replace(expected, tags=claim.tags)
        if canonical_bytes(claim_record(expected)) != row.raw:
            location.fail(_differing(row.value, claim_record(expected), "the page"))
    for expected in made.values():
        if expected.type == "statement":
            continue  # which statements are filed depends on the topic
        ledger.fail(CLAIMS, f"a claim of {evidence.page.title!r} is missing: {shown(expected.text)}", claim=expected.id)


def _differing(found: Mapping[str, Any], expected: Mapping[str, Any], by: str = "its content") -> str:
    names = differing_fields(found, expected)
    if not names:
        return "it is not in the form a run writes"
    return _mismatch(names, by)


def _mismatch(names: Sequence[str], by: str) -> str:
    return f"{', '.join(names)} {'does' if len(names) == 1 else 'do'} not match {by}"
