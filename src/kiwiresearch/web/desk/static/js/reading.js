// The list beside a page shows which claim was opened, and tells when the frame has gone to another page.
// What is in the frame cannot be asked: a page of a book has no origin, so only its loading is seen.
const PATIENCE_MS = 5000;
const frame = document.querySelector(".reading-frame iframe");
const moved = document.querySelector(".reading-moved");
// The frame's first page is loaded before all of ours is, and maybe before this runs.
let oursUntil = document.readyState === "complete" ? 0 : Infinity;
window.addEventListener("load", () => { oursUntil = 0; });

function point(link) {
  for (const other of document.querySelectorAll(".reading-side [target=page][aria-current]")) {
    other.removeAttribute("aria-current");
  }
  link.setAttribute("aria-current", "true");
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[target=page]");
  if (!link || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  point(link);
  moved.hidden = true;
  // Browsers differ in whether going to a place on the same page counts as loading it.
  oursUntil = performance.now() + PATIENCE_MS;
});

frame.addEventListener("load", () => {
  if (performance.now() > oursUntil) moved.hidden = false;
  else if (oursUntil < Infinity) oursUntil = 0;
});
