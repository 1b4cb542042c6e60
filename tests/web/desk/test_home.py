"""The first page: what it offers, what it tells, and where its one box leads."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest
from tests.conftest import BookMaker
from tests.web.desk.conftest import ARun
from tests.web.running import a_client, a_room, running

from kiwiresearch.errors import CannotWrite
from kiwiresearch.system import FileLock
from kiwiresearch.version import __version__
from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.intent import intent_of, is_question, other_actions
from kiwiresearch.web.desk.questions import LOCK, MAX_QUESTIONS, QuestionHistory
from kiwiresearch.workspace.workspace import open_workspace

OURS = {"sec-fetch-site": "same-origin"}


def test_the_first_page_tells_what_runs_here(client: httpx2.Client, room: ServerContext) -> None:
    """It names program and books, each with date, size, language and articles, and loads nothing from elsewhere."""
    text = client.get("/").text
    assert __version__ in text
    for book in room.shelf.books:
        assert f'href="/page/{book.id}/' in text
    for told in ("From", "Language", "English", "Articles", "Size"):
        assert told in text
    assert not re.search(r'(?:src|href)="https?:', text)
    assert "style=" not in text


def test_the_first_page_s_links_lead_to_pages(client: httpx2.Client) -> None:
    """Each link of the first page opens something."""
    links = set(re.findall(r'<a [^>]*href="(/[^"#]*)"', client.get("/").text))
    assert any(link.startswith("/page/") for link in links)
    assert {link: status for link in links if (status := client.get(link).status_code) != 200} == {}


def test_without_a_model_the_first_page_says_what_that_means(client: httpx2.Client) -> None:
    """The state of model and indexes is told in plain words, with what to do."""
    text = client.get("/").text
    assert "own words" in text
    assert "KIWIRESEARCH_MODEL_URL" in text
    assert re.search(r"[\d,]+ titles are indexed", text)


def test_a_model_that_is_away_is_told(tmp_path: Path) -> None:
    """A model that does not answer costs the page nothing, and the reader learns what to do."""
    away = {"KIWIRESEARCH_MODEL_URL": "http://127.0.0.1:9/v1"}
    with a_room(tmp_path, **away) as room, running(room, make_app) as address:
        text = httpx2.get(address, trust_env=False, timeout=30).text
    assert "Start the model" in text


def test_a_book_that_is_gone_is_told(tmp_path: Path, a_book: BookMaker) -> None:
    """A book that cannot be read hides no other, and the reader learns what to do."""
    sound = a_book({"Kite": "<p>A kite is a toy that flies.</p>"}, name="one.zim", Name="one", Title="Sound book")
    gone = a_book({"Kite": "<p>A kite is a bird of prey.</p>"}, name="two.zim", Name="two", Title="Lost book")
    with a_room(tmp_path / "home", str(sound), str(gone)) as room, running(room, make_app) as address:
        gone.unlink()
        text = httpx2.get(address, trust_env=False, timeout=30).text
    assert "Sound book" in text
    assert "Lost book" in text
    assert "cannot be read" in text
    assert "kiwiresearch books list" in text


def test_the_first_page_does_not_wait_for_busy_books(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While somebody has the books, it names them and says when to look again."""
    monkeypatch.setattr("kiwiresearch.web.desk.shelf.TIMEOUT_S", 0.05)
    with a_room(tmp_path) as room, running(room, make_app) as address, room.locked_finder():
        text = httpx2.get(address, trust_env=False, timeout=30).text
    assert "Load this page again in a moment" in text
    assert room.shelf.books[0].title in text


@pytest.mark.parametrize("language", ["en", "fr", "es"])
def test_every_page_of_the_desk_is_there_in_each_language(client: httpx2.Client, language: str) -> None:
    """Home, the choice, ask and search are drawn in the language that the browser wants."""
    wants = {"accept-language": language}
    for place in ("/", "/go?q=Sunset", "/ask", "/ask?q=When+was+Einstein+born%3F", "/find", "/find?q=sky"):
        shown = client.get(place, headers=wants)
        assert shown.status_code == 200
        assert f'<html lang="{language}"' in shown.text


def test_recent_research_is_found_again(a_run: ARun) -> None:
    """A finished run stands on the first page, and its link leads to the run."""
    assert f'href="/runs/{a_run.id}"' in a_run.client.get("/").text


