"""The pages to search on."""

from __future__ import annotations

import re
from pathlib import Path

import httpx2
import pytest
from tests.conftest import BookMaker
from tests.web.servers import http_client, running_server, server_context

from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.search import marked_parts


def test_results_lead_to_pages_and_explain_their_score(client: httpx2.Client, context: ServerContext) -> None:
    """The best page is first; each has its book, and its points one by one on demand."""
    shown = client.get("/find", params={"q": "Sunset"}).text
    hits = shown.partition('<ol class="hits">')[2]
    assert re.search(r'href="(/page/[^"]+)"', hits)[1] == f"/page/{context.shelf.books[0].id}/Sunset"  # type: ignore[index]
    reasons = hits.partition("<details")[2].partition("</details>")[0]
    points = [float(text) for text in re.findall(r'<td class="number">\+?(-?[\d.]+)</td>', reasons)]
    total = re.search(r'class="total number">([\d.]+)<', reasons)
    assert total is not None
    assert abs(sum(points) - float(total[1])) < 0.05
    assert "its title is your whole search" in reasons


def test_a_page_found_by_another_name_says_so(client: httpx2.Client) -> None:
    """The other name follows the title in words, not in brackets, which a title may have itself."""
    hits = client.get("/find", params={"q": "Hittites"}).text.partition('<ol class="hits">')[2]
    assert ">Hittite Empire</a>" in hits
    assert "found as “Hittites”" in hits
    assert "(Hittites)" not in hits


def test_nothing_found_says_what_to_do(client: httpx2.Client) -> None:
    """If no page has the words, the page says so, with similar titles if there are any."""
    shown = client.get("/find", params={"q": "xqzzlvbn"})
    assert shown.status_code == 200
    assert "No results for" in shown.text
    assert "Try fewer or different search terms" in shown.text


def test_a_query_without_words_is_refused(client: httpx2.Client) -> None:
    """A query of signs is refused with a remedy; an empty one only shows the box."""
    refused = client.get("/find", params={"q": "?!"})
    assert refused.status_code == 400
    assert "Bronze Age collapse" in refused.text
    assert client.get("/find").status_code == 200


def test_an_unknown_book_is_reported(client: httpx2.Client) -> None:
    """An unknown book is not an internal error, and the others can still be searched."""
    shown = client.get("/find", params={"q": "sky", "book": "nonesuch"})
    assert shown.status_code == 404
    assert "The library has no book named “nonesuch”." in shown.text
    assert '<a href="/find?q=sky">Search all books</a>' in shown.text
    assert "GET /api" not in shown.text


SENSES = {
    "Mercury_(planet)": "<p>Mercury is the first planet from the Sun, and the smallest of them.</p>",
    "Mercury_(element)": "<p>Mercury is a chemical element, a metal that is liquid at room temperature.</p>",
    "Mercury": '<p>Mercury may refer to:</p><ul><li><a href="Mercury_(planet)">Mercury (planet)</a>, a planet</li>'
    '<li><a href="Mercury_(element)">Mercury (element)</a>, a metal</li></ul>',
}


def test_senses_of_a_word_come_on_top(tmp_path: Path, a_book: BookMaker) -> None:
    """A word of several meanings shows them with a line each, above the results."""
    with (
        server_context(tmp_path / "home", str(a_book(SENSES))) as context,
        running_server(context, make_app) as address,
    ):
        shown = httpx2.get(f"{address}/find", params={"q": "mercury"}, trust_env=False, timeout=30).text
    senses = shown.partition('class="senses"')[2].partition("</section>")[0]
    assert "Mercury (planet)" in senses
    assert "Mercury (element)" in senses
    assert shown.index('class="senses"') < shown.index('class="hits"')


def test_a_sense_in_several_books_is_shown_once(tmp_path: Path, a_book: BookMaker) -> None:
    """Each sense is shown once, with the other books that have it; scores of different books are not compared."""
    one = a_book(SENSES, name="one.zim", Name="one", Title="One")
    two = a_book(SENSES, name="two.zim", Name="wikipedia_en_two", Title="Two", Creator="Wikipedia")
    with server_context(tmp_path / "home", str(one), str(two)) as context, running_server(context, make_app) as address:
        shown = httpx2.get(f"{address}/find", params={"q": "mercury"}, trust_env=False, timeout=30).text
    senses = shown.partition('class="senses"')[2].partition("</section>")[0]
    titles = re.findall(r"<li>.*?<a [^>]+>([^<]+)</a>", senses)
    assert sorted(titles) == ["Mercury (element)", "Mercury (planet)"]
    assert senses.count("also in <a") == 2
    assert "so results from these books alternate" in shown


