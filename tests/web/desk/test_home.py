"""The first page: what it offers, what it shows, and where its one box leads."""

from __future__ import annotations

import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest
from tests.conftest import BookMaker
from tests.web.desk.conftest import ARun
from tests.web.servers import http_client, running_server, server_context

from kiwiresearch.errors import CannotWrite
from kiwiresearch.system import FileLock
from kiwiresearch.version import __version__
from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.browser import BROWSER_COOKIE
from kiwiresearch.web.desk.question_history import FOLDER, LOCK, MAX_QUESTIONS, QuestionHistory
from kiwiresearch.web.desk.typed_words import intent_of, is_question, other_actions, person_in
from kiwiresearch.workspace.workspace import open_workspace

OURS = {"sec-fetch-site": "same-origin"}

BROWSER = "b" * 22


def test_the_first_page_shows_program_and_books(client: httpx2.Client, context: ServerContext) -> None:
    """It names program and books, each with date, language and articles, and loads nothing from elsewhere."""
    text = client.get("/").text
    assert __version__ in text
    for book in context.shelf.books:
        assert f'href="/page/{book.id}/' in text
    for entry in ("Edition: 1\u00a0July 2025", "English", "121 articles"):
        assert entry in text
    assert not re.search(r'(?:src|href)="https?:', text)
    assert "style=" not in text


def test_the_first_page_s_links_lead_to_pages(client: httpx2.Client) -> None:
    """Each link of the first page opens something."""
    links = set(re.findall(r'<a [^>]*href="(/[^"#]*)"', client.get("/").text))
    assert any(link.startswith("/page/") for link in links)
    assert {
        link: status for link in links if (status := client.get(link, follow_redirects=True).status_code) != 200
    } == {}


def test_the_first_page_has_no_status_if_nothing_needs_attention(client: httpx2.Client) -> None:
    """That there is no model, and that all titles are indexed, is on the pages Settings and Books."""
    text = client.get("/").text
    assert 'id="state"' not in text
    assert "language model" not in text
    assert "Answers and briefs quote the books." in client.get("/settings").text
    assert "titles, with redirects" in client.get("/books").text


def test_a_model_that_is_away_is_reported(tmp_path: Path) -> None:
    """A model that does not answer does not break the page, which says what to do."""
    away = {"KIWIRESEARCH_MODEL_URL": "http://127.0.0.1:9/v1"}
    with server_context(tmp_path, **away) as context, running_server(context, make_app) as address:
        text = httpx2.get(address, trust_env=False, timeout=30).text
    assert "Start the model" in text


def test_a_missing_book_is_reported(tmp_path: Path, a_book: BookMaker) -> None:
    """A book that cannot be read hides no other, and the page says what to do."""
    sound = a_book({"Kite": "<p>A kite is a toy that flies.</p>"}, name="one.zim", Name="one", Title="Sound book")
    gone = a_book({"Kite": "<p>A kite is a bird of prey.</p>"}, name="two.zim", Name="two", Title="Lost book")
    with (
        server_context(tmp_path / "home", str(sound), str(gone)) as context,
        running_server(context, make_app) as address,
    ):
        gone.unlink()
        text = httpx2.get(address, trust_env=False, timeout=30).text
    assert "Sound book" in text
    assert "Lost book" in text
    assert "cannot be read" in text
    assert '<a href="/books">See why</a>' in text


