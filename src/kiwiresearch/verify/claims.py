"""Claims of a run, checked against their pages and against the rules that made them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.claims.claim import CLAIM_TYPES, Claim, claim_from_record, claim_record
from kiwiresearch.claims.firewall import Unsupported, unsupported_facts
from kiwiresearch.claims.proposals import complete_claim
from kiwiresearch.claims.sentence import tidy_sentence
from kiwiresearch.claims.statements import all_sentences
from kiwiresearch.evidence import place_of, section_at
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.runs.manifest import CLAIMS
from kiwiresearch.text.quantities import quantities_in
from kiwiresearch.text.sentences import hedges_in
from kiwiresearch.text.when import dates_in
from kiwiresearch.text.words import fold
from kiwiresearch.verify.ledger import JsonLine, Ledger, Location, canonical_bytes, json_lines

LONGEST_REPLACED = 6
"""Words; what stands for a name is 'he', 'its' or 'the old capital city'."""
GENITIVE = re.compile(r"['’]s?$")
PUNCTUATION = ' ,;:.!?()"“”'
ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)


class BoxRow(NamedTuple):
    """A row of a box: where its value stands, and the labels over and beside it."""

    start: int
    end: int
    group: str
    key: str
    value: str


def unsupported_words(claim: Claim, boxes: Sequence[BoxRow], title: str, language: str) -> tuple[str, ...]:
    """The numbers, dates and names of a claim that neither its quotes nor the page's title have."""
    quotes = [_level(quote.text) for quote in claim.quotes]
    text = _level(claim.text)
    if text in (quotes[0], _of_a_row(quotes)) or _is_named(text, quotes[0], [title, *quotes[1:]]):
        return ()
    # As they stand, too: with a tab made a space, 'Density 243' would look like the name of a thing.
    raw = [quote.text for quote in claim.quotes]
    sources = [*quotes, *raw, title, _of_a_row(quotes), *_labels(claim, boxes)]
    found = unsupported_facts(text, sources, language)
    return tuple(dict.fromkeys(fact.words for fact in found if not _is_there(fact, sources)))


def _is_there(fact: Unsupported, sources: Sequence[str]) -> bool:
    """Whether a date stands in a source letter by letter, though nothing around it there says that it is one."""
    if fact.kind != "date":
        return False
    pattern = re.compile(rf"(?<![\w,.]){re.escape(fact.words)}(?![\w]|[,.]\d)")
    return any(pattern.search(source) for source in sources)


def _level(text: str) -> str:
    """The text as a claim has it: white space in order, and a capital at its beginning."""
    words = tidy_sentence(" ".join(text.split()))
    return words[:1].upper() + words[1:]


def _of_a_row(quotes: Sequence[str]) -> str:
    """What a cell of a table says, with the names of its row and its column."""
    return f"{quotes[1]} — {quotes[2]}: {quotes[0]}" if len(quotes) > 2 else ""


