"""What a source denies, supposes or presents as a story is not a fact, whatever words it uses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kiwiresearch.kin.firewall.check import check
from kiwiresearch.kin.source_facts import ExtractedFact, Snippet
from kiwiresearch.kin.tree import DATE_FIELDS, FieldName
from kiwiresearch.text.dates.mentions import dates_in

VALUES: dict[FieldName, str] = {
    "father": "Josiah Thorne",
    "spouse": "Ada Garside",
    "child": "Hugh Thorne",
    "sibling": "Silas Thorne",
    "birth_date": "12 March 1802",
    "death_date": "9 June 1871",
    "birth_place": "Oldham",
    "name": "Ralph Horne",
}


def said(field: FieldName, page: str, quote: str = "", confidence: float = 0.8) -> ExtractedFact:
    words = quote or page
    when = dates_in(VALUES[field])[0].when if field in DATE_FIELDS else None
    value = when.edtf() if when else VALUES[field]
    start = page.index(words)
    return ExtractedFact(field, value, Snippet(start, start + len(words), words), "prose", confidence, when)


def codes(extracted: ExtractedFact, page: str) -> list[str]:
    return [one.code for one in check(extracted, page, "Ralph Thorne", "male")]


DENIED: list[tuple[FieldName, str]] = [
    ("father", "Ralph Thorne was not the son of Josiah Thorne."),
    ("father", "He was never a son of Josiah Thorne."),
    ("father", "He was long thought to be the son of Josiah Thorne."),
    ("father", "He was wrongly called the son of Josiah Thorne."),
    ("father", "Contrary to what many say, Ralph Thorne was not the son of Josiah Thorne."),
    ("father", "If Ralph Thorne was the son of Josiah Thorne, he kept it to himself."),
    ("father", "There is no evidence that Ralph Thorne was the son of Josiah Thorne."),
    ("father", "Ralph Thorne denied being the son of Josiah Thorne."),
    ("father", "In the novel, Ralph Thorne is the son of Josiah Thorne."),
    ("father", "He was the son of Josiah Thorne, it was said, but that has been disproved."),
    ("father", "His father was not Josiah Thorne."),
    ("spouse", "He never married Ada Garside."),
    ("spouse", "He refused to marry Ada Garside."),
    ("spouse", "Had he married Ada Garside, the mill would have been his."),
    ("child", "He was not the father of Hugh Thorne."),
    ("sibling", "He was no brother of Silas Thorne."),
    ("birth_date", "Ralph Thorne was not born on 12 March 1802."),
    ("birth_date", "His tombstone wrongly says that he was born on 12 March 1802."),
    ("birth_date", "He was baptised, not born, on 12 March 1802."),
    ("death_date", "He nearly died on 9 June 1871."),
    ("birth_place", "He was not born in Oldham."),
]
HEDGED: list[tuple[FieldName, str]] = [
    ("father", "Ralph Thorne may have been the son of Josiah Thorne."),
    ("father", "Ralph Thorne, allegedly the son of Josiah Thorne, was a smith."),
    ("father", "His supposed father Josiah Thorne was a smith."),
    ("spouse", "He is said to have married Ada Garside."),
    ("birth_place", "He was born either in Oldham or in Bury."),
]
STATED: list[tuple[FieldName, str]] = [
    ("father", "He was not only a smith but the son of Josiah Thorne."),
    ("father", "Although not rich, he was the son of Josiah Thorne, who is thought to have been a smith."),
    ("father", "He never saw his father Josiah Thorne again."),
    ("spouse", "He never went to school, and in 1825 he married Ada Garside."),
    ("spouse", "He did not marry until 1825, when he married Ada Garside."),
    ("spouse", "He had no children by his wife Ada Garside."),
    ("child", "His only son, Hugh Thorne, did not marry."),
    ("birth_date", "He was born on 12 March 1802, not in 1803 as is often said."),
    ("death_date", "He never recovered, and died on 9 June 1871."),
    ("birth_place", "He was born in Oldham, not far from the sea."),
]


@pytest.mark.parametrize(("field", "page"), DENIED)
def test_a_denied_value_is_not_a_fact(field: FieldName, page: str) -> None:
    """A value that the sentence denies, retracts or presents as a story is refused, however sure it is."""
    assert codes(said(field, page), page) == ["HF_028"]
    assert codes(said(field, page, confidence=0.2), page) == ["HF_028"]


@pytest.mark.parametrize(("field", "page"), HEDGED)
def test_a_supposed_value_is_a_guess(field: FieldName, page: str) -> None:
    """What a source only supposes passes as a guess, not as a certain fact."""
    assert codes(said(field, page), page) == ["HF_027"]
    assert codes(said(field, page, confidence=0.5), page) == []
    assert codes(replace(said(field, page), qualifier="disputed"), page) == []


@pytest.mark.parametrize(("field", "page"), STATED)
def test_a_denial_of_something_else_does_not_count(field: FieldName, page: str) -> None:
    """A 'not' that belongs to something else in the sentence leaves the fact alone."""
    assert codes(said(field, page), page) == []


def test_a_quote_cannot_be_cut_behind_its_not() -> None:
    """The sentence is read in the source: a quote that leaves out who denies it proves nothing."""
    page = "Ralph Thorne was a smith. He was not the son of Josiah Thorne."
    assert codes(said("father", page, "the son of Josiah Thorne"), page) == ["HF_028"]


def test_a_deed_done_to_somebodys_son_makes_no_son() -> None:
    """'Killed the son of' is about another person's father."""
    page = "Ralph Thorne murdered the son of Josiah Thorne."
    assert codes(said("father", page), page) == ["HF_043"]
    called = "Ralph Thorne was called the son of Josiah Thorne."
    assert codes(said("father", called), called) == []


def test_a_name_not_to_be_confused_is_not_the_persons_name() -> None:
    """'Not to be confused with' names somebody else."""
    page = "Ralph Thorne, not to be confused with Ralph Horne, was a smith."
    assert codes(said("name", page), page) == ["HF_019"]


def test_an_office_alone_is_the_subject_only_if_the_subject_may_have_it() -> None:
    """'The Emperor died' on the page of his astronomer is not the death of the astronomer."""
    page = "On 9 June 1871, the Emperor died."
    assert codes(said("death_date", page), page) == ["HF_014"]
    (found,) = [check(said("death_date", page), page, name, "male") for name in ("Ralph II of Thorne",)]
    assert found == ()


def test_the_last_sentence_above_a_list_says_of_whom_it_is() -> None:
    """Relatives that are mentioned earlier in the paragraph do not hide that it ends in 'Children:'."""
    page = "Ralph Thorne had two wives. The first was a sister-in-law of Silas Thorne. Children:\n\nHugh Thorne\n"
    assert codes(said("child", page, "Hugh Thorne"), page) == []
    other = "Ralph Thorne had three children. He was a brother-in-law of these smiths:\n\nHugh Thorne\n"
    assert codes(said("child", other, "Hugh Thorne"), other) == ["HF_041"]
