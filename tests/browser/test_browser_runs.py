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
BROKEN = """all => all.filter((text) => [...text.querySelectorAll(':scope > details + span')].some((after) => {
  const [number, words] = [after.previousElementSibling.querySelector('summary'), after];
  const [box, first] = [number.getBoundingClientRect(), words.getClientRects()[0]];
  return first.x < box.right && box.right < text.getBoundingClientRect().right - 200;
})).length"""
"""In how many texts a line is broken behind a number though there is room for words."""
BESIDE = """one => {
  const [box, text] = [one.getBoundingClientRect(), document.querySelector('.running').getBoundingClientRect()];
  return box.left >= text.right && box.top >= 0 && box.bottom <= innerHeight;
}"""
"""Whether something is in the margin, and within the window."""


@pytest.mark.parametrize("script", [True, False])
def test_pages_to_keep_have_a_button_that_prints_them(
    desk: Served, run: str, open_window: OpenWindow, script: bool
) -> None:
    """The brief, its timeline and an article; without scripts there is no button, and never on paper."""
    window = open_window(desk.address, script=script)
    article = str(window.go(f"/runs/{run}").locator(".bibliography a").first.get_attribute("href"))
    for place in (f"/runs/{run}", f"/runs/{run}/timeline", article):
        page = window.go(place)
        button = page.locator("[data-print]")
        expect(button).to_have_count(1)
        if not script:
            expect(button).to_be_hidden()
            continue
        if not button.is_visible():  # in an article it is under More
            page.locator("details:has([data-print]) > summary").click()
        page.evaluate("() => { window.print = () => { window.printed = (window.printed ?? 0) + 1; }; }")
        button.click()
        assert page.evaluate("() => window.printed") == 1, place
        page.emulate_media(media="print")
        expect(button).to_be_hidden()
        page.emulate_media(media="screen")


@pytest.mark.parametrize("script", [True, False])
def test_a_citation_leads_to_the_words_of_its_page(
    desk: Served, run: str, open_window: OpenWindow, script: bool
) -> None:
    """From a sentence of the brief to its quote, its claim, and the words in the page, in four steps."""
    window = open_window(desk.address, script=script)
    page = window.go(f"/runs/{run}")
    proof = page.locator(".stated details.proof").first
    assert not proof.locator(".passage").is_visible()
    assert page.locator(".running").evaluate_all(BROKEN) == 0, "behind a number the text goes on in its line"
    height = page.locator(".brief").evaluate("one => one.offsetHeight")
    proof.locator("summary").click()
    quote = proof.locator("blockquote mark").first
    expect(quote).to_be_visible()
    assert page.locator(".brief").evaluate("one => one.offsetHeight") == height, (
        "it opens in the margin, and the text stays where it is"
    )
    words = " ".join(quote.inner_text().split())
    proof.locator(f"a[href*='/runs/{run}/claims/']").first.click()
    expect(page.locator("h2.says")).to_be_visible()
    page.locator("cite a").first.click()
    marked = page.locator(".article mark")
    expect(marked.first).to_be_visible()
    assert "".join(texts(marked)).replace(" ", "")[:30] in words.replace(" ", "")


@pytest.mark.parametrize("phone", [False, True])
def test_a_passage_opens_by_keyboard_and_closes(desk: Served, run: str, open_window: OpenWindow, phone: bool) -> None:
    """Enter opens it in the margin, or in a sheet on a phone; Escape and its button close it, and the focus is back."""
    window = open_window(desk.address, phone=phone, dark=phone)
    page = window.go(f"/runs/{run}")
    numbers = page.locator(".running details.proof > summary")
    first, second = numbers.nth(0), numbers.nth(1)
    passages = page.locator(".passage:visible")
    for way in ("Escape", "Enter"):
        first.focus()
        page.keyboard.press("Enter")
        expect(passages).to_have_count(1)
        if not phone:
            assert passages.evaluate(BESIDE)
        page.keyboard.press("Tab")
        expect(passages.locator("[data-close]")).to_be_focused()
        page.keyboard.press(way)
        expect(passages).to_have_count(0)
        expect(first).to_be_focused()
    first.press("Enter")
    assert not window.violations()
    second.press("Enter")
    expect(passages).to_have_count(1)
    window.picture(f"{'phone' if phone else 'brief'}/passage")
    passages.locator("a[href^='#source-']").first.click()
    expect(page.locator(".bibliography li:target")).to_be_in_viewport()


