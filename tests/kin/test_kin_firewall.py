"""Nothing becomes a fact that its own quote does not say: one true assertion of each kind, and how it can be wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.kin.firewall.check import check
from kiwiresearch.kin.firewall.violations import CHECKS, CODES, Violation
from kiwiresearch.kin.source_facts import ExtractedFact, Snippet
from kiwiresearch.kin.tree import DATE_FIELDS, FieldName, Sex
from kiwiresearch.text.dates.mentions import dates_in

PAGE = """Ada Maria Thorne (12 March 1802 – 9 June 1871) was a clockmaker.

She was born in Oldham, the daughter of Josiah Thorne and his wife Ellen Pratt. In 1825 she married Ralph Garside, \
son of Tobias Garside. Her brother Silas Thorne was born in 1810. They had three children: Edith, Hugh and Clara.

Ada Thorne
Born\t12 March 1802
Oldham, Lancashire
Died\tJune 1871
Salford
Father\tJosiah Thorne
Spouse(s)\tRalph Garside (m. 1825)
Issue\tEdith Garside
Hugh Garside"""
SUBJECT = "Ada Thorne"


def said(field: FieldName, value: str, quote: str, *, page: str = PAGE, **more: object) -> ExtractedFact:
    """A value with a quote of the page; a date is read as people write it."""
    start = page.index(quote)
    when = dates_in(value)[0].when if field in DATE_FIELDS else None
    plain = ExtractedFact(
        field, when.edtf() if when else value, Snippet(start, start + len(quote), quote), "prose", 0.8
    )
    return replace(plain, when=when, **more)  # type: ignore[arg-type]


def codes(extracted: ExtractedFact, *, subject: str = SUBJECT, page: str = PAGE, sex: Sex = "female") -> list[str]:
    return [one.code for one in check(extracted, page, subject, sex)]


LEAD = "Ada Maria Thorne (12 March 1802 – 9 June 1871)"
BORN = "Born\t12 March 1802\nOldham, Lancashire"
PARENTS = "She was born in Oldham, the daughter of Josiah Thorne and his wife Ellen Pratt."
MARRIED = "In 1825 she married Ralph Garside, son of Tobias Garside."

TRUE: list[tuple[FieldName, str, str]] = [
    ("birth_date", "12 March 1802", LEAD),
    ("birth_date", "1802", LEAD),
    ("death_date", "9 June 1871", LEAD),
    ("birth_date", "12 March 1802", BORN),
    ("birth_date", "12 March 1802", "12 March 1802\nOldham"),
    ("death_date", "June 1871", "Died\tJune 1871"),
    ("birth_place", "Oldham, Lancashire", BORN),
    ("birth_place", "Oldham", PARENTS),
    ("name", "Ada Maria Thorne", LEAD),
    ("father", "Josiah Thorne", PARENTS),
    ("parent", "Josiah Thorne", PARENTS),
    ("mother", "Ellen Pratt", PARENTS),
    ("father", "Josiah Thorne", "Father\tJosiah Thorne"),
    ("spouse", "Ralph Garside", MARRIED),
    ("spouse", "Ralph Garside", "Ralph Garside (m. 1825)"),
    ("marriage_date", "1825", MARRIED),
    ("sibling", "Silas Thorne", "Her brother Silas Thorne"),
    ("child", "Clara", "They had three children: Edith, Hugh and Clara."),
    ("child", "Hugh Garside", "Hugh Garside"),
    ("occupation", "clockmaker", "was a clockmaker"),
    ("sex", "female", PARENTS),
]


@pytest.mark.parametrize(("field", "value", "quote"), TRUE)
def test_a_value_that_the_quote_says_passes(field: FieldName, value: str, quote: str) -> None:
    """A value that its quote gives to the subject is let through, from a box, a lead or a sentence."""
    assert codes(said(field, value, quote)) == []


WRONG: list[tuple[FieldName, str, str, str]] = [
    ("birth_date", "12 March 1803", LEAD, "HF_012"),
    ("birth_date", "9 June 1871", LEAD, "HF_014"),
    ("death_date", "12 March 1802", BORN, "HF_014"),
    ("death_date", "9 June 1871", "Died\tJune 1871", "HF_013"),
    ("birth_date", "1825", MARRIED, "HF_014"),
    ("birth_date", "1810", "Her brother Silas Thorne was born in 1810.", "HF_014"),
    ("birth_place", "Salford", BORN, "HF_021"),
    ("death_place", "Oldham, Lancashire", BORN, "HF_022"),
    ("father", "Samuel Thorne", PARENTS, "HF_016"),
    ("father", "Josiah Pratt", PARENTS, "HF_016"),
    ("father", "Ralph Garside", MARRIED, "HF_042"),
    ("child", "Josiah Thorne", "Father\tJosiah Thorne", "HF_042"),
    ("child", "Josiah Thorne", PARENTS, "HF_042"),
    ("mother", "Josiah Thorne", PARENTS, "HF_042"),
    ("spouse", "Ellen Pratt", PARENTS, "HF_042"),
    ("father", "Tobias Garside", MARRIED, "HF_043"),
    ("spouse", "Silas Thorne", "Her brother Silas Thorne", "HF_042"),
    ("spouse", "Ada Thorne", "Ada Thorne\nBorn", "HF_044"),
    ("occupation", "baker", "was a clockmaker", "HF_016"),
    ("name", "Ralph Garside", MARRIED, "HF_019"),
    ("sex", "male", "Issue\tEdith Garside", "HF_045"),
]


@pytest.mark.parametrize(("field", "value", "quote", "code"), WRONG)
def test_a_value_that_the_quote_does_not_say_is_vetoed(field: FieldName, value: str, quote: str, code: str) -> None:
    """Dates, names, places and relations that the quote does not have, or has for something else, get a numbered error.

    Other dates, names and places are caught (R409, R410, R411), relatives in the wrong role as well (R415).
    """
    assert code in codes(said(field, value, quote))


def test_a_fact_without_a_quote_is_none() -> None:
    """Every value has words of the source under it (R407)."""
    assert codes(replace(said("father", "Josiah Thorne", PARENTS), snippet=Snippet(0, 0, ""))) == ["HF_001"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda old: replace(old, words=old.words.replace("daughter", "only daughter")), "HF_008"),
        (lambda old: replace(old, start=old.start + 1, end=old.end + 1), "HF_007"),
        (lambda old: replace(old, start=-1), "HF_006"),
        (lambda old: replace(old, end=10**9), "HF_006"),
    ],
)
def test_a_quote_is_exactly_at_its_place(change, code: str) -> None:  # type: ignore[no-untyped-def]
    """A quote with a changed word, or of another place, is not a quote (R408)."""
    true = said("father", "Josiah Thorne", PARENTS)
    assert codes(replace(true, snippet=change(true.snippet))) == [code]


@pytest.mark.parametrize(("confidence", "code"), [(1.3, "HF_031"), (-0.1, "HF_031"), (float("nan"), "HF_032")])
def test_a_confidence_is_a_share(confidence: float, code: str) -> None:
    """A confidence outside 0 to 1 is vetoed (R413)."""
    assert codes(said("father", "Josiah Thorne", PARENTS, confidence=confidence)) == [code]


def test_addresses_come_from_the_source() -> None:
    """An address or a page that the source does not link to is vetoed (R414)."""
    true = said("father", "Josiah Thorne", PARENTS, target="Josiah_Thorne")
    assert check(true, PAGE, SUBJECT, "female", urls=frozenset({"Josiah_Thorne"})) == ()
    assert [one.code for one in check(true, PAGE, SUBJECT, "female", urls=frozenset())] == ["HF_037"]
    assert codes(replace(true, rationale="see https://example.org/made-up")) == ["HF_036"]


def test_the_dates_of_a_marriage_are_in_the_quote() -> None:
    """A spouse's marriage has no date that the quote does not have."""
    true = said("spouse", "Ralph Garside", MARRIED)
    assert codes(replace(true, when=dates_in("1825")[0].when)) == []
    assert codes(replace(true, when=dates_in("1826")[0].when)) == ["HF_015"]


