"""What the evaluations of answers count: when a gold answer is in a text, which rows are asked, what is absent."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from evals.absences import absent_rows, is_absent, lacks_words, sample_evenly
from evals.absent import curve, curve_table
from evals.ask import SETS, SetResults, table
from evals.asked import MAX_PASSAGES, JudgedAnswer, judge
from evals.golds import Row, has_answer, load_rows, max_tokens, normalize, sample
from evals.windows import BaselineResult
from tests.zim.memory import MemoryArchive

from kiwiresearch.ask.answer import (
    GENERAL,
    Answer,
    AnswerBook,
    AnswerCitation,
    AnswerSentence,
    ExaminedPage,
    Passage,
    key_of,
)
from kiwiresearch.evidence import Citation, recorded_quote
from kiwiresearch.ids import BookId
from kiwiresearch.zim.archive import EntryRef
from kiwiresearch.zim.libzim import LibzimArchive

BOOK = AnswerBook("b1", "schools", "Schools", "2007", "", "eng")
ROW = Row("When was the fire?", ("1180 bc",), "Hattusa")
FIRE = "It burned about 1180 BC."


def a_passage(text: str, path: str = "Hattusa") -> Passage:
    return Passage(EntryRef(BookId("b1"), path), path, "", "", "text", 0, len(text), text)


def an_answer(text: str = FIRE, *, path: str = "Hattusa", grounded: bool = True) -> Answer:
    """One sentence of one page, cited and shown."""
    ref = EntryRef(BookId("b1"), path)
    key = key_of(ref, 0, len(text))
    citation = AnswerCitation(
        key, Citation(recorded_quote(ref, 0, len(text), text), "schools", path, "", ""), BOOK, text
    )
    return Answer(
        ROW.question, ROW.question, "title", "", grounded=grounded, text=text, lines=(AnswerSentence(text, (key,)),),
        citations=(citation,), passages=(a_passage(text, path),), pages=(ExaminedPage(ref, path, 1.0),), confidence=0.6,
    )  # fmt: skip


JUDGED = judge(ROW, an_answer(), normalize(FIRE))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The  Hittites' \u201cgreat\u201d king, a man.", "hittites great king man"),
        ("1914\u20131918", "1914 1918"),
        ("Austria/Hungary and well-known", "austria hungary and well known"),
        ("$1,000.50 (U.S.)", "100050 us"),
        ("Caf\u00e9 \ufb01ve \u2075", "caf\u00e9 five 5"),
        ("STRASSE stra\u00dfe", "strasse strasse"),
        ("another theatre", "another theatre"),
        ("The", ""),
    ],
)
def test_texts_are_compared_by_their_words(text: str, words: str) -> None:
    """Case, marks, articles, forms of letters and white space do not count, and dashes part words."""
    assert normalize(text) == words
    assert normalize(words) == words


@pytest.mark.parametrize(
    ("text", "answer", "stands"),
    [
        ("The start of it.", "art", False),
        ("It is art.", "art", True),
        ("In 11801 or 21180.", "1180", False),
        ("From 1180-1178 BC.", "1180", True),
        ("King of the\nHittites", "king of Hittites", True),
        ("King, and of Hittites", "king of Hittites", False),
        ("", "king", False),
    ],
)
def test_a_gold_answer_is_in_a_text_as_whole_words(text: str, answer: str, *, stands: bool) -> None:
    """An answer inside a longer word, or with other words between its own, does not count."""
    assert has_answer(text, (normalize(answer),)) is stands


def test_any_of_the_answers_will_do_and_none_is_in_nothing() -> None:
    """One of several answers is enough; a row without answers is never answered."""
    assert has_answer("Built of stone", ("wood", "stone"))
    assert not has_answer("Built of stone", ())


def a_set(folder: Path, *rows: tuple[str, list[str], str]) -> Path:
    file = folder / "set.jsonl"
    lines = (json.dumps({"question": question, "answers": answers, "path": path}) for question, answers, path in rows)
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def test_rows_know_whether_they_want_yes_or_no(tmp_path: Path) -> None:
    """Yes or no before a mark is such a reply; a name that begins so is not; empty answers are left out."""
    file = a_set(
        tmp_path,
        ("a", ["yes", "Yes."], "P"),
        ("b", ["No, there are none."], "P"),
        ("c", ["No Child Left Behind"], "P"),
        ("d", ["no longer"], "P"),
        ("e", ["the", "The Sun", "Sun"], "P"),
    )
    rows = {row.question: row for row in load_rows(file)}
    assert [name for name, row in sorted(rows.items()) if row.yes_or_no] == ["a", "b"]
    assert rows["e"].answers == ("sun",)


def test_a_sample_takes_of_every_page_its_share(tmp_path: Path) -> None:
    """However the rows lie in the file, each n-th has a page as often as all rows have it, and always the same ones."""
    rows = [(f"{path} {number}", ["x"], path) for number in range(40) for path in "ABC"]
    taken = sample(load_rows(a_set(tmp_path, *rows)), 8)
    assert [sum(row.path == path for row in taken) for path in "ABC"] == [5, 5, 5]
    assert taken == sample(load_rows(a_set(tmp_path, *rows)), 8)
    assert len(sample(load_rows(a_set(tmp_path, *rows)), 1)) == len(rows)


def test_an_answer_is_judged_by_its_gold() -> None:
    """Text with the gold answer, and the right page, are counted separately."""
    assert (
        replace(
            JUDGED,
            answerable=True,
            gold_in_passages=True,
            gold_page_in_top_3=True,
            gold_in_answer=True,
            gold_in_first_sentence=True,
            has_citations=True,
        )
        == JUDGED
    )
    assert not JUDGED.cites_other_page
    wrong = judge(ROW, an_answer("Nobody knows.", path="Troy"), normalize("Nothing of it."))
    assert not any(
        (
            wrong.answerable,
            wrong.gold_in_passages,
            wrong.gold_page_in_top_3,
            wrong.gold_in_answer,
            wrong.gold_in_first_sentence,
        )
    )
    assert wrong.cites_other_page


def test_a_refusal_counts_as_without_the_answer() -> None:
    """Words that do not rest on a book count as a refusal, even if they are right."""
    general = judge(ROW, replace(an_answer(GENERAL + FIRE, grounded=False), citations=()), normalize(FIRE))
    assert general.answerable
    assert not any((general.answered, general.gold_in_answer, general.gold_in_first_sentence, general.has_citations))


def test_yes_or_no_is_never_answerable_by_a_quote() -> None:
    """A page that happens to have the word "no" does not answer such a question."""
    assert not judge(Row("Was it?", ("no",), "Hattusa", yes_or_no=True), an_answer(), "no it was not").answerable


@pytest.mark.parametrize(
    "passages",
    [[a_passage(FIRE)] * (MAX_PASSAGES + 1), [a_passage(FIRE), a_passage("word " * 2_030)]],
    ids=["too many", "too long"],
)
def test_passages_beyond_the_bounds_count_for_nothing(passages: list[Passage]) -> None:
    """More than six passages, or more than 2,700 tokens, count as nothing, whatever is in them."""
    judged = judge(ROW, replace(an_answer(), passages=tuple(passages)), normalize(FIRE))
    assert (judged.within_limits, judged.gold_in_passages) == (False, False)
    assert max_tokens(["word " * 2_030]) <= 2_700 < max_tokens(["word " * 2_031])


def test_the_first_three_pages_are_counted_once_each() -> None:
    """A page that is listed twice takes one place."""
    looked = [ExaminedPage(EntryRef(BookId("b1"), path), path, 1.0) for path in ("A", "A", "B", "Hattusa", "C")]
    assert judge(ROW, replace(an_answer(), pages=tuple(looked)), "").gold_page_in_top_3
    assert not judge(ROW, replace(an_answer(), pages=(*looked[:3], looked[4], looked[3])), "").gold_page_in_top_3


def test_the_short_answer_is_right_where_it_has_the_gold() -> None:
    """A marked answer may say more than the gold, not less."""
    for short, marked, right in (("about 1180 BC", True, True), ("1180", True, False), ("", False, False)):
        judged = judge(ROW, replace(an_answer(), short=short), "")
        assert (judged.has_short_answer, judged.short_answer_is_right) == (marked, right)


def test_the_table_has_a_column_for_each_set_and_way() -> None:
    """Every figure is a row, with as many values as there are columns."""
    results = SetResults((ROW,), (BaselineResult(gold_in_passages=True, top_pages=("Hattusa",)),), (JUDGED,))
    lines = table({"nq": results, "nq_bare": results})
    assert lines[0] == "| figure | nq | nq_bare |"
    assert "| held_in_passages | 1.0000 | 1.0000 |" in lines
    assert "| windows_page_at_3 | 1.0000 | 1.0000 |" in lines
    assert {line.count("|") for line in lines} == {4}


def test_a_name_is_absent_if_no_page_and_no_title_has_all_of_it() -> None:
    """Its words on different pages are not a trace of it; a redirect's title is."""
    archive = MemoryArchive({"Naomi": "<p>Ruth and Naomi</p>", "Japan": "<p>Tokyo, Osaka</p>"}, {"Big_Ben": "Japan"})
    titles = [frozenset(normalize(entry.title).split()) for entry in archive.titles()]
    assert is_absent(archive, titles, "Naomi Osaka")
    assert not is_absent(archive, titles, "the Big Ben")
    assert not is_absent(archive, titles, "Osaka")


