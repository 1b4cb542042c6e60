"""Searching a shelf: books opened once, settings heeded, and a model asked where one is set."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.llm.servers import ModelServer, Talk, serving
from tests.search.shelves import ELEMENT, PLANET, titles

from kiwiresearch.codec import plain
from kiwiresearch.errors import BadUsage, NothingFound
from kiwiresearch.messages import Message, catalogue_in, render
from kiwiresearch.search.shelf_search import SearchOptions
from kiwiresearch.workspace import finder as finding
from kiwiresearch.workspace.finder import MAX_HITS, Finder, search_record
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import Workspace, find_page, open_workspace
from kiwiresearch.zim.shelf import Shelf

BookMaker = Callable[..., Path]
PAGES = {"Mercury_(planet)": PLANET, "Mercury_(element)": ELEMENT, "Innermost_world": "<p>The planet mercury.</p>"}
CROWD = {f"Report_{number}": "<p>The mercury fell again.</p>" for number in range(130)}


@pytest.fixture
def settings(home: Path) -> dict[str, str]:
    return {"KIWIRESEARCH_HOME": str(home)}


@pytest.fixture
def open_finder(settings: dict[str, str]) -> Iterator[Callable[..., Finder]]:
    """Opens a finder over some files."""
    opened: list[tuple[Finder, Shelf]] = []

    def start(*files: Path, search_every_book: bool = False, **more: str) -> Finder:
        desk: Workspace = open_workspace({**settings, **more})
        shelf = shelf_of(desk, [str(file) for file in files])
        finder = Finder(desk, shelf, search_every_book=search_every_book)
        opened.append((finder, shelf))
        return finder

    yield start
    for finder, shelf in opened:
        finder.close()
        shelf.close()


OpenFinder = Callable[..., Finder]


def test_a_finder_keeps_its_books_open(a_book: BookMaker, open_finder: OpenFinder) -> None:
    """Books are opened for the first query and kept for the next."""
    finder = open_finder(a_book(PAGES))
    first = finder.books
    finder.find("mercury")
    assert finder.books is first
    assert first[0].titles is not None


@pytest.mark.parametrize("text", ["", " ", "?", "…—", "\n"])
def test_a_query_without_words_is_refused(a_book: BookMaker, open_finder: OpenFinder, text: str) -> None:
    """There is nothing to look for, and the user gets a message."""
    with pytest.raises(BadUsage, match="The search is empty"):
        open_finder(a_book(PAGES)).find(text)


@pytest.mark.parametrize("limit", [0, -1, MAX_HITS + 1])
def test_an_impossible_limit_is_refused(a_book: BookMaker, open_finder: OpenFinder, limit: int) -> None:
    """So many results cannot be shown."""
    with pytest.raises(BadUsage, match=f"Cannot show {limit} results"):
        open_finder(a_book(PAGES)).find("mercury", SearchOptions(limit=limit))


def test_the_setting_says_how_many_books_are_searched(a_book: BookMaker, open_finder: OpenFinder) -> None:
    """Of a shelf as many books are searched in full as the user wants; of named books all are."""
    files = [a_book({f"Moon_{n}": "<p>The moon.</p>"}, name=f"{n}.zim", Name=f"book{n}") for n in range(3)]
    assert len(open_finder(*files).find("moon").books) == 2
    assert len(open_finder(*files, KIWIRESEARCH_SEARCH_BOOKS="1").find("moon").books) == 1
    assert len(open_finder(*files, search_every_book=True).find("moon").books) == 3


def test_the_record_names_the_books(a_book: BookMaker, open_finder: OpenFinder) -> None:
    """What is shown as JSON has the book's name beside its UUID."""
    finder = open_finder(a_book(PAGES))
    record = plain(search_record(finder.find("mercury"), finder))
    (book,) = record["books"]
    assert book["name"] == "test_en"
    assert {(hit["book"], hit["book_id"]) for hit in record["hits"]} == {("test_en", book["id"])}
    assert [sense["title"] for sense in record["senses"]] == titles(finder.find("mercury").hits)[:2]


def test_similar_titles_are_offered(a_book: BookMaker, open_finder: OpenFinder) -> None:
    """If nothing is found, titles with the same start are named, otherwise the message says what to try."""
    finder = open_finder(a_book({"Harbour": "<p>Ships.</p>"}))
    assert (
        str(finder.nothing_found_error("harbz")) == "No results for 'harbz' in 'Test book'. Similar titles: 'Harbour'."
    )
    assert "Try fewer or different words" in finder.nothing_found_error("zeppelin").remedy


