// Changes the view of a timeline without leaving the page: zoom, groups, earlier and later. Without a script these
// links load the page.

import { makeDrawings } from "./drawing.js"; // also prepares the drawings of the page

const PART = "timeline";
let request = null;
let shown = location.search;

async function show(address, focus) {
  request?.abort();
  request = new AbortController();
  shown = new URL(address).search;
  try {
    const reply = await fetch(address, { signal: request.signal });
    if (!reply.ok) throw new Error(String(reply.status));
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const part = document.adoptNode(page.getElementById(PART));
    document.getElementById(PART).replaceWith(part);
    makeDrawings(part);
    // The link that was clicked may be gone, such as "earlier" at the start of the timeline.
    ((focus && part.querySelector(focus)) || part).focus({ preventScroll: true });
  } catch (problem) {
    if (problem.name !== "AbortError") location.assign(address);
  }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest(`#${PART} a[data-view]`);
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const address = link.href.split("#")[0];
  history.pushState(null, "", address);
  const { view } = link.dataset;
  show(address, view === "zoom" || view === "group" ? `[data-view=${view}][aria-current]` : `[data-view=${view}]`);
});
addEventListener("popstate", () => {
  if (location.search !== shown) show(location.href); // otherwise a link within the page was followed
});
