"""What people see of claims, contradictions and proofs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from kiwiresearch.claims.claim import Claim
from kiwiresearch.cli.show import line, whole_line
from kiwiresearch.research.claiming import Claimed
from kiwiresearch.research.contradictions import Contradiction
from kiwiresearch.research.proof.ledger import Verification
from kiwiresearch.text.plain import printable
from kiwiresearch.text.plural import counted

MOST_SHOWN = 40
"""Failures of one file; somebody who wants them all asks for JSON."""


def claim_list(found: Claimed) -> None:
    """Claims by their sections, each with its type, its confidence and where it stands."""
    line(f"{printable(found.page.title)}: {counted(len(found.claims), 'claim')}")
    for section, claims in groupby(found.claims, key=lambda claim: claim.section):
        line("")
        line(printable(section) or "Introduction")
        for claim in claims:
            _claim(claim)


def _claim(claim: Claim) -> None:
    also = f" (also {', '.join(claim.also)})" if claim.also else ""
    line(f"  {claim.type}{also}, {claim.confidence:.2f}: {printable(claim.text)}")
    if claim.hedges:
        cues = dict.fromkeys(hedge.cue for hedge in claim.hedges)
        line(f"      hedged by {', '.join(f'“{printable(cue)}”' for cue in cues)}")
    for quote in claim.quotes:
        words = "" if quote.text == claim.text else f" “{printable(quote.text)}”"
        line(f"      at characters {quote.start}–{quote.end}{words}")


def contradiction_list(found: Sequence[Contradiction]) -> None:
    """Contradictions with both sides and where they stand."""
    if not found:
        line("The pages of this run do not contradict each other, as far as the rules see.")
    for number, one in enumerate(found, start=1):
        why = f": {printable(one.why)}" if one.why else ""
        line(f"{number}. {printable(one.about)} ({one.kind}{why})")
        for side in one.sides:
            line(f"   • {printable(side.text)} ({printable(side.place)})")


def proof(found: Verification) -> None:
    """Each failure in a line, then what was proved."""
    shown: Counter[str] = Counter()
    for failure in found.failures:
        shown[failure.file] += 1
        if shown[failure.file] <= MOST_SHOWN:
            whole_line(f"✗ {printable(str(failure))}")
    for file, count in shown.items():
        if count > MOST_SHOWN:
            line(f"✗ {file}: {count - MOST_SHOWN:,} more, which --json lists.")
    line(f"Proved: {found.summary}.")
    line("Everything holds." if found.holds else f"{counted(len(found.failures), 'thing')} did not hold.")
