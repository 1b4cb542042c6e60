"""How long each page takes until a real browser shows it, and how many kilobytes it loads without pictures.

Every page is opened in a window of its own, so nothing is cached by the browser. The server is running and has opened
its book; that is measured by `start`.
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

TIMES = 5
LIMIT_MS = 500
LIMIT_KB = 300
PAINT = """() => new Promise((done) => new PerformanceObserver((list) => {
  const found = list.getEntriesByName("first-contentful-paint")[0];
  if (found) done(found.startTime);
}).observe({type: "paint", buffered: true}))"""
TOPIC = "Roman Empire"


def run() -> list[str]:
    """The figures, as lines."""
    file = SHARED_DATA / "zims" / "schools-2007.zim"
    if not file.is_file():
        return [f"skipped: {file} is missing"]
    chromium = Chromium()
    try:
        with (
            tempfile.TemporaryDirectory() as home,
            serving(Path(home), str(file)) as desk,
            chromium.at_work() as browser,
        ):
            figures = [(name, *_viewed(browser, desk.address, path)) for name, path in _places(desk)]
    finally:
        chromium.close()
    lines = [f"{name}: shown after {ms:.0f} ms, {kb:.0f} kB without pictures" for name, ms, kb in figures]
    slow = [name for name, ms, _ in figures if ms > LIMIT_MS]
    heavy = [name for name, _, kb in figures if kb > LIMIT_KB]
    return [
        *lines,
        f"slower than {LIMIT_MS} ms: {', '.join(slow) or 'none'}",
        f"heavier than {LIMIT_KB} kB: {', '.join(heavy) or 'none'}",
    ]


def _places(desk: Served) -> list[tuple[str, str]]:
    book, run_id = desk.book(), desk.run(topic=TOPIC, max_pages=20)
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


def _viewed(browser: Browser, address: str, path: str) -> tuple[float, float]:
    """The median of some first views in milliseconds, and the kilobytes of one."""
    spent, weight = [], 0.0
    for _ in range(TIMES):
        with browser.new_context(base_url=address) as context:
            page = context.new_page()
            page.goto(path, wait_until="load")
            spent.append(float(page.evaluate(PAINT)))
            weight = page.evaluate(WEIGHT) / 1e3
    return median(spent), weight


if __name__ == "__main__":
    print("\n".join(run()))
    sys.exit(0)
