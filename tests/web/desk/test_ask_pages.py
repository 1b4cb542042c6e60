"""The pages to ask on, without a script and with one."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import httpx2
import pytest
from tests.conftest import BookMaker
from tests.web.servers import running_server, server_context, stream_events

from kiwiresearch.ask.answer import Answer
from kiwiresearch.ask.settings import ConversationTurn
from kiwiresearch.web.app import make_app
from kiwiresearch.web.desk.answers import as_heading
from kiwiresearch.web.desk.questions import MAX_EARLIER_ANSWER, MAX_TURNS_IN_ADDRESS, QuestionForm, turn_fields

BORN = "When was Einstein born?"


def _ours(client: httpx2.Client) -> dict[str, str]:
    """What a browser says of a request that a page of ours makes."""
    origin = str(client.base_url).rstrip("/")
    return {"origin": origin, "sec-fetch-site": "same-origin", "accept": "text/event-stream"}


def test_people_ask_on_a_page_without_script(client: httpx2.Client) -> None:
    """The sources come first, then the answer; a source leads to its words marked, also in a frame beside."""
    assert 'action="/ask"' in client.get("/ask").text
    shown = client.get("/ask", params={"q": BORN})
    assert shown.status_code == 200
    assert "<strong>14 March 1879</strong>" in shown.text
    assert shown.text.index('class="chip"') < shown.text.index("<strong>14 March 1879</strong>")
    link = re.search(r'class="chip" id="chip-1" href="(/page/[^"]+)" data-frame="([^"#]+)#mark"', shown.text)
    assert link is not None
    assert re.fullmatch(r"/page/[^?]+\?mark=\d+-\d+#mark", unescape(link[1]))
    assert "kiwi-mark" in client.get(unescape(link[2])).text


@pytest.mark.parametrize(
    ("words", "heading"), [("the red sun", "The red sun"), ("pH of 7", "pH of 7"), ("12 m", "12 m")]
)
def test_the_answer_in_a_few_words_begins_like_a_heading(words: str, heading: str) -> None:
    """With a capital, unless its first word has one of its own."""
    assert as_heading(words) == heading


def test_a_question_without_words_is_refused_with_a_remedy(client: httpx2.Client) -> None:
    """The page says what to do."""
    wordless = client.get("/ask", params={"q": "??"})
    assert wordless.status_code == 400
    assert "Enter a question, for example" in wordless.text
    assert client.get("/ask").status_code == 200


def test_a_question_without_an_answer_is_refused(client: httpx2.Client) -> None:
    """A refusal cites nothing, and offers to search, to research and to ask differently instead of a follow-up."""
    shown = client.get("/ask", params={"q": "Who won the zorbing cup of Xqzzl?"}).text
    assert "No answer found in the books" in shown
    assert 'class="chip"' not in shown
    assert 'id="follow"' not in shown
    assert re.search(r'<input id="rephrased"[^>]+value="Who won the zorbing cup of Xqzzl\?"', shown)
    assert 'href="/find?q=Who+won' in shown
    assert 'href="/research?topic=' in shown


def test_a_refusal_shows_only_passages_about_the_same_thing(client: httpx2.Client) -> None:
    """One common word is not enough; most of what is asked about is."""
    unrelated = client.get("/ask", params={"q": "Who invented the telephone?"}).text
    assert "No answer found in the books" in unrelated
    assert "<q " not in unrelated
    assert "Related pages" not in unrelated
    about = client.get("/ask", params={"q": "What was the name of the dog of Johann Sebastian Bach?"}).text
    assert "No answer found in the books" in about
    assert "Closest passages" in about
    page = client.get("/ask", params={"q": "What was the shoe size of Freddie Mercury?"}).text
    assert "Closest passages" not in page
    assert re.search(r'Related pages: <a href="/page/[^"]+/Freddie_Mercury"', page)


CONFLICT = """<p>The Green Tower was built in 1889.</p><h2>History</h2><p>The Green Tower was built in 1887.</p>"""


def test_both_sides_of_a_disagreement_are_shown(tmp_path: Path, a_book: BookMaker) -> None:
    """Both quotes with their numbers, then that they are quoted, the sources and their book, as plain words."""
    book = a_book({"Green_Tower": CONFLICT}, Title="Towers * & <more>", Flavour="mini")
    with server_context(tmp_path / "home", str(book)) as context, running_server(context, make_app) as address:
        shown = httpx2.get(
            f"{address}/ask", params={"q": "When was the Green Tower built?"}, trust_env=False, timeout=30
        ).text
    sides = shown.partition('class="sides"')[2].partition("</section>")[0]
    for year in (1889, 1887):
        assert re.search(
            rf"The Green Tower was built in {year}\. <a class=\"mark\"[^>]+>\[\d\]</a></blockquote>", sides
        )
    rows = ["<strong>The sources disagree.</strong>", "Quoted from 2 sections of one page.", '<ol class="sources']
    assert [shown.index(part) for part in rows] == sorted(shown.index(part) for part in rows)
    assert "Towers * &amp; &lt;more&gt;, 1\u00a0January 2026 (mini)" in shown


def test_a_question_about_a_later_year_is_told_how_old_the_books_are(tmp_path: Path, a_book: BookMaker) -> None:
    """The newest book is named with its date; a question about an earlier year has no such line."""
    book = a_book({"Green_Tower": CONFLICT}, Title="Towers")
    with server_context(tmp_path / "home", str(book)) as context, running_server(context, make_app) as address:
        later, earlier = (
            httpx2.get(f"{address}/ask", params={"q": f"Who won the {year} Zorbing Cup?"}, trust_env=False).text
            for year in (2030, 2018)
        )
    assert "“Towers” was published on 1\u00a0January 2026, before 2030." in later
    assert "Towers” was published" not in earlier
    assert ("Add and manage books" in later, "Add and manage books" in earlier) == (True, False)
    assert ("rephrase-hint" in later, "rephrase-hint" in earlier) == (False, True), "other words make no book newer"


def test_a_refusal_dates_the_book_of_the_pages_that_it_shows(tmp_path: Path, a_book: BookMaker) -> None:
    """A newer book on something else does not hide that the book with the closest passages is too old."""
    old = a_book(
        {"Zorbing_Cup": "<p>Green Town won the first Zorbing Cup in 1990.</p>"},
        name="old.zim", Name="old", Title="Cups", Date="2007-05-01",
    )  # fmt: skip
    new = a_book({"Kite": "<p>A kite is a toy.</p>"}, name="new.zim", Name="new", Title="Kites", Date="2023-09-04")
    with server_context(tmp_path / "home", str(old), str(new)) as context, running_server(context, make_app) as address:
        shown = httpx2.get(f"{address}/ask", params={"q": "Who won the 2018 Zorbing Cup?"}, trust_env=False).text
    assert "No answer found" in shown
    assert "“Cups” was published on 1\u00a0May 2007, before 2018." in shown
    card = shown.partition('class="problem"')[2].partition("</div>")[0]
    assert ("/find?" in card, "/research?" in card) == (True, False), "no research on a year after the books"


def test_each_section_is_listed_once_among_the_sources(tmp_path: Path, a_book: BookMaker) -> None:
    """Two sentences of one section share a chip and an entry, which has both marks; spaces in brackets are closed."""
    text = "<p>The Green Tower was built in 1889 ( late autumn). The Green Tower was built in 1887.</p>"
    book = a_book({"Green_Tower": text}, Title="Towers")
    with server_context(tmp_path / "home", str(book)) as context, running_server(context, make_app) as address:
        shown = httpx2.get(
            f"{address}/ask", params={"q": "When was the Green Tower built?"}, trust_env=False, timeout=30
        ).text
    sources = shown.partition('<ol class="sources')[2].partition("</ol>")[0]
    assert sources.count("<li>") == 1
    assert re.findall(r">(\[\d\])<", sources) == ["[1]", "[2]"], "the numbers of the sentences, no others"
    assert shown.count('class="chip"') == 1
    assert '<span class="chip-number">1, 2</span>' in shown
    assert "1889 (late autumn)" in unescape(shown)


def test_an_answer_offers_research_once_on_its_subject(client: httpx2.Client) -> None:
    """Not on the whole question, also if the box of the home page led here, and not above a refusal."""
    for question in (BORN, "Who won the 2018 Zorbing Cup of Xqzzl?"):
        shown = client.get("/ask", params={"q": question, "via": "go"}).text
        assert "here is the answer" not in shown
        links = re.findall(r'href="/research\?topic=([^"]*)"', shown)
        assert len(links) == 1
        assert shown.count('href="/find?q=') == 1
        assert "won" not in links[0].lower().split("+")
    assert re.findall(r'href="/research\?topic=([^"]*)"', client.get("/ask", params={"q": BORN}).text) == [
        "Albert+Einstein"
    ]


def test_the_answer_can_be_copied_with_its_sources(client: httpx2.Client) -> None:
    """Without a script there is a text to copy: the words with their marks, and each mark's page, book and quote."""
    shown = client.get("/ask", params={"q": BORN}).text
    found = re.search(r"<textarea[^>]*>([^<]*)</textarea>", shown)
    assert found is not None
    copied = unescape(found[1])
    assert copied.startswith(BORN)
    assert "14 March 1879" in copied
    assert re.search(r"^\[1\] Albert Einstein.*“.*14 March 1879.*”", copied, re.MULTILINE)


