"""What a run says of itself is said in the language of the reader, whatever it says."""

from __future__ import annotations

import errno
import itertools
import json
from pathlib import Path

import httpx2
import pytest
from markupsafe import escape
from tests.web.desk.conftest import ARun

from kiwiresearch.brief import sources
from kiwiresearch.crawl.frontier import CrawlCandidate
from kiwiresearch.crawl.step import LinkOffer, SeedChoice, StartStep
from kiwiresearch.ids import BookId
from kiwiresearch.jobs.process import RESUME_HINT, failed
from kiwiresearch.messages.catalogue import LANGUAGES, Catalogue, catalogue_in
from kiwiresearch.messages.message import Message, message_in
from kiwiresearch.runs.journal import cannot_write
from kiwiresearch.web.desk.translations import in_reader_language, kinship_words, translated
from kiwiresearch.zim.archive import EntryRef

PLACES = ("lead", "infobox", "see also", "table", "body", "")
HARD = """5'-triphosphate, the "currency" \\ of\xa0cells & <b>life</b>: under 'See also'"""
TEXTS = ("", "Early years", "The Hundred Years' War", HARD)
ENGLISH = '<span lang="en"'


def a_reason(place: str, section: str, sentence: str, share: float, *, is_found: bool) -> Message:
    link = LinkOffer("Tin", "Tin", 1.0, 1, 0.5, place, section, "tin", sentence, is_new=True)
    ref = EntryRef(BookId("book"), "Tin")
    return CrawlCandidate(ref, "Tin", 1, search_share=share, is_found=is_found, parent=HARD, best_link=link).reason()


REASONS = sorted(
    {
        a_reason(place, section, sentence, share, is_found=is_found)
        for place, section, sentence, (share, is_found) in itertools.product(
            PLACES, TEXTS, TEXTS, ((0.0, False), (0.0, True), (0.5, True))
        )
    }
    | {
        CrawlCandidate(EntryRef(BookId("book"), "Tin"), "Tin", 1, search_share=share, is_found=is_found).reason()
        for share, is_found in ((0.0, False), (0.0, True), (0.5, True))
    }
)
"""Every form of a reason for a page that no search began with."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_reason_for_a_page_is_translated(language: str) -> None:
    """However a crawl came to a page, with difficult titles in every place: they are shown as the book has them."""
    for reason in REASONS:
        result = translated(reason, catalogue_in(language), "eng")
        assert ENGLISH not in result, reason
        assert "<b>" not in result
        assert HARD.replace("\xa0", " ") in result.striptags() or "links to it" not in reason, result


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_a_full_disk_is_explained(number: int) -> None:
    """The page of the stopped job says what happened and what to do, without folder names."""
    problem = cannot_write(Path("/srv/runs/bronze age"), OSError(number, "No space left on device"))
    for text, language in itertools.product((problem.message, problem.remedy), LANGUAGES):
        shown = translated(text, catalogue_in(language))
        assert ENGLISH not in shown, text
        assert "/srv" not in shown


def test_why_a_job_ended_comes_through_its_process_and_the_store() -> None:
    """As lines of JSON have it; a book that is away, with the reason within the reason."""
    silent = Message("The host 'attic' does not answer.", "host.silent", host="attic")
    problem = Message(f"The book 'Tin' is not available right now. {silent}", "host.book_away", book="Tin", why=silent)
    line = json.loads(json.dumps(failed(problem, RESUME_HINT).details))
    assert (line["problem"], line["remedy"]) == (problem, "Resume it to continue where it stopped.")
    for name in ("problem", "remedy"):
        assert ENGLISH not in translated(message_in(line, name), catalogue_in("fr"))
    assert translated(message_in(line, "problem"), catalogue_in("es")).striptags() == (
        "El libro «Tin» no está disponible en este momento. El equipo «attic» no responde."
    )


def test_a_story_names_every_page_it_began_with() -> None:
    """One, two or three of them, each with its reason, whatever their titles look like."""
    titles = ("Mercury (planet)", "Mercury and Venus", "Mars, or Ares")
    for count in (1, 2, 3):
        seeds = tuple(
            SeedChoice(BookId("book"), title, title, Message("", "seed.alias_is", alias="Hg"), 1.0) for title in titles
        )
        result = translated(
            sources._beginning(StartStep("Mercury", "", False, (), seeds[:count], (), ())), catalogue_in("es")
        )
        named = [f"{title} («Hg» es otro nombre suyo y coincide con el tema)" for title in titles[:count]]
        listed = ", ".join([*named[:-2], " y ".join(named[-2:])])
        assert (
            result.striptags() == f"La búsqueda encontró 0 páginas sobre el tema. La investigación empezó por {listed}."
        )


@pytest.mark.parametrize(
    "text", ["found by search", Message("It was <raining>.", "weather.rain"), Message("Tin", "crawl.seed", tin=1)]
)
def test_a_message_that_is_not_ours_is_shown_unchanged(text: str) -> None:
    """It is marked as English: text without a kind, an unknown kind, or missing values."""
    assert translated(text, catalogue_in("fr")) == f'<span lang="en" dir="ltr">{escape(text)}</span>'


def test_words_of_the_book_keep_their_language() -> None:
    """Quoted words are marked with the language of the book if the reader has another one."""
    where = Message("in its introduction", "crawl.in_lead")
    reason = Message("", "crawl.linked_saying", page="Tin", where=where, sentence="Tin is a metal.")
    result = translated(Message("…", reason.kind, **reason.values), catalogue_in("es"), "eng")
    assert result == (
        '«<bdi lang="en">Tin</bdi>» enlaza con ella en su introducción: «<bdi lang="en">Tin is a metal.</bdi>»'
    )


@pytest.mark.parametrize("language", ["fr", "es"])
@pytest.mark.parametrize("tab", ["", "/pages", "/graph", "/graph?page=2", "/graph?which=left"])
def test_no_page_of_a_run_says_why_in_english(a_run: ARun, browser: httpx2.Client, language: str, tab: str) -> None:
    """Reasons, the story of the crawl, gaps and the words of the picture are in the reader's language."""
    page = browser.get(f"/runs/{a_run.id}{tab}", headers={"Accept-Language": language}).text
    for words in (
        "found by search",
        "links to it",
        "its title matches",
        "Search found",
        "It stopped because",
        "link away",
    ):
        assert words not in page
    head = {"fr": "Pages de départ", "es": "Páginas de partida"}[language]
    assert tab != "/graph" or f'text-anchor="start">{head}</text>' in page


