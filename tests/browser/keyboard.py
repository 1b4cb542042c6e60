"""What somebody reaches who has no mouse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from playwright.sync_api import Page

LOOK_AGAIN_MS = 20
MAX_LOOKS = 500
MAX_LOOKS_AT_NOTHING = 150


def tabbed(page: Page, most: int = 200) -> Iterator[dict[str, Any]]:
    """What the tab key reaches one after the other, from the top until it leaves the page or starts again."""
    page.evaluate("document.activeElement && document.activeElement.blur(); window.scrollTo(0, 0)")
    seen: set[int] = set()
    framed: list[int] | None = None
    for _ in range(most):
        page.keyboard.press("Tab")
        here = _here(page) if framed is None else _here_after(page, framed)
        here = here or _here_late(page)
        if here is None or (here["place"] in seen and here["tag"] != "iframe"):
            return
        framed = _in_frames(page) if here["tag"] == "iframe" else None
        if here["place"] not in seen:
            seen.add(here["place"])
            yield here


def _here(page: Page) -> dict[str, Any] | None:
    here: dict[str, Any] | None = page.evaluate(FOCUSED)
    return here


def _here_late(page: Page) -> dict[str, Any] | None:
    """What has the focus when it was nowhere a moment ago: on the way into a frame, which has a process of its own.

    On a page without frames the end has no focused element. With frames, only several such steps in a row are the end.
    """
    for _ in range(MAX_LOOKS_AT_NOTHING if page.frames[1:] else 0):
        page.wait_for_timeout(LOOK_AGAIN_MS)
        if (here := _here(page)) is not None:
            return here
    return None


def _here_after(page: Page, framed: list[int]) -> dict[str, Any]:
    """What has the focus after a step from a place in a frame.

    The frame has a process of its own: on the way out of it the focus is
    nowhere for a while, and a step that has not been taken yet looks like none.
    """
    for _ in range(MAX_LOOKS):
        here = _here(page)
        if here is not None and (here["tag"] != "iframe" or _in_frames(page) != framed):
            return here
        page.wait_for_timeout(LOOK_AGAIN_MS)
    raise AssertionError(f"The focus did not leave its place {framed} in the frames of {page.url}.")


def _in_frames(page: Page) -> list[int]:
    """What has the focus in each frame."""
    return [frame.evaluate(PLACE) for frame in page.frames[1:]]


PLACE = "[...document.querySelectorAll('*')].indexOf(document.activeElement)"
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
