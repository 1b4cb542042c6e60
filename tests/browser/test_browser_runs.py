"""A finished run in a real browser: what its brief rests on, claims, graph, comparison and exports."""

from __future__ import annotations

import contextlib
import re
import shutil
import time
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect
from tests.browser.conftest import OpenWindow, Served
from tests.browser.screenshots import texts
from tests.diff.compared_runs import two_snapshots

from kiwiresearch.export.formats import grouped_formats
from kiwiresearch.web.desk.static_files import has_file
from kiwiresearch.workspace.output_folders import runs_folder
from kiwiresearch.workspace.workspace import open_workspace

FORMATS = [form.name for group in grouped_formats().values() for form in group]
PLACE = """one => {
  const [box, text] = [one.getBoundingClientRect(), one.closest('.running').getBoundingClientRect()];
  return [box.x - text.x, box.y - text.y, box.width];
}"""
"""Where something stands in its text, and how wide it is."""
BROKEN = """all => all.filter((text) => [...text.querySelectorAll(':scope > details + span')].some((after) => {
  const [number, words] = [after.previousElementSibling.querySelector('summary'), after];
  const [box, first] = [number.getBoundingClientRect(), words.getClientRects()[0]];
  return first.x < box.right && box.right < text.getBoundingClientRect().right - 200;
})).length"""
"""In how many texts a line is broken behind a number though there is room for words."""


@pytest.mark.parametrize("script", [True, False])
def test_a_statement_unfolds_to_its_evidence(desk: Served, run: str, open_window: OpenWindow, script: bool) -> None:
    """From a sentence of the brief to its claim, its quote, and the words in the page, in four steps."""
    window = open_window(desk.address, script=script)
    page = window.go(f"/runs/{run}")
    statement = page.locator("details.statement").first
    assert not statement.locator(".evidence").is_visible()
    statement.locator("summary").click()
    quote = statement.locator("blockquote").first
    expect(quote).to_be_visible()
    words = " ".join(quote.inner_text().replace("↗", "").split())
    statement.locator(f"a[href*='/runs/{run}/claims/']").first.click()
    expect(page.locator("h2.says")).to_be_visible()
    page.locator("cite a").first.click()
    marked = page.frame_locator(".reading-frame iframe").locator("mark")
    expect(marked.first).to_be_visible()
    assert "".join(texts(marked)).replace(" ", "")[:30] in words.replace(" ", "")


@pytest.mark.parametrize("script", [True, False])
def test_running_text_unfolds_at_its_citation(desk: Served, run: str, open_window: OpenWindow, script: bool) -> None:
    """A small number stands in the line of its sentence; the quotes open below it, and the text goes on behind them."""
    window = open_window(desk.address, script=script)
    page = window.go(f"/runs/{run}")
    text = page.locator(".lead .running").first
    proof = text.locator("details.proof").first
    assert not proof.locator(".evidence").is_visible()
    assert text.locator("ul:visible, li:visible").count() == 0
    number = proof.locator("summary")
    assert page.locator(".running").evaluate_all(BROKEN) == 0, "behind a number the text goes on in its line"
    at_rest = number.evaluate(PLACE)
    assert at_rest[2] < 60, "only a number"
    number.click()
    expect(proof.locator("blockquote").first).to_be_visible()
    assert number.evaluate(PLACE) == at_rest, "it stays where it was"
    window.picture("brief/running")
    proof.locator(f"a[href*='/runs/{run}/claims/']").first.click()
    expect(page.locator("h2.says")).to_be_visible()
    page.go_back()
    first = page.locator(".lead details.proof").first
    if not first.locator(".evidence").is_visible():
        first.locator("summary").click()
    first.locator("a[href^='#source-']").first.click()
    expect(page.locator(".bibliography li:target")).to_be_in_viewport()


def test_claims_are_filtered_as_one_chooses(desk: Served, run: str, open_window: OpenWindow) -> None:
    """The table follows the choice, the focus stays; a reload shows what the address says, and Back undoes a choice."""
    window = open_window(desk.address)
    page = window.go(f"/runs/{run}/claims")
    before = page.locator("#count").inner_text()
    page.locator("#type").select_option("timeline")
    expect(page.locator("#count")).not_to_have_text(before)
    assert len(set(texts(page.locator("td.of-type")))) == 1
    page.locator("#words").press_sequentially("bc", delay=20)
    page.wait_for_url("**words=bc**")
    expect(page.locator("#words")).to_be_focused()
    after = page.locator("#count").inner_text()
    page.reload()
    assert "type=timeline" in page.url
    expect(page.locator("#count")).to_have_text(after)
    page.go_back()
    expect(page.locator("#words")).to_have_value("")
    expect(page.locator("#type")).to_have_value("timeline")
    page.go_back()
    expect(page.locator("#count")).to_have_text(before)


def _late(route: Route) -> None:
    """Let through what a browser asked for when it no longer counts as an answer to what somebody just did."""
    time.sleep(0.7)
    route.continue_()


