"""The program's own signs on a page of a book in a real browser: no style of the book hides or imitates them."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser
from tests.browser.chromium import Chromium
from tests.browser.conftest import Served, serving

from kiwiresearch.zim.book_writer import NewPage, write_book

HIDES = """.kiwi-bar, .kiwi-bar * { display: none !important; visibility: hidden !important; z-index: -1 !important }
@layer { .kiwi-bar { opacity: 0 !important; left: -9999px !important } }
html body .kiwi-bar a { all: unset !important; font-size: 0 !important }
.kiwi-bar::before { content: "Another product" !important }
html { filter: blur(9px) !important; zoom: .1 !important } body { transform: translateY(-500px) !important }
mark.kiwi-mark { all: unset !important; background: transparent !important }
a::after, a.kiwi-outside::after { content: none !important; display: none !important }
#cover { position: fixed; inset: 0 0 auto; height: 60px; background: red; z-index: 2147483647 !important }"""
FAKES = """html::after, body::after { content: "Another book" !important; position: fixed; inset: 0 0 auto;
  height: 28px; background: red; z-index: 2147483647 !important }
@keyframes away { from, to { transform: translateY(-500px); opacity: 0 } }
html, body { offset-path: path("M0 -200 L0 -201") !important; offset-rotate: 0deg !important;
  animation: away 9s infinite;
  clip: rect(50px, 9000px, 9000px, 0) !important; mix-blend-mode: difference !important }
mark, a::after { display: none !important; opacity: 0 !important; filter: opacity(0) !important;
  font-size: 0 !important;
  background-image: linear-gradient(white, white) !important; transform: scale(0) !important;
  position: absolute !important; left: -9999px !important }
p { -webkit-text-fill-color: transparent; visibility: hidden }
body { padding-top: 220px }"""
PAGE = f"""<!doctype html><html style="transform: translateX(900px) !important"><head><title>Signs</title>
<style>{HIDES}</style></head><body style="transform: scale(0) !important; opacity: 0 !important">
<p style="margin-top: 90px">The tower was built in 1889 by Ann Pell.</p>
<p><mark id="false" class="kiwi-mark KIWI-mark" style="color: green">It was built in 1700.</mark>
<a id="out" href="https://example.org/">out</a> <a id="in" class="kiwi-outside" href="Other">in</a></p>
<div id="cover" class="kiwi-bar">A false bar</div></body></html>"""


@pytest.fixture(scope="module")
def signs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server of a book whose styles are against ours."""
    home = tmp_path_factory.mktemp("signs")
    names = {"Name": "signs_en", "Title": "Book of signs", "Language": "eng", "Date": "2026-01-01"}
    fakes = PAGE.replace(HIDES, FAKES).replace('style="transform: scale(0) !important; opacity: 0 !important"', "")
    pages = [NewPage("Signs", "Signs", PAGE.encode()), NewPage("Other", "Other", b"<p>Other</p>")]
    pages.append(NewPage("Fakes", "Fakes", fakes.encode()))
    write_book(home / "signs.zim", pages, [], metadata=names, main_path="Signs", index=False)
    with serving(home, str(home / "signs.zim")) as served:
        yield served


@pytest.fixture
def browser(chromium: Chromium) -> Iterator[Browser]:
    """The browser, at work."""
    with chromium.at_work() as browser:
        yield browser


AT_TOP = "() => document.elementsFromPoint(300, 14)[0].closest('.kiwi-bar')?.innerText || ''"
LOOK = """([what, part]) => { const found = document.querySelector(what);
  const style = getComputedStyle(found, part); return [style.content, style.backgroundColor, style.display]; }"""
SHOWN = """(what) => { const found = document.querySelector(what), style = getComputedStyle(found);
  const box = found.getBoundingClientRect();
  return { background: style.backgroundColor, image: style.backgroundImage, text: style.webkitTextFillColor,
    size: style.fontSize, visible: style.visibility === "visible" && box.width > 20 && box.left >= 0 }; }"""
YELLOW = "rgb(255, 228, 92)"


def test_no_style_of_a_book_hides_our_signs(browser: Browser, signs: Served) -> None:
    """The bar stays above all, the quoted words stay marked, and links out of the book keep their arrow."""
    page = browser.new_context(base_url=signs.address).new_page()
    page.goto(f"/read/{signs.book()}/Signs?quote={quote('built in 1889')}")
    assert "Book of signs" in page.evaluate(AT_TOP)
    assert page.evaluate("() => document.querySelector('.kiwi-bar:not(#cover)').getBoundingClientRect().height") == 28
    assert page.evaluate(LOOK, [".kiwi-bar:not(#cover)", "::before"])[0] in ("none", "normal")
    assert page.evaluate(LOOK, ["#mark", None])[1] == YELLOW
    assert page.evaluate(LOOK, ["#out", "::after"])[0] == '"↗"'
    page.context.close()


def test_no_style_of_a_book_covers_moves_or_empties_our_signs(browser: Browser, signs: Served) -> None:
    """Made-up content, paths, clips, animations and inherited styles hide neither the bar nor marks and arrows."""
    page = browser.new_context(base_url=signs.address).new_page()
    page.goto(f"/read/{signs.book()}/Fakes?quote={quote('built in 1889')}")
    assert "Book of signs" in page.evaluate(AT_TOP)
    for root in ("html", "body"):
        assert page.evaluate(LOOK, [root, "::after"])[0] in ("none", "normal")
    mark = page.evaluate(SHOWN, "#mark")
    assert mark == {"background": YELLOW, "image": "none", "text": "rgb(0, 0, 0)", "size": "16px", "visible": True}
    assert page.evaluate(LOOK, ["#out", "::after"])[0] == '"↗"'
    arrow = page.evaluate(
        "() => { const s = getComputedStyle(document.querySelector('#out'), '::after');"
        " return [s.opacity, s.position, s.filter, s.fontSize, s.transform, s.visibility]; }"
    )
    assert arrow == ["1", "static", "none", "12px", "none", "visible"]
    page.context.close()


def test_no_book_uses_our_signs(browser: Browser, signs: Served) -> None:
    """A book's own highlight and link get nothing from our styles, and the bar names the words that we marked."""
    page = browser.new_context(base_url=signs.address).new_page()
    page.goto(f"/read/{signs.book()}/Signs?quote={quote('built in 1889')}")
    assert page.evaluate(LOOK, ["#false", None])[1] != YELLOW
    assert page.evaluate(LOOK, ["#in", "::after"])[0] in ("none", "normal")
    assert "Highlighted: “built in 1889”" in page.evaluate(AT_TOP)
    page.goto(f"/read/{signs.book()}/Signs")
    assert "Highlighted" not in page.evaluate(AT_TOP)
    page.context.close()