def test_without_books_the_error_says_so(settings: dict[str, str], a_book: BookMaker) -> None:
    """A library that a policy has emptied is not one in which nothing was found."""
    desk = open_workspace(settings)
    with shelf_of(desk, [str(a_book(PAGES))]) as shelf, Finder(desk, shelf) as finder:
        shelf.books = ()
        problem = finder.nothing_found_error("mercury")
        assert problem.message == "There is no book to search."
        assert problem.remedy.startswith("Add a book to your library")
        assert isinstance(problem.message, Message)
        assert render(problem.message, catalogue_in("fr")) == "Il n’y a aucun livre où rechercher."
        with pytest.raises(NothingFound, match="no book"):
            find_page(shelf, "Mercury")


def a_wikipedia(a_book: BookMaker) -> Path:
    return a_book({**CROWD, **PAGES}, Name="wikipedia_en_test")


def answering(*phrases: str) -> Callable[[Talk], None]:
    return lambda talk: talk.say(json.dumps({"phrases": list(phrases)}))


def asked(model_server: ModelServer) -> list[str]:
    return [body["messages"][-1]["content"] for body in model_server.chats]


def test_a_real_server_is_asked_about_one_ambiguous_word(
    a_book: BookMaker, open_finder: OpenFinder, home: Path
) -> None:
    """With a model set, its phrases are searched: once for the term, also in the next process (R183, R195, R196)."""
    file = a_wikipedia(a_book)
    with serving(answering("mercury planet", "mercury element")) as model_server:
        finder = open_finder(file, KIWIRESEARCH_MODEL_URL=model_server.address)
        first = finder.find("what is mercury", SearchOptions(limit=40))
        assert first.hits
        assert len(model_server.chats) == 1
        assert "what is mercury" in asked(model_server)[0]
        (kept,) = (home / "cache" / "routing").iterdir()
        assert json.loads(kept.read_text())["phrases"] == ["mercury", "mercury planet", "mercury element"]
        finder.find("tell me about mercury")
        later = open_finder(file, KIWIRESEARCH_MODEL_URL=model_server.address).find(
            "what is mercury", SearchOptions(limit=40)
        )
        assert later == first
        assert len(model_server.chats) == 1


def test_a_server_is_not_asked_about_anything_else(a_book: BookMaker, open_finder: OpenFinder) -> None:
    """Plain searches and questions of several words never reach the model (R182, R189)."""
    with serving(answering("mercury planet")) as model_server:
        finder = open_finder(a_wikipedia(a_book), KIWIRESEARCH_MODEL_URL=model_server.address)
        for query in ("mercury", "raspberry pi gpio permission errors in python", "what is mercury poisoning"):
            finder.find(query)
        assert model_server.asked == []


def test_a_models_reply_is_kept_as_long_as_is_set(a_book: BookMaker, open_finder: OpenFinder) -> None:
    """The user's time to live is used: with 0 the model is asked each time (R200)."""
    with serving(answering("mercury planet")) as model_server:
        finder = open_finder(
            a_wikipedia(a_book), KIWIRESEARCH_MODEL_URL=model_server.address, KIWIRESEARCH_ROUTING_TTL_S="0"
        )
        finder.find("what is mercury")
        finder.find("what is mercury")
        assert len(model_server.chats) == 2


def failing(talk: Talk) -> None:
    talk.send(401, '{"error":{"message":"no key"}}')


def nonsense(talk: Talk) -> None:
    talk.say("I would rather talk about the weather.")


@pytest.mark.parametrize("server", [failing, nonsense])
def test_a_server_that_fails_costs_its_help_only(
    a_book: BookMaker, open_finder: OpenFinder, server: Callable[[Talk], None], home: Path
) -> None:
    """The search is what it is without a model, and the failure is not kept (R198)."""
    file = a_wikipedia(a_book)
    without = open_finder(file).find("what is mercury")
    with serving(server) as model_server:
        found = open_finder(file, KIWIRESEARCH_MODEL_URL=model_server.address).find("what is mercury")
        assert model_server.chats
    assert found == without
    assert not (home / "cache" / "routing").exists()


def test_a_server_that_is_not_there_costs_its_help_only(a_book: BookMaker, open_finder: OpenFinder) -> None:
    """A model that cannot be reached does not keep the search from its answer (R198)."""
    with serving(failing) as model_server:
        address = model_server.address
    found = open_finder(a_wikipedia(a_book), KIWIRESEARCH_MODEL_URL=address).find("what is mercury")
    assert titles(found.hits)[:2]


def test_a_slow_model_keeps_no_reader_waiting(
    a_book: BookMaker, open_finder: OpenFinder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search waits a few seconds for a model, whatever other work may wait, and then goes without."""
    assert finding.MAX_SEARCH_MODEL_S == 10
    monkeypatch.setattr(finding, "MAX_SEARCH_MODEL_S", 1.0)
    file = a_wikipedia(a_book)
    without = open_finder(file).find("what is mercury")
    with serving(lambda talk: talk.hang()) as model_server:
        address = model_server.address
        found = open_finder(file, KIWIRESEARCH_MODEL_URL=address, KIWIRESEARCH_MODEL_TIMEOUT_S="600")
        assert found.find("what is mercury") == without
        assert model_server.chats