def test_the_first_page_does_not_wait_for_busy_books(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While somebody has the books, it names them and says when to look again."""
    monkeypatch.setattr("kiwiresearch.web.desk.shelf.TIMEOUT_S", 0.05)
    with server_context(tmp_path) as context, running_server(context, make_app) as address, context.locked_finder():
        text = httpx2.get(address, trust_env=False, timeout=30).text
    assert "Reload this page in a moment" in text
    assert context.shelf.books[0].title in text


@pytest.mark.parametrize("language", ["en", "fr", "es"])
def test_every_page_of_the_desk_is_there_in_each_language(client: httpx2.Client, language: str) -> None:
    """Home, the choice, ask and search are drawn in the language that the browser wants."""
    wants = {"accept-language": language}
    for place in ("/", "/go?q=Sunset", "/ask", "/ask?q=When+was+Einstein+born%3F", "/find", "/find?q=sky"):
        shown = client.get(place, headers=wants)
        assert shown.status_code == 200
        assert f'<html lang="{language}"' in shown.text


def test_recent_research_belongs_to_its_browser(a_run: ARun, context: ServerContext) -> None:
    """A run is on the first page of the browser that started it; all others find it among all research."""
    with http_client(str(a_run.client.base_url)) as browser:
        assert "Your research" not in browser.get("/").text
        assert 'href="/research#runs"' in browser.get("/").text
        started = browser.post("/research", data={"topic": "Sunset", "max_pages": "1"}, headers=OURS)
        place = started.headers["location"]
        job = place.rpartition("/")[2]
        assert re.search(rf'href="(?:{place}|/runs/{job})"', browser.get("/").text)
        assert f"/runs/{a_run.id}" not in browser.get("/").text
        assert browser.cookies[BROWSER_COOKIE] not in str(browser.get(f"/api{place}").json())
        browser.post(f"{place}/stop", headers=OURS)
    for other in (http_client(str(a_run.client.base_url)),):
        with other as theirs:
            assert job not in theirs.get("/").text
            assert f"/runs/{a_run.id}" in theirs.get("/research").text


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
def test_questions_are_recognized_by_their_mark_or_first_words(words: str) -> None:
    """In each language of the web interface, with and without a question mark."""
    assert is_question(words)


@pytest.mark.parametrize(
    "words",
    [
        *("", "Who", "How to", "Bronze Age collapse", "Albert Einstein", "Isaac Newton", "Do", "Tell me"),
        *("Will Smith actor", "Can Dündar journalist"),
    ],
)
def test_names_and_topics_are_not_taken_for_questions(words: str) -> None:
    """A name that looks like the start of a question is not one."""
    assert not is_question(words)


def test_the_box_leads_a_question_to_its_answer(client: httpx2.Client) -> None:
    """The answer's page offers the other ways."""
    led = client.get("/go", params={"q": "When was Einstein born?"})
    assert led.status_code == 303
    assert led.headers["location"].startswith("/ask?q=When+was+Einstein+born%3F")
    shown = client.get(led.headers["location"]).text
    assert "You can also:" in shown
    for other in ("/research?topic=", "/find?q=", "/family?name="):
        assert f'href="{other}' in shown


PEOPLE = {
    "Ada_Green": "<p>Ada Green (3 May 1820 – 4 June 1891) was a painter. She was known for her skies. She married.</p>",
    "Green_Tower": "<p>The Green Tower is a tower in a town. It was built in 1889.</p>",
    "Homer": "<p>Homer was a poet. He was born in Greece. His father was Telemachus. He died in Ios.</p>",
    "Mercury_(planet)": "<p>Mercury is the planet nearest to the Sun. It has no moons.</p>",
    "Freddie_Mercury": "<p>Freddie Mercury (5 May 1946 – 4 June 1991) was a singer. He was born in Stone Town.</p>",
}


def test_a_family_is_offered_for_people_only(tmp_path: Path, a_book: BookMaker) -> None:
    """By the name in a question or the words, if a page is about that person; towers and planets have no family."""
    with server_context(tmp_path / "home", str(a_book(PEOPLE))) as context:
        assert person_in(context, "When was Ada Green's son born?") == "Ada Green"
        assert person_in(context, "homer") == "homer"
        assert person_in(context, "When was the Green Tower completed?") == ""
        assert person_in(context, "how do volcanoes form") == ""
        assert person_in(context, "Mercury") == ""
        assert person_in(context, "Volcanoes") == ""
    assert (
        dict(other_actions("When was Ada Green's son born?", person="Ada Green"))["family"] == "/family?name=Ada+Green"
    )
    assert "family" not in dict(other_actions("Green Tower"))


def test_the_box_leads_plain_words_to_a_search(client: httpx2.Client) -> None:
    """Words that no page is named by are searched for, and the other ways stay open."""
    led = client.get("/go", params={"q": "orange evening skies"})
    assert led.headers["location"].startswith("/find?q=orange+evening+skies")
    assert 'href="/research?topic=orange+evening+skies"' in client.get(led.headers["location"]).text


def test_a_name_leaves_the_choice_to_the_reader(client: httpx2.Client, context: ServerContext) -> None:
    """The page of that name, research, search and a question are offered side by side, in any case of letters."""
    shown = client.get("/go", params={"q": "sunset"})
    assert shown.status_code == 200
    assert f'href="/page/{context.shelf.books[0].id}/Sunset"' in shown.text
    assert 'href="/research?topic=sunset"' in shown.text
    assert "/family?name=" not in shown.text.partition("<main")[2].partition("</ul>")[0]


def test_a_person_is_offered_a_family(tmp_path: Path, a_book: BookMaker) -> None:
    """A page about somebody who was born and died is taken for a person's; one about a thing is not."""
    pages = {
        "Ada_Green": "<p>Ada Green (3 May 1820 – 4 June 1891) was a painter. She was known for her skies.</p>",
        "Green_Tower": "<p>The Green Tower is a tower in a town.</p>",
    }
    with server_context(tmp_path / "home", str(a_book(pages))) as context:
        assert intent_of(context, "ada green").is_person
        assert not intent_of(context, "Green Tower").is_person


def test_a_wish_is_the_first_thing_offered(tmp_path: Path, a_book: BookMaker) -> None:
    """A worksheet, a family tree and the causes of something lead there; a wish that cannot be met is searched for."""
    pages = PEOPLE | {"Volcano": "<p>A volcano is an opening through which lava flows.</p>"}
    book = a_book(pages)
    with (
        server_context(tmp_path / "home", str(book)) as context,
        running_server(context, make_app) as address,
        http_client(address) as client,
    ):
        for words, first in (
            ("worksheet on volcanoes", f"/worksheet?book={context.shelf.books[0].id}&amp;path=Volcano"),
            ("Ada Green family tree", "/family?name=Ada+Green"),
            ("causes of the First World War", "/research?topic=causes+of+the+First+World+War"),
        ):
            shown = client.get("/go", params={"q": words}).text.partition('<ul class="cards')[2]
            assert re.findall(r'href="([^"]+)"', shown)[0] == first
        led = client.get("/go", params={"q": "worksheet on the moons of Pluto"}).headers["location"]
    assert led.startswith("/find?q=moons+of+Pluto")


def test_a_plural_finds_the_page_of_the_singular(tmp_path: Path, a_book: BookMaker) -> None:
    """It counts as the name of the page; a word that only has the same stem does not."""
    pages = {
        "Volcano": "<p>A volcano is an opening through which lava flows.</p>",
        "Universe": "<p>The universe is all there is.</p>",
        "Galaxy": "<p>A galaxy has many stars.</p>",
    }
    with server_context(tmp_path / "home", str(a_book(pages))) as context:
        found = {words: intent_of(context, words).pages for words in ("Volcanoes", "galaxies", "universal")}
    assert {words: [page.title for page in pages] for words, pages in found.items()} == {
        "Volcanoes": ["Volcano"],
        "galaxies": ["Galaxy"],
        "universal": [],
    }


def test_the_box_suggests_the_page_that_is_meant_first(tmp_path: Path, a_book: BookMaker) -> None:
    """'Volcano' for 'volcanoes', once, before titles that have the words."""
    pages = {title: f"<p>{title} is a page.</p>" for title in ("Decade Volcanoes", "Volcano", "Volcanoes of Java")}
    with (
        server_context(tmp_path / "home", str(a_book(pages))) as context,
        running_server(context, make_app) as address,
        http_client(address) as client,
    ):
        found = [one["text"] for one in client.get("/suggest", params={"q": "Volcanoes"}).json()["suggestions"]]
    assert found[0] == "Volcano"
    assert len(set(found)) == len(found)


def test_the_button_says_where_a_form_follows(client: httpx2.Client) -> None:
    """Research and families have a form of their own: 'Next'; the style shows one of the two words."""
    box = client.get("/").text.partition('<form class="box"')[2].partition("</form>")[0]
    assert '<button><span class="go">Go</span><span class="next">Next</span></button>' in box


def test_a_worksheet_can_be_made_from_the_menu(client: httpx2.Client, context: ServerContext) -> None:
    """Explore leads to a form that takes the title of an article; a title that no article has is searched for."""
    assert 'href="/worksheet"' in client.get("/").text
    assert 'name="title"' in client.get("/worksheet").text
    named = client.get("/worksheet", params={"title": "sunset"}).headers["location"]
    assert named == f"/worksheet?book={context.shelf.books[0].id}&path=Sunset"
    assert 'href="/find?q=Xqzzl"' in client.get("/worksheet", params={"title": "Xqzzl"}).text


def test_a_misspelt_title_of_a_worksheet_leads_to_similar_ones(client: httpx2.Client, context: ServerContext) -> None:
    """Not only to a search."""
    shown = client.get("/worksheet", params={"title": "Sunnset"}).text
    assert f'<a href="/worksheet?book={context.shelf.books[0].id}&amp;path=Sunset"' in shown


def test_a_choice_is_kept_to(client: httpx2.Client) -> None:
    """An explicit choice is followed, whatever the words look like."""
    for way, place in (
        ("find", "/find?q="),
        ("ask", "/ask?q="),
        ("research", "/research?topic="),
        ("family", "/family?name="),
    ):
        assert client.get("/go", params={"q": "Sunset", "way": way}).headers["location"] == f"{place}Sunset"
    assert client.get("/go", params={"q": "  "}).headers["location"] == "/"


def test_telling_does_not_wait_for_busy_books(context: ServerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """While somebody has the books, words are taken for words."""
    monkeypatch.setattr("kiwiresearch.web.desk.typed_words.TIMEOUT_S", 0.05)
    taken, done = threading.Event(), threading.Event()

    def hold() -> None:
        with context.locked_finder():
            taken.set()
            done.wait(10)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert taken.wait(10)
        assert intent_of(context, "Sunset").kind == "words"
    finally:
        done.set()
        holder.join()
    assert intent_of(context, "Sunset").kind == "name"


def test_questions_are_kept_once_and_forgotten_on_demand(tmp_path: Path) -> None:
    """The newest is first, the same question counts once, and a button forgets them all."""
    with (
        server_context(tmp_path) as context,
        running_server(context, make_app) as address,
        http_client(address) as client,
    ):
        for question in ("When was Einstein born?", "Why is the sky orange at sunset?", "When was Einstein born?"):
            client.get("/ask", params={"q": question})
        shown = client.get("/").text
        assert shown.count("When was Einstein born?</a>") == 1
        assert shown.index("Einstein born?</a>") < shown.index("sunset?</a>")
        assert client.post("/questions/forget", data={}, headers={**OURS, "origin": address}).status_code == 303
        assert "Einstein born?</a>" not in client.get("/").text


def test_questions_are_listed_where_one_asks(tmp_path: Path) -> None:
    """The page to ask and the page of an answer list them, but not the question just answered, and forms lead back."""
    with (
        server_context(tmp_path) as context,
        running_server(context, make_app) as address,
        http_client(address) as client,
    ):
        for question in ("When was Einstein born?", "Why is the sky orange at sunset?"):
            answer = client.get("/ask", params={"q": question}).text
        assert "Einstein born?</a>" in answer
        assert "sunset?</a>" not in answer
        assert "sunset?</a>" in client.get("/ask").text
        sent = {"q": "When was Einstein born?", "back": "/ask"}
        led = client.post("/questions/delete", data=sent, headers={**OURS, "origin": address})
        assert led.headers["location"] == "/ask?deleted=questions.one"
        page = client.get(led.headers["location"]).text
        assert "The question was deleted." in page
        assert "Einstein born?</a>" not in page
        sent["back"] = "//elsewhere.example"
        assert client.post("/questions/restore", data=sent, headers={**OURS, "origin": address}).status_code == 422


def test_each_browser_has_its_own_questions(tmp_path: Path) -> None:
    """On a server without users, nobody sees what somebody else asked; a made-up cookie is not accepted."""
    with (
        server_context(tmp_path) as context,
        running_server(context, make_app) as address,
        http_client(address) as ours,
    ):
        ours.get("/ask", params={"q": "When was Einstein born?"})
        assert "Einstein born?</a>" in ours.get("/").text
        with http_client(address) as theirs:
            assert "Einstein born?</a>" not in theirs.get("/").text
            assert BROWSER_COOKIE not in theirs.cookies
            theirs.cookies.set(BROWSER_COOKIE, "../../x", domain="127.0.0.1")
            theirs.get("/ask", params={"q": "What is a comet?"})
            assert "What is a comet?</a>" not in ours.get("/").text
    assert len(list(tmp_path.rglob("questions/*.jsonl"))) == 2


def test_questions_are_not_stored_if_the_setting_says_so(tmp_path: Path) -> None:
    """The owner of a server decides, and without an id of the browser nothing is stored either."""
    setting = {"KIWIRESEARCH_SERVE_REMEMBER_QUESTIONS": "false"}
    stored = QuestionHistory(open_workspace(environment={"KIWIRESEARCH_HOME": str(tmp_path), **setting}))
    stored.add("Why?", BROWSER)
    assert stored.latest(9, BROWSER) == ()
    stored = QuestionHistory(open_workspace(environment={"KIWIRESEARCH_HOME": str(tmp_path)}))
    stored.add("Why?", "")
    assert stored.latest(9, "") == ()
    assert list(tmp_path.rglob("*.jsonl")) == []


def test_lists_of_browsers_that_are_gone_do_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lists that were used longest ago are deleted."""
    monkeypatch.setattr("kiwiresearch.web.desk.question_history.MAX_LISTS", 3)
    stored = QuestionHistory(open_workspace(environment={"KIWIRESEARCH_HOME": str(tmp_path)}))
    browsers = [f"{number:022}" for number in range(5)]
    for number, browser in enumerate(browsers):
        stored.add("Why?", browser)
        for file in tmp_path.rglob("questions/*.jsonl"):
            if file.stat().st_mtime > 1_000:
                os.utime(file, (number, number))
    assert [bool(stored.latest(1, browser)) for browser in browsers] == [False, False, True, True, True]


def test_a_program_without_cookies_does_not_push_out_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of its requests makes a list of one question; those go first, however old the others are."""
    monkeypatch.setattr("kiwiresearch.web.desk.question_history.MAX_LISTS", 3)
    stored = QuestionHistory(open_workspace(environment={"KIWIRESEARCH_HOME": str(tmp_path)}))
    stored.add("Why?", BROWSER)
    stored.add("When?", BROWSER)
    for number in range(6):
        stored.add("Who?", f"{number:022}")
    assert stored.latest(9, BROWSER) == ("When?", "Why?")


def test_the_status_says_whether_questions_are_kept(tmp_path: Path) -> None:
    """A server that never keeps questions says so in its status."""
    for kept in ("true", "false"):
        setting = {"KIWIRESEARCH_SERVE_REMEMBER_QUESTIONS": kept}
        with server_context(tmp_path / kept, **setting) as context, running_server(context, make_app) as address:
            text = httpx2.get(address, trust_env=False, timeout=30).text
            assert ("does not save questions" in text) == (kept == "false")


def test_a_book_without_a_full_text_index_is_marked(tmp_path: Path, a_book: BookMaker) -> None:
    """The page Books says what such a book lacks; the home page shows its language by name."""
    book = a_book({"Kite": "<p>A kite is a toy that flies.</p>"}, Language="bel", index=False)
    with server_context(tmp_path / "home", str(book)) as context, running_server(context, make_app) as address:
        text = httpx2.get(address, trust_env=False, timeout=30).text
        books = httpx2.get(f"{address}/books", trust_env=False, timeout=30).text
    assert "has no full-text index" in books
    assert 'id="state"' not in text
    assert "Belarusian" in text


def test_a_damaged_list_of_questions_is_an_empty_one(tmp_path: Path) -> None:
    """What cannot be read costs the list alone, and the list stays short."""
    desk = open_workspace(environment={"KIWIRESEARCH_HOME": str(tmp_path)})
    kept = QuestionHistory(desk)
    for number in range(MAX_QUESTIONS + 5):
        kept.add(f"Question {number}?", BROWSER)
    assert len(kept.latest(1_000, BROWSER)) == MAX_QUESTIONS
    (file,) = desk.folders.state.rglob("questions/*.jsonl")
    file.write_text("[1, nonsense")
    assert kept.latest(9, BROWSER) == ()


def test_two_servers_keep_their_questions_in_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one writes, no other does: it would write back a list that lacks the newest question."""
    desk = open_workspace(environment={"KIWIRESEARCH_HOME": str(tmp_path)})
    ours, theirs = QuestionHistory(desk), QuestionHistory(desk)
    ours.add("First?", BROWSER)
    writing = FileLock(desk.folders.state / FOLDER / LOCK)
    assert writing.acquire()
    with monkeypatch.context() as hurried:
        hurried.setattr("kiwiresearch.web.desk.question_history.TIMEOUT_S", 0.05)
        theirs.add("Meanwhile?", BROWSER)
        with pytest.raises(CannotWrite, match="could not be deleted"):
            theirs.forget(BROWSER)
    assert theirs.latest(9, BROWSER) == ("First?",)
    writing.release()
    monkeypatch.setattr("kiwiresearch.web.desk.question_history.TIMEOUT_S", 30)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: (ours, theirs)[number % 2].add(f"Question {number}?", BROWSER), range(8)))
    assert len(ours.latest(99, BROWSER)) == 9
    ours.forget(BROWSER)
    assert theirs.latest(9, BROWSER) == ()
