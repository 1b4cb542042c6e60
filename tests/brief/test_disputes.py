"""What sources do not agree on: views against views, one-sided views, and values that contradict each other."""

from __future__ import annotations

import pytest
from tests.brief.claim_gathering import INTRODUCTION, GatheredClaims, gather_claims

from kiwiresearch.brief.brief import Brief, Dispute
from kiwiresearch.brief.disputes import disputes
from kiwiresearch.brief.importance import ClaimWeights
from kiwiresearch.brief.parts import mechanisms, timeline
from kiwiresearch.brief.report import brief_document
from kiwiresearch.brief.support import MergedClaim, merge_equivalent
from kiwiresearch.document.markdown import markdown


def frost(*sections: str, **pages: str) -> GatheredClaims:
    """A page on the Great Frost with a long introduction and some sections, and other pages that it links to."""
    links = " and ".join(f"[[{title}]]" for title in pages)
    lead = f"The Great Frost was a cold winter. See {links}." if pages else "The Great Frost was a cold winter."
    return gather_claims({"Great Frost": "\n".join((lead, INTRODUCTION, *sections))} | pages, topic="Great Frost")


def varn(own: str, other: str) -> Brief:
    """A brief on a town, of which its own page and another one speak."""
    return gather_claims(
        {
            "Varn": f"Varn is a town near [[Lund]].\n{INTRODUCTION}\n== People ==\n{own}",
            "Lund": f"Lund is a town near [[Varn]].\n{INTRODUCTION}\n== Near ==\n{other}",
        },
        topic="Varn",
    ).brief()


def view_texts(dispute: Dispute) -> list[tuple[str, str]]:
    return [(view.holder, view.statement.text) for view in dispute.views]


AGAINST = """
    == Causes ==
    Some historians argue that ash from the hills caused the Great Frost.
    Other historians reject the ash and believe that a change of winds caused the Great Frost.
"""


def test_views_are_set_against_each_other() -> None:
    """Two views of one section, the second of which turns against the first, are view A and view B (R70, R99)."""
    (dispute,) = frost(AGAINST).brief().disputes
    assert (dispute.about, dispute.difference) == ("Great Frost: Causes", None)
    assert view_texts(dispute) == [
        ("Some historians", "Some historians argue that ash from the hills caused the Great Frost."),
        (
            "Other historians",
            "Other historians reject the ash and believe that a change of winds caused the Great Frost.",
        ),
    ]
    assert {view.statement.sureness for view in dispute.views} == {"disputed"}


def test_a_view_brings_its_signals() -> None:
    """The words that hedge a view or mark it as somebody's are shown with it (R99)."""
    (dispute,) = frost(AGAINST).brief().disputes
    assert all(view.cues for view in dispute.views)
    assert all(cue in view.statement.text.lower() for view in dispute.views for cue in view.cues)
    shown = markdown(brief_document(frost(AGAINST).brief()))
    assert shown.count("*Hedging words: ") == 2


@pytest.mark.parametrize(
    ("sentence", "holder"),
    [
        ("Olin Marr argues that ash caused the Great Frost.", "Olin Marr"),
        ("According to Olin Marr, the Great Frost was caused by ash, but this is disputed.", "Olin Marr"),
        ("It is debated whether the Great Frost ended in spring or in summer.", ""),
        ("The cause of the Great Frost is disputed.", ""),
        ("Some scholars claim that the Great Frost was caused by ash.", "Some scholars"),
    ],
)
def test_a_view_without_another_is_one_sided(sentence: str, holder: str) -> None:
    """'X argues', 'debated', 'disputed' and 'some claim' are disputes, also if only one side is given (R70)."""
    (dispute,) = frost(f"== Causes ==\n{sentence}").brief().disputes
    assert [view.holder for view in dispute.views] == [holder]


def test_one_sided_views_say_so() -> None:
    """A view without an opposite view is shown as that, and is not named view A."""
    shown = markdown(brief_document(frost("== Causes ==\nOlin Marr argues that ash caused the Great Frost.").brief()))
    part = shown.partition("## Competing Views & Disputes")[2].partition("\n## ")[0]
    assert "only one side" in part
    assert "View A" not in part


def test_two_sides_in_one_sentence_are_two_views() -> None:
    """'X rejects …, while Y claims …' gives both sides, both proved by the same claim."""
    sentence = (
        "Olin Marr rejects the ash as a cause of the Great Frost, while Ebba Lind holds that it was the only one."
    )
    brief = frost(f"== Causes ==\n{sentence}").brief()
    (dispute,) = brief.disputes
    assert view_texts(dispute) == [
        ("Olin Marr", "Olin Marr rejects the ash as a cause of the Great Frost."),
        ("Ebba Lind", "Ebba Lind holds that it was the only one."),
    ]
    assert {brief.claims[one].text for view in dispute.views for one in view.statement.claims} == {sentence}


