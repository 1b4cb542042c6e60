"""What a small real model adds to claims and to a brief, and that nothing else gets in."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.brief.briefs import Making, nothing, some_sources
from tests.claims.claim_examples import unsupported

from kiwiresearch.brief.brief import Brief, Dispute, DisputeView, ValueDifference
from kiwiresearch.brief.draft import KeyedBrief
from kiwiresearch.brief.writer import rewrite
from kiwiresearch.claims.by_model import ClaimReader, merged_claims
from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.evidence import is_on_page
from kiwiresearch.llm.chat import ChatModel, Timeouts
from kiwiresearch.page.parser import open_page
from kiwiresearch.zim.libzim import LibzimArchive

pytestmark = pytest.mark.model

PAGES = ("Alpenglow", "Lukka", "Carchemish")
"""Short ones: on a slow or busy machine a model of this size writes two words a second."""
SLOW = Timeouts(read_s=900.0, total_s=1_800.0)


def test_claims_of_a_real_model_are_grounded(real_model: str, sample_zim: Path) -> None:
    """Of three pages every claim that is taken quotes its page, and says nothing that its quotes do not (R138)."""
    archive = LibzimArchive(sample_zim)
    outcomes: Counter[str] = Counter()
    with ChatModel(real_model, timeouts=SLOW) as model:
        reader = ClaimReader(model, log=print)
        for path in PAGES:
            page = open_page(archive, path)
            found = reader.extract(page)
            for claim in found.claims:
                assert all(is_on_page(quote, page) for quote in claim.quotes)
                assert unsupported(claim.text, [*(quote.text for quote in claim.quotes), page.title]) == ()
            rules = claims_of(page)
            outcomes.update(one.reason for one in found.rejected)
            outcomes["taken"] += len(found.claims)
            outcomes["new"] += len(merged_claims(rules, found.claims)) - len(rules)
    print(dict(outcomes))
    assert reader.gave_up_reason == ""
    assert outcomes["taken"] >= 2


def small_brief() -> Brief:
    make = Making()
    early = make.one("Ugarit", "Ugarit fell about 1190 BC.", "End", "disputed")
    late = make.one("Late Bronze Age collapse", "Ugarit fell in 1175 BC.", "Course", "disputed")
    result = (
        "Most palaces of the eastern Mediterranean were abandoned within about fifty years.",
        "A dry spell may have ruined harvests from Greece to Syria.",
        "Ugarit was burnt and never settled again.",
        "The palace of Pylos burnt about 1180 BC.",
        "Ramesses III had a victory over the Sea Peoples carved at Medinet Habu.",
        "The Hittite capital was left before it burnt.",
    )
    summary = tuple(make.one("Late Bronze Age collapse", text, "Course") for text in result)
    dispute = Dispute(
        "When Ugarit fell", (DisputeView("", early), DisputeView("", late)), ValueDifference("contradiction")
    )
    sources = replace(some_sources(), pages=some_sources().pages[:3], links=())
    return replace(
        nothing(),
        topic="Late Bronze Age collapse",
        sources=sources,
        summary=summary,
        disputes=(dispute,),
        claims=make.claims,
    )


def test_sentences_of_a_real_model_are_proved(real_model: str) -> None:
    """What it writes of a small brief stays only where its claims have every fact (R138)."""
    brief = small_brief()
    with ChatModel(real_model, timeouts=SLOW) as model:
        result = rewrite(brief, model)
    print(result.counts)
    desk = KeyedBrief(brief)
    assert result.brief.notes == brief.notes
    assert 6 <= len(result.brief.summary) <= 10
    assert all(unsupported(one.text, desk.sources([one])) == () for one in result.brief.statements())
