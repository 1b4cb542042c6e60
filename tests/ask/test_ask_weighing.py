"""How well a sentence or a row answers: what must raise a score, whatever the weights are."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ask.question_books import a_desk, weighed

from kiwiresearch.ask.answer_match import is_beside_the_place, is_not_the_most, kind_match
from kiwiresearch.ask.question import read_question
from kiwiresearch.ask.score import Strength, strength_of, unit_weights, with_page_nearness
from kiwiresearch.ask.word_matches import word_weights
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.libzim import LibzimArchive

WORDS = ("heron", "lantern", "cellar", "bridge", "winter")
QUESTION = f"Was there {' '.join(WORDS)}?"
KINDS = [
    ("Who kept the lamp of the tower?", "The lamp of the tower was kept by {}.", "Ann Dole", "old sailors"),
    ("When was the lamp of the tower lit?", "The lamp of the tower was lit in {}.", "1811", "spring"),
    ("Where was the lamp of the tower made?", "The lamp of the tower was made in {}.", "Bergen", "haste"),
    ("How many lamps had the tower?", "The tower had {} lamps of brass.", "14", "fine"),
    ("Why was the lamp put out?", "The lamp was put out {} war.", "because of the", "by hand in the"),
]
SENTENCES = [(question, said.format(fitting), said.format(other)) for question, said, fitting, other in KINDS]


def two_sections(one: str, other: str) -> str:
    """Two sentences with equal positions: each is the first of a section that says nothing else."""
    return f"<p>Nothing is said here.</p><h2>Part</h2><p>{one}</p><h2>Piece</h2><p>{other}</p>"


@settings(max_examples=60)
@given(st.sets(st.sampled_from(WORDS), min_size=1), st.data(), st.booleans())
def test_a_sentence_with_more_of_the_words_scores_higher(more: set[str], data: st.DataObject, swapped: bool) -> None:
    """All else equal, a sentence that has a word more of the question has a better score."""
    fewer = more - {data.draw(st.sampled_from(sorted(more)))}
    rich, poor = (" ".join(word if word in held else "thing" for word in WORDS) for held in (more, fewer))
    sentences = [f"They saw {rich} there.", f"They saw {poor} there."]
    html = two_sections(*reversed(sentences)) if swapped else two_sections(*sentences)
    scores = {one.text: one.total for one in weighed(html, QUESTION)}
    assert scores[sentences[0]] > scores.get(sentences[1], float("-inf"))


@pytest.mark.parametrize(
    ("question", "caption", "is_best"),
    [
        ("When did the frost reach Varn?", "Varn, 1360", False),
        ("When did the frost reach Varn?", "The frost reached Varn, 1360", True),
        ("When was the frost?", "The frost, 1360", True),
    ],
)
def test_a_caption_answers_only_with_the_words_of_the_question(question: str, caption: str, *, is_best: bool) -> None:
    """A caption with the name and a date, but without the verb, shows something else than what is asked."""
    html = f"<p>Long ago the hills were cold.</p><figure><figcaption>{caption}</figcaption></figure>"
    assert (weighed(html, question, title="Frost")[0].text == caption) is is_best


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(("question", "fitting", "other"), SENTENCES)
def test_a_sentence_that_has_the_kind_of_answer_goes_first(
    question: str, fitting: str, other: str, swapped: bool
) -> None:
    """Of two sentences with the same words, the one with a person, date, place or number is preferred."""
    html = two_sections(other, fitting) if swapped else two_sections(fitting, other)
    assert weighed(html, question)[0].text == fitting


@pytest.mark.parametrize(("question", "fitting", "other"), SENTENCES)
def test_the_kind_of_answer_is_found_in_a_sentence(question: str, fitting: str, other: str) -> None:
    """A sentence has the kind of answer that is asked for, or it does not."""
    asked = read_question(question)
    assert (kind_match(fitting, asked), kind_match(other, asked)) == (1.0, 0.0)


def test_a_name_of_the_question_is_not_an_answer() -> None:
    """Their own name does not answer who somebody is."""
    asked = read_question("Who taught Ann Dole?")
    assert kind_match("Later Ann Dole was taught at home.", asked) == 0.0
    assert kind_match("Later Ann Dole was taught by Otto Frisch.", asked) == 1.0


def test_a_name_ends_with_its_sentence() -> None:
    """The first word of the next sentence is no part of a name, so it is no new name either."""
    asked = read_question("Who taught Ann Dole?")
    assert kind_match("Lessons were given to Ann Dole. Lessons were dear.", asked) == 0.0
    assert kind_match("Lessons were given by J. R. Holm.", asked) == 1.0


BOX = (
    "<table class='infobox'><tr><th>Mayor</th><td>Ann Dole</td></tr><tr><th>Population</th><td>4,100</td></tr>"
    "<tr><th>Population density</th><td>31 per km2</td></tr></table>"
    "<p>Port Ellis is a town on the coast. Its harbour is old.</p>"
)


def test_the_row_whose_label_is_asked_for_answers() -> None:
    """'Population' is the label that is asked for; 'Population density' says something that is not."""
    best = weighed(BOX, "What is the population of Port Ellis?", title="Port Ellis")[0]
    assert best.text == "Population\t4,100"
    assert "box label" in best.features


def test_the_heading_above_a_row_is_a_part_of_its_label() -> None:
    """'Population', and below it 'Total' and 'Urban': the total is what is asked for."""
    html = (
        "<table class='infobox'><tr><th colspan='2'>Port Ellis</th></tr>"
        "<tr><th colspan='2'>Population</th></tr><tr><th>Total</th><td>4,100</td></tr>"
        "<tr><th>Urban</th><td>3,000</td></tr></table><p>Port Ellis is a town.</p>"
    )
    best = weighed(html, "What is the population of Port Ellis?", title="Port Ellis")[0]
    assert best.text == "Total\t4,100"


def test_a_heading_of_the_question_leads_to_its_section() -> None:
    """Sentences below a heading with the question's words are better than the same ones elsewhere."""
    sentence = "Most of them came by boat from the islands."
    html = f"<p>A town.</p><h2>Trade</h2><p>{sentence}</p><h2>Settlers of the valley</h2><p>{sentence}</p>"
    first = weighed(html, "Where did the settlers of the valley come from?")[0]
    assert first.segmented.passage(first.passage).section == "Settlers of the valley"


