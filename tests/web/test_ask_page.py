"""The page to ask on, as a browser without script sees it."""

from __future__ import annotations

import re

import httpx2


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
