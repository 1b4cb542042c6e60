"""Research in a real browser: begun by a form, watched, stopped, resumed, left and found again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.desk.conftest import OpenWindow, Served, serving
from tests.desk.sights import texts
from tests.llm.servers import serving as serving_model
from tests.research.job_tools import Gate

TOPIC = "Late Bronze Age collapse"


@pytest.fixture
def gated(new_home: Path) -> Iterator[tuple[Gate, Served]]:
    """A desk whose model keeps every run waiting at its third page until the gate is opened."""
    gate = Gate(holds=3)
    with serving_model(gate) as model, serving(new_home, KIWIRESEARCH_MODEL_URL=model.address) as served:
        yield gate, served
        gate.opened.set()


def test_a_run_is_watched_stopped_and_resumed(gated: tuple[Gate, Served], open_window: OpenWindow) -> None:
    """Pages come with their reasons while one looks; a stop keeps them, and going on ends in the brief.

    A server that does not answer for a while is told.
    """
    gate, served = gated
    window = open_window(served.address)
    page = window.go("/research")
    page.locator("#topic").fill(TOPIC)
    page.locator("#max_pages").fill("5")
    page.locator("input[name=model][value=with]").check()
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/research/*")
    address = page.url
    expect(page.locator("ol.taken li").nth(1)).to_be_visible()
    assert all(texts(page.locator("ol.taken li p.why"))), "each page has its reason"
    window.was_faultless()
    page.route("**/events", lambda route: route.abort())
    page.reload()
    expect(page.locator(".away")).to_be_visible()
    page.unroute("**/events")
    expect(page.locator(".away")).to_be_hidden()
    expect(page.locator("ol.taken li").nth(1)).to_be_visible()
    window.faults[:] = [fault for fault in window.faults if "/events" not in fault]
    page.locator("form[action$='/stop'] button").click()
    gate.opened.set()
    resume = page.locator("form[action$='/resume'] button")
    expect(resume).to_be_visible()
    assert page.locator("ol.taken li").count() >= 2
    window.looks_well("research-stopped")
    page = window.go("/research")
    page.locator("#stopped ~ ul a", has_text=TOPIC).first.click()
    page.wait_for_url(address)
    resume.click()
    page.wait_for_url("**/runs/*", timeout=60_000)
    expect(page.locator("h1")).to_have_text(TOPIC)


def test_a_run_without_script(desk: Served, open_window: OpenWindow) -> None:
    """The page of a job loads itself again until the brief is there."""
    window = open_window(desk.address, script=False)
    page = window.go("/research")
    page.locator("#topic").fill("Sunset")
    page.locator("#max_pages").fill("3")
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/runs/*", timeout=60_000)
    expect(page.locator("h1")).to_have_text("Sunset")


@pytest.mark.parametrize("script", [True, False])
def test_a_wrong_value_is_told_beside_its_field(desk: Served, open_window: OpenWindow, script: bool) -> None:
    """The form comes again with what was typed, and says what is wrong where it is."""
    window = open_window(desk.address, script=script)
    window.rough = True
    page = window.go("/research")
    page.locator("form.research-form").evaluate("form => { form.noValidate = true; }")
    page.locator("#topic").fill("Sunset")
    page.locator("#max_pages").fill("-7")
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#max_pages-fault")).to_be_visible()
    assert page.locator("#topic").input_value() == "Sunset"
    assert page.locator("#max_pages").get_attribute("aria-invalid") == "true"
    if script:
        assert window.violations() == []


def test_a_reload_loses_nothing_typed(desk: Served, open_window: OpenWindow) -> None:
    """What was typed into the form is there again after a reload."""
    window = open_window(desk.address)
    page = window.go("/research")
    page.locator("#topic").fill("Sea Peoples")
    page.locator("#aspect").fill("origin")
    page.locator("#focus").fill("ships")
    page.reload()
    expect(page.locator("#topic")).to_have_value("Sea Peoples")
    expect(page.locator("#aspect")).to_have_value("origin")
    expect(page.locator("#focus")).to_have_value("ships")


MARKUP = "<img src=x onerror=\"window.name='taken'\"><b>Sunset</b>"


def test_a_topic_full_of_markup_is_shown_as_text(desk: Served, open_window: OpenWindow) -> None:
    """In the form, in the progress, in lists and in the brief, a topic is words and nothing else."""
    run = desk.run(topic=f"Sunset {MARKUP}", max_pages=2)
    window = open_window(desk.address)
    for path in ("/", "/research", f"/runs/{run}", f"/runs/{run}/graph", f"/runs/{run}/export", f"/find?q={MARKUP}"):
        page = window.go(path)
        assert page.evaluate("window.name") == "", path
        assert page.locator("main img[src=x]").count() == 0, path
    assert MARKUP in window.go(f"/runs/{run}").locator("h1").inner_text()
