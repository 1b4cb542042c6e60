"""What the program itself says of statements, said again: how sure they are, and how two of them disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kiwiresearch.brief.brief import Brief, Dispute, Statement
from kiwiresearch.brief.second_sources import SecondSources, contradicted_in, running_text
from kiwiresearch.brief.stating import sureness_of
from kiwiresearch.brief.support import says_the_same
from kiwiresearch.brief.weighing import saying_of, unweighed
from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.conflicts.compare import compare
from kiwiresearch.ids import BookId
from kiwiresearch.research.proof.files import BRIEF
from kiwiresearch.research.proof.ledger import Ledger
from kiwiresearch.zim.entry import EntryRef


def prove_judgements(brief: Brief, claims: Sequence[Claim], languages: Mapping[BookId, str], ledger: Ledger) -> None:
    """Only the version that made them can say them again; a model's sentences are not judged by these rules.

    `claims` are all claims of the run: how telling a word is depends on them.
    """
    spot = ledger.at(BRIEF)
    contradicted = contradicted_in(brief)
    for what in _not_confirmed(brief, claims, languages):
        spot.fail(what)
    for statement in brief.statements():
        first = brief.claims[statement.claims[0]]
        is_marked = first.id in contradicted and statement.sureness == "disputed"
        if statement.written == "rule" and not is_marked and statement.sureness != _sureness(first, statement):
            spot.fail(f"the statement {statement.text[:60]!r} is not {statement.sureness!r}")
    for dispute in brief.disputes:
        if dispute.kind and dispute.kind != _disagreement(brief, dispute, languages):
            spot.fail(f"the views on {dispute.about[:60]!r} do not differ by {dispute.kind[:80]!r}")


def _sureness(claim: Claim, statement: Statement) -> str:
    if statement.text != claim.text:
        return "disputed"  # one side of a claim that has two
    return sureness_of(claim, statement.pages)


def _not_confirmed(brief: Brief, claims: Sequence[Claim], languages: Mapping[BookId, str]) -> Iterator[str]:
    """Statements whose second claim, or a later one, does not say what the first one says."""

    def language(ref: EntryRef) -> str:
        return languages.get(ref.book, "eng")

    several = [one for one in running_text(brief) if one.written == "rule" and len(one.claims) > 1]
    found = SecondSources(claims, language).find([brief.claims[one.claims[0]] for one in several])
    for statement, seconds in zip(several, found, strict=True):
        confirming = {second.claim.id for second in seconds if second.difference is None}
        first, *others = (unweighed(brief.claims[one], language(brief.claims[one].ref)) for one in statement.claims)
        for other in others:
            if other.claim.id not in confirming and not says_the_same(first, other):
                yield f"the statement {statement.text[:60]!r} is not confirmed by the claim {other.claim.id!r}"


def _disagreement(brief: Brief, dispute: Dispute, languages: Mapping[BookId, str]) -> str:
    claims = [brief.claims[view.statement.claims[0]] for view in dispute.views]
    if len(claims) != 2:
        return ""
    one, other = (saying_of(claim, languages.get(claim.ref.book, "eng")) for claim in claims)
    found = compare(one, other)
    return f"{found.kind}: {found.why}" if found else ""