def test_a_date_is_what_was_read() -> None:
    """The stored value of a date is the date that was read, not another."""
    true = said("birth_date", "12 March 1802", LEAD)
    assert codes(replace(true, value="1802-03-13")) == ["HF_011"]
    assert codes(replace(true, when=None)) == ["HF_011"]


@pytest.mark.parametrize(
    ("page", "field", "value", "subject", "sex", "code"),
    [
        ("Tom (baptised 3 May 1800 – 1870) was a poet.", "birth_date", "3 May 1800", "Tom", "male", "HF_014"),
        ("Born\t3 May 1800 (baptised)", "birth_date", "3 May 1800", "Tom", "male", "HF_014"),
        ("Tom was born c. 1800.", "birth_date", "1800", "Tom", "male", "HF_013"),
        ("Tom was born before 1800.", "birth_date", "1800", "Tom", "male", "HF_013"),
        ("Her father was Max Lund.", "father", "Max Lund", "Tom Lund", "male", "HF_045"),
        ("His wife's father was Max Lund.", "father", "Max Lund", "Tom Roe", "male", "HF_043"),
        ("Tom married the daughter of Max Lund.", "father", "Max Lund", "Tom Roe", "male", "HF_043"),
        ("Tom was the father of Max Roe.", "father", "Max Roe", "Tom Roe", "male", "HF_042"),
        ("Tom was the son of England.", "father", "England", "Tom Roe", "male", "HF_018"),
        ("Henry VII (1457 – 1509) was his father.", "birth_date", "1457", "Henry VIII", "male", "HF_014"),
        ("Max, Duke of Aue\t3 May 1800\t5 May 1801", "death_date", "5 May 1801", "Max IV", "male", "HF_014"),
        ("Father\tMax Lund\nMother\tEva Lund", "father", "Eva Lund", "Tom Lund", "male", "HF_042"),
        ("Parents\tMax Lund (father)\nEva Lund (mother)", "father", "Eva Lund", "Tom Lund", "male", "HF_042"),
        ("Tom's grandfather Max Lund", "father", "Max Lund", "Tom Lund", "male", "HF_042"),
    ],
)
def test_roles_that_are_easily_mistaken(
    page: str, field: FieldName, value: str, subject: str, sex: Sex, code: str
) -> None:
    """Baptism is not birth, about is not exactly, and a relative of a relative is not the subject's."""
    assert code in codes(said(field, value, page, page=page), subject=subject, page=page, sex=sex)