def test_views_of_other_sections_are_not_set_against_each_other() -> None:
    """What is under another heading is about something else, however it is worded."""
    brief = frost(
        "== Causes ==\nOlin Marr argues that ash caused the Great Frost.",
        "== Length ==\nCritics reject the claim that the Great Frost was long.",
    ).brief()
    assert [len(dispute.views) for dispute in brief.disputes] == [1, 1]


def test_undisputed_claims_are_not_a_dispute() -> None:
    """Plain causes, dates and numbers are not views."""
    plain = "The Great Frost was caused by ash. The Great Frost began in 1431. The Great Frost killed 3,000 mules."
    assert frost(f"== Causes ==\n{plain}").brief().disputes == ()


def test_two_sided_disputes_come_first() -> None:
    """Contradictions, then views against views, then views without the other side."""
    brief = frost("== Length ==\nIt is debated whether the Great Frost ended in spring or in summer.", AGAINST).brief()
    assert [len(dispute.views) for dispute in brief.disputes] == [2, 1]


def test_values_that_contradict_are_side_by_side() -> None:
    """Two pages with another number for the same thing in the same year contradict each other (R69, R139, R158)."""
    brief = varn("Varn had 12,000 inhabitants in 1430.", "Varn had 15,000 inhabitants in 1430.")
    (dispute,) = [one for one in brief.disputes if one.difference]
    assert str(dispute.difference).startswith("contradiction: ")
    assert view_texts(dispute) == [
        ("", "Varn had 12,000 inhabitants in 1430."),
        ("", "Varn had 15,000 inhabitants in 1430."),
    ]
    pages = [brief.claims[view.statement.claims[0]].page_title for view in dispute.views]
    assert pages == ["Varn", "Lund"]


OWN, OTHER = "The old wall of Varn was built in 1430.", "The old wall of Varn was built in 1450 by sailors."


def test_both_quotes_of_a_contradiction_are_shown() -> None:
    """The report has the words of both pages in one table, each with its page (R69)."""
    shown = markdown(brief_document(varn(OWN, OTHER)))
    part = shown.partition("## Competing Views & Disputes")[2].partition("\n## ")[0]
    (row,) = [line for line in part.splitlines() if line.startswith("| Quote")]
    one, other = row.split("|")[2:4]
    assert f"“{OWN}” ([Varn — “People” section](http://host/Varn)" in one
    assert f"“{OTHER}” ([Lund — “Near” section](http://host/Lund)" in other


def test_an_article_makes_no_other_thing() -> None:
    """'The Great Frost' on another page is what the page 'Great Frost' is about: their numbers are compared (R69)."""
    brief = frost(
        "== Toll ==\nThe Great Frost killed 3,000 mules.",
        Lund="So it was.\n== Toll ==\nThe Great Frost killed 5,000 mules.",
    ).brief()
    assert [str(dispute.difference).partition(":")[0] for dispute in brief.disputes] == ["contradiction"]


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("Varn had 12,000 inhabitants in 1430.", "Varn had 15,000 inhabitants in 1530."),
        ("Varn had 12,000 inhabitants in 1430.", "Varn had 12,000 inhabitants in 1430."),
        ("The harbour of Varn is 12 m deep.", "The harbour of Varn is 1,200 cm deep."),
        ("Varn had 12,000 inhabitants in 1430.", "Lund had 15,000 inhabitants in 1430."),
        ("Varn was founded in 1430.", "Varn was burnt in 1450."),
    ],
)
def test_different_values_without_contradiction_are_not_a_dispute(own: str, other: str) -> None:
    """Another year, another unit, another town or another event is not a contradiction."""
    assert varn(own, other).disputes == ()


def test_a_contradiction_keeps_both_claims() -> None:
    """Nothing is overwritten: both claims are in the brief, each in its own words."""
    brief = varn(OWN, OTHER)
    (dispute,) = brief.disputes
    ids = [view.statement.claims for view in dispute.views]
    assert [brief.claims[one].text for (one,) in ids] == [OWN, OTHER]


def test_a_view_in_the_summary_is_not_repeated() -> None:
    """A view that is in the introduction is in the summary, and is not a dispute a second time."""
    view = "Olin Marr argues that ash from the hills caused the Great Frost."
    brief = gather_claims({"Great Frost": f"The Great Frost was a cold winter.\n{view}"}, topic="Great Frost").brief()
    assert [(one.text, one.sureness) for one in brief.summary][1:] == [(view, "one source")]
    assert brief.disputes == ()