@pytest.mark.parametrize(
    "words",
    [
        "When was Einstein born?",
        "who was Homer",
        "how do volcanoes form",
        "Quand Einstein est-il né",
        "qu'est-ce que la photosynthèse",
        "où se trouve Ugarit",
        "¿Dónde está Ugarit",
        "por qué el cielo es azul",
        "can penguins fly",
        "should I boil water before drinking",
        "in what year did the Titanic sink",
        "to whom did Beethoven dedicate the Eroica",
        "en quelle année est mort Victor Hugo",
        "y a-t-il de la vie sur Mars",
        "hay vida en Marte",
        "tell me about the French Revolution",
        "explain photosynthesis",
        "Compare lions and tigers",
        "Parle-moi de Louis XIV",
        "háblame de Cervantes",
        "Ugarit?",
    ],
)
def test_questions_are_told_by_their_sign_or_their_beginning(words: str) -> None:
    """In each language of the desk, with and without a question mark."""
    assert is_question(words)


@pytest.mark.parametrize(
    "words",
    [
        *("", "Who", "How to", "Bronze Age collapse", "Albert Einstein", "Isaac Newton", "Do", "Tell me"),
        *("Will Smith actor", "Can Dündar journalist"),
    ],
)
def test_names_and_topics_are_no_questions(words: str) -> None:
    """A name that looks like the beginning of a question is none."""
    assert not is_question(words)


def test_the_box_leads_a_question_to_its_answer(client: httpx2.Client) -> None:
    """The answer's page says why one is there, and offers the other ways."""
    led = client.get("/go", params={"q": "When was Einstein born?"})
    assert led.status_code == 303
    assert led.headers["location"].startswith("/ask?q=When+was+Einstein+born%3F")
    shown = client.get(led.headers["location"]).text
    assert "reads like a question" in shown
    for other in ("/research?topic=", "/find?q=", "/family?name="):
        assert f'href="{other}' in shown


def test_a_question_is_no_name_of_a_family() -> None:
    """A family is looked for by the name in a question, and not offered where there is none."""
    assert dict(other_actions("When was Ada Green's son born?"))["family"] == "/family?name=Ada+Green"
    assert "family" not in dict(other_actions("how do volcanoes form"))
    assert dict(other_actions("Ada Green"))["family"] == "/family?name=Ada+Green"


def test_the_box_leads_plain_words_to_a_search(client: httpx2.Client) -> None:
    """Words that no page is named by are searched for, and the other ways stay open."""
    led = client.get("/go", params={"q": "orange evening skies"})
    assert led.headers["location"].startswith("/find?q=orange+evening+skies")
    assert 'href="/research?topic=orange+evening+skies"' in client.get(led.headers["location"]).text


def test_a_name_leaves_the_choice_to_the_reader(client: httpx2.Client, room: ServerContext) -> None:
    """The page of that name, research, search and a question are offered side by side, in any case of letters."""
    shown = client.get("/go", params={"q": "sunset"})
    assert shown.status_code == 200
    assert f'href="/page/{room.shelf.books[0].id}/Sunset"' in shown.text
    assert 'href="/research?topic=sunset"' in shown.text
    assert "/family?name=" not in shown.text.partition("<main")[2].partition("</ul>")[0]


def test_a_person_is_offered_a_family(tmp_path: Path, a_book: BookMaker) -> None:
    """A page about somebody who was born and died is taken for a person's; one about a thing is not."""
    pages = {
        "Ada_Green": "<p>Ada Green (3 May 1820 – 4 June 1891) was a painter. She was known for her skies.</p>",
        "Green_Tower": "<p>The Green Tower is a tower in a town.</p>",
    }
    with a_room(tmp_path / "home", str(a_book(pages))) as room:
        assert intent_of(room, "ada green").is_person
        assert not intent_of(room, "Green Tower").is_person


def test_a_choice_is_kept_to(client: httpx2.Client) -> None:
    """Who says what to do is led there, whatever the words look like."""
    for way, place in (
        ("find", "/find?q="),
        ("ask", "/ask?q="),
        ("research", "/research?topic="),
        ("family", "/family?name="),
    ):
        assert client.get("/go", params={"q": "Sunset", "way": way}).headers["location"] == f"{place}Sunset"
    assert client.get("/go", params={"q": "  "}).headers["location"] == "/"