def test_the_title_counts_for_words_that_its_page_leaves_out() -> None:
    """'He was born in Bergen' answers on the page of the person who is asked for, not on another."""
    question = "Where was Otto Frisch born?"
    own, other = (weighed("<p>He was born in Bergen.</p>", question, title=title) for title in ("Otto Frisch", "Dole"))
    assert own[0].total > other[0].total


def test_a_page_nearer_to_the_question_scores_higher() -> None:
    """The same sentence on a page that the search put further down is worth less."""
    units = weighed("<p>Herons nest in reeds.</p>", "Where do herons nest?")
    near, far = with_page_nearness(units, 0.8), with_page_nearness(units, 0.2)
    assert near[0].total > far[0].total


@pytest.mark.parametrize("html", ["", "<h2>Heron</h2>", "<h2>See also</h2><ul><li>Heron</li></ul>"])
def test_a_page_that_says_nothing_gives_nothing(html: str) -> None:
    """There are no units to weigh, and the strength of nothing is 0."""
    assert weighed(html, "Where do herons nest?") == []
    nothing = strength_of([], read_question("Where do herons nest?"), with_meaning=False)
    assert (nothing.page_confidence, nothing.answer_confidence) == (0.0, 0.0)


@pytest.mark.parametrize("question", ["Who was Suppiluliuma?", "When did Ugarit fall?", "Why is the sky blue?", "war"])
def test_a_score_explains_itself(sample_zim: Path, question: str) -> None:
    """The lines of a score are named in the table of weights and add up to what units are ordered by."""
    with closing(LibzimArchive(sample_zim)) as archive:
        book = OpenBook(archive)
        climber = a_desk([book]).retriever(read_question(question))
        for path in ("Ugarit", "Suppiluliuma_II", "Sky"):
            units = climber.on_page(book, path).units
            assert units
            for one in units:
                score = one.score()
                assert {term.signal for term in score.terms} <= set(unit_weights())
                assert score.total == pytest.approx(one.total, abs=0.01 * (len(one.features) + 1))


def test_the_words_of_a_question_weigh_one_together(sample_zim: Path) -> None:
    """Each word counts a share; a rare one more than a common one, one that only asks least."""
    with closing(LibzimArchive(sample_zim)) as archive:
        weights = word_weights(read_question("In what year did Krakatoa colour the sky?"), OpenBook(archive))
    by_word = {weight.word: weight.weight for weight in weights}
    assert sum(by_word.values()) == pytest.approx(1.0)
    assert by_word["krakatoa"] > by_word["sky"]
    assert by_word["krakatoa"] > by_word["year"]


def strength(html: str, question: str) -> Strength:
    return strength_of(weighed(html, question), read_question(question), with_meaning=False)


