"""What somebody reaches who has no mouse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from playwright.sync_api import Page


def tabbed(page: Page, most: int = 200) -> Iterator[dict[str, Any]]:
    """What the tab key reaches one after the other, from the top until it leaves the page or begins anew."""
    page.evaluate("document.activeElement && document.activeElement.blur(); window.scrollTo(0, 0)")
    seen: set[int] = set()
    for _ in range(most):
        page.keyboard.press("Tab")
        here = _here(page)
        if here is None or (here["place"] in seen and here["tag"] != "iframe"):
            return
        if here["place"] not in seen:
            seen.add(here["place"])
            yield here


def _here(page: Page) -> dict[str, Any] | None:
    """What has the focus; on its way out of a frame, which has a process of its own, it is nowhere for a moment."""
    here: dict[str, Any] | None = page.evaluate(FOCUSED)
    if here is None and page.locator("iframe").count():
        page.wait_for_timeout(200)
        here = page.evaluate(FOCUSED)
    return here


FOCUSED = """() => {
  const one = document.activeElement;
  if (!one || one === document.body || one === document.documentElement) return null;
  const style = getComputedStyle(one), box = one.getBoundingClientRect();
  const drawn = one.querySelector?.(":scope > rect, :scope > circle");
  return {place: [...document.querySelectorAll("*")].indexOf(one), tag: one.localName, id: one.id,
    kind: one.getAttribute("class") || "",
    text: (one.innerText || one.value || one.ariaLabel || "").trim().slice(0, 60),
    // Within a frame, its own page shows where one is.
    ring: one.localName === "iframe" || (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2)
      || (drawn && parseFloat(getComputedStyle(drawn).strokeWidth) >= 3),
    seen: box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight};
}"""


def usable(page: Page) -> Sequence[int]:
    """The places of all that can be used with a mouse and is shown, for comparing with what the tab key reaches."""
    found: list[int] = page.evaluate(USABLE)
    return found


USABLE = """() => {
  const all = [...document.querySelectorAll("*")];
  return all.flatMap((one, place) => one.matches(
    "a[href], button:not([disabled]), input:not([type=hidden], [disabled]), select, textarea, summary")
    && one.checkVisibility({visibilityProperty: true, contentVisibilityAuto: true})
    && one.tabIndex >= 0 && !(one.type === "radio" && !one.checked) ? [place] : []);
}"""
