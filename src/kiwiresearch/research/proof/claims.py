"""Claims as they were filed, held against the page they come from and against the rules that made them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.claims.claim import CLAIM_TYPES, Claim
from kiwiresearch.claims.completion import completed
from kiwiresearch.claims.record import claim_of, record_of
from kiwiresearch.claims.statements import all_sentences
from kiwiresearch.evidence.citation import place_of, section_at
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.research.proof.files import CLAIMS, Row, rows_of, written
from kiwiresearch.research.proof.ledger import Ledger, Spot
from kiwiresearch.research.proof.wording import BoxRow, strange_words
from kiwiresearch.text.hedges import hedges_in
from kiwiresearch.text.quantities import quantities_in
from kiwiresearch.text.when import dates_in

NO_CLAIM = "it is no claim as a run writes it"
OF_A_MODEL = frozenset({"scope", "topic_tags", "confidence", "confidence_terms"})
"""What a model has a say in, beside the words and the type of a claim."""
LONGEST_SHOWN = 60


class Filed(NamedTuple):
    """A claim and the line it stands in."""

    row: Row
    claim: Claim

    def spot(self, ledger: Ledger) -> Spot:
        return ledger.at(CLAIMS, self.row.line, str(self.row.value.get("claim_id", ""))[:80])


@dataclass(frozen=True, slots=True)
class Ground:
    """What the claims of one page are held against; without the book only its text is known, from the corpus."""

    text: str
    title: str
    language: str
    book_name: str
    boxes: tuple[BoxRow, ...]
    page: PageDoc | None
    again: bool
    """Whether this version made the claims, so that it can make them again."""
    with_model: bool = False
    """Whether a model read pages too: it may have added tags to claims that both found."""


def filed_claims(raw: bytes, ledger: Ledger) -> list[Filed]:
    """The claims of a run; what is no claim, or not written as one, has failed."""
    found = []
    for row in rows_of(CLAIMS, raw, ledger):
        spot = ledger.at(CLAIMS, row.line, str(row.value.get("claim_id", ""))[:80])
        with spot.guarding(NO_CLAIM):
            claim = claim_of(row.value)
            right = record_of(claim)
            hash(claim)  # no list or record where there must be words
            if written(right) != row.raw:
                spot.fail(_differing(row.value, right))
            if claim.type not in CLAIM_TYPES:
                spot.fail(f"{claim.type!r} is no type of claims")
            found.append(Filed(row, claim))
    return found


def prove_claims(filed: Sequence[Filed], ground: Ground, ledger: Ledger) -> None:
    """Each claim of a page by itself, then all of them against the rules."""
    for one in filed:
        spot = one.spot(ledger)
        counted = ledger.proving("claims") if ground.page is not None else nullcontext()
        with counted, spot.guarding(NO_CLAIM):
            for what in _faults(one.claim, ground, ledger):
                spot.fail(what)
    if ground.page is not None and ground.again:
        _prove_rules(filed, ground.page, ground, ledger)


def _faults(claim: Claim, ground: Ground, ledger: Ledger) -> Iterable[str]:
    """What is wrong with a claim, as far as its page shows."""
    for quote in claim.quotes:
        said = ground.text[quote.start : quote.end] if 0 <= quote.start < quote.end else ""
        if said != quote.text or not said:
            where = f"at {quote.start} to {quote.end}"
            yield f"the page does not say {_shown(quote.text)} {where}, but {_shown(said)}"
        elif ground.page is not None:
            ledger.prove("quotes")
    if claim.page_title != ground.title:
        yield f"its page is {ground.title!r}, not {_shown(claim.page_title)}"
    strange = strange_words(claim, ground.boxes, ground.title, ground.language)
    if strange:
        yield f"neither its quotes nor the page's title have {', '.join(map(_shown, strange))}"
    yield from _not_in_text(claim, ground.language)
    if ground.page is None:
        return
    if claim.book_name != ground.book_name:
        yield f"its book is {ground.book_name!r}, not {_shown(claim.book_name)}"
    place = place_of(ground.page, claim.quotes[0].start)
    if (claim.section, claim.anchor) != (place.section, place.anchor):
        yield f"its quote stands in the section {place.section!r} ({place.anchor!r}), not in {_shown(claim.section)}"
    above = _headings_above(ground.page, claim.quotes[0].start)
    if claim.headings != above:
        yield f"its quote stands below the headings {_path(above)}, not below {_path(claim.headings)}"
    if claim.origin == "model" and ground.again:
        yield from _not_completed(claim, ground.page, ground.book_name)


def _headings_above(page: PageDoc, offset: int) -> tuple[str, ...]:
    """The path of headings above an offset of the text; boxes stand behind the article's own text, below none."""
    if offset >= page.sections[-1].end and any(box.start <= offset < box.end for box in page.infoboxes):
        return ()
    return page.headings(page.sections.index(section_at(page.sections, offset)))


