"""Questions to all kinds of books: small ones, books without indexes, books behind a server, several, none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.ask.question_books import NEVER, a_memory_book, asked, settings, titles

from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.title_index_builder import build_titles, titles_file
from kiwiresearch.search.titles import open_titles
from kiwiresearch.zim.kiwix_serve import KiwixServer, ServeArchive
from kiwiresearch.zim.libzim import LibzimArchive

BIRDS = {
    "Heron": "<p>A heron is a grey bird. Herons nest in reeds.</p><h2>Food</h2><p>Herons eat fish and frogs.</p>",
    "Gull": "<p>A gull is a white bird. Gulls nest on cliffs.</p>",
}
SUNSET = "Why is the sky orange at sunset?"
BookMaker = Callable[..., Path]


@pytest.fixture
def plain_book(a_book: BookMaker) -> Iterator[OpenBook]:
    """A book without any index of its own."""
    archive = LibzimArchive(a_book(BIRDS, index=False))
    yield OpenBook(archive)
    archive.close()


def test_a_book_without_indexes_answers(plain_book: OpenBook) -> None:
    """Titles alone lead to the page, where no index helps."""
    assert not plain_book.book.indexes.full_text
    answer = asked(plain_book, "Where does a heron nest?")
    assert answer.grounded
    assert answer.lines[0].text == "Herons nest in reeds."


def test_a_book_without_indexes_refuses(plain_book: OpenBook) -> None:
    """What no title names is not found there, and is not made up."""
    answer = asked(plain_book, "Who wins the world cup in curling?")
    assert (answer.route, answer.grounded, answer.citations) == ("none", False, ())


def test_a_title_index_finds_what_the_book_cannot(a_book: BookMaker, tmp_path: Path) -> None:
    """In a book without indexes a page is found by any word of its title once the titles are indexed (R218)."""
    file = a_book({"Great_marsh_heron": BIRDS["Heron"], "Gull": BIRDS["Gull"]}, index=False)
    with closing(LibzimArchive(file)) as archive:
        target = titles_file(tmp_path, archive.book)
        build_titles(archive, target)
        assert titles(asked(OpenBook(archive), "What do marsh herons eat?")) == []
        index = open_titles(target, archive.book)
        assert index is not None
        with closing(index):
            answer = asked(OpenBook(archive, index), "What do marsh herons eat?", settings(enough=0.2))
    assert answer.grounded
    assert answer.lines[0].text == "Herons eat fish and frogs."


def test_a_book_of_introductions_says_what_it_leaves_out(a_book: BookMaker) -> None:
    """A refusal from a mini book says that the full book may have more; an answer does not."""
    file = a_book(BIRDS, Flavour="mini", Name="birds_en_mini")
    with closing(LibzimArchive(file)) as archive:
        book = OpenBook(archive)
        assert book.book.lead_only
        refused = asked(book, "Who wins the world cup in curling?")
        (notice,) = refused.notices
        assert "'Test book'" in notice
        assert asked(book, "Where do herons nest?").notices == ()


def test_a_real_mini_book_answers(shared_data: Path) -> None:
    """Leads are enough to say where somebody was born."""
    with closing(LibzimArchive(shared_data / "zims" / "real" / "wikipedia_en_100_mini_2022-10.zim")) as archive:
        answer = asked(OpenBook(archive), "Where was Elvis Presley born?", settings(enough=0.2))
    assert answer.grounded
    assert titles(answer)[0] == "Elvis Presley"


def test_the_orange_sky_is_explained_where_no_page_is_about_sunsets(shared_data: Path) -> None:
    """A book without a page of that name still has a sentence that explains it, and it comes first (R213, R256)."""
    with closing(LibzimArchive(shared_data / "zims" / "schools-2007.zim")) as archive:
        answer = asked(OpenBook(archive), SUNSET)
    assert answer.grounded
    assert answer.route in ("fulltext", "widened")
    assert "scatter" in answer.lines[0].text


def test_a_served_book_answers_as_its_file_does(sample_zim: Path, kiwix_serve: Callable[..., str]) -> None:
    """Behind a kiwix-serve the same page and sentence are cited."""
    server = KiwixServer(kiwix_serve(sample_zim))
    (book,) = server.catalogue()
    with closing(ServeArchive(server, book)) as there, closing(LibzimArchive(sample_zim)) as here:
        served, local = (asked(OpenBook(archive), SUNSET) for archive in (there, here))
    assert (served.route, served.grounded) == ("title", True)
    assert served.citations[0].citation == local.citations[0].citation
    assert served.citations[0].key == local.citations[0].key


def test_each_citation_names_its_book() -> None:
    """Of several books, the one that answers is cited, with what is known of it."""
    birds = a_memory_book(BIRDS, title="Birds")
    towns = a_memory_book({"Kent": "<p>Kent is a county.</p>", "Lund": "<p>Lund lies in Sweden.</p>"}, title="Towns")
    for question, name in (("Where do herons nest?", "Birds"), ("Where does Lund lie?", "Towns")):
        answer = asked([towns, birds], question, settings(enough=0.2))
        assert answer.citations[0].book.title == name
        assert answer.books[0].title == name
        assert answer.citations[0].citation.quote.ref.book == answer.books[0].id


def test_the_order_of_books_decides_nothing() -> None:
    """A shelf in another order gives the same best answer."""
    birds, towns = a_memory_book(BIRDS, title="Birds"), a_memory_book({"Kent": "<p>Kent.</p>"}, title="Towns")
    one, other = (asked(books, "Where do herons nest?") for books in ([birds, towns], [towns, birds]))
    assert one.lines[0] == other.lines[0]
    assert one.route == other.route


@pytest.mark.parametrize("question", ["What is a heron?", "Which is older, A or B?", "東京?"])
def test_an_empty_shelf_refuses(question: str) -> None:
    """If there are no books there is no answer, and no error."""
    answer = asked([], question)
    assert (answer.route, answer.grounded, answer.pages, answer.confidence) == ("none", False, (), 0.0)
    assert answer.why


@pytest.mark.parametrize("question", ["Где гнездится цапля?", "アオサギはどこに巣を作る？", "أين يعشش البلشون؟", "🦆?"])
def test_a_question_in_another_script_is_refused_quietly(question: str) -> None:
    """A book that has none of the words gives no answer, and nothing else happens."""
    answer = asked(a_memory_book(BIRDS), question)
    assert (answer.route, answer.grounded, answer.question) == ("none", False, question)


def test_a_book_of_another_language_answers_by_its_words() -> None:
    """Nobody wrote down how its language asks; the words of the question still lead to the sentence."""
    book = a_memory_book({"Цапля": "<p>Цапля гнездится в тростнике. Она ест рыбу.</p>"}, language="rus")
    answer = asked(book, "Где гнездится цапля?", settings(enough=0.2))
    assert answer.grounded
    assert answer.lines[0].text == "Цапля гнездится в тростнике."


@pytest.mark.parametrize(
    "question",
    ["Where do herons nest? " * 136, f"I have long wondered {'and thought ' * 240}where herons nest?", "x" * 3_000],
)
def test_a_long_question_is_answered_or_refused(question: str) -> None:
    """A question as long as a page makes no trouble."""
    answer = asked(a_memory_book(BIRDS), question[:3_000])
    assert answer.question == question[:3_000]
    assert answer.grounded or answer.route == "none"


def test_a_page_that_says_nothing_is_not_an_answer() -> None:
    """A title alone answers nothing."""
    answer = asked(a_memory_book({"Heron": "<h1>Heron</h1>"}), "What is a heron?", AskSettings())
    assert (answer.route, answer.grounded) == ("none", False)


def test_the_answer_of_a_small_context_is_short() -> None:
    """Passages together stay within the tokens that the settings allow."""
    text = " ".join(f"Herons nest in reed number {number}." for number in range(600))
    answer = asked(a_memory_book({"Heron": f"<p>{text}</p>"}), "Where do herons nest?", settings(context_tokens=100))
    assert answer.passages
    assert sum(len(passage.text) for passage in answer.passages) <= 400
    assert asked(a_memory_book(BIRDS), "Where do herons nest?", settings(exit_at=NEVER, enough=NEVER)).passages
