"""Take the pictures in docs/pictures: the desk on the sample book, as a real Chromium shows it.

Run it after a change of the desk: python -m tools.make_pictures
"""

from __future__ import annotations

import base64
import contextlib
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
from playwright.sync_api import Page, ViewportSize
from tests.browser.chromium import Chromium
from tests.browser.conftest import Served, serving
from tools.small_png import small_png

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "pictures"
SIZE: ViewportSize = {"width": 1280, "height": 760}
MAX_BYTES = 150_000
QUESTION = "When was Ugarit destroyed?"
TOPIC, MAX_PAGES = "Bronze Age collapse", 12
SEED = "Alexander Hamilton"
READ = """async (shot) => {
  const picture = new Image();
  picture.src = `data:image/png;base64,${shot}`;
  await picture.decode();
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  const drawn = canvas.getContext("2d");
  drawn.drawImage(picture, 0, 0);
  const bytes = drawn.getImageData(0, 0, picture.width, picture.height).data;
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}"""
SETTLED_MS = 1_500
"""By then a script has drawn what it draws."""


@dataclass(frozen=True, slots=True)
class Sight:
    """A page, and what is clicked on it before its picture is taken, where that is there."""

    name: str
    path: str
    click: str = ""


def main() -> int:
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, serving(Path(home), KIWIRESEARCH_SERVE_FAMILY_OWNER="true") as desk:
        sights = list(_sights(desk))
        with _page(desk.address) as page:
            for sight in sights:
                _take(page, sight)
    return 0


def _sights(desk: Served) -> Iterator[Sight]:
    """What is shown."""
    run = desk.run(topic=TOPIC, max_pages=MAX_PAGES)
    yield Sight("ask", f"/ask?q={quote(QUESTION)}", click=".chip")
    yield Sight("brief", f"/runs/{run}", click="details.statement summary")
    yield Sight("graph", f"/runs/{run}/graph", click="[data-do=open]")
    yield Sight("family", f"/family/{desk.case(SEED)}/tree?of=descendants")
    yield Sight("home", "/")  # last, so that it shows what was done


@contextlib.contextmanager
def _page(address: str) -> Iterator[Page]:
    chromium = Chromium()
    try:
        with chromium.at_work() as browser:
            context = browser.new_context(base_url=address, viewport=SIZE, color_scheme="light", locale="en")
            yield context.new_page()
    finally:
        chromium.close()


def _take(page: Page, sight: Sight) -> None:
    target = PICTURES / f"{sight.name}.png"
    page.goto(sight.path, wait_until="load")
    if sight.click and page.locator(sight.click).first.is_visible():
        page.locator(sight.click).first.click()
    page.wait_for_timeout(SETTLED_MS)
    target.write_bytes(small_png(_pixels(page)))
    size = target.stat().st_size
    if size > MAX_BYTES:
        raise SystemExit(
            f"make_pictures: {target.name} has {size} bytes; a document should not carry more than {MAX_BYTES}"
        )
    print(f"{target.relative_to(ROOT)}: {size / 1000:.0f} KB")


def _pixels(page: Page) -> npt.NDArray[np.uint8]:
    """What the page looks like; the browser itself reads the picture that it took."""
    shot = base64.b64encode(page.screenshot()).decode()
    blank = page.context.new_page()
    raw = base64.b64decode(blank.evaluate(READ, shot))
    blank.close()
    return np.frombuffer(raw, np.uint8).reshape(SIZE["height"], SIZE["width"], 4)[:, :, :3]


if __name__ == "__main__":
    sys.exit(main())