@pytest.mark.parametrize("phone", [False, True])
def test_a_cited_page_opens_beside_the_brief(desk: Served, run: str, open_window: OpenWindow, phone: bool) -> None:
    """With the quote in view; the text keeps its lines, and closing the page leads back to the citation."""
    window = open_window(desk.address, phone=phone, dark=phone)
    page = window.go(f"/runs/{run}")
    page.locator(".running details.proof > summary").first.click()
    link = page.locator(".passage:visible a[data-frame]").first
    height = page.locator(".brief").evaluate("one => one.offsetHeight")
    link.click()
    expect(page.locator("#beside")).to_be_in_viewport(ratio=0.9)
    expect(page.frame_locator("#beside-frame").locator("mark").first).to_be_in_viewport()
    assert page.url.endswith(run), "the brief is still there"
    assert page.locator(".brief").evaluate("one => one.offsetHeight") == height
    if not phone:
        text, beside = page.locator(".brief").bounding_box(), page.locator("#beside").bounding_box()
        assert text
        assert beside
        assert text["x"] + text["width"] <= beside["x"]
    window.picture(f"{'phone' if phone else 'brief'}/beside")
    page.locator("#beside-close").click()
    expect(page.locator("#beside")).to_be_hidden()
    if not phone:
        expect(link).to_be_focused()


@pytest.mark.parametrize("phone", [False, True])
def test_the_tabs_stay_in_their_place(desk: Served, run: str, same_window: OpenWindow, phone: bool) -> None:
    """On every part of a run each tab is at the same place, whichever is chosen and whatever else the part offers."""
    window = same_window(desk.address, phone=phone)
    places = "all => all.map((one) => { const box = one.getBoundingClientRect(); return [box.x, box.y]; })"
    found = [
        window.go(f"/runs/{run}{part}").locator(".tabs a").evaluate_all(places)
        for part in ("", "/claims", "/timeline", "/export")
    ]
    assert found[0]
    assert all(one == found[0] for one in found)


def test_the_outline_follows_the_text(desk: Served, run: str, open_window: OpenWindow) -> None:
    """Beside the text it marks the section that is read; on a phone it is folded, and folds again after a choice."""
    page = open_window(desk.address).go(f"/runs/{run}")
    current = page.locator(".contents a[aria-current]")
    expect(current).to_have_attribute("href", "#summary")
    page.locator(".contents a[href='#disputes']").click()
    expect(current).to_have_attribute("href", "#disputes")
    expect(page.locator(".contents a[href='#summary']")).to_be_in_viewport()
    page = open_window(desk.address, phone=True).go(f"/runs/{run}")
    entry = page.locator(".contents a[href='#disputes']")
    expect(entry).to_be_hidden()
    page.locator(".contents summary").tap()
    entry.tap()
    expect(entry).to_be_hidden()
    expect(page.locator("#disputes")).to_be_in_viewport()
    expect(page.locator(".contents [data-here]")).to_have_text(page.locator("#disputes").inner_text())


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


@pytest.mark.parametrize("script", [True, False])
def test_a_timeline_is_zoomed_and_grouped(desk: Served, run: str, open_window: OpenWindow, script: bool) -> None:
    """Links show fewer years, and groups; with a script in place, where the focus stays and Back undoes a choice."""
    window = open_window(desk.address, script=script)
    page = window.go(f"/runs/{run}/timeline")
    rows = page.locator(".moments > li")
    everything = rows.count()
    if script:
        page.evaluate("window.isSamePage = true")
    page.locator("[data-view=zoom]", has_text="Years").click()
    page.wait_for_url("**zoom=years**")
    expect(page.locator("#timeline [role=status] b")).to_have_text(re.compile(r"^\d+ BC – \d+ BC$"))
    assert 0 < rows.count() < everything
    assert page.locator("svg.timeline a").count() == rows.count()
    step = page.locator("[data-view=earlier], [data-view=later]").first
    before = texts(rows)
    step.click()
    expect(rows.first).not_to_have_text(before[0])
    page.locator("[data-view=group]", has_text="Page").click()
    expect(page.locator("#timeline > h3").first).to_be_visible()
    assert "zoom=years" in page.url
    if script:
        assert page.evaluate("window.isSamePage")
        expect(page.locator("[data-view=group][aria-current]")).to_be_focused()
        window.assert_accessible("timeline-zoomed")
        for _ in range(3):
            page.go_back()
        expect(rows).to_have_count(everything)


