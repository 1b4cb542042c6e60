"""The time until a real browser first shows each page, and how many kilobytes it loads without pictures.

Every page is opened in a new browser context, so the browser has cached nothing. The server is already running and has
opened its book.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median
from urllib.parse import quote

from evals.data import SHARED_DATA
from playwright.sync_api import Browser
from tests.browser.chromium import Chromium
from tests.browser.conftest import Served, serving
from tests.browser.screenshots import WEIGHT

ROUNDS = 5
MAX_MS = 500
MAX_KB = 300
FIRST_PAINT = """() => new Promise((done) => new PerformanceObserver((list) => {
  const found = list.getEntriesByName("first-contentful-paint")[0];
  if (found) done(found.startTime);
}).observe({type: "paint", buffered: true}))"""
TOPIC = "Roman Empire"


def run() -> list[str]:
    """Measure, and return the lines to print."""
    file = SHARED_DATA / "zims" / "schools-2007.zim"
    if not file.is_file():
        return [f"skipped: {file} is missing"]
    chromium = Chromium()
    try:
        with (
            tempfile.TemporaryDirectory() as home,
            serving(Path(home), str(file)) as server,
            chromium.at_work() as browser,
        ):
            views = [(name, *_measure_view(browser, server.address, path)) for name, path in _pages(server)]
    finally:
        chromium.close()
    lines = [f"{name}: first shown after {ms:.0f} ms, {kb:.0f} kB without pictures" for name, ms, kb in views]
    slow = [name for name, ms, _ in views if ms > MAX_MS]
    heavy = [name for name, _, kb in views if kb > MAX_KB]
    return [
        *lines,
        f"slower than {MAX_MS} ms: {', '.join(slow) or 'none'}",
        f"heavier than {MAX_KB} kB: {', '.join(heavy) or 'none'}",
    ]


def _pages(server: Served) -> list[tuple[str, str]]:
    """The names and paths of the pages to open."""
    book, run_id = server.book(), server.run(topic=TOPIC, max_pages=20)
    return [
        ("home", "/"),
        ("results", f"/find?q={quote('rivers of africa')}"),
        ("answer", f"/ask?q={quote('When was Isaac Newton born?')}"),
        ("article", f"/page/{book}/{quote('Roman_Empire')}"),
        ("brief", f"/runs/{run_id}"),
        ("claims", f"/runs/{run_id}/claims"),
        ("timeline", f"/runs/{run_id}/timeline"),
        ("graph", f"/runs/{run_id}/graph"),
        ("books", "/books"),
        ("settings", "/settings"),
    ]


def _measure_view(browser: Browser, address: str, path: str) -> tuple[float, float]:
    """The median of several first views in milliseconds, and the kilobytes of one."""
    times_ms, weight_kb = [], 0.0
    for _ in range(ROUNDS):
        with browser.new_context(base_url=address) as context:
            page = context.new_page()
            page.goto(path, wait_until="load")
            times_ms.append(float(page.evaluate(FIRST_PAINT)))
            weight_kb = page.evaluate(WEIGHT) / 1e3
    return median(times_ms), weight_kb


if __name__ == "__main__":
    print("\n".join(run()))
    sys.exit(0)
