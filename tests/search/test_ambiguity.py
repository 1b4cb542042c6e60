"""One ambiguous word: when a model is asked, what of its answer is used, and who decides."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.llm.scripted import ScriptedModel, ScriptLine
from tests.search.shelves import ELEMENT, GOD, PLANET, Noting, titles

from kiwiresearch.errors import BadReply, KiwiError, ModelUnreachable, PromptTooLong
from kiwiresearch.search.model_phrases import PhraseCache, is_ambiguous, phrases_for, usable_phrases
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import parse_query
from kiwiresearch.search.shelf_search import SearchHelpers, SearchOptions, search_books
from kiwiresearch.zim.archive import BookKind

Ready = Callable[..., OpenBook]
PAGES = {"Mercury (planet)": PLANET, "Mercury (element)": ELEMENT, "Mercury (mythology)": GOD, "Tin": "<p>A metal.</p>"}


def reply(*phrases: str) -> str:
    return json.dumps({"phrases": list(phrases)})


def advice(*lines: ScriptLine) -> tuple[SearchHelpers, ScriptedModel]:
    model = ScriptedModel(*lines)
    return SearchHelpers(model, PhraseCache(lambda: 0.0)), model


@pytest.mark.parametrize(
    "question",
    [
        "what is mercury", "What is mercury?", "tell me about mercury", "what are mercury", "who was Mercury",
        "explain mercury", "define mercury", "describe mercury", "what is the mercury",
    ],
)  # fmt: skip
def test_one_word_after_a_definitional_opening_is_asked_about(question: str) -> None:
    """A question for what one thing is may be helped by a model (R184, R187)."""
    assert is_ambiguous(parse_query(question), Noting(PAGES).book, ScriptedModel())


@pytest.mark.parametrize(
    "question",
    [
        "what's the deal with mercury", "whats the deal with mercury", "what's up with mercury",
        "whats up with mercury",
    ],
)  # fmt: skip
def test_colloquial_forms_are_definitional(question: str) -> None:
    """What people say instead of 'what is' counts as much, with and without apostrophe (R185)."""
    assert is_ambiguous(parse_query(question), Noting(PAGES).book, ScriptedModel())


@pytest.mark.parametrize(
    "question",
    [
        "mercury", "mercury poisoning", "is mercury toxic", "what is mercury poisoning",
        "tell me about galaxy clusters", "what is the mercury of the roman gods", "when was mercury found",
    ],
)  # fmt: skip
def test_other_queries_are_not(question: str) -> None:
    """Queries that do not ask what a thing is, or leave more than one word, are searched as they are (R184, R187)."""
    assert not is_ambiguous(parse_query(question), Noting(PAGES).book, ScriptedModel())


@pytest.mark.parametrize("text", ["what is {}", "tell me about {}", "{}"])
def test_several_words_never_enter_the_path(ready: Ready, text: str) -> None:
    """Five unambiguous words are not cut down to their longest (R188, R189)."""
    asked, model = advice()
    book = ready(Noting({**PAGES, "Permission": "<p>Disk permission errors.</p>"}))
    search_books([book], text.format("raspberry pi gpio permission errors in python"), helpers=asked)
    assert model.asked == []


@pytest.mark.parametrize("kind", ["wiki", "stackexchange", "devdocs", "gutenberg", "website", "ted", "other"])
def test_only_a_wikipedia_is_ambiguous_in_this_way(ready: Ready, kind: BookKind) -> None:
    """The model is not asked about any other kind of book (R186)."""
    asked, model = advice()
    found = search_books([ready(Noting(PAGES, kind=kind))], "what is mercury", helpers=asked)
    assert found.hits
    assert model.asked == []


@pytest.mark.parametrize(
    ("has_model", "question", "kind", "asked"),
    [
        (True, "what is mercury", "wikipedia", True),
        (False, "what is mercury", "wikipedia", False),
        (True, "mercury", "wikipedia", False),
        (True, "what is mercury", "other", False),
        (True, "what is mercury poisoning", "wikipedia", False),
    ],
)
def test_all_four_conditions_must_be_met(has_model: bool, question: str, kind: BookKind, asked: bool) -> None:
    """Any one of the four that fails keeps the model out (R182, R183, R190)."""
    model = ScriptedModel() if has_model else None
    assert is_ambiguous(parse_query(question), Noting(PAGES, kind=kind).book, model) is asked


def test_without_a_model_the_search_is_whole(ready: Ready) -> None:
    """No model at all is not a failure: the book's own senses are found (R183)."""
    found = search_books([ready(Noting(PAGES))], "what is mercury")
    assert sorted(titles(found.hits[:3])) == ["Mercury (element)", "Mercury (mythology)", "Mercury (planet)"]