def test_a_drawing_is_zoomed_and_moved(desk: Served, second_run: str, open_window: OpenWindow) -> None:
    """By keyboard, by buttons, by wheel and by dragging; what has the focus is in sight, and 0 shows everything."""
    window = open_window(desk.address, phone=True)
    page = window.go(f"/runs/{second_run}/graph")
    view, svg = page.locator(".drawing-view"), page.locator(".drawing-view svg")

    def box() -> list[float]:
        return [float(one) for one in str(svg.get_attribute("viewBox")).split()]

    natural = box()
    view.focus()
    page.keyboard.press("0")
    whole = box()
    assert whole[2] >= 720 > natural[2], "a phone shows a part first, then everything"
    page.keyboard.press("+")
    page.keyboard.press("+")
    nearer = box()
    assert nearer[2] < whole[2]
    page.keyboard.press("ArrowRight")
    assert box()[0] > nearer[0]
    page.locator("[data-zoom=in]").click()
    assert box()[2] < nearer[2]
    page.locator("[data-zoom=out]").click()
    page.locator("[data-zoom=fit]").click()
    assert box() == whole
    expect(page.locator(".drawing output")).not_to_have_text("100%")
    view.scroll_into_view_if_needed()
    place = view.bounding_box()
    assert place
    page.mouse.move(place["x"] + 100, place["y"] + 100)
    view.focus()
    page.mouse.wheel(0, -400)
    expect(svg).not_to_have_attribute("viewBox", " ".join(f"{one:.2f}" for one in whole))
    before = box()
    page.mouse.down()
    page.mouse.move(place["x"] + 40, place["y"] + 100, steps=3)
    page.mouse.up()
    assert box()[0] > before[0]
    assert page.url.endswith("/graph"), "a drag opens no page"
    page.locator("[data-zoom=fit]").click()
    for _ in range(6):
        page.locator("[data-zoom=in]").click()
    last = svg.locator("a").last
    view.focus()
    for _ in range(svg.locator("a").count()):
        page.keyboard.press("Tab")
    expect(last).to_be_focused()
    seen, link = view.bounding_box(), last.locator("circle").bounding_box()
    assert seen
    assert link
    assert seen["x"] <= link["x"] <= seen["x"] + seen["width"]
    assert seen["y"] <= link["y"] <= seen["y"] + seen["height"]
    assert not window.violations()


def _late(route: Route) -> None:
    """Let through what a browser asked for when it no longer counts as an answer to what somebody just did."""
    time.sleep(0.7)
    route.continue_()


@pytest.mark.skipif(
    not has_file("vendor/cytoscape.js"), reason="the package for the larger view is not here (make vendor)"
)
def test_the_graph_is_explored_by_keyboard(desk: Served, run: str, open_window: OpenWindow) -> None:
    """Arrows go from page to page, Enter shows one, Escape or the button returns; the security policy is not violated.

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
    window.assert_accessible("graph-explored")
    page.reload()
    expect(page.locator("#panel-title")).to_have_text(title)
    other = page.locator("table.pages th a", has_not_text=title).last
    name = other.inner_text()
    other.click()
    expect(page.locator("#panel-title")).to_have_text(name)
    for entry in (title, "Choose a page"):
        page.go_back()
        expect(page.locator("#panel-title")).to_have_text(entry)
    expect(canvas.locator("canvas").first).to_be_visible()
    page.locator("[data-do=close]").click()
    expect(page.locator("#picture")).to_be_visible()


def test_the_graph_without_its_package(desk: Served, run: str, open_window: OpenWindow) -> None:
    """If the package cannot be had, the picture that the server drew stays, and words say so."""
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
        window.assert_accessible("compare-snapshots")
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
    assert page.locator(".stated > .sentence").first.is_visible()
    assert page.locator(".running > .sentence").first.is_visible()
    assert page.locator(".proof > summary").first.is_visible(), "its citation, too"
    page.locator(".proof").first.evaluate("one => one.open = true")
    assert not page.locator(".passage").first.is_visible()
    assert page.locator("#bibliography").is_visible()
    assert page.locator(".stated > .notes .tag").first.is_visible(), "what is unusual is marked on paper too"
    assert page.locator(".brief > .hint", has_text="without a label").is_visible()
    window.picture("paper/brief", whole=True)
    claims = window.go(f"/runs/{run}/claims")
    assert claims.locator("tbody tr").first.is_visible()
    assert not claims.locator("a.whole").first.is_visible()