@pytest.mark.parametrize(
    ("page", "field", "value", "subject", "sex"),
    [
        ("Tom Roe, OM (born 3 May 1800) was a poet.", "birth_date", "3 May 1800", "Tom Roe", "male"),
        ("Tom Roe (384–322 BC) was a poet.", "birth_date", "384 BC", "Tom Roe", "male"),
        ("Tom was born in Kiel, Holstein, on 3 May 1800 to Max Roe.", "father", "Max Roe", "Tom Roe", "male"),
        ("Tom was born to Eva Roe and Max Roe.", "father", "Max Roe", "Tom Roe", "male"),
        ("Tom was born in Kiel, Holstein, the third of six sons of Max Roe.", "father", "Max Roe", "Tom Roe", "male"),
        ("Tom married Max Lund's daughter Eva Lund.", "spouse", "Eva Lund", "Tom Roe", "male"),
        ("There he met Eva Lund, whom he married.", "spouse", "Eva Lund", "Tom Roe", "male"),
        ("Relatives\tMax Roe (brother)", "sibling", "Max Roe", "Tom Roe", "male"),
        ("Issue\n\nEva Roe\nMax Roe", "child", "Max Roe", "Tom Roe", "male"),
        ("His father, also named Tom Roe, was a smith.", "father", "Tom Roe", "Tom Roe", "male"),
    ],
)
def test_ways_to_say_it(page: str, field: FieldName, value: str, subject: str, sex: Sex) -> None:
    """What a source says in other words passes as well."""
    assert codes(said(field, value, page, page=page), subject=subject, page=page, sex=sex) == []


@given(st.text(max_size=80), st.text(max_size=20), st.sampled_from(["father", "birth_place", "name", "child", "sex"]))
def test_any_text_is_judged(text: str, value: str, field: FieldName) -> None:
    """Whatever the source and the value are, the firewall answers, and what the quote lacks does not pass."""
    found = check(ExtractedFact(field, value, Snippet(0, len(text), text), "model", 0.5), text, "Ada Thorne")
    assert found or value.split()[0].casefold() in text.casefold() or field == "sex"


def test_every_code_belongs_to_a_check() -> None:
    """Codes run from HF_001 to HF_052, five to each of the ten checks, then plausibility and living people."""
    checks = [Violation(code, "").check_number for code in CODES]
    assert checks == sorted(checks)
    assert set(checks) == set(range(1, len(CHECKS) + 1))
    assert str(Violation("HF_001", "x")) == "HF_001: 'x': there is no quote."
