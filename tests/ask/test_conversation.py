"""Follow-up questions: what they mean after what was asked before, and which questions are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.ask.conversation import resolve
from kiwiresearch.ask.settings import ConversationTurn
from kiwiresearch.text.languages import language_words
from kiwiresearch.text.words import fold

DARWIN = "When was Charles Darwin born?"
FRANCE = "What is the capital of France?"
CURIE = "Who was Marie Curie?"
TOWER = "How tall is the Eiffel Tower?"
HASTINGS = "When was the Battle of Hastings?"


def after(*questions: str | ConversationTurn) -> list[ConversationTurn]:
    """The turns of a conversation; a question alone has neither subject nor answer."""
    return [turn if isinstance(turn, ConversationTurn) else ConversationTurn(turn) for turn in questions]


@pytest.mark.parametrize(
    ("turns", "question", "meant"),
    [
        # whose something it is
        ([DARWIN], "and his wife?", "Who was Charles Darwin's wife?"),
        ([DARWIN], "And his children?", "Who were Charles Darwin's children?"),
        ([DARWIN], "his books?", "What are Charles Darwin's books?"),
        ([DARWIN], "what about his father?", "Who was Charles Darwin's father?"),
        ([DARWIN], "wife?", "Who was the wife of Charles Darwin?"),
        ([DARWIN], "who was his father?", "who was Charles Darwin's father?"),
        ([DARWIN], "What was the cause of his death?", "What was the cause of Charles Darwin's death?"),
        ([DARWIN], "Did his mother die young?", "Did Charles Darwin's mother die young?"),
        ([FRANCE], "and its population?", "What is France's population?"),
        ([FRANCE], "what is its currency?", "what is France's currency?"),
        # pronouns
        ([DARWIN], "when did he die?", "when did Charles Darwin die?"),
        ([DARWIN], "and when did he die?", "when did Charles Darwin die?"),
        ([DARWIN], "How old was he when he died?", "How old was Charles Darwin when he died?"),
        ([DARWIN], "What university did he attend?", "What university did Charles Darwin attend?"),
        ([DARWIN], "Did he live in London?", "Did Charles Darwin live in London?"),
        ([DARWIN], "What made him famous?", "What made Charles Darwin famous?"),
        ([DARWIN], "Is it true that he was ill?", "Is it true that Charles Darwin was ill?"),
        ([CURIE], "Who married her?", "Who married Marie Curie?"),
        ([CURIE], "What are her discoveries?", "What are Marie Curie's discoveries?"),
        ([TOWER], "When was it built?", "When was the Eiffel Tower built?"),
        ([TOWER], "Is it taller than Big Ben?", "Is the Eiffel Tower taller than Big Ben?"),
        (["Who designed the Eiffel Tower?"], "how tall is it?", "how tall is the Eiffel Tower?"),
        (["What is a transistor?"], "How does it work?", "How does a transistor work?"),
        (["Are elephants mammals?"], "Do they live in herds?", "Do elephants live in herds?"),
        (["what is the capital of france"], "how big is it?", "how big is france?"),
        ([FRANCE], "how many people live there?", "how many people live in France?"),
        (["Was Lincoln born in Kentucky?"], "who lives there?", "who lives in Kentucky?"),
        (["What happened in 1066?"], "Who was king then?", "Who was king in 1066?"),
        (["What is the Nile?"], "How long is this one?", "How long is the Nile?"),
        ([FRANCE], "When was that country founded?", "When was France founded?"),
        (["Did Lincoln sign the Banking Act of 1863?"], "Where was he born?", "Where was Lincoln born?"),
        (["What is a fever in a child?"], "How much may I give him?", "How much may I give a child?"),
        (["Where is the Taj Mahal?"], "Can you visit it?", "Can you visit the Taj Mahal?"),
        (["Is a whale a mammal?"], "Or is it a fish?", "is a whale a fish?"),
        (["When did World War II end?"], "who was king at that time?", "who was king at World War II?"),
        (["What is gravity?"], "explain that", "explain gravity"),
        # another name, noun, place or year in the last question
        ([FRANCE], "what about Germany?", "What is the capital of Germany?"),
        ([FRANCE], "And Spain?", "What is the capital of Spain?"),
        ([FRANCE], "and in Italy?", "What is the capital of Italy?"),
        (["what is the capital of france"], "and germany?", "what is the capital of germany"),
        (["What is France's capital?"], "and Austria's?", "What is Austria's capital?"),
        ([TOWER], "what about Big Ben?", "How tall is Big Ben?"),
        ([TOWER], "how about the Empire State Building?", "How tall is the Empire State Building?"),
        (["How many moons does Jupiter have?"], "And Mars?", "How many moons does Mars have?"),
        (["Was Lincoln born in Kentucky?"], "what about Indiana?", "Was Lincoln born in Indiana?"),
        (["how do birds fly?"], "what about bats?", "how do bats fly?"),
        (["Do dogs dream?"], "and cats?", "Do cats dream?"),
        (["What is the boiling point of water?"], "what about iron?", "What is the boiling point of iron?"),
        (["What is photosynthesis?"], "and respiration?", "What is respiration?"),
        (["Who was king of England in 1800?"], "and in 1900?", "Who was king of England in 1900?"),
        (["Who was king of England?"], "and in 1900?", "Who was king of England in 1900?"),
        (["Who was king of England in 1800?"], "and 1900?", "Who was king of England in 1900?"),
        (["How much quinine can an adult take?"], "And for a child?", "How much quinine can a child take?"),
        (["How much quinine can an adult take?"], "what about children?", "How much quinine can children take?"),
        (["How much Panadol may an adult take?"], "and a child?", "How much Panadol may a child take?"),
        (["How many children had Karl Marx?"], "and the children?", "Who were the children of Karl Marx?"),
        (["How much quinine can an adult take?"], "and aspirin?", "How much aspirin can an adult take?"),
        (["Where do penguins live?"], "And polar bears?", "Where do polar bears live?"),
        # a side of the subject
        ([FRANCE], "population?", "What is the population of France?"),
        ([FRANCE], "and the population?", "What is the population of France?"),
        ([FRANCE], "What is the population?", "What is the population of France?"),
        ([FRANCE], "what about the currency?", "What is the currency of France?"),
        ([HASTINGS], "who won?", "who won (the Battle of Hastings)?"),
        ([HASTINGS], "And who won?", "who won (the Battle of Hastings)?"),
        # the word that asks, alone
        (["Was Lincoln shot?"], "Why?", "Why was Lincoln shot?"),
        ([DARWIN], "where?", "Where was Charles Darwin born?"),
        ([DARWIN], "And where?", "Where was Charles Darwin born?"),
        (["The sky is blue"], "Why is that?", "Why the sky is blue?"),
        # more
        ([DARWIN], "tell me more", "Tell me about Charles Darwin"),
        ([DARWIN], "And?", "Tell me about Charles Darwin"),
        ([HASTINGS], "go on", "Tell me about the Battle of Hastings"),
        ([HASTINGS], "What happened next?", "Tell me about the Battle of Hastings"),
        # long conversations
        ([DARWIN, "and his wife?"], "when did she die?", "when did Charles Darwin's wife die?"),
        ([DARWIN, "and his wife?"], "when did he die?", "when did Charles Darwin die?"),
        ([CURIE, "Who was her husband?"], "What did he discover?", "What did Marie Curie's husband discover?"),
        ([CURIE, "Who was her husband?"], "when did she die?", "when did Marie Curie die?"),
        ([DARWIN, "where?", "why?", "tell me more"], "when did he die?", "when did Charles Darwin die?"),
        ([FRANCE, "what about Germany?"], "and its population?", "What is Germany's population?"),
        ([FRANCE, "and Spain?", "and Italy?"], "and Greece?", "What is the capital of Greece?"),
        ([DARWIN, FRANCE], "and its flag?", "What is France's flag?"),
        ([DARWIN, "   "], "when did he die?", "when did Charles Darwin die?"),
        # what the answer or the caller says
        (
            [ConversationTurn("Who wrote Hamlet?", "Hamlet", "Hamlet is a tragedy by William Shakespeare.")],
            "when was he born?",
            "when was William Shakespeare born?",
        ),
        (["Who wrote Hamlet?"], "when was he born?", "when was the person who wrote Hamlet born?"),
        (
            ["Who was the first president of the United States?"],
            "when did he die?",
            "when did the first president of the United States die?",
        ),
        (
            [ConversationTurn("who was on the beagle", "Charles Darwin")],
            "and his wife?",
            "Who was Charles Darwin's wife?",
        ),
        (["What is methanol?"], "Is it safe to drink?", "Is methanol safe to drink?"),
        ([ConversationTurn("How big is the red planet?", "Mars (planet)")], "Is it cold?", "Is Mars (planet) cold?"),
    ],
)  # fmt: skip
def test_a_follow_up_is_asked_in_full(turns: list[str | ConversationTurn], question: str, meant: str) -> None:
    """What a question leaves out is put in from the turns before, and it says why."""
    resolved = resolve(question, after(*turns))
    assert resolved.text == meant
    assert resolved.subject
    assert resolved.why.endswith(".")


@pytest.mark.parametrize(
    "question",
    [
        "Did Lincoln and his wife live in Kentucky?",
        "did lincoln and his wife live in kentucky",
        "Why does a cat lick its paws?",
        "Why do birds lose their feathers?",
        "What is a volcano and how does it erupt?",
        "Which country changed its flag?",
        "Which king died in his bed?",
        "When he was president, did Lincoln travel?",
        "In his youth, where did Lincoln live?",
        "Which of his sisters did Chopin visit?",
        "What did Newton write before he died?",
        "Who is Isaac Newton and what was his theory?",
        "Is it true that Newton was ill?",
        "Is it safe to swim in the Nile?",
        "How long does it take to fly to Mars?",
        "What time is it?",
        "How many kinds of otter are there?",
        "Are there lions in India?",
        "Who said that the Earth moves?",
        "If a cat falls, does it land on its feet?",
        "How does the heart change its rate?",
        "What language do they speak in Brazil?",
        "Which company has its seat in Oslo?",
        "What is photosynthesis?",
        "What is the capital of Peru?",
        "What is the meaning of life?",
        "What is history?",
        "tell me more about Germany",
        "Germany?",
        "Photosynthesis",
        "how do volcanoes erupt",
        "Why is the sky blue?",
        "Who won the Battle of Trafalgar?",
        "what was the population of the roman empire at its height",
        "And Quiet Flows the Don is by whom?",
        "Then and now: how did Rome change?",
    ],
)
def test_a_question_that_names_its_subject_is_left_alone(question: str) -> None:
    """A question that is complete by itself is not changed by a conversation about something else."""
    resolved = resolve(question, after(DARWIN, TOWER))
    assert resolved.text == question
    assert resolved.why == ""


def test_a_person_is_never_made_of_a_thing() -> None:
    """If nobody was spoken of, 'him' stays as it is: "how much can I give a fever?" would be another question."""
    assert resolve("How much can I give him?", after("What is a fever?")).text == "How much can I give him?"


def test_the_subject_goes_on_to_the_next_turn() -> None:
    """A resolved question names its subject, so that a caller can hand it back with the turn."""
    assert resolve(DARWIN, []).subject == "Charles Darwin"
    assert resolve("and his wife?", after(DARWIN)).subject == "Charles Darwin"
    assert resolve("what about Germany?", after(FRANCE)).subject == "Germany"
    assert resolve("how do volcanoes erupt", []).subject == "volcanoes"


def test_without_turns_or_a_table_nothing_changes() -> None:
    """The first question of a conversation, and one in a language that is not known, stay as they are."""
    assert resolve("and his wife?", []).text == "and his wife?"
    assert resolve("und seine Frau?", after(DARWIN), "deu").text == "und seine Frau?"
    assert resolve("and his wife?", after(DARWIN), "../eng").text == "and his wife?"


WORDS = st.sampled_from(
    [
        "and",
        "his",
        "her",
        "it",
        "its",
        "they",
        "there",
        "then",
        "that",
        "this",
        "one",
        "what",
        "about",
        "who",
        "was",
        "is",
        "did",
        "the",
        "of",
        "in",
        "1900",
        "Darwin",
        "Rome",
        "wife",
        "why",
        "?",
        ",",
        "'s",
    ]
)
LINES = st.one_of(st.lists(WORDS, max_size=9).map(" ".join), st.text(max_size=60))


@given(LINES, st.lists(st.builds(ConversationTurn, LINES, st.sampled_from(["", "Rome"]), LINES), max_size=4))
def test_any_conversation_can_be_resolved(question: str, turns: list[ConversationTurn]) -> None:
    """No words make it fail; what is not changed has no reason, and what is changed has one."""
    resolved = resolve(question, turns)
    assert (resolved.text != question) <= (resolved.why != "")
    assert resolve(question, []).text == question


def _asked(shared_data: Path) -> list[tuple[str, str]]:
    files = ("schools/cmu", "schools/squad", "squad/questions")
    texts = [(shared_data / "qa" / f"{name}.jsonl").read_text(encoding="utf-8") for name in files]
    rows = [json.loads(line) for text in texts for line in text.splitlines()]
    return [(row["question"], row["path"]) for row in rows]


def test_real_questions_stay_as_they_are(shared_data: Path) -> None:
    """No first question is changed; of those that name their page, at most one in a hundred after another subject."""
    asked = _asked(shared_data)
    assert [question for question, _ in asked if resolve(question, []).text != question] == []
    common = language_words("eng").stop_words
    named = [
        question
        for question, path in asked[::6]
        if set(fold(question).split()) & set(fold(path.replace("_", " ")).split()) - common
    ]
    turns = [ConversationTurn(TOWER, "Eiffel Tower", "The Eiffel Tower is 330 metres tall.")]
    changed = [question for question in named if resolve(question, turns).text != question]
    assert len(changed) <= len(named) / 100, changed
