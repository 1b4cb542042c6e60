"""The page to ask on, as a browser without script sees it."""

from __future__ import annotations

import re
from pathlib import Path

import httpx2
from tests.conftest import BookMaker
from tests.web.running import a_room, running

from kiwiresearch.web.app import make_app


def test_people_ask_on_a_page_without_script(client: httpx2.Client) -> None:
    """The front page has a box, the answer has its citations, and a click on one shows the words marked."""
    assert 'action="/ask"' in client.get("/").text
    shown = client.get("/ask", params={"q": "When was Einstein born?"})
    assert shown.status_code == 200
    assert "<strong>14 March 1879</strong>" in shown.text
    assert "<script" not in shown.text
    link = re.search(r'href="(/read/[^"#]+)[^"]*">\[1\]', shown.text)
    assert link is not None
    assert "kiwi-mark" in client.get(link[1].replace("&amp;", "&")).text


def test_a_question_is_shown_as_text(client: httpx2.Client) -> None:
    """Markup in a question stays text, and what has no words is told so."""
    shown = client.get("/ask", params={"q": "<script>alert(1)</script> Einstein"})
    assert "<script" not in shown.text
    assert client.get("/ask", params={"q": "??"}).status_code == 400
    assert client.get("/ask").status_code == 200


def test_what_is_not_there_is_said(client: httpx2.Client) -> None:
    """A refusal names the nearest pages and cites nothing."""
    shown = client.get("/ask", params={"q": "Who won the zorbing cup of Xqzzl?"}).text
    assert "Nothing in the books answers this." in shown
    assert "<ol>" not in shown


CONFLICT = """<p>The Green Tower was built in 1889.</p><h2>History</h2><p>The Green Tower was built in 1887.</p>"""


def test_a_page_tells_what_a_terminal_tells(tmp_path: Path, a_book: BookMaker) -> None:
    """Both quotes of a disagreement with their numbers, how sure it is, the sources and the book, as plain words."""
    book = a_book({"Green_Tower": CONFLICT}, Title="Towers * & <more>", Flavour="mini")
    with a_room(tmp_path / "home", str(book)) as room, running(room, make_app) as address:
        shown = httpx2.get(f"{address}/ask", params={"q": "When was the Green Tower built?"}, trust_env=False).text
    body = re.sub(r'<a href="/read/[^"]+">(\[\d\])</a>', r"\1", shown)
    for year in (1889, 1887):
        assert re.search(rf"<blockquote>The Green Tower was built in {year}\. \[\d\]</blockquote>", body)
    told = ["<strong>Sources do not agree.</strong>", "right about", "<ol>", "</ol><p>From "]
    assert [body.index(part) for part in told] == sorted(body.index(part) for part in told)
    assert "<p>From Towers * &amp; &lt;more&gt;, 2026-01-01 (mini).</p>" in body
