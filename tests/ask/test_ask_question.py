"""What a question asks for: the kind of answer, the words that matter, and the things it compares."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.ask.question import comparison_in, read_question


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Who painted the ceiling of the Sistine Chapel?", "person"),
        ("Whom did Penelope wait for?", "person"),
        ("Whose armies crossed the Alps with elephants?", "person"),
        ("By whom was the lighthouse designed?", "person"),
        ("Which king signed the charter?", "person"),
        ("Which scientist named the electron?", "person"),
        ("The printing press was invented by whom?", "person"),
        ("The first lighthouse keeper was who?", "person"),
        ("When did the mill burn down?", "date"),
        ("In what year was the canal opened?", "date"),
        ("In which century did the plague reach Norway?", "date"),
        ("What year did the last tram run?", "date"),
        ("On what date was the treaty signed?", "date"),
        ("Since when has the bridge been closed?", "date"),
        ("The railway was finished in what year?", "date"),
        ("The war ended when?", "date"),
        ("The treaty was signed in which year?", "date"),
        ("what day did the flood come", "date"),
        ("Where do puffins nest?", "place"),
        ("Where was the first observatory built?", "place"),
        ("In which country is Lake Tana?", "place"),
        ("What city is the seat of the archbishop?", "place"),
        ("From what island did the settlers come?", "place"),
        ("Which river flows through the gorge?", "place"),
        ("The comet was first seen from where?", "place"),
        ("The statue stands in which town?", "place"),
        ("How many moons does Neptune have?", "number"),
        ("How much does a cubic metre of water weigh?", "number"),
        ("How far is the Moon from the Earth?", "number"),
        ("How tall is the old oak?", "number"),
        ("How deep is the trench?", "number"),
        ("How long is the tunnel?", "number"),
        ("How fast can a hare run?", "number"),
        ("What percentage of the sea is salt?", "number"),
        ("What is the population of Malta?", "number"),
        ("What is the height of the tower?", "number"),
        ("At what temperature does lead melt?", "number"),
        ("At what age did she learn to swim?", "number"),
        ("Why do leaves fall in autumn?", "reason"),
        ("Why is the desert cold at night?", "reason"),
        ("What causes tides?", "reason"),
        ("What caused the fire of 1666?", "reason"),
        ("For what reason was the abbey closed?", "reason"),
        ("What led to the revolt?", "reason"),
        ("How does a lock lift a boat?", "manner"),
        ("How is paper made?", "manner"),
        ("How do bees find their hive?", "manner"),
        ("What is a tariff?", "definition"),
        ("What are glaciers?", "definition"),
        ("What's a sextant?", "definition"),
        ("What was the Hanseatic League?", "definition"),
        ("Define entropy", "definition"),
        ("Tell me about lighthouses", "definition"),
        ("Explain photosynthesis", "definition"),
        ("Who was Ada Lovelace?", "definition"),
        ("Who is Odin?", "definition"),
        ("Which metal is liquid at room temperature?", "choice"),
        ("What animal has three hearts?", "choice"),
        ("What colour is the inside of a mussel?", "choice"),
        ("Is the whale a fish?", "yes_no"),
        ("Are bats blind?", "yes_no"),
        ("Did the Vikings reach America?", "yes_no"),
        ("Can penguins fly?", "yes_no"),
        ("Does sound travel in space?", "yes_no"),
        ("Was the tower ever finished?", "yes_no"),
        ("Isn't glass a liquid?", "yes_no"),
        ("history of the umbrella", "topic"),
        ("lighthouses of Brittany", "topic"),
        ("Bronze Age collapse", "topic"),
        ("On which continent do lemurs live?", "place"),
    ],
)
def test_question_words_give_the_kind_of_answer(text: str, kind: str) -> None:
    """A question asks for a person, a date, a place and so on, by its start or its end."""
    assert read_question(text).kind == kind


@pytest.mark.parametrize("change", [str.upper, str.lower, lambda text: f"  {text} ", lambda text: f'"{text}"'])
@pytest.mark.parametrize(
    "text", ["Who built the mill?", "In what year was the canal opened?", "How many oxen were sold?"]
)
def test_the_way_it_is_typed_does_not_matter(text: str, change: object) -> None:
    """Capitals, quotation marks and white space around a question leave its kind as it is."""
    assert callable(change)
    assert read_question(change(text)).kind == read_question(text).kind


def test_only_words_that_matter_are_looked_for() -> None:
    """Words that ask and small words are not terms of the question."""
    question = read_question("Where is the oldest windmill of the island?")
    assert [term.term.word for term in question.terms] == ["oldest", "windmill", "island"]


def test_words_that_only_ask_are_marked() -> None:
    """'Year' says what kind of answer is wanted; a sentence that answers seldom has it."""
    question = read_question("In what year was the harbour dug?")
    assert {term.term.word: term.is_asking for term in question.terms} == {
        "year": True,
        "harbour": False,
        "dug": False,
    }


@pytest.mark.parametrize(
    ("text", "word", "other"),
    [
        ("Who was the smith's wife?", "wife", "married"),
        ("Where was the painter born?", "born", "birth"),
        ("When was the castle built?", "built", "constructed"),
        ("How tall is the mast?", "tall", "height"),
        ("Who taught the blind boy?", "taught", "teach"),
        ("Who stole the crown?", "stole", "stolen"),
        ("What is the population of the valley?", "population", "inhabitants"),
    ],
)
def test_other_words_may_replace_a_word(text: str, word: str, other: str) -> None:
    """An answer may say 'married' where the question says 'wife', and use other forms of a verb."""
    others = next(term.related for term in read_question(text).terms if term.term.word == word)
    assert other in others
    assert word not in others


@pytest.mark.parametrize(
    ("text", "things", "kind"),
    [
        ("Which is older, the Blue Mill or the Red Mill?", ("Blue Mill", "Red Mill"), "date"),
        ("Who was born first, Ada Lovelace or Mary Somerville?", ("Ada Lovelace", "Mary Somerville"), "date"),
        ("Which river is longer, the Nile or the Amazon?", ("Nile", "Amazon"), "number"),
        ("Which mountain is higher, K2 or Denali", ("K2", "Denali"), "number"),
        ("Which is larger between Malta and Iceland?", ("Malta", "Iceland"), "number"),
        ("Are whales heavier than elephants?", ("whales", "elephants"), "number"),
        ("WHICH IS OLDER, ROME OR ATHENS?", ("ROME", "ATHENS"), "date"),
    ],
)
def test_two_things_that_are_compared_are_asked_for_each(text: str, things: tuple[str, str], kind: str) -> None:
    """'Which is older, A or B?' becomes a question about A and the same question about B."""
    compared = comparison_in(read_question(text))
    assert compared is not None
    assert compared.things == things
    assert [question.kind for question in compared.questions] == [kind, kind]
    for thing, question in zip(things, compared.questions, strict=True):
        assert {word.casefold() for word in thing.split()} <= set(question.query.words)


@pytest.mark.parametrize(
    "text",
    [
        "When was the mill built?", "Is water wet or dry?", "Is it older or newer?", "Which is older?",
        "What is older than the pyramids?", "older", "bread or cheese", "Who was the first keeper of the lighthouse?",
    ],
)  # fmt: skip
def test_other_questions_compare_nothing(text: str) -> None:
    """A question that does not set one thing beside another is asked as a whole."""
    assert comparison_in(read_question(text)) is None


@pytest.mark.parametrize("language", ["deu", "fra", "rus", "jpn", "ara", "xxx", ""])
@pytest.mark.parametrize(
    "text", ["Wann wurde Bach geboren?", "Где находится Троя?", "東京の人口は？", "أين تقع طروادة؟"]
)
def test_a_language_nobody_wrote_down_has_words_but_no_kind(text: str, language: str) -> None:
    """Questions of other languages are looked for by their words alone."""
    question = read_question(text, language)
    assert question.kind == "topic"
    assert question.terms
    assert not any(term.is_asking or term.related for term in question.terms)
    assert comparison_in(question) is None


@given(st.text(max_size=300))
def test_any_text_is_taken_apart(text: str) -> None:
    """Whatever is typed, reading it as a question does not fail, and gives the same each time."""
    question = read_question(text)
    assert question == read_question(text)
    assert question.text == text
    comparison_in(question)