def _path(headings: Sequence[str]) -> str:
    return _shown(" › ".join(headings))


def _not_in_text(claim: Claim, language: str) -> Iterable[str]:
    """Numbers, dates and hedges that it is said to have and has not."""
    text = claim.text
    dates = dates_in(text, language)
    quantities = quantities_in(text, language, not_in=[(one.start, one.end) for one in dates])
    if any(one not in dates for one in claim.dates):
        yield "its dates are not those of its words"
    if any(measure.quantity not in quantities for measure in claim.measures):
        yield "its measures are not those of its words"
    if any(measure.when and all(one.when != measure.when for one in dates) for measure in claim.measures):
        yield "a measure has a date that is not in its words"
    if any(hedge not in hedges_in(text, language) for hedge in claim.hedges):
        yield "its hedges are not those of its words"


def _not_completed(claim: Claim, page: PageDoc, book_name: str) -> Iterable[str]:
    """What of a model's claim is not as the page gives it: all but what the model had a say in."""
    section = page.sections.index(section_at(page.sections, claim.quotes[0].start))
    made = completed(page, claim.text, claim.type, claim.quotes, section=section, book_name=book_name)
    mine, right = record_of(claim), record_of(made)
    wrong = sorted(name for name in right if name not in OF_A_MODEL and mine[name] != right[name])
    if claim.score.lines[: len(made.score.lines)] != made.score.lines:
        wrong.append("confidence_terms")
    if wrong:
        yield f"{', '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} not what the page gives"


def _prove_rules(filed: Sequence[Filed], page: PageDoc, ground: Ground, ledger: Ledger) -> None:
    """What the rules find on the page must be filed, letter by letter, and nothing else in their name."""
    made = {claim.id: record_of(claim) for claim in claims_of(page, ground.book_name, all_sentences)}
    for one in filed:
        row, claim = one
        if claim.origin != "rule":
            continue
        spot = one.spot(ledger)
        right = made.pop(claim.id, None)
        if right is None:
            spot.fail("the rules do not find this on the page")
            continue
        tags = right["topic_tags"]
        if ground.with_model and list(claim.tags[: len(tags)]) == tags:
            right["topic_tags"] = list(claim.tags)
        if written(right) != row.raw:
            spot.fail(_differing(row.value, right, "the page gives"))
    for right in made.values():
        if right["claim_type"] == "statement":
            continue  # which of these are filed depends on the topic
        ledger.fail(CLAIMS, f"a claim of {page.title!r} is missing: {_shown(right['claim'])}", claim=right["claim_id"])


def _differing(found: Mapping[str, Any], right: Mapping[str, Any], by: str = "its content gives") -> str:
    names = sorted(name for name in {*found, *right} if written(found.get(name)) != written(right.get(name)))
    if not names:
        return "it is not written as a run writes it"
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} not what {by}"


def _shown(text: object) -> str:
    words = str(text)
    return repr(words if len(words) <= LONGEST_SHOWN else words[: LONGEST_SHOWN - 1] + "…")
