"""Every page of the desk as everybody meets it: at a desk, on a phone, in the dark, without script, in any language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest
from tests.browser.conftest import OpenWindow, Served
from tests.browser.keyboard import tabbed, usable
from tests.browser.screenshots import MAX_WEIGHT, WEIGHT
from tests.web.family_server import Families

from kiwiresearch.messages.catalogue import catalogue_in

PLACES: Mapping[str, str] = {
    "home": "/",
    "go": "/go?q=Albert+Einstein",
    "ask": "/ask",
    "answer": f"/ask?q={quote('When was Einstein born?')}",
    "refusal": f"/ask?q={quote('Who won the zorbing cup of Xqzzl?')}",
    "results": "/find?q=mercury",
    "nothing": "/find?q=xqzzl",
    "read": "/page/{book}/Sunset",
    "worksheet": "/worksheet?book={book}&path=Late_Bronze_Age_collapse",
    "read-in-run": "/page/{book}/Late_Bronze_Age_collapse?run={run}",
    "research": "/research",
    "brief": "/runs/{run}",
    "claims": "/runs/{run}/claims",
    "claim": "/runs/{run}/claims/{claim}",
    "timeline": "/runs/{run}/timeline",
    "numbers": "/runs/{run}/numbers",
    "graph": "/runs/{run}/graph",
    "pages": "/runs/{run}/pages",
    "notes": "/runs/{run}/notes",
    "export": "/runs/{run}/export",
    "compare-choose": "/compare",
    "compare": "/compare?old={run}&new={second}",
    "family": "/family",
    "shortcuts": "/shortcuts",
    "books": "/books",
    "settings": "/settings",
    "archive": "/archive",
}
CASE_PLACES: Mapping[str, str] = {
    "case": "/family/{case}",
    "tree": "/family/{case}/tree",
    "pedigree": "/family/{case}/tree?of=ancestors",
    "descendants": "/family/{case}/tree?of=descendants",
    "fan": "/family/{case}/tree?of=fan",
    "people": "/family/{case}/people",
    "person": "/family/{case}/people/{person}",
    "relation": "/family/{case}/relation",
    "family-timeline": "/family/{case}/timeline",
    "merges": "/family/{case}/merges",
    "conflicts": "/family/{case}/conflicts",
    "log": "/family/{case}/log",
    "evidence": "/family/{case}/evidence?person={person}",
    "audit": "/family/{case}/audit?check=1",
    "sources": "/family/{case}/sources",
    "family-export": "/family/{case}/export",
    "family-import": "/family/{case}/import",
}


def sentences() -> dict[str, str]:
    """Longer sentences of the English catalogue, by key."""
    words = catalogue_in("en")
    whole = {key: words.entry(key) for key in sorted(words.keys())}
    return {
        key: text for key, text in whole.items() if isinstance(text, str) and len(text.split()) > 3 and "{" not in text
    }


@dataclass(frozen=True, slots=True)
class Site:
    """Where all pages are."""

    addresses: Mapping[str, tuple[str, str]]
    """Server and path of each, by name."""


@pytest.fixture(scope="session")
def site(desk: Served, run: str, second_run: str, owned_family: Served, family_room: Families) -> Site:
    claims: list[dict[str, Any]] = desk.client.get(f"/api/runs/{run}/claims").json()["claims"]
    case = family_room.done
    people = owned_family.client.get(f"/api/family/{case}/people").json()["people"]
    here = {"book": desk.book(), "run": run, "second": second_run, "claim": claims[0]["claim_id"]}
    there = {"case": case, "person": quote(people[0]["id"])}
    ours = {name: (desk.address, path.format_map(here)) for name, path in PLACES.items()}
    theirs = {name: (owned_family.address, path.format_map(there)) for name, path in CASE_PLACES.items()}
    return Site(ours | theirs)


ALL = [*PLACES, *CASE_PLACES]


@pytest.mark.parametrize("name", ALL)
def test_a_page_is_for_everybody(site: Site, same_window: OpenWindow, name: str) -> None:
    """It does not move while it loads, fits a phone, and meets WCAG 2.2 AA: wide or narrow, light or dark."""
    address, path = site.addresses[name]
    window = same_window(address)
    page = window.page
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 800})
    window.go(path)
    assert page.locator("h1").count() == 1
    window.assert_stable(name)
    assert page.evaluate(WEIGHT) < MAX_WEIGHT, "the page is too heavy for a slow network"
    page.set_viewport_size({"width": 375, "height": 667})
    window.fits()
    window.picture(f"phone/{name}")
    page.set_viewport_size({"width": 1280, "height": 800})
    assert window.violations_of_a_sample() == []
    page.emulate_media(color_scheme="dark")
    assert window.violations("color-contrast") == []
    page.set_viewport_size({"width": 375, "height": 667})
    assert window.violations("color-contrast") == []
    page.emulate_media(color_scheme="light")
    assert window.violations() == []


@pytest.mark.parametrize("name", ALL)
def test_a_page_needs_no_script(site: Site, same_window: OpenWindow, name: str) -> None:
    """Without script, on a phone and in another language, it says what it has to say in that language."""
    address, path = site.addresses[name]
    language = ("fr", "es")[ALL.index(name) % 2]
    window = same_window(address, script=False, phone=True, language=language)
    page = window.go(path)
    assert page.locator("html").get_attribute("lang") == language
    words = page.locator("body").inner_text()
    assert {key: text for key, text in sentences().items() if text in words} == {}
    assert page.locator("h1").inner_text().strip()
    window.fits()
    window.picture(f"{language}/{name}")


@pytest.mark.parametrize("name", ["home", "answer", "results", "research", "brief", "claims", "graph", "tree", "read"])
def test_the_keyboard_reaches_everything(site: Site, same_window: OpenWindow, name: str) -> None:
    """The tab key goes through all that can be used, each is seen when it is reached, and shows that it is."""
    address, path = site.addresses[name]
    window = same_window(address)
    page = window.go(path)
    window.shorten(8)
    there = list(usable(page))
    reached = list(tabbed(page, 400))
    assert reached[0]["kind"] == "skip", "the first stop leads past the menu"
    assert [one for one in reached if not one["seen"] or not one["ring"]] == []
    missed = set(there) - {one["place"] for one in reached}
    shown = "places => places.map((place) => document.querySelectorAll('*')[place].outerHTML.slice(0, 100))"
    assert page.evaluate(shown, sorted(missed)) == []


def test_these_checks_see_what_is_wrong(desk: Served, open_window: OpenWindow) -> None:
    """A picture without words, pale letters, a page too wide, what jumps, and what the policy forbids are all found."""
    window = open_window(desk.address)
    page = window.go("/find")
    page.evaluate(SPOILED)
    page.wait_for_timeout(300)
    found = " ".join(window.violations())
    assert [rule for rule in ("image-alt", "color-contrast") if rule not in found] == []
    with pytest.raises(AssertionError, match="wider than its window"):
        window.fits()
    assert page.evaluate("window.shifted") > 0.1
    assert any("Content Security Policy" in fault for fault in window.faults)
    window.faults.clear()


SPOILED = """() => {
  const main = document.querySelector("main");
  const add = (name, values) => Object.assign(main.appendChild(document.createElement(name)), values);
  add("img", {src: "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="});
  Object.assign(add("p", {textContent: "pale words"}).style, {color: "#ddd", background: "#fff"});
  add("div", {textContent: "too wide"}).style.width = "3000px";
  add("script", {textContent: "window.name = 'taken'"});
  return new Promise((done) => setTimeout(() => {
    const gap = document.createElement("div");
    gap.style.height = "500px";
    document.body.prepend(gap);
    requestAnimationFrame(() => requestAnimationFrame(done));
  }, 100));
}"""
