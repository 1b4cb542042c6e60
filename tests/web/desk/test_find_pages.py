"""The pages to search on."""

from __future__ import annotations

import re
from pathlib import Path

import httpx2
from tests.conftest import BookMaker
from tests.web.running import a_client, a_room, running

from kiwiresearch.web.app import make_app
from kiwiresearch.web.room import Room


def test_results_lead_to_pages_and_explain_their_score(client: httpx2.Client, room: Room) -> None:
    """The best page is first; each has its book, and its points one by one on demand."""
    shown = client.get("/find", params={"q": "Sunset"}).text
    hits = shown.partition('<ol class="hits">')[2]
    assert re.search(r'href="(/page/[^"]+)"', hits)[1] == f"/page/{room.shelf.books[0].id}/Sunset"  # type: ignore[index]
    reasons = hits.partition("<details")[2].partition("</details>")[0]
    points = [float(text) for text in re.findall(r'<td class="number">\+?(-?[\d.]+)</td>', reasons)]
    total = re.search(r"([\d.]+) points", reasons)
    assert total is not None
    assert abs(sum(points) - float(total[1])) < 0.05
    assert "its title is the whole query" in reasons


def test_nothing_found_says_what_to_do(client: httpx2.Client) -> None:
    """Words of no page are told so, with near titles where there are any."""
    shown = client.get("/find", params={"q": "xqzzlvbn"})
    assert shown.status_code == 200
    assert "Nothing was found" in shown.text
    assert "Try fewer or other words" in shown.text


def test_a_query_without_words_is_told(client: httpx2.Client) -> None:
    """A query of signs is refused with a remedy; an empty one only shows the box."""
    refused = client.get("/find", params={"q": "?!"})
    assert refused.status_code == 400
    assert "Bronze Age collapse" in refused.text
    assert client.get("/find").status_code == 200


def test_an_unknown_book_is_told(client: httpx2.Client) -> None:
    """A book that is not here is no fault of the program."""
    assert client.get("/find", params={"q": "sky", "book": "nonesuch"}).status_code == 404


SENSES = {
    "Mercury_(planet)": "<p>Mercury is the first planet from the Sun, and the smallest of them.</p>",
    "Mercury_(element)": "<p>Mercury is a chemical element, a metal that is liquid at room temperature.</p>",
    "Mercury": '<p>Mercury may refer to:</p><ul><li><a href="Mercury_(planet)">Mercury (planet)</a>, a planet</li>'
    '<li><a href="Mercury_(element)">Mercury (element)</a>, a metal</li></ul>',
}


def test_senses_of_a_word_come_on_top(tmp_path: Path, a_book: BookMaker) -> None:
    """A word of several meanings shows them with a line each, above the results."""
    with a_room(tmp_path / "home", str(a_book(SENSES))) as room, running(room, make_app) as address:
        shown = httpx2.get(f"{address}/find", params={"q": "mercury"}, trust_env=False).text
    senses = shown.partition('class="senses"')[2].partition("</section>")[0]
    assert "Mercury (planet)" in senses
    assert "Mercury (element)" in senses
    assert shown.index('class="senses"') < shown.index('class="hits"')


def test_results_of_one_book_only(tmp_path: Path, a_book: BookMaker) -> None:
    """With several books there is a choice, and it is kept to."""
    one = a_book({"Kite": "<p>A kite is a toy that flies.</p>"}, name="one.zim", Name="one", Title="One")
    two = a_book({"Kite": "<p>A kite is a bird of prey.</p>"}, name="two.zim", Name="two", Title="Two")
    with a_room(tmp_path / "home", str(one), str(two)) as room, running(room, make_app) as address:
        books = {book.title: book.id for book in room.shelf.books}
        with a_client(address) as client:
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


def test_what_is_searched_for_is_shown_as_text(client: httpx2.Client) -> None:
    """Markup and braces in a query stay text."""
    shown = client.get("/find", params={"q": '"><img src=x onerror=alert(1)> {0} {words}'}).text
    assert "<img" not in shown
