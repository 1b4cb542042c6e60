"""Searching and reading in a real browser: titles as one types, senses, scores, filters, and marked words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import OpenWindow, Served, serving
from tests.browser.hostile_book import arabic_book
from tests.browser.screenshots import texts
from tests.runs.illustrated_runs import an_illustrated_book


def test_titles_are_offered_as_one_types(desk: Served, open_window: OpenWindow) -> None:
    """Arrow keys walk through the titles, Enter opens the page, and Escape closes the list without leaving."""
    window = open_window(desk.address)
    page = window.go("/find")
    box = page.get_by_role("combobox")
    box.press_sequentially("bronze a", delay=20)
    options = page.get_by_role("option")
    expect(options.first).to_be_visible()
    expect(box).to_have_attribute("aria-expanded", "true")
    expect(page.locator("#results")).to_have_attribute("aria-busy", "false")
    assert window.violations() == []
    box.press("Escape")
    expect(options).to_have_count(0)
    assert page.url.split("?")[0].endswith("/find")
    box.press_sequentially("g", delay=20)
    expect(options.first).to_be_visible()
    box.press("ArrowDown")
    chosen = page.locator("[role=option][aria-selected=true]")
    expect(box).to_have_attribute("aria-activedescendant", chosen.get_attribute("id") or "")
    box.press("Enter")
    page.wait_for_url("**/page/**")


def test_results_come_as_one_types(desk: Served, open_window: OpenWindow) -> None:
    """They change with the words, the address says what is shown, and a reload shows it again."""
    window = open_window(desk.address)
    page = window.go("/find")
    page.get_by_role("combobox").press_sequentially("sunset", delay=20)
    first = page.locator(".hits h3 a").first
    expect(first).to_have_text("Sunset")
    page.wait_for_url("**/find?q=sunset")
    page.reload()
    expect(first).to_have_text("Sunset")
    refused = {"content_type": "application/problem+json", "body": '{"detail": "no"}'}
    page.route("**/find/results?*", lambda route: route.fulfill(**refused))
    page.get_by_role("combobox").press_sequentially("s")
    expect(page.locator("#results")).to_contain_text("The search did not work.")
    page.reload()
    first.click()
    page.wait_for_url("**/page/**/Sunset")


@pytest.mark.parametrize("script", [True, False])
def test_a_word_of_many_senses(desk: Served, open_window: OpenWindow, script: bool) -> None:
    """Its senses are at the top, and a score shows its terms on demand."""
    window = open_window(desk.address, script=script)
    page = window.go("/find?q=mercury")
    assert len(texts(page.locator(".senses li"))) >= 2
    why = page.locator(".hits details").first
    assert not why.locator("table").is_visible()
    why.locator("summary").click()
    assert why.locator("tbody tr").count() >= 1
    points = [float(text.replace("+", "")) for text in texts(why.locator("tbody td.number"))]
    assert points
    assert f"{sum(points):.1f}"[:-1] in why.locator("tfoot .total").inner_text()


def test_results_of_one_book(tmp_path: Path, sample_zim: Path, open_window: OpenWindow) -> None:
    """With several books, one can be chosen; a page written from right to left is shown so."""
    with serving(tmp_path / "home", str(sample_zim), str(arabic_book(tmp_path / "towers.zim"))) as served:
        window = open_window(served.address)
        page = window.go("/find?q=البرج الأخضر")
        page.locator("#book").select_option(label="كتاب الأبراج")
        hit = page.locator(".hits h3").first
        expect(hit).to_have_attribute("dir", "rtl")
        expect(hit).to_have_attribute("lang", "ar")
        page.locator("#book").select_option(label="kiwiresearch sample book")
        expect(page.locator(".hits h3[dir=rtl]")).to_have_count(0)
        page.locator("#book").select_option(label="كتاب الأبراج")
        page.locator(".hits h3[dir=rtl] a").first.click()
        page.wait_for_url("**/page/**")
        assert page.locator("h1").evaluate("one => getComputedStyle(one).direction") == "rtl"
        window.assert_accessible("right-to-left")
        page = window.go("/")
        assert page.locator("section[aria-labelledby=shelf] ul.cards .card h3[dir=rtl]").count() == 1


@pytest.mark.parametrize("phone", [False, True])
def test_results_and_answers_show_pictures(
    tmp_path: Path, sample_zim: Path, open_window: OpenWindow, phone: bool
) -> None:
    """They load without moving anything, are passed over by the keyboard, and lead to their pages."""
    book = an_illustrated_book(tmp_path / "road.zim")
    with serving(tmp_path / "home", str(book), str(sample_zim)) as served:
        window = open_window(served.address, phone=phone, dark=phone)
        page = window.go("/find?q=Salt road")
        thumb = page.locator(".hits .thumb").first
        expect(thumb.locator("img")).to_have_js_property("complete", value=True)
        assert thumb.locator("img").evaluate("one => one.naturalWidth") > 1
        window.assert_accessible(f"search-pictures{'-phone' if phone else ''}")
        page.locator(".hits h3 a").first.focus()
        page.keyboard.press("Shift+Tab")
        assert page.evaluate("!document.activeElement.closest('.hits')")
        thumb.click()
        page.wait_for_url("**/page/**/Salt_road")
        page = window.go("/ask?q=How long was the Salt road?")
        expect(page.locator(".answer-picture img")).to_be_visible()
        window.assert_accessible(f"answer-picture{'-phone' if phone else ''}")


@pytest.mark.parametrize(("script", "phone"), [(True, False), (False, False), (False, True)])
def test_a_quote_is_in_view(desk: Served, open_window: OpenWindow, script: bool, phone: bool) -> None:
    """A claim links to its words, which are marked and in view below the sticky header."""
    window = open_window(desk.address, script=script, phone=phone)
    page = window.go(f"/page/{desk.book()}/Sunset?beside=true")
    page.locator(".reading-claims li > a").last.click()
    marked = page.locator(".article mark.kiwi-mark").first
    expect(marked).to_be_in_viewport(ratio=1)
    box, bar = marked.bounding_box(), page.locator(".reading-bar").bounding_box()
    assert box
    assert bar
    assert box["y"] > (bar["y"] + bar["height"] if phone else 0)
    assert page.locator(".reading-claims a[aria-current]").count() >= 1, "the list knows which one"
    assert page.locator("#beside[open]").count() == 1


def test_the_contents_show_where_one_is(desk: Served, open_window: OpenWindow) -> None:
    """A section is chosen by keyboard, comes into view, and is marked in the contents; there is one scroll bar."""
    window = open_window(desk.address)
    page = window.go(f"/page/{desk.book()}/Albert_Einstein")
    link = page.locator(".reading-contents a").nth(3)
    link.press("Enter")
    expect(page.locator(".reading-contents a[aria-current=location]")).to_have_count(1)
    assert page.evaluate("scrollY") > 200
    expect(page.locator(f"[id='{page.evaluate('decodeURIComponent(location.hash.slice(1))')}']")).to_be_in_viewport()
    expect(link).to_be_in_viewport()
    scrolled = page.locator(".article").evaluate(
        "one => { for (let at = one; at !== document.documentElement; at = at.parentElement)"
        " if (/auto|scroll/.test(getComputedStyle(at).overflowY)) return at.className; return ''; }"
    )
    assert scrolled == "", "the article flows with the page"


def test_links_move_address_contents_and_claims(desk: Served, open_window: OpenWindow) -> None:
    """A link in an article leads to the page of its target, without a script too, and Back works."""
    window = open_window(desk.address, script=False)
    page = window.go(f"/page/{desk.book()}/Sunset")
    page.locator(".article").get_by_role("link", name="Sunrise").first.click()
    page.wait_for_url("**/Sunrise")
    expect(page.locator("h1")).to_have_text("Sunrise")
    page.go_back()
    expect(page.locator("h1")).to_have_text("Sunset")


def test_a_phone_folds_what_is_less_important(desk: Served, open_window: OpenWindow) -> None:
    """More unfolds the other buttons; the contents unfold from the bar and take no room before."""
    window = open_window(desk.address, phone=True)
    page = window.go(f"/page/{desk.book()}/Albert_Einstein")
    layout = page.get_by_role("link", name="View original layout")
    expect(layout).to_be_hidden()
    page.locator(".reading-more > summary").tap()
    expect(layout).to_be_in_viewport(ratio=1)
    window.assert_accessible("phone/reading-more")
    page.keyboard.press("Escape")
    expect(layout).to_be_hidden()
    expect(page.locator(".reading-nav")).to_be_hidden()
    page.locator(".reading-to-contents").tap()
    expect(page.locator(".reading-contents a").first).to_be_in_viewport()
    page = open_window(desk.address).go(f"/page/{desk.book()}/Albert_Einstein")
    buttons = page.locator(".reading-tools > li")
    tops = {box["y"] for box in (one.bounding_box() for one in buttons.all()) if box}
    assert len(tops) == 1, "the buttons take one line on a desktop, too"
    left = "one => one.getBoundingClientRect().x"
    assert page.locator("h1").evaluate(left) == page.locator(".top .name").evaluate(left)


def test_marking_claims_keeps_the_place(desk: Served, open_window: OpenWindow) -> None:
    """The same page is shown again, and does not jump."""
    page = open_window(desk.address, phone=True).go(f"/page/{desk.book()}/Albert_Einstein")
    page.evaluate("scrollTo({top: 600, behavior: 'instant'})")
    page.locator("[data-keep-place]").evaluate("one => one.click()")
    page.wait_for_url("**claims=true**")
    expect(page.locator("mark.kiwi-claimed").first).to_be_attached()
    page.wait_for_function("scrollY === 600")


PLACE_OF_MATCH = """() => {
  const [range] = CSS.highlights.get("found-current");
  const { top, bottom } = range.getBoundingClientRect();
  return [top, bottom];
}"""


@pytest.mark.parametrize("phone", [False, True])
def test_words_are_found_in_an_article(desk: Served, open_window: OpenWindow, phone: bool) -> None:
    """By keyboard alone: all matches are counted while one types, one is in view, and a marked quote stays marked."""
    window = open_window(desk.address, phone=phone, dark=phone)
    page = window.go(f"/page/{desk.book()}/Albert_Einstein?mark=40-90#mark")
    text = page.locator(".article").inner_html()
    opener = page.get_by_role("button", name="Find", exact=True)
    opener.press("Enter")
    box, count = page.get_by_role("searchbox", name="Find in the article"), page.locator("#find [role=status]")
    expect(box).to_be_focused()
    page.keyboard.type("RELATIVITÝ")
    expect(count).to_have_text(re.compile(r"^\d+ of \d+$"))
    first, total = map(int, count.inner_text().split(" of "))
    assert total > 2
    assert page.evaluate("CSS.highlights.get('found').size") == total
    for keys, shown in (
        ("Enter", first + 1),
        ("Shift+Enter", first),
        ("Tab", first),
        ("Space", (first - 2) % total + 1),
    ):
        page.keyboard.press(keys)
        expect(count).to_have_text(f"{shown} of {total}")
    top, bottom = page.evaluate(PLACE_OF_MATCH)
    covered = page.locator("#find").evaluate("one => one.getBoundingClientRect().bottom")
    assert covered <= top < bottom <= page.evaluate("innerHeight")
    window.assert_accessible(f"{'phone' if phone else 'wide'}/find")
    assert page.locator(".article").inner_html() == text, "the marks are painted over it"
    expect(page.locator("mark.kiwi-mark").first).to_be_attached()
    box.fill("xqzzl")
    expect(count).to_have_text("No matches")
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    expect(opener).to_be_focused()
    assert page.evaluate("CSS.highlights.size") == 0
    page.keyboard.press("f")
    expect(box).to_be_focused()


MADE_TEXT = "<p>The “red <b>sea</b>’s” end</p><p>of day</p><details><summary>More</summary>blue\n sea</details>"
FOUND_IN_MADE_TEXT = {'"red  sea\'s"': "1 of 1", "end of": "No matches", "sea": "1 of 2", "blue sea": "1 of 1"}


def test_words_are_found_across_links_but_not_paragraphs(desk: Served, open_window: OpenWindow) -> None:
    """A phrase may be partly a link and differ in spaces and quotes; folded parts open when a match is in them."""
    page = open_window(desk.address).go(f"/page/{desk.book()}/Sunset")
    page.locator(".article").evaluate("(one, made) => { one.innerHTML = made; }", MADE_TEXT)
    page.keyboard.press("f")
    box, count = page.get_by_role("searchbox", name="Find in the article"), page.locator("#find [role=status]")
    for words, shown in FOUND_IN_MADE_TEXT.items():
        box.fill(words)
        expect(count).to_have_text(shown)
    expect(page.locator(".article details")).to_have_attribute("open", "")


def test_without_script_the_browser_finds_words(desk: Served, open_window: OpenWindow) -> None:
    """No button is shown that would do nothing."""
    page = open_window(desk.address, script=False).go(f"/page/{desk.book()}/Sunset")
    expect(page.locator("[data-find], #find").first).to_be_hidden()
    expect(page.locator("#find")).to_be_hidden()


@pytest.mark.parametrize("script", [True, False])
def test_text_can_be_larger(desk: Served, open_window: OpenWindow, script: bool) -> None:
    """The size is chosen by keyboard, changes the article alone, and is there on the next page."""
    window = open_window(desk.address, script=script)
    page = window.go(f"/page/{desk.book()}/Sunset")

    def size(of: str) -> str:
        return str(page.locator(of).first.evaluate("one => getComputedStyle(one).fontSize"))

    before, menu = size(".article"), size(".top")
    page.get_by_role("button", name="Very large").press("Enter")
    expect(page.locator(".reading-size [aria-current]")).to_have_text("AVery large")
    assert float(size(".article")[:-2]) > float(before[:-2])
    assert size(".top") == menu
    page.wait_for_load_state("networkidle")
    page = window.go(f"/page/{desk.book()}/Sunrise")
    assert float(size(".article")[:-2]) > float(before[:-2])


@pytest.mark.parametrize(("phone", "dark"), [(False, True), (True, False), (True, True)])
def test_an_article_can_be_read_by_everybody(desk: Served, open_window: OpenWindow, phone: bool, dark: bool) -> None:
    """With claims and a quote marked, by day and by night, on paper and on a phone, nothing is in the way."""
    window = open_window(desk.address, phone=phone, dark=dark)
    page = window.go(f"/page/{desk.book()}/Late_Bronze_Age_collapse?claims=true&mark=40-90#mark")
    ink, paper = (page.locator(".article").evaluate(f"one => getComputedStyle({who}).{what}")
                  for who, what in (("one", "color"), ("document.body", "backgroundColor")))  # fmt: skip
    assert ink != paper
    window.assert_accessible(f"{'phone' if phone else 'wide'}/reading{'-dark' if dark else ''}")
    page.emulate_media(media="print")
    for hidden in (".top", ".bottom", ".reading-tools", ".reading-bar", ".reading-nav", ".reading-side"):
        assert not page.locator(hidden).first.is_visible(), hidden
    for shown in ("h1", ".reading-head > p", ".article p"):
        assert page.locator(shown).first.is_visible(), shown


def test_research_begins_at_a_page(desk: Served, open_window: OpenWindow) -> None:
    """From a page, its title matches the topic of a new run, ready to begin."""
    window = open_window(desk.address, script=False)
    page = window.go(f"/page/{desk.book()}/Sunset")
    page.locator("a[href^='/research?']").first.click()
    assert page.locator("#topic").input_value() == "Sunset"
