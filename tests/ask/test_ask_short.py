"""The few words of a sentence that are the answer, if a rule can find them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.ask.answer_match import AnswerSpan, short_answer, with_other_values
from kiwiresearch.ask.question import read_question


def short(text: str, question: str, *, is_box: bool = False) -> str:
    span = short_answer(text, read_question(question), is_box=is_box)
    return text[span.start : span.end] if span else ""


@pytest.mark.parametrize(
    ("question", "text", "marked"),
    [
        ("When was the lighthouse built?", "The lighthouse was built in 1811 by two brothers.", "1811"),
        (
            "When was the painter born?",
            "Anna Holt (3 May 1820 – 9 June 1891) was a painter who was born in Bergen.",
            "3 May 1820",
        ),
        ("When did the painter die?", "Anna Holt (3 May 1820 – 9 June 1891) was a painter.", "9 June 1891"),
        ("When was Holt born?", "Holt (1820–1891) was a painter.", "1820"),
        ("When did Holt die?", "Holt (1820–1891) was a painter.", "1891"),
        ("In what year did the mill burn down?", "The mill burned down in March 1764.", "March 1764"),
        ("When did the siege begin?", "The siege began on 14 June 1571 and lasted a month.", "14 June 1571"),
        ("When did the tram stop running?", "The last tram ran in the spring of 1957.", "spring of 1957"),
        ("When was the temple destroyed?", "The temple was destroyed in 356 BC.", "356 BC"),
        ("When was the canal begun?", "The canal, begun in 1790, was opened in 1805.", "1790"),
        (
            "When was the treaty of 1763 signed?",
            "The treaty of 1763 was signed on 10 February 1763.",
            "10 February 1763",
        ),
        ("When did it rain?", "It rained for a long time.", ""),
        ("When was the mill built?", "The mill is a fine building of red brick.", ""),
        ("How many arches does the bridge have?", "The bridge has 14 arches and is 300 metres long.", "14 arches"),
        ("How many keepers lived there?", "Three keepers lived there until 1950.", "Three keepers"),
        ("How long is the tunnel?", "The tunnel is 4.5 km long.", "4.5 km"),
        ("How tall is the mast?", "The mast has a height of 31 metres (102 ft).", "31 metres"),
        ("How deep is the lake?", "The lake is 212 m deep and covers 40 km2.", "212 m"),
        ("How heavy was the bell?", "The bell weighed 9 tonnes when it was cast in 1702.", "9 tonnes"),
        ("How many people live there?", "The town has 12,400 people.", "12,400 people"),
        ("How many ships sailed?", "Nobody knows how the ships sailed.", ""),
        ("How far is it to the Moon?", "The Moon is about 384,400 km from the Earth.", "384,400 km"),
        ("How many soldiers fell?", "In 1805 some 300 soldiers fell.", "300 soldiers"),
        ("Who designed the tower?", "The tower was designed by Ingrid Voss.", "Ingrid Voss"),
        ("Who discovered the comet?", "Maria Kern discovered the comet in 1847.", "Maria Kern"),
        (
            "Who wrote the Song of the Sea?",
            "The Song of the Sea was written by Tomas Brandt in prison.",
            "Tomas Brandt",
        ),
        ("Who founded the colony?", "The colony was founded by William of Lorne.", "William of Lorne"),
        ("Who built the mill?", "The mill was built by monks.", ""),
        ("Who painted the portrait?", "The portrait shows a child with a dog.", ""),
        ("Where is the lighthouse?", "The lighthouse stands near Ostend.", "Ostend"),
        ("Where was Anna Holt born?", "Anna Holt was born in Bergen.", "Bergen"),
        ("Where do the herds graze?", "The herds graze on the upper slopes.", ""),
        ("Where did the fleet sail from?", "The fleet sailed from Lisbon.", "Lisbon"),
        ("Where was the treaty signed?", "The treaty was signed at Kalmar.", "Kalmar"),
        ("In which country is the lake?", "The lake is in Ethiopia.", "Ethiopia"),
        ("Where did the Danes land?", "The Danes landed at Deal.", "Deal"),
        ("Why is the sea salt?", "The sea is salt because rivers carry minerals into it.", ""),
        ("What is a weir?", "A weir is a low dam across a river.", ""),
        ("How does a lock work?", "A lock lifts a boat by letting water in.", ""),
        ("Is the whale a fish?", "The whale is a mammal.", ""),
        ("Who led the strike?", "Among the strikers, Rosa Lind led the strike of 1911.", "Rosa Lind"),
        ("Where did Holt die?", "Holt died at Kalmar in 1891.", "Kalmar"),
        ("When was the bell cast?", "The bell was cast in the 12th century.", "12th century"),
        ("How fast is the hare?", "The hare runs at 70 km/h.", "70 km/h"),
    ],
)
def test_the_answer_is_marked_if_a_rule_finds_it(question: str, text: str, marked: str) -> None:
    """Dates, numbers, persons and places that answer are marked; if no rule is sure, nothing is."""
    assert short(text, question) == marked


@pytest.mark.parametrize(
    ("row", "marked"),
    [
        ("Mayor\tAnn Dole", "Ann Dole"),
        ("Born\t3 May 1820\nBergen", "Bergen"),
        ("Label\t  x  ", "x"),
        ("Label\t", ""),
        ("No label", ""),
        (f"Motto\t{'so it goes on ' * 20}", ""),
    ],
)
def test_of_a_row_its_first_value_is_marked(row: str, marked: str) -> None:
    """The value after a label is the answer; to 'who', its first line that is not a date, unless it is long."""
    assert short(row, "Who is the mayor?", is_box=True) == marked


ASKED = (
    "When was the mill built?", "How many mills are there?", "Who built the mill?", "Where is the mill?",
    "Why is the mill old?", "mill",
)  # fmt: skip
PIECES = (
    "the mill", "was built", "in 1811", "3 May 1820", "1820–1891", "5 km", "Ann Dole", "by", "in", "Bergen", "(", ")",
    "—", "St. John", "U.S.", "of", "the", "12,000 mills", "İ", "\t", "\n", "中文", "é", "’s", ".", "?", "100%",
)  # fmt: skip
sentences = st.one_of(st.text(max_size=120), st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join))


@given(sentences, st.sampled_from(ASKED), st.booleans())
def test_the_mark_is_always_a_part_of_the_sentence(text: str, question: str, is_box: bool) -> None:
    """Whatever the sentence, the mark lies within it and is not empty."""
    span = short_answer(text, read_question(question), is_box=is_box)
    assert span is None or 0 <= span.start < span.end <= len(text)


@pytest.mark.parametrize(
    ("row", "marked", "whole"),
    [
        ("Capital\tLa Paz, Sucre\n16°29′S 68°8′W", "La Paz", "La Paz, Sucre"),
        (
            "Capital\tVarn (winter)\nMora (summer)\nLind (spring)",
            "Mora (summer)",
            "Varn (winter)\nMora (summer)\nLind (spring)",
        ),
        ("Born\t3 May 1820\nBergen, Norway", "Bergen", "Bergen, Norway"),
        ("Born\t3 May 1820\nBergen, Norway", "3 May 1820", "3 May 1820"),
        ("Area\t1,098,581 km² ( 28th)\n424,163 sq mi", "1,098,581 km²", "1,098,581 km²"),
        ("Currency\tYen (¥) ( JPY)", "Yen", "Yen"),
        ("Names\t" + ", ".join(["Varn"] * 30), "Varn", "Varn"),
    ],
)
def test_a_row_with_several_values_gives_them_all(row: str, marked: str, whole: str) -> None:
    """A list of names in an infobox is the answer as a whole, without figures beside it, unless it is very long."""
    start = row.index(marked)
    span = with_other_values(row, AnswerSpan(start, start + len(marked)))
    assert row[span.start : span.end] == whole