def test_the_model_is_asked_for_two_or_three_phrases() -> None:
    """The prompt names the word and the question and asks for several phrases, not one guess (R191)."""
    model = ScriptedModel(reply("mercury planet", "mercury element"))
    result = phrases_for(parse_query("what is mercury"), model, PhraseCache(lambda: 0.0))
    assert [query.text for query in result] == ["mercury", "mercury planet", "mercury element"]
    (asked,) = model.asked
    assert "two or three search phrases" in asked.text
    assert "what is mercury" in asked.text
    assert asked.options.schema is not None


def test_at_most_three_phrases_beside_the_bare_word() -> None:
    """A model that offers more is cut off, and the bare word is always searched (R191)."""
    model = ScriptedModel(reply(*(f"mercury {word}" for word in ("planet", "element", "god", "car", "singer"))))
    result = phrases_for(parse_query("what is mercury"), model, PhraseCache(lambda: 0.0))
    assert [query.text for query in result] == ["mercury", "mercury planet", "mercury element", "mercury god"]


@pytest.mark.parametrize(
    ("term", "offered", "kept"),
    [
        ("mercury", ["mercury planet", "Mercury  Element"], ("mercury planet", "mercury element")),
        ("mercury", ["planet", "mercurial", "quicksilver mercuryx"], ()),
        ("mercury", ["the planet mercury", "god (Mercury)"], ("the planet mercury", "god mercury")),
        ("mercury", ["mercury", "MERCURY!"], ()),
        ("mercury", ["mercury planet", "Mercury planet."], ("mercury planet",)),
        ("mercury", ["the planet that is called mercury"], ()),
        ("mercury", ["", " ", "\n"], ()),
        ("c", ["chemistry", "basic computing", "vitamin"], ()),
        ("c", ["C language", "vitamin C", "musical note c"], ("c language", "vitamin c", "musical note c")),
        ("7", ["seven 77", "number 7"], ("number 7",)),
    ],
)
def test_a_phrase_must_have_the_word_as_a_word(term: str, offered: list[str], kept: tuple[str, ...]) -> None:
    """Phrases without the word itself, with it only inside another, or of many words are dropped (R201, R202)."""
    assert usable_phrases(term, offered) == kept


@pytest.mark.parametrize("question", ["what is C", "what is c", "tell me about C?"])
def test_one_letter_is_a_word(question: str) -> None:
    """A name of one letter is asked about like any other (R202)."""
    model = ScriptedModel(reply("chemical element", "C language", "vitamin C"))
    query = parse_query(question)
    assert is_ambiguous(query, Noting(PAGES).book, model)
    result = phrases_for(query, model, PhraseCache(lambda: 0.0))
    assert [one.text for one in result] == ["c", "c language", "vitamin c"]


def a_crowded_book() -> Noting:
    """So many pages have the word that a search for it alone does not come to the last of them."""
    crowd = {f"Report {number}": "<p>The mercury fell.</p>" for number in range(140)}
    return Noting({**crowd, "Innermost world": "<p>The planet mercury has no moon.</p>"})


def test_each_phrase_is_really_searched_and_all_is_pooled(ready: Ready) -> None:
    """A page that only a phrase leads to is among the results of the bare word (R181, R192, R193, R203)."""
    without = search_books([ready(a_crowded_book())], "what is mercury", SearchOptions(limit=40))
    assert "Innermost world" not in titles(without.hits)
    archive = a_crowded_book()
    asked, _ = advice(reply("mercury planet", "mercury god"))
    found = search_books([ready(archive)], "what is mercury", SearchOptions(limit=40), asked)
    assert "Innermost world" in titles(found.hits)
    assert {"mercury", "planet", "god"} <= set(archive.searched)


def test_a_phrase_that_finds_nothing_does_no_harm(ready: Ready) -> None:
    """A guess the book knows nothing of changes no result (R181, R203)."""
    asked, _ = advice(reply("mercury zeppelin", "mercury quasar"))
    guided = search_books([ready(Noting(PAGES))], "what is mercury", helpers=asked)
    assert guided.hits == search_books([ready(Noting(PAGES))], "what is mercury").hits


def test_pages_that_several_phrases_find_come_once(ready: Ready) -> None:
    """What is pooled is one row for each page (R194)."""
    asked, _ = advice(reply("mercury planet", "planet mercury", "mercury sun"))
    found = search_books([ready(Noting(PAGES))], "what is mercury", helpers=asked)
    refs = [hit.ref for hit in found.hits]
    assert len(refs) == len(set(refs)) == 3


