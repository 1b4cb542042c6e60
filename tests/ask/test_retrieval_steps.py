"""The ladder on the sample book: titles first, no further than needed, and each step where it must be taken."""

from __future__ import annotations

import pytest
from tests.ask.conftest import SampleMaker
from tests.ask.question_books import ALWAYS, NEVER, a_desk, asked, held, settings, titles

from kiwiresearch.ask.question import read_question
from kiwiresearch.ask.retrieval import MAX_TITLE_CANDIDATES
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.search.open_book import OpenBook

SUNSET = "Why is the sky orange at sunset?"
EINSTEIN = "When was Einstein born?"


def candidates(book: OpenBook, question: str) -> list[str]:
    """The pages whose titles and leads are weighed for a question."""
    climber = a_desk([book]).retriever(read_question(question))
    return [hit.title for hit in climber.search_pages(question, max_read=MAX_TITLE_CANDIDATES, max_scored=50).hits]


def test_the_orange_sky_is_explained_by_the_page_about_sunsets(either_sample: SampleMaker) -> None:
    """Titles are found, the lead of 'Sunset' wins, and its section on the sky answers at once (R252, R214, R247)."""
    book, _ = either_sample()
    assert {"Sunset", "Rayleigh scattering", "Atmospheric optics"} <= set(candidates(book, SUNSET))
    answer = asked(book, SUNSET)
    assert (answer.route, answer.grounded) == ("title", True)
    assert titles(answer)[0] == "Sunset"
    best = answer.citations[0].citation
    assert (best.title, best.section, best.anchor) == (
        "Sunset",
        "Why the sky is orange at sunset",
        "Why_the_sky_is_orange_at_sunset",
    )
    assert best.quote.text == answer.lines[0].text
    assert "because" in best.quote.text


def test_einsteins_birthday_is_on_his_page(either_sample: SampleMaker) -> None:
    """His other name leads to his page, and its lead, box or biography answers at once (R253, R247)."""
    book, _ = either_sample()
    answer = asked(book, EINSTEIN)
    assert (answer.route, answer.grounded, titles(answer)[0]) == ("title", True, "Albert Einstein")
    assert answer.citations[0].citation.title == "Albert Einstein"
    assert answer.citations[0].citation.section in ("", "infobox", "Early life and education")
    assert answer.short == "14 March 1879"


def test_a_description_finds_its_page_without_a_question(either_sample: SampleMaker) -> None:
    """A few words that describe something lead to the page about it (R213)."""
    book, _ = either_sample()
    assert titles(asked(book, "orange sky at sunset"))[0] == "Sunset"


@pytest.mark.parametrize("question", [SUNSET, EINSTEIN])
def test_a_strong_page_ends_the_search(either_sample: SampleMaker, question: str) -> None:
    """No page is read beyond the candidates by title; the full-text step would have read more (R207, R228, R254)."""
    read: dict[float | None, set[str]] = {}
    for exit_at in (None, NEVER):
        book, archive = either_sample()
        assert asked(book, question, settings(exit_at=exit_at)).grounded
        read[exit_at] = set(archive.pages_read)
    assert len(read[None]) <= MAX_TITLE_CANDIDATES
    assert read[None] < read[NEVER]


def test_only_the_best_pages_are_kept(sample_book: OpenBook) -> None:
    """Passages are taken from `top_pages` pages, three unless set otherwise (R222, R210)."""
    assert AskSettings().top_pages == 3
    for most in (1, 2, 3, 5):
        answer = asked(sample_book, SUNSET, settings(exit_at=ALWAYS, top_pages=most))
        assert len(answer.pages) == most
        assert {passage.ref for passage in answer.passages} <= {page.ref for page in answer.pages}
        assert titles(answer)[0] == "Sunset"


def test_pages_are_candidates_once(either_sample: SampleMaker) -> None:
    """A page with several names that is found in several ways is in the list once (R220)."""
    book, _ = either_sample()
    for question in (SUNSET, EINSTEIN, "Who was Lord Rayleigh?", "galaxy galaxies Galaxy"):
        found = [page.ref for page in asked(book, question, settings(exit_at=NEVER, enough=NEVER)).pages]
        assert found
        assert len(found) == len(set(found))


def test_the_threshold_decides_on_the_early_exit(sample_book: OpenBook) -> None:
    """The same question exits early or goes on to full text, by the threshold alone (R228, R229)."""
    strength = held(sample_book, SUNSET, settings(exit_at=ALWAYS))
    assert asked(sample_book, SUNSET, settings(exit_at=strength)).route == "title"
    assert asked(sample_book, SUNSET, settings(exit_at=strength + 0.001, enough=ALWAYS)).route == "fulltext"


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("Which volcano coloured sunsets around the world in 1883?", "Sunset"),
        ("Who commanded the expedition to Sobral in Brazil?", "Albert Einstein"),
    ],
)
def test_a_page_with_another_title_is_found_by_full_text(either_sample: SampleMaker, question: str, page: str) -> None:
    """A question whose answer is deep in a page of another name is answered from it (R229, R256)."""
    book, _ = either_sample()
    answer = asked(book, question, settings(enough=ALWAYS))
    assert answer.grounded
    assert page in [cited.citation.title for cited in answer.citations]


def test_nothing_is_answered_below_the_threshold(sample_book: OpenBook) -> None:
    """What is too weak is refused, without citations, and the nearest pages are still named (R234)."""
    answer = asked(sample_book, "Who wins the world cup in curling?")
    assert (answer.route, answer.grounded) == ("none", False)
    assert (answer.text, answer.short, answer.lines, answer.citations, answer.books) == ("", "", (), (), ())
    assert answer.why
    assert answer.pages


@pytest.mark.parametrize("question", [SUNSET, EINSTEIN, "Who wins the world cup in curling?", "What is a chariot?"])
def test_every_word_of_an_answer_is_a_word_of_its_page(sample_book: OpenBook, question: str) -> None:
    """Lines are quotes, quotes are spans of their page, keys are those of citations, the short one is quoted (R206)."""
    answer = asked(sample_book, question)
    keys = {cited.key for cited in answer.citations}
    for line in answer.lines:
        assert line.keys
        assert set(line.keys) <= keys
    for cited in answer.citations:
        quote = cited.citation.quote
        read = a_desk([sample_book]).pages.page(sample_book, quote.ref.path)
        assert read is not None
        assert read.page.text[quote.start : quote.end] == quote.text
        assert quote.text in cited.snippet
    assert answer.short in "\n".join(cited.citation.quote.text for cited in answer.citations)
    assert answer.text == "\n".join(line.text for line in answer.lines)
    assert len(answer.lines) <= 3
    assert len(answer.passages) <= 6
