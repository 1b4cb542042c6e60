// Opens a source beside the answer, at the quoted words. Escape closes it and returns the focus.

const panel = document.getElementById("beside");
const frame = document.getElementById("beside-frame");
const title = document.getElementById("beside-title");
const close = document.getElementById("beside-close");
let opener = null;

export function openBeside(root) {
  root.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-frame]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    show(link);
  });
}

function show(link) {
  opener?.removeAttribute("aria-expanded");
  opener = link;
  opener.setAttribute("aria-expanded", "true");
  opener.setAttribute("aria-controls", panel.id);
  title.textContent = link.dataset.title;
  title.href = link.href;
  panel.hidden = false;
  document.body.classList.add("has-beside");
  // Replacing adds no entry to the history, so Back still leads to the previous page.
  frame.contentWindow.location.replace(link.dataset.frame);
  close.focus();
}

function hide() {
  panel.hidden = true;
  document.body.classList.remove("has-beside");
  opener?.removeAttribute("aria-expanded");
  // The answer may have been replaced in the meantime.
  (opener?.isConnected ? opener : document.getElementById(opener?.id))?.focus();
  opener = null;
}

close?.addEventListener("click", hide);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && panel && !panel.hidden) hide();
});