def test_a_follow_up_leans_on_what_was_asked_before(client: httpx2.Client) -> None:
    """The form below an answer carries the conversation, without a script; a reload loses none of it."""
    first = client.get("/ask", params={"q": BORN}).text
    form = first.partition('class="follow')[2].partition("</form>")[0]
    fields = [
        (name, unescape(value)) for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form)
    ]
    assert ("before", BORN) in fields
    second = client.get("/ask", params=[*fields, ("q", "And where?")])
    assert "Understood as:" in second.text
    assert "Einstein" in second.text.partition("Understood as:")[2].partition("</p>")[0]
    assert "Earlier in this conversation" in second.text


def test_a_conversation_stays_short_enough_for_an_address() -> None:
    """The oldest turns give way, the last one stays, and each is cut to what is understood of it."""
    long = "Ж" * MAX_EARLIER_ANSWER
    asked = QuestionForm(q="And now?", before=[long] * 8, about=["x"] * 8, said=[long] * 8)
    turns = asked.after(Answer("Last?", "Last?", "title", "", grounded=True, text="y" * 5_000, subject="Z"))
    assert turns[-1] == ConversationTurn("Last?", "Z", "y" * MAX_EARLIER_ANSWER)
    assert len(turns) < 8
    assert sum(len(value) for _, value in turn_fields(turns)) < MAX_TURNS_IN_ADDRESS