def test_every_term_of_a_score_has_a_name(a_run: ARun) -> None:
    """The terms of a page's score and of a claim's confidence have names in the reader's language."""
    words = catalogue_in("fr")
    nodes = json.loads((a_run.path / "graph.json").read_text(encoding="utf-8"))["nodes"]
    rows = [json.loads(line) for line in (a_run.path / "claims.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {line["signal"] for node in nodes for line in node["lines"]} <= known(words, "graph.signals.")
    assert {term["signal"] for row in rows for term in row["confidence_terms"]} <= known(words, "claims.signals.")


def known(words: Catalogue, family: str) -> frozenset[str]:
    return frozenset(key.removeprefix(family) for key in sorted(words.keys()) if key.startswith(family))


def test_relatives_of_relatives_are_named_in_each_language() -> None:
    """As people say it; a relationship with a word that is not known stays in English."""
    said = {language: kinship_words("husband of the aunt", catalogue_in(language)) for language in LANGUAGES}
    assert said == {"en": "aunt’s husband", "fr": "époux de la tante", "es": "esposo de la tía"}
    assert kinship_words("brother of the wife of the uncle", catalogue_in("en")) == "uncle’s wife’s brother"
    assert kinship_words("friend of the aunt", catalogue_in("fr")) == ""


def test_the_length_of_a_way_is_told_in_links() -> None:
    """Not as a distance."""
    depths = tuple(Message("", "story.at_depth", n=n, depth=depth) for depth, n in enumerate((1, 61, 18, 4, 2)))
    assert [in_reader_language(one, catalogue_in("en")) for one in depths] == [
        "1 to start from",
        "61 one link away",
        "18 two links away",
        "4 three links away",
        "2 at a distance of 4 links",
    ]