def test_more_results_come_some_at_a_time(tmp_path: Path, a_book: BookMaker) -> None:
    """The first page links to more results until all are shown; the words of the query are highlighted.

    Numbers that no list can have are refused.
    """
    book = a_book({f"Kite_{n}": f"<p>This kite is number {n} of the kites.</p>" for n in range(45)})
    with (
        server_context(tmp_path / "home", str(book)) as context,
        running_server(context, make_app) as address,
        http_client(address) as client,
    ):
        shown = client.get("/find", params={"q": "kites"}).text
        assert "<h2>Top 20 results</h2>" in shown
        assert "This <b>kite</b> is number" in shown
        seen = re.findall(r'<li id="hit-(\d+)">', shown)
        while more := re.search(r'href="(/find\?[^"]+)#hit-(\d+)"', shown):
            assert more[2] == str(len(seen) + 1)
            shown = client.get(more[1].replace("&amp;", "&")).text
            seen = re.findall(r'<li id="hit-(\d+)">', shown)
        assert (len(seen), "<h2>45 pages, best matches first</h2>" in shown) == (45, True)
        for most in ("0", "101", "many"):
            assert client.get("/find", params={"q": "kites", "most": most}).status_code == 422


@pytest.mark.parametrize(
    ("text", "query", "language", "found"),
    [
        ("A galaxy among galaxies", "what are galaxies?", "eng", ["galaxy", "galaxies"]),
        ("Les cafés naïfs", "cafe", "fra", ["cafés"]),
        ("النيل نهر في أفريقيا", "نهر", "ara", ["نهر"]),
        ("東京は日本の首都です。", "東京", "jpn", ["東京"]),
        ("In the U.S. and elsewhere", "u.s.", "eng", ["U.S."]),
        ("<b>Bold</b>", "nothing", "eng", []),
        ("", "kite", "eng", []),
    ],
)
def test_words_of_the_query_are_highlighted(text: str, query: str, language: str, found: list[str]) -> None:
    """Forms of the words are found in any script, and the text is unchanged."""
    parts = marked_parts(text, query, language)
    assert [part for part, is_found in parts if is_found] == found
    assert "".join(part for part, _ in parts) == text


def test_a_book_that_opens_with_an_article_is_searched_for_it(tmp_path: Path, a_book: BookMaker) -> None:
    """Among several books too, the page that a book begins with is found by its title."""
    one = a_book({"Kite": "<p>A kite is a toy that flies.</p>"}, name="one.zim", Name="one", Title="One")
    pages = {"القاهرة": "<p>القاهرة هي عاصمة مصر.</p>", "النيل": "<p>النيل نهر.</p>"}
    two = a_book(pages, name="two.zim", main_path="القاهرة", Name="two", Title="Two", Language="ara")
    with server_context(tmp_path / "home", str(one), str(two)) as context, running_server(context, make_app) as address:
        shown = httpx2.get(f"{address}/find", params={"q": "القاهرة"}, trust_env=False, timeout=30).text
    assert re.search(r'<h3 lang="ar" dir="rtl"><a href="[^"]+">القاهرة</a></h3>', shown)


def test_results_of_one_book_only(tmp_path: Path, a_book: BookMaker) -> None:
    """With several books there is a choice, and it is kept to."""
    one = a_book({"Kite": "<p>A kite is a toy that flies.</p>"}, name="one.zim", Name="one", Title="One")
    two = a_book({"Kite": "<p>A kite is a bird of prey.</p>"}, name="two.zim", Name="two", Title="Two")
    with server_context(tmp_path / "home", str(one), str(two)) as context, running_server(context, make_app) as address:
        books = {book.title: book.id for book in context.shelf.books}
        with http_client(address) as client:
            shown = client.get("/find", params={"q": "kite", "book": books["Two"]}).text
    assert f'<option value="{books["Two"]}" selected>' in shown
    links = re.findall(r'href="/page/([^/]+)/', shown)
    assert set(links) == {books["Two"]}


def test_a_script_gets_the_results_alone(client: httpx2.Client) -> None:
    """What is put into the page while somebody types is the same part of the page, quick or in full."""
    for fast in ("true", "false"):
        part = client.get("/find/results", params={"q": "sunset", "fast": fast}).text
        assert "<html" not in part
        assert "Sunset</a>" in part
