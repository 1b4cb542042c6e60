"""Take the pictures in docs/pictures: the web interface with the sample book in a real Chromium.

Run it after a change of the web interface: python -m tools.make_pictures
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
from playwright.sync_api import Browser, Page, ViewportSize
from tests.browser.chromium import Chromium
from tests.browser.conftest import Served
from tests.web.desk.owner_servers import owner_server
from tests.web.server_with_users import user_server
from tests.web.servers import http_client
from tools.small_png import small_png

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "pictures"
DESKTOP: ViewportSize = {"width": 1280, "height": 760}
PHONE: ViewportSize = {"width": 390, "height": 760}
MAX_BYTES = 150_000
QUESTION = "When was Ugarit destroyed?"
TOPIC, MAX_PAGES = "Bronze Age collapse", 12
SEED = "Alexander Hamilton"
ARTICLE = "Late_Bronze_Age_collapse"
SEARCH_BOX = "header input[type=search]"
DECODE_PNG = """async (shot) => {
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
ATLAS_MS = 600_000
SETTLED_MS = 1_500
"""After this time, all scripts have drawn their views."""


@dataclass(frozen=True, slots=True)
class Screen:
    """A page, the size and theme of its picture, and what to do before it is taken."""

    name: str
    path: str
    click: str = ""
    typed: str = ""
    """The words to type into the search box of the header."""
    phone: bool = False
    dark: bool = False


def main() -> int:
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, _browser() as browser:
        home = Path(folder)
        with (
            owner_server(home / "own", KIWIRESEARCH_SERVE_FAMILY_OWNER="true") as owner,
            http_client(owner.address) as client,
            browser.new_context(base_url=owner.address, locale="en") as context,
        ):
            page = context.new_page()
            _create_atlas(page)
            for screen in _screens(Served(owner.address, client)):
                _take(page, screen)
        with user_server(home / "school") as school, browser.new_context(base_url=school.address) as context:
            school.register.set_password("rita", "sun over the sea")
            _take(context.new_page(), Screen("sign-in", "/login"))
    return 0


def _create_atlas(page: Page) -> None:
    page.goto("/on-this-day")
    page.get_by_role("button", name="Analyse the whole book").click()
    page.get_by_text("The analysis is ready.").wait_for(timeout=ATLAS_MS)


def _screens(server: Served) -> Iterator[Screen]:
    run = server.run(topic=TOPIC, max_pages=MAX_PAGES)
    second = server.run(topic=TOPIC, focus="drought", max_pages=MAX_PAGES)
    claim = server.client.get(f"/api/runs/{run}/claims").json()["claims"][0]["claim_id"]
    case, book = server.case(SEED), server.book()
    person = server.client.get(f"/api/family/{case}/people").json()["people"][0]["id"]
    yield Screen("ask", f"/ask?q={quote(QUESTION)}")
    yield Screen("source", f"/ask?q={quote(QUESTION)}", click=".chip")
    yield Screen("refusal", f"/ask?q={quote('Who won the 2031 sailing cup?')}")
    yield Screen("suggestions", "/books", typed="bron")
    yield Screen("results", "/find?q=mercury")
    yield Screen("article", f"/page/{book}/{ARTICLE}")
    yield Screen("article-phone", f"/page/{book}/{ARTICLE}", phone=True, dark=True)
    yield Screen("research", "/research")
    yield Screen("brief", f"/runs/{run}")
    yield Screen("brief-phone", f"/runs/{run}", phone=True)
    yield Screen("claims", f"/runs/{run}/claims")
    yield Screen("claim", f"/runs/{run}/claims/{claim}")
    yield Screen("timeline", f"/runs/{run}/timeline")
    yield Screen("graph", f"/runs/{run}/graph", click="[data-do=open]")
    yield Screen("compare", f"/compare?old={run}&new={second}")
    yield Screen("export", f"/runs/{run}/export")
    yield Screen("family", f"/family/{case}/tree?of=descendants")
    yield Screen("person", f"/family/{case}/people/{quote(person)}")
    yield Screen("on-this-day", "/on-this-day?month=3&day=14")
    yield Screen("browse", "/browse")
    yield Screen("contradictions", f"/atlas/{book}/contradictions")
    yield Screen("books", "/books")
    yield Screen("settings", "/settings")
    yield Screen("home", "/")  # last, so that it shows the steps before
    yield Screen("home-dark", "/", dark=True)


@contextlib.contextmanager
def _browser() -> Iterator[Browser]:
    chromium = Chromium()
    try:
        with chromium.at_work() as browser:
            yield browser
    finally:
        chromium.close()


def _take(page: Page, screen: Screen) -> None:
    target = PICTURES / f"{screen.name}.png"
    size = PHONE if screen.phone else DESKTOP
    page.set_viewport_size(size)
    page.emulate_media(color_scheme="dark" if screen.dark else "light")
    page.goto(screen.path, wait_until="load")
    if screen.typed:
        page.locator(SEARCH_BOX).press_sequentially(screen.typed, delay=30)
    if screen.click and page.locator(screen.click).first.is_visible():
        page.locator(screen.click).first.click()
    page.wait_for_timeout(SETTLED_MS)
    target.write_bytes(small_png(_pixels(page, size)))
    length = target.stat().st_size
    if length > MAX_BYTES:
        raise SystemExit(f"{target.name} has {length} bytes, but pictures must not have more than {MAX_BYTES}.")
    print(f"{target.relative_to(ROOT)}: {length / 1000:.0f} KB")


def _pixels(page: Page, size: ViewportSize) -> npt.NDArray[np.uint8]:
    """The pixels of the page; the browser decodes its own screenshot."""
    screenshot = base64.b64encode(page.screenshot()).decode()
    blank_page = page.context.new_page()
    pixels = base64.b64decode(blank_page.evaluate(DECODE_PNG, screenshot))
    blank_page.close()
    return np.frombuffer(pixels, np.uint8).reshape(size["height"], size["width"], 4)[:, :, :3]


if __name__ == "__main__":
    sys.exit(main())
