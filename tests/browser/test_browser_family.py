"""Families in a real browser: tree, people with their evidence, merges, files, and nobody living uncovered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import OpenWindow, Served
from tests.jobs.job_tools import job_row, put_row
from tests.web.family_server import SEED, Families

from kiwiresearch.cases.case import Case
from kiwiresearch.cases.registry import CaseRegistry
from kiwiresearch.jobs.job import FamilyRequest, Job
from kiwiresearch.workspace.workspace import store_of


@pytest.mark.parametrize("script", [True, False])
def test_a_tree_leads_to_people_and_their_evidence(
    owned_family: Served, family_room: Families, open_window: OpenWindow, script: bool
) -> None:
    """A box of the tree opens a person; each fact has its quote, and the quote its page, marked."""
    window = open_window(owned_family.address, script=script)
    page = window.go(f"/family/{family_room.done}/tree")
    assert page.locator("svg.family a.person").count() >= 3
    assert page.locator(".line-list a").count() >= 3, "the same is told as a list"
    if script:
        whole = page.locator("svg.family").get_attribute("viewBox")
        page.locator("[data-zoom=in]").click()
        expect(page.locator("svg.family")).not_to_have_attribute("viewBox", str(whole))
    page.locator(".line-list a", has_text=SEED).first.click()
    expect(page.locator("h1.person")).to_have_text(SEED)
    assert page.locator("article.fact blockquote").count() >= 1
    page.locator("article.fact figcaption a").first.click(force=True)
    expect(page.locator("h1 mark, .article mark").first).to_be_visible()


def test_a_tree_fits_a_phone(owned_family: Served, family_room: Families, open_window: OpenWindow) -> None:
    """It starts smaller if that shows its full width, but never so small that names cannot be read."""
    page = open_window(owned_family.address, phone=True).go(f"/family/{family_room.done}/tree?generations=1")
    svg = page.locator("svg.family")
    _, _, shown, _ = map(float, str(svg.get_attribute("viewBox")).split())
    whole, room = (float(svg.evaluate(f"one => one.{what}")) for what in ("getBBox().width", "clientWidth"))
    assert whole > room, "else this shows nothing"
    assert shown >= min(whole, room / 0.7)


def test_a_relationship_and_the_sheets_of_a_tree_can_be_used_by_everybody(
    owned_family: Served, family_room: Families, open_window: OpenWindow
) -> None:
    """The picture of how two people are related moves and zooms; a tree is printed by a form that unfolds."""
    case_url = f"/family/{family_room.done}"
    people = owned_family.client.get(f"/api{case_url}/people").json()["people"]
    ids = {one["name"]: one["id"] for one in people}
    window = open_window(owned_family.address)
    page = window.go(f"{case_url}/relation?first={ids['Alice Wendover']}&second={ids['Ralph Wendover']}")
    assert page.locator("svg.family a.person").count() >= 4
    window.assert_accessible("relation-drawn")
    page.locator("svg.family a.person", has_text="Hugh").focus()
    page.keyboard.press("Enter")
    expect(page.locator("h1.person")).to_have_text("Hugh Wendover")
    page = window.go(f"{case_url}/tree")
    page.locator(".tree-paper summary").click()
    window.assert_accessible("tree-paper")
    page.get_by_role("button", name="Show the sheets").click()
    expect(page.locator("section.sheet")).to_have_count(1)
    expect(page.locator("section.sheet .foot")).to_contain_text("Sheet 1 of 1")


def test_people_are_found_as_one_types(owned_family: Served, family_room: Families, open_window: OpenWindow) -> None:
    """The list narrows with each letter, and the form does the same without script."""
    window = open_window(owned_family.address)
    page = window.go(f"/family/{family_room.done}/people")
    everybody = page.locator("#people tbody tr:visible").count()
    page.locator("#q").press_sequentially("edmund", delay=10)
    expect(page.locator("#people tbody tr:visible")).to_have_count(1)
    plain = open_window(owned_family.address, script=False)
    page = plain.go(f"/family/{family_room.done}/people")
    page.locator("#q").fill("edmund")
    page.locator("#q").press("Enter")
    assert 1 <= page.locator("#people tbody tr").count() < everybody


def test_a_merge_is_weighed_made_and_undone(
    owned_family: Served, family_room: Families, open_window: OpenWindow
) -> None:
    """Both people are side by side with what speaks for and against; what was accepted can be undone."""
    case_url = f"/family/{family_room.done}"
    people = owned_family.client.get(f"/api{case_url}/people").json()["people"]
    ids = {one["name"]: one["id"] for one in people}
    values = {"similarity_score": 0.8, "merge_rationale": "Both lived here.", "why_not_merge": "Born far apart."}
    row = {**values, "candidate_pair": [ids["Ann Pell"], ids["Clara Holt"]], "recommended_action": "review"}
    with Case.open(CaseRegistry(family_room.folder).folder(family_room.done)) as case, case.store.step("test"):
        case.store.set_state("proposals", [row])
    window = open_window(owned_family.address)
    page = window.go(f"{case_url}/merges")
    card = page.locator("section.merge").first
    assert card.locator(".side").count() == 2
    assert ["Both lived here." in card.inner_text(), "Born far apart." in card.inner_text()] == [True, True]
    window.assert_accessible("merges-waiting")
    card.locator("input[name=why]").fill("One grave.")
    card.get_by_role("button", name="Merge").click()
    expect(page.locator("section.merge", has_text="One grave.")).to_have_count(1)
    undo = page.locator("details:has(form[action$='/undo'])").first
    expect(undo).to_be_visible()
    undo.locator("summary").click()
    undo.locator("input[name=why]").fill("They were two.")
    undo.locator("form button").click()
    expect(page.locator("form[action$='/undo']")).to_have_count(0)
    again = owned_family.client.get(f"/api{case_url}/people").json()["people"]
    assert {one["name"]: one["id"] for one in again} == ids


def test_a_family_goes_out_and_comes_in(
    owned_family: Served, family_room: Families, open_window: OpenWindow, tmp_path: Path
) -> None:
    """An exported GEDCOM file, sent in by the form, is a case of its own with the same people."""
    window = open_window(owned_family.address)
    page = window.go(f"/family/{family_room.done}/export")
    with page.expect_download() as coming:
        page.locator("main form button", has_text="").first.click()
    target = tmp_path / "family.ged"
    coming.value.save_as(target)
    assert target.read_bytes().lstrip(b"\xef\xbb\xbf").startswith(b"0 HEAD")
    page = window.go("/family")
    page.locator("#import-file").set_input_files(target)
    with page.expect_navigation():
        page.locator("form[action='/family/import'] button").click()
    expect(page.locator("form[action$='/stop']")).to_have_count(0, timeout=60_000)
    page.locator("main a[href^='/family/']").first.click()
    page.locator("main a[href$='/people']").first.click()
    page.wait_for_url("**/people")
    assert page.locator("#people tbody tr", has_text=SEED).count() >= 1


def test_a_case_begins_with_a_name(owned_family: Served, open_window: OpenWindow) -> None:
    """A name leads to a case, whose work goes on as a job that can be left and found again."""
    window = open_window(owned_family.address, script=False)
    page = window.go("/family")
    page.locator("#begin-name").fill("Hugh Wendover")
    page.locator("#begin-name").press("Enter")
    page.wait_for_url("**/family/*")
    page.locator("#steps").fill("2")
    page.locator("form[action$='/run'] button").click()
    page.wait_for_url("**/research/*")
    assert page.locator("a[href*='/family/']").count() >= 1


@pytest.fixture
def growing(family_room: Families) -> Iterator[Callable[[], None]]:
    """A job for the finished family that only ends when the fixture is called."""
    desk = family_room.context.workspace
    store = store_of(replace(desk, settings=replace(desk.settings, serve=family_room.settings())))
    job = Job("growing-1", FamilyRequest(family_room.done), state="running", turn=1)
    # As if another host worked on it: the server's own worker would take a job that waits.
    put_row(store, replace(job_row(job), worker="elsewhere", attempt=1), lease_until=1e11)

    def end() -> None:
        if store.jobs.all(states=["running"]):
            store.jobs.end("elsewhere", job.id, "done", {})

    yield end
    end()


def test_a_tree_grows_while_research_goes_on(
    owned_family: Served, family_room: Families, open_window: OpenWindow, growing: Callable[[], None]
) -> None:
    """A family opens on its tree; people that are found appear in it, and a zoom is kept; the end is said."""
    base = f"/family/{family_room.done}"
    people = {one["name"]: one["id"] for one in owned_family.client.get(f"/api{base}/people").json()["people"]}
    plain = open_window(owned_family.address, script=False).go(base)
    assert "Reload the page" in plain.inner_text("[data-live-state]")
    page = open_window(owned_family.address).go(base)
    tree = page.locator(".drawing svg.family")
    expect(tree.locator("a.person.root")).to_contain_text(SEED)
    for _ in range(4):
        page.locator("[data-zoom=in]").click()
    level = page.locator(".drawing output").inner_text()
    place = tree.locator("a.person.root").bounding_box()
    body = {"kind": "add_relative", "person": people[SEED], "role": "child", "name": "Newly Found", "seen": None}
    made = owned_family.client.post(f"/api{base}/edits", json={key: one for key, one in body.items() if one})
    assert made.status_code < 300, made.text
    expect(tree.get_by_text("Newly Found").first).to_be_attached()
    assert page.locator(".drawing output").inner_text() == level
    moved = tree.locator("a.person.root").bounding_box()
    assert place is not None
    assert moved is not None
    assert [round(place[side] - moved[side]) for side in ("x", "y")] == [0, 0]
    growing()
    expect(page.locator("[data-live-state]")).not_to_contain_text("Research is running")
    edit = made.json()["edit"]["id"]
    assert owned_family.client.post(f"/api{base}/edits/{edit}/undo").status_code < 300