def _is_named(text: str, quote: str, names: Sequence[str]) -> bool:
    """Whether a claim is its quote word by word, but for a name that stands where the quote has none."""
    mine, theirs = text.split(" "), quote.split(" ")
    first = _common(mine, theirs)
    last = _common(mine[first:][::-1], theirs[first:][::-1])
    put_in, replaced = mine[first : len(mine) - last], theirs[first : len(theirs) - last]
    if not put_in or not replaced or len(replaced) > LONGEST_REPLACED or any(map(_has_digit, replaced)):
        return False
    name = GENITIVE.sub("", " ".join(put_in).strip(PUNCTUATION))
    name = fold(ARTICLE.sub("", name))
    return bool(name) and any(f" {name} " in f" {fold(one)} " for one in names)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words two texts have in common from their beginning."""
    for number, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return number
    return min(len(one), len(other))


def _has_digit(word: str) -> bool:
    return any(char.isdigit() for char in word)


def _labels(claim: Claim, boxes: Sequence[BoxRow]) -> Iterator[str]:
    """What stands over and beside a row of a box, and is no part of its quote."""
    quote = claim.quotes[0]
    for row in boxes:
        if quote.start <= row.start and row.end <= quote.end:
            yield from (_level(row.group), _level(row.key), f"{_level(row.key)} {_level(row.value)}")


NO_CLAIM = "it is no claim as a run writes it"
OF_A_MODEL = frozenset({"scope", "topic_tags", "confidence", "confidence_terms"})
"""What a model has a say in, beside the words and the type of a claim."""
LONGEST_SHOWN = 60


class FiledClaim(NamedTuple):
    """A claim and the line it stands in."""

    row: JsonLine
    claim: Claim

    def location(self, ledger: Ledger) -> Location:
        return ledger.at(CLAIMS, self.row.line, str(self.row.value.get("claim_id", ""))[:80])


@dataclass(frozen=True, slots=True)
class PageEvidence:
    """What the claims of one page are held against; without the book only its text is known, from the corpus."""

    text: str
    title: str
    language: str
    book_name: str
    boxes: tuple[BoxRow, ...]
    page: PageDoc | None
    same_version: bool
    """Whether this version made the claims, so that it can make them again."""
    with_model: bool = False
    """Whether a model read pages too: it may have added tags to claims that both found."""


def read_filed_claims(raw: bytes, ledger: Ledger) -> list[FiledClaim]:
    """The claims of a run; what is no claim, or not written as one, has failed."""
    found = []
    for row in json_lines(CLAIMS, raw, ledger):
        spot = ledger.at(CLAIMS, row.line, str(row.value.get("claim_id", ""))[:80])
        with spot.catching_malformed(NO_CLAIM):
            claim = claim_from_record(row.value)
            right = claim_record(claim)
            hash(claim)  # no list or record where there must be words
            if canonical_bytes(right) != row.raw:
                spot.fail(_differing(row.value, right))
            if claim.type not in CLAIM_TYPES:
                spot.fail(f"{claim.type!r} is no type of claims")
            found.append(FiledClaim(row, claim))
    return found


def prove_claims(filed: Sequence[FiledClaim], ground: PageEvidence, ledger: Ledger) -> None:
    """Each claim of a page by itself, then all of them against the rules."""
    for one in filed:
        spot = one.location(ledger)
        counted = ledger.proving("claims") if ground.page is not None else nullcontext()
        with counted, spot.catching_malformed(NO_CLAIM):
            for what in _faults(one.claim, ground, ledger):
                spot.fail(what)
    if ground.page is not None and ground.same_version:
        _prove_rules(filed, ground.page, ground, ledger)


def _faults(claim: Claim, ground: PageEvidence, ledger: Ledger) -> Iterable[str]:
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
    strange = unsupported_words(claim, ground.boxes, ground.title, ground.language)
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
    if claim.origin == "model" and ground.same_version:
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
    made = complete_claim(page, claim.text, claim.type, claim.quotes, section=section, book_name=book_name)
    mine, right = claim_record(claim), claim_record(made)
    wrong = sorted(name for name in right if name not in OF_A_MODEL and mine[name] != right[name])
    if claim.score.lines[: len(made.score.lines)] != made.score.lines:
        wrong.append("confidence_terms")
    if wrong:
        yield f"{', '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} not what the page gives"


def _prove_rules(filed: Sequence[FiledClaim], page: PageDoc, ground: PageEvidence, ledger: Ledger) -> None:
    """What the rules find on the page must be filed, letter by letter, and nothing else in their name."""
    made = {claim.id: claim_record(claim) for claim in claims_of(page, ground.book_name, all_sentences)}
    for one in filed:
        row, claim = one
        if claim.origin != "rule":
            continue
        spot = one.location(ledger)
        right = made.pop(claim.id, None)
        if right is None:
            spot.fail("the rules do not find this on the page")
            continue
        tags = right["topic_tags"]
        if ground.with_model and list(claim.tags[: len(tags)]) == tags:
            right["topic_tags"] = list(claim.tags)
        if canonical_bytes(right) != row.raw:
            spot.fail(_differing(row.value, right, "the page gives"))
    for right in made.values():
        if right["claim_type"] == "statement":
            continue  # which of these are filed depends on the topic
        ledger.fail(CLAIMS, f"a claim of {page.title!r} is missing: {_shown(right['claim'])}", claim=right["claim_id"])


def _differing(found: Mapping[str, Any], right: Mapping[str, Any], by: str = "its content gives") -> str:
    names = sorted(
        name for name in {*found, *right} if canonical_bytes(found.get(name)) != canonical_bytes(right.get(name))
    )
    if not names:
        return "it is not written as a run writes it"
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} not what {by}"


def _shown(text: object) -> str:
    words = str(text)
    return repr(words if len(words) <= LONGEST_SHOWN else words[: LONGEST_SHOWN - 1] + "…")
