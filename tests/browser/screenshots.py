"""A window of the browser that notes whatever goes wrong in it, and what a page must be to look at."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]
from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Request, Response
from tests.browser.chromium import PATIENCE_MS

PICTURES = os.environ.get("KIWIRESEARCH_DESK_PICTURES", "")
"""Where pictures of all pages are kept for people to look at, such as artefacts/desk; if empty, none are made."""

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
MAX_SHIFT = 0.1

WATCH_SHIFT = """
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({type: "layout-shift", buffered: true});
"""
WIDTHS = """() => {
  const wide = document.documentElement.clientWidth;
  const within = (one) => { for (let at = one.parentElement; at; at = at.parentElement) {
    if (/auto|scroll|hidden|clip/.test(getComputedStyle(at).overflowX)) return true; } return false; };
  const out = [...document.body.querySelectorAll("*")].filter((one) => {
    const box = one.getBoundingClientRect();
    return box.width && box.right > wide + 1 && !within(one) && getComputedStyle(one).position !== "absolute"; });
  return {scroll: document.documentElement.scrollWidth, wide,
    out: out.slice(0, 3).map((one) => one.outerHTML.slice(0, 120))};
}"""
WEIGHT = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .filter((one) => one.initiatorType !== "img" && !/[.](png|jpe?g|gif|webp|svg)$/.test(new URL(one.name).pathname))
  .reduce((sum, one) => sum + one.decodedBodySize, 0)"""
"""The bytes of a page and of all it loads except pictures, unpacked."""
MAX_WEIGHT = 300_000
SLOW = ("color-contrast", "target-size")
SHORTEN = """(most) => { for (const list of document.querySelectorAll("main, main *")) {
  const counts = {};
  for (const row of [...list.children]) {
    const kind = row.localName + " " + (row.getAttribute("class") || "");
    counts[kind] = (counts[kind] || 0) + 1;
    if (counts[kind] > most && !/^(link|path|line|g|rect|text|circle|a|input|label)$/.test(row.localName)) row.remove();
  } } }"""
AXE = """async (how) => (await axe.run(document, {...how, resultTypes: ["violations"], iframes: false,
  selectors: false, ancestry: false, elementRef: false, performanceTimer: false}))
  .violations.map((one) => ({id: one.id, help: one.help, nodes: one.nodes.slice(0, 3).map(
    (node) => node.html.slice(0, 160) + " :: " + (node.any[0] || node.all[0] || node.none[0] || {}).message)}))"""


@dataclass(frozen=True, slots=True)
class Way:
    """How somebody looks at the desk."""

    phone: bool = False
    script: bool = True
    dark: bool = False
    language: str = "en"

    def options(self, address: str) -> dict[str, Any]:
        return {
            "base_url": address,
            "viewport": {"width": 375, "height": 667} if self.phone else {"width": 1280, "height": 800},
            "java_script_enabled": self.script,
            "color_scheme": "dark" if self.dark else "light",
            "locale": self.language,
            "reduced_motion": "reduce",
            "has_touch": self.phone,
        }


class Window:
    """One page of a browser at one server; `faults` are what no page of ours may cause."""

    def __init__(self, context: BrowserContext, address: str, way: Way) -> None:
        self.context = context
        self.address = address
        self.way = way
        self.faults: list[str] = []
        self.outside: list[str] = []
        """Requests that went to another server."""
        self.rough = False
        """Set by a test that wants errors: then they are no faults, and neither are requests that a wall stops."""
        context.set_default_timeout(PATIENCE_MS)
        context.add_init_script(WATCH_SHIFT)
        self.page: Page = context.new_page()
        context.on("console", self._said)
        context.on("weberror", lambda error: self.faults.append(f"error in a script: {error.error}"))
        context.on("request", self._asked)
        context.on("requestfailed", self._failed)
        context.on("response", self._answered)

    def go(self, path: str) -> Page:
        """Open a page of the desk, and wait until all it loads is there."""
        self.page.goto(path, wait_until="load")
        return self.page

    def main(self) -> Locator:
        return self.page.locator("main")

    def assert_accessible(self, name: str) -> None:
        """The page fits, does not move while it loads and is accessible; a picture of it is kept."""
        self.assert_stable(name)
        found = self.violations()
        assert not found, "\n".join(found)

    def assert_stable(self, name: str) -> None:
        """The page fits and has not moved since it started to load; a picture of it is kept."""
        self.picture(name, whole=True)
        self.fits()
        assert self.page.evaluate("window.shifted") < MAX_SHIFT, "the page moved while it was loading"

    def picture(self, name: str, *, whole: bool = False) -> None:
        """Keep a picture of what the window shows, or of the whole page."""
        if not PICTURES:
            return
        target = Path(PICTURES, f"{name}.jpg")  # which is made in half the time of a PNG
        target.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=target, full_page=whole, type="jpeg", quality=60)

    def violations(self, *rules: str) -> list[str]:
        """What axe finds on this page, in short; of all rules of WCAG 2.2 AA, or of these alone."""
        wanted = {"type": "rule", "values": list(rules)} if rules else {"type": "tag", "values": TAGS}
        return self._found({"runOnly": wanted})

    def violations_of_a_sample(self) -> list[str]:
        """The same for a page that is looked at no more: rules that look at each word see a few rows of every list.

        The others are made by the same template, and looking at all of them takes most of the time.
        """
        tagged = {"type": "tag", "values": TAGS}
        found = self._found({"runOnly": tagged, "rules": {rule: {"enabled": False} for rule in SLOW}})
        self.shorten(4)
        return found + self.violations(*SLOW)

    def shorten(self, most: int) -> None:
        """Keep this many rows of a kind in every list, table and section of the page."""
        self.page.evaluate(SHORTEN, most)

    def _found(self, options: dict[str, Any]) -> list[str]:
        if not self.page.evaluate("typeof axe !== 'undefined'"):
            self.page.evaluate(AXE_SCRIPT)
        return [json.dumps(one, ensure_ascii=False) for one in self.page.evaluate(AXE, options)]

    def fits(self) -> None:
        """Nothing sticks out of the window."""
        widths = self.page.evaluate(WIDTHS)
        assert widths["scroll"] <= widths["wide"], f"the page is wider than its window: {widths['out']}"

    def _said(self, message: ConsoleMessage) -> None:
        # The driver's own look into a page of a book is stopped as any script there is.
        is_sandbox = message.text.startswith("Blocked script execution") and "/read/" in message.text
        if message.type in ("error", "warning") and not is_sandbox:
            where = message.location.get("url", "")
            self.faults.append(f"{message.type} in the console: {message.text} ({where})")

    def _asked(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob", "about") and f"{parts.scheme}://{parts.netloc}" != self.address:
            self.outside.append(request.url)

    def _failed(self, request: Request) -> None:
        # A script that no longer wants an answer, a page that is left and a file that is saved all end a request.
        if "ERR_ABORTED" not in (request.failure or ""):
            self.faults.append(f"{request.url} failed: {request.failure}")

    def _answered(self, response: Response) -> None:
        if response.status >= 400:
            self.faults.append(f"{response.url} answered {response.status}")

    def close(self) -> None:
        self.context.close()
        if not self.rough:
            self.assert_no_errors()

    def assert_no_errors(self) -> None:
        """Nothing went wrong since this was last checked."""
        found = [*self.faults, *(f"asked another server: {url}" for url in self.outside)]
        self.faults.clear()
        self.outside.clear()
        assert not found, "\n".join(found)


def texts(found: Locator) -> list[str]:
    """The texts of all that was found, in short."""
    return [" ".join(text.split()) for text in found.all_inner_texts()]
