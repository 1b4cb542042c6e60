"""A hostile book and a hostile site in a real browser: they do no harm to the reader."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page
from tests.browser.conftest import OpenWindow, Served
from tests.browser.hostile_book import QUESTION, TAKEN
from tests.browser.other_origin import Elsewhere
from tests.browser.screenshots import Window

STATE = """() => {
  let stored = {};
  try { stored = {...localStorage}; } catch (sandboxed) {}
  return {name: window.name, title: document.title, href: location.href, stored};
}"""


def state(page: Page) -> dict[str, Any]:
    """What a page could have been changed in from below."""
    seen: dict[str, Any] = page.evaluate(STATE)
    return seen


def let_it_try(window: Window) -> None:
    """Give a page time for all it does by itself: refresh, load, fire its events."""
    window.page.wait_for_load_state("load")
    window.page.wait_for_timeout(600)


def untouched(window: Window, path: str, site: Elsewhere) -> None:
    """Open a page that shows a harmful one; nothing but the frame of that knows of it, and no other server does."""
    window.rough = True
    asked: list[str] = []
    window.context.on("page", lambda page: asked.append(page.url))
    window.page.on("dialog", lambda dialog: asked.append(dialog.message))
    window.go(path)
    before = state(window.page)
    let_it_try(window)
    assert state(window.page) == before
    assert TAKEN not in str(before)
    assert [cookie for cookie in window.context.cookies() if cookie.get("name") == TAKEN] == []
    assert asked == [], "no window and no dialog opens by itself"
    assert site.visited == []


HARMS = ("script", "style", "iframe", "object", "embed", "form", "input", "button", "svg", "base", "link", "meta",
         "dialog", "main", "header", "nav", "h1", "[style]", "[onload]", "[onerror]", "[onfocus]", "[onclick]",
         "[ontoggle]", "[target]", "[popover]", "[tabindex]")  # fmt: skip
OURS = """() => {
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  const looks = [".top", ".reading-bar", ".reading-head h1"].map((one) => {
    const style = getComputedStyle(document.querySelector(one));
    return [style.display, style.visibility, style.backgroundColor, style.color, style.opacity];
  });
  return {twice: ids.filter((id, at) => ids.indexOf(id) !== at), looks,
    main: document.querySelectorAll("main").length, fixed: [...document.querySelectorAll(".article *")]
      .filter((one) => /fixed|absolute|sticky/.test(getComputedStyle(one).position)).length};
}"""


def test_a_harmful_page_is_only_text(hostile: Served, open_window: OpenWindow, other_site: Elsewhere) -> None:
    """In the reading view nothing of a page runs, loads, sends, covers or restyles anything; its words are there."""
    window = open_window(hostile.address)
    window.go(f"/page/{hostile.book()}/Quiet_Page")
    looks = window.page.evaluate(OURS)["looks"]
    untouched(window, f"/page/{hostile.book()}/Poisoned_Tower", other_site)
    article = window.page.locator(".article")
    assert article.locator("p", has_text="was built in 1889").count() == 1
    for harm in HARMS:
        assert article.locator(harm).count() == 0, harm
    seen = window.page.evaluate(OURS)
    assert seen == {"twice": [], "looks": looks, "main": 1, "fixed": 0}


def test_a_harmful_page_is_shut_in_its_own_layout(
    hostile: Served, open_window: OpenWindow, other_site: Elsewhere
) -> None:
    """In its original layout, scripts, refreshes, forms and frames of a page are gone, and the sandbox is around it."""
    window = open_window(hostile.address)
    untouched(window, f"/read/{hostile.book()}/Poisoned_Tower", other_site)
    for harm in ("script", "iframe", "object", "embed", "form", "meta[http-equiv=refresh i]", "base"):
        assert window.page.locator(harm).count() == 0, harm


def test_nothing_of_a_page_lies_over_ours(hostile: Served, open_window: OpenWindow) -> None:
    """A page that would cover everything covers nothing: our menu stays where clicks go."""
    window = open_window(hostile.address)
    window.rough = True
    page = window.go(f"/page/{hostile.book()}/Poisoned_Tower")
    page.locator("header nav a").first.click()
    page.wait_for_url("**/")


def test_links_of_a_harmful_page_go_nowhere_harmful(
    hostile: Served, open_window: OpenWindow, other_site: Elsewhere
) -> None:
    """Links that run scripts are only text; a link to another server says so, and does not reveal its origin."""
    window = open_window(hostile.address)
    window.rough = True
    page = window.go(f"/page/{hostile.book()}/Poisoned_Tower")
    before = state(page)
    for text in ("a link", "data"):
        for words in page.locator(".article").get_by_text(text, exact=True).all():
            words.click(force=True, timeout=2_000)
    let_it_try(window)
    assert state(page) == before
    assert other_site.visited == []
    outside = page.locator(".article").get_by_role("link", name="another link")
    assert outside.get_attribute("rel") == "noopener noreferrer nofollow"
    assert outside.get_attribute("ping") is None


def test_scripts_of_a_page_stay_in_its_sandbox(
    scripted: Served, open_window: OpenWindow, other_site: Elsewhere
) -> None:
    """If a user lets pages run their scripts, these reach neither the desk nor another server."""
    window = open_window(scripted.address)
    for layout in ("", "?layout=original"):
        untouched(window, f"/page/{scripted.book()}/Poisoned_Tower{layout}", other_site)
    window.go(f"/page/{scripted.book()}/Quiet_Page")
    window.page.locator(".reading-more > summary").click()
    window.page.get_by_role("link", name="View original layout").click()
    window.page.wait_for_url("**?layout=original")
    window.page.get_by_role("link", name="Back to the article").click()
    window.page.wait_for_url("**/Quiet_Page")
    assert scripted.client.get("/api/research").json()["jobs"] == []


def test_a_harmful_page_beside_an_answer(hostile: Served, open_window: OpenWindow, other_site: Elsewhere) -> None:
    """A source of an answer opens its page, and the page reaches nothing of the desk."""
    window = open_window(hostile.address)
    untouched(window, f"/ask?q={quote(QUESTION)}", other_site)
    window.page.locator("a[href*='/read/']:visible, a[href*='/page/']:visible").first.click()
    window.page.wait_for_url("**/Poisoned_Tower*")
    before = state(window.page)
    let_it_try(window)
    assert state(window.page) == before
    assert other_site.visited == []


FRAMED = ["/", "/ask", "/research", "/find?q=tower", "/family", "/read/{book}/Sunset"]


def test_another_site_cannot_frame_us(desk: Served, open_window: OpenWindow, other_site: Elsewhere) -> None:
    """A frame of a page of another origin stays empty, whatever it asks us for."""
    window = open_window(other_site.address)
    window.rough = True
    for path in FRAMED:
        wanted = desk.address + path.format(book=desk.book())
        other_site.pages["/framing"] = f'<title>framing</title><iframe src="{wanted}"></iframe>'
        inner = window.go("/framing").frames[1]
        assert inner.url.startswith("chrome-error:") or not inner.locator("body").inner_text().strip(), path
    other_site.visited.clear()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_another_site_cannot_post_to_us(
    desk: Served, open_window: OpenWindow, other_site: Elsewhere, host: str
) -> None:
    """A form of another origin, on this machine or not, is refused and leaves nothing behind."""
    other_site.pages["/posting"] = (
        f'<form action="{desk.address}/language" method="post"><input name="language" value="fr">'
        f'<input name="back" value="/"></form><form action="{desk.address}/research" method="post">'
        '<input name="topic" value="Moon"><input name="max_pages" value="3"></form>'
    )
    window = open_window(other_site.address.replace("127.0.0.1", host))
    window.rough = True
    jobs = desk.client.get("/api/research").json()
    for number in range(2):
        page = window.go("/posting")
        with page.expect_navigation() as answer:
            page.locator("form").nth(number).evaluate("form => form.submit()")
        assert answer.value is not None
        assert answer.value.status == 403
    assert window.context.cookies() == []
    assert desk.client.get("/api/research").json() == jobs
    other_site.visited.clear()


def test_another_site_cannot_read_us(desk: Served, open_window: OpenWindow, other_site: Elsewhere) -> None:
    """A script of another origin learns nothing from us, and begins nothing."""
    other_site.pages["/reading"] = "<title>reading</title>"
    window = open_window(other_site.address)
    window.rough = True
    page = window.go("/reading")
    jobs = desk.client.get("/api/research").json()
    script = """async (address) => {
      const tries = [[address + '/'], [address + '/api/books'], [address + '/api/research', {method: 'POST',
        body: '{"topic": "Moon"}', headers: {'Content-Type': 'text/plain'}}]];
      const got = [];
      for (const [url, how] of tries) { try { got.push(await (await fetch(url, how)).text()); } catch (no) {} }
      return got;
    }"""
    assert page.evaluate(script, desk.address) == []
    assert desk.client.get("/api/research").json() == jobs
    other_site.visited.clear()
