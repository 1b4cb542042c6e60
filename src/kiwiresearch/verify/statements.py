"""Checks the statements of a brief against their claims, and repeats the judgements on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kiwiresearch.brief import (
    MAX_CLAIMS,
    Brief,
    Dispute,
    Figure,
    SecondSources,
    Statement,
    StatementGroup,
    TimelineMoment,
    ValueDifference,
    can_follow,
    compared_sentence,
    date_wordings,
    opposed_in,
    running_text,
    says_the_same,
    support_level,
    topic_pages_of,
    without_weight,
)
from kiwiresearch.claims import Claim, Measure, unsupported_facts
from kiwiresearch.claims.conflicts import Disagreement, compare_sentences
from kiwiresearch.ids import BookId
from kiwiresearch.messages import message_record
from kiwiresearch.runs import BRIEF
from kiwiresearch.text import fold
from kiwiresearch.verify.ledger import Ledger, shown
from kiwiresearch.zim import EntryRef


def verify_judgements(brief: Brief, claims: Sequence[Claim], languages: Mapping[BookId, str], ledger: Ledger) -> None:
    """Repeat the judgements of the rules, which only the same version can do; a model's sentences are not judged.

    `claims` are all claims of the run: they determine how distinctive a word is.
    """
    location = ledger.at(BRIEF)
    opposed = opposed_in(brief)
    for what in _confirmation_failures(brief, claims, languages):
        location.fail(what)
    for statement in brief.statements():
        first = brief.claims[statement.claims[0]]
        is_marked = first.id in opposed and statement.sureness == "disputed"
        if statement.written == "rule" and not is_marked and statement.sureness != _sureness(first, statement):
            location.fail(f"the statement {statement.text[:60]!r} is not {statement.sureness!r}")
    for dispute in brief.disputes:
        stated = dispute.difference
        if stated and not _is_difference(stated, _disagreement(brief, dispute, languages)):
            location.fail(f"the views on {dispute.about[:60]!r} do not differ by {str(stated)[:80]!r}")


def _sureness(claim: Claim, statement: Statement) -> str:
    if statement.text != claim.text:
        return "disputed"  # one side of a claim that has two
    return support_level(claim, statement.pages)


def _confirmation_failures(brief: Brief, claims: Sequence[Claim], languages: Mapping[BookId, str]) -> Iterator[str]:
    """Statements whose further claims do not say what the first one says."""

    def language(ref: EntryRef) -> str:
        return languages.get(ref.book, "eng")

    several = [item for item in running_text(brief) if item.written == "rule" and len(item.claims) > 1]
    found = SecondSources(claims, language).find([brief.claims[item.claims[0]] for item in several])
    for statement, seconds in zip(several, found, strict=True):
        confirming = {second.claim.id for second in seconds if second.difference is None}
        first, *others = (
            without_weight(brief.claims[claim], language(brief.claims[claim].ref)) for claim in statement.claims
        )
        for other in others:
            if other.claim.id not in confirming and not says_the_same(first, other):
                yield f"the statement {statement.text[:60]!r} is not confirmed by the claim {other.claim.id!r}"


def _disagreement(brief: Brief, dispute: Dispute, languages: Mapping[BookId, str]) -> Disagreement | None:
    claims = [brief.claims[view.statement.claims[0]] for view in dispute.views]
    if len(claims) != 2:
        return None
    one, other = (compared_sentence(claim, languages.get(claim.ref.book, "eng")) for claim in claims)
    return compare_sentences(one, other)


def _is_difference(stated: ValueDifference, found: Disagreement | None) -> bool:
    if found is None or (stated.kind, stated.why) != (found.kind, found.why):
        return False
    return message_record(stated.why) == message_record(found.why)


OWN_HEADINGS = frozenset({"", "Explanations", "Other explanations", "What explains it"})
"""Headings that the program writes itself; they name nothing on a page."""
DISPUTED = "marked as disputed"


def verify_statements(brief: Brief, languages: Mapping[BookId, str], ledger: Ledger) -> None:
    """Every statement must be supported by its claims, and everything around it must come from the same claims."""
    location = ledger.at(BRIEF)
    for statement in brief.statements():
        with ledger.counting("statements"):
            for what in _statement_failures(statement, _claims(brief, statement), languages):
                location.fail(f"the statement {shown(statement.text)} {what}")
    around: list[str] = []
    for group in (*brief.body, *brief.definitions, *brief.mechanisms, *brief.actors):
        around += _heading_failures(group, [item for each in group.statements for item in _claims(brief, each)])
    for moment in brief.timeline:
        around += _moment_failures(moment, _claims(brief, moment.statement))
    for figure in brief.numbers:
        around += _figure_failures(figure, _claims(brief, figure.statement))
    for dispute in brief.disputes:
        around += _dispute_failures(dispute, brief)
    around += _order_failures(brief)
    for what in around:
        location.fail(what)
    for gap in brief.gaps:
        for claim in gap.claims:
            if claim not in brief.claims:
                location.fail(f"the gap {shown(gap.text)} names the claim {claim!r}, which is missing")
        said = [brief.claims[claim].text for claim in gap.claims if claim in brief.claims]
        if gap.kind == "open" and gap.text not in said:
            location.fail(f"the gap {shown(gap.text)} does not match the text of its claim")


def _claims(brief: Brief, statement: Statement) -> list[Claim]:
    return [brief.claims[claim] for claim in statement.claims]


def _order_failures(brief: Brief) -> Iterator[str]:
    """Sentences that make sense only after another one, but do not follow it."""
    topic_pages = topic_pages_of(brief)
    # What continues the introduction has no heading, and is read right after the summary.
    going_on = tuple(item for group in brief.body if not group.heading for item in group.statements)
    texts = [(*brief.summary, *going_on), *(group.statements for group in brief.body if group.heading)]
    groups = (*brief.definitions, *brief.mechanisms, *brief.actors)
    texts += [(item,) for group in groups for item in group.statements]
    texts += [(moment.statement,) for moment in brief.timeline]
    for text in texts:
        before: list[Claim] = []
        for statement in text:
            mine = _worded_by(statement, _claims(brief, statement))
            if statement.written == "rule" and not any(can_follow(claim, before, topic_pages) for claim in mine):
                yield f"the statement {shown(statement.text)} appears without the sentence before it"
            before = mine


def _worded_by(statement: Statement, claims: Sequence[Claim]) -> list[Claim]:
    """The claims whose words a statement has; a model's statement may use those of all its claims."""
    if statement.written == "model":
        return list(claims)
    return [claim for claim in claims if is_part(statement.text, claim.text)] or list(claims)


