"""docs/reference/claims.md says what claims are in the code: fields, types, hedges, terms, kinds and tolerances."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from kiwiresearch.claims import by_rule, proposals, sentence
from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.claims.claim import CLAIM_TYPES, Claim, ClaimSignals, DependsOn, NameSource, claim_record
from kiwiresearch.claims.conflicts.sentences import DisagreementKind
from kiwiresearch.claims.conflicts.value_comparison import ESTIMATE_TOLERANCE, TOLERANCE
from kiwiresearch.claims.page_claims import claims_of_text
from kiwiresearch.claims.plain_claims import all_sentences
from kiwiresearch.messages.catalogue import catalogue_in
from kiwiresearch.text.dates.ranges import DateQualifier, Precision
from kiwiresearch.text.hedges import Hedge, hedges_in
from kiwiresearch.text.hedges import HedgeKind as HedgeKind
from kiwiresearch.text.quantity import QuantityQualifier

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "claims.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (.+) \|$", re.MULTILINE)


def part(heading: str) -> str:
    return PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]


def rows(heading: str) -> list[list[str]]:
    """The cells of the tables under a heading, without what heads them."""
    cells = [row.split(" | ") for row in ROW.findall(part(heading))]
    return [row for row in cells if "`" in row[0]]


def first_names(heading: str) -> set[str]:
    """The names in the first column."""
    return {name for row in rows(heading) for name in re.findall(r"`([^`]+)`", row[0])}


def code_words(heading: str) -> set[str]:
    """All words set in code under a heading."""
    return set(re.findall(r"`([^`]+)`", part(heading)))


@pytest.fixture
def claim() -> Claim:
    """A claim that has everything: a number with its date, and a hedge."""
    claims = claims_of_text("Varn probably had about 900 inhabitants in 1300.", "Varn").claims
    assert claims[0].measures
    assert claims[0].measures[0].when
    assert claims[0].hedges
    return claims[0]


def test_every_field_of_a_claim_is_on_its_page(claim: Claim) -> None:
    """The table of fields is the record of a claim, no more and no less (R57, R116-R125)."""
    assert first_names("Fields") == set(claim_record(claim))


def test_every_field_inside_a_field_is_on_its_page(claim: Claim) -> None:
    """Quotes, hedges, terms, signals, measures and dates have the fields that the page names (R62, R64)."""
    record: dict[str, Any] = claim_record(claim)
    fields = {*record["spans"][0], *record["hedging"][0], *record["confidence_terms"][0]}
    assert fields <= code_words("Fields")
    assert first_names("Evidence signals") == set(record["evidence_signals"]) == set(ClaimSignals._fields)
    assert first_names("Measures") == set(record["measures"][0])
    assert first_names("Dates") == set(record["dates"][0])
    assert set(record["measures"][0]["when"]) == set(record["dates"][0]) - {"start", "end"}


def test_values_that_have_names_are_on_the_page() -> None:
    """Qualifiers and precisions are listed to the last."""
    assert {*get_args(QuantityQualifier)} - {""} <= code_words("Measures")
    assert {*get_args(Precision), *get_args(DateQualifier)} - {""} <= code_words("Dates")


def test_the_examples_of_the_types_are_of_their_types() -> None:
    """There are eight types, and the rules give each example the type that it illustrates (R59)."""
    table = {row[0].strip("`"): row[3] for row in rows("Types")}
    assert tuple(table) == CLAIM_TYPES
    for kind, example in table.items():
        title = re.findall(r"\b(?:Varn|Salt road|sluice)\b", example)[0].capitalize()
        page = claims_of_text(example, title).page
        assert [claim.type for claim in claims_of(page, "", all_sentences)] == [kind], example


def test_the_types_have_the_names_of_the_web_interface() -> None:
    """Beside the key of each type is the word that web pages show."""
    words = catalogue_in("en")
    assert {row[0].strip("`"): row[1] for row in rows("Types")} == {
        kind: words(f"claims.types.{kind}") for kind in CLAIM_TYPES
    }


def test_a_sentence_of_no_type_is_not_a_claim_by_itself() -> None:
    """A text that is read for its claims gives no statements, as the page says (R59)."""
    (example,) = (row[3] for row in rows("Types") if row[0] == "`statement`")
    assert claims_of_text(example, "Varn").claims == ()


def test_the_dependencies_of_a_claim_are_documented() -> None:
    """Every value of the fields that say where a name comes from and what a claim depends on is named."""
    told_of = {row[0].strip("`"): set(re.findall(r"`([^`]+)`", row[1])) for row in rows("Fields")}
    assert told_of["name_put_in"] == set(get_args(NameSource)) - {""}
    assert told_of["depends_on"] == set(get_args(DependsOn)) - {""}


def test_as_many_rows_of_tables_are_taken_as_the_page_says() -> None:
    """The limit on claims from tables is the one of the code."""
    assert f"at most {by_rule.MAX_TABLE_CLAIMS} such claims" in part("Types")


def test_the_words_that_hedge_do() -> None:
    """There are four flags, and each word beside one hedges in that way (R61, R123)."""
    table = {row[0].strip("`"): row[2].split(", ") for row in rows("Hedging")}
    assert tuple(table) == get_args(HedgeKind)
    frames = (
        "It is {} so.",
        "It {} be so.",
        "It {} to be so.",
        "It is so, and {} towns deny it.",
        "It {} a port there.",
    )
    for kind, words in table.items():
        for word in words:
            found = {(hedge.cue, hedge.kind) for frame in frames for hedge in hedges_in(frame.format(word))}
            assert (word, kind) in found, word


SIGNALS = ClaimSignals(references=1, citation_needed=True, disputed=True, stub=True)


def terms() -> dict[str, float]:
    """Every term that a claim by rule can have."""
    hedges = tuple(Hedge(0, 1, "", kind) for kind in get_args(HedgeKind))
    one = sentence.claim_score(
        SIGNALS,
        hedges,
        points=sentence.CLEAR_POINTS,
        inserted_name_from="title",
        length=sentence.LONG_CHARS + 1,
        about_the_page=True,
        has_name=False,
    )
    other = sentence.claim_score(SIGNALS, (), inserted_name_from="before", table=True)
    return {term.signal: term.points for term in (*one.terms, *other.terms)}


def test_the_terms_of_confidence_have_their_values() -> None:
    """Each term is on the page with what it counts (R65)."""
    table = {row[0].strip("`"): row[1] for row in rows("Confidence")}
    by_model = {"in a model's words": f"{proposals.OWN_WORDING_PENALTY:+g}", "the model's own estimate": "-0.5 to +0.5"}
    assert table == {signal: f"{points:+g}" for signal, points in terms().items()} | by_model
    assert f"clear with {sentence.CLEAR_POINTS:g} points or more" in part("Confidence")
    assert f"long with more than {sentence.LONG_CHARS} characters" in part("Confidence")


def test_the_kinds_of_disagreement_and_their_tolerances_are_on_the_page() -> None:
    """The page names each kind, and how far values may be apart (R140)."""
    assert first_names("Disagreement") == set(get_args(DisagreementKind))
    assert f"at most {TOLERANCE:.0%} of" in part("Disagreement")
    assert f"at most {ESTIMATE_TOLERANCE:.0%} of" in part("Disagreement")
    apart = f"differ by more than {TOLERANCE:.0%}, or {ESTIMATE_TOLERANCE:.0%}"
    assert apart in part("Disagreement")


def test_the_files_of_a_language_are_there_for_english() -> None:
    """Each file that another language needs is one that English has, and none is left out."""
    source = ROOT / "src" / "kiwiresearch"
    named = {name.replace("LANGUAGE", "eng") for name in first_names("Other languages")}
    has = {str(file.relative_to(source)) for file in source.rglob("eng.toml")}
    assert named == has