def test_a_page_lacks_what_no_word_of_it_begins_with() -> None:
    """Marks before a word do not hide it, and every word that begins so counts, which errs on the safe side."""
    archive = MemoryArchive({"A": "<p>She kept two (Dogs) and \u201ccats\u201d.</p>"})
    assert lacks_words(archive, "A", ["bird", "og"])
    assert not lacks_words(archive, "A", ["dog"])
    assert not lacks_words(archive, "A", ["cat"])


def test_things_are_taken_at_even_distances() -> None:
    """The same ones each time, from the whole range, and all where there are few."""
    assert sample_evenly("abcdefgh", 4) == ["b", "d", "f", "h"]
    assert sample_evenly("ab", 4) == ["a", "b"]
    assert sample_evenly("", 4) == []


def test_there_are_a_hundred_questions_that_the_real_book_cannot_answer(shared_data: Path) -> None:
    """They are all different, and more than half are about names."""
    zims = shared_data / "zims"
    rows = absent_rows(LibzimArchive(zims / "schools-2007.zim"), zims / "schools-2007.subjects.json")
    assert len(rows) == len({row.question for row in rows}) == 100
    assert sum(not row.path for row in rows) == 60


def test_a_higher_threshold_refuses_more_and_answers_less() -> None:
    """The curve begins with all that was answered, and what was refused anyway stays refused."""

    def at(confidence: float, *, right: bool = True, answered: bool = True) -> JudgedAnswer:
        return replace(JUDGED, confidence=confidence, gold_in_answer=right and answered, answered=answered)

    points = curve([at(0.9), at(0.5, right=False), at(0.2)], [at(0.3), at(0.0, answered=False)], [at(0.1)])
    first, last = points[0], points[-1]
    assert (first.answered, first.right, first.squad_refused, first.absent_refused) == (1, 2 / 3, 0.5, 0)
    assert (last.answered, last.right, last.squad_refused, last.absent_refused) == (0, 0, 1, 1)
    assert curve_table(points)[2] == "| 0.00 | 1.00 | 0.67 | 0.67 | 0.50 | 0.00 |"


def test_the_gate_asks_enough_of_every_set(shared_data: Path) -> None:
    """If a set is sampled, so many rows are left that one row is no more than a hundredth."""
    for question_set in SETS.values():
        rows = load_rows(shared_data / "qa" / question_set.file)
        assert question_set.every == 1 or len(sample(rows, question_set.every)) >= 100
