// Applies filters as they change: loads the same page with the new filters and takes the list from it.

const form = document.querySelector("form[data-swap]");
const WAIT_MS = 250;
let timer = 0;
let request = null;
let changed = "";
let isNewEntry = false;
let shown = location.pathname + location.search;

function address() {
  const filters = [...new FormData(form)].filter(([, value]) => value !== "" && value !== "0");
  const query = new URLSearchParams(filters).toString();
  return form.getAttribute("action") + (query ? `?${query}` : "");
}

async function apply() {
  request?.abort();
  request = new AbortController();
  const url = address();
  try {
    const reply = await fetch(url, { signal: request.signal });
    if (!reply.ok) throw new Error(String(reply.status));
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const found = page.getElementById(form.dataset.swap);
    document.getElementById(form.dataset.swap).replaceWith(document.adoptNode(found));
    document.getElementById("count").textContent = page.getElementById("count").textContent;
    if (isNewEntry) history.pushState(null, "", url);
    else history.replaceState(null, "", url);
    isNewEntry = false;
    shown = location.pathname + location.search;
    // Forms that return here return to the list that is shown now.
    for (const back of document.querySelectorAll("input[name=back]")) back.value = url;
  } catch (problem) {
    if (problem.name !== "AbortError") document.getElementById("count").textContent = form.dataset.failed;
  }
}

function applySoon() {
  clearTimeout(timer);
  timer = setTimeout(apply, WAIT_MS);
}

// Each choice is an entry in the history, which Back undoes; typing in one field is one entry.
form?.addEventListener("input", ({ target }) => {
  isNewEntry ||= target.name !== changed || target.tagName === "SELECT";
  changed = target.name;
  applySoon();
});
// A link within the page fires this event, too, and needs no reload.
addEventListener("popstate", () => {
  if (location.pathname + location.search !== shown) location.reload();
});
form?.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(timer);
  apply();
});