def test_telling_does_not_wait_for_busy_books(room: ServerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """While somebody has the books, words are taken for words."""
    monkeypatch.setattr("kiwiresearch.web.desk.intent.TIMEOUT_S", 0.05)
    taken, done = threading.Event(), threading.Event()

    def hold() -> None:
        with room.locked_finder():
            taken.set()
            done.wait(10)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert taken.wait(10)
        assert intent_of(room, "Sunset").kind == "words"
    finally:
        done.set()
        holder.join()
    assert intent_of(room, "Sunset").kind == "name"


def test_questions_are_kept_once_and_forgotten_on_demand(tmp_path: Path) -> None:
    """The newest is first, the same question counts once, and a button forgets them all."""
    with a_room(tmp_path) as room, running(room, make_app) as address, a_client(address) as client:
        for question in ("When was Einstein born?", "Why is the sky orange at sunset?", "When was Einstein born?"):
            client.get("/ask", params={"q": question})
        shown = client.get("/").text
        assert shown.count("When was Einstein born?</a>") == 1
        assert shown.index("Einstein born?</a>") < shown.index("sunset?</a>")
        assert client.post("/questions/forget", data={}, headers={**OURS, "origin": address}).status_code == 303
        assert "Einstein born?</a>" not in client.get("/").text


def test_a_server_with_a_token_keeps_no_questions(tmp_path: Path) -> None:
    """Several people share it; and who does not want it has a setting."""
    for setting in ({"KIWIRESEARCH_SERVE_TOKEN": "long-secret"}, {"KIWIRESEARCH_SERVE_REMEMBER_QUESTIONS": "false"}):
        kept = QuestionHistory(open_workspace(environment={"KIWIRESEARCH_HOME": str(tmp_path), **setting}))
        kept.add("Who asks?")
        assert kept.latest(9) == ()
    assert list(tmp_path.rglob("questions.jsonl")) == []


def test_whether_questions_are_kept_is_told(tmp_path: Path) -> None:
    """An empty list says why it is empty: nothing was asked yet, or nothing is ever kept."""
    for kept, told in (("true", "Nothing has been asked here yet."), ("false", "Questions are not kept")):
        setting = {"KIWIRESEARCH_SERVE_REMEMBER_QUESTIONS": kept}
        with a_room(tmp_path / kept, **setting) as room, running(room, make_app) as address:
            assert told in httpx2.get(address, trust_env=False, timeout=30).text


def test_a_book_without_an_index_of_its_text_is_not_as_good_as_it_gets(tmp_path: Path, a_book: BookMaker) -> None:
    """Of such a book the first page says what it lacks, and praises nothing; its language is told by its name."""
    book = a_book({"Kite": "<p>A kite is a toy that flies.</p>"}, Language="bel", index=False)
    with a_room(tmp_path / "home", str(book)) as room, running(room, make_app) as address:
        text = httpx2.get(address, trust_env=False, timeout=30).text
    assert "has no full-text index" in text
    assert "as good as it gets" not in text
    assert "Belarusian" in text


def test_a_damaged_list_of_questions_is_an_empty_one(tmp_path: Path) -> None:
    """What cannot be read costs the list alone, and the list stays short."""
    desk = open_workspace(environment={"KIWIRESEARCH_HOME": str(tmp_path)})
    kept = QuestionHistory(desk)
    for number in range(MAX_QUESTIONS + 5):
        kept.add(f"Question {number}?")
    assert len(kept.latest(1_000)) == MAX_QUESTIONS
    (desk.folders.state / "questions.jsonl").write_text("[1, nonsense")
    assert kept.latest(9) == ()


def test_two_servers_keep_their_questions_in_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one writes, no other does: it would write back a list that lacks the newest question."""
    desk = open_workspace(environment={"KIWIRESEARCH_HOME": str(tmp_path)})
    ours, theirs = QuestionHistory(desk), QuestionHistory(desk)
    ours.add("First?")
    writing = FileLock(desk.folders.state / LOCK)
    assert writing.acquire()
    with monkeypatch.context() as hurried:
        hurried.setattr("kiwiresearch.web.desk.questions.TIMEOUT_S", 0.05)
        theirs.add("Meanwhile?")
        with pytest.raises(CannotWrite, match="could not be forgotten"):
            theirs.forget()
    assert theirs.latest(9) == ("First?",)
    writing.release()
    monkeypatch.setattr("kiwiresearch.web.desk.questions.TIMEOUT_S", 30)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: (ours, theirs)[number % 2].add(f"Question {number}?"), range(8)))
    assert len(ours.latest(99)) == 9
    ours.forget()
    assert theirs.latest(9) == ()