def test_an_answer_of_several_lines_can_be_followed_up(client: httpx2.Client) -> None:
    """A browser sends a line end as two characters; the answer is still short enough to be sent back."""
    text = "\n".join(["A row of a table."] * 40)
    fields = turn_fields(QuestionForm(q="Who?").after(Answer("Who?", "Who?", "title", "", grounded=True, text=text)))
    sent = [(name, value.replace("\n", "\r\n")) for name, value in fields]
    assert client.get("/ask", params=[*sent, ("q", "And where is Ugarit?")]).status_code == 200


def test_words_of_a_source_are_shown_once(client: httpx2.Client) -> None:
    """If the answer is in a book's own words, the list below names the page and does not say them again."""
    shown = client.get("/ask", params={"q": BORN}).text
    words, _, rest = shown.partition('<ol class="sources')
    assert "14 March 1879" in words
    assert "<blockquote" not in rest.partition("</ol>")[0]
    assert "Albert Einstein" in rest.partition("</ol>")[0]


@pytest.mark.parametrize(
    ("question", "language"),
    [("Qui a gagné la coupe de Xqzzl et quand ?", "en"), ("¿Quién ganó la copa de Xqzzl?", "es"), ("Xqzzl?", "fr")],
)
def test_a_question_in_a_language_of_no_book_is_explained(client: httpx2.Client, question: str, language: str) -> None:
    """The page names the languages of the books, whatever the language of the pages."""
    shown = client.get("/ask", params={"q": question}, headers={"accept-language": language}).text
    values = {
        "en": "language of the books: English.",
        "fr": "langue des livres\u00a0: anglais.",
        "es": "libros: inglés.",
    }
    assert values[language] in unescape(shown)


def test_a_question_in_another_language_offers_no_research_on_a_chance_page(client: httpx2.Client) -> None:
    """The page that came closest may have nothing to do with it; a page that the question names does."""
    chance, named = (
        client.get("/ask", params={"q": question}).text
        for question in ("¿Quién ganó la copa de los días?", "¿Quién fue el abuelo de Albert Einstein?")
    )
    assert "/research?topic=" not in chance
    assert re.findall(r'href="/research\?topic=([^"]*)"', named) == ["Albert+Einstein"]