def test_evidence_with_more_of_the_question_is_stronger() -> None:
    """From a sentence that has all words over one that has some to one that has none, strength falls."""
    rich, poor, none = (
        strength(f"<p>Nothing.</p><h2>Part</h2><p>{text}</p>", QUESTION)
        for text in (
            "They saw heron lantern cellar bridge winter there.",
            "They saw heron thing cellar thing thing there.",
            "They saw thing thing thing thing thing there.",
        )
    )
    assert 0.0 <= none.page_confidence < poor.page_confidence < rich.page_confidence <= 1.0
    assert 0.0 <= none.answer_confidence < poor.answer_confidence < rich.answer_confidence <= 1.0


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from((*WORDS, "thing", "Ann Dole", "1811", ".", "?")), max_size=30), st.sampled_from(SENTENCES)
)
def test_strength_is_a_share(words: list[str], row: tuple[str, str, str]) -> None:
    """Whatever is on the page, strength is between 0 and 1."""
    assert all(0.0 <= share <= 1.0 for share in strength(f"<p>{' '.join(words)}</p>", row[0]))


@pytest.mark.parametrize(
    ("question", "text", "is_less"),
    [
        ("What is the smallest country?", "Monaco is the second-smallest country.", True),
        ("What is the smallest country?", "It is one of the smallest countries.", True),
        ("What is the fastest animal?", "Antelopes are not the fastest animals.", True),
        ("What is the biggest lake?", "It is the third largest lake.", True),
        ("What is the most common metal?", "Iron is the second most common metal.", True),
        ("What is the largest lake?", "It is one of the world's largest lakes.", True),
        ("What is the smallest country?", "The smallest country is Vale.", False),
        ("What is the longest river?", "The Nile is the longest river, and the Amazon the second longest.", False),
        ("In Budapest, what is the largest bridge?", "It is the second largest bridge.", True),
        ("What is the second smallest country?", "Monaco is the second-smallest country.", False),
        ("What is the largest ship of the Second World War?", "It was one of the largest ships.", True),
        ("Give an example of the most influential poets.", "Dole is one of the most influential poets.", False),
        ("Who climbed Everest first?", "It was one of the Everest expeditions.", False),
        ("What is the largest lake?", "Brine is the largest salt lake.", True),
        ("What is the largest lake?", "Brine is the largest known lake.", False),
        ("What is the largest Kentish lake?", "Brine is the largest lake of Kent.", False),
        ("What is the largest lake in Canada?", "It is the largest Canadian lake.", False),
        ("What is the tallest hill?", "Hull is the highest lonely hill, with the highest tower of Kent.", True),
        ("What is the tallest hill?", "Hull is the highest lonely hill, and Hill the highest hill.", False),
        ("What is the largest lake in the world?", "Brine is the largest lake in Asia.", True),
        ("What is the largest lake in the world?", "Brine is the largest lake on Earth.", False),
        ("What is the largest lake in Kent?", "Brine is the largest lake in England.", False),
    ],
)
def test_the_second_smallest_is_not_the_smallest(question: str, text: str, *, is_less: bool) -> None:
    """A sentence that ranks a thing lower than the question asks for counts less."""
    assert is_not_the_most(text, read_question(question)) == is_less


@pytest.mark.parametrize(
    ("question", "text", "is_beside"),
    [
        ("Who was the first man on Hull?", "Ann Dole was the first to sail around Hull.", True),
        ("Who was the first man on the Red Isle?", "They were the first to orbit the Red Isle.", True),
        ("Who was the first man on Hull?", "Ann Dole was the first to stand on Hull.", False),
        ("Who was the first man on Hull?", "She sailed past Hull, and was the first on Hull.", False),
        ("Who was the first king?", "The first king sailed around Hull.", False),
    ],
)
def test_the_first_to_pass_a_place_was_not_the_first_on_it(question: str, text: str, *, is_beside: bool) -> None:
    """A sentence in which somebody only went around or past the place counts less."""
    assert is_beside_the_place(text, read_question(question)) == is_beside


def test_a_row_does_not_answer_how() -> None:
    """'Died 1880' answers when, and neither how nor why: its label counts nothing there."""
    html = '<table class="infobox"><tr><th>Died</th><td>9 June 1880</td></tr></table><p>Ada was a painter.</p>'
    when, how, why = (
        next(one for one in weighed(html, f"{word} did Ada die?") if one.text.startswith("Died"))
        for word in ("When", "How", "Why")
    )
    assert when.features["box label"] > 0
    assert "box label" not in how.features
    assert how.features["not the kind"] == why.features["not the kind"] == 1
    assert max(how.total, why.total) < when.total
    html = html.replace("Died", "Cause of death").replace("9 June 1880", "Cholera")
    cause = next(one for one in weighed(html, "How did Ada die?") if one.text.startswith("Cause"))
    assert cause.features["box label"] > 0
