"""What the program itself says of statements, said again: how sure they are, and how two of them disagree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, cast

from kiwiresearch.brief.brief import Brief, Dispute, Statement
from kiwiresearch.brief.stating import sureness_of
from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.conflicts.compare import compare
from kiwiresearch.claims.conflicts.saying import Saying
from kiwiresearch.ids import BookId
from kiwiresearch.research.proof.files import BRIEF
from kiwiresearch.research.proof.ledger import Ledger

if TYPE_CHECKING:
    from kiwiresearch.brief.support import Said


def prove_judgements(brief: Brief, languages: Mapping[BookId, str], ledger: Ledger) -> None:
    """Only the version that made them can say them again; a model's sentences are not judged by these rules."""
    spot = ledger.at(BRIEF)
    for statement in brief.statements():
        first = brief.claims[statement.claims[0]]
        if statement.written == "rule" and statement.sureness != _sureness(first, statement):
            spot.fail(f"the statement {statement.text[:60]!r} is not {statement.sureness!r}")
    for dispute in brief.disputes:
        if dispute.kind and dispute.kind != _disagreement(brief, dispute, languages):
            spot.fail(f"the views on {dispute.about[:60]!r} do not differ by {dispute.kind[:80]!r}")


class Heard(NamedTuple):
    """All of what was said that decides how sure it is."""

    best: Claim
    pages: int


def _sureness(claim: Claim, statement: Statement) -> str:
    if statement.text != claim.text:
        return "disputed"  # one side of a claim that has two
    return sureness_of(cast("Said", Heard(claim, statement.pages)))


def _disagreement(brief: Brief, dispute: Dispute, languages: Mapping[BookId, str]) -> str:
    claims = [brief.claims[view.statement.claims[0]] for view in dispute.views]
    if len(claims) != 2:
        return ""
    one, other = (_saying(claim, languages.get(claim.ref.book, "eng")) for claim in claims)
    found = compare(one, other)
    return f"{found.kind}: {found.why}" if found else ""


def _saying(claim: Claim, language: str) -> Saying:
    quantities = tuple(measure.quantity for measure in claim.measures)
    return Saying(claim.text, claim.subject, quantities, claim.dates, language)