@pytest.mark.parametrize(
    ("language", "reason"),
    [
        ("en", "What was found probably does not answer the question."),
        ("fr", "Ce qui a été trouvé ne répond probablement pas à la question."),
        ("es", "Lo que se encontró probablemente no responde a la pregunta."),
    ],
)
def test_a_refusal_says_why_in_the_language_of_the_reader(client: httpx2.Client, language: str, reason: str) -> None:
    """The reason is in JSON in English, and on the page as in the rest of it."""
    asked = {"q": "What was the shoe size of Einstein?"}
    assert reason in unescape(client.get("/ask", params=asked, headers={"accept-language": language}).text)


def test_a_question_in_the_language_of_the_books_gets_no_hint_about_languages(client: httpx2.Client) -> None:
    """If the books have no answer in their own language, the page only says so, also to a French reader."""
    wants = {"accept-language": "fr"}
    shown = client.get("/ask", params={"q": "Who won the zorbing cup of the Xqzzl?"}, headers=wants).text
    assert "langue des livres" not in shown


def test_a_conversation_without_end_is_refused(client: httpx2.Client) -> None:
    """An address with more turns than a page links to is refused."""
    assert client.get("/ask", params=[("q", "Why?"), *[("before", "x")] * 9]).status_code == 422


def test_with_a_script_the_page_comes_before_the_answer(client: httpx2.Client) -> None:
    """The page has the question and an empty place; a browser without a script is sent to the complete answer."""
    shown = client.get("/ask", params={"q": BORN, "live": "on"}).text
    assert "1879" not in shown
    assert '<form id="asked" action="/ask/stream" method="post"' in shown
    led = re.search(r'<noscript><meta http-equiv="refresh" content="0; url=([^"]+)"', shown)
    assert led is not None
    assert "1879" in client.get(unescape(led[1])).text


def test_a_stream_gives_sources_then_words_then_the_whole(client: httpx2.Client) -> None:
    """The script gets parts of the page, drawn by the server as the page without script has them."""
    with client.stream("POST", "/ask/stream", data={"q": BORN}, headers=_ours(client)) as reply:
        assert reply.status_code == 200
        events = list(stream_events(reply.iter_lines()))
    names = [event.name for event in events]
    assert names[0] == "chips"
    assert names[-1] == "done"
    assert "token" in names
    assert 'class="chip"' in events[0].data["html"]
    assert "<strong>14 March 1879</strong>" in events[-1].data["html"]


def test_a_stream_that_cannot_begin_has_a_status(client: httpx2.Client) -> None:
    """A question without words is refused before anything is sent, with what to do."""
    refused = client.post("/ask/stream", data={"q": "??"}, headers=_ours(client))
    assert refused.status_code == 400
    assert refused.json()["remedy"]


def test_other_sites_start_no_stream(client: httpx2.Client) -> None:
    """A page of another site cannot have questions answered here."""
    elsewhere = {"origin": "http://elsewhere.example", "sec-fetch-site": "cross-site"}
    assert client.post("/ask/stream", data={"q": BORN}, headers=elsewhere).status_code == 403


def test_one_page_can_be_asked(client: httpx2.Client) -> None:
    """A question to one page is answered from it alone; a page that does not exist is an error."""
    shown = client.get("/ask", params={"q": "What is it?", "page": "Sunset"})
    assert shown.status_code == 200
    assert set(re.findall(r'data-title="([^"]+)"', shown.text)) <= {"Sunset"}
    assert client.get("/ask", params={"q": "What is it?", "page": "No such page"}).status_code == 404


def test_other_sections_of_the_page_are_offered(client: httpx2.Client) -> None:
    """If the cited page has more sections, the answer leads on to them."""
    shown = client.get("/ask", params={"q": BORN}).text
    links = re.findall(r'href="(/page/[^"]+\?section=[^"]+)"', shown)
    assert bool(links) == ("Read more in" in shown)


def test_a_book_from_right_to_left_is_quoted_so(tmp_path: Path, a_book: BookMaker) -> None:
    """Titles and quotes of an Arabic book carry its language and its direction."""
    text = "<p>برج إيفل هو برج حديدي في باريس بني عام 1889.</p>"
    book = a_book({"برج_إيفل": text}, Language="ara", Title="كتاب")
    with server_context(tmp_path / "home", str(book)) as context, running_server(context, make_app) as address:
        shown = httpx2.get(f"{address}/find", params={"q": "برج إيفل"}, trust_env=False, timeout=30).text
        first = httpx2.get(address, trust_env=False, timeout=30).text
    assert re.search(r'<h3 lang="ar" dir="rtl"><a href="/page/', shown)
    assert re.search(r'<h3 lang="ar" dir="rtl">', first)