def test_the_scoring_alone_picks_the_winner(ready: Ready) -> None:
    """Whatever the model offers, and in whatever order, a page's score and place are the same (R176)."""
    plain = search_books([ready(Noting(PAGES))], "what is mercury")
    for offered in (("mercury god", "mercury planet"), ("mercury element",), ("mercury planet", "mercury tin")):
        asked, model = advice(reply(*offered))
        found = search_books([ready(Noting(PAGES))], "what is mercury", helpers=asked)
        assert len(model.asked) == 1
        assert [(hit.title, str(hit.score)) for hit in found.hits] == [(h.title, str(h.score)) for h in plain.hits]


def test_the_candidates_are_kept_under_their_key(tmp_path: Path) -> None:
    """The routing cache has them under 'disambig_candidates:' and the cleaned term (R195)."""
    cache = PhraseCache(lambda: 0.0, tmp_path)
    phrases_for(parse_query("What is the Mercury?"), ScriptedModel(reply("mercury planet")), cache)
    (file,) = tmp_path.iterdir()
    kept = json.loads(file.read_text())
    assert kept["key"] == "disambig_candidates:mercury"
    assert kept["phrases"] == ["mercury", "mercury planet"]


def test_a_term_is_asked_about_once_however_it_is_put() -> None:
    """Two wordings of one question cost one call (R196)."""
    model, cache = ScriptedModel(reply("mercury planet")), PhraseCache(lambda: 0.0)
    first = phrases_for(parse_query("what is mercury"), model, cache)
    second = phrases_for(parse_query("tell me about Mercury!"), model, cache)
    assert [query.core for query in first] == [query.core for query in second]
    assert len(model.asked) == 1


def test_phrases_of_one_language_are_not_given_for_another() -> None:
    """The same term in a book of another language is asked about for itself."""
    model, cache = ScriptedModel(reply("mercury planet"), reply("mercury dieu")), PhraseCache(lambda: 0.0)
    found = [phrases_for(parse_query("mercury", code), model, cache)[-1].text for code in ("eng", "fra")]
    assert found == ["mercury planet", "mercury dieu"]


def test_the_search_runs_fresh_each_time(ready: Ready) -> None:
    """Only the candidates are kept: a page that is new in the book is found by the second search (R197)."""
    asked, model = advice(reply("mercury planet"))
    search_books([ready(Noting(PAGES))], "what is mercury", helpers=asked)
    grown = Noting({**PAGES, "Mercury (car)": "<p>Mercury was a maker of cars.</p>"})
    assert "Mercury (car)" in titles(search_books([ready(grown)], "what is mercury", helpers=asked).hits)
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    "failure",
    [
        [ModelUnreachable("It did not answer in time.")],
        [BadReply("It said nothing.")],
        [PromptTooLong("It reads ten words.")],
        ["no JSON", "no JSON either"],
        ['{"phrases": 3}', '{"phrases": []}'],
    ],
)  # fmt: skip
def test_a_failed_call_leaves_the_bare_word_and_is_not_kept(tmp_path: Path, failure: list[KiwiError | str]) -> None:
    """A call that failed falls back to the word itself, and the next search asks again (R198)."""
    model = ScriptedModel(*failure, reply("mercury planet"))
    cache = PhraseCache(lambda: 0.0, tmp_path)
    query = parse_query("what is mercury")
    assert [one.text for one in phrases_for(query, model, cache)] == ["mercury"]
    assert list(tmp_path.iterdir()) == []
    assert [one.text for one in phrases_for(query, model, cache)] == ["mercury", "mercury planet"]


def test_phrases_that_fail_the_check_are_kept() -> None:
    """A model that answered uselessly would do so again, so it is not asked again (R199)."""
    model, cache = ScriptedModel(reply("quicksilver", "innermost planet")), PhraseCache(lambda: 0.0)
    query = parse_query("what is mercury")
    for _ in range(2):
        assert [one.text for one in phrases_for(query, model, cache)] == ["mercury"]
    assert len(model.asked) == 1


def test_a_search_survives_its_model(ready: Ready) -> None:
    """A model that does not answer costs nothing but its help (R198)."""
    asked, model = advice(ModelUnreachable("It is asleep."))
    found = search_books([ready(Noting(PAGES))], "what is mercury", helpers=asked)
    assert found.hits == search_books([ready(Noting(PAGES))], "what is mercury").hits
    assert len(model.asked) == 1