def test_a_heading_alone_makes_no_dispute() -> None:
    """What is below 'Criticism' is not a view unless its words say so (R70)."""
    plain = "The roads of the north were closed to all carts. The bells rang in every village at noon."
    assert frost(f"== Criticism ==\n{plain}").brief().disputes == ()


@pytest.mark.parametrize(
    "sentence",
    [
        "Although the evidence is thin, some scholars believe that ash caused the Great Frost.",
        "Many towns of the north, Lund and Varn claim that the Great Frost was long.",
        "According to the law of 1432, the Great Frost freed all farmers from their taxes.",
        "The people of the hills believe that the Great Frost was sent by a wolf.",
        "Some dated rings of old trees are from before the Great Frost, and they are narrow.",
        "Olin Marr proposed the name of the Great Frost in 1900.",
    ],
)
def test_other_clauses_are_not_a_side_of_a_dispute(sentence: str) -> None:
    """A clause before 'some believe', a list of names, a law or a custom is not a side of a dispute (R70)."""
    assert [one for one in frost(f"== Causes ==\n{sentence}").brief().disputes if len(one.views) > 1] == []


@pytest.mark.parametrize(
    "sentence",
    [
        "According to the law of 1432, the Great Frost freed all farmers from their taxes.",
        "The people of the hills believe that the Great Frost was sent by a wolf.",
        "Olin Marr proposed the name of the Great Frost in 1900.",
    ],
)
def test_laws_and_customs_are_not_views(sentence: str) -> None:
    """A law, a custom and a name that somebody proposed are not views at all."""
    assert frost(f"== Causes ==\n{sentence}").brief().disputes == ()


def test_a_page_does_not_contradict_itself() -> None:
    """Two values of one page are of two cases, such as black tea and green tea."""
    brief = varn("The ageing of Varn cheese takes two weeks. The ageing of Varn cheese takes three days.", "It is far.")
    assert brief.disputes == ()


def test_nothing_said_is_not_a_dispute() -> None:
    """A book that says nothing has no disputes."""
    assert gather_claims({"Great Frost": "Brrr!"}, topic="Great Frost").brief().disputes == ()


BELIEFS = """
    == Causes ==
    Several things are named as causes of the Great Frost, which are told apart here.
    Olin Marr believed that ash from the hills was the cause of the Great Frost of the north.
    Ebba Lind held that a change of the winds caused the Great Frost in the end.
"""


def in_frost(topic: str, *sections: str) -> tuple[list[MergedClaim], ClaimWeights]:
    """The claims of a page on the Great Frost, weighed for a topic."""
    pages = {"Great Frost": "\n".join(("The Great Frost was a cold winter.", INTRODUCTION, *sections))}
    found = gather_claims(pages, topic=topic)
    return merge_equivalent(found.weights.weigh(found.claims)), found.weights


def test_in_a_brief_about_causes_what_one_person_believed_is_an_explanation() -> None:
    """Two such beliefs are two views; in a brief about the whole topic, a belief is no dispute yet."""
    (asked, weights), (whole, other_weights) = (
        in_frost(topic, BELIEFS) for topic in ("causes of the Great Frost", "Great Frost")
    )
    (dispute,) = disputes(asked, (), weights)
    assert dispute.about == "What explains it"
    assert sorted(view.holder for view in dispute.views) == ["Ebba Lind", "Olin Marr"]
    assert not any(found.about == "What explains it" for found in disputes(whole, (), other_weights))


EFFECTS = """
    == Law ==
    Bakers of every town keep small tokens in their houses.
    Painters and weavers sold their work at the harbour.
    A Bread Act of the Great Frost caused the Bread Crisis of 1802.
    Bakers of every town keep small tokens in their houses.
    Painters and weavers sold their work at the harbour.
"""


def test_with_an_aspect_no_part_has_sentences_about_another() -> None:
    """A law is no cause of the frost, although it caused something: neither an explanation nor an event."""
    merged, weights = in_frost("causes of the Great Frost", BELIEFS, EFFECTS)
    (law,) = (claim for claim in merged if "Bread Act" in claim.best.text)
    assert weights.relevance.is_on_aspect(law.best), "by a narrow margin"
    explained = [statement.text for group in mechanisms(merged, weights) for statement in group.statements]
    assert len(explained) == 2
    assert law.best.text not in explained
    assert timeline(merged, weights) == ()