@pytest.mark.skipif(
    not has_file("vendor/cytoscape.js"), reason="the package for the larger view is not here (make vendor)"
)
def test_the_graph_is_explored_by_keyboard(desk: Served, run: str, open_window: OpenWindow) -> None:
    """Arrows go from page to page, Enter tells of one, Escape or the button leads back; the policy holds.

    What comes late, as it does on an old phone, moves nothing.
    """
    window = open_window(desk.address)
    page = window.go(f"/runs/{run}/graph")
    page.route(re.compile(r"cytoscape\.js|part=panel"), _late)
    page.locator("[data-do=open]").click()
    canvas = page.locator("#explorer .canvas")
    expect(canvas.locator("canvas").first).to_be_visible()
    expect(canvas).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-at]")).not_to_be_empty()
    title = page.locator("[data-at]").inner_text()
    page.keyboard.press("Enter")
    expect(page.locator("#panel-title")).to_have_text(title)
    window.looks_well("graph-explored")
    page.reload()
    expect(page.locator("#panel-title")).to_have_text(title)
    other = page.locator("table.pages th a", has_not_text=title).last
    name = other.inner_text()
    other.click()
    expect(page.locator("#panel-title")).to_have_text(name)
    for told in (title, "Choose a page"):
        page.go_back()
        expect(page.locator("#panel-title")).to_have_text(told)
    expect(canvas.locator("canvas").first).to_be_visible()
    page.locator("[data-do=close]").click()
    expect(page.locator("#picture")).to_be_visible()


def test_the_graph_without_its_package(desk: Served, run: str, open_window: OpenWindow) -> None:
    """Where the package cannot be had, the picture that the server drew stays, and words say so."""
    window = open_window(desk.address)
    window.rough = True
    window.context.route("**/vendor/**", lambda route: route.abort())
    page = window.go(f"/runs/{run}/graph")
    opener = page.locator("[data-do=open]")
    if opener.count():
        opener.click()
        expect(page.locator("[data-problem]")).to_be_visible()
    expect(page.locator("#picture svg")).to_be_visible()


def test_two_snapshots_of_a_book_are_compared(
    desk: Served, desk_home: Path, open_window: OpenWindow, tmp_path: Path
) -> None:
    """On a phone, in French: what changed between two editions of a book is marked, the numbers first."""
    runs = runs_folder(open_workspace({"KIWIRESEARCH_HOME": str(desk_home)}))
    made = two_snapshots(tmp_path)
    try:
        for folder in made:
            shutil.copytree(folder, runs / folder.name)
        window = open_window(desk.address, phone=True, language="fr")
        page = window.go("/compare")
        page.locator("#old").select_option("old")
        page.locator("#new").select_option("new")
        page.locator("form[action='/compare'] button").click()
        rows = page.locator("ol.differences > li")
        rows.first.wait_for()
        assert [one.get_attribute("class") for one in rows.all()] == [
            f"card difference {kind}" for kind in ("numbers", "changed", "changed", "new", "gone")
        ]
        expect(page.locator("main")).to_contain_text("deux éditions d’un même livre, 1er janvier 2026 et 1er mars 2026")
        assert (texts(rows.first.locator("del")), texts(rows.first.locator("ins"))) == (["118"], ["121"])
        window.looks_well("compare-snapshots")
    finally:
        for folder in made:
            shutil.rmtree(runs / folder.name, ignore_errors=True)


@pytest.mark.parametrize("name", FORMATS)
def test_a_run_is_taken_away(desk: Served, run: str, same_window: OpenWindow, tmp_path: Path, name: str) -> None:
    """Each format is a file to keep, named after the topic, and whole; a book of it fits a phone."""
    window = same_window(desk.address, script=False)
    page = window.go(f"/runs/{run}/export")
    with page.expect_download() as coming:
        page.locator(f"#take-{name}").click()
    got = coming.value
    target = tmp_path / got.suggested_filename
    got.save_as(target)
    assert "bronze" in target.name.lower()
    assert target.stat().st_size > 100
    if target.suffix in (".zip", ".epub"):
        with zipfile.ZipFile(target) as packed:
            assert packed.testzip() is None
            packed.extractall(tmp_path / "unpacked")
    if target.suffix == ".epub":
        browser = window.context.browser
        assert browser
        with contextlib.closing(browser.new_page(viewport={"width": 375, "height": 667})) as leaf:
            leaf.goto((tmp_path / "unpacked" / "EPUB" / "brief.xhtml").as_uri())
            assert leaf.evaluate("document.documentElement.scrollWidth") == 375
    if target.suffix == ".zim":
        assert target.read_bytes()[:4] == b"ZIM\x04"


def test_a_brief_on_paper(desk: Served, run: str, open_window: OpenWindow) -> None:
    """Paper has the brief and its bibliography, and nothing to click on."""
    window = open_window(desk.address)
    page = window.go(f"/runs/{run}")
    page.emulate_media(media="print")
    for part in ("header.top", "footer.bottom", "nav.contents", "ul.tabs"):
        assert not page.locator(part).first.is_visible(), part
    assert page.locator("h1").is_visible()
    assert page.locator("details.statement summary").first.is_visible()
    assert page.locator(".running > span").first.is_visible()
    assert page.locator(".proof > summary").first.is_visible(), "its citation, too"
    page.locator(".proof").first.evaluate("one => one.open = true")
    assert not page.locator(".proof .evidence").first.is_visible()
    assert page.locator("#bibliography").is_visible()
    assert page.locator(".statement summary .tag").first.is_visible(), "what is unusual is marked on paper too"
    assert page.locator(".brief > .hint", has_text="without a mark").is_visible()
    window.picture("paper/brief", whole=True)
    claims = window.go(f"/runs/{run}/claims")
    assert claims.locator("tbody tr").first.is_visible()
    assert not claims.locator("a.whole").first.is_visible()