def _statement_failures(
    statement: Statement, claims: Sequence[Claim], languages: Mapping[BookId, str]
) -> Iterator[str]:
    if not any(is_part(statement.text, claim.text) for claim in claims):
        if statement.written == "rule":
            yield "does not match the text of any of its claims"
        sources = [
            words
            for claim in claims
            for words in (claim.text, claim.page_title, *(quote.text for quote in claim.quotes))
        ]
        language = languages.get(claims[0].ref.book, "eng")
        for fact in unsupported_facts(statement.text, list(dict.fromkeys(sources)), language):
            yield f"has the {fact.kind} {shown(fact.text)}, which none of its claims has"
    pages = len({claim.ref for claim in claims})
    # A statement names at most MAX_CLAIMS claims, so more pages than theirs may say the same.
    if statement.pages < 1 or (statement.pages > pages and len(claims) < MAX_CLAIMS):
        yield f"counts {statement.pages} pages, but its claims are from {pages}"


def is_part(text: str, claim: str) -> bool:
    """Whether a text is a claim or a part of it, apart from its capital and full stop."""
    words = text.removesuffix(".")
    spellings = {words, words[:1].lower() + words[1:]}
    return bool(words) and any(_has_whole_words(claim, spelling) for spelling in spellings)


def _has_whole_words(text: str, words: str) -> bool:
    """Whether words are in a text, and the letters around them do not continue a word.

    "The comet" is not in "the cometary nucleus".
    """
    at = text.find(words)
    while at >= 0:
        end = at + len(words)
        if not text[max(at - 1, 0) : at].isalnum() and not text[end : end + 1].isalnum():
            return True
        at = text.find(words, at + 1)
    return False


def _heading_failures(group: StatementGroup, claims: Sequence[Claim]) -> Iterator[str]:
    """A heading must be a name in the claims below it."""
    known = [
        fold(words)
        for claim in claims
        for words in (claim.subject, claim.page_title, claim.text, *claim.headings, *claim.names)
    ]
    if group.heading not in OWN_HEADINGS and not any(fold(group.heading) in words for words in known):
        yield f"the heading {shown(group.heading)} is not a name from the claims under it"


def _moment_failures(moment: TimelineMoment, claims: Sequence[Claim]) -> Iterator[str]:
    shown_values = (moment.when, moment.earliest, moment.latest)
    known = {
        (words, date.when.earliest, date.when.latest)
        for claim in claims
        for date in claim.dates
        for words in date_wordings(claim.text, date)
    }
    if shown_values not in known:
        yield f"the date {shown(moment.when)} of the timeline is in none of its claims"


def _figure_failures(figure: Figure, claims: Sequence[Claim]) -> Iterator[str]:
    if not any(_shows(figure, claim, measure) for claim in claims for measure in claim.measures):
        shown_values = " ".join((figure.value, figure.what, figure.of, figure.when))
        yield f"the number {shown(shown_values)} of the table is in none of its claims"


def _shows(figure: Figure, claim: Claim, measure: Measure) -> bool:
    """Whether a row of the table of numbers is this measure of a claim."""
    quantity, what, of, when = measure
    value = claim.text[quantity.start : quantity.end]
    values = {f"{before} {value}".strip() for before in ("", quantity.qualifier or "", "between")}
    shown_values = (figure.what, figure.of, figure.when)
    return figure.value in values and shown_values in ((what, of, when.words() if when else ""), ("", "", ""))


def _dispute_failures(dispute: Dispute, brief: Brief) -> Iterator[str]:
    claims = [claim for view in dispute.views for claim in _claims(brief, view.statement)]
    names = {claim.subject for claim in claims} | {f"{claim.page_title}: {claim.section}" for claim in claims}
    if dispute.about not in names | OWN_HEADINGS:
        yield f"the dispute {shown(dispute.about)} is not what its claims are about"
    for view in dispute.views:
        mine = _claims(brief, view.statement)
        # The second half of a split sentence was given a capital, so the claim may have it in lower case.
        spelt = (view.holder, view.holder[:1].lower() + view.holder[1:])
        if not any(name in claim.text for name in spelt for claim in mine):
            yield f"none of its claims names {shown(view.holder)}, to whom a view is attributed"
        cues = {hedge.cue for claim in mine for hedge in claim.hedges} | {DISPUTED}
        for cue in view.cues:
            if cue not in cues:
                yield f"none of its claims has the signal {shown(cue)}"
