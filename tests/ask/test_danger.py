"""Numbers that can hurt: which questions ask for one, what is said beside the answer, and what its quote keeps."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.ask.danger import Danger, DangerKind, danger_of, danger_table, verbatim_notice
from kiwiresearch.text.words import plain_lower

LABELLED = tomllib.loads((Path(__file__).parent / "danger_questions.toml").read_text(encoding="utf-8"))
DANGEROUS = [(question, kind) for kind, questions in LABELLED["dangerous"].items() for question in questions]
MAX_FALSE_ALARMS = 0.005


@pytest.mark.parametrize(("question", "kind"), DANGEROUS)
def test_a_question_for_a_dangerous_number_is_recognized(question: str, kind: str) -> None:
    """However it is worded, a question for a dose, a voltage, a dilution or the like is found, with its words."""
    danger = danger_of(question)
    assert danger is not None
    assert danger.kind == kind
    assert danger.cue in question


@pytest.mark.parametrize("question", LABELLED["harmless"]["questions"])
def test_a_harmless_question_is_not_an_alarm(question: str) -> None:
    """The history of a drug, voltage as a notion, or a number of the dead is answered like any other question."""
    assert danger_of(question) is None


def test_a_pattern_is_passed_over_only_where_it_finds_nothing() -> None:
    """A pattern that needs a word of a group is not tried on texts without one, and would find nothing there."""
    table = danger_table("eng")
    cues = [rule.cue for rule in (*table.rules, *table.numbers)]
    assert any(cue.needed_groups for cue in cues)
    for question in (*LABELLED["harmless"]["questions"], *(question for question, _ in DANGEROUS)):
        text = plain_lower(question)
        for cue in cues:
            found, without_shortcut = cue.search(text), cue.pattern.search(text)
            assert (found and found.span()) == (without_shortcut and without_shortcut.span())


def test_the_table_is_large_and_has_every_kind() -> None:
    """No kind of danger goes without labelled questions."""
    assert len(DANGEROUS) >= 60
    assert len(LABELLED["harmless"]["questions"]) >= 60
    assert {kind for _, kind in DANGEROUS} == set(get_args(DangerKind))


@pytest.mark.parametrize(
    ("question", "passage", "kind"),
    [
        ("How is malaria treated?", "Quinine is given at 10 mg/kg every eight hours.", "dose"),
        ("How is malaria treated?", "Malaria is treated with quinine in 80 countries.", None),
        ("Who first treated malaria?", "Quinine is given at 10 mg/kg every eight hours.", None),
        ("How do I clean a floor?", "Use 50 ml of household bleach in five litres of water.", "dilution"),
        ("What should I do after a shock?", "The mains socket carries 230 V in Europe.", "electricity"),
        ("How long is the Nile?", "Adults take 500 mg daily.", None),
        ("How should I handle it?", "The lethal dose is about 50 micrograms.", "toxicity"),
    ],
)
def test_advice_that_hinges_on_a_number_in_the_passage_is_dangerous_too(
    question: str, passage: str, kind: str | None
) -> None:
    """A question that asks what to do is dangerous if the passage answers it with such a number."""
    danger = danger_of(question, ["Nothing of note stands here.", passage])
    assert (danger.kind if danger else None) == kind
    assert danger is None or danger.cue in passage


def test_any_case_and_spelling_of_units_is_read() -> None:
    """Capitals, curly apostrophes and figures without a space change nothing."""
    assert danger_of("HOW MUCH PARACETAMOL CAN I TAKE?") == Danger("dose", "HOW MUCH PARACETAMOL")
    assert danger_of("What’s the dose of 500mg ibuprofen for a child?") is not None
    assert danger_of("Is 500mg of ibuprofen too much?") is not None


def test_a_language_without_a_table_is_read_with_the_english_one() -> None:
    """A missing table, or an unknown language code, never switches the guard off."""
    assert danger_of("How much morphine is lethal?", language="tlh") is not None
    assert danger_of("How much morphine is lethal?", language="../eng") is not None


@pytest.mark.parametrize("kind", get_args(DangerKind))
def test_each_kind_has_one_plain_sentence_beside_it(kind: DangerKind) -> None:
    """The notice says that the words are the book's, that the book may be out of date, and whom to ask."""
    notice = verbatim_notice(Danger(kind, "cue"))
    assert notice.endswith(".")
    assert notice.count(". ") == 0
    assert "book's own words" in notice
    assert "old" in notice or "out of date" in notice or "book cannot know" in notice
    assert any(word in notice for word in ("ask", "call", "follow", "let"))


@given(st.text(max_size=300), st.lists(st.text(max_size=200), max_size=3))
def test_any_text_is_read_without_harm(question: str, passages: list[str]) -> None:
    """No question and no passage makes it fail, and a cue is always in one of them."""
    danger = danger_of(question, passages)
    assert danger is None or any(danger.cue in text for text in (question, *passages))


def test_real_questions_raise_few_alarms(shared_data: Path) -> None:
    """Of questions that people asked about an encyclopedia, hardly any is taken for a dangerous one."""
    files = ("schools/cmu", "schools/nq", "schools/squad", "schools/strategyqa", "squad/questions")
    lines = [
        line
        for name in files
        for line in (shared_data / "qa" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    questions = [json.loads(line)["question"] for line in lines[::20]]
    alarms = [question for question in questions if danger_of(question)]
    assert len(alarms) <= MAX_FALSE_ALARMS * len(questions), alarms
