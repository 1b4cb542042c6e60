"""Research in a real browser: started by a form, watched, stopped, resumed, left and found again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import OpenWindow, Served, serving
from tests.browser.screenshots import texts
from tests.jobs.job_tools import Gate
from tests.llm.servers import serving as serving_model

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

    A server that does not answer for a while is reported.
    """
    gate, served = gated
    window = open_window(served.address)
    page = window.go("/research")
    page.locator("#topic").fill(TOPIC)
    page.locator(".more-options > summary").click()
    page.locator("#max_pages").fill("5")
    page.locator("input[name=model][value=with]").check()
    page.get_by_role("button", name="Start research").click()
    page.wait_for_url("**/research/*")
    address = page.url
    expect(page.locator("ol.taken li").nth(1)).to_be_visible()
    assert all(texts(page.locator("ol.taken li p.why"))), "each page has its reason"
    window.assert_no_errors()
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
    window.assert_accessible("research-stopped")
    page = window.go("/research")
    page.locator("#stopped ~ ul a", has_text=TOPIC).first.click()
    page.wait_for_url(address)
    resume.click()
    page.wait_for_url("**/runs/*", timeout=60_000)
    page.wait_for_load_state("networkidle")
    expect(page.locator("h1")).to_have_text(TOPIC)


def test_the_brief_of_a_stopped_run_is_written(gated: tuple[Gate, Served], open_window: OpenWindow) -> None:
    """One click, also without scripts on a phone: the brief says what was not read, and is on the home page."""
    gate, served = gated
    window = open_window(served.address, phone=True, dark=True, script=False)
    page = window.go("/research")
    page.locator("#topic").fill(TOPIC)
    page.locator(".more-options > summary").click()
    page.locator("#max_pages").fill("5")
    page.locator("input[name=model][value=with]").check()
    page.locator(".research-form > p button").click()
    page.wait_for_url("**/research/*")
    assert gate.reached.wait(60)
    page.locator("form[action$='/stop'] button").click()
    gate.opened.set()
    finish = page.locator("form[action$='/finish'] button")
    expect(finish).to_have_text(re.compile(r"Write a brief from the \d pages read so far"), timeout=60_000)
    window.picture("research-stopped-phone")
    finish.click()
    page.wait_for_url("**/runs/*", timeout=60_000)
    expect(page.locator(".brief > .note").first).to_contain_text("of at most 5 pages, so the brief is not complete")
    page = window.go("/")
    expect(page.locator("#recent ~ ul li", has_text=TOPIC)).to_contain_text("stopped early")
    page.locator("#recent ~ ul a", has_text=TOPIC).click()
    page.wait_for_url("**/runs/*")


def test_a_reload_loses_nothing_typed(desk: Served, open_window: OpenWindow) -> None:
    """What was typed into the form is there again after a reload."""
    window = open_window(desk.address)
    page = window.go("/research")
    page.locator("#topic").fill("Sea Peoples")
    page.locator(".more-options > summary").click()
    page.locator("#aspect").fill("origin")
    page.locator("#focus").fill("ships")
    page.reload()
    expect(page.locator("#topic")).to_have_value("Sea Peoples")
    expect(page.locator("#aspect")).to_be_visible()
    expect(page.locator("#aspect")).to_have_value("origin")
    expect(page.locator("#focus")).to_have_value("ships")
