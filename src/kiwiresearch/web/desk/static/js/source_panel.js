// Opens a source beside the answer, at the quoted words. Escape and Back close it and return the focus.

const panel = document.getElementById("beside");
const frame = document.getElementById("beside-frame");
const title = document.getElementById("beside-title");
const close = document.getElementById("beside-close");
let opener = null;
let openedAt = "";

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
  if (panel.hidden) addHistoryEntry();
  panel.hidden = false;
  document.body.classList.add("has-beside");
  // Replacing adds no entry to the history, so Back closes the panel at once.
  frame.contentWindow.location.replace(link.dataset.frame);
  close.focus();
}

function addHistoryEntry() {
  // Going back must not scroll the answer to where it was when the panel was opened.
  history.scrollRestoration = "manual";
  history.pushState({ hasSource: true }, "");
  openedAt = location.href;
}

function hide() {
  panel.hidden = true;
  document.body.classList.remove("has-beside");
  opener?.removeAttribute("aria-expanded");
  // The answer may have been replaced in the meantime.
  (opener?.isConnected ? opener : document.getElementById(opener?.id))?.focus();
  opener = null;
}

function hideAndGoBack() {
  hide();
  if (history.state?.hasSource) history.back();
}

close?.addEventListener("click", hideAndGoBack);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && panel && !panel.hidden) hideAndGoBack();
});
addEventListener("popstate", () => {
  // Also sent for a link to a part of this page, which changes the address and leaves the panel open.
  if (history.state?.hasSource || location.href !== openedAt) return;
  history.scrollRestoration = "auto";
  if (panel && !panel.hidden) hide();
});
